//! The purchases of one application, and the outcome of each run of a task in them.

mod costs;
mod given_back;

use std::collections::BTreeMap;

use bookahead_core::plan::{Piece, Slot};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::RequestId;

use super::layout::{Share, lots};
use super::refund::GivenBack;
use super::{
    Advertised, Application, BoughtSlot, GreedyPlan, Refund, SlotTariff, TaskFate, TaskPlacement,
    TaskRun,
};

/// Slots, bookings at sites, and runs of tasks, in the order of booking.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ledger {
    /// By which advertised slots are paid.
    tariff: SlotTariff,
    /// What of them is paid back that is given back.
    refund: Refund,
    slots: Vec<PaidSlot>,
    bookings: Vec<Booking>,
    runs: Vec<Run>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct PaidSlot {
    site: usize,
    slot: Slot,
    cost: f64,
    externality: NodeSeconds,
}

/// What a site holds under one number.
#[derive(Clone, Debug, PartialEq)]
struct Booking {
    id: RequestId,
    site: usize,
    /// The slot that it is paid as.
    slot: usize,
    nodes: Nodes,
    start: Seconds,
    end: Seconds,
    /// The runs that it is for.
    runs: Vec<usize>,
    given_back: Option<GivenBack>,
}

#[derive(Clone, Debug, PartialEq)]
struct Run {
    run: TaskRun,
    planned_end: Seconds,
    /// Whether the task is not through by then.
    outlasts: bool,
    shares: Vec<BookedShare>,
}

/// What a run takes of a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BookedShare {
    slot: usize,
    booking: usize,
    nodes: Nodes,
}

/// The tasks that a plan is for.
#[derive(Clone, Copy)]
pub(super) struct PlannedTasks<'a> {
    /// The application, with the run times that its tasks really have.
    pub(super) real: &'a Application,
    /// Which of its tasks each task of the plan is.
    pub(super) tasks: &'a [usize],
}

/// What is to be booked for a plan over advertised slots.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Purchase {
    /// Index of the slot among those advertised.
    pub(super) slot: usize,
    /// What is wanted of it.
    pub(super) piece: Piece,
    /// The tasks that it is for, by their index in the plan.
    tasks: Vec<usize>,
    /// The number under which it is booked.
    pub(super) id: RequestId,
    /// What of its price pays for the delay of others.
    pub(super) externality: NodeSeconds,
}

impl Ledger {
    /// Nothing bought yet.
    pub(super) fn under(tariff: SlotTariff, refund: Refund) -> Self {
        Self {
            tariff,
            refund,
            ..Self::default()
        }
    }

    /// Enters a plan over slots that hold several tasks, booked in full. `purchases` are those of
    /// [`purchases`].
    pub(super) fn enter_shares(
        &mut self,
        planned: &Application,
        of: PlannedTasks<'_>,
        placements: &[TaskPlacement],
        slots: &[Advertised],
        shares: &[Share],
        purchases: &[Purchase],
    ) {
        let first_run = self.runs.len();
        let mut run_of = vec![0; of.tasks.len()];
        for &task in planned.order() {
            run_of[task] = self.runs.len();
            self.push_run(of, task, placements[task]);
        }
        let lots = lots(slots, shares);
        let mut paid_as: Vec<Option<usize>> = vec![None; slots.len()];
        let mut booked_as = BTreeMap::new();
        for purchase in purchases {
            let Advertised { site, slot } = slots[purchase.slot];
            if paid_as[purchase.slot].is_none() {
                let lot = lots.binary_search_by_key(&purchase.slot, |lot| lot.slot);
                let paid = lot.map_or(NodeSeconds(0), |lot| lots[lot].paid);
                paid_as[purchase.slot] = Some(self.slots.len());
                // What it cost on average, where hours differ.
                let slot = Slot {
                    unit_price: lot.map_or(slot.unit_price, |lot| {
                        let pieces = lots[lot].pieces.iter().map(|(piece, _)| piece);
                        self.tariff.mean_price(&slot, pieces)
                    }),
                    ..slot
                };
                self.slots.push(PaidSlot {
                    site,
                    slot,
                    cost: paid.coins().0 * slot.unit_price + slot.fixed_price,
                    externality: purchase.externality,
                });
            }
            let Some(slot) = paid_as[purchase.slot] else {
                continue;
            };
            for &task in &purchase.tasks {
                booked_as.insert((task, purchase.slot), (slot, self.bookings.len()));
            }
            self.bookings.push(Booking {
                id: purchase.id,
                site,
                slot,
                nodes: purchase.piece.nodes,
                start: purchase.piece.start,
                end: purchase.piece.end,
                runs: purchase.tasks.iter().map(|&task| run_of[task]).collect(),
                given_back: None,
            });
        }
        for share in shares {
            let run = &mut self.runs[run_of[share.task]];
            let booked = booked_as.get(&(share.task, share.slot));
            run.shares
                .extend(booked.map(|&(slot, booking)| BookedShare {
                    slot,
                    booking,
                    nodes: share.piece.nodes,
                }));
        }
        for run in &mut self.runs[first_run..] {
            run.run.slot = run.shares.first().map(|share| share.slot as u32);
        }
    }

    /// Enters what was booked by a greedy plan. What it costs, in service units.
    pub(super) fn enter_greedy(&mut self, of: PlannedTasks<'_>, plan: &GreedyPlan) -> f64 {
        let mut paid = 0.0;
        for &(task, id) in &plan.booked {
            let placed = plan.placements[task];
            let nodes = of.real.tasks()[of.tasks[task]].nodes;
            let externality = plan.externalities[task];
            let cost = plan.charges[task] + externality.0 as f64;
            paid += cost;
            let slot = self.slots.len();
            self.slots.push(PaidSlot {
                site: placed.site,
                slot: Slot {
                    unit_price: plan.unit_price * of.real.unit_price(placed.site),
                    fixed_price: externality.coins().0,
                    ..Slot::hole(placed.start, nodes, placed.end)
                },
                cost: cost / 3_600.0,
                externality,
            });
            let booking = self.bookings.len();
            self.bookings.push(Booking {
                id,
                site: placed.site,
                slot,
                nodes,
                start: placed.start,
                end: placed.end,
                runs: vec![self.runs.len()],
                given_back: None,
            });
            self.push_run(of, task, placed);
            if let Some(run) = self.runs.last_mut() {
                run.run.slot = Some(slot as u32);
                run.shares.push(BookedShare {
                    slot,
                    booking,
                    nodes,
                });
            }
        }
        paid / 3_600.0
    }

    /// A run of a task of the plan that is booked as `placed` says: it ends earlier, or is stopped
    /// then.
    fn push_run(&mut self, of: PlannedTasks<'_>, task: usize, placed: TaskPlacement) {
        let task = of.tasks[task];
        let needs = &of.real.tasks()[task];
        let wanted = placed.start + needs.runtimes[placed.site];
        let runs = TaskPlacement {
            end: wanted.min(placed.end),
            ..placed
        };
        self.runs.push(Run {
            run: TaskRun::placed(task, needs.nodes, runs),
            planned_end: placed.end,
            outlasts: wanted > placed.end,
            shares: Vec::new(),
        });
    }

    /// Where and when each task runs to its end, as far as it is known at the end of the second
    /// `now`: what runs then or later is taken to last as long as its slot.
    pub(super) fn placements(&self, tasks: usize, now: Seconds) -> Vec<Option<TaskPlacement>> {
        let mut placements = vec![None; tasks];
        let done = |run: &&Run| run.run.fate == TaskFate::Done;
        for booked in self.runs.iter().filter(done) {
            let run = &booked.run;
            let has_ended = run.end <= now && !booked.outlasts;
            placements[run.task as usize] = Some(TaskPlacement {
                site: run.site,
                start: run.start,
                end: if has_ended {
                    run.end
                } else {
                    booked.planned_end
                },
            });
        }
        placements
    }

    /// When the next run comes to the end of its slot and has not ended, and which; the first
    /// booked of equals.
    pub(super) fn next_outlasting(&self) -> Option<(Seconds, usize)> {
        let runs = self.runs.iter().enumerate();
        let outlasting = runs.filter(|(_, run)| run.outlasts && run.run.fate == TaskFate::Done);
        outlasting
            .map(|(index, run)| (run.planned_end, index))
            .min()
    }

    /// A run is stopped at the end of its slot. The task.
    pub(super) fn stop(&mut self, run: usize) -> usize {
        let run = &mut self.runs[run].run;
        run.fate = TaskFate::Stopped;
        run.task as usize
    }

    /// The end of the last run.
    pub(super) fn last_end(&self) -> Option<Seconds> {
        let done = self
            .runs
            .iter()
            .filter(|run| run.run.fate == TaskFate::Done);
        done.map(|run| run.run.end).max()
    }

    /// The run that holds the processor number `processor` of those that the application's tasks
    /// hold at `site` at `time`, in the order of booking; or how many they hold in all.
    pub(super) fn hit(&self, site: usize, time: Seconds, processor: u32) -> Result<usize, u32> {
        let mut held = 0;
        for (index, Run { run, .. }) in self.runs.iter().enumerate() {
            let runs = run.site == site && run.start <= time && time < run.end;
            if runs && run.fate == TaskFate::Done {
                held += run.nodes.0;
                if processor < held {
                    return Ok(index);
                }
            }
        }
        Err(held)
    }

    /// A node failed under a run. The task.
    pub(super) fn lose(&mut self, run: usize, time: Seconds) -> usize {
        let run = &mut self.runs[run].run;
        run.end = time;
        run.fate = TaskFate::Lost;
        run.task as usize
    }

    /// Gives up runs. What sites can have back: bookings all of whose runs are given up, and which
    /// have not begun by the end of the second `now`.
    pub(super) fn abandon(
        &mut self,
        now: Seconds,
        gives_up: impl Fn(&TaskRun) -> bool,
    ) -> Vec<(usize, RequestId)> {
        let mut given_up = vec![false; self.runs.len()];
        for (Run { run, .. }, given_up) in self.runs.iter_mut().zip(&mut given_up) {
            if run.fate == TaskFate::Done && gives_up(run) {
                run.fate = TaskFate::Abandoned;
                *given_up = true;
            }
        }
        let runs = &self.runs;
        let all_abandoned = |booking: &&mut Booking| {
            let mut own = booking.runs.iter();
            let is_new = booking.runs.iter().any(|run| given_up[*run]);
            is_new && own.all(|run| runs[*run].run.fate == TaskFate::Abandoned)
        };
        let bookings = self.bookings.iter_mut().filter(all_abandoned);
        let unbegun = bookings.filter(|booking| booking.start > now);
        let given_back = unbegun.map(|booking| {
            booking.given_back = Some(GivenBack::Unbegun);
            (booking.site, booking.id)
        });
        given_back.collect()
    }

    /// Slots and runs as they are told, and what was paid in vain.
    pub(super) fn close(self) -> Closed {
        let settlements = self.settlements();
        let mut used = vec![NodeSeconds(0); self.slots.len()];
        let mut unused = vec![NodeSeconds(0); self.slots.len()];
        let mut penalties = vec![0.0; self.slots.len()];
        let mut served = vec![false; self.slots.len()];
        let mut after_ends = 0.0;
        for Run {
            run,
            planned_end,
            shares,
            ..
        } in &self.runs
        {
            for &BookedShare {
                slot,
                booking,
                nodes,
            } in shares
            {
                let given_back = self.bookings[booking].given_back;
                let kept = |start| self.refund.kept(given_back, nodes, (start, *planned_end));
                if run.fate == TaskFate::Done {
                    served[slot] = true;
                    let (left, penalty) = kept(run.end);
                    after_ends += (left.coins().0 + penalty) * self.slots[slot].slot.unit_price;
                } else {
                    let (left, penalty) = kept(run.start);
                    unused[slot] += left;
                    penalties[slot] += penalty;
                }
                if run.fate != TaskFate::Abandoned {
                    used[slot] += nodes.for_span(run.end - run.start);
                }
            }
        }
        let mut wasted = 0.0;
        let mut slots = Vec::with_capacity(self.slots.len());
        for (index, (paid, settled)) in self.slots.iter().zip(&settlements).enumerate() {
            let cost = paid.cost - settled.refunded;
            wasted += if served[index] {
                (unused[index].coins().0 + penalties[index]) * paid.slot.unit_price
            } else {
                cost
            };
            slots.push(BoughtSlot {
                site: paid.site,
                slot: paid.slot,
                cost,
                used: used[index],
                externality: settled.externality,
                refunded: settled.refunded,
                forfeited: settled.forfeited,
            });
        }
        let costs = self.costs(&slots);
        let runs = self.runs.into_iter().map(|run| run.run).collect();
        Closed {
            slots,
            runs,
            costs,
            wasted,
            after_ends,
        }
    }
}

/// A ledger at the end; money in service units.
pub(super) struct Closed {
    pub(super) slots: Vec<BoughtSlot>,
    pub(super) runs: Vec<TaskRun>,
    /// What of the cost of slots falls on each run.
    pub(super) costs: Vec<f64>,
    /// Paid for lost and unused runs: all of a slot in which nothing ran to its end, else the
    /// planned processor-time of what did not.
    pub(super) wasted: f64,
    /// Paid for the time between the end of a task and that of its part of the slot.
    pub(super) after_ends: f64,
}

/// What has to be booked for these shares: first what is sold whole, then pieces by start, because
/// what lies in front of a piece that was sold is not divisible any more (AMB-10).
pub(super) fn purchases(
    slots: &[Advertised],
    shares: &[Share],
    mut number: impl FnMut() -> RequestId,
) -> Vec<Purchase> {
    let mut wanted: Vec<(usize, Piece, Vec<usize>)> = Vec::new();
    for lot in lots(slots, shares) {
        let pieces = lot.pieces.into_iter();
        wanted.extend(pieces.map(|(piece, tasks)| (lot.slot, piece, tasks)));
    }
    wanted.sort_by_key(|(slot, piece, _)| {
        let divisible = slots[*slot].slot.divisible;
        (divisible, piece.start)
    });
    let numbered = wanted.into_iter().map(|(slot, piece, tasks)| Purchase {
        slot,
        piece,
        tasks,
        id: number(),
        externality: NodeSeconds(0),
    });
    numbered.collect()
}
