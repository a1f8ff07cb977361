//! How much memory sites have, and tasks take.

use super::RawTables;
use crate::provisioning::ProvisioningSettings;
use crate::provisioning::study::{ProvisionedSettings, SiteMemory};
use bookahead_core::failures::{FailureSettings, FailureSource};
use bookahead_core::scheduling::queue::Backfilling;
use bookahead_core::units::Megabytes;
use bookahead_core::workload::SiteSettings;
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// The most of a processor.
const MOST_OF_A_PROCESSOR: u32 = 100_000_000;

/// The memory of these sites, and what tasks take of it.
pub(super) fn memory(
    own: &RawTables,
    sites: &[SiteSettings],
    problems: &mut Problems,
) -> Option<SiteMemory> {
    let (raw, of_task) = (
        own.sites.memory_megabytes(),
        own.workflow.memory_megabytes(),
    );
    let given = of_task.checked(problems);
    let values = raw.or_default();
    if values
        .iter()
        .any(|value| !(1..=MOST_OF_A_PROCESSOR).contains(value))
    {
        raw.refuse("one of these numbers is out of range", problems);
        return None;
    }
    let Some(least) = values.iter().copied().min() else {
        let (key, place) = if of_task.given.is_some() {
            (of_task.key.path, of_task.place())
        } else if own.sites.job_memory.is_some() {
            ("sites.job_memory", raw.place())
        } else {
            return Some(SiteMemory::default());
        };
        problems.add(
            ProblemKind::Conflict,
            key,
            place,
            "no site counts its memory",
            "say `sites.memory_megabytes`, or leave it out",
        );
        return None;
    };
    let by_site: Vec<u32> = values.into_iter().cycle().take(sites.len()).collect();
    let all =
        |(each, site): (&u32, &SiteSettings)| u64::from(*each) * u64::from(site.workload.nodes.0);
    let most = by_site.iter().zip(sites).map(all).max().unwrap_or(0);
    if most > u64::from(Megabytes::MOST.0) {
        let message = format!(
            "a site would have {most} megabytes, and {} are as many as can be counted",
            Megabytes::MOST.0
        );
        raw.refuse(&message, problems);
        return None;
    }
    Some(SiteMemory {
        of_processors: by_site.into_iter().map(Megabytes).collect(),
        of_task: Megabytes(given?.unwrap_or(least)),
        of_jobs: own.sites.job_memory.unwrap_or_default(),
    })
}

/// Memory is counted by sites that plan their queues anew by conservative backfilling, whose
/// processors are sold whole and do not fail, and taken by tasks of workflows.
pub(super) fn memory_fits(
    own: &RawTables,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
    failures: &FailureSettings,
    problems: &mut Problems,
) -> Option<()> {
    if about.memory.is_uncounted() {
        return Some(());
    }
    let (message, help) = if settings.has_rectangles() {
        (
            "free rectangles are of processors, and have no memory",
            "say `slots.source = \"plan\"`",
        )
    } else if settings.replanning.backfilling != Backfilling::Conservative {
        (
            "where memory is counted every waiting job has its place",
            "say `planning.backfilling = \"conservative\"`, or leave it out",
        )
    } else if failures.source != FailureSource::None {
        (
            "a processor that fails would take a part of the memory of its site with it",
            "say `failures.source = \"none\"`, or leave it out",
        )
    } else if !about.shares.are_whole() {
        (
            "processors that are sold in shares have no memory of their own",
            "leave out `sites.shares`",
        )
    } else if about.users_percent.is_some() {
        (
            "the memory of a job is that of its own site",
            "leave it out, or choose another `workflow.source`",
        )
    } else {
        return Some(());
    };
    let raw = own.sites.memory_megabytes();
    problems.add(
        ProblemKind::Conflict,
        raw.key.path,
        raw.place(),
        message,
        help,
    );
    None
}
