//! How long advertised slots can be had. A list is valid until the plan of its site changes, so
//! slots are advisory (Singh 2008, chapter 3).

use bookahead_core::plan::{Piece, Slot};
use bookahead_core::units::Seconds;
use bookahead_core::workload::RequestId;

use super::{BestEffortSite, ProviderSite};

/// So long after the list was read it is looked which of its slots are left.
pub const LOOKS: [Seconds; 4] = [Seconds(60), Seconds(600), Seconds::HOUR, Seconds(6 * 3_600)];

/// A number that no booking has on a fork where nobody else buys.
const ASKED: RequestId = RequestId(0);

/// What is left of advertised slots at a later instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotsLeft {
    /// Slots of the list that are not over.
    pub advertised: u32,
    /// Those of them that can still be had, for the rest of their time.
    pub left: u32,
}

/// What of the slots that these sites advertise at the second `now` is left at each of [`LOOKS`],
/// while jobs of others arrive and end and nobody buys anything. A slot is left if its site sells
/// all its processors from then on, or from its start on where that is later, until its end.
#[must_use]
pub fn slots_left(sites: Vec<BestEffortSite<'_>>, now: Seconds) -> [SlotsLeft; LOOKS.len()] {
    let mut all = [SlotsLeft::default(); LOOKS.len()];
    for BestEffortSite { mut site, arrivals } in sites {
        let advertised = site.advertised();
        let mut ahead = arrivals;
        for (span, found) in LOOKS.into_iter().zip(&mut all) {
            let then = now + span;
            let arrived;
            (arrived, ahead) = ahead.split_at(ahead.partition_point(|job| job.submit <= then));
            site.submit(arrived.iter().cloned());
            site.pass_to(then);
            for slot in advertised.iter().filter(|slot| slot.end > then) {
                found.advertised += 1;
                found.left += u32::from(is_left(&site, slot, then));
            }
        }
    }
    all
}

fn is_left(site: &ProviderSite, slot: &Slot, then: Seconds) -> bool {
    let rest = Slot {
        start: slot.start.max(then),
        divisible: true,
        ..*slot
    };
    let whole = Piece {
        start: rest.start,
        nodes: rest.nodes,
        end: rest.end,
    };
    site.clone().buy(ASKED, &rest, whole)
}

#[cfg(test)]
mod tests {
    use bookahead_core::plan::SlotRules;
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::{Job, JobId};
    use bookahead_reservations::slots::SlotSource;

    use super::*;
    use crate::provisioning::{Provider, ProvisioningSettings};

    /// A machine of 4 processors whose first job holds 2 of them for 2 h; then the others are held
    /// from half an hour on for 50 min, and all four from 3 h on for a day.
    #[test]
    fn slots_are_left_until_a_job_takes_some_of_their_processors() {
        let job = |id, submit, nodes, seconds| {
            Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(seconds))
        };
        let arrivals = [job(1, 1_800, 2, 3_000), job(2, 10_800, 4, 86_400)];
        for source in [SlotSource::FreeRectangles, SlotSource::Plan] {
            let settings = ProvisioningSettings {
                provider: Provider::Advertised {
                    source,
                    rules: SlotRules::default(),
                },
                ..ProvisioningSettings::default()
            };
            let mut site = ProviderSite::new(Nodes(4), &settings);
            site.submit([job(0, 0, 2, 7_200)]);
            site.pass_to(Seconds::ZERO);
            let count = |site: &ProviderSite| site.clone().advertised().len() as u32;
            // Two processors now, and four or the two others from 2 h on.
            assert_eq!(count(&site), 2);
            let both = SlotsLeft {
                advertised: 2,
                left: 2,
            };
            let one = SlotsLeft { left: 1, ..both };
            let none = SlotsLeft { left: 0, ..both };
            let fork = BestEffortSite {
                site,
                arrivals: &arrivals,
            };
            let left = slots_left(vec![fork], Seconds::ZERO);
            assert_eq!(left, [both, both, one, none], "{source:?}");
        }
    }
}
