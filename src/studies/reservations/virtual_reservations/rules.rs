//! Virtual advance reservations, and their combination with real ones (Singh 2008, chapter 6).
//!
//! A *virtual reservation* (VAR) is an ordinary queued job. It is submitted early and padded, so
//! that it still runs at the end of the wanted time wherever before the wanted start it begins. It
//! may start too late, and it wastes the nodes until the wanted start. A real reservation (AR) is
//! certain, but has a price. All functions here are pure. Costs leave out the base charge n·D,
//! which every scheme pays (Singh 2008, §6.1.1).

use serde::{Deserialize, Serialize};

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

/// The published step between the submission times that are tried: 30 s (Singh 2008, Figure 33).
pub const SUBMISSION_STEP: Seconds = Seconds(30);

/// The best submission of a virtual reservation (Singh 2008, Figure 33).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct VirtualSubmission {
    /// T1, the submission time of the padded job.
    pub submit: Seconds,
    /// The runtime that it requests.
    pub runtime: Seconds,
    /// The predicted probability that it starts by the wanted start; above 0.
    pub probability: f64,
}

/// When the runtime of a virtual reservation is padded (AMB-27).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Padding {
    /// For each submission time t, to D + (S − t), as in both worked examples.
    #[default]
    EachSubmission,
    /// Once, to D + (S − now), as in the printed listing.
    Once,
}

/// ALG-5: the submission time from which a job most probably starts by `wanted_start` (Singh 2008,
/// Figure 33).
///
/// Tries `now`, `now + step`, … before `wanted_start` (S). `predict` gets the padded runtime and
/// the time from the submission to S. It returns the probability that a job with this runtime
/// starts within this time. Only a strictly greater probability replaces an earlier one, so the
/// earliest maximum wins. What a site refuses or ends is expressed by lower
/// probabilities. A step below one second counts as one second.
///
/// `None` if no submission has a probability above 0, as when `now` is not before `wanted_start`.
pub fn submission_time(
    now: Seconds,
    wanted_start: Seconds,
    duration: Seconds,
    step: Seconds,
    padding: Padding,
    mut predict: impl FnMut(Seconds, Seconds) -> f64,
) -> Option<VirtualSubmission> {
    let mut best: Option<VirtualSubmission> = None;
    let mut submit = now;
    while submit < wanted_start {
        let lead = wanted_start - submit;
        let runtime = match padding {
            Padding::EachSubmission => duration + lead,
            Padding::Once => duration + (wanted_start - now),
        };
        let probability = predict(runtime, lead);
        if probability > best.map_or(0.0, |found| found.probability) {
            best = Some(VirtualSubmission {
                submit,
                runtime,
                probability,
            });
        }
        submit += step.max(Seconds(1));
    }
    best
}

/// The extra cost of a virtual reservation, (S − T2)·n: its nodes idle from its actual start T2
/// until S (Singh 2008, §6.1.1). `None` if it failed, that is, if it did not start by S.
#[must_use]
pub fn virtual_cost(
    wanted_start: Seconds,
    actual_start: Option<Seconds>,
    nodes: Nodes,
) -> Option<NodeSeconds> {
    let idle = wanted_start - actual_start?;
    (idle >= Seconds::ZERO).then(|| nodes.for_span(idle))
}

/// The highest possible cost of a virtual reservation, (S − T1)·n, where T1 is its submission, or
/// the present time before that is chosen (Singh 2008, §6.1.1).
#[must_use]
pub fn virtual_cost_bound(wanted_start: Seconds, submit: Seconds, nodes: Nodes) -> NodeSeconds {
    nodes.for_span(wanted_start - submit)
}

/// An extra cost as a share of the base charge n·D, which must be above 0 (Singh 2008, eq. 22).
#[must_use]
pub fn normalised_cost(extra: NodeSeconds, nodes: Nodes, duration: Seconds) -> f64 {
    extra.0 as f64 / nodes.for_span(duration).0 as f64
}

/// p·f, the penalty for cancelling a reservation of price f (Singh 2008, eq. 23), rounded to the
/// nearest node-second, so that costs can be compared and added up exactly. The factor is at least
/// 0.
#[must_use]
pub fn cancellation_penalty(price: NodeSeconds, penalty_factor: f64) -> NodeSeconds {
    NodeSeconds((price.0 as f64 * penalty_factor).round() as i64)
}

/// ALG-6: decides whether a reservation or a virtual one is kept in the end (Singh 2008, Figure
/// 45).
///
/// `price` is f, the extra price of the reservation, or `None` if it is refused (f = ∞). `premium`
/// is (c − 1) · n · D, what it costs beyond best effort beside f; who cancels does not pay it.
/// `penalty_factor` is p ≥ 0 and `wanted_start` is S. `virtual_start` is T2, the start of the
/// virtual reservation, or `None` if it never starts or was never submitted; a start after S counts
/// as none. A reservation without a price is taken at once. Otherwise it is kept as a safety net,
/// and cancelled for a virtual one in time if (S − T2)·n + p·f ≤ f + premium, equality included
/// (AMB-28). If
/// only one of the two exists, that one is used at its own cost (AMB-29b).
#[must_use]
pub fn combine(
    price: Option<NodeSeconds>,
    premium: NodeSeconds,
    penalty_factor: f64,
    nodes: Nodes,
    wanted_start: Seconds,
    virtual_start: Option<Seconds>,
) -> CombinedOutcome {
    let reservation = |price| CombinedOutcome {
        scheme: CombinedScheme::Reservation,
        extra_cost: Some(price),
    };
    let virtual_one = |cost| CombinedOutcome {
        scheme: CombinedScheme::Virtual,
        extra_cost: Some(cost),
    };
    let idle = virtual_cost(wanted_start, virtual_start, nodes);
    match (price.map(|price| (price, price + premium)), idle) {
        (Some((_, whole)), _) if whole <= NodeSeconds::default() => reservation(whole),
        (Some((_, whole)), None) => reservation(whole),
        (Some((price, whole)), Some(idle)) => {
            let kept = idle + cancellation_penalty(price, penalty_factor);
            if kept <= whole {
                virtual_one(kept)
            } else {
                reservation(whole)
            }
        }
        (None, Some(idle)) => virtual_one(idle),
        (None, None) => CombinedOutcome {
            scheme: CombinedScheme::Neither,
            extra_cost: None,
        },
    }
}

/// The outcome of a request under [`combine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CombinedOutcome {
    /// The scheme that was used.
    pub scheme: CombinedScheme,
    /// Its cost beyond the base charge, including the penalty for a cancelled reservation; `None`
    /// if the request failed.
    pub extra_cost: Option<NodeSeconds>,
}

impl CombinedOutcome {
    /// Whether the nodes were available at the wanted start.
    #[must_use]
    pub fn success(&self) -> bool {
        self.scheme != CombinedScheme::Neither
    }
}

/// The scheme that a request used in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CombinedScheme {
    /// The reservation, at its price.
    Reservation,
    /// The padded job; a reservation that was held beside it has been cancelled.
    Virtual,
    /// Nothing: the reservation was refused and the padded job did not start in time.
    Neither,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MINUTE: Seconds = Seconds(60);
    const NOTHING: NodeSeconds = NodeSeconds(0);

    fn node_hours(hours: f64) -> NodeSeconds {
        NodeSeconds((hours * 3_600.0).round() as i64)
    }

    /// A predictor whose best submission is the printed one of Singh 2008, §6.1 (0.772 at minute
    /// 110), by the x minutes until the wanted start.
    fn stub(_: Seconds, lead: Seconds) -> f64 {
        let minutes = lead.0 as f64 / 60.0;
        (0.772 * minutes * (260.0 - minutes) / (130.0 * 130.0)).max(0.0)
    }

    #[test]
    fn section_12_7_submits_at_110_minutes_with_a_runtime_of_190() {
        let start = MINUTE * 240;
        let found = submission_time(
            Seconds::ZERO,
            start,
            Seconds::HOUR,
            SUBMISSION_STEP,
            Padding::EachSubmission,
            stub,
        );
        let found = found.unwrap();
        assert_eq!((found.submit, found.runtime), (MINUTE * 110, MINUTE * 190));
        assert!((found.probability - 0.772).abs() < 1e-12);
    }

    #[test]
    fn section_7_2_submits_the_4_hour_job_at_once_with_a_runtime_of_480_minutes() {
        // The longer before the start it is submitted, the likelier: 0.747 four hours before.
        let predict = |_, lead: Seconds| 0.747 * lead.hours() / 4.0;
        let (now, duration) = (Seconds::HOUR * 9, Seconds::HOUR * 4);
        let found = submission_time(
            now,
            now + MINUTE * 240,
            duration,
            SUBMISSION_STEP,
            Padding::EachSubmission,
            predict,
        );
        let expected = VirtualSubmission {
            submit: now,
            runtime: MINUTE * 480,
            probability: 0.747,
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn the_listings_padding_asks_for_the_same_runtime_at_every_instant() {
        let start = MINUTE * 240;
        let mut asked = Vec::new();
        let found = submission_time(
            Seconds::ZERO,
            start,
            Seconds::HOUR,
            SUBMISSION_STEP,
            Padding::Once,
            |runtime, lead| {
                asked.push((runtime, lead));
                stub(runtime, lead)
            },
        );
        assert_eq!(asked.len(), 480);
        assert!(asked.iter().all(|&(runtime, _)| runtime == MINUTE * 300));
        assert_eq!(asked[479].1, SUBMISSION_STEP);
        assert_eq!(found.unwrap().runtime, MINUTE * 300);
    }

    /// c = 1.5 for 32 nodes and an hour are 16 SU beyond best effort, which who cancels keeps.
    #[test]
    fn a_dearer_node_hour_makes_the_virtual_reservation_win_later() {
        let start = Seconds::HOUR * 8;
        for (hours, scheme, extra) in [
            (0.4, CombinedScheme::Virtual, 32.0 * 0.4 + 0.4),
            (0.7, CombinedScheme::Reservation, 20.0),
        ] {
            let began = start - Seconds::from_hours(hours);
            let (price, premium) = (Some(node_hours(4.0)), node_hours(16.0));
            let outcome = combine(price, premium, 0.1, Nodes(32), start, Some(began));
            assert_eq!(
                (outcome.scheme, outcome.extra_cost),
                (scheme, Some(node_hours(extra)))
            );
        }
        // A reservation without a delay is not free any more.
        let outcome = combine(
            Some(NOTHING),
            node_hours(16.0),
            0.1,
            Nodes(32),
            start,
            Some(start),
        );
        assert_eq!(outcome.extra_cost, Some(NOTHING));
        assert_eq!(outcome.scheme, CombinedScheme::Virtual);
    }

    #[test]
    fn the_earliest_of_equal_maxima_wins() {
        let flat = |_, lead: Seconds| if lead <= MINUTE * 30 { 0.5 } else { 0.25 };
        let found = submission_time(
            Seconds::ZERO,
            Seconds::HOUR,
            Seconds::HOUR,
            MINUTE,
            Padding::EachSubmission,
            flat,
        );
        assert_eq!(found.unwrap().submit, MINUTE * 30);
    }

    #[test]
    fn without_a_chance_or_without_time_nothing_is_submitted() {
        let search = |start, chance: f64| {
            submission_time(
                Seconds::HOUR,
                start,
                Seconds::HOUR,
                Seconds::ZERO,
                Padding::EachSubmission,
                |_, _| chance,
            )
        };
        assert_eq!(search(Seconds::HOUR + MINUTE, 0.0), None);
        assert_eq!(search(Seconds::HOUR + MINUTE, f64::NAN), None);
        assert_eq!(search(Seconds::HOUR, 1.0), None);
        assert!(search(Seconds::HOUR + MINUTE, 0.1).is_some());
    }

    #[test]
    fn section_12_7_decides_between_the_virtual_and_the_real_reservation() {
        let start = Seconds::HOUR * 8;
        let nodes = Nodes(32);
        for (lead, scheme, extra, normalised) in [
            (Some(0.0), CombinedScheme::Virtual, 6.4, 0.2),
            (Some(1.0), CombinedScheme::Virtual, 38.4, 1.2),
            (Some(1.8), CombinedScheme::Virtual, 64.0, 2.0),
            (Some(2.0), CombinedScheme::Reservation, 64.0, 2.0),
            (None, CombinedScheme::Reservation, 64.0, 2.0),
        ] {
            let virtual_start = lead.map(|hours| start - Seconds::from_hours(hours));
            let outcome = combine(
                Some(node_hours(64.0)),
                NOTHING,
                0.1,
                nodes,
                start,
                virtual_start,
            );
            assert_eq!(outcome.scheme, scheme, "lead {lead:?}");
            assert!(outcome.success());
            assert_eq!(outcome.extra_cost, Some(node_hours(extra)));
            let cost = outcome.extra_cost.unwrap();
            assert_eq!(normalised_cost(cost, nodes, Seconds::HOUR), normalised);
        }
    }

    #[test]
    fn a_free_reservation_is_taken_whatever_the_queue_does() {
        let start = Seconds::HOUR;
        let outcome = combine(
            Some(NodeSeconds(0)),
            NOTHING,
            0.1,
            Nodes(4),
            start,
            Some(start),
        );
        assert_eq!(outcome.scheme, CombinedScheme::Reservation);
        assert_eq!(outcome.extra_cost, Some(NodeSeconds(0)));
    }

    #[test]
    fn where_only_one_of_both_exists_it_is_used_at_its_own_cost() {
        let start = Seconds::HOUR;
        let alone = combine(None, NOTHING, 0.1, Nodes(4), start, Some(start - MINUTE));
        assert_eq!(alone.scheme, CombinedScheme::Virtual);
        assert_eq!(alone.extra_cost, Some(NodeSeconds(240)));
        let late = combine(
            Some(NodeSeconds(7)),
            NOTHING,
            0.1,
            Nodes(4),
            start,
            Some(start + MINUTE),
        );
        assert_eq!(late.scheme, CombinedScheme::Reservation);
        assert_eq!(late.extra_cost, Some(NodeSeconds(7)));
        let neither = combine(None, NOTHING, 0.1, Nodes(4), start, Some(start + MINUTE));
        assert_eq!(neither.scheme, CombinedScheme::Neither);
        assert_eq!((neither.extra_cost, neither.success()), (None, false));
    }

    #[test]
    fn section_11_4_bounds_of_normalised_costs() {
        for (duration, lead, bound) in [
            (1, 1, 1.0),
            (1, 4, 4.0),
            (1, 8, 8.0),
            (4, 1, 0.25),
            (4, 4, 1.0),
            (4, 8, 2.0),
        ] {
            for nodes in [Nodes(32), Nodes(64)] {
                let most = virtual_cost_bound(Seconds::HOUR * lead, Seconds::ZERO, nodes);
                assert_eq!(
                    normalised_cost(most, nodes, Seconds::HOUR * duration),
                    bound
                );
            }
        }
    }

    proptest! {
        #[test]
        fn a_virtual_reservation_costs_no_more_than_its_nodes_since_submission(
            now in 0_i64..1_000_000, lead in 1_i64..40_000, into in 0_i64..40_000, wait in 0_i64..40_000, nodes in 1_u32..500,
        ) {
            let (start, submit) = (Seconds(now + lead), Seconds(now + into % lead));
            let began = submit + Seconds(wait);
            let cost = virtual_cost(start, Some(began), Nodes(nodes));
            prop_assert_eq!(cost.is_some(), began <= start);
            let bound = virtual_cost_bound(start, submit, Nodes(nodes));
            prop_assert!(cost.is_none_or(|cost| NodeSeconds(0) <= cost && cost <= bound));
            prop_assert!(bound <= virtual_cost_bound(start, Seconds(now), Nodes(nodes)));
        }

        #[test]
        fn combining_costs_no_more_than_the_reservation_and_fails_only_if_both_do(
            price in prop::option::of(prop_oneof![Just(0), 0_i64..10_000_000]), factor in 0.0_f64..1.5,
            premium in prop_oneof![Just(0), 0_i64..10_000_000],
            nodes in 1_u32..500, lead in prop::option::of(-5_000_i64..30_000),
        ) {
            let start = Seconds(1_000_000);
            let began = lead.map(|lead| start - Seconds(lead));
            let (price, premium) = (price.map(NodeSeconds), NodeSeconds(premium));
            let whole = price.map(|price| price + premium);
            let outcome = combine(price, premium, factor, Nodes(nodes), start, began);
            if price.is_some() {
                prop_assert!(outcome.extra_cost <= whole);
            }
            let alone = virtual_cost(start, began, Nodes(nodes));
            prop_assert_eq!(outcome.success(), price.is_some() || alone.is_some());
            prop_assert_eq!(outcome.success(), outcome.extra_cost.is_some());
            match outcome.scheme {
                CombinedScheme::Reservation => prop_assert_eq!(outcome.extra_cost, whole),
                CombinedScheme::Virtual => prop_assert!(outcome.extra_cost >= alone),
                CombinedScheme::Neither => prop_assert_eq!((price, alone), (None, None)),
            }
        }

        #[test]
        fn the_submission_time_is_that_of_an_exhaustive_search(
            lead in 0_i64..4_000, step in 1_i64..400, chances in prop::collection::vec(0_u8..4, 1..50),
        ) {
            let (now, duration) = (Seconds(77), Seconds(600));
            let chance = |lead: Seconds| f64::from(chances[lead.0 as usize % chances.len()]) / 4.0;
            let found = submission_time(
                now, now + Seconds(lead), duration, Seconds(step), Padding::EachSubmission, |_, lead| chance(lead),
            );
            let tried: Vec<Seconds> = (0..lead).step_by(step as usize).map(Seconds).collect();
            let most = tried.iter().map(|&passed| chance(Seconds(lead) - passed)).fold(0.0, f64::max);
            let first = tried.iter().find(|&&passed| most > 0.0 && chance(Seconds(lead) - passed) == most);
            let expected = first.map(|&passed| VirtualSubmission {
                submit: now + passed, runtime: duration + Seconds(lead) - passed, probability: most,
            });
            prop_assert_eq!(found, expected);
        }
    }
}
