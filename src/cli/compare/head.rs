//! The lines around the table of a comparison: which runs it compares, and below it what is paired
//! and in what the runs differ.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::super::paragraphs::paragraph;
use super::super::run_list::{short, version};
use super::super::screen::axes_text;
use super::Row;
use crate::store::RunSummary;
use bookahead_report::comparison::{ComparedRun, Method, Pairing};

/// The numbers, names and programs of the two runs.
pub(super) fn title(first: &RunSummary, second: &RunSummary) -> String {
    format!(
        "run {} ({}, {}) and run {} ({}, {})\n",
        first.id.0,
        first.name,
        version(first),
        second.id.0,
        second.name,
        version(second)
    )
}

/// First what is the same and what differs between the two, then each difference in a line.
pub(super) fn provenance(one: &ComparedRun, other: &ComparedRun) -> String {
    let (first, second) = (&one.run, &other.run);
    let [first_inputs, second_inputs] = [one, other].map(|run| match &run.inputs_digest {
        Some((count, digest)) => format!(
            "{count} {}, {}",
            if *count == 1 { "input" } else { "inputs" },
            short(digest)
        ),
        None => "not recorded".to_owned(),
    });
    let commit = |run: &RunSummary| run.program_commit.clone().unwrap_or("unknown".to_owned());
    let of = [
        (
            "configuration",
            short(&first.configuration_hash).to_owned(),
            short(&second.configuration_hash).to_owned(),
        ),
        (
            "program version",
            first.program_version.clone(),
            second.program_version.clone(),
        ),
        ("commit", commit(first), commit(second)),
        (
            "result format",
            first.result_format.to_string(),
            second.result_format.to_string(),
        ),
        (
            "workload",
            one.workloads.join(", "),
            other.workloads.join(", "),
        ),
        ("jobs and failures as prepared", first_inputs, second_inputs),
        ("seed", first.seed.to_string(), second.seed.to_string()),
    ];
    let (same, differ): (Vec<_>, Vec<_>) = of.iter().partition(|(_, one, two)| one == two);
    let names = |of: &[&(&'static str, String, String)]| -> Vec<&'static str> {
        of.iter().map(|(name, ..)| *name).collect()
    };
    let differing = if differ.is_empty() {
        "nothing".to_owned()
    } else {
        names(&differ).join(", ")
    };
    let mut text = String::new();
    paragraph(
        &mut text,
        &format!(
            "the runs differ in: {differing}; they share: {}",
            names(&same).join(", ")
        ),
    );
    for (name, one, two) in differ {
        let _ = writeln!(text, "  {name}: {one} → {two}");
    }
    for (which, run) in ["first", "second"].into_iter().zip([one, other]) {
        if run.is_incomplete() {
            let _ = writeln!(
                text,
                "the {which} run is incomplete: {} of {} points have a result, {} failed",
                run.run.points_done, run.run.points, run.run.points_failed
            );
        }
    }
    text
}

/// How many points are paired, which are not, and what differs.
pub(super) fn summary(text: &mut String, pairing: &Pairing<'_>, all: &[Row<'_>], shared: bool) {
    let count = pairing.pairs.len();
    if pairing.method == Method::Paired {
        let _ = writeln!(text, "{count} pairs of points");
    }
    for (which, only, axes) in [
        ("first", &pairing.only_first, &pairing.axes_only_first),
        ("second", &pairing.only_second, &pairing.axes_only_second),
    ] {
        if !axes.is_empty() {
            let _ = writeln!(text, "axes of the {which} run alone: {}", axes.join(", "));
        }
        if !only.is_empty() && pairing.method == Method::Paired {
            let _ = writeln!(
                text,
                "{} points of the {which} run have no partner:",
                only.len()
            );
            for point in only.iter().take(5) {
                let _ = writeln!(
                    text,
                    "  point {}: {}, replication {}",
                    point.place,
                    axes_text(&point.axes),
                    point.replication
                );
            }
            if only.len() > 5 {
                let _ = writeln!(text, "  and {} more: --json has all", only.len() - 5);
            }
        }
    }
    if pairing.ambiguous > 0 {
        let _ = writeln!(
            text,
            "{} of them have several possible partners, because the runs do not have the same axes",
            pairing.ambiguous
        );
    }
    if count == 0 && pairing.method != Method::Welch {
        return;
    }
    let compared = all
        .iter()
        .map(|row| row.measure)
        .collect::<BTreeSet<_>>()
        .len();
    if shared {
        return;
    }
    let measures: BTreeSet<&str> = all
        .iter()
        .filter(|row| row.difference.differs())
        .map(|row| row.measure)
        .collect();
    if !measures.is_empty() {
        let _ = writeln!(
            text,
            "THEY DIFFER in {} of {} measures: {}",
            measures.len(),
            compared,
            measures.into_iter().collect::<Vec<_>>().join(", ")
        );
    } else {
        let _ = writeln!(
            text,
            "all {compared} measures are the same, bit for bit, in every pair"
        );
    }
}
