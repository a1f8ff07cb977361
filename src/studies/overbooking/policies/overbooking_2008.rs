//! The search of the 2008 algorithm: conservative backfilling with shortened durations (Birkenheuer
//! 2008, §3.1).
//!
//! Pure: its input is anchor points, its output a placement. The policy that owns the plan finds
//! the anchors and enters the placement. A job is tried at full length, then shortened, then
//! shortened and on top of its direct predecessors, at one anchor after the other.
//!
//! # Rounding
//!
//! The paper calculates in real numbers, bookahead in whole seconds. The shortened duration
//! `d' = d / (1 + maxPoF)` is rounded up, so the time that may be cut, `o = d − d'`, is rounded
//! down. Neither ever promises more than the formula.
//!
//! # Where the paper is silent
//!
//! * A slot is also cut at the job's own deadline, which the paper tests but forgets when it takes
//!   "the whole slot".
//! * All direct predecessors that the caller names must be overbookable. A fixed one, or one that
//!   cannot be cut, holds nodes that the job needs, so the job cannot start before its end.
//! * only predecessors that end exactly at the anchor are looked at, not their predecessors.
//! * the moved start never lies before the job's release.

use bookahead_core::units::{Nodes, Seconds};

/// A time at which nodes become free: a candidate start in the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorPoint {
    /// `t_s`: when the nodes become free.
    pub start: Seconds,
    /// How many nodes are free at `start`.
    pub free: Nodes,
    /// `t_endslot`: until when as many nodes as the job needs stay free.
    pub slot_end: Seconds,
    /// The direct predecessors that end exactly at `start` on nodes which the job would take.
    pub predecessors: Vec<AnchorPredecessor>,
}

/// A planned or running job that ends where the slot begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorPredecessor {
    /// `o_k`: what may be cut of its duration; 0 if it is not promising.
    pub overbookable: Seconds,
    /// It is a fixed reservation: no job may be placed on top of it.
    pub fixed: bool,
}

/// A job as the search sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShorteningRequest {
    /// `d`: the estimated duration.
    pub estimate: Seconds,
    /// Nodes needed.
    pub nodes: Nodes,
    /// `t_start`: the earliest permitted start.
    pub release: Seconds,
    /// `t_end`: the latest permitted end.
    pub deadline: Seconds,
    /// A fixed reservation is never shortened nor moved.
    pub fixed: bool,
    /// The statistics say that the estimate is longer than needed, see [`is_promising`].
    pub promising: bool,
}

/// Where a job goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortenedPlacement {
    /// Index of the anchor that was taken.
    pub anchor: usize,
    /// Nominal start: the anchor, or before it on top of the predecessors. These keep their own
    /// reservations: if one still runs, the job starts when it has ended.
    pub start: Seconds,
    /// End of the reservation: the start plus the estimate, or the end of the slot or of the job's
    /// window before that.
    pub end: Seconds,
    /// Which of the three attempts succeeded.
    pub kind: PlacementKind,
}

/// The three ways to place a job at an anchor (Birkenheuer 2008, §3.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlacementKind {
    /// (a) With its full estimate; not overbooked.
    FullLength,
    /// (b) Shortened, from the anchor on.
    Shortened,
    /// (c) Shortened, and starting before the anchor on top of its predecessors.
    OnPredecessors,
}

impl PlacementKind {
    /// Whether the job is overbooked.
    #[must_use]
    pub fn is_overbooked(self) -> bool {
        self != Self::FullLength
    }
}

/// `d' = d / (1 + maxPoF)`, rounded up to whole seconds, at most `d` (Birkenheuer 2008, §3.1.2).
///
/// With a uniform ratio distribution the chance to need more is maxPoF / (1 + maxPoF), a little
/// less than maxPoF.
#[must_use]
pub fn shortened_duration(estimate: Seconds, max_pof: f64) -> Seconds {
    let exact = estimate.0 as f64 / (1.0 + max_pof.max(0.0));
    // A quotient that is whole but for the rounding of the division stays whole.
    let seconds = libm::ceil(exact - 1e-6) as i64;
    Seconds(seconds.min(estimate.0))
}

/// a job is promising for overbooking if the mean ratio of runtime to estimate in its class
/// is below 1 / (1 + maxPoF), so that the average job of the class fits into the shortened
/// duration.
#[must_use]
pub fn is_promising(mean_ratio: f64, max_pof: f64) -> bool {
    mean_ratio < 1.0 / (1.0 + max_pof.max(0.0))
}

/// Searches the anchors, which must ascend in time, for the first place of a job; `None` rejects it
/// (Birkenheuer 2008, §3.1.2).
///
/// Anchors before the job's release or with too few free nodes are passed over; the release itself
/// should be among them if enough nodes are free then.
#[must_use]
pub fn place_shortened(
    anchors: &[AnchorPoint],
    job: &ShorteningRequest,
    max_pof: f64,
) -> Option<ShortenedPlacement> {
    let may_shorten = job.promising && !job.fixed;
    let duration = job.estimate;
    let shortened = if may_shorten {
        shortened_duration(duration, max_pof)
    } else {
        duration
    };
    let candidates = anchors.iter().enumerate();
    candidates
        .filter(|(_, anchor)| anchor.start >= job.release && anchor.free >= job.nodes)
        .find_map(|(index, anchor)| {
            let latest = anchor.slot_end.min(job.deadline);
            let place = |start: Seconds, kind| {
                Some(ShortenedPlacement {
                    anchor: index,
                    start,
                    end: latest.min(start + duration),
                    kind,
                })
            };
            if anchor.start + duration <= latest {
                return place(anchor.start, PlacementKind::FullLength);
            }
            if !may_shorten {
                return None;
            }
            if anchor.start + shortened <= latest {
                return place(anchor.start, PlacementKind::Shortened);
            }
            let start = anchor.start - time_on_predecessors(anchor, job.release);
            if start < anchor.start && start + shortened <= latest {
                return place(start, PlacementKind::OnPredecessors);
            }
            None
        })
}

/// `a`: how much earlier than the anchor a job may start, 0 if it may not.
fn time_on_predecessors(anchor: &AnchorPoint, release: Seconds) -> Seconds {
    let each = anchor.predecessors.iter().map(|predecessor| {
        if predecessor.fixed {
            Seconds::ZERO
        } else {
            predecessor.overbookable
        }
    });
    each.min()
        .unwrap_or(Seconds::ZERO)
        .clamp(Seconds::ZERO, (anchor.start - release).max(Seconds::ZERO))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `o = d − d'`, what may be cut of a promising job's estimate, rounded down to whole seconds
    /// (Birkenheuer 2008, §3.1.2).
    fn overbookable_time(estimate: Seconds, max_pof: f64) -> Seconds {
        estimate - shortened_duration(estimate, max_pof)
    }

    const MAX_POF: f64 = 0.13;

    /// The gap of the worked example of Birkenheuer 2008, §3.1.4, in units of `minute` from
    /// midnight: 03:00 to 07:00 after a job of 6 h. The paper rounds to minutes; with a `minute` of
    /// 1 its whole minutes come out, with 60 the seconds that bookahead calculates in.
    fn gap(minute: i64, overbookable: i64, fixed: bool) -> AnchorPoint {
        AnchorPoint {
            start: Seconds(180 * minute),
            free: Nodes(32),
            slot_end: Seconds(420 * minute),
            predecessors: vec![AnchorPredecessor {
                overbookable: Seconds(overbookable),
                fixed,
            }],
        }
    }

    /// The job of the worked example: 5 h on all nodes within two days.
    fn job(minute: i64) -> ShorteningRequest {
        ShorteningRequest {
            estimate: Seconds(300 * minute),
            nodes: Nodes(32),
            release: Seconds(0),
            deadline: Seconds(2 * 1_440 * minute),
            fixed: false,
            promising: true,
        }
    }

    #[test]
    fn the_shortened_durations_are_those_of_section_15_1() {
        // 300 min / 1.13 = 265.48672566 min = 15,929.2 s; 360 − 360 / 1.13 = 41.4159292 min =
        // 2,484.96 s.
        assert_eq!(
            shortened_duration(Seconds(18_000), MAX_POF),
            Seconds(15_930)
        );
        assert_eq!(overbookable_time(Seconds(18_000), MAX_POF), Seconds(2_070));
        assert_eq!(overbookable_time(Seconds(21_600), MAX_POF), Seconds(2_484));
        // In whole minutes as the paper has them: 266 min and 34 min; 41 min for the predecessor.
        assert_eq!(shortened_duration(Seconds(300), MAX_POF), Seconds(266));
        assert_eq!(overbookable_time(Seconds(300), MAX_POF), Seconds(34));
        assert_eq!(overbookable_time(Seconds(360), MAX_POF), Seconds(41));
    }

    #[test]
    fn with_a_max_pof_of_zero_nothing_is_cut() {
        // maxPoF = 0 → d' = d.
        assert_eq!(shortened_duration(Seconds(300), 0.0), Seconds(300));
        assert_eq!(place_shortened(&[gap(1, 34, false)], &job(1), 0.0), None);
    }

    #[test]
    fn whole_quotients_are_not_rounded_up() {
        for (estimate, max_pof, expected) in
            [(330, 0.1, 300), (7_200, 0.2, 6_000), (1_100, 0.1, 1_000)]
        {
            assert_eq!(
                shortened_duration(Seconds(estimate), max_pof),
                Seconds(expected)
            );
        }
    }

    #[test]
    fn the_worked_example_is_accepted_with_the_papers_slack_of_34_minutes() {
        // As the paper calculates: (a) 180 + 300 > 420, (b) 180 + 266 > 420, (c) 146 + 266 = 412 ≤
        // 420. The stored duration follows the algorithm's text: 420 − 146 = 274 min.
        let placement = place_shortened(&[gap(1, 34, false)], &job(1), MAX_POF).unwrap();
        let expected = ShortenedPlacement {
            anchor: 0,
            start: Seconds(146),
            end: Seconds(420),
            kind: PlacementKind::OnPredecessors,
        };
        assert_eq!(placement, expected);
        assert_eq!(placement.end - placement.start, Seconds(274));
    }

    #[test]
    fn the_worked_example_is_accepted_with_the_slack_of_the_formula() {
        // By the formula: a = 41.416 min = 2,484 s rounded down, start 138.6 min = 8,316 s.
        let slack = overbookable_time(Seconds(21_600), MAX_POF);
        let placement = place_shortened(&[gap(60, slack.0, false)], &job(60), MAX_POF).unwrap();
        assert_eq!(placement.start, Seconds(8_316));
        // 138.584 min to the second above, and d' = 265.487 min ends at 404.1 min, before the slot
        // does.
        assert!((placement.start.0 as f64 / 60.0 - 138.584).abs() < 1.0 / 60.0);
        let ends = placement.start + shortened_duration(Seconds(18_000), MAX_POF);
        assert!((ends.0 as f64 / 60.0 - 404.071).abs() < 2.0 / 60.0);
        assert_eq!(placement.end, Seconds(25_200));
        assert_eq!(placement.kind, PlacementKind::OnPredecessors);
    }

    #[test]
    fn fixed_jobs_and_fixed_predecessors_are_not_overbooked() {
        // If the predecessor or the job is fixed, the job is rejected.
        assert_eq!(place_shortened(&[gap(1, 34, true)], &job(1), MAX_POF), None);
        let fixed = ShorteningRequest {
            fixed: true,
            ..job(1)
        };
        assert_eq!(place_shortened(&[gap(1, 34, false)], &fixed, MAX_POF), None);
        let accurate = ShorteningRequest {
            promising: false,
            ..job(1)
        };
        assert_eq!(
            place_shortened(&[gap(1, 34, false)], &accurate, MAX_POF),
            None
        );
        let mut second_is_fixed = gap(1, 34, false);
        second_is_fixed.predecessors.push(AnchorPredecessor {
            overbookable: Seconds(50),
            fixed: true,
        });
        assert_eq!(place_shortened(&[second_is_fixed], &job(1), MAX_POF), None);
        let mut nobody = gap(1, 34, false);
        nobody.predecessors.clear();
        assert_eq!(place_shortened(&[nobody], &job(1), MAX_POF), None);
    }

    #[test]
    fn the_smallest_slack_of_the_predecessors_counts() {
        let mut two = gap(1, 41, false);
        two.predecessors.push(AnchorPredecessor {
            overbookable: Seconds(26),
            fixed: false,
        });
        // 180 − 26 + 266 = 420: just fits; with 25 it does not.
        assert_eq!(
            place_shortened(&[two.clone()], &job(1), MAX_POF)
                .unwrap()
                .start,
            Seconds(154)
        );
        two.predecessors[1].overbookable = Seconds(25);
        assert_eq!(place_shortened(&[two], &job(1), MAX_POF), None);
    }

    #[test]
    fn a_moved_start_respects_the_release() {
        // released at 150, so a = 30 and the job ends at 150 + 266 = 416; released at 160 it
        // would end at 426.
        let released = |release| ShorteningRequest {
            release: Seconds(release),
            ..job(1)
        };
        let placement = place_shortened(&[gap(1, 34, false)], &released(150), MAX_POF).unwrap();
        assert_eq!(
            (placement.start, placement.end),
            (Seconds(150), Seconds(420))
        );
        assert_eq!(
            place_shortened(&[gap(1, 34, false)], &released(160), MAX_POF),
            None
        );
        assert_eq!(
            place_shortened(&[gap(1, 34, false)], &released(181), MAX_POF),
            None
        );
    }

    #[test]
    fn a_shortened_job_takes_the_whole_slot_up_to_its_estimate_and_its_deadline() {
        let slot = |start, end| AnchorPoint {
            start: Seconds(start),
            free: Nodes(32),
            slot_end: Seconds(end),
            predecessors: Vec::new(),
        };
        let shortened = place_shortened(&[slot(0, 270)], &job(1), MAX_POF).unwrap();
        assert_eq!(
            (shortened.end, shortened.kind),
            (Seconds(270), PlacementKind::Shortened)
        );
        let urgent = ShorteningRequest {
            deadline: Seconds(280),
            ..job(1)
        };
        let cut = place_shortened(&[slot(0, 1_000)], &urgent, MAX_POF).unwrap();
        assert_eq!(
            (cut.end, cut.kind),
            (Seconds(280), PlacementKind::Shortened)
        );
        let full = place_shortened(&[slot(0, 300)], &job(1), MAX_POF).unwrap();
        assert_eq!(
            (full.end, full.kind),
            (Seconds(300), PlacementKind::FullLength)
        );
        assert!(!full.kind.is_overbooked() && cut.kind.is_overbooked());
    }

    #[test]
    fn the_first_anchor_that_fits_in_any_way_is_taken() {
        let narrow = AnchorPoint {
            free: Nodes(31),
            slot_end: Seconds(9_999),
            ..gap(1, 0, false)
        };
        let late = AnchorPoint {
            start: Seconds(500),
            slot_end: Seconds(9_999),
            ..gap(1, 0, false)
        };
        let anchors = [narrow, gap(1, 34, false), late];
        assert_eq!(
            place_shortened(&anchors, &job(1), MAX_POF).unwrap().anchor,
            1
        );
        let accurate = ShorteningRequest {
            promising: false,
            ..job(1)
        };
        assert_eq!(
            place_shortened(&anchors, &accurate, MAX_POF)
                .unwrap()
                .anchor,
            2
        );
    }

    #[test]
    fn promising_means_that_the_average_job_fits_into_the_cut() {
        // 1 / 1.13 = 0.885.
        assert!(is_promising(0.6, MAX_POF));
        assert!(!is_promising(0.9, MAX_POF));
        assert!(!is_promising(1.0, 0.0));
    }

    proptest! {
        #[test]
        fn a_placement_keeps_its_window_and_at_least_the_shortened_duration(
            drawn in prop::collection::vec(
                (0_i64..500, 0_u32..8, 0_i64..500, prop::option::of((0_i64..100, any::<bool>()))), 0..12,
            ),
            estimate in 1_i64..400, release in 0_i64..300, window in 1_i64..900, nodes in 1_u32..8,
            fixed in any::<bool>(), promising in any::<bool>(), max_pof in 0.0_f64..1.0,
        ) {
            let mut anchors: Vec<AnchorPoint> = drawn.into_iter().map(|(start, free, length, predecessor)| AnchorPoint {
                start: Seconds(start),
                free: Nodes(free),
                slot_end: Seconds(start + length),
                predecessors: predecessor
                    .map(|(slack, fixed)| AnchorPredecessor { overbookable: Seconds(slack), fixed })
                    .into_iter()
                    .collect(),
            }).collect();
            anchors.sort_by_key(|anchor| anchor.start);
            let job = ShorteningRequest {
                estimate: Seconds(estimate),
                nodes: Nodes(nodes),
                release: Seconds(release),
                deadline: Seconds(release + window),
                fixed,
                promising,
            };
            if let Some(placement) = place_shortened(&anchors, &job, max_pof) {
                let anchor = &anchors[placement.anchor];
                let length = placement.end - placement.start;
                prop_assert!(placement.start >= job.release && placement.end <= job.deadline);
                prop_assert!(placement.end <= anchor.slot_end && anchor.free >= job.nodes);
                prop_assert!(length >= shortened_duration(job.estimate, max_pof) && length <= job.estimate);
                match placement.kind {
                    PlacementKind::FullLength => prop_assert_eq!(length, job.estimate),
                    PlacementKind::Shortened => prop_assert_eq!(placement.start, anchor.start),
                    PlacementKind::OnPredecessors => {
                        prop_assert!(placement.start < anchor.start);
                        let moved = anchor.start - placement.start;
                        for predecessor in &anchor.predecessors {
                            prop_assert!(!predecessor.fixed && moved <= predecessor.overbookable);
                        }
                    }
                }
                prop_assert!(!placement.kind.is_overbooked() || (promising && !fixed));
            }
        }
    }
}
