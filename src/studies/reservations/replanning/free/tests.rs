use proptest::prelude::*;

use bookahead_core::workload::{Job, JobId};

use super::*;

const NOW: Seconds = Seconds::ZERO;

fn both(nodes: u32, memory: u32) -> Resources {
    Resources {
        nodes: Nodes(nodes),
        memory: Megabytes(memory),
    }
}

fn machine(nodes: u32, memory: u32) -> FreeResources {
    FreeResources::new(Nodes(nodes), NOW).with_memory(Megabytes(memory), NOW)
}

fn waiting(id: u32, wanted: Resources, estimate: i64) -> Waiting {
    let job = Job::rigid(JobId(id), NOW, wanted.nodes, Seconds(estimate));
    Waiting::from(&job.with_memory(wanted.memory))
}

/// Singh 2008, §3: 5 processors and 10 GB, of which a job holds 3 and 8 GB until 2.
#[test]
fn a_task_starts_where_both_are_free_for_all_of_its_time() {
    let mut free = machine(5, 10);
    free.reserve(NOW, Seconds(2), both(3, 8));
    let task = waiting(0, both(2, 4), 3);
    assert_eq!(free.clone().place(&task, NOW), Seconds(2));
    let narrow = waiting(1, both(2, 2), 3);
    assert_eq!(free.clone().place(&narrow, NOW), NOW);
    assert!(!free.is_free(Seconds(1), Seconds(3), both(2, 4)));
    assert_eq!(free.first_below(NOW, both(2, 4)), NOW);
    assert_eq!(free.first_below(NOW, both(2, 2)), Seconds::FAR);
    // Whoever takes 2 GB with each processor can have 1 until 2, and 5 from then on.
    let holes = free.nodes_with(Megabytes(2)).unwrap();
    let segments: Vec<_> = holes.segments().collect();
    assert_eq!(segments, [(NOW, 1), (Seconds(2), 5)]);
}

/// Memory alone opens and closes a hole: 4 processors are free from 1 on, and 8 GB on [3, 6).
#[test]
fn a_hole_is_cut_where_either_changes() {
    let mut free = machine(4, 8);
    free.reserve(NOW, Seconds(1), both(4, 0));
    free.reserve(NOW, Seconds(3), both(0, 6));
    free.reserve(Seconds(6), Seconds(9), both(0, 6));
    let of = |each| {
        let holes = free.nodes_with(Megabytes(each)).unwrap();
        holes.segments().collect::<Vec<_>>()
    };
    let expected = [(0, 0), (1, 1), (3, 4), (6, 1), (9, 4)];
    assert_eq!(of(2), expected.map(|(time, nodes)| (Seconds(time), nodes)));
    assert_eq!(of(9), [(NOW, 0)]);
    let wide = waiting(0, both(2, 4), 4);
    assert_eq!(free.clone().place(&wide, NOW), Seconds(9));
    let short = waiting(0, both(2, 4), 3);
    assert_eq!(free.clone().place(&short, NOW), Seconds(3));
}

/// A job and a slot of all the memory that can be counted do not go beside each other.
#[test]
fn two_of_the_largest_amounts_are_still_more_than_one() {
    let most = Megabytes::MOST.0;
    let free = machine(4, most);
    let job = waiting(0, both(1, most), 5);
    let span = (NOW, Seconds(5));
    assert!(free.holds_both(span, &job, both(1, 0)));
    assert!(!free.holds_both(span, &job, both(1, most)));
}

#[test]
fn where_nobody_counts_memory_nobody_asks_for_it() {
    let mut free = FreeResources::new(Nodes(4), NOW);
    assert!(free.nodes_with(Megabytes(1)).is_none());
    assert!(machine(4, 8).nodes_with(Megabytes(0)).is_none());
    assert_eq!(free.place(&waiting(0, both(4, 1_000), 5), NOW), NOW);
}

/// The obvious twin: free nodes and memory for every second.
struct Twin(Vec<(i64, i64)>);

impl Twin {
    fn fits(&self, from: usize, length: usize, wanted: Resources) -> bool {
        let seconds = self.0.iter().skip(from).take(length);
        seconds.into_iter().all(|(nodes, memory)| {
            *nodes >= i64::from(wanted.nodes.0) && *memory >= i64::from(wanted.memory.0)
        })
    }

    fn take(&mut self, from: usize, length: usize, taken: Resources) {
        for (nodes, memory) in self.0.iter_mut().skip(from).take(length) {
            *nodes -= i64::from(taken.nodes.0);
            *memory -= i64::from(taken.memory.0);
        }
    }
}

proptest! {
    /// Places, who is due, and what can be had with so much memory each, second by second.
    #[test]
    fn both_profiles_together_are_a_machine_of_seconds(
        fixed in prop::collection::vec((0_usize..40, 1_usize..10, 0_u32..4, 0_u32..9), 0..6),
        queue in prop::collection::vec((0_u32..=6, 0_u32..=12, 1_usize..9), 0..12),
        each in 1_u32..6,
    ) {
        let mut free = machine(6, 12);
        let mut twin = Twin(vec![(6, 12); 400]);
        for (start, length, nodes, memory) in fixed {
            let taken = both(nodes, memory);
            if twin.fits(start, length, taken) {
                twin.take(start, length, taken);
                let start = Seconds(start as i64);
                free.reserve(start, start + Seconds(length as i64), taken);
            }
        }
        let queue: Vec<Waiting> = (0..)
            .zip(&queue)
            .map(|(id, (nodes, memory, length))| {
                waiting(id, both((*nodes).max(1), *memory), *length as i64)
            })
            .collect();
        let due = free.due_now(NOW, &queue, 0, Backfilling::Conservative);
        let mut now = Vec::new();
        for (place, job) in queue.iter().enumerate() {
            let (wanted, length) = (job.into(), job.estimate.0 as usize);
            let start = (0..300).find(|start| twin.fits(*start, length, wanted)).unwrap();
            prop_assert_eq!(free.place(job, NOW), Seconds(start as i64));
            twin.take(start, length, wanted);
            if start == 0 {
                now.push(place);
            }
        }
        prop_assert_eq!(due, now);
        let holes = free.nodes_with(Megabytes(each)).unwrap();
        for (second, (nodes, memory)) in twin.0.iter().enumerate() {
            let expected = (*nodes).min(memory / i64::from(each));
            prop_assert_eq!(i64::from(holes.free_at(Seconds(second as i64))), expected);
        }
    }
}
