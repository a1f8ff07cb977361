//! Slots on the network between sites: the bandwidth from one site to another is reserved like
//! processors (Singh 2008, §4.9, §8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use bookahead_core::plan::{Fit, Profile};
use bookahead_core::units::Seconds;
use bookahead_core::workload::workflows::Network;

use super::Application;

/// How bandwidth between sites is sold. By default transfers never meet and cost nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkSlots {
    /// How many transfers an ordered pair of sites carries at once, each at an equal part of its
    /// bandwidth; 0: any number, each at all of it.
    pub lanes: u32,
    /// What a slot costs for each Gbit that passes through it, in service units.
    pub price: f64,
}

impl NetworkSlots {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The network at the rate of one transfer: B/lanes.
    #[must_use]
    pub fn at_rate_of_a_slot(self, network: &Network) -> Network {
        Network {
            bandwidth_bits_per_second: network.bandwidth_bits_per_second
                / f64::from(self.lanes.max(1)),
            ..*network
        }
    }

    /// The terms on which an application moves its data over a network whose bandwidth is that of
    /// one transfer; `None` by default.
    #[must_use]
    pub fn terms(self, network: &Network) -> Option<NetworkTerms> {
        (!self.is_default()).then(|| NetworkTerms {
            lanes: self.lanes,
            latency: Seconds(network.latency_seconds as i64),
            second_price: self.price * network.bandwidth_bits_per_second / 1e9,
        })
    }
}

/// The terms on which an application moves its data between sites.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkTerms {
    /// How many transfers an ordered pair of sites carries at once; 0: any number.
    pub lanes: u32,
    /// The part of a transfer's time in which its slot is free again: whole seconds, rounded down.
    pub latency: Seconds,
    /// What a slot costs for each second, in service units.
    pub second_price: f64,
}

impl NetworkTerms {
    /// How long a transfer that takes so long in all holds its slot.
    #[must_use]
    pub fn held(&self, transfer: Seconds) -> Seconds {
        (transfer - self.latency).max(Seconds::ZERO)
    }
}

/// A slot on the network that was taken for the data of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Indices of the sites, from and to.
    pub sites: (usize, usize),
    /// When the data was ready to be sent.
    pub ready: Seconds,
    /// When the slot begins.
    pub start: Seconds,
    /// When it ends; the data arrives a latency later.
    pub end: Seconds,
}

/// What is reserved of the bandwidth between sites: a table for each ordered pair of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    tables: BTreeMap<(usize, usize), Profile>,
}

impl Links {
    /// When a task may start at `site` at the earliest if its data is sent as [`Links::send`] does;
    /// nothing is reserved.
    pub(super) fn earliest(
        &mut self,
        application: &Application,
        task: usize,
        site: usize,
        submitted: Seconds,
        finished: impl Fn(usize) -> (usize, Seconds),
    ) -> Seconds {
        if application.network().is_none_or(|terms| terms.lanes == 0) {
            return application.earliest(task, site, submitted, finished);
        }
        let (earliest, sent) = self.send(application, task, site, submitted, finished);
        self.free(application, &sent);
        earliest
    }

    /// Reserves slots for what a task needs of parents that end elsewhere: in the order of their
    /// ends, then of the application's edges, each the earliest that is free once its parent has
    /// ended. When the task may start then, and the slots.
    pub(super) fn send(
        &mut self,
        application: &Application,
        task: usize,
        site: usize,
        submitted: Seconds,
        finished: impl Fn(usize) -> (usize, Seconds),
    ) -> (Seconds, Vec<Transfer>) {
        let Some(terms) = application.network() else {
            let earliest = application.earliest(task, site, submitted, finished);
            return (earliest, Vec::new());
        };
        // As if all data were there when its parents end.
        let mut earliest = application.earliest(task, site, submitted, |parent| {
            let (_, end) = finished(parent);
            (site, end)
        });
        let parents = application.tasks()[task].parents.iter();
        let mut elsewhere: Vec<(Seconds, usize, Seconds)> = parents
            .map(|edge| (finished(edge.parent), edge.transfer))
            .filter(|((from, _), _)| *from != site)
            .map(|((from, end), transfer)| (end, from, transfer))
            .collect();
        elsewhere.sort_by_key(|(end, ..)| *end);
        let mut sent = Vec::with_capacity(elsewhere.len());
        for (ready, from, transfer) in elsewhere {
            let held = terms.held(transfer);
            let start = self.reserve((from, site), ready, held, terms.lanes);
            earliest = earliest.max(start + transfer);
            sent.push(Transfer {
                sites: (from, site),
                ready,
                start,
                end: start + held,
            });
        }
        (earliest, sent)
    }

    /// The start of the earliest slot of this length, which is reserved.
    fn reserve(
        &mut self,
        sites: (usize, usize),
        ready: Seconds,
        held: Seconds,
        lanes: u32,
    ) -> Seconds {
        if lanes == 0 || held <= Seconds::ZERO {
            return ready;
        }
        let table = self.table(sites, lanes);
        let fit = Fit {
            from: ready,
            latest: Seconds::FAR,
            nodes: 1,
            duration: held,
            own_start: None,
        };
        let start = table.earliest_fit(fit).unwrap_or(Seconds::FAR);
        table.reserve(start, start + held, 1);
        start
    }

    /// Reserves slots that were found on a copy of this table.
    pub(super) fn take(&mut self, application: &Application, slots: &[Transfer]) {
        self.change(application, slots, Profile::reserve);
    }

    /// Gives slots back.
    pub(super) fn free(&mut self, application: &Application, slots: &[Transfer]) {
        self.change(application, slots, Profile::release);
    }

    /// Gives those of an application's slots back that begin after the second `now`; the others
    /// stay, and are paid.
    pub(super) fn free_after(
        &mut self,
        now: Seconds,
        application: &Application,
        slots: &mut Vec<Transfer>,
    ) {
        let later: Vec<Transfer> = slots.extract_if(.., |slot| slot.start > now).collect();
        self.free(application, &later);
    }

    fn change(
        &mut self,
        application: &Application,
        slots: &[Transfer],
        change: impl Fn(&mut Profile, Seconds, Seconds, u32),
    ) {
        let lanes = application.network().map_or(0, |terms| terms.lanes);
        for slot in slots {
            if lanes > 0 && slot.end > slot.start {
                change(self.table(slot.sites, lanes), slot.start, slot.end, 1);
            }
        }
    }

    fn table(&mut self, sites: (usize, usize), lanes: u32) -> &mut Profile {
        let table = self.tables.entry(sites);
        table.or_insert_with(|| Profile::new(lanes, Seconds::ZERO))
    }
}

#[cfg(test)]
pub(super) mod tests;
