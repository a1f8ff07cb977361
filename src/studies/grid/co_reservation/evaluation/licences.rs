//! How far licences are in use, and how often they are what is missing (Meltzer 2005, §2).

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Seconds;

use super::clusters::held_from_to;
use crate::co_reservation::{CoReservationInputs, CoReservationRun, CoReservationSettings};

/// Left out where clusters have CPUs alone.
pub(super) fn measure(
    settings: &CoReservationSettings,
    inputs: &CoReservationInputs,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    if settings.local.licences == 0 || run.requests.is_empty() {
        return;
    }
    let held = run.parts.iter().flatten().map(|part| {
        let (start, end) = held_from_to(part);
        let until = end.min(inputs.stop);
        let held = (until - start).max(Seconds::ZERO).0;
        (held * i64::from(part.order.licences)) as f64
    });
    let held: f64 = held.sum();
    let each = i64::from(settings.local.licences) * inputs.stop.0;
    let all = (each * inputs.clusters.len() as i64) as f64;
    measured.add_ratio("licence_use_percent", 100.0 * held, all);
    let probes = run.requests.iter().flat_map(|outcome| &outcome.probes);
    let (mut lacking, mut with_cpus) = (0, 0);
    for probe in probes {
        let counts = probe.counts;
        lacking += counts.licences;
        with_cpus += counts.unfiltered - counts.counting;
    }
    measured.add_ratio(
        "licence_lack_share",
        f64::from(lacking),
        f64::from(with_cpus),
    );
}
