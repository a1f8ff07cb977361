//! Where the windows begin.

use rand::RngExt;
use rand::seq::SliceRandom;

use super::fingerprint;
use super::merging::Merger;
use super::settings::{ClusterSettings, Excerpts};
use crate::random::Stream;
use crate::units::Seconds;
use crate::workload::WorkloadError;

/// The start of the window of each cluster.
pub(super) fn choose(
    merger: &Merger,
    settings: &ClusterSettings,
    stream: &mut Stream,
) -> Result<Vec<Seconds>, WorkloadError> {
    let length = settings.length();
    let held = merger.span().0 / length.0;
    let count = settings.count as usize;
    if held < i64::from(settings.count) {
        return Err(WorkloadError::TooFewWindows {
            days: merger.span().0 as f64 / 86_400.0,
            wanted: settings.count,
            length: settings.days,
            have: held,
        });
    }
    Ok(match settings.excerpts {
        Excerpts::Fingerprint => {
            let mut starts = fingerprint::nearest(merger, length);
            further(&mut starts, count, merger.span(), length);
            starts.truncate(count);
            starts
        }
        Excerpts::Drawn => drawn(count, held, merger.span(), length, stream),
        Excerpts::Spaced => {
            let room = (merger.span() - length).0;
            let gaps = i64::from(settings.count - 1).max(1);
            (0..i64::from(settings.count))
                .map(|window| Seconds(room * window / gaps))
                .collect()
        }
    })
}

/// The trace is divided into windows from a drawn phase on, and these are shuffled: two clusters
/// never share a window, and more clusters keep the windows of fewer.
fn drawn(
    count: usize,
    held: i64,
    span: Seconds,
    length: Seconds,
    stream: &mut Stream,
) -> Vec<Seconds> {
    let phase = stream.random_range(0..=(span.0 - held * length.0));
    let mut windows: Vec<Seconds> = (0..held)
        .map(|window| Seconds(phase + window * length.0))
        .collect();
    windows.shuffle(stream);
    windows.truncate(count);
    windows
}

/// Windows beyond those that are there already, one after the other in the gaps from the beginning
/// of the trace on. Where the gaps do not hold enough, those windows of the trace divided from its
/// beginning that overlap least with all others so far.
fn further(starts: &mut Vec<Seconds>, count: usize, span: Seconds, length: Seconds) {
    let mut taken = starts.clone();
    taken.sort_unstable();
    taken.push(span);
    let mut free = Seconds::ZERO;
    for next in taken {
        while free + length <= next && starts.len() < count {
            starts.push(free);
            free += length;
        }
        free = next + length;
    }
    while starts.len() < count {
        let overlap = |window: Seconds| -> i64 {
            starts
                .iter()
                .map(|&start| (length - Seconds((start - window).0.abs())).0.max(0))
                .sum()
        };
        let best = (0..span.0 / length.0)
            .map(|window| length * window)
            .filter(|window| !starts.contains(window))
            .min_by_key(|&window| (overlap(window), window));
        let Some(best) = best else {
            return;
        };
        starts.push(best);
    }
}
