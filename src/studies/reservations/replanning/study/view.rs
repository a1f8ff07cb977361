//! The machine that takes reservations: the distributions of prices and waits of granted
//! reservations, where the outcomes of requests were kept.

use std::collections::HashMap;

use crate::replanning::study::stored::{ReservationCounts, reservation_counts};
use bookahead_report::figure::{Figure, Marks, Scale, Section, Series};
use bookahead_report::plots::distributions::shares;
use bookahead_report::plots::situations::{Situation, situations};
use bookahead_report::plots::{condition, titled};
use bookahead_report::sql::this_run;
use bookahead_report::views::{Reported, View, ViewContent};

use bookahead_lab::store::{Bin, StoreError};

/// More situations than this are left to SQL.
const MOST_SITUATIONS: usize = 12;

/// What is distributed.
struct Distributed {
    name: &'static str,
    title: &'static str,
    unit: &'static str,
    /// Its column in the view `v_reservation`.
    column: &'static str,
    /// What the first bin is drawn at, in words and as a number.
    least: (f64, &'static str),
    section: Section,
    bins: fn(&ReservationCounts) -> &[Bin],
}

const DISTRIBUTED: [Distributed; 2] = [
    Distributed {
        name: "reservation-price",
        title: "Granted reservations by price",
        unit: "price (SU)",
        column: "price_su",
        least: (0.1, "0.1 SU"),
        section: Section::Prices,
        bins: |counts| &counts.prices,
    },
    Distributed {
        name: "reservation-wait",
        title: "Granted reservations by wait",
        unit: "wait (s)",
        column: "waiting",
        least: (1.0, "1 s"),
        section: Section::Waits,
        bins: |counts| &counts.waits,
    },
];

/// The view of the study.
pub struct Reservations;

impl View for Reservations {
    /// Shares of granted reservations by price and by wait for every situation, one line a rule or
    /// strategy.
    fn show(&self, run: &Reported<'_>, shown: &mut ViewContent) -> Result<(), StoreError> {
        let counts = reservation_counts(run.store, run.run.id)?;
        if counts.is_empty() {
            return Ok(());
        }
        let situations = situations(run.analysis, MOST_SITUATIONS);
        for what in &DISTRIBUTED {
            let drawn = situations.iter();
            let drawn = drawn.filter_map(|situation| figure(what, situation, &counts, run));
            shown.figures.extend(drawn);
        }
        Ok(())
    }
}

fn figure(
    what: &Distributed,
    situation: &Situation<'_>,
    counts: &HashMap<i64, ReservationCounts>,
    run: &Reported<'_>,
) -> Option<Figure> {
    let series: Vec<Series> = situation
        .members
        .iter()
        .filter_map(|member| {
            let mut bins: Vec<Bin> = Vec::new();
            for simulation in member.combination.simulations(run.points) {
                if let Some(counts) = counts.get(&simulation) {
                    add(&mut bins, (what.bins)(counts));
                }
            }
            let steps = shares(&bins, what.least.0);
            (!steps.is_empty())
                .then(|| Series::new(member.label.clone(), member.rank, Marks::Steps(steps)))
        })
        .collect();
    (!series.is_empty()).then(|| Figure {
        name: format!("{}-distribution{}", what.name, situation.suffix),
        section: what.section,
        title: titled(what.title, &situation.given),
        given: situation.given.clone(),
        x: Scale::logarithmic(what.unit),
        y: Scale::linear("share of reservations at or below"),
        series,
        note: format!(
            "Read off counts in bins of a sixteenth of a decade: values are the upper edges of bins, at most 15.5 % above the \
             true ones; what is below {} stands at the left end. All replications together.",
            what.least.1
        ),
        sql: format!(
            "SELECT p.strategy, p.axes, r.{0}, count(*) AS reservations
FROM (SELECT DISTINCT strategy, axes, simulation FROM v_point
      WHERE state = 'done' AND run = {1}{2}) p
JOIN v_reservation r ON r.simulation = p.simulation AND r.granted AND r.{0} IS NOT NULL
GROUP BY p.strategy, p.axes, r.{0}
ORDER BY p.strategy, p.axes, r.{0};",
            what.column,
            this_run(run.hash()),
            condition(&situation.given)
        ),
    })
}

fn add(sum: &mut Vec<Bin>, bins: &[Bin]) {
    for (index, bin) in bins.iter().enumerate() {
        match sum.get_mut(index) {
            Some(known) => known.count += bin.count,
            None => sum.push(*bin),
        }
    }
}
