//! Jobs that replications share.

use bookahead::store::RunSelector;
use bookahead::store::{SharedJobs, Store};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

#[test]
fn jobs_of_several_replications_are_shared_and_those_of_other_settings_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    // Records 40,000 to 40,003; 40,002 to 40,005; none kept; and of another setting all of
    // them.
    let excerpts: [&[u32]; 4] = [&[0, 1, 2, 3], &[2, 3, 4, 5], &[], &[0, 1, 2, 3, 4, 5]];
    let simulations = (0..).zip(excerpts).map(|(place, records): (u32, &[u32])| {
        let id = format!("excerpt {place}");
        let mut excerpt = result(6);
        excerpt
            .outcomes
            .retain(|outcome| records.contains(&outcome.job.id.0));
        let mut own = point(&id, &[], place % 3, 1.0);
        own.place = place;
        finished(&id, "fcfs", place % 3, excerpt, vec![own])
    });
    write_run(
        &path,
        &record("excerpts", Vec::new(), 4),
        simulations.collect(),
    );
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let shared = store.shared_jobs(run.id, 3).unwrap();
    let expected = SharedJobs {
        replications: 2,
        jobs: 8,
        shared: 4,
    };
    assert_eq!(shared, expected);
}
