//! One slot that holds the whole application: what Singh (2008, chapter 7) names beside a slot for
//! each task, and expects to fit badly.

use bookahead_core::plan::Slot;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_reservations::replanning::Offer;

use super::Wish;
use crate::provisioning::environment::Environment;
use crate::provisioning::{Advertised, Application, BrokerError, Evaluator, PriceSample};

/// So many widths are asked for at most.
const MOST_WIDTHS: u32 = 64;

/// What was offered, and what is best of it.
pub(in crate::provisioning) struct Asked {
    /// The slot: its c is the price of a processor-hour, its f that of the delay of others. `None`
    /// where no site can hold the widest task.
    pub(in crate::provisioning) best: Option<Advertised>,
    /// That price of the delay of others.
    pub(in crate::provisioning) externality: NodeSeconds,
    /// Queries that were answered.
    pub(in crate::provisioning) queries: u64,
    /// Offers in these answers.
    pub(in crate::provisioning) offers: u64,
}

/// A slot as long as the application takes on so many processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    nodes: Nodes,
    duration: Seconds,
}

/// Asks all sites for one slot for an application that is submitted at `submitted`: for each width
/// at which it gets shorter every start with its price. The slot begins when the data of whatever
/// ran elsewhere is there. Every offer is added to `prices`, if there is such a list, for the task
/// that is planned first.
///
/// # Errors
///
/// When a site answers something else than it is asked.
pub(in crate::provisioning) async fn ask_for_one_slot(
    application: &Application,
    sites: &Environment<'_>,
    submitted: Seconds,
    wish: Wish,
    mut prices: Option<&mut Vec<PriceSample>>,
) -> Result<Asked, BrokerError> {
    let shapes: Vec<Vec<Shape>> = sites
        .nodes_for_tasks()
        .enumerate()
        .map(|(site, size)| shapes(application, site, size))
        .collect();
    let ready: Vec<Seconds> = (0..shapes.len())
        .map(|site| all_ready(application, site, submitted))
        .collect();
    let mut widths: Vec<Nodes> = shapes.iter().flatten().map(|shape| shape.nodes).collect();
    widths.sort_unstable();
    widths.dedup();
    let mut asked = Asked {
        best: None,
        externality: NodeSeconds(0),
        queries: 0,
        offers: 0,
    };
    let mut choices: Vec<(usize, Shape, Offer)> = Vec::new();
    for nodes in widths {
        let of_width = |site: usize| shapes[site].iter().find(|shape| shape.nodes == nodes);
        let places = (0..shapes.len())
            .filter_map(|site| Some((site, ready[site], of_width(site)?.duration)));
        for (site, offers) in sites.query(nodes, places).await? {
            let Some(&shape) = of_width(site) else {
                continue;
            };
            if let (Some(prices), Some(&task)) = (&mut prices, application.order().first()) {
                let of_slot = (nodes, shape.duration);
                let samples = PriceSample::of_answer(asked.queries, task, site, of_slot, &offers);
                prices.extend(samples);
            }
            asked.queries += 1;
            asked.offers += offers.len() as u64;
            choices.extend(offers.into_iter().map(|offer| (site, shape, offer)));
        }
    }
    let values: Vec<(f64, f64)> = choices
        .iter()
        .map(|(site, shape, offer)| {
            let work = shape.nodes.for_span(shape.duration);
            let work = sites.charges.reserved_charge(work);
            let cost = application.charge(*site, work) + offer.price.0 as f64;
            (cost, (offer.start + shape.duration).0 as f64)
        })
        .collect();
    let latest = |after| submitted + after;
    let affordable = |service_units| service_units * 3_600.0;
    let chosen = wish.best(&values, latest, affordable);
    if let Some((site, shape, offer)) = chosen.map(|chosen| choices[chosen]) {
        let factor = sites.charges.reserved_unit_price.unwrap_or(1.0);
        asked.externality = offer.price;
        asked.best = Some(Advertised {
            site,
            slot: Slot {
                unit_price: factor * application.unit_price(site),
                fixed_price: offer.price.coins().0,
                ..Slot::hole(offer.start, shape.nodes, offer.start + shape.duration)
            },
        });
    }
    Ok(asked)
}

/// When the data of all that ran elsewhere is at a site.
fn all_ready(application: &Application, site: usize, submitted: Seconds) -> Seconds {
    let tasks = application.order().iter();
    let ready =
        tasks.map(|&task| application.earliest(task, site, submitted, |_| (site, submitted)));
    ready.max().unwrap_or(submitted)
}

/// The widths up to `size` at which the application takes less time than at any smaller one, and
/// that time, with its tasks placed as ALG-2 does: of more than [`MOST_WIDTHS`] between the widest
/// task and the most that ever run side by side so many, evenly spaced. Empty where a task is wider
/// than the site.
fn shapes(application: &Application, site: usize, size: Nodes) -> Vec<Shape> {
    let widest = application.tasks().iter().map(|task| task.nodes).max();
    let Some(widest) = widest.filter(|widest| *widest <= size) else {
        return Vec::new();
    };
    let Some((_, most)) = on(application, site, size) else {
        return Vec::new();
    };
    let steps = (most.0 - widest.0).min(MOST_WIDTHS - 1);
    let mut shapes: Vec<Shape> = Vec::new();
    for step in 0..=steps {
        let more = u64::from(most.0 - widest.0) * u64::from(step) / u64::from(steps.max(1));
        let nodes = Nodes(widest.0 + more as u32);
        let Some((duration, _)) = on(application, site, nodes) else {
            continue;
        };
        if shapes.last().is_none_or(|last| duration < last.duration) {
            shapes.push(Shape { nodes, duration });
        }
    }
    shapes
}

/// How long the application takes on so many processors of a site that it has for itself, and the
/// most that its tasks hold at once.
fn on(application: &Application, site: usize, nodes: Nodes) -> Option<(Seconds, Nodes)> {
    let begin = all_ready(application, site, Seconds::ZERO);
    let slots = [Advertised {
        site,
        slot: Slot::edge(begin, nodes),
    }];
    let mut evaluator = Evaluator::new(application, &slots, begin);
    let value = evaluator.evaluate(&[true])?;
    let mut changes: Vec<(Seconds, i64)> = Vec::new();
    for (task, placed) in application.tasks().iter().zip(evaluator.placements()) {
        changes.push((placed.start, i64::from(task.nodes.0)));
        changes.push((placed.end, -i64::from(task.nodes.0)));
    }
    changes.sort_unstable();
    let (mut held, mut most) = (0, 0);
    for (_, change) in changes {
        held += change;
        most = most.max(held);
    }
    Some((value.makespan, Nodes(most as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provisioning::ApplicationTask;

    /// 200 tasks of a node that take 1 to 200 hours each: a hundred widths, each shorter than the
    /// one before it.
    #[test]
    fn of_many_widths_no_more_than_64_are_asked_for_from_the_narrowest_to_the_shortest() {
        let tasks = (1..=200).map(|hours| ApplicationTask {
            nodes: Nodes(1),
            runtimes: vec![Seconds::HOUR * hours],
            parents: Vec::new(),
        });
        let application = Application::new(tasks.collect(), (0..200).rev().collect());
        let shapes = shapes(&application, 0, Nodes(1_000));
        let hours = |hours: i64| Seconds::HOUR * hours;
        assert_eq!(
            (shapes[0].nodes, shapes[0].duration),
            (Nodes(1), hours(20_100))
        );
        assert_eq!(shapes.last().map(|it| it.duration), Some(hours(200)));
        assert!((30..=64).contains(&shapes.len()), "{}", shapes.len());
        let shorter = |one: &Shape, other: &Shape| one.duration > other.duration;
        assert!(shapes.is_sorted_by(|one, other| one.nodes < other.nodes && shorter(one, other)));
    }
}
