//! A request of the server to the process that computes a page, and how the page is made there:
//! reports, comparisons and plans are those of their commands.

use std::io::Write;
use std::path::Path;

use bookahead_core::memory::MemoryBudget;
use serde::{Deserialize, Serialize};

use super::pages::PageFailure;
use super::{plans, question};
use crate::cli::{gantt, studies};
use crate::store::{RunSelector, Store};
use crate::sweep::InputFolders;
use bookahead_report::{self, ReportExtras, comparison};

/// A page, or a file of rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PageRequest {
    /// The report of a run.
    Report { run: String },
    /// Runs compared with the first of them.
    Comparison { runs: Vec<i64> },
    /// The plans of a run that can be drawn, or those at these values of axes, by key.
    Plans {
        run: String,
        at: Vec<(String, String)>,
    },
    /// A plan; of the best point where none is named.
    Plan {
        run: String,
        place: Option<u32>,
        cluster: u32,
    },
    /// A page with the first rows of a question in SQL.
    Table { question: String },
    /// All rows of one, as CSV.
    Rows { question: String },
}

impl PageRequest {
    /// Computes it.
    ///
    /// # Errors
    ///
    /// Why there is no such page, for a person.
    pub(super) fn answer(
        &self,
        store: &Path,
        memory: MemoryBudget,
        target: &mut (dyn Write + Send),
    ) -> Result<(), PageFailure> {
        let page = match self {
            Self::Report { run } => report(store, run)?,
            Self::Comparison { runs } => compared(store, runs)?,
            Self::Plans { run, at } => plans::page(store, &selector(run), at)?,
            Self::Plan {
                run,
                place,
                cluster,
            } => {
                // As the server had them when it began.
                let folders = InputFolders {
                    memory,
                    ..InputFolders::from_environment()
                };
                gantt::page(store, &selector(run), *place, *cluster, &folders)?
            }
            Self::Table { question } => question::table(store, question)?,
            Self::Rows { question } => return question::write_rows(store, question, target),
        };
        target
            .write_all(page.as_bytes())
            .map_err(|_| PageFailure::fault())
    }
}

fn selector(run: &str) -> RunSelector {
    let Ok(selector) = run.parse();
    selector
}

fn links(more: &[(String, &str)]) -> Vec<(String, String)> {
    let common = [("/".to_owned(), "All runs"), ("/sql".to_owned(), "SQL")];
    let all = common.iter().chain(more);
    all.map(|(address, name)| (address.clone(), (*name).to_owned()))
        .collect()
}

fn report(store: &Path, run: &str) -> Result<String, PageFailure> {
    let opened = Store::open_read_only(studies(), store)?;
    let run = opened.run(&selector(run))?.id;
    let progress = opened.run_progress()?;
    let is_under_way = progress.iter().any(|one| one.id == run && one.is_running());
    let extras = ReportExtras {
        served: Some(bookahead_report::Served {
            links: links(&[(format!("/runs/{}/plans", run.0), "Plans")]),
            plans: Some(format!("/runs/{}/plans", run.0)),
            command: format!("bookahead report {} --store {}", run.0, store.display()),
            under_way: is_under_way.then_some(run.0),
        }),
        views: crate::cli::program().views,
        ..ReportExtras::default()
    };
    Ok(bookahead_report::page(
        studies(),
        store,
        &RunSelector::Id(run.0),
        &extras,
    )?)
}

fn compared(path: &Path, numbers: &[i64]) -> Result<String, PageFailure> {
    let store = Store::open_read_only(studies(), path)?;
    let mut runs = Vec::new();
    for run in numbers {
        let selector = RunSelector::Id(*run);
        runs.push(comparison::ComparedRun::read(&store, path, &selector)?);
    }
    drop(store);
    comparison::label(&mut runs);
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let served = bookahead_report::Served {
        links: links(&[]),
        command: format!(
            "bookahead compare {} --store {} --out FOLDER",
            words.join(" "),
            path.display()
        ),
        ..bookahead_report::Served::default()
    };
    Ok(comparison::page(&runs, &served))
}
