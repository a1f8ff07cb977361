//! The mix of jobs that ran lately (Meltzer 2005, §7.2).

use super::*;

#[test]
fn a_cluster_tells_how_much_of_what_started_lately_was_run_by_large_jobs() {
    // Meltzer 2005, §7.2: 16 and 256 CPUs for 3,600 s, 64 CPUs for 7,200 s and 128 for 1,800 s, and
    // nothing.
    let day = Seconds::HOUR.0 * 24;
    for (jobs, then, after_a_week) in [
        (
            vec![job(0, 0, 16, 3_600, 3_600), job(1, 0, 256, 3_600, 3_600)],
            256.0 / 272.0,
            0.0,
        ),
        (
            vec![job(0, 0, 64, 7_200, 7_200), job(1, 0, 128, 1_800, 1_800)],
            1.0 / 3.0,
            0.0,
        ),
        (vec![], 0.0, 0.0),
        // One that runs counts as far as it ran, from its start on, whenever it was submitted.
        (
            vec![
                job(0, 0, 256, 60 * day, 60 * day),
                job(1, 0, 256, 7_200, 3_600),
            ],
            1.0,
            1.0,
        ),
    ] {
        let mut machine = machine(300, LocalSettings::default());
        machine.submit(&jobs);
        let asked = Probe {
            job_mix: true,
            ..query(60, &[10], &[60 * day], COUNTING)
        };
        let share = |machine: &mut PlainCluster, at| {
            let not = Probe {
                job_mix: false,
                ..asked.clone()
            };
            assert_eq!(machine.probe(Seconds(at), &not).large_share, 0.0);
            machine.probe(Seconds(at), &asked).large_share
        };
        assert_eq!(share(&mut machine, 10_800), then);
        assert_eq!(share(&mut machine, 60 * day + 7 * day), after_a_week);
    }
}
