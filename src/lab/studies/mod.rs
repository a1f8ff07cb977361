//! What studies do in the laboratory: what their simulations read, and how they run behind actors.
//! One folder a study; the list of them is the engine's,
//! [`for_each_study`](crate::for_each_study).

use std::sync::Arc;

mod held;
pub mod measures;
mod spec;
mod spec_format;

pub use self::held::{Held, MachineUse};
pub use self::overbooking::PolicySimulation;
#[cfg(test)]
use self::spec::NAMES;
use self::spec::STUDY_MEASURES;
pub use self::spec::*;
use crate::actors::{Player, SimulationError};
use crate::estimates::EstimateModel;
use crate::failures::{FailureSettings, NodeEvent};
use crate::scheduling::measures::Measured;
use crate::scheduling::{JobOutcome, SimulationMetrics};

use crate::inputs::{ContentHashes, Handed, InputError, Inputs, RunInput, Seen};
use crate::keys::declaration::{ReadTable, Section, Tables};
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::workload::RawWorkload;
use crate::tables::{Definition, Outcomes, Rows};
use crate::workload::{RequestSettings, WorkloadSettings};
use toml::Spanned;

/// A study with its inputs and its actors.
pub trait LabStudy {
    /// The hash of the node failures that are replayed; `None` where the study reads none.
    ///
    /// # Errors
    ///
    /// When they cannot be had.
    fn failures_hash(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        Ok(None)
    }

    /// Adds the content hashes of what the study reads beside workload and failures.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    fn more_hashes(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
        _content: &mut ContentHashes,
    ) -> Result<(), Arc<InputError>> {
        Ok(())
    }

    /// Looks whether the inputs are such that the study can be carried out, so that a plan already
    /// says what would fail.
    ///
    /// # Errors
    ///
    /// When they are not, or cannot be had.
    fn check(&self, _spec: &SimulationSpec, _inputs: &Inputs) -> Result<(), Arc<InputError>> {
        Ok(())
    }

    /// What is read beside the simulation's own workload and failures.
    fn more_sources(&self, _spec: &SimulationSpec, _content: &ContentHashes) -> Vec<RunInput> {
        Vec::new()
    }

    /// Makes what a simulation reads, so that what is missing is known before the first one runs;
    /// by default its jobs.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    /// The simulation with everything that it reads.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>>;

    /// What each machine held in a simulation that had this result, with its outcomes; by default
    /// its jobs, on the machine of the workload.
    ///
    /// # Errors
    ///
    /// When something that the simulation reads cannot be made.
    fn machines(
        &self,
        spec: &SimulationSpec,
        _inputs: &Inputs,
        result: &SimulationResult,
    ) -> Result<Vec<MachineUse>, Arc<InputError>> {
        Ok(vec![MachineUse {
            name: "machine".to_owned(),
            nodes: spec.workload.nodes,
            held: Held::by_jobs(&result.outcomes).collect(),
        }])
    }

    /// The simulation of a policy on one cluster, whose plan names nodes; `None` for other studies.
    ///
    /// # Errors
    ///
    /// When something that it reads cannot be made.
    fn policy_simulation(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<Option<PolicySimulation>, Arc<InputError>> {
        Ok(None)
    }
}

/// What one simulation produced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SimulationResult {
    /// Totals.
    pub metrics: SimulationMetrics,
    /// What a study measures beside the totals of its jobs.
    pub measured: Measured,
    /// One outcome a job in order of job id; empty unless asked for.
    pub outcomes: Vec<JobOutcome>,
    /// The node events that happened before the simulation ended; empty unless outcomes were asked
    /// for.
    pub node_events: Vec<NodeEvent>,
    /// The statistics whose classes the outcomes name, where the simulation had any.
    pub estimates: Option<Arc<EstimateModel>>,
    /// What only its study knows.
    pub rows: StudyRows,
    /// What it saw, where that was asked for.
    pub seen: Seen,
}

/// What a study is called where its simulations name it.
fn name_of(strategy: Option<Strategy>) -> &'static str {
    strategy.map_or("", |strategy| strategy.name)
}

/// A simulation that has everything it reads.
pub trait Simulation: Send + Sync {
    /// Runs it, in production by actors on a current-thread runtime of their own. The result does
    /// not depend on anything but the inputs.
    ///
    /// # Errors
    ///
    /// When the settings do not fit the inputs, or when an actor panics.
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError>;

    /// Shows the jobs, requests and failures that it was handed, always in the same order. What a
    /// policy knows beforehand (statistics, batteries to learn from) is no part of them.
    fn handed(&self, handed: &mut Handed<'_>);
}

macro_rules! lab_studies {
    ($($(#[doc = $doc:literal])* $variant:ident($module:ident::$settings:ident),)*) => {
        $(pub mod $module;)*

        /// The laboratory's side of a study.
        #[must_use]
        pub fn lab_study(study: &StudySpec) -> &dyn LabStudy {
            match study {
                $(StudySpec::$variant(study) => study.as_ref(),)*
            }
        }

        /// The study that a file asks for, with its settings; `None` where something is wrong with
        /// them.
        fn asked_for(asked: &Asked<'_>, problems: &mut Problems) -> Option<StudySpec> {
            let mut found = None;
            $(
                if asked.is_for($module::STRATEGY) {
                    found = Some($module::$settings::resolve(asked, problems)?.into());
                } else if !elsewhere::<$module::$settings>(&asked.tables.$module, $module::STRATEGY, problems) {
                    return None;
                }
            )*
            found
        }

        /// What a file says in the tables of studies.
        #[derive(Debug, Default)]
        pub(crate) struct StudyTables {
            $(pub(crate) $module: <$module::$settings as FileStudy>::Tables,)*
        }

        impl StudyTables {
            pub(crate) fn read(from: &mut impl ReadTable) -> Self {
                Self { $($module: Tables::read(from),)* }
            }
        }

        /// What a simulation leaves in the tables of its study.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub enum StudyRows {
            /// Nothing.
            #[default]
            None,
            $($(#[doc = $doc])* $variant(Box<$module::Rows>),)*
        }

        impl StudyRows {
            /// The rows, for the store.
            pub(crate) fn rows(&self) -> &dyn Rows {
                match self {
                    Self::None => &(),
                    $(Self::$variant(rows) => rows.as_ref(),)*
                }
            }

            /// The same, to take some of them away.
            pub(crate) fn rows_mut(&mut self) -> Option<&mut dyn Rows> {
                match self {
                    Self::None => None,
                    $(Self::$variant(rows) => Some(rows.as_mut()),)*
                }
            }
        }

        /// The tables of each study in the store.
        pub(crate) const STORED: &[Definition] = &[
            $(<$module::$settings as FileStudy>::STORED,)*
        ];

        /// What each study is called, what stands for it where a strategy is named, and what its
        /// outcomes are.
        pub(crate) const OUTCOMES: &[StudyOutcomes] = &[
            $(StudyOutcomes {
                module: stringify!($module),
                strategy: $module::STRATEGY,
                outcomes: <$module::$settings as FileStudy>::STORED.outcomes,
            },)*
        ];

        /// Each study with what a first experiment sets.
        pub(crate) const STARTED: &[StartedStudy] = &[
            $(StartedStudy {
                module: stringify!($module),
                strategy: $module::STRATEGY,
                about: concat!($($doc),*).trim_ascii(),
                sections: <<$module::$settings as FileStudy>::Tables as Tables>::SECTIONS,
                starter: <$module::$settings as FileStudy>::STARTER,
            },)*
        ];

        /// What may stand in the tables of each study.
        pub(crate) const SECTIONS: &[&[Section]] = &[
            $(<<$module::$settings as FileStudy>::Tables as Tables>::SECTIONS,)*
        ];
    };
}

crate::for_each_study!(lab_studies);

/// What the file for a first experiment with a study sets (`bookahead init`), beside what all of
/// them do; what it leaves out stands there with its default.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Starter {
    /// Keys, with their values as they stand in a file.
    pub(crate) keys: &'static [(&'static str, &'static str)],
    /// Keys that are varied, with lists of values.
    pub(crate) axes: &'static [(&'static str, &'static str)],
}

impl Starter {
    /// Nothing.
    pub(crate) const EMPTY: Self = Self {
        keys: &[],
        axes: &[],
    };
}

/// A study as those who begin know it.
pub(crate) struct StartedStudy {
    module: &'static str,
    /// What stands for it where a strategy is named; `None` for the study of policies.
    pub(crate) strategy: Option<Strategy>,
    /// What it is, a sentence.
    pub(crate) about: &'static str,
    /// The tables that are its own.
    pub(crate) sections: &'static [Section],
    /// What a first experiment sets.
    pub(crate) starter: Starter,
}

impl StartedStudy {
    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        self.module.replace('_', "-")
    }
}

/// A study as the views about the outcomes of all studies know it.
pub(crate) struct StudyOutcomes {
    module: &'static str,
    /// What stands for it where a strategy is named; `None` for the study of policies.
    pub(crate) strategy: Option<Strategy>,
    /// What its outcomes are.
    pub(crate) outcomes: Outcomes,
}

impl StudyOutcomes {
    /// Its name for people.
    pub(crate) fn name(&self) -> String {
        self.module.replace('_', "-")
    }
}

/// A study as experiment files and the store know it.
pub(crate) trait FileStudy: Sized {
    /// Its tables in experiment files.
    type Tables: Tables;

    /// Its tables in the store.
    const STORED: Definition = Definition::NONE;

    /// Whose tables they are, in a sentence, where other studies refuse them.
    const OWNER: Option<&str> = None;

    /// What a first experiment with it sets.
    const STARTER: Starter = Starter::EMPTY;

    /// Checks what a file says and fills in defaults; `None` where something is wrong.
    fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<Self>;
}

/// Whether none of the tables that are refused elsewhere is there; says which is.
fn elsewhere<S: FileStudy>(
    tables: &S::Tables,
    strategy: Option<Strategy>,
    problems: &mut Problems,
) -> bool {
    let (Some(owner), Some(strategy)) = (S::OWNER, strategy) else {
        return true;
    };
    let given = tables.given();
    for (table, place) in &given {
        problems.add(
            ProblemKind::Conflict,
            table,
            place.clone(),
            owner,
            format!("choose `strategy = \"{}\"`, or leave it out", strategy.name),
        );
    }
    given.is_empty()
}

/// What a file asks for, as far as every study may need it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// `scheduling.strategy`.
    pub(crate) strategy: &'a str,
    /// The workload.
    pub(crate) workload: &'a WorkloadSettings,
    /// How nodes fail.
    pub(crate) failures: &'a FailureSettings,
    /// `experiment.replications`.
    pub(crate) replications: u32,
    /// Reservations that are made from its jobs.
    pub(crate) requests: Option<&'a RequestSettings>,
    /// The workload as it is written.
    pub(crate) written: Option<&'a Spanned<RawWorkload>>,
    /// The tables of studies.
    pub(crate) tables: &'a StudyTables,
}

impl Asked<'_> {
    /// Whether it asks for the study with this name, or for a policy where a study has none.
    fn is_for(&self, strategy: Option<Strategy>) -> bool {
        match strategy {
            Some(strategy) => strategy.name == self.strategy,
            None => !is_strategy(self.strategy),
        }
    }

    /// Where the workload stands in the file.
    pub(crate) fn place(&self) -> std::ops::Range<usize> {
        self.written.map_or(0..0, Spanned::span)
    }
}

/// The reservations that a file asks for beside its jobs, which several studies take; the outer
/// `None` where something is wrong.
pub(crate) fn requests(
    tables: &StudyTables,
    problems: &mut Problems,
) -> Option<Option<RequestSettings>> {
    reservations::reservations(&tables.reservations, problems)
}

/// The study that a file asks for, with its settings; `None` where something is wrong with them.
pub(crate) fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<StudySpec> {
    let study = asked_for(asked, problems)?;
    let requests = &asked.tables.reservations.reservations;
    if let Some(place) = &requests.place
        && !study.study().takes_reservations()
    {
        let share = requests.share_percent();
        share.refuse_at(place.clone(), "this study takes no reservations", problems);
        return None;
    }
    if !is_strategy(asked.strategy) && asked.workload.whole.is_some() {
        let names: Vec<String> = strategies()
            .map(|study| format!("`{}`", study.name))
            .collect();
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            asked.place(),
            "policies that promise a deadline are simulated in batteries",
            format!(
                "leave out `whole_trace`, or choose one of the studies ({}) as strategy",
                names.join(", ")
            ),
        );
        return None;
    }
    Some(study)
}
