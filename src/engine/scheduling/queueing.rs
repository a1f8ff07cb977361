//! First come, first served and EASY backfilling: queues that promise nothing, as baselines.
//!
//! First come, first served is strict: when the first of the queue may not start because of a reservation, everybody waits behind it. With
//! backfilling its start ("shadow") is the earliest time at which it has its nodes for its whole estimate beside
//! running jobs and reservations, which may lie between or behind these; the others may start if they leave both its
//! place and the reservations alone. Without reservations that is the usual rule of the shadow and the extra nodes.

use super::queue::{QueuePass, QueuePolicy, Waiting};

/// First come, first served.
#[derive(Clone, Copy, Debug)]
pub struct FirstCome;

impl QueuePolicy for FirstCome {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        while let Some(first) = pass.waiting().first().copied() {
            if !pass.fits(&first) {
                return;
            }
            pass.start(&first);
        }
    }
}

/// Aggressive (EASY) backfilling: only the first of the queue is not delayed.
#[derive(Clone, Copy, Debug)]
pub struct Easy;

impl QueuePolicy for Easy {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        FirstCome.pass(pass);
        let Some(first) = pass.waiting().first().copied() else {
            return;
        };
        let mut idle = pass.idle().0;
        if idle == 0 {
            return;
        }
        let others: Vec<Waiting> = pass.waiting()[1..].to_vec();
        if pass.has_reservations() {
            // Where too many nodes are down for the first, nobody can delay it.
            if let Some(start) = pass.earliest_start(&first) {
                pass.hold(&first, start);
            }
            for waiting in others {
                if pass.fits(&waiting) {
                    pass.start(&waiting);
                }
            }
            return;
        }
        // The same without a profile, which would cost more than everything else.
        let (shadow, mut extra) = pass.shadow(&first);
        for waiting in others {
            if idle == 0 {
                return;
            }
            let ends_before = pass.now() + waiting.estimate <= shadow;
            if waiting.nodes.0 <= idle && (ends_before || waiting.nodes.0 <= extra) {
                if !ends_before {
                    extra -= waiting.nodes.0;
                }
                idle -= waiting.nodes.0;
                pass.start(&waiting);
            }
        }
    }
}
