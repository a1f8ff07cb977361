//! `bookahead gantt RUN --point P`: the plan of one point: nodes × time, or, for machines that only
//! count nodes, the number of held nodes over time. The store keeps what counted machines held; it
//! does not keep the nodes of jobs, so a point with a plan of nodes is replayed and checked against
//! the stored results. No other command than `run` simulates.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::memory::MemoryArguments;
use crate::cli::studies;
use crate::output::write_file;
use crate::store::{MachineUse, ReplaySource, RunId, RunSelector, Store, StoreError};
use crate::sweep::{InputFolders, ReplayError, ReplayedPoint, replay_point};
use crate::units::Seconds;
use bookahead_report::gantt::Gantt;
use bookahead_report::{PlanSection, Profile};

/// Draws the plan of one point.
#[derive(Clone, Debug, clap::Args)]
pub struct GanttArguments {
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(value_name = "RUN|latest")]
    pub run: RunSelector,
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// The point's place in the sweep, from 0 (`show RUN --points` lists them) [default: the point
    /// with the highest gain of the first strategy]
    #[arg(long, value_name = "PLACE")]
    pub point: Option<u32>,
    /// Which cluster or site of the simulation, from 0
    #[arg(long, value_name = "C", default_value_t = 0)]
    pub cluster: u32,
    /// Begin at this time since the start of the simulation: seconds, or with a unit as in 90m,
    /// 36h, 2.5d
    #[arg(long, value_name = "T", value_parser = time)]
    pub from: Option<Seconds>,
    /// End at this time
    #[arg(long, value_name = "T", value_parser = time)]
    pub to: Option<Seconds>,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// The file to write: .svg, or .html for a page that zooms [default: gantt-RUN-PLACE.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Draw a plan of nodes even if inputs or totals no longer match the store
    #[arg(long)]
    pub force: bool,
}

/// Why nothing was drawn.
#[derive(Debug, thiserror::Error)]
pub enum GanttError {
    /// The store cannot be read, or has no such run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such point, or it is not done.
    #[error(
        "run {run} has no finished point {place}: `bookahead show {run} --points` lists its points, `bookahead run` finishes them"
    )]
    Point {
        /// The run.
        run: i64,
        /// What was asked for.
        place: String,
    },
    /// There are fewer clusters.
    #[error("there is no cluster {cluster} in this simulation: it has {count}, counted from 0")]
    Cluster {
        /// What was asked for.
        cluster: u32,
        /// How many there are.
        count: usize,
    },
    /// Nothing lies between the times.
    #[error(
        "nothing lies between --from {from} s and --to {to} s: this simulation lasts from 0 to {end} s"
    )]
    Window {
        /// From.
        from: i64,
        /// To.
        to: i64,
        /// When the last node was given back.
        end: i64,
    },
    /// The point cannot be replayed.
    #[error("point {place} cannot be replayed: {source}")]
    Replay {
        /// The point.
        place: u32,
        /// Why.
        source: ReplayError,
    },
    /// What its machines held was not stored.
    #[error(
        "what became of the jobs of point {0} was not stored, and its plan is drawn from that: `bookahead run CONFIG --outcomes all` \
         with the same store computes it again and keeps it"
    )]
    NoOutcomes(u32),
    /// No machine held anything.
    #[error(
        "nothing held a node of a machine of `{0}`, so there is no plan to draw; its results are in the view v_measure \
         (`bookahead sql`)"
    )]
    Nothing(String),
    /// The ending says neither.
    #[error("`{0}` ends neither in .svg nor in .html, which decides what is drawn")]
    Ending(PathBuf),
    /// The file cannot be written.
    #[error("cannot write `{path}`: {source}; choose another file with --out")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Draws and writes the file, and says on standard output where it is.
///
/// # Errors
///
/// When the point cannot be found or replayed, or the file cannot be written.
pub fn execute(arguments: &GanttArguments) -> Result<(), GanttError> {
    let store = Store::open_read_only(studies(), &arguments.store)?;
    let (run, source) = source(&store, &arguments.run, arguments.point)?;
    let folders = InputFolders {
        memory: arguments.memory.budget(),
        ..InputFolders::from_environment()
    };
    let plan = Plan::of(&store, &source, &folders, arguments.force)?;
    let drawing = Drawing::new(
        &plan,
        title(&source),
        arguments.cluster,
        (arguments.from, arguments.to),
    )?;
    let path = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("gantt-{}-{}.html", run.0, source.place)));
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg") => drawing.svg(),
        Some("html") => drawing.page(&drawing.note(&plan)),
        _ => return Err(GanttError::Ending(path)),
    };
    write(&path, &text)?;
    // A reader who has gone does not matter: the file is written.
    let _ = writeln!(super::output::people(), "{}", path.display());
    Ok(())
}

/// The point with this place, or the one with the highest gain of the first strategy.
fn source(
    store: &Store,
    run: &RunSelector,
    place: Option<u32>,
) -> Result<(RunId, ReplaySource), GanttError> {
    let run = store.run_id(run)?;
    let place = match place {
        Some(place) => Some(place),
        None => store.best_places(run)?.first().map(|(place, _)| *place),
    };
    let missing = || GanttError::Point {
        run: run.0,
        place: place.map_or_else(String::new, |place| place.to_string()),
    };
    let source = store
        .replay_source(run, place.ok_or_else(missing)?)?
        .ok_or_else(missing)?;
    Ok((run, source))
}

/// The page that zooms, of the whole plan of a point.
///
/// # Errors
///
/// When the point cannot be found or replayed.
pub fn page(
    store: &Path,
    run: &RunSelector,
    place: Option<u32>,
    cluster: u32,
    folders: &InputFolders,
) -> Result<String, GanttError> {
    let store = Store::open_read_only(studies(), store)?;
    let (_, source) = source(&store, run, place)?;
    let plan = Plan::of(&store, &source, folders, false)?;
    let drawing = Drawing::new(&plan, title(&source), cluster, (None, None))?;
    Ok(drawing.page(&drawing.note(&plan)))
}

fn write(path: &Path, text: &str) -> Result<(), GanttError> {
    let fault = |source| GanttError::Write {
        path: path.to_owned(),
        source,
    };
    write_file(path, text).map_err(fault)
}

/// What was held when.
enum Plan {
    /// One cluster whose nodes are known: carried out once more.
    Nodes(Box<ReplayedPoint>),
    /// Machines that count their nodes, one at least of which held something.
    Counts(Vec<MachineUse>),
}

impl Plan {
    /// That of a point.
    fn of(
        store: &Store,
        source: &ReplaySource,
        folders: &InputFolders,
        force: bool,
    ) -> Result<Self, GanttError> {
        let failed = |error| GanttError::Replay {
            place: source.place,
            source: error,
        };
        if source.names_nodes(studies()).map_err(failed)? {
            let point = replay_point(studies(), source, folders, force).map_err(failed)?;
            return Ok(Self::Nodes(Box::new(point)));
        }
        if !source.has_outcomes {
            return Err(GanttError::NoOutcomes(source.place));
        }
        let machines = store.held_by_machines(&source.strategy, source.simulation)?;
        if machines.iter().all(|machine| machine.held.is_empty()) {
            return Err(GanttError::Nothing(source.strategy.clone()));
        }
        Ok(Self::Counts(machines))
    }
}

/// The drawing of a plan.
enum Drawing<'d> {
    Nodes(Gantt<'d>),
    Counts(Profile<'d>),
}

impl<'d> Drawing<'d> {
    /// Of one of the clusters, between two times: by default from the first start to the last end.
    fn new(
        plan: &'d Plan,
        title: String,
        cluster: u32,
        wanted: (Option<Seconds>, Option<Seconds>),
    ) -> Result<Self, GanttError> {
        let missing = |count| GanttError::Cluster { cluster, count };
        match plan {
            Plan::Nodes(point) => {
                let replay = &point.plan;
                if cluster != 0 {
                    return Err(missing(1));
                }
                let allocations = &replay.allocations;
                let held = allocations.iter().map(|held| (held.start, held.end));
                let (from, to) = window(held, wanted)?;
                Ok(Self::Nodes(Gantt {
                    title,
                    nodes: replay.nodes,
                    from,
                    to,
                    allocations,
                    outcomes: &replay.outcomes,
                    events: &replay.failures.events,
                }))
            }
            Plan::Counts(machines) => {
                let machine = machines.get(cluster as usize);
                let machine = machine.ok_or_else(|| missing(machines.len()))?;
                let held = machine.held.iter().map(|held| (held.start, held.end));
                let (from, to) = window(held, wanted)?;
                Ok(Self::Counts(Profile {
                    title: match machines.len() {
                        1 => title,
                        _ => format!("{title}, {}", machine.name),
                    },
                    machine,
                    from,
                    to,
                }))
            }
        }
    }

    fn svg(&self) -> String {
        match self {
            Self::Nodes(gantt) => gantt.svg(),
            Self::Counts(profile) => profile.svg(),
        }
    }

    fn page(&self, note: &str) -> String {
        match self {
            Self::Nodes(gantt) => gantt.page(note),
            Self::Counts(profile) => profile.page(note),
        }
    }

    fn note(&self, plan: &Plan) -> String {
        let checked = match plan {
            Plan::Counts(_) => "Read off the stored outcomes.",
            Plan::Nodes(point) if point.agrees => {
                "Replayed from the stored specification; its totals agree with the store."
            }
            Plan::Nodes(_) => {
                "FORCED: replayed from the stored specification, but inputs or totals are NOT those of the store."
            }
        };
        let of_picture = match self {
            Self::Nodes(gantt) => gantt.note(),
            Self::Counts(profile) => profile.note(),
        };
        format!("{of_picture} {checked}")
    }
}

/// From the first start to the last end, unless somebody says otherwise.
fn window(
    held: impl Iterator<Item = (Seconds, Seconds)>,
    (from, to): (Option<Seconds>, Option<Seconds>),
) -> Result<(Seconds, Seconds), GanttError> {
    let whole = held.reduce(|whole, held| (whole.0.min(held.0), whole.1.max(held.1)));
    let (first, end) = whole.unwrap_or((Seconds::ZERO, Seconds(1)));
    let (from, to) = (from.unwrap_or(first), to.unwrap_or(end));
    if from >= to || from >= end {
        return Err(GanttError::Window {
            from: from.0,
            to: to.0,
            end: end.0,
        });
    }
    Ok((from, to))
}

/// The strategy and the other axes.
fn title(source: &ReplaySource) -> String {
    point_words(&source.strategy, &source.axes, source.replication)
}

/// What a point is called: its strategy, the other axes (JSON, by key) and its replication.
pub fn point_words(strategy: &str, axes: &str, replication: u32) -> String {
    let axes: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(axes).unwrap_or_default();
    let mut words = vec![strategy.to_owned()];
    words.extend(
        axes.iter()
            .filter(|(key, _)| key.as_str() != "scheduling.strategy")
            .map(|(key, value)| {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                format!("{} {value}", key.rsplit('.').next().unwrap_or(key))
            }),
    );
    words.push(format!("replication {replication}"));
    words.join(", ")
}

/// A time that the pages of plans beside a report show at most, from the first start on.
const REPORT_WINDOW: Seconds = Seconds(14 * 86_400);

/// A time that the page of a report shows at most: bars are wide enough to be seen.
const EXCERPT: Seconds = Seconds(2 * 86_400);

/// A drawing of a plan and its page.
pub type DrawnPlan = (PlanSection, String);

/// For the report of a run: of every strategy the plan of its best point in the first replication,
/// two days in the middle for the page of the report, and a page of two weeks at most that zooms;
/// and in words which plans are missing and why.
///
/// # Errors
///
/// When the store cannot be read.
pub fn plan_sections(
    store: &Path,
    run: &RunSelector,
    folders: &InputFolders,
) -> Result<(Vec<DrawnPlan>, Vec<String>), StoreError> {
    let store = Store::open_read_only(studies(), store)?;
    let run = store.run_id(run)?;
    let (mut sections, mut missing) = (Vec::new(), Vec::new());
    for (place, strategy) in store.best_places(run)? {
        // Counted plans are drawn when somebody asks for them: one a machine.
        if studies().is_strategy(&strategy) {
            continue;
        }
        let Some(source) = store.replay_source(run, place)? else {
            continue;
        };
        let drawn = Plan::of(&store, &source, folders, false).and_then(|plan| {
            let drawing = Drawing::new(&plan, title(&source), 0, (None, None))?;
            let note = drawing.note(&plan);
            match drawing {
                Drawing::Nodes(gantt) => {
                    let to = gantt.to.min(gantt.from + REPORT_WINDOW);
                    let gantt = Gantt { to, ..gantt };
                    let page = gantt.page(&note);
                    let (excerpt, note) = excerpt(gantt, note);
                    let section = (excerpt.title.clone(), excerpt.fragment(), page);
                    Ok(Some((section, note)))
                }
                Drawing::Counts(_) => Ok(None),
            }
        });
        match drawn {
            Ok(None) => {}
            Ok(Some(((title, svg, text), note))) => {
                let page = format!("plots/plan-{strategy}.html");
                let section = PlanSection {
                    title,
                    svg,
                    note,
                    page,
                };
                sections.push((section, text));
            }
            Err(error) => missing.push(format!("no plan of {strategy}: {error}")),
        }
    }
    Ok((sections, missing))
}

/// The middle of what is drawn, where that is long, and a note that says so.
fn excerpt(gantt: Gantt<'_>, note: String) -> (Gantt<'_>, String) {
    let spare = (gantt.to - gantt.from) - EXCERPT;
    if spare <= Seconds::ZERO {
        return (gantt, note);
    }
    let from = gantt.from + Seconds(spare.0 / 2);
    let days = EXCERPT.0 / 86_400;
    let note = format!("{days} days in the middle; the page that zooms has all of it. {note}");
    let to = from + EXCERPT;
    (Gantt { from, to, ..gantt }, note)
}

/// Seconds, or a number with a unit.
fn time(text: &str) -> Result<Seconds, String> {
    let text = text.trim();
    let (number, factor) = match text.char_indices().last() {
        Some((end, 's')) => (&text[..end], 1.0),
        Some((end, 'm')) => (&text[..end], 60.0),
        Some((end, 'h')) => (&text[..end], 3_600.0),
        Some((end, 'd')) => (&text[..end], 86_400.0),
        _ => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(value) if value.is_finite() && (0.0..=1e12).contains(&(value * factor)) => {
            Ok(Seconds((value * factor).round() as i64))
        }
        _ => Err("allowed are seconds, or a number with a unit as in 90m, 36h, 2.5d".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_report_has_two_days_of_the_middle_of_a_longer_plan() {
        let day = 86_400;
        let of = |from: i64, to: i64| {
            let gantt = Gantt {
                title: String::new(),
                nodes: bookahead_core::units::Nodes(1),
                from: Seconds(from),
                to: Seconds(to),
                allocations: &[],
                outcomes: &[],
                events: &[],
            };
            let (excerpt, note) = excerpt(gantt, "Bars.".to_owned());
            (excerpt.from.0, excerpt.to.0, note)
        };
        assert_eq!(
            of(100, 100 + 2 * day),
            (100, 100 + 2 * day, "Bars.".to_owned())
        );
        let (from, to, note) = of(0, 12 * day);
        assert_eq!((from, to), (5 * day, 7 * day));
        assert!(
            note.starts_with("2 days in the middle; ") && note.ends_with("Bars."),
            "{note}"
        );
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("90"), Ok(Seconds(90)));
        assert_eq!(time("36h"), Ok(Seconds(129_600)));
        assert_eq!(time("2.5d"), Ok(Seconds(216_000)));
        assert!(time("soon").is_err() && time("-3h").is_err() && time("").is_err());
    }
}
