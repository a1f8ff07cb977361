//! Until sites answer for themselves.
use super::*;
use crate::plan::*;
use crate::scheduling::reserving::*;
use crate::units::*;
use crate::workload::*;

impl ProviderSite {
    /// N.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        let Self::Planning(site) = self;
        site.machine.nodes()
    }
    /// A.
    pub fn answer(&mut self, question: SiteQuestion) -> SiteAnswer {
        let Self::Planning(site) = self;
        let machine = &mut site.machine;
        match question {
            SiteQuestion::PassTo { time, arrivals } => {
                machine.submit(arrivals);
                machine.advance(time + Seconds(1));
                machine.wait_until(time);
                SiteAnswer::Done
            }
            SiteQuestion::Advertise => {
                let now = machine.now();
                let rules = SlotRules::default();
                let list = SlotList::from_profile(machine.planned().1, now, rules);
                SiteAnswer::Slots(list.advertised(now, list.horizon_end(now)))
            }
            SiteQuestion::QueryFrom { start, nodes, duration } => {
                SiteAnswer::Offers(machine.offers(start, nodes, duration))
            }
            SiteQuestion::BuyPiece { id, piece, .. } => {
                if machine.price(piece.start, piece.nodes, piece.end - piece.start) != Some(NodeSeconds(0)) {
                    return SiteAnswer::Gone;
                }
                book(machine, id, piece.start, piece.nodes, piece.end - piece.start);
                SiteAnswer::Done
            }
            SiteQuestion::Reserve { id, start, nodes, duration, price } => {
                if machine.price(start, nodes, duration).is_none_or(|now| now > price) {
                    return SiteAnswer::Gone;
                }
                book(machine, id, start, nodes, duration);
                SiteAnswer::Done
            }
            SiteQuestion::Cancel(id) => {
                if machine.cancel(id) { SiteAnswer::Done } else { SiteAnswer::Gone }
            }
            SiteQuestion::Report => SiteAnswer::Report(machine.take_job_outcomes()),
        }
    }
}
fn book(machine: &mut ReservingMachine, id: RequestId, start: Seconds, nodes: Nodes, duration: Seconds) {
    let now = machine.now();
    machine.request([ReservationRequest { id, trace_number: 0, submit: now, nodes, duration, runtime: duration, wanted: WantedStart::At(start) }]);
    machine.advance(now + Seconds(1));
}
