//! What became of single jobs, co-reservations and workflows, where a broker is asked for several
//! of these.

use std::collections::{BTreeMap, BTreeSet};

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{CoRequestId, RequestKind};

use super::{is_kept, mean, work_hours};
use crate::co_reservation::{CoOutcome, CoReservationRun, CoVerdict};

/// What a client asked for: one request, or the tasks of a workflow in their order.
struct Application<'r> {
    kind: RequestKind,
    requests: Vec<&'r CoOutcome>,
}

/// Values of each kind, in the order of [`RequestKind::ALL`].
type OfKinds = [&'static str; 3];

const ASKED: OfKinds = ["single_asked", "co_reservation_asked", "workflow_asked"];
const GRANTED: OfKinds = [
    "single_granted_rate",
    "co_reservation_granted_rate",
    "workflow_granted_rate",
];
const KEPT: OfKinds = [
    "single_kept_rate",
    "co_reservation_kept_rate",
    "workflow_kept_rate",
];
const DELAY: OfKinds = [
    "single_delay_hours",
    "co_reservation_delay_hours",
    "workflow_delay_hours",
];
const PRICE: OfKinds = ["single_price", "co_reservation_price", "workflow_price"];

/// Adds the values of each kind, unless all requests are of one kind and none is a workflow.
pub(super) fn by_kind(run: &CoReservationRun, measured: &mut Measured) {
    let all = applications(run);
    let kinds: BTreeSet<RequestKind> = all.iter().map(|it| it.kind).collect();
    if kinds.len() < 2 && !kinds.contains(&RequestKind::Workflow) {
        return;
    }
    for (place, kind) in RequestKind::ALL.into_iter().enumerate() {
        let asked: Vec<_> = all.iter().filter(|it| it.kind == kind).collect();
        let granted = asked.iter().map(|it| share(it.is_granted()));
        let kept_of_all = asked.iter().map(|it| share(it.is_kept()));
        measured.add(ASKED[place], asked.len() as f64);
        measured.add(GRANTED[place], mean(granted));
        measured.add(KEPT[place], mean(kept_of_all));
        let kept = || asked.iter().filter(|it| it.is_kept());
        measured.add(DELAY[place], mean(kept().filter_map(|it| it.delay_hours())));
        let (cost, hours) = kept()
            .filter_map(|it| it.cost_and_hours())
            .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        measured.add_ratio(PRICE[place], cost, hours);
    }
    let in_vain = all.iter().filter(|it| !it.is_kept());
    let done = in_vain.flat_map(|it| &it.requests);
    let done = done.filter(|it| it.verdict == CoVerdict::Granted && is_kept(it));
    let hours = done.map(|it| work_hours(&it.request.parts, it.request.duration));
    measured.add("workflow_vain_hours", hours.sum());
}

/// What one of them adds to the sum of a share.
fn share(counts: bool) -> f64 {
    f64::from(u8::from(counts))
}

fn applications(run: &CoReservationRun) -> Vec<Application<'_>> {
    let mut all: BTreeMap<CoRequestId, Application<'_>> = BTreeMap::new();
    for outcome in &run.requests {
        let request = &outcome.request;
        let task = request.task.as_ref();
        let first = task.map_or(request.id, |task| task.workflow);
        let application = all.entry(first).or_insert_with(|| Application {
            kind: request.kind(),
            requests: Vec::new(),
        });
        application.requests.push(outcome);
    }
    all.into_values().collect()
}

impl Application<'_> {
    /// Whether nothing of it was refused.
    fn is_granted(&self) -> bool {
        let mut verdicts = self.requests.iter().map(|it| it.verdict);
        verdicts.all(|it| matches!(it, CoVerdict::Granted | CoVerdict::Abandoned))
    }

    /// Whether everything was granted, and there.
    fn is_kept(&self) -> bool {
        let mut outcomes = self.requests.iter();
        outcomes.all(|it| it.verdict == CoVerdict::Granted && is_kept(it))
    }

    /// How much later it ended than on clusters without anybody else.
    fn delay_hours(&self) -> Option<f64> {
        let earliest = self.requests.first()?.request.earliest;
        let mut ends: BTreeMap<CoRequestId, Seconds> = BTreeMap::new();
        let mut last = Seconds::ZERO;
        for outcome in &self.requests {
            let request = &outcome.request;
            let before = request.task.iter().flat_map(|task| &task.after);
            let begin = before.filter_map(|id| ends.get(id)).max();
            ends.insert(
                request.id,
                begin.copied().unwrap_or_default() + request.duration,
            );
            last = last.max(outcome.start? + request.duration);
        }
        let shortest = ends.into_values().max()?;
        Some((last - earliest - shortest).hours())
    }

    /// What it cost, and its CPU-hours; `None` where prices are not known.
    fn cost_and_hours(&self) -> Option<(f64, f64)> {
        let mut sum = (0.0, 0.0);
        for outcome in &self.requests {
            sum.0 += outcome.cost?;
            sum.1 += work_hours(&outcome.request.parts, outcome.request.duration);
        }
        Some(sum)
    }
}
