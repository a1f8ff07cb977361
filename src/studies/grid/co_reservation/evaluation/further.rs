//! How far licences and storage are in use, and how often they are what is missing (Meltzer 2005,
//! §2).

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Seconds;
use bookahead_core::workload::FurtherResource;

use super::clusters::held_from_to;
use crate::co_reservation::{CoReservationInputs, CoReservationRun, CoReservationSettings};

/// Left out for what clusters do not count.
pub(super) fn measure(
    settings: &CoReservationSettings,
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    for (resource, usage, lack) in [
        (
            FurtherResource::Licences,
            "licence_use_percent",
            "licence_lack_share",
        ),
        (
            FurtherResource::Storage,
            "storage_use_percent",
            "storage_lack_share",
        ),
    ] {
        let each = settings.local.further.of(resource);
        if each == 0 || run.requests.is_empty() {
            continue;
        }
        let held = run.parts.iter().flatten().map(|part| {
            let (start, end) = held_from_to(part);
            let until = end.min(inputs.stop);
            let held = (until - start).max(Seconds::ZERO).0;
            (held * i64::from(part.order.further.of(resource))) as f64
        });
        let held: f64 = held.sum();
        let each = i64::from(each) * inputs.stop.0;
        let all = (each * inputs.clusters.len() as i64) as f64;
        measured.add_ratio(usage, 100.0 * held, all);
        let probes = run.requests.iter().flat_map(|outcome| &outcome.probes);
        let (mut lacking, mut with_cpus) = (0, 0);
        for probe in probes {
            let counts = probe.counts;
            lacking += counts.lacking(resource);
            with_cpus += counts.unfiltered - counts.counting;
        }
        measured.add_ratio(lack, f64::from(lacking), f64::from(with_cpus));
    }
}
