//! What those who misstate say of their jobs and reservations beside the cost of a delay: a length,
//! and a trade-off between price and start (Singh 2008, §8.1).

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, ReservationRequest, WantedStart};

use super::{DelayCostSettings, JobCosts};

impl DelayCostSettings {
    /// Jobs and requests as their owners state them; `None` where all state what they were made
    /// with. Ids, draws and real run times stay, so [`JobCosts::drawn`] finds the same owners.
    ///
    /// A length is rounded up to whole seconds. A request with a fixed start has no α to misstate.
    #[must_use]
    pub fn stated(
        &self,
        jobs: &[Job],
        requests: &[ReservationRequest],
        stream: impl Fn(&str) -> Stream,
    ) -> Option<(Vec<Job>, Vec<ReservationRequest>)> {
        if self.misstated_length_factor == 1.0 && self.misstated_alpha.is_none() {
            return None;
        }
        let (mut jobs, mut requests) = (jobs.to_vec(), requests.to_vec());
        let costs = JobCosts::drawn(self, &jobs, &requests, stream);
        let lengthen = |length: &mut Seconds| {
            let stated = length.0 as f64 * self.misstated_length_factor;
            *length = Seconds(stated.ceil() as i64);
        };
        for (job, cost) in jobs.iter_mut().zip(&costs.jobs) {
            if cost.misstates {
                lengthen(&mut job.estimate);
            }
        }
        for (request, cost) in requests.iter_mut().zip(&costs.requests) {
            if !cost.misstates {
                continue;
            }
            lengthen(&mut request.duration);
            if let WantedStart::From { alpha, .. } = &mut request.wanted {
                *alpha = self.misstated_alpha.unwrap_or(*alpha);
            }
        }
        Some((jobs, requests))
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::random::StreamSeed;
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::{CostSpread, JobId, RequestId};

    use super::*;
    use crate::replanning::{
        Admission, JobMarks, PricedCosts, Replanning, ReplanningMachine, ReplanningSettings,
        reservation_measures,
    };

    /// Everybody is truthful, prices count nodes, and an hour costs h SU a node.
    fn truthful(cost: f64) -> DelayCostSettings {
        DelayCostSettings {
            spread: CostSpread::Classes {
                shares_percent: [100.0, 0.0, 0.0],
                weights: [cost, 3.0, 10.0],
            },
            priced: PricedCosts::Width,
            misstating_percent: 0.0,
            misstated_factor: 1.0,
            misstated_length_factor: 1.0,
            misstated_alpha: None,
        }
    }

    fn job(id: u32, nodes: u32, hours: i64) -> Job {
        let hours = Seconds::HOUR * hours;
        Job::rigid(JobId(id), Seconds(0), Nodes(nodes), hours).numbered(i64::from(id))
    }

    fn request(id: u32, nodes: u32, duration: Seconds, wanted: WantedStart) -> ReservationRequest {
        ReservationRequest {
            id: RequestId(id),
            trace_number: i64::from(id) + 4,
            user: None,
            submit: Seconds(0),
            nodes: Nodes(nodes),
            duration,
            runtime: duration,
            wanted,
        }
    }

    /// The machine of section 12.4 in hours, and who asks for 2 nodes and 3 h with α = 0.4.
    fn section_12_4() -> (Vec<Job>, Vec<ReservationRequest>) {
        let hour = Seconds::HOUR;
        let chosen = WantedStart::From {
            earliest: Seconds(0),
            alpha: 0.4,
        };
        let booked = request(0, 3, hour, WantedStart::At(hour * 3));
        (
            vec![job(0, 3, 1), job(1, 1, 2), job(2, 2, 4), job(3, 2, 4)],
            vec![booked, request(1, 2, hour * 3, chosen)],
        )
    }

    /// What the two requests cost their owners in the mean, by the name of the measure, where these
    /// are what is stated; and the start of the second in hours.
    fn mean_cost(
        settings: &DelayCostSettings,
        (jobs, mut requests): (Vec<Job>, Vec<ReservationRequest>),
    ) -> ([Option<f64>; 2], f64) {
        let settings = ReplanningSettings {
            admission: Admission::MovePrice,
            delay_costs: Some(*settings),
            ..ReplanningSettings::default()
        };
        let seed = StreamSeed::default();
        let marks = JobMarks::drawn(&jobs, &requests, &settings, |name| seed.stream(name));
        let plan = Replanning::new(Nodes(5), settings).with_marks(marks);
        let mut machine = ReplanningMachine::of(Nodes(5), plan);
        machine.submit(jobs);
        let asked_later = requests.split_off(1);
        machine.request(requests);
        // The first two jobs have started when the second request comes.
        machine.advance(Seconds(1));
        machine.request(asked_later);
        machine.advance(Seconds::FAR);
        let outcomes = machine.take_reservation_outcomes();
        let of_second = outcomes.iter().find(|it| it.request.id == RequestId(1));
        let start = of_second.unwrap().start.unwrap();
        let (metrics, totals) = (machine.metrics(), machine.reservation_totals());
        let measured = reservation_measures(Nodes(5), &metrics, &totals);
        let names = ["truthful_request_cost_su", "misstating_request_cost_su"];
        (names.map(|name| measured.get(name)), start.hours())
    }

    /// The reservation that heads the plan pays 6 SU (D waits 3 h longer) and waits 3 h with 3
    /// nodes. The other pays 6 SU at 1 h by α = 0.4, and nothing at 5 h by α = 1, and has 2 nodes.
    #[test]
    fn by_another_alpha_a_patient_owner_gains_and_an_impatient_one_loses() {
        let seed = StreamSeed::default();
        for (cost, truth, lie) in [(1.0, 6.0 + 2.0, 10.0), (0.5, 6.0 + 1.0, 5.0)] {
            let head = 6.0 + 9.0 * cost;
            let settings = truthful(cost);
            let (costs, start) = mean_cost(&settings, section_12_4());
            assert_eq!((costs, start), ([Some((head + truth) / 2.0), None], 1.0));
            let lying = DelayCostSettings {
                misstating_percent: 100.0,
                misstated_alpha: Some(1.0),
                ..settings
            };
            let (jobs, requests) = section_12_4();
            let stated = lying.stated(&jobs, &requests, |name| seed.stream(name));
            let (costs, start) = mean_cost(&lying, stated.unwrap());
            assert_eq!((costs, start), ([None, Some((head + lie) / 2.0)], 5.0));
        }
    }

    /// Booked for 4.5 h, prices are 9, 11, 13, 2, 0 and 0 SU at 1, 2, 3, 4, 5 and 8 h, and α = 0.4
    /// still takes the first: 9 SU, 2 SU of waiting, and 3 SU for 1.5 h of two nodes that are not
    /// used.
    #[test]
    fn who_books_longer_than_it_runs_pays_for_more_delay_and_for_idle_nodes() {
        let (jobs, mut requests) = section_12_4();
        requests[1].duration = Seconds(3 * 5_400);
        let (costs, start) = mean_cost(&truthful(1.0), (jobs, requests));
        assert_eq!(start, 1.0);
        assert_eq!(costs[0], Some((15.0 + 14.0) / 2.0));
    }

    #[test]
    fn those_who_misstate_state_longer_lengths_and_nobody_else_changes() {
        let seed = StreamSeed::default();
        let settings = DelayCostSettings {
            misstating_percent: 30.0,
            misstated_length_factor: 1.5,
            misstated_alpha: Some(0.9),
            ..truthful(1.0)
        };
        let jobs: Vec<Job> = (0..200).map(|id| job(id, 1, 1)).collect();
        let wanted = WantedStart::From {
            earliest: Seconds(0),
            alpha: 0.4,
        };
        let asked = |id| request(id, 1, Seconds(3), wanted);
        let requests: Vec<ReservationRequest> = (200..400).map(asked).collect();
        let stream = |name: &str| seed.stream(name);
        let drawn = JobCosts::drawn(&settings, &jobs, &requests, stream);
        let (of_jobs, of_requests) = settings.stated(&jobs, &requests, stream).unwrap();
        let mut misstating = 0;
        for ((stated, job), cost) in of_jobs.iter().zip(&jobs).zip(&drawn.jobs) {
            misstating += u32::from(cost.misstates);
            let estimate = Seconds(if cost.misstates { 5_400 } else { 3_600 });
            assert_eq!(
                stated,
                &Job {
                    estimate,
                    ..job.clone()
                }
            );
        }
        assert!((40..80).contains(&misstating), "{misstating}");
        for ((stated, request), cost) in of_requests.iter().zip(&requests).zip(&drawn.requests) {
            // 4.5 s are booked as 5.
            let (duration, alpha) = if cost.misstates { (5, 0.9) } else { (3, 0.4) };
            let wanted = WantedStart::From {
                earliest: Seconds(0),
                alpha,
            };
            let expected = ReservationRequest {
                duration: Seconds(duration),
                wanted,
                ..request.clone()
            };
            assert_eq!(stated, &expected);
        }
        let again = JobCosts::drawn(&settings, &of_jobs, &of_requests, stream);
        assert_eq!(again, drawn);
        assert_eq!(truthful(1.0).stated(&jobs, &requests, stream), None);
    }
}
