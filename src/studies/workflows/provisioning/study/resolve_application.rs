//! From what the file says to the application that the study of provisioning provides for.

use super::ProvisionedSettings;
use super::keys::{RawProvisioning, RawTables, RawWorkflow};
use crate::provisioning::{Commitment, ProvisioningSettings, SearchMethod};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{
    ApplicationSettings, ApplicationSource, CyberShakeSettings, Network, RealRuntimes,
    RuntimeUncertainty, SyntheticSettings,
};
use bookahead_lab::keys::problem::{ProblemKind, Problems};

pub(super) fn application(
    raw: &RawWorkflow,
    largest: Nodes,
    problems: &mut Problems,
) -> Option<ApplicationSettings> {
    let synthetic = synthetic(raw, largest, problems);
    let variation = raw.runtime_variation().or_default(problems);
    let network = network(raw, problems);
    let source = raw.source().name(problems).and_then(|source| match source {
        "cyber-shake" => {
            (synthetic.as_ref())
                .zip(variation)
                .map(|(synthetic, runtime_variation)| {
                    ApplicationSource::CyberShake(CyberShakeSettings {
                        runtime_variation,
                        bytes: synthetic.mean_bytes,
                    })
                })
        }
        "file" => file(raw, problems),
        _ => synthetic.clone().map(ApplicationSource::Synthetic),
    });
    let further = further(raw, problems);
    synthetic?;
    variation?;
    let (further, further_files) = further?;
    Some(ApplicationSettings {
        source: source?,
        network: network?,
        instances: raw.instances.unwrap_or_default(),
        further,
        further_files,
    })
}

/// How many of the sites' jobs are applications, in percent; the inner `None` where none are.
pub(super) fn users_percent(raw: &RawWorkflow, problems: &mut Problems) -> Option<Option<f64>> {
    let percent = raw.jobs_percent().or_default(problems)?;
    let source = raw.source.as_ref();
    let is_jobs = source.is_some_and(|source| source.get_ref() == "jobs");
    Some(is_jobs.then_some(percent))
}

/// How long tasks really run.
pub(super) fn uncertainty(
    raw: &RawWorkflow,
    problems: &mut Problems,
) -> Option<RuntimeUncertainty> {
    let real = raw.real_runtimes.unwrap_or_default();
    let variation = raw.real_variation().or_default(problems)?;
    if real == RealRuntimes::Uniform && variation > RuntimeUncertainty::MOST_UNIFORM {
        let message = format!("{variation} is impossible where run times are uniform");
        raw.real_variation().refuse(&message, problems);
        return None;
    }
    Some(RuntimeUncertainty {
        real,
        variation,
        ..RuntimeUncertainty::default()
    })
}

/// Applications beside the first: how many of its source, and the files of others.
fn further(raw: &RawWorkflow, problems: &mut Problems) -> Option<(u32, Vec<String>)> {
    let applications = raw.applications().or_default(problems)?;
    let Some(files) = &raw.more_files else {
        return Some((applications - 1, Vec::new()));
    };
    let files = files.get_ref();
    let reads_files = raw.source().name(problems)? == "file";
    let wrong = if !reads_files {
        "the application is not read from a file"
    } else if applications > 1 {
        "`applications` says how many of one file there are"
    } else if files.iter().any(|file| file.trim().is_empty()) {
        "an empty file name"
    } else if files.len() > 63 {
        "these are more than 63 files"
    } else {
        return Some((0, files.clone()));
    };
    raw.more_files().refuse(wrong, problems);
    None
}

fn file(raw: &RawWorkflow, problems: &mut Problems) -> Option<ApplicationSource> {
    let Some(file) = &raw.file else {
        problems.add(
            ProblemKind::Missing,
            "workflow.file",
            raw.source().place(),
            "it is not said which file the workflow is in",
            "add `file = \"…\"`: a DAX file or a WfCommons instance, also of the folder that BOOKAHEAD_WORKFLOWS names",
        );
        return None;
    };
    if file.get_ref().trim().is_empty() {
        raw.file().refuse("an empty file name", problems);
        return None;
    }
    Some(ApplicationSource::File {
        file: file.get_ref().clone(),
        negatives: raw.negatives.unwrap_or_default(),
    })
}

fn synthetic(
    raw: &RawWorkflow,
    largest: Nodes,
    problems: &mut Problems,
) -> Option<SyntheticSettings> {
    let tasks = raw.tasks().or_default(problems);
    let depth = match (&raw.depth, tasks) {
        (Some(depth), Some(tasks)) if *depth.get_ref() > tasks => {
            (raw.depth()).refuse(&format!("{} is impossible", depth.get_ref()), problems);
            None
        }
        (Some(_), Some(_)) => raw.depth().checked(problems),
        _ => Some(None),
    };
    let parents = raw
        .parents()
        .limited(|parents| parents <= 1e5)
        .or_default(problems);
    let seconds = raw.mean_seconds().or_default(problems);
    let nodes = raw.mean_nodes().or_default(problems);
    let gigabits = raw.mean_gigabits().or_default(problems);
    Some(SyntheticSettings {
        tasks: tasks?,
        depth: depth?,
        levels: raw.levels.unwrap_or_default(),
        parents: parents?,
        mean_runtime: Seconds(i64::from(seconds?)),
        runtimes: raw.runtimes.unwrap_or_default(),
        mean_nodes: Nodes(nodes?),
        nodes: raw.nodes.unwrap_or_default(),
        most_nodes: Some(largest),
        // A Gbit is 125,000,000 bytes.
        mean_bytes: (gigabits? * 1.25e8).round() as u64,
        volumes: raw.volumes.unwrap_or_default(),
    })
}

fn network(raw: &RawWorkflow, problems: &mut Problems) -> Option<Network> {
    let bandwidth = raw.bandwidth_gbps().or_default(problems);
    let latency = raw
        .latency_seconds()
        .limited(|latency| latency <= 1e9)
        .or_default(problems);
    Some(Network {
        bandwidth_bits_per_second: bandwidth? * 1e9,
        latency_seconds: latency?,
        mean: raw.transfer_mean.unwrap_or_default(),
    })
}

/// Single jobs reserve by queries at sites that go on, one after the other, and run as long as
/// they say.
pub(super) fn jobs_fit(
    own: &RawTables,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
    problems: &mut Problems,
) -> Option<()> {
    let raw = &own.provisioning;
    let whole = about
        .sites
        .first()
        .and_then(|site| site.workload.whole.as_ref());
    let source = own.workflow.source();
    let (key, place, message, help) = if about.users_percent.is_none() {
        if raw.asked_sites.is_none() {
            return Some(());
        }
        (
            "provisioning.asked_sites",
            source.place(),
            "a workflow asks all sites: only single jobs choose among rules",
            "say `workflow.source = \"jobs\"`, or leave it out",
        )
    } else if settings.search != SearchMethod::Greedy {
        (
            "provisioning.search",
            source.place(),
            "jobs reserve by asking for prices",
            "say `search = \"greedy\"`",
        )
    } else if settings.commitment == Commitment::Discarded {
        (
            "provisioning.commitment",
            raw.commitment().place(),
            "jobs that reserve are there together, and each finds what the others booked",
            "say `commitment = \"committed\"`, and how many they are in `submissions`",
        )
    } else if about.application.number() != 1 {
        (
            "workflow.applications",
            own.workflow.applications().place(),
            "each job is submitted when its trace says",
            "leave it out; `provisioning.submissions` says how many jobs reserve",
        )
    } else if !(about.speeds.is_empty() && about.prices.is_empty()) {
        (
            "sites.speeds",
            source.place(),
            "jobs that reserve run as long as the log of their own site says, also at other sites",
            "leave out `sites.speeds` and `sites.prices`, or choose another `workflow.source`",
        )
    } else if !whole.is_some_and(|whole| whole.exact_estimates) {
        (
            "workload.exact_estimates",
            source.place(),
            "jobs that reserve are booked for as long as they run",
            "add `exact_estimates = true`",
        )
    } else {
        let why = || "single jobs choose by price and start".to_owned();
        return no_bound(raw, why, "say `requests.alpha`", problems);
    };
    problems.add(ProblemKind::Conflict, key, place, message, help);
    None
}

/// Refuses a deadline and a budget.
pub(super) fn no_bound(
    raw: &RawProvisioning,
    why: impl Fn() -> String,
    help: &str,
    problems: &mut Problems,
) -> Option<()> {
    let bounds = [
        raw.deadline_hours(),
        raw.deadline_factor(),
        raw.budget_su(),
        raw.budget_factor(),
    ];
    let Some(bound) = bounds.into_iter().find(|bound| bound.given.is_some()) else {
        return Some(());
    };
    let (path, place) = (bound.key.path, bound.place());
    problems.add(ProblemKind::Conflict, path, place, why(), help);
    None
}
