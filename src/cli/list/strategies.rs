//! `bookahead list strategies`: everything that an experiment chooses by name, with descriptions.

use std::fmt::Write as _;

use serde_json::json;

use crate::cli::paragraphs::{names, paragraph};
use crate::cli::screen::{LookError, are_records, print_json};
use crate::cli::studies;
use crate::predictions::{CORRECTORS, PREDICTORS};
use crate::scheduling::registry::PlanKind;
use crate::sweep::keys::Keys;
use bookahead_grid::co_reservation::Algorithm;

/// Lists policies and studies, and the algorithms, predictors, correctors and orders that they are
/// given.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead list strategies
  bookahead init heuristic-overbooking > mine.toml
  bookahead list keys queue")]
pub struct StrategiesArguments {
    /// JSON, for scripts: policies and studies
    #[arg(long)]
    pub json: bool,
}

/// Keys whose names say by themselves what they are.
const PLAIN: [&str; 7] = [
    "queue.order",
    "queue.backfill",
    "planning.order",
    "planning.backfilling",
    "admission.rule",
    "provisioning.search",
    "workload.model",
];

fn plans_with(plan: PlanKind) -> &'static str {
    match plan {
        PlanKind::Queue => "nothing: a queue",
        PlanKind::Mapped => "a time line for each node",
        PlanKind::Counted => "the number of free nodes over time",
        PlanKind::Shortened => "a time line for each node, with shortened jobs",
        PlanKind::Shelves => "a time line for each node, in shelves of jobs of like length",
    }
}

/// The names of all policies and studies, for help texts.
pub(in crate::cli) fn after_help() -> String {
    let policies: Vec<&str> = studies().policies().map(|policy| policy.name).collect();
    let studies: Vec<&str> = studies().strategies().map(|study| study.name).collect();
    format!(
        "Strategies of experiment files: {}; of studies with a machine of their own: {}. `bookahead list strategies` says what each is, \
         `bookahead init NAME` writes a first experiment.",
        policies.join(", "),
        studies.join(", ")
    )
}

/// Prints them.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn execute(arguments: &StrategiesArguments) -> Result<(), LookError> {
    if are_records(arguments.json) {
        let policies = studies().policies().map(|policy| {
            json!({
                "name": policy.name, "summary": policy.summary, "study": null, "plans_with": plans_with(policy.plan),
                "overbooks": policy.overbooks, "baseline": policy.baseline,
            })
        });
        let studies = studies().strategies().map(
            |study| json!({ "name": study.name, "summary": study.about, "study": study.name }),
        );
        return Ok(print_json(&policies.chain(studies).collect())?);
    }
    let mut text = String::new();
    paragraph(
        &mut text,
        "Policies on one cluster: scheduling.strategy = \"NAME\"",
    );
    let rows: Vec<(String, Vec<String>)> = studies()
        .policies()
        .map(|policy| {
            let baseline = policy.baseline.map_or(String::new(), |baseline| {
                format!("; overbooks, compared with {baseline}")
            });
            let plan = format!("plans with {}{baseline}", plans_with(policy.plan));
            (
                policy.name.to_owned(),
                vec![policy.summary.to_owned(), plan],
            )
        })
        .collect();
    names(&mut text, &rows);
    text.push('\n');
    paragraph(
        &mut text,
        "Studies with a machine of their own: scheduling.strategy = \"NAME\"",
    );
    let rows: Vec<(String, Vec<String>)> = studies()
        .strategies()
        .map(|study| (study.name.to_owned(), vec![study.about.to_owned()]))
        .collect();
    names(&mut text, &rows);
    let corrector = |at: usize| serde_json::to_value(CORRECTORS[at].0).unwrap_or_default();
    type Rows = Vec<(String, Vec<String>)>;
    let chosen: [(&str, &str, Rows); 3] = [
        (
            "Algorithms of a broker",
            "broker.algorithm",
            Algorithm::ALL
                .iter()
                .map(|(_, name, about)| ((*name).to_owned(), vec![(*about).to_owned()]))
                .collect(),
        ),
        (
            "Predictors of run times",
            "queue.predictor",
            PREDICTORS
                .iter()
                .map(|known| (known.name.to_owned(), vec![known.summary.to_owned()]))
                .collect(),
        ),
        (
            "Correctors: what holds when a job outlives its prediction",
            "queue.corrector",
            (0..CORRECTORS.len())
                .map(|at| {
                    let name = corrector(at).as_str().unwrap_or_default().to_owned();
                    (name, vec![CORRECTORS[at].1.to_owned()])
                })
                .collect(),
        ),
    ];
    for (title, key, rows) in chosen {
        let _ = writeln!(text);
        paragraph(&mut text, &format!("{title}: {key} = \"NAME\""));
        names(&mut text, &rows);
    }
    let _ = writeln!(
        text,
        "\nOrders and rules (`bookahead list keys KEY` says more)"
    );
    let keys = Keys::of(studies());
    let rows: Vec<(String, Vec<String>)> = PLAIN
        .iter()
        .filter_map(|key| keys.find(key))
        .map(|key| {
            let known = keys.names(key);
            (key.path.to_owned(), vec![known.join(", ")])
        })
        .collect();
    names(&mut text, &rows);
    Ok(crate::cli::print(&text)?)
}
