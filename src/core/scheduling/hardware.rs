//! The planner's probability that the nodes of a job are up at its start and stay up (Birkenheuer
//! 2012, §3.3).

use super::outcome::SuccessFactors;
use super::settings::{Exposure, NodeKnowledge, Reliability, SurvivalForm};
use crate::failures::{NodeRates, availability, availability_of_each};
use crate::plan::NodeSet;
use crate::units::{Nodes, Seconds};

/// Availability and survival of `n` equal nodes, with what never changes computed once.
#[derive(Clone, Debug)]
pub struct Hardware {
    reliability: Reliability,
}

impl Hardware {
    /// The planner's picture of the nodes.
    #[must_use]
    pub fn new(reliability: Reliability) -> Self {
        Self { reliability }
    }

    /// P_available: all `nodes` nodes are up at the start, `(1 / (1 + λ/μ))^n`.
    #[must_use]
    pub fn available(&self, nodes: Nodes) -> f64 {
        availability(
            nodes.0,
            self.reliability.failure_rate_per_hour,
            self.reliability.repair_rate_per_hour,
        )
    }

    /// A span in which nodes may fail under a job; `load` is asked for the part of all nodes that
    /// is planned in it, with the job, where the rate is believed to follow that.
    pub fn exposure(
        &self,
        (start, end): (Seconds, Seconds),
        load: impl FnOnce() -> f64,
    ) -> Exposure {
        Exposure {
            start,
            end,
            load: self.reliability.rate.load.map(|_| load()),
        }
    }

    /// P_success: all `nodes` nodes survive the span. Where the rate is believed to change that is
    /// `exp(−n · λ · ∫ g)` with the Poisson model, and as for so much longer or shorter a time with
    /// the others (Birkenheuer 2012, §3.3.1).
    #[must_use]
    pub fn survives(&self, nodes: Nodes, exposure: &Exposure) -> f64 {
        let hours = self.reliability.rate.hours(exposure);
        match self.reliability.form {
            SurvivalForm::Survival => self.reliability.survival.survival_of(nodes.0, hours),
            SurvivalForm::Literal => self.reliability.survival.printed_of(nodes.0, hours),
        }
    }

    /// P_available of these nodes: `Π 1 / (1 + λᵢ/μᵢ)` with the rates that were learned of each, or
    /// as [`Self::available`].
    #[must_use]
    pub fn available_on(&self, nodes: &NodeSet) -> f64 {
        match self.learned() {
            Some(rates) => availability_of_each(of_nodes(rates, nodes)),
            None => self.available(nodes.count()),
        }
    }

    /// P_success of these nodes: `Π S(T · λᵢ/λ)`, where S is the survival of a node with the common
    /// rate λ: the clock of a node that fails twice as often runs twice as fast. T is the length of
    /// the span, or what the changing rate makes of it. With the Poisson model of rate λ
    /// that is `exp(−Σ λᵢ T)`. As [`Self::survives`] where nothing was learned.
    #[must_use]
    pub fn survives_on(&self, nodes: &NodeSet, exposure: &Exposure) -> f64 {
        let common = self.reliability.failure_rate_per_hour;
        let common_hours = self.reliability.rate.hours(exposure);
        match self.learned() {
            Some(rates) if common > 0.0 => of_nodes(rates, nodes)
                .map(|node| {
                    let hours = common_hours * node.failure_rate_per_hour / common;
                    match self.reliability.form {
                        SurvivalForm::Survival => self.reliability.survival.survival_of(1, hours),
                        SurvivalForm::Literal => self.reliability.survival.printed_of(1, hours),
                    }
                })
                .product(),
            _ => self.survives(nodes.count(), exposure),
        }
    }

    /// The factors of the PoS of a window of `nodes` nodes, which starts with the probability
    /// `room`.
    pub fn window(&self, nodes: Nodes, exposure: &Exposure, room: f64) -> SuccessFactors {
        SuccessFactors {
            available: self.available(nodes),
            executable: room,
            survives: self.survives(nodes, exposure),
        }
    }

    /// The same of these nodes.
    pub fn window_on(&self, nodes: &NodeSet, exposure: &Exposure, room: f64) -> SuccessFactors {
        SuccessFactors {
            available: self.available_on(nodes),
            executable: room,
            survives: self.survives_on(nodes, exposure),
        }
    }

    fn learned(&self) -> Option<&[NodeRates]> {
        match &self.reliability.nodes {
            NodeKnowledge::Learned { rates, .. } => rates.as_deref(),
            NodeKnowledge::Common => None,
        }
    }

    /// Mean time to repair, `1/μ`.
    #[must_use]
    pub fn mean_time_to_repair(&self) -> Seconds {
        Seconds::from_hours(1.0 / self.reliability.repair_rate_per_hour)
    }
}

impl SuccessFactors {
    /// The factors with a second run on disjoint nodes whose time is enough only where that of the
    /// first is (Birkenheuer 2012, §2.2.4): with F the probabilities of that and h those that all
    /// nodes of a run are up and stay up, `P = F₁h₁ + F₂h₂(1 − h₁)`. Availability becomes that of
    /// either set, survival what is left of the product.
    #[must_use]
    pub fn beside(&self, second: &Self) -> Self {
        let available = self.available + second.available * (1.0 - self.available);
        let both = self.pos() + second.pos() * (1.0 - self.available * self.survives);
        let rest = available * self.executable;
        Self {
            available,
            survives: if rest > 0.0 {
                (both / rest).min(1.0)
            } else {
                0.0
            },
            ..*self
        }
    }

    /// The factors of two runs on disjoint nodes in the same window (Birkenheuer 2012, §2.2.4).
    /// Only the nodes are independent: both runs need the same time, so `P = F · (1 − (1 − h)²)`
    /// with F the probability that the time is enough and h that one set of nodes is up and stays
    /// up. Availability becomes that of either set, survival what is left of the product.
    #[must_use]
    pub fn doubled(&self) -> Self {
        let either = |one: f64| one * (2.0 - one);
        let available = either(self.available);
        let survives = if available > 0.0 {
            either(self.available * self.survives) / available
        } else {
            0.0
        };
        Self {
            available,
            survives,
            ..*self
        }
    }
}

/// The rates of the nodes in a set.
fn of_nodes<'r>(
    rates: &'r [NodeRates],
    nodes: &'r NodeSet,
) -> impl Iterator<Item = NodeRates> + 'r {
    nodes
        .iter()
        .filter_map(|node| rates.get(node.0 as usize).copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::{LoadRule, RateFactors, SurvivalModel};
    use crate::scheduling::BelievedRate;
    use crate::units::NodeIndex;

    fn hardware(rates: &[(f64, f64)]) -> Hardware {
        let rates = rates.iter().map(|&(failure, repair)| NodeRates {
            failure_rate_per_hour: failure,
            repair_rate_per_hour: repair,
        });
        Hardware::new(Reliability {
            survival: SurvivalModel::Poisson {
                rate_per_hour: 0.01,
            },
            failure_rate_per_hour: 0.01,
            repair_rate_per_hour: 0.5,
            form: SurvivalForm::Survival,
            nodes: NodeKnowledge::Learned {
                prior_failures: 1.0,
                rates: Some(rates.collect()),
            },
            rate: BelievedRate::default(),
        })
    }

    fn set(nodes: &[u32]) -> NodeSet {
        let mut set = NodeSet::empty(Nodes(3));
        for &node in nodes {
            set.insert(NodeIndex(node));
        }
        set
    }

    #[test]
    fn nodes_count_with_the_rates_that_were_learned_of_them() {
        let hardware = hardware(&[(0.01, 0.5), (0.04, 0.25), (0.0, 1.0)]);
        let close = |one: f64, other: f64| (one - other).abs() < 1e-12;
        let hour = Seconds(3_600);
        assert!(close(hardware.available_on(&set(&[0])), 1.0 / 1.02));
        assert!(close(
            hardware.available_on(&set(&[0, 1])),
            1.0 / 1.02 / 1.16
        ));
        assert!(close(
            hardware.survives_on(&set(&[0, 1]), &Exposure::within(hour, hour * 3)),
            libm::exp(-0.1)
        ));
        assert!(close(
            hardware.survives_on(&set(&[2]), &Exposure::within(hour, hour * 100)),
            1.0
        ));
    }

    #[test]
    fn equal_nodes_are_as_the_common_rates() {
        let equal = hardware(&[(0.01, 0.5); 3]);
        let common = Hardware::new(Reliability {
            nodes: NodeKnowledge::Common,
            ..equal.reliability.clone()
        });
        let nodes = set(&[0, 2]);
        let (one, other) = (equal.available_on(&nodes), common.available_on(&nodes));
        assert!((one - other).abs() < 1e-12 && (other - common.available(Nodes(2))).abs() == 0.0);
        let span = Exposure::within(Seconds::ZERO, Seconds(7_777));
        let (one, other) = (
            equal.survives_on(&nodes, &span),
            common.survives_on(&nodes, &span),
        );
        assert!(
            (one - other).abs() < 1e-12 && (other - common.survives(Nodes(2), &span)).abs() == 0.0
        );
    }

    /// 64 nodes for 6 hours, at the rate of the thesis.
    fn survival(rate: BelievedRate, start_hours: i64) -> f64 {
        let hardware = Hardware::new(Reliability {
            rate,
            ..Reliability::default()
        });
        let start = Seconds::HOUR * start_hours;
        hardware.survives(
            Nodes(64),
            &Exposure::within(start, start + Seconds::HOUR * 6),
        )
    }

    #[test]
    fn a_full_machine_fails_twice_as_often_as_half_of_one_and_the_plan_says_how_full_it_is() {
        // Birkenheuer 2012, §3.3.1: γ = 1, ū = ½; 64 nodes, 6 h: exp(−64 · 2λ · 6) = 0.95166².
        let rule = LoadRule {
            factor: 1.0,
            mean: 0.5,
        };
        let hardware = |load| {
            Hardware::new(Reliability {
                rate: BelievedRate {
                    load,
                    ..BelievedRate::default()
                },
                ..Reliability::default()
            })
        };
        let span = (Seconds::ZERO, Seconds::HOUR * 6);
        let by_load = hardware(Some(rule));
        let at = |load| by_load.survives(Nodes(64), &by_load.exposure(span, || load));
        let constant = hardware(None);
        let exposure = constant.exposure(span, || unreachable!("nobody asks for it"));
        let constant = constant.survives(Nodes(64), &exposure);
        assert!(
            (at(1.0) - constant * constant).abs() < 1e-12 && (at(0.5) - constant).abs() < 1e-12
        );
        assert_eq!(at(0.0), 1.0);
        // Four of eight nodes for the first half: with two nodes more half of them on the average.
        let mut profile = crate::plan::Profile::new(8, Seconds::ZERO);
        profile.reserve(Seconds(0), Seconds(50), 4);
        let load = |from, to, more| profile.load(Seconds(from), Seconds(to), Nodes(8), Nodes(more));
        assert_eq!(
            (load(0, 100, 2), load(0, 50, 4), load(50, 50, 0)),
            (0.5, 1.0, 0.0)
        );
    }

    #[test]
    fn a_job_by_day_fails_more_than_one_by_night_as_the_believed_factors_say() {
        let mut hour_factors = vec![0.48; 24];
        hour_factors[8..20].fill(1.44);
        hour_factors[20..].fill(0.72);
        let of_day = |offset| BelievedRate {
            factors: RateFactors {
                hour_factors: hour_factors.clone(),
                ..RateFactors::default()
            },
            offset: Seconds::HOUR * offset,
            load: None,
        };
        let close = |one: f64, other: f64| (one - other).abs() < 5e-6;
        assert!(close(survival(of_day(0), 8), 0.931_13));
        assert!(close(survival(of_day(0), 22), 0.972_63));
        assert!(close(survival(BelievedRate::default(), 8), 0.951_66));
        // A simulation that starts at 8 h of the failure clock.
        assert_eq!(survival(of_day(8), 0), survival(of_day(0), 8));
        assert_eq!(survival(of_day(-2), 10), survival(of_day(0), 8));
    }
}
