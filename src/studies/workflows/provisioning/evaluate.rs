//! The cost of a choice of advertised slots, and the end of the application on it (ALG-2: Singh
//! 2008, §4.2).

mod parts;

use std::collections::BTreeMap;

use bookahead_core::plan::Slot;
use bookahead_core::units::{Nodes, Seconds};

use self::parts::{Part, Parts};
use super::network::Links;
use super::{Application, ApplicationTask, SiteChoice, SlotTariff, Transfer};

/// A slot and the site that advertises it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advertised {
    /// Index of the site.
    pub site: usize,
    /// The slot.
    pub slot: Slot,
}

/// Both objectives of a plan (Singh 2008, eq. 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanValue {
    /// AC, the allocation cost in service units: slots that are sold whole and are used count
    /// whole, of others what is used; what is chosen and not used costs nothing (AMB-14h). Slots on
    /// the network are added.
    pub cost: f64,
    /// SC, the makespan: from submission to the end of the last task; of several applications what
    /// else they are judged by ([`ScheduleCost`](super::ScheduleCost)).
    pub makespan: Seconds,
}

/// Where a task runs in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPlacement {
    /// Index of the site.
    pub site: usize,
    /// Start.
    pub start: Seconds,
    /// End.
    pub end: Seconds,
}

/// How much of an advertised slot was used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    node_seconds: i64,
    /// Those of them in hours that cost more; counted where there are such.
    by_day: i64,
    last_end: Seconds,
    touched: bool,
}

/// Evaluates choices of slots for one application; keeps its memory between calls.
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    application: &'a Application,
    slots: &'a [Advertised],
    submitted: Seconds,
    choice: SiteChoice,
    tariff: SlotTariff,
    /// The slots of each site as ALG-1 wants them, sorted.
    offered: Vec<Vec<Part>>,
    bins: Vec<Parts>,
    /// Tasks with the same nodes and run times have the same shape; `None` for a task with a shape
    /// of its own.
    shapes: Vec<Option<usize>>,
    /// The earliest starts that are known for each shape, site by site.
    known: Vec<Known>,
    used: Vec<Use>,
    placed: Vec<TaskPlacement>,
    /// What is reserved of the network beside the plan.
    beside: Links,
    /// The same with what the plan takes of it.
    links: Links,
    transfers: Vec<Transfer>,
}

/// An earliest start that was found: a task that may start from `asked` on cannot start before
/// `start`. It stays true while tasks are placed, because they only take nodes.
#[derive(Clone, Copy, Debug)]
struct Known {
    asked: Seconds,
    start: Seconds,
}

impl Known {
    const NOTHING: Self = Self {
        asked: Seconds(i64::MAX),
        start: Seconds(i64::MIN),
    };

    /// The time from which a start has to be searched.
    fn since(self, earliest: Seconds) -> Seconds {
        if earliest >= self.asked {
            earliest.max(self.start)
        } else {
            earliest
        }
    }

    fn learn(&mut self, earliest: Seconds, start: Seconds) {
        if (self.asked..=self.start).contains(&earliest) {
            self.start = self.start.max(start);
        } else {
            *self = Self {
                asked: earliest,
                start,
            };
        }
    }
}

impl<'a> Evaluator<'a> {
    /// An evaluator for an application that is submitted at `submitted` and chooses from `slots`.
    /// Slots of a site must be disjoint; the order of equal starts is theirs.
    #[must_use]
    pub fn new(application: &'a Application, slots: &'a [Advertised], submitted: Seconds) -> Self {
        let sites = slots.iter().map(|slot| slot.site + 1).max().unwrap_or(0);
        let nowhere = TaskPlacement {
            site: 0,
            start: submitted,
            end: submitted,
        };
        let mut offered = vec![Vec::new(); sites];
        for (origin, advertised) in (0..).zip(slots) {
            offered[advertised.site].push(Part {
                start: advertised.slot.start.max(submitted),
                end: advertised.slot.end,
                nodes: advertised.slot.nodes.0,
                extensible: advertised.slot.extensible,
                origin,
            });
        }
        for parts in &mut offered {
            parts.sort_by_key(Part::key);
        }
        let (shapes, count) = shapes(application.tasks());
        Self {
            application,
            slots,
            submitted,
            choice: SiteChoice::default(),
            tariff: SlotTariff::default(),
            offered,
            bins: vec![Parts::default(); sites],
            shapes,
            known: vec![Known::NOTHING; count * sites],
            used: vec![Use::default(); slots.len()],
            placed: vec![nowhere; application.tasks().len()],
            beside: Links::default(),
            links: Links::default(),
            transfers: Vec::new(),
        }
    }

    /// The same evaluator with another rule for the choice between sites (AMB-9).
    #[must_use]
    pub fn choosing(mut self, choice: SiteChoice) -> Self {
        self.choice = choice;
        self
    }

    /// The same evaluator where hours of the day cost more; the slots have c, f, b and e already.
    #[must_use]
    pub fn under(mut self, tariff: SlotTariff) -> Self {
        self.tariff = tariff;
        self
    }

    /// The same evaluator beside what is reserved of the network.
    #[must_use]
    pub(super) fn beside(mut self, links: &Links) -> Self {
        if self.application.network().is_some() {
            self.beside.clone_from(links);
        }
        self
    }

    /// What is to be placed.
    #[must_use]
    pub fn application(&self) -> &'a Application {
        self.application
    }

    /// How many slots there are to choose from.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The value of a plan that may use the slots for which `chosen` holds; `None` where the
    /// application does not fit.
    pub fn evaluate(&mut self, chosen: &[bool]) -> Option<PlanValue> {
        self.begin(chosen);
        for &task in self.application.order() {
            let (site, start) = self.best_site(task)?;
            let needs = &self.application.tasks()[task];
            let end = start + needs.runtimes[site];
            let length = (end - start).0;
            let by_day = match self.tariff.day_surcharge() {
                Some(_) => self.tariff.day_time(start, end).0,
                None => 0,
            };
            self.bins[site].take(needs.nodes, start, end, |taken| {
                let used = &mut self.used[taken.origin as usize];
                used.touched = true;
                used.node_seconds += i64::from(taken.nodes) * length;
                used.by_day += i64::from(taken.nodes) * by_day;
                used.last_end = used.last_end.max(end);
            });
            if self.application.network().is_some() {
                let placed = &self.placed;
                let finished = |parent: usize| (placed[parent].site, placed[parent].end);
                let (application, submitted) = (self.application, self.submitted);
                let (_, sent) = (self.links).send(application, task, site, submitted, finished);
                self.transfers.extend(sent);
            }
            self.placed[task] = TaskPlacement { site, start, end };
        }
        let makespan = (self.application).schedule_cost(&self.placed, self.submitted);
        let cost = self.cost();
        Some(PlanValue { cost, makespan })
    }

    /// Where the tasks of the plan that was evaluated last run, by index.
    #[must_use]
    pub fn placements(&self) -> &[TaskPlacement] {
        &self.placed
    }

    /// The slots on the network that the plan takes that was evaluated last.
    pub(super) fn transfers(&self) -> &[Transfer] {
        &self.transfers
    }

    /// Which slots the plan that was evaluated last pays for, and node-seconds used of each; where
    /// the application did not fit, by the tasks in front of the one that found no place.
    pub fn used(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let used = self.used.iter().enumerate();
        used.filter(|(_, used)| used.touched)
            .map(|(slot, used)| (slot, used.node_seconds))
    }

    fn begin(&mut self, chosen: &[bool]) {
        self.known.fill(Known::NOTHING);
        self.used.fill(Use::default());
        if self.application.network().is_some() {
            self.links.clone_from(&self.beside);
            self.transfers.clear();
        }
        for (bin, offered) in self.bins.iter_mut().zip(&self.offered) {
            let parts = offered.iter().copied();
            bin.begin(parts.filter(|part| chosen[part.origin as usize]));
        }
    }

    /// The site at which the task starts or ends first (AMB-9), the first of equals.
    fn best_site(&mut self, task: usize) -> Option<(usize, Seconds)> {
        let needs = &self.application.tasks()[task];
        let shape = self.shapes[task].map(|shape| shape * self.bins.len());
        // Site, start, and what is compared.
        let mut best: Option<(usize, Seconds, Seconds)> = None;
        for (site, bin) in self.bins.iter_mut().enumerate() {
            let (application, submitted) = (self.application, self.submitted);
            if !application.may_run(task, site) {
                continue;
            }
            let placed = &self.placed;
            let finished = |parent: usize| (placed[parent].site, placed[parent].end);
            let earliest = (self.links).earliest(application, task, site, submitted, finished);
            let duration = needs.runtimes[site];
            let lead = match self.choice {
                SiteChoice::EarliestStart => Seconds::ZERO,
                SiteChoice::EarliestFinish => duration,
            };
            let before = best.map_or(Seconds::FAR, |(_, _, least)| least - lead);
            let mut known = shape.map(|shape| &mut self.known[shape + site]);
            let since = known
                .as_ref()
                .map_or(earliest, |known| known.since(earliest));
            if since >= before {
                continue;
            }
            let found = bin.find(needs.nodes, duration, since, before);
            if let Some(known) = &mut known {
                known.learn(earliest, found.unwrap_or(before));
            }
            if let Some(start) = found {
                best = Some((site, start, start + lead));
            }
        }
        best.map(|(site, start, _)| (site, start))
    }

    /// Processor-seconds are summed before they become service units: whole numbers at the price of
    /// best effort. Sums of hours would differ in their last bits by the slots that they go over,
    /// and a front would keep plans that cost the same.
    fn cost(&self) -> f64 {
        let paid = self.slots.iter().zip(&self.used);
        let (processor_seconds, fixed) = paid.filter(|(_, used)| used.touched).fold(
            (0.0, 0.0),
            |(processor_seconds, fixed), (advertised, used)| {
                let slot = &advertised.slot;
                let own = if slot.divisible {
                    used.node_seconds
                } else {
                    let end = slot.end.max(used.last_end);
                    slot.nodes.for_span(end - slot.start).0
                };
                let mut paid = own as f64 * slot.unit_price;
                if let Some(surcharge) = self.tariff.day_surcharge() {
                    let by_day = if slot.divisible {
                        used.by_day
                    } else {
                        let end = slot.end.max(used.last_end);
                        self.tariff.day_nodes(slot.nodes, slot.start, end).0
                    };
                    paid += by_day as f64 * slot.unit_price * surcharge;
                }
                (processor_seconds + paid, fixed + slot.fixed_price)
            },
        );
        processor_seconds / 3_600.0 + fixed + self.application.network_cost(&self.transfers)
    }
}

/// The number of each task's shape, where others have the same, and how many shapes there are.
fn shapes(tasks: &[ApplicationTask]) -> (Vec<Option<usize>>, usize) {
    let mut groups: BTreeMap<(Nodes, &[Seconds]), Vec<usize>> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        let group = groups.entry((task.nodes, &task.runtimes[..]));
        group.or_default().push(index);
    }
    let mut shapes = vec![None; tasks.len()];
    let shared = groups.into_values().filter(|group| group.len() > 1);
    let mut count = 0;
    for group in shared {
        for task in group {
            shapes[task] = Some(count);
        }
        count += 1;
    }
    (shapes, count)
}

#[cfg(test)]
pub(super) mod tests;
