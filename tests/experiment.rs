//! What an experiment file may say, what it must not, and which points and simulations come of it.

mod axes;

mod bounds;

mod fresh;

mod identities;

mod early_ends;
mod tightness;

mod unread;

use std::path::Path;

use bookahead::studies::STUDIES;
use bookahead::sweep::AxisValue;
use bookahead::sweep::{Experiment, ExperimentError, Point, ProblemKind, Sweep, canonical_json};

const HEAD: &str = r#"[experiment]
name = "test"
replications = 2

[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
load.value = 2.0

[scheduling]
strategy = "heuristic-overbooking"
"#;

fn parse(text: &str) -> Result<Experiment, ExperimentError> {
    Experiment::parse(STUDIES, "test.toml", text, None)
}

fn sweep(text: &str) -> Sweep {
    match parse(text) {
        Ok(experiment) => experiment.sweep,
        Err(error) => panic!("{error}"),
    }
}

/// The only problem of a text: kind, line and key, and that the help holds what is allowed.
#[track_caller]
fn assert_problem(text: &str, kind: ProblemKind, underlined: &str, key: &str, help: &str) {
    let error = parse(text).expect_err("this file must not pass");
    let problems = error.problems();
    assert_eq!(problems.len(), 1, "{error}");
    let problem = &problems[0];
    assert_eq!(problem.kind, kind, "{problem}");
    assert_eq!(problem.key, key, "{problem}");
    assert_eq!(&text[problem.span.clone()], underlined, "{problem}");
    let line = 1 + text[..problem.span.start].matches('\n').count();
    assert_eq!(problem.line, line);
    assert!(
        problem
            .to_string()
            .starts_with(&format!("test.toml:{line}: ")),
        "{problem}"
    );
    assert!(problem.help.contains(help), "{problem}");
}

fn with(replaced: &str, by: &str) -> String {
    assert!(HEAD.contains(replaced), "{replaced}");
    HEAD.replacen(replaced, by, 1)
}

#[test]
fn a_file_without_axes_is_one_point_a_replication() {
    let sweep = sweep(HEAD);
    assert_eq!((sweep.points.len(), sweep.simulations.len()), (2, 2));
    assert_eq!(sweep.simulations.kind(0).workload.evaluation_jobs, 200);
    assert_eq!(sweep.seed, 1);
}

#[test]
fn a_seed_from_the_command_line_takes_the_place_of_the_files() {
    let experiment = Experiment::parse(STUDIES, "test.toml", HEAD, Some(7)).expect("valid");
    assert_eq!(experiment.sweep.seed, 7);
    assert!(
        experiment
            .sweep
            .simulations
            .iter()
            .all(|spec| spec.seed == 7)
    );
}

#[test]
fn an_unknown_key_names_the_nearest_one() {
    let text = with(
        "battery_jobs = 100",
        "batery_jobs = 100\nbattery_jobs = 100",
    );
    assert_problem(
        &text,
        ProblemKind::UnknownKey,
        "batery_jobs",
        "workload.batery_jobs",
        "did you mean `battery_jobs`",
    );
    let text = format!("{HEAD}[acceptence]\npof_max = 0.1\n");
    assert_problem(
        &text,
        ProblemKind::UnknownKey,
        "acceptence",
        "acceptence",
        "did you mean `acceptance`",
    );
    let text = format!("{HEAD}colour = 1\n");
    assert_problem(
        &text,
        ProblemKind::UnknownKey,
        "colour",
        "scheduling.colour",
        "`time_step_seconds`",
    );
    let text = format!("{HEAD}[workload.cleaning]\ndrop_overrun = true\n");
    let key = "workload.cleaning.drop_overrun";
    assert_problem(
        &text,
        ProblemKind::UnknownKey,
        "drop_overrun",
        key,
        "did you mean `drop_overruns`",
    );
}

#[test]
fn a_value_of_the_wrong_type_says_which_type_and_unit_is_wanted() {
    let text = with("nodes = 128", "nodes = \"128\"");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        "\"128\"",
        "workload.nodes",
        "a whole number from 1 to 10000000",
    );
    let text = with("nodes = 128", "nodes = 128.5");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        "128.5",
        "workload.nodes",
        "a whole number from 1 to 10000000",
    );
    let text = format!("{HEAD}time_step_seconds = \"60 s\"\n");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        "\"60 s\"",
        "scheduling.time_step_seconds",
        "seconds",
    );
    let text = format!("{HEAD}[failures]\nsource = \"lanl\"\nsystems = [18, \"x\"]\n");
    assert_problem(
        &text,
        ProblemKind::WrongType,
        "\"x\"",
        "failures.systems",
        "system numbers",
    );
}

#[test]
fn impossible_values_are_refused() {
    for (given, key) in [
        ("replications = 0", "experiment.replications"),
        ("nodes = 0", "workload.nodes"),
        ("battery_jobs = 0", "workload.battery_jobs"),
        ("load.value = -1.0", "workload.load.value"),
        ("load.value = nan", "workload.load.value"),
    ] {
        let (name, value) = given.split_once(" = ").expect("a pair");
        let line = HEAD
            .lines()
            .find(|line| line.starts_with(&format!("{name} =")))
            .expect("a line");
        assert_problem(
            &with(line, given),
            ProblemKind::OutOfRange,
            value,
            key,
            "allowed:",
        );
    }
    let cases = [
        (
            "[acceptance]\npof_max = 1.5\n",
            "1.5",
            "acceptance.pof_max",
            "0 to 1",
        ),
        (
            "[acceptance]\npenalty_ratio = -0.5\n",
            "-0.5",
            "acceptance.penalty_ratio",
            "0 or more",
        ),
        (
            "[acceptance]\nsecurity_factor = -1\n",
            "-1",
            "acceptance.security_factor",
            "0 or more",
        ),
        (
            "[failures]\nrate_per_hour = -1.0\n",
            "-1.0",
            "failures.rate_per_hour",
            "0 or more",
        ),
        (
            "[failures]\nrepair_rate_per_hour = 0.0\n",
            "0.0",
            "failures.repair_rate_per_hour",
            "above 0",
        ),
        (
            "[failures]\nsource = \"lanl\"\nsystems = [18, 18]\n",
            "[18, 18]",
            "failures.systems",
            "different",
        ),
        (
            "[reliability]\nrepair_rate_per_hour = 0\n",
            "0",
            "reliability.repair_rate_per_hour",
            "above 0",
        ),
        (
            "[estimates]\nruntime_borders_seconds = [60, 30]\n",
            "[60, 30]",
            "estimates.runtime_borders_seconds",
            "asc",
        ),
        (
            "[estimates]\ntop_users = 0\n",
            "0",
            "estimates.top_users",
            "1 or more",
        ),
    ];
    for (tail, underlined, key, help) in cases {
        assert_problem(
            &format!("{HEAD}{tail}"),
            ProblemKind::OutOfRange,
            underlined,
            key,
            help,
        );
    }
    let text = with("load.value = 2.0", "load.value = 2.0\nlaxity = 0.5");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "0.5",
        "workload.laxity",
        "1 or more",
    );
    let text = format!("{HEAD}time_step_seconds = 0\n");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "0",
        "scheduling.time_step_seconds",
        "1 or more",
    );
    let text = with("nodes = 128", "nodes = -3");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "-3",
        "workload.nodes",
        "from 1 to 10000000",
    );
}

#[test]
fn hyper_exponential_failures_need_weights_that_sum_to_one_and_as_many_rates() {
    let head =
        format!("{HEAD}[failures]\nsource = \"generated\"\nsurvival = \"hyper-exponential\"\n");
    let name = "\"hyper-exponential\"";
    assert_problem(
        &head,
        ProblemKind::Missing,
        name,
        "failures.probabilities",
        "rates_per_hour",
    );
    let text = format!("{head}probabilities = [0.5, 0.4]\nrates_per_hour = [1e-4, 1e-3]\n");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "[0.5, 0.4]",
        "failures.probabilities",
        "sum to 1",
    );
    let text = format!("{head}probabilities = [0.5, 0.5]\nrates_per_hour = [1e-4]\n");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "[1e-4]",
        "failures.rates_per_hour",
        "one for each",
    );
}

#[test]
fn an_unknown_strategy_lists_the_registry() {
    let text = with("heuristic-overbooking", "heuristic-overboking");
    let underlined = "\"heuristic-overboking\"";
    assert_problem(
        &text,
        ProblemKind::UnknownName,
        underlined,
        "scheduling.strategy",
        "`easy-backfilling`",
    );
    let text = format!("{HEAD}placing = \"best-fit\"\n");
    assert_problem(
        &text,
        ProblemKind::UnknownName,
        "\"best-fit\"",
        "scheduling.placing",
        "near-best-fit",
    );
    let text = with("lublin-feitelson", "lublin");
    assert_problem(
        &text,
        ProblemKind::UnknownName,
        "\"lublin\"",
        "workload.model",
        "`arminius`",
    );
    let text = format!("{HEAD}[estimates]\nclasses = \"runtime+runtime\"\n");
    assert_problem(
        &text,
        ProblemKind::UnknownName,
        "\"runtime+runtime\"",
        "estimates.classes",
        "joined by +",
    );
}

#[test]
fn exactly_one_way_to_compress_and_one_source_of_jobs() {
    let text = with("load.value = 2.0", "load.value = 2.0\ncompression = 0.15");
    assert_problem(
        &text,
        ProblemKind::Conflict,
        "2.0",
        "workload.load.value",
        "exactly one",
    );
    let text = with("load.value = 2.0\n", "");
    let error = parse(&text).expect_err("no compression");
    assert_eq!(error.problems()[0].kind, ProblemKind::Missing);
    assert_eq!(error.problems()[0].line, 5);
    let text = with("model =", "trace = \"CTC.swf\"\nmodel =");
    assert_problem(
        &text,
        ProblemKind::Conflict,
        "\"lublin-feitelson\"",
        "workload.model",
        "one of the two",
    );
    let text = with("model = \"lublin-feitelson\"", "trace = \"CTC.swf\"");
    assert_problem(
        &text,
        ProblemKind::Conflict,
        "5000",
        "workload.jobs",
        "belongs to `model`",
    );
}

#[test]
fn several_problems_are_told_at_once_in_the_order_of_the_file() {
    let text = format!(
        "{}[acceptance]\npof_max = 2.0\ncolor = 1\n",
        with("nodes = 128", "nodes = 0")
    );
    let error = parse(&text).expect_err("three problems");
    let keys: Vec<&str> = error
        .problems()
        .iter()
        .map(|problem| problem.key.as_str())
        .collect();
    assert_eq!(
        keys,
        ["workload.nodes", "acceptance.pof_max", "acceptance.color"]
    );
}

#[test]
fn too_few_jobs_for_the_batteries_are_refused() {
    let text = with(
        "battery_jobs = 100",
        "battery_jobs = 100\nevaluation_jobs = 150",
    );
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "150",
        "workload.evaluation_jobs",
        "200 or more",
    );
    let text = with("jobs = 5000", "jobs = 50");
    assert_problem(
        &text,
        ProblemKind::OutOfRange,
        "50",
        "workload.jobs",
        "generate more",
    );
}

#[test]
fn a_text_that_is_not_toml_says_where() {
    let text = "[experiment]\nname = \n";
    let error = parse(text).expect_err("not TOML");
    assert_eq!(error.problems()[0].kind, ProblemKind::Syntax);
    assert_eq!(error.problems()[0].line, 2);
}

#[test]
fn every_key_of_the_list_can_be_read() {
    // The list of keys and the structures that serde reads must be the same.
    use bookahead::sweep::keys::{Keys, Kind};

    const KEYS: Keys = Keys::of(STUDIES);
    for key in KEYS.all() {
        let value = match key.kind {
            Kind::Integer | Kind::Real => "1",
            Kind::Text => "\"nonsense\"",
            Kind::Flag => "true",
            Kind::List => "[1]",
        };
        let (table, name) = key.path.rsplit_once('.').expect("a table and a name");
        let header = if KEYS.is_list(table) {
            format!("[[{table}]]")
        } else {
            format!("[{table}]")
        };
        // What is missing beside it, or out of its range, is another matter.
        let kinds = match parse(&format!("{header}\n{name} = {value}\n")) {
            Ok(_) => Vec::new(),
            Err(error) => error
                .problems()
                .iter()
                .map(|problem| problem.kind)
                .collect(),
        };
        let unread = [ProblemKind::Syntax, ProblemKind::UnknownKey];
        assert!(
            !kinds.iter().any(|kind| unread.contains(kind)),
            "{}: {kinds:?}",
            key.path
        );
    }
}

#[test]
fn a_rendered_problem_shows_the_line_of_the_file() {
    let error = parse(&with("nodes = 128", "nodes = 0")).expect_err("no nodes");
    let picture = error.problems()[0].render(false);
    assert!(picture.contains("nodes = 0"), "{picture}");
    assert!(picture.contains("test.toml:8"), "{picture}");
    assert!(
        picture.contains("help: allowed: a whole number from 1 to 10000000"),
        "{picture}"
    );
}

#[test]
fn a_file_that_is_not_text_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("latin.toml");
    let latin = [HEAD.as_bytes(), b"# caf\xe9\n"].concat();
    std::fs::write(&path, latin).expect("written");
    let error = Experiment::load(STUDIES, &path, None).expect_err("not UTF-8");
    let line = HEAD.lines().count() + 1;
    assert!(
        error.to_string().contains(&format!("latin.toml:{line}: ")),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_device_without_end_was_read_until_the_memory_was_full() {
    let error = Experiment::load(STUDIES, Path::new("/dev/zero"), None).expect_err("no experiment");
    assert!(error.to_string().contains("it is a device"), "{error}");
}

#[test]
fn a_line_of_a_megabyte_was_printed_whole() {
    let text = format!("{HEAD}{}\n", "x".repeat(1_000_000));
    let error = parse(&text).expect_err("a key without a value");
    let shown = error.problems()[0].render(false);
    assert!(
        shown.len() < 1_000 && shown.contains("test.toml:14"),
        "{}",
        shown.len()
    );
}

#[test]
fn an_axis_that_nothing_reads_is_a_warning() {
    let axis = |key: &str, values: &str| format!("[[axis]]\nkey = \"{key}\"\nvalues = {values}\n");
    let warned = |text: &str| -> Vec<String> {
        let experiment = parse(text).expect("valid");
        experiment
            .warnings
            .iter()
            .map(|warning| warning.key.clone())
            .collect()
    };
    let read = axis("acceptance.pof_max", "[0.1, 0.2]");
    let idle = axis("acceptance.security_factor", "[1.0, 2.0]");
    assert_eq!(
        warned(&format!("{HEAD}{read}{idle}")),
        ["acceptance.security_factor"]
    );
    assert_eq!(
        warned(&format!("{HEAD}{idle}{read}")),
        ["acceptance.security_factor"]
    );
    // Only the algorithm of 2008 asks what makes a job promising.
    let habits = axis("acceptance.promising", "[\"class\", \"either\"]")
        + &axis(
            "acceptance.underestimators",
            "[\"as-estimated\", \"more-time\"]",
        );
    assert_eq!(
        warned(&format!("{HEAD}{habits}{read}")),
        ["acceptance.promising"]
    );
    let of_2008 = with("heuristic-overbooking", "overbooking-2008") + &habits + &read;
    assert!(warned(&of_2008).is_empty());
    assert_eq!(sweep(&of_2008).simulations.len(), 2 * 2 * 2 * 2);
    let accounted = axis("acceptance.penalty_ratio", "[1.0, 2.0]");
    assert!(warned(&format!("{HEAD}{accounted}{read}")).is_empty());
    // A single value is a label in the tables, not an oversight.
    assert!(warned(&format!("{HEAD}{}", axis("failures.shape", "[0.7]"))).is_empty());
}

#[test]
fn a_user_whom_no_log_has_cannot_be_left_out_of_overbooking() {
    let left_out = |users: &str| {
        let given = format!("[acceptance]\nexclude_users = {users}\n");
        parse(&format!("{HEAD}{given}")).map(|experiment| experiment.warnings.len())
    };
    assert_eq!(left_out("[0, 7, 7]").expect("valid"), 0);
    let error = left_out("[7, -1]").expect_err("no user");
    let text = error.to_string();
    assert!(text.contains("acceptance.exclude_users"), "{text}");
    assert!(
        text.contains("no user of a log has the number -1"),
        "{text}"
    );
}

#[test]
fn a_believed_rate_that_changes_is_read_as_that_of_failures_and_left_out_where_it_does_not() {
    let with_table = |lines: &str| parse(&format!("{HEAD}[reliability]\n{lines}\n"));
    let believed = |lines: &str| {
        let sweep = sweep(&format!("{HEAD}[reliability]\n{lines}\n"));
        let spec = sweep.simulations.kind(0);
        serde_json::to_value(&spec.scheduling.reliability).expect("JSON")
    };
    let ones = ["1"; 24].join(", ");
    let constant = believed("survival = \"poisson\"");
    assert!(constant.get("rate").is_none(), "{constant}");
    let same = format!("hour_factors = [{ones}]\nweekend_factor = 1.0\nearly_excess = 0.0");
    assert_eq!(believed(&same), constant);
    let day = believed(&format!("hour_factors = [{}]", ones.replacen('1', "25", 1)));
    assert_eq!(day["rate"]["hour_factors"][0], 12.5);
    assert_eq!(day["rate"]["hour_factors"][23], 0.5);
    assert_eq!(
        believed("weekend_factor = 0.5")["rate"]["weekend_factor"],
        0.5
    );
    assert_eq!(
        believed("early_excess = 2.0")["rate"]["early"]["decay_hours"],
        4_383.0
    );
    for (lines, key) in [
        ("hour_factors = [1, 2]", "reliability.hour_factors"),
        ("weekend_factor = 1e9", "reliability.weekend_factor"),
        ("early_excess = -1.0", "reliability.early_excess"),
    ] {
        let text = with_table(lines).expect_err("refused").to_string();
        assert!(text.contains(key), "{text}");
    }
}

#[test]
fn a_machine_of_four_billion_nodes_never_ended_and_is_refused() {
    let error = parse(&with("nodes = 128", "nodes = 4294967295")).expect_err("too large");
    assert!(error.to_string().contains("from 1 to 10000000"), "{error}");
}

#[test]
fn the_table_of_one_study_is_refused_under_the_strategy_of_another() {
    let text = with(
        "strategy = \"heuristic-overbooking\"",
        "strategy = \"provisioning\"",
    );
    let error =
        parse(&format!("{text}[clusters]\ncount = 1\ndays = 2\n")).expect_err("of another study");
    let refused = error
        .problems()
        .iter()
        .find(|problem| problem.key == "clusters.days");
    let refused = refused.expect("a problem");
    assert_eq!(refused.kind, ProblemKind::Conflict);
    assert!(refused.message.contains("several clusters"), "{error}");
}
