//! From what the file says to the application that the study of provisioning provides for.

use toml::Spanned;

use super::keys::RawWorkflow;
use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::resolve::{out_of_range, real, unknown_name, whole};
use crate::units::{Nodes, Seconds};
use crate::workload::workflows::{
    ApplicationSettings, ApplicationSource, CyberShakeSettings, Network, SyntheticSettings,
};

pub(super) fn application(
    raw: &RawWorkflow,
    largest: Nodes,
    problems: &mut Problems,
) -> Option<ApplicationSettings> {
    let synthetic = synthetic(raw, largest, problems);
    let variation = real(
        "workflow.runtime_variation",
        &raw.runtime_variation,
        0.0,
        |variation| (0.0..=100.0).contains(&variation),
        problems,
    );
    let network = network(raw, problems);
    let source = match raw
        .source
        .as_ref()
        .map(|source| (source, source.get_ref().as_str()))
    {
        None | Some((_, "synthetic")) => synthetic.clone().map(ApplicationSource::Synthetic),
        Some((_, "cyber-shake")) => {
            synthetic
                .as_ref()
                .zip(variation)
                .map(|(synthetic, runtime_variation)| {
                    ApplicationSource::CyberShake(CyberShakeSettings {
                        runtime_variation,
                        bytes: synthetic.mean_bytes,
                    })
                })
        }
        Some((source, "file")) => file(raw, source, problems),
        Some((source, _)) => {
            let known = ["synthetic", "cyber-shake", "file"];
            unknown_name("workflow.source", source, &known, problems);
            None
        }
    };
    synthetic?;
    variation?;
    Some(ApplicationSettings {
        source: source?,
        network: network?,
        instances: raw.instances.unwrap_or_default(),
    })
}

fn file(
    raw: &RawWorkflow,
    source: &Spanned<String>,
    problems: &mut Problems,
) -> Option<ApplicationSource> {
    let Some(file) = &raw.file else {
        problems.add(
            ProblemKind::Missing,
            "workflow.file",
            source.span(),
            "it is not said which file the workflow is in",
            "add `file = \"…\"`: a DAX file or a WfCommons instance, also of the folder that BOOKAHEAD_WORKFLOWS names",
        );
        return None;
    };
    if file.get_ref().trim().is_empty() {
        out_of_range("workflow.file", file.span(), "an empty file name", problems);
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
    let default = SyntheticSettings::default();
    let tasks = whole(
        "workflow.tasks",
        &raw.tasks,
        default.tasks,
        1..=100_000,
        problems,
    );
    let depth = match (&raw.depth, tasks) {
        (Some(_), Some(tasks)) => {
            whole("workflow.depth", &raw.depth, 1, 1..=tasks, problems).map(Some)
        }
        _ => Some(None),
    };
    let parents = whole(
        "workflow.parents",
        &raw.parents,
        default.parents,
        1..=100_000,
        problems,
    );
    let seconds = whole(
        "workflow.mean_seconds",
        &raw.mean_seconds,
        default.mean_runtime.0 as u32,
        1..=1_000_000_000,
        problems,
    );
    let nodes = whole(
        "workflow.mean_nodes",
        &raw.mean_nodes,
        default.mean_nodes.0,
        1..=1_000_000,
        problems,
    );
    let gigabits = real(
        "workflow.mean_gigabits",
        &raw.mean_gigabits,
        0.0,
        |gigabits| (0.0..=1e9).contains(&gigabits),
        problems,
    );
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
    let bandwidth = real(
        "workflow.bandwidth_gbps",
        &raw.bandwidth_gbps,
        10.0,
        |bandwidth| bandwidth > 0.0,
        problems,
    );
    let latency = real(
        "workflow.latency_seconds",
        &raw.latency_seconds,
        150.0,
        |latency| (0.0..=1e9).contains(&latency),
        problems,
    );
    Some(Network {
        bandwidth_bits_per_second: bandwidth? * 1e9,
        latency_seconds: latency?,
        mean: raw.transfer_mean.unwrap_or_default(),
    })
}
