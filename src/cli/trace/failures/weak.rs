//! `bookahead trace failures --weak`: the nodes that fail more often than the others.

use std::fmt::Write as _;

use bookahead_operators::weak_nodes::{WeakNode, WeakNodeRule, WeakNodes, weak_nodes};
use miette::{IntoDiagnostic, miette};

use super::super::Answer;
use super::super::estimates::drawn;
use super::{FailuresArguments, percent, table, whole};
use crate::failures::FailureLog;
use bookahead_report::{Cell, Table};

/// Lists the weak nodes of a log that has failures.
pub(super) fn list(log: &FailureLog, arguments: &FailuresArguments) -> miette::Result<Answer> {
    let (factor, probability) = (arguments.factor, arguments.probability);
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(miette!(
            "--factor {factor}: it must be a number above 0, as in --factor 2"
        ));
    }
    if !(probability > 0.0 && probability < 1.0) {
        return Err(miette!(
            "--probability {probability}: it must lie between 0 and 1, as in --probability 0.95"
        ));
    }
    let found = weak_nodes(
        log,
        WeakNodeRule {
            factor,
            probability,
            ..WeakNodeRule::default()
        },
    )
    .into_diagnostic()?;
    let mut answer = Answer::default();
    if arguments.json {
        answer.data = crate::cli::output::json(&found).into_diagnostic()?;
        return Ok(answer);
    }
    let _ = writeln!(answer.data, "nodes        {}", found.nodes);
    let _ = writeln!(answer.data, "weak         {}", found.weak.len());
    if found.weak.is_empty() {
        return Ok(answer);
    }
    let shown = shown(&found);
    let _ = write!(answer.data, "\n{}", drawn(&shown)?);
    for line in textwrap::wrap(&shown.note, 80) {
        let _ = writeln!(answer.data, "{line}");
    }
    Ok(answer)
}

fn shown(found: &WeakNodes) -> Table {
    let row = |node: &WeakNode| {
        vec![
            whole(node.system.into()),
            whole(node.node.into()),
            whole(node.failures.into()),
            Cell::Number(node.per_year),
            Cell::Number(node.system_per_year),
            percent(node.probability),
        ]
    };
    let note = format!(
        "A year: failures in a year of up-time, as believed after what was seen; system: those of a mean node of its \
         system. Sure: the probability that its rate exceeds {} times that of the system, at least {} %. Of those listed \
         {:.2} are expected not to. A node that was there for a part of the time only counts as there all the time.",
        found.rule.factor,
        found.rule.probability * 100.0,
        found.expected_wrong
    );
    table(
        "Weak nodes",
        &[
            ("system", 0),
            ("node", 0),
            ("failures", 0),
            ("a year", 2),
            ("system", 2),
            ("sure (%)", 1),
        ],
        found.weak.iter().map(row),
        &note,
    )
}
