//! What simulations of all studies have in common: while they are read from a file, and while they
//! are normalised.

use std::ops::Range;

use toml::Spanned;

use crate::estimates::EstimateSettings;
use crate::failures::{FailureSettings, FailureSource};
use crate::keys::workload::RawWorkload;
use crate::scheduling::PolicySpec;
use crate::study::Studies;
use crate::study::inputs::LogSizes;
use crate::workload::{RequestSettings, WorkloadSettings};

/// What a file asks for, as far as every study may need it.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// `scheduling.strategy`.
    pub strategy: &'a str,
    /// The workload.
    pub workload: &'a WorkloadSettings,
    /// How nodes fail.
    pub failures: &'a FailureSettings,
    /// `[scheduling]` and the tables beside it, not normalised.
    pub scheduling: &'a PolicySpec,
    /// `experiment.replications`.
    pub replications: u32,
    /// Reservations that are made from its jobs.
    pub requests: Option<&'a RequestSettings>,
    /// Laxity of jobs with deadlines, in estimates: of a whole trace, for studies that give its
    /// jobs deadlines ([`Study::takes_deadlines`](super::Study::takes_deadlines)).
    pub laxity: f64,
    /// The workload as it is written.
    pub written: Option<&'a Spanned<RawWorkload>>,
    /// How large the machines of logs were, for further machines with a log of their own.
    pub log_sizes: &'a LogSizes,
}

impl Asked<'_> {
    /// Where the workload stands in the file.
    #[must_use]
    pub fn place(&self) -> Range<usize> {
        self.written.map_or(0..0, Spanned::span)
    }
}

/// What every simulation has beside its study, while it is normalised.
#[derive(Debug)]
pub struct CommonSettings<'a> {
    /// The studies of the program, with their policies.
    pub studies: Studies,
    /// The statistics.
    pub estimates: &'a mut Option<EstimateSettings>,
    /// Node failures.
    pub failures: &'a mut FailureSettings,
    /// The policy.
    pub scheduling: &'a mut PolicySpec,
}

impl CommonSettings<'_> {
    /// For studies that have a machine of their own: of the policy nothing but its name is read.
    pub fn without_policy(&mut self) {
        *self.scheduling = PolicySpec {
            strategy: std::mem::take(&mut self.scheduling.strategy),
            ..PolicySpec::default()
        };
    }

    /// For studies with a machine of their own, without failures or statistics.
    pub fn without_all(&mut self) {
        *self.estimates = None;
        self.without_failures();
        self.without_policy();
    }

    /// For studies without node failures.
    pub fn without_failures(&mut self) {
        self.failures.source = FailureSource::None;
    }
}
