//! Packings by hand, and what holds of every packing.

use bookahead_core::scheduling::Verdict;
use bookahead_core::workload::JobId;
use proptest::prelude::*;

use super::*;

const ALL: [PackingAlgorithm; 9] = [
    PackingAlgorithm::NextFitDecreasingHeight,
    PackingAlgorithm::FirstFitDecreasingHeight,
    PackingAlgorithm::BestFitDecreasingHeight,
    PackingAlgorithm::NextFitShelf,
    PackingAlgorithm::FirstFitShelf,
    PackingAlgorithm::Split,
    PackingAlgorithm::Hybrid,
    PackingAlgorithm::BottomLeft,
    PackingAlgorithm::EarliestStart,
];

/// Seven jobs on four nodes, A to G in order of submission.
const SEVEN: [(u32, i64); 7] = [(2, 3), (3, 3), (1, 4), (2, 2), (1, 4), (1, 5), (2, 1)];

fn rectangles(given: &[(u32, i64)]) -> Vec<Rectangle> {
    let given = given.iter();
    given
        .map(|(nodes, height)| Rectangle {
            nodes: Nodes(*nodes),
            height: Seconds(*height),
        })
        .collect()
}

fn settings(algorithm: PackingAlgorithm, shelf_ratio: f64) -> PackingSettings {
    PackingSettings {
        algorithm,
        shelf_ratio,
        ..PackingSettings::default()
    }
}

fn bottoms(places: &[Place]) -> Vec<i64> {
    places.iter().map(|place| place.bottom.0).collect()
}

fn height(rectangles: &[Rectangle], places: &[Place]) -> i64 {
    let tops = places.iter().zip(rectangles);
    let tops = tops.map(|(place, rectangle)| (place.bottom + rectangle.height).0);
    tops.max().unwrap_or(0)
}

#[test]
fn seven_jobs_are_packed_as_by_hand() {
    let seven = rectangles(&SEVEN);
    assert_eq!(area(&seven), 34);
    assert_eq!(lower_bound(&seven, Nodes(4)), Seconds(9));
    for (algorithm, expected) in [
        (PackingAlgorithm::NextFitDecreasingHeight, 13),
        (PackingAlgorithm::FirstFitDecreasingHeight, 12),
        (PackingAlgorithm::BestFitDecreasingHeight, 12),
        (PackingAlgorithm::Split, 11),
        (PackingAlgorithm::Hybrid, 11),
        (PackingAlgorithm::BottomLeft, 11),
    ] {
        let places = pack(&seven, Nodes(4), &settings(algorithm, 0.5));
        assert_eq!(height(&seven, &places), expected, "{algorithm:?}");
    }
    // The longest estimate that is allowed, 8, is longer than that of any of them.
    let shelves = |fit| levels::shelves(&seven, Nodes(4), Seconds(8), 0.5, fit);
    let first = shelves(RowFit::First);
    assert_eq!(bottoms(&first), [0, 4, 0, 8, 0, 10, 18]);
    assert_eq!(height(&seven, &first), 19);
    assert_eq!(height(&seven, &shelves(RowFit::Next)), 23);
}

#[test]
fn columns_are_halved_where_jobs_become_narrower() {
    // B lies below all, then A, D and G in halves, then C, E and F in quarters.
    let places = pack(
        &rectangles(&SEVEN),
        Nodes(4),
        &settings(PackingAlgorithm::Split, 0.5),
    );
    assert_eq!(bottoms(&places), [3, 0, 6, 3, 6, 6, 5]);
    let nodes: Vec<u32> = places.iter().map(|it| it.first_node.unwrap().0).collect();
    assert_eq!(nodes, [0, 0, 0, 2, 1, 2, 2]);
}

#[test]
fn wide_jobs_are_stacked_and_others_lie_in_one_level_and_then_in_those_of_the_lower_half() {
    // B, which is wider than two nodes, up to 3. By falling height F, C and E lie on it, and A does
    // not fit any more: the left half is then 8 high, the right one 7. So A lies on the right one,
    // up to 10, D on the left one, up to 10, and G on the left one.
    let places = pack(
        &rectangles(&SEVEN),
        Nodes(4),
        &settings(PackingAlgorithm::Hybrid, 0.5),
    );
    assert_eq!(bottoms(&places), [7, 0, 3, 8, 3, 3, 10]);
    let nodes: Vec<u32> = places.iter().map(|it| it.first_node.unwrap().0).collect();
    assert_eq!(nodes, [2, 0, 1, 0, 2, 0, 0]);
}

#[test]
fn a_hole_below_others_takes_a_job_only_where_its_nodes_are_neighbours() {
    // Of four nodes the second and third are free until 5 below the job on all nodes. Then the
    // second and fourth are: two nodes, but no neighbours.
    let given = rectangles(&[(1, 5), (2, 1), (1, 5), (4, 2), (2, 4), (1, 3), (1, 1)]);
    let by = |algorithm| bottoms(&pack(&given, Nodes(4), &settings(algorithm, 0.5)));
    assert_eq!(by(PackingAlgorithm::BottomLeft), [0, 0, 0, 5, 1, 7, 7]);
    let apart = rectangles(&[(1, 5), (1, 1), (1, 5), (1, 1), (2, 3)]);
    let by = |algorithm| bottoms(&pack(&apart, Nodes(4), &settings(algorithm, 0.5)));
    assert_eq!(by(PackingAlgorithm::BottomLeft), [0, 0, 0, 0, 5]);
    assert_eq!(by(PackingAlgorithm::EarliestStart), [0, 0, 0, 0, 1]);
}

#[test]
fn the_best_level_is_the_fullest_with_room() {
    // Levels of the heights 9, 8 and 7 with 3, 4 and 2 of ten nodes left.
    let given = rectangles(&[(7, 9), (6, 8), (8, 7), (2, 3), (3, 2)]);
    let by = |algorithm| bottoms(&pack(&given, Nodes(10), &settings(algorithm, 0.5)));
    assert_eq!(
        by(PackingAlgorithm::FirstFitDecreasingHeight),
        [0, 9, 17, 0, 9]
    );
    assert_eq!(
        by(PackingAlgorithm::BestFitDecreasingHeight),
        [0, 9, 17, 17, 0]
    );
    assert_eq!(
        by(PackingAlgorithm::NextFitDecreasingHeight),
        [0, 9, 17, 17, 24]
    );
}

#[test]
fn jobs_end_when_they_are_done_and_those_that_are_too_wide_are_dropped() {
    let job = |id, nodes, estimate, runtime| {
        Job::rigid(JobId(id), Seconds(0), Nodes(nodes), Seconds(estimate))
            .running_for(Seconds(runtime))
    };
    let jobs = [job(0, 4, 10, 6), job(1, 5, 9, 9), job(2, 4, 20, 25)];
    let by = |heights| {
        let settings = PackingSettings {
            heights,
            ..PackingSettings::default()
        };
        pack_jobs(&jobs, Nodes(4), &settings)
    };
    let (metrics, measured, outcomes) = by(PackedHeights::Estimates);
    assert_eq!(outcomes[1].verdict, Verdict::DroppedTooWide);
    assert_eq!(
        (outcomes[0].start, outcomes[0].end),
        (Some(Seconds(0)), Some(Seconds(6)))
    );
    assert_eq!(outcomes[2].end, Some(Seconds(30)));
    assert_eq!((metrics.dropped_too_wide, metrics.successful), (1, 2));
    assert_eq!(measured.get("packing_ratio"), Some(1.0));
    assert_eq!(measured.get("packing_height_hours"), Some(30.0 / 3600.0));
    // Nobody gets more than it asked for.
    let (_, measured, outcomes) = by(PackedHeights::RunTimes);
    assert_eq!(outcomes[2].start, Some(Seconds(6)));
    assert_eq!(measured.get("packing_height_hours"), Some(26.0 / 3600.0));
    assert_eq!(measured.get("packing_idle_percent"), Some(0.0));
    assert_eq!(
        pack_jobs(&[], Nodes(4), &PackingSettings::default())
            .1
            .get("packing_ratio"),
        None
    );
}

/// Where bottom-left places each job if every second and every node is looked at.
fn slow_bottom_left(rectangles: &[Rectangle], strip: u32) -> Vec<(i64, u32)> {
    let mut taken: Vec<Vec<bool>> = Vec::new();
    let mut places = Vec::new();
    for rectangle in rectangles {
        let (nodes, height) = (rectangle.nodes.0, rectangle.height.0);
        let all = (0..).flat_map(|bottom| (0..=strip - nodes).map(move |first| (bottom, first)));
        let cells = |bottom: i64, first: u32| {
            (bottom..bottom + height)
                .flat_map(move |row| (first..first + nodes).map(move |node| (row, node)))
        };
        let is_free = |taken: &[Vec<bool>], (row, node): (i64, u32)| {
            !taken
                .get(row as usize)
                .is_some_and(|row| row[node as usize])
        };
        let mut all = all;
        let (bottom, first) = all
            .find(|(bottom, first)| cells(*bottom, *first).all(|cell| is_free(&taken, cell)))
            .unwrap();
        for (row, node) in cells(bottom, first) {
            while taken.len() <= row as usize {
                taken.push(vec![false; strip as usize]);
            }
            taken[row as usize][node as usize] = true;
        }
        places.push((bottom, first));
    }
    places
}

fn any_rectangles() -> impl Strategy<Value = Vec<Rectangle>> {
    prop::collection::vec((1_u32..=8, 1_i64..12), 0..60).prop_map(|given| rectangles(&given))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_overlaps_nothing_leaves_the_strip_and_nothing_is_below_the_bound(
        given in any_rectangles(),
        ratio in 0.05_f64..0.95,
    ) {
        let strip = Nodes(8);
        for algorithm in ALL {
            let places = pack(&given, strip, &settings(algorithm, ratio));
            prop_assert_eq!(places.len(), given.len());
            prop_assert!(height(&given, &places) >= lower_bound(&given, strip).0);
            let all: Vec<_> = places.iter().zip(&given).collect();
            for (number, (place, it)) in all.iter().enumerate() {
                prop_assert!(place.bottom >= Seconds::ZERO);
                let beside = |other: &Place, height: Seconds| {
                    other.bottom < place.bottom + it.height && place.bottom < other.bottom + height
                };
                let Some(first) = place.first_node else {
                    // Counted: at every start there are enough.
                    let now = |other: &Place, height: Seconds| {
                        other.bottom <= place.bottom && place.bottom < other.bottom + height
                    };
                    let held = all.iter().filter(|(other, it)| now(other, it.height));
                    prop_assert!(held.map(|(_, it)| it.nodes.0).sum::<u32>() <= strip.0);
                    continue;
                };
                prop_assert!(first.0 + it.nodes.0 <= strip.0, "{:?}", algorithm);
                for (other, that) in &all[..number] {
                    let left = other.first_node.unwrap().0;
                    let is_apart = first.0 + it.nodes.0 <= left || left + that.nodes.0 <= first.0;
                    prop_assert!(is_apart || !beside(other, that.height), "{:?}", algorithm);
                }
            }
        }
    }

    /// Next fit is proved to end within twice the area over the width and a tallest job. Of first
    /// fit 1.7 times the height of the best packing and a tallest job are proved; that lists of
    /// eight nodes keep to it beside the lower bound, too, is only tried out.
    #[test]
    fn levels_are_as_low_as_their_bounds_say(given in any_rectangles()) {
        let strip = Nodes(8);
        let full = area(&given) as f64 / 8.0;
        let tall = tallest(&given).0 as f64;
        let by = |algorithm| height(&given, &pack(&given, strip, &settings(algorithm, 0.5))) as f64;
        prop_assert!(by(PackingAlgorithm::NextFitDecreasingHeight) <= 2.0 * full + tall + 1e-9);
        let bound = lower_bound(&given, strip).0 as f64;
        prop_assert!(by(PackingAlgorithm::FirstFitDecreasingHeight) <= 1.7 * bound + tall + 1e-9);
    }

    #[test]
    fn bottom_left_agrees_with_a_look_at_every_second_and_node(given in any_rectangles()) {
        let places = pack(&given, Nodes(8), &settings(PackingAlgorithm::BottomLeft, 0.5));
        let places: Vec<_> = places.iter().map(|it| (it.bottom.0, it.first_node.unwrap().0)).collect();
        prop_assert_eq!(places, slow_bottom_left(&given, 8));
    }
}
