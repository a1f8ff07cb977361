use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;

use clap::Parser;

use super::curve_tests::Drawn;
use super::*;
use crate::sweep::{Axis, AxisValue};
use bookahead_papers::findings::CurveCell;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: ReproduceArgs,
}

pub(super) fn args(words: &[&str], report: &Path) -> ReproduceArgs {
    let mut all = vec!["reproduce"];
    all.extend(words);
    let mut args = Command::try_parse_from(all).unwrap().args;
    args.report = report.to_owned();
    args
}

/// A runner that has some traces and makes its numbers up.
#[derive(Default)]
pub(super) struct Fake {
    pub(super) files: BTreeSet<&'static str>,
    pub(super) ran: Vec<String>,
    /// The texts of the configurations that were run.
    pub(super) texts: Vec<String>,
    /// Points of this configuration fail.
    pub(super) failing: Option<&'static str>,
    /// It is interrupted at this configuration.
    pub(super) interrupted: Option<&'static str>,
    /// Draws curves and not coins: what every measure on SDSC is above that on CTC.
    pub(super) above: Option<f64>,
    /// Run, folder, and whether its report says what held.
    pub(super) reports: RefCell<Vec<(i64, PathBuf, bool)>>,
}

impl Fake {
    /// A runner that has these traces.
    pub(super) fn with(files: &[&'static str]) -> Self {
        Self {
            files: files.iter().copied().collect(),
            ..Self::default()
        }
    }
}

impl SweepRunner for Fake {
    fn report(
        &self,
        run: &SweepOutcome,
        folder: &Path,
        extras: &ReportExtras,
    ) -> Result<(), AnyError> {
        let report = (run.run, folder.to_owned(), extras.claims.is_some());
        self.reports.borrow_mut().push(report);
        Ok(())
    }

    fn curves(
        &self,
        runs: &[(&str, SweepOutcome)],
        _: &FindingsFile,
    ) -> Result<Box<dyn MeasuredCurves>, AnyError> {
        let replications = runs[0].1.replications;
        let runs = runs.iter().map(|(stem, _)| (*stem).to_owned()).collect();
        Ok(match self.above {
            Some(above) => Box::new(Drawn::new(runs, above)),
            None => Box::new(Coins { runs, replications }),
        })
    }

    fn find_trace(&self, file: &str) -> Result<PathBuf, AnyError> {
        if self.files.contains(file) {
            Ok(PathBuf::from("/traces").join(file))
        } else {
            Err(format!("{file} is not in BOOKAHEAD_TRACES; the archive offers it").into())
        }
    }

    fn run(&mut self, configuration: &Configuration) -> Result<SweepOutcome, AnyError> {
        self.ran.push(configuration.name.clone());
        self.texts.push(configuration.text.clone());
        let is = |stem: Option<&str>| stem == Some(&configuration.name);
        Ok(SweepOutcome {
            experiment: configuration.name.clone(),
            run: self.ran.len() as i64,
            replications: 20,
            done: 1,
            failed: if is(self.failing) { 2 } else { 0 },
            interrupted: is(self.interrupted),
        })
    }
}

/// Coins of every strategy at every setting of the three experiments of a trace.
struct Coins {
    runs: Vec<String>,
    replications: u32,
}

const AXES: [(&str, &[&str]); 2] = [
    (
        "estimates.classes",
        &["runtime", "resources", "application", "user"],
    ),
    (
        "scheduling.strategy",
        &[
            "conservative-backfilling",
            "heuristic-planning",
            "comprehensive-overbooking",
            "heuristic-overbooking",
        ],
    ),
];

impl Coins {
    fn cell(&self, values: &[(&str, AxisValue)], sample: impl Fn(u32) -> f64) -> Option<CurveCell> {
        let values = values
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()));
        let samples = (0..self.replications).map(|battery| (battery, sample(battery)));
        CurveCell::new(values.collect(), samples.collect())
    }

    /// Every strategy earns the same wherever it is asked.
    fn fees(&self, setting: &str, at: &[f64], measure: &str) -> Vec<CurveCell> {
        let mut cells = Vec::new();
        let fees = [14_260.0, 23_860.0, 23_300.0, 28_280.0];
        for family in AXES[0].1 {
            for (strategy, fees) in AXES[1].1.iter().zip(fees) {
                for at in at {
                    let text = |name: &str| AxisValue::Text(name.to_owned());
                    let values = [
                        (AXES[0].0, text(family)),
                        (AXES[1].0, text(strategy)),
                        (setting, AxisValue::Real(*at)),
                    ];
                    let earns = ["gain", "fees"].contains(&measure);
                    cells.extend(self.cell(&values, |_| if earns { fees } else { 0.0 }));
                }
            }
        }
        cells
    }

    /// At 2 hours heuristic planning forfeits as much as the thesis printed, more or less.
    fn moved(&self, measure: &str) -> Vec<CurveCell> {
        let mut cells = Vec::new();
        let places = [0.0, 2.0].into_iter();
        for (offset, at) in places.flat_map(|offset| [1.0, 2.0, 4.0].map(|at| (offset, at))) {
            let values = [
                ("failures.offset_hours", AxisValue::Real(offset)),
                (AXES[0].0, AxisValue::Text("runtime".to_owned())),
                (AXES[1].0, AxisValue::Text("heuristic-planning".to_owned())),
                ("acceptance.penalty_ratio", AxisValue::Real(at)),
            ];
            let lost = if offset > 0.0 { 2_418.0 } else { 0.0 };
            cells.extend(self.cell(&values, |battery| {
                let (fees, forfeited) = (26_280.0 - lost, lost + f64::from(battery % 2));
                match measure {
                    "gain" => fees - at * forfeited,
                    "fees" => fees,
                    "forfeited" => forfeited,
                    _ => 0.0,
                }
            }));
        }
        cells
    }
}

impl MeasuredCurves for Coins {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        static KNOWN: std::sync::LazyLock<Vec<Axis>> = std::sync::LazyLock::new(|| {
            let axis = |(key, values): &(&str, &[&str])| Axis {
                key: (*key).to_owned(),
                values: values
                    .iter()
                    .map(|value| AxisValue::Text((*value).to_owned()))
                    .collect(),
            };
            AXES.iter().map(axis).collect()
        });
        let is_made = self.runs.iter().any(|known| known == run);
        is_made.then_some(&**KNOWN)
    }

    fn replications(&self, _: &str) -> u32 {
        self.replications
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        let thresholds: Vec<f64> = (1..=20).map(|step| f64::from(step) * 0.05).collect();
        let ratios = [0.5, 1.0, 2.0, 4.0];
        match run.rsplit('-').next() {
            Some("pof") => self.fees("acceptance.pof_max", &thresholds, measure),
            Some("risk") => self.fees("acceptance.penalty_ratio", &ratios, measure),
            _ => self.moved(measure),
        }
    }
}

pub(super) struct Ran {
    pub(super) result: Result<ReproductionEnd, ReproduceError>,
    pub(super) output: String,
    pub(super) log: String,
    pub(super) report: tempfile::TempDir,
}

pub(super) fn run(words: &[&str], runner: &mut Fake) -> Ran {
    run_in(Path::new(env!("CARGO_MANIFEST_DIR")), words, runner)
}

pub(super) fn run_in(root: &Path, words: &[&str], runner: &mut dyn SweepRunner) -> Ran {
    let report = tempfile::tempdir().unwrap();
    let args = args(words, report.path());
    let (mut output, mut log) = (Vec::new(), Vec::new());
    let result = reproduce(&args, root, runner, &mut output, &mut log);
    Ran {
        result,
        output: String::from_utf8(output).unwrap(),
        log: String::from_utf8(log).unwrap(),
        report,
    }
}

pub(super) const CTC: &str = "CTC-SP2-1996-3.1-cln.swf";

#[test]
fn one_trace_runs_both_experiments_and_leaves_a_score_card() {
    let mut runner = Fake::with(&[CTC]);
    let ran = run(&["birkenheuer2012", "--trace", "ctc"], &mut runner);
    assert_eq!(ran.result.unwrap().exit_code(), 0);
    assert_eq!(runner.ran, ["ctc-pof", "ctc-risk", "ctc-alignment"]);
    let folder = ran.report.path().join("birkenheuer2012/ctc");
    let page = fs::read_to_string(folder.join("score-card.md")).unwrap();
    assert!(page.contains("| pof/runtime/heuristic-overbooking/max-gain | 28,280 | 28,280 † |"));
    assert!(page.contains("ctc/pof/runtime/order: agrees"), "{page}");
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.join("score-card.json")).unwrap()).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 116);
    assert!(
        ran.output.contains("ctc/pof/resources/order: agrees"),
        "{}",
        ran.output
    );
}

#[test]
fn without_a_trace_name_missing_files_are_named_and_the_rest_is_run() {
    let mut runner = Fake::with(&[CTC]);
    let ran = run(&["birkenheuer2012", "--json"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert_eq!(
        runner.ran,
        [
            "ctc-pof",
            "ctc-risk",
            "ctc-alignment",
            "arminius-pof",
            "arminius-risk",
            "arminius-alignment"
        ]
    );
    assert!(
        ran.log
            .contains("lanl: not tested: LANL-CM5-1994-4.1-cln.swf is not in"),
        "{}",
        ran.log
    );
    let json: Vec<serde_json::Value> = serde_json::from_str(&ran.output).unwrap();
    assert_eq!(json.len(), 817, "every claim appears, tested or not");
    let lanl = json
        .iter()
        .find(|record| record["trace"] == "lanl")
        .unwrap();
    assert_eq!(lanl["verdict"], "not-tested");
    assert_eq!(lanl["held"], serde_json::Value::Null);
}

#[test]
fn a_trace_asked_for_by_name_whose_file_is_missing_is_an_error() {
    let mut runner = Fake::default();
    let ran = run(&["birkenheuer2012", "--trace", "hpc2n"], &mut runner);
    let message = ran.result.unwrap_err().to_string();
    assert!(message.contains("HPC2N-2002-2.2-cln.swf"), "{message}");
    assert!(runner.ran.is_empty());
}

#[test]
fn unknown_papers_and_traces_are_refused_with_what_there_is() {
    let paper = run(&["birkenheuer2013"], &mut Fake::default());
    assert!(paper.result.unwrap_err().to_string().contains(
        "there are: birkenheuer2008, birkenheuer2012, gaussier2015, heine2005, meltzer2005, singh2008"
    ));
    let trace = run(&["birkenheuer2012", "--trace", "kth"], &mut Fake::default());
    let message = trace.result.unwrap_err().to_string();
    assert!(
        message.contains("ctc, hpc2n, lanl, sdsc-blue, sdsc-datastar, sdsc-sp2, arminius"),
        "{message}"
    );
}

#[test]
fn the_held_out_trace_runs_and_shows_what_was_measured() {
    let mut runner = Fake::with(&["SDSC-DS-2004-2.1-cln.swf"]);
    let ran = run(
        &["birkenheuer2012", "--trace", "sdsc-datastar"],
        &mut runner,
    );
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert!(
        ran.output.contains("Measured: PoF test, resources classes"),
        "{}",
        ran.output
    );
    assert!(ran.output.contains("held out for independent validation"));
}

#[test]
fn failed_points_end_in_one_and_an_interruption_in_130() {
    let mut failing = Fake {
        failing: Some("ctc-risk"),
        ..Fake::with(&[CTC])
    };
    let ran = run(&["birkenheuer2012", "--trace", "ctc"], &mut failing);
    assert_eq!(ran.result.unwrap().exit_code(), 1);
    assert!(
        ran.output.contains("2 points of ctc-risk failed"),
        "{}",
        ran.output
    );
    let mut interrupted = Fake {
        interrupted: Some("ctc-pof"),
        ..Fake::with(&[CTC])
    };
    let ran = run(&["birkenheuer2012"], &mut interrupted);
    assert_eq!(ran.result.unwrap().exit_code(), 130);
    assert_eq!(interrupted.ran, ["ctc-pof"], "nothing more is started");
    assert!(ran.log.contains("the same command goes on"), "{}", ran.log);
}

#[test]
fn the_list_names_papers_traces_configurations_and_claims_and_runs_nothing() {
    let mut runner = Fake::with(&[CTC]);
    let ran = run(&["--list", "--all"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert!(runner.ran.is_empty());
    for text in [
        "birkenheuer2012\n  G. Birkenheuer",
        "ctc                CTC SP2, 430 processors; 116 findings; /traces/CTC-SP2-1996-3.1-cln.swf",
        "HPC2N-2002-2.2-cln.swf: not found",
        "ablation-ctc-crash.toml",
        "ctc/pof/runtime/heuristic-overbooking/max-gain",
        "28,280 ± 15 %",
    ] {
        assert!(
            ran.output.contains(text),
            "{text}\nis missing in\n{}",
            ran.output
        );
    }
    assert!(ran.output.lines().count() > 725);
}

#[test]
fn without_all_the_list_of_every_paper_fits_two_screens_and_says_what_is_missing() {
    let mut runner = Fake::with(&[CTC]);
    let ran = run(&["--list"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    assert!(runner.ran.is_empty());
    assert!(
        ran.output.contains("not found: HPC2N-2002-2.2-cln.swf"),
        "{}",
        ran.output
    );
    assert!(!ran.output.contains("max-gain"), "{}", ran.output);
    assert!(
        (10..80).contains(&ran.output.lines().count()),
        "{}",
        ran.output
    );
    let of_one = run(&["birkenheuer2012", "--list"], &mut runner);
    assert!(
        of_one.output.contains("readings (--reading NAME"),
        "{}",
        of_one.output
    );
    assert!(of_one.output.lines().count() < 50, "{}", of_one.output);
}

#[test]
fn claims_that_depend_on_the_alignment_are_judged_twice_and_both_counts_are_said() {
    let mut runner = Fake::with(&[CTC]);
    let ran = run(&["birkenheuer2012", "--trace", "ctc"], &mut runner);
    assert_eq!(ran.result.unwrap(), ReproductionEnd::Done);
    let folder = ran.report.path().join("birkenheuer2012/ctc");
    let page = fs::read_to_string(folder.join("score-card.md")).unwrap();
    // Nothing is lost at offset 0 and 2,418 to 2,419 coins of 26,280.5 at 2 h; 9.2 % are not the
    // printed 8.4 %.
    for text in [
        "| claim | published | measured | 95 % interval | difference | tolerance | held | over alignments | why |",
        "| baselines/heuristic-planning/penalties | 2,418 | 0 | 0 to 0 | -100.0 % | ±15 % | no: 2,418 away, 363 allowed | \
         missed: 0.26 from the nearest interval, 0.26 to 0.74 or 2,418 to 2,419 |",
        "measured with the failure clock moved by 0, 2 hours",
        "An interval is Student's t over the 20 batteries of a trace, the unit of replication",
        "not tested: at an offset of 0 h: not measured completely: conservative-backfilling with runtime classes at 1",
    ] {
        assert!(page.contains(text), "{text}\nis missing in\n{page}");
    }
    let json: Vec<serde_json::Value> =
        serde_json::from_str(&fs::read_to_string(folder.join("score-card.json")).unwrap()).unwrap();
    let record = |id: &str| json.iter().find(|record| record["id"] == id).unwrap();
    let share = record("ctc/baselines/heuristic-planning/lost-share");
    assert_eq!(share["over_alignments"]["ground"]["rule"], "alignments");
    assert_eq!(share["over_alignments"]["ground"]["batteries"], 20);
    assert_eq!(share["held_over_alignments"], false);
    let gain = record("ctc/pof/runtime/heuristic-planning/max-gain");
    assert_eq!(gain["over_alignments"], serde_json::Value::Null);
    assert_eq!(gain["held_over_alignments"], true);
    let last = ran.output.lines().last().unwrap();
    assert!(
        last.starts_with("birkenheuer2012: held ") && last.contains(" %), over alignments "),
        "{last}"
    );
    for text in ["\n  Table 6.1  ", "\n  CTC SP2, 430 processors  "] {
        assert!(
            ran.output.contains(text),
            "{text}\nis missing in\n{}",
            ran.output
        );
    }
}
