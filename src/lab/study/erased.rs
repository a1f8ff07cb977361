//! Studies and their settings whose type is known to the study alone, so that lists of them can be
//! handed around.

use std::any::Any;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::{
    Asked, CommonSettings, NodeReplay, ReplayFailure, Simulation, SimulationSpec, Starter,
    Strategy, Study,
};
use crate::keys::declaration::{GivenTable, Section, Tables};
use crate::keys::problem::{ProblemKind, Problems};
use crate::keys::reader::TableReader;
use crate::scheduling::measures::Measure;
use crate::scheduling::registry;
use crate::study::inputs::{ContentHashes, InputError, Inputs, RunInput};
use crate::tables::Definition;

/// An entry of a list of studies.
#[must_use]
pub const fn study<S: Study>() -> &'static dyn AnyStudy {
    &Kind::<S>(PhantomData)
}

struct Kind<S>(PhantomData<fn() -> S>);

/// A [`Study`] without its type. Nothing but [`study`] makes one.
pub trait AnyStudy: Sync {
    /// [`Study::NAME`].
    fn name(&self) -> &'static str;

    /// [`Study::ABOUT`].
    fn about(&self) -> &'static str;

    /// [`Study::STRATEGY`].
    fn strategy(&self) -> Option<Strategy>;

    /// [`Study::policies`].
    fn policies(&self) -> &'static [registry::Strategy];

    /// [`Study::MEASURES`].
    fn measures(&self) -> &'static [Measure];

    /// [`Study::TABLES`].
    fn tables(&self) -> Definition;

    /// [`Study::STARTER`].
    fn starter(&self) -> Starter;

    /// What may stand in its tables of an experiment file, in the order of the documentation.
    fn sections(&self) -> &'static [Section];

    /// Reads these tables.
    fn read(&self, from: &mut TableReader<'_, '_>) -> StudyKeys;

    /// Whether the file has none of its keys that other studies refuse; says which it has.
    /// `is_read` knows by a dotted path the tables and keys that every study or the one that is
    /// asked for declares.
    fn is_left_out(
        &self,
        keys: &StudyKeys,
        is_read: &dyn Fn(&str) -> bool,
        problems: &mut Problems,
    ) -> bool;

    /// [`Study::resolve`].
    fn resolve(
        &self,
        keys: &StudyKeys,
        asked: &Asked<'_>,
        problems: &mut Problems,
    ) -> Option<StudySpec>;

    /// The settings of a stored specification, without the study's name.
    ///
    /// # Errors
    ///
    /// When they are not the study's.
    fn stored(&self, settings: Value) -> Result<StudySpec, serde_json::Error>;
}

/// What a file says in the tables of one study.
#[derive(Debug)]
pub struct StudyKeys(Box<dyn AnyKeys>);

trait AnyKeys: Debug {
    fn any(&self) -> &dyn Any;
    fn given(&self) -> Vec<GivenTable>;
}

impl<T: Tables> AnyKeys for T {
    fn any(&self) -> &dyn Any {
        self
    }

    fn given(&self) -> Vec<GivenTable> {
        Tables::given(self)
    }
}

impl<S: Study> AnyStudy for Kind<S> {
    fn name(&self) -> &'static str {
        S::NAME
    }

    fn about(&self) -> &'static str {
        S::ABOUT
    }

    fn strategy(&self) -> Option<Strategy> {
        S::STRATEGY
    }

    fn policies(&self) -> &'static [registry::Strategy] {
        S::policies()
    }

    fn measures(&self) -> &'static [Measure] {
        S::MEASURES
    }

    fn tables(&self) -> Definition {
        S::TABLES
    }

    fn starter(&self) -> Starter {
        S::STARTER
    }

    fn sections(&self) -> &'static [Section] {
        S::Keys::SECTIONS
    }

    fn read(&self, from: &mut TableReader<'_, '_>) -> StudyKeys {
        StudyKeys(Box::new(S::Keys::read(from)))
    }

    fn is_left_out(
        &self,
        keys: &StudyKeys,
        is_read: &dyn Fn(&str) -> bool,
        problems: &mut Problems,
    ) -> bool {
        let (Some(owner), Some(strategy)) = (S::OWNER, S::STRATEGY) else {
            return true;
        };
        let mut is_left_out = true;
        for table in keys.0.given() {
            let mut refuse = |path: &str, message: &str| {
                is_left_out = false;
                problems.add(
                    ProblemKind::Conflict,
                    path,
                    table.place.clone(),
                    message,
                    format!("choose `strategy = \"{}\"`, or leave it out", strategy.name),
                );
            };
            if !is_read(table.path) {
                refuse(table.path, owner);
                continue;
            }
            for key in table.keys.into_iter().filter(|key| !is_read(key)) {
                refuse(key, &owner.replacen("this table", "this key", 1));
            }
        }
        is_left_out
    }

    fn resolve(
        &self,
        keys: &StudyKeys,
        asked: &Asked<'_>,
        problems: &mut Problems,
    ) -> Option<StudySpec> {
        let keys = keys.0.any().downcast_ref()?;
        S::resolve(keys, asked, problems).map(StudySpec::of)
    }

    fn stored(&self, settings: Value) -> Result<StudySpec, serde_json::Error> {
        serde_json::from_value::<S>(settings).map(StudySpec::of)
    }
}

/// The settings of a study.
#[derive(Debug)]
pub struct StudySpec(Box<dyn AnySettings>);

impl StudySpec {
    /// These settings.
    pub fn of<S: Study>(settings: S) -> Self {
        Self(Box::new(settings))
    }

    /// The settings, if they are of this study.
    #[must_use]
    pub fn get<S: Study>(&self) -> Option<&S> {
        self.0.any().downcast_ref()
    }

    /// The same, to change them.
    #[must_use]
    pub fn get_mut<S: Study>(&mut self) -> Option<&mut S> {
        self.0.any_mut().downcast_mut()
    }
}

impl<S: Study> From<S> for StudySpec {
    fn from(settings: S) -> Self {
        Self::of(settings)
    }
}

impl Clone for StudySpec {
    fn clone(&self) -> Self {
        self.0.boxed()
    }
}

impl PartialEq for StudySpec {
    fn eq(&self, other: &Self) -> bool {
        self.0.equals(other.0.any())
    }
}

impl Serialize for StudySpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        erased_serde::serialize(&*self.0, serializer)
    }
}

/// Declares the settings of whichever study, and what they are asked: each method is that of
/// [`Study`] with its name.
macro_rules! settings {
    ($($name:ident($(&self $(,)? $($argument:ident: $type:ty),*)?) -> $result:ty;)*) => {
        trait AnySettings: Debug + Send + Sync + erased_serde::Serialize {
            fn any(&self) -> &dyn Any;
            fn any_mut(&mut self) -> &mut dyn Any;
            fn boxed(&self) -> StudySpec;
            fn equals(&self, other: &dyn Any) -> bool;
            fn normalise(&mut self, common: CommonSettings<'_>);
            fn measures(&self) -> &'static [Measure];
            $(fn $name(&self, $($($argument: $type),*)?) -> $result;)*
        }

        impl<S: Study> AnySettings for S {
            fn any(&self) -> &dyn Any {
                self
            }

            fn any_mut(&mut self) -> &mut dyn Any {
                self
            }

            fn boxed(&self) -> StudySpec {
                StudySpec::of(self.clone())
            }

            fn equals(&self, other: &dyn Any) -> bool {
                other.downcast_ref() == Some(self)
            }

            fn normalise(&mut self, common: CommonSettings<'_>) {
                Study::normalise(self, common);
            }

            fn measures(&self) -> &'static [Measure] {
                S::MEASURES
            }

            $(fn $name(&self, $($($argument: $type),*)?) -> $result {
                Study::$name(self, $($($argument),*)?)
            })*
        }

        impl StudySpec {
            /// [`Study::normalise`].
            pub fn normalise(&mut self, common: CommonSettings<'_>) {
                self.0.normalise(common);
            }

            /// [`Study::MEASURES`].
            #[must_use]
            pub fn measures(&self) -> &'static [Measure] {
                self.0.measures()
            }

            $(
                #[doc = concat!("[`Study::", stringify!($name), "`].")]
                #[allow(clippy::missing_errors_doc, reason = "they are those of the study")]
                pub fn $name(&self, $($($argument: $type),*)?) -> $result {
                    self.0.$name($($($argument),*)?)
                }
            )*
        }
    };
}

settings! {
    work(&self, simulation: &SimulationSpec) -> f64;
    seconds_per_job(&self, strategy: &str) -> f64;
    measured_bytes(&self, simulation: &SimulationSpec) -> f64;
    outcome_bytes(&self, simulation: &SimulationSpec) -> f64;
    jobs_are_background(&self) -> bool;
    takes_reservations(&self) -> bool;
    takes_failures_by_load(&self) -> bool;
    takes_deadlines(&self) -> bool;
    takes_missing_requests(&self) -> bool;
    machines(&self) -> u32;
    penalty_ratio(&self) -> Option<f64>;
    revision(&self) -> Option<u32>;
    failures_hash(&self, spec: &SimulationSpec, inputs: &Inputs)
        -> Result<Option<String>, Arc<InputError>>;
    more_hashes(&self, spec: &SimulationSpec, inputs: &Inputs, content: &mut ContentHashes)
        -> Result<(), Arc<InputError>>;
    check(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>>;
    more_sources(&self, spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput>;
    prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>>;
    simulation(&self, spec: &SimulationSpec, inputs: &Inputs)
        -> Result<Box<dyn Simulation>, Arc<InputError>>;
    replay(&self, spec: &SimulationSpec, inputs: &Inputs)
        -> Result<Option<NodeReplay>, ReplayFailure>;
}
