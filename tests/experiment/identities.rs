//! Which simulations points share, and what identifies them.

use super::*;
use bookahead::sweep::SimulationSpec;

const PAPER: &str = r#"[experiment]
name = "paper"
[workload]
trace = "CTC-SP2-1996-3.1-cln.swf"
nodes = 430
compression = 0.15
[[axis]]
key = "scheduling.strategy"
values = ["conservative-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
"#;

const THRESHOLDS: &str =
    "[[axis]]\nkey = \"acceptance.pof_max\"\nrange = { from = 0.05, to = 1.0, step = 0.05 }\n";

#[test]
fn the_papers_pof_sweep_needs_42_simulations_a_battery() {
    // Birkenheuer 2012, chapter 6: 2 overbooking strategies × 20 thresholds + 2 baselines.
    let sweep = sweep(&format!("{PAPER}{THRESHOLDS}"));
    assert_eq!((sweep.points.len(), sweep.simulations.len()), (80, 42));
}

#[test]
fn the_papers_risk_sweep_adds_five_thresholds() {
    // Birkenheuer 2012, chapter 6: heuristic 1/3 and 1/9, comprehensive 1/3, 1/9 and 1/17.
    let ratios = "[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [0.5, 1, 2, 4]\n[acceptance]\ntest = \"risk\"\n";
    let pof = sweep(&format!("{PAPER}{THRESHOLDS}"));
    let risk = sweep(&format!("{PAPER}{ratios}"));
    assert_eq!(risk.points.len(), 16);
    let texts = |sweep: &Sweep| -> Vec<String> {
        sweep
            .simulations
            .iter()
            .map(|spec| canonical_json(&spec).expect("JSON"))
            .collect()
    };
    let known = texts(&pof);
    let added = texts(&risk)
        .into_iter()
        .filter(|text| !known.contains(text))
        .count();
    assert_eq!(added, 5);
}

#[test]
fn classes_and_reliability_do_not_multiply_baselines() {
    let axes = "[[axis]]\nkey = \"estimates.classes\"\nvalues = [\"runtime\", \"resources\", \"runtime+resources\"]\n\
                [[axis]]\nkey = \"reliability.failure_rate_per_hour\"\nvalues = [1e-4, 1e-3]\n";
    let sweep = sweep(&format!("{PAPER}{axes}"));
    assert_eq!(
        (sweep.points.len(), sweep.simulations.len()),
        (24, 2 + 2 * 6)
    );
    let repair = "[[axis]]\nkey = \"reliability.repair_rate_per_hour\"\nvalues = [0.4, 0.5]\n";
    let horizon = "[[axis]]\nkey = \"scheduling.down_horizon\"\nvalues = [\"mttr\", \"none\"]\n";
    // Heuristic planning: two repair rates with mttr, one without; heuristic overbooking four.
    // Node-mapped plans see their nodes and never ask how long one stays down: backfilling once,
    // comprehensive overbooking for each repair rate.
    let sweep = super::sweep(&format!("{PAPER}{repair}{horizon}"));
    assert_eq!(sweep.simulations.len(), 3 + 4 + 1 + 2);
}

fn identified(text: &str) -> Sweep {
    let mut sweep = sweep(text);
    let hashes = |_: &SimulationSpec| -> Result<_, std::convert::Infallible> {
        Ok(bookahead::sweep::ContentHashes {
            workload: "content".to_owned(),
            ..Default::default()
        })
    };
    let Ok(()) = sweep.identify(|specs| specs.iter().map(hashes).collect());
    sweep
}

#[test]
fn the_order_of_tables_and_keys_in_the_file_does_not_change_the_points() {
    let one = identified(&format!("{PAPER}{THRESHOLDS}"));
    let blocks: Vec<&str> = PAPER.split("[workload]\n").collect();
    let (head, rest) = (blocks[0], blocks[1]);
    let (workload, axis) = rest.split_once("[[axis]]").expect("an axis");
    let turned: String = workload
        .lines()
        .rev()
        .map(|line| format!("{line}\n"))
        .collect();
    let other = identified(&format!(
        "[[axis]]{axis}{THRESHOLDS}[workload]\n{turned}{head}"
    ));
    assert_eq!(one.points, other.points);
    assert_eq!(one.simulation_ids, other.simulation_ids);
}

#[test]
fn identity_follows_content_and_accounting_and_not_position() {
    let all = identified(&format!("{PAPER}{THRESHOLDS}"));
    let less = identified(&format!(
        "{PAPER}[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.4, 0.15]\n"
    ));
    assert!(
        less.points
            .iter()
            .all(|point| all.points.iter().any(|other| other.id == point.id))
    );
    assert!(all.points.iter().all(|point| point.id.len() == 32));
    let costly = identified(&format!(
        "{PAPER}{THRESHOLDS}[acceptance]\npenalty_ratio = 2.0\n"
    ));
    assert_eq!(all.simulation_ids, costly.simulation_ids);
    assert!(
        costly
            .points
            .iter()
            .all(|point| all.points.iter().all(|other| other.id != point.id))
    );
    let mut other = sweep(PAPER);
    let hashes = |_: &SimulationSpec| -> Result<_, std::convert::Infallible> {
        Ok(bookahead::sweep::ContentHashes {
            workload: "another".to_owned(),
            ..Default::default()
        })
    };
    let Ok(()) = other.identify(|specs| specs.iter().map(hashes).collect());
    assert!(
        other
            .points
            .iter()
            .all(|point| all.points.iter().all(|known| known.id != point.id))
    );
}

#[test]
fn a_baseline_has_a_place_of_its_own_at_every_threshold_and_one_identity() {
    let sweep = identified(&format!("{PAPER}{THRESHOLDS}"));
    let places: Vec<u32> = sweep.points.iter().map(|point| point.place).collect();
    assert_eq!(places, (0..80).collect::<Vec<_>>());
    // Two overbooking strategies at 20 thresholds, two baselines.
    let ids: std::collections::BTreeSet<&str> =
        sweep.points.iter().map(|point| point.id.as_str()).collect();
    assert_eq!(ids.len(), 42);
}

#[test]
fn pof_and_risk_runs_with_one_threshold_and_one_ratio_share_their_points() {
    // Comprehensive overbooking at ρ = 1 is PoF_max = 0.2; the two baselines at ρ = 1 are the same
    // anyway.
    let pof = identified(&format!("{PAPER}{THRESHOLDS}"));
    let ratios = "[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [0.5, 1, 2, 4]\n[acceptance]\ntest = \"risk\"\n";
    let risk = identified(&format!("{PAPER}{ratios}"));
    let shared = risk
        .points
        .iter()
        .filter(|point| pof.points.iter().any(|other| other.id == point.id))
        .count();
    assert_eq!(shared, 3);
}

#[test]
fn without_checkpoints_no_specification_has_changed_and_with_them_only_intervals_that_ask_read_the_failure_rate()
 {
    let plain = sweep(PAPER);
    for spec in plain.simulations.iter() {
        let text = canonical_json(&spec).expect("JSON");
        assert!(
            !text.contains("checkpoint") && !text.contains("penalty"),
            "{text}"
        );
    }
    let unread = "[checkpoint]\ncost_seconds = 5\ngap_end = \"kill\"\n[penalty]\nrefund = 0.5\n";
    assert_eq!(
        sweep(&format!("{PAPER}{unread}")).simulations,
        plain.simulations
    );
    let rates = "[[axis]]\nkey = \"reliability.failure_rate_per_hour\"\nvalues = [1e-4, 1e-3]\n";
    let simulations = |interval: &str| {
        let table = format!("[checkpoint]\ninterval = \"{interval}\"\n");
        sweep(&format!("{PAPER}{rates}{table}")).simulations.len()
    };
    // Two strategies that overbook for each rate; the others once, or for each rate where the
    // interval follows from it.
    assert_eq!(
        (simulations("fixed"), simulations("daly")),
        (2 * 2 + 2, 2 * 2 + 2 * 2)
    );
    let memory = "[checkpoint]\ninterval = \"daly\"\n[[axis]]\nkey = \"checkpoint.memory_price\"\nvalues = [0.0, 0.1]\n";
    let suspended = memory.replace("\"daly\"", "\"daly\"\ngap_end = \"suspend\"");
    assert_eq!(sweep(&format!("{PAPER}{memory}")).simulations.len(), 4);
    assert_eq!(sweep(&format!("{PAPER}{suspended}")).simulations.len(), 8);
}

#[test]
fn a_market_reads_checkpoints_and_moves_jobs_only_with_them() {
    let workload = PAPER.split("[[axis]]").next().unwrap_or_default();
    let market = format!("{workload}[scheduling]\nstrategy = \"market\"\n");
    let axis = "[[axis]]\nkey = \"market.migration\"\nvalues = [\"none\", \"best-offer\"]\n";
    let simulations = |rest: &str| sweep(&format!("{market}{rest}{axis}")).simulations;
    let plain = simulations("");
    let saving = simulations("[checkpoint]\ninterval = \"daly\"\n");
    assert_eq!(saving.len(), 2 * plain.len());
    let text = |spec: &SimulationSpec| canonical_json(spec).expect("JSON");
    for spec in plain.kinds() {
        assert!(!text(spec).contains("checkpoint") && !text(spec).contains("migration"));
    }
    assert!(saving.iter().all(|spec| text(&spec).contains("\"daly\"")));
}

#[test]
fn steps_of_a_penalty_and_their_shares_must_fit_together() {
    for (keys, wrong) in [
        (
            "step_hours = [2.0, 1.0]\nstep_shares = [0.1, 0.2]",
            "step_hours",
        ),
        (
            "step_hours = [1.0, 2.0]\nstep_shares = [0.1]",
            "step_shares",
        ),
        (
            "step_hours = [1.0, 2.0]\nstep_shares = [0.2, 0.1]",
            "step_shares",
        ),
        ("step_hours = []\nstep_shares = []", "step_hours"),
    ] {
        let text = format!("{PAPER}[penalty]\nfunction = \"stepwise\"\n{keys}\n");
        let said = parse(&text).expect_err("steps that do not fit").to_string();
        assert!(said.contains(wrong), "{said}");
    }
    let more_time =
        "[checkpoint]\ninterval = \"daly\"\n[acceptance]\nunderestimators = \"more-time\"\n";
    let said = parse(&format!("{PAPER}{more_time}"))
        .expect_err("both")
        .to_string();
    assert!(said.contains("nobody is planned more"), "{said}");
}

#[test]
fn test_jobs_are_kept_unless_a_file_says_otherwise_and_no_specification_has_changed() {
    let cleaned = |lines: &str| {
        let text = PAPER.replace("[[axis]]", &format!("[workload.cleaning]\n{lines}[[axis]]"));
        let sweep = sweep(&text);
        let spec = sweep.simulations.iter().next().expect("a simulation");
        (canonical_json(&spec).expect("JSON"), spec.workload.key())
    };
    let plain = cleaned("");
    let unread = "drop_test_jobs = false\ntest_job_estimate_seconds = 60\n";
    assert_eq!(cleaned(unread), plain);
    let dropped = cleaned("drop_test_jobs = true\n");
    assert_ne!(dropped.0, plain.0);
    assert!(dropped.1.contains(";tests=600s,5s;"), "{}", dropped.1);
    let same =
        "drop_test_jobs = true\ntest_job_estimate_seconds = 600\ntest_job_longest_seconds = 5\n";
    assert_eq!(cleaned(same), dropped);
    let any = cleaned("drop_test_jobs = true\ntest_job_estimate_seconds = 0\n");
    assert!(any.0 != dropped.0 && any.1 != dropped.1);
    for (line, key) in [
        (
            "test_job_estimate_seconds = -1",
            "workload.cleaning.test_job_estimate_seconds",
        ),
        (
            "test_job_longest_seconds = 1e9",
            "workload.cleaning.test_job_longest_seconds",
        ),
    ] {
        let text = PAPER.replace(
            "[[axis]]",
            &format!("[workload.cleaning]\n{line}\n[[axis]]"),
        );
        let error = parse(&text).expect_err("refused");
        assert_eq!(error.problems()[0].key, key);
    }
}
