//! The pages of results: each says what its design can show, its queries fit the store, and small
//! experiments give their numbers again.

mod brokers;
mod co_reservations;
mod decision_latency;
mod double_execution;
mod early_ends;
mod failures_by_load;
mod kinds;
mod longer_estimates;
mod network;
mod offered;
mod overlap;
mod packing;
mod refunds;
mod reservations;
mod setting;
mod several;
mod shelves;
mod slot_prices;
mod small_rules;
mod test_jobs;
mod users;
mod weighted_sum;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead_papers::findings::parse_explanations;
use rusqlite::{Connection, Row};

use crate::support::pages::project;
use crate::support::program::{output, program, text};

/// Pages with results of experiments that the summary lists elsewhere.
const ELSEWHERE: [&str; 2] = ["advise.md", "machines.md"];

fn read(page: &str) -> String {
    fs::read_to_string(project().join("docs").join(page)).expect("a page")
}

/// The pages of results: those that the summary lists under "Results", and the others.
fn result_pages() -> BTreeSet<String> {
    let summary = read("SUMMARY.md");
    let (_, results) = summary
        .split_once("\n# Results\n")
        .expect("a part of results");
    let results = results.split("\n# ").next().expect("the first part");
    let mut pages: BTreeSet<String> = ELSEWHERE.map(str::to_owned).into();
    pages.extend(
        results
            .split("](")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())),
    );
    pages
}

/// The queries of a page.
fn queries(page: &str) -> Vec<String> {
    read(page)
        .split("\n```sql\n")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once("\n```")?.0.to_owned()))
        .collect()
}

/// All rows of a query.
fn rows<T>(store: &Path, query: &str, of: impl Fn(&Row<'_>) -> rusqlite::Result<T>) -> Vec<T> {
    let connection = Connection::open(store).expect("a store");
    let mut statement = connection.prepare(query).expect("a query");
    let found = statement.query_map([], |row| of(row)).expect("rows");
    found.collect::<Result<_, _>>().expect("values")
}

/// Runs a shipped experiment into `it.db`.
fn run(folder: &Path, configuration: impl AsRef<Path>) {
    run_keeping("metrics", folder, configuration);
}

/// Writes a shipped experiment with these axes shortened beside `it.db`.
fn shortened(folder: &Path, configuration: &str, axes: &[(&str, &str)]) -> PathBuf {
    let path = project().join("configs").join(configuration);
    let mut text = fs::read_to_string(path).expect("an experiment");
    for (whole, part) in axes {
        assert_eq!(text.matches(whole).count(), 1, "{whole}");
        text = text.replace(whole, part);
    }
    let part = folder.join("part.toml");
    fs::write(&part, text).expect("written");
    part
}

/// Runs a shipped experiment into `it.db`, which keeps these outcomes.
fn run_keeping(outcomes: &str, folder: &Path, configuration: impl AsRef<Path>) {
    let path = project().join("configs").join(configuration);
    let path = path.to_str().expect("UTF-8");
    run_with(folder, path, &["--outcomes", outcomes]);
}

/// Runs an experiment into `it.db`, with these options.
fn run_with(folder: &Path, configuration: &str, options: &[&str]) {
    let mut arguments = vec!["run", configuration, "--store", "it.db", "--quiet"];
    arguments.extend(options);
    let done = output(program(folder, &arguments));
    assert!(done.status.success(), "{}", text(&done.stderr));
}

/// A number with separators between thousands, as the pages write it.
fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut written = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            written.push(',');
        }
        written.push(digit);
    }
    written
}

#[test]
fn every_page_of_results_says_what_its_design_can_show() {
    let pages = result_pages();
    assert!(pages.len() >= 12, "{pages:?}");
    for page in pages {
        let text = read(&page);
        let (_, section) = text
            .split_once("# What this design can show\n")
            .unwrap_or_else(|| panic!("docs/{page} does not say what its design can show"));
        let section = section.split("\n#").next().expect("the first part");
        let words = section.split_whitespace().count();
        assert!(words >= 60, "docs/{page}: {words} words");
        for said in ["unit", "not"] {
            assert!(section.contains(said), "docs/{page} does not say: {said}");
        }
    }
}

/// Phrases that say more than replications can show: that two things are equal because no
/// difference was seen, that something has a cause which no run varied, that a mean holds
/// everywhere.
const TOO_MUCH: [&str; 11] = [
    "must have",
    "were lucky",
    "is lucky",
    "hardly chance",
    "level with",
    "stays the same",
    "hardly changes",
    "within its interval",
    "no effect",
    "makes no difference",
    "in each replication",
];

#[test]
fn explanations_of_misses_claim_no_more_than_runs_can_show() {
    let mut explained = 0;
    for entry in fs::read_dir(project().join("configs")).expect("papers") {
        let path = entry.expect("a paper").path().join("explanations.toml");
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let file = path.display().to_string();
        for own in parse_explanations(&file, &text).expect("explanations") {
            let words = own.text.replace('\n', " ").to_lowercase();
            for phrase in TOO_MUCH {
                assert!(!words.contains(phrase), "{file}: `{phrase}` in: {words}");
            }
            explained += 1;
        }
    }
    assert!(explained > 50, "{explained} explanations");
}

#[test]
fn every_query_of_a_page_of_results_is_a_query_of_a_store_of_this_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.db");
    drop(Store::open(STUDIES, &path).expect("a store"));
    let connection = Connection::open(&path).expect("a store");
    for page in result_pages()
        .into_iter()
        .chain(["statistics.md".to_owned()])
    {
        let queries = queries(&page);
        // What `simulate` says of a machine is in no store.
        assert_eq!(queries.is_empty(), page == "machines.md", "docs/{page}");
        for query in queries {
            if let Err(error) = connection.prepare(&query) {
                panic!("docs/{page}: {error}\n{query}");
            }
        }
    }
}

#[test]
fn every_query_beside_an_experiment_is_a_query_of_a_store_of_this_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("empty.db");
    drop(Store::open(STUDIES, &path).expect("a store"));
    let connection = Connection::open(&path).expect("a store");
    let mut files = Vec::new();
    let mut folders = vec![project().join("configs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("readable").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(kind) if kind == "sql" => files.push(path),
                _ => {}
            }
        }
    }
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        let text = fs::read_to_string(&file).expect("readable");
        for query in text.split(";\n").filter(|query| query.contains("SELECT")) {
            if let Err(error) = connection.prepare(query) {
                panic!("{}: {error}\n{query}", file.display());
            }
        }
    }
}

#[test]
fn the_quick_start_has_as_many_distinct_results_as_the_page_of_statistics_says() {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "quickstart.toml");
    let [query] = &queries("statistics.md")[..] else {
        panic!("another number of queries");
    };
    let counts = rows(&folder.path().join("it.db"), query, |row| {
        Ok([row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?])
    });
    let [[settings, results, workloads]] = counts[..] else {
        panic!("{counts:?}");
    };
    let said =
        format!("has {settings} settings and {results} distinct results on {workloads} workloads");
    let page = read("statistics.md").replace('\n', " ");
    assert!(page.contains(&said), "{said}");
}

#[test]
fn the_queues_of_kth_give_the_promises_of_their_page_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "promises/kth-queues.toml");
    let (store, page) = (
        folder.path().join("it.db"),
        read("measurements/promises.md"),
    );
    let [means, differences] = &queries("measurements/promises.md")[..] else {
        panic!("another number of queries");
    };
    let means = rows(&store, means, |row| {
        let axes: String = row.get("axes")?;
        let measure: String = row.get("measure")?;
        Ok((axes, measure, row.get::<_, f64>("mean")?))
    });
    for (predictor, name) in [
        ("request", "requested time"),
        ("average-of-two", "average of two"),
        ("learned", "learned"),
        ("perfect", "perfect"),
    ] {
        let mean = |wanted: &str| {
            let found = means.iter().find(|(axes, measure, _)| {
                measure == wanted
                    && axes.contains(&format!("\"{predictor}\""))
                    && axes.contains("\"queue.backfill\":\"queue\"")
            });
            found.map_or_else(|| panic!("no {wanted}"), |(.., mean)| *mean)
        };
        let start = format!("| KTH SP2 | queue, {name} | ");
        let row = page.lines().find(|line| line.starts_with(&start));
        let cells: Vec<&str> = row.expect("a row of the first table").split('|').collect();
        let cell = |at: usize| {
            let mean = cells[at].split('±').next().expect("a mean");
            mean.trim().to_owned()
        };
        assert_eq!(cell(4), format!("{:.1}", mean("promised_percent")));
        assert_eq!(cell(5), grouped(mean("promise_ahead_seconds")));
        assert_eq!(cell(6), grouped(mean("promise_error_seconds")));
        assert_eq!(cell(7), grouped(mean("promise_error_median_seconds")));
        assert_eq!(cell(9), format!("{:.1}", mean("promise_late_percent")));
    }
    let differences = rows(&store, differences, |row| {
        Ok([
            row.get("n")?,
            row.get("more")?,
            row.get::<_, f64>("variance")?,
        ])
    });
    let [[batteries, more, variance]] = differences[..] else {
        panic!("{differences:?}");
    };
    assert_eq!(batteries, 10.0);
    let said = format!(
        "KTH (+{} ± {})",
        grouped(more),
        grouped(2.262 * variance.sqrt())
    );
    assert!(page.replace("\n  ", " ").contains(&said), "{said}");
}

#[test]
fn sdsc_sp2_gives_what_jobs_without_promises_earn_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "best-effort/sdsc-sp2.toml");
    let query = fs::read_to_string(project().join("configs/best-effort/gain.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let how: [String; 3] = [
            row.get("strategy")?,
            row.get("when_stopped")?,
            row.get("started")?,
        ];
        let at: [f64; 3] = [row.get("pof_max")?, row.get("share")?, row.get("price")?];
        let numbers: [f64; 3] = [
            row.get("surplus_percent")?,
            row.get("half_width")?,
            row.get("broken_promises")?,
        ];
        Ok((how, at, numbers))
    });
    let cell = |strategy: &str, when_stopped: &str, at: [f64; 3]| {
        let how = [strategy, when_stopped, "idle"].map(str::to_owned);
        let row = found.iter().find(|row| row.0 == how && row.1 == at);
        row.expect("a row of the query").2
    };
    let said = |[percent, half, _]: [f64; 3]| {
        let sign = if percent < 0.0 { "−" } else { "" };
        format!("{sign}{:.1} ± {half:.1}", percent.abs())
    };
    let overbooked = |pof_max| cell("heuristic-overbooking", "requeue", [pof_max, 0.0, 1.0]);
    let beside = |share, price| said(cell("heuristic-planning", "suspend", [0.1, share, price]));
    let expected = [
        said(overbooked(0.3)),
        said(overbooked(0.5)),
        format!("{:.1}", overbooked(0.5)[2]),
        beside(25.0, 1.0),
        beside(25.0, 0.5),
        beside(25.0, 0.0),
        beside(50.0, 1.0),
        beside(50.0, 0.5),
        beside(50.0, 0.0),
    ];
    let row = format!("| SDSC SP2 | {} |", expected.join(" | "));
    assert!(read("best-effort.md").contains(&row), "{row}");
}

#[test]
fn sdsc_sp2_gives_what_known_hours_of_failures_are_worth_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "failures/rate-sdsc-sp2.toml");
    let query = fs::read_to_string(project().join("configs/failures/rate.sql"));
    let store = folder.path().join("it.db");
    let found = rows(&store, &query.expect("a query"), |row| {
        let of: [String; 3] = [
            row.get("strategy")?,
            row.get("believed")?,
            row.get("quantity")?,
        ];
        let full_length: bool = row.get("full_length")?;
        let numbers: [f64; 3] = [row.get("base")?, row.get("more")?, row.get("half_width")?];
        Ok((of, full_length, numbers))
    });
    let cell = |believed: &str, quantity: &str| {
        let of = ["comprehensive-overbooking", believed, quantity].map(str::to_owned);
        let row = found.iter().find(|row| row.0 == of && row.1);
        row.expect("a row of the query").2
    };
    let said = |believed: &str, quantity: &str, scale: f64| {
        let [_, more, half] = cell(believed, quantity).map(|number| number * scale);
        let sign = if more < 0.0 { '−' } else { '+' };
        format!("{sign}{:.1} ± {half:.1}", more.abs())
    };
    let (gain, failed) = (
        cell("right less constant", "gain")[0],
        cell("right less constant", "failed")[0],
    );
    let percent = 100.0 / gain;
    let of_wrong = 100.0 / cell("right less wrong", "gain")[0];
    let row = format!(
        "| SDSC SP2, comprehensive, all slots | {} | {} | {} | {} | {failed:.1} | {} | {} |",
        grouped(gain),
        said("right less constant", "gain", percent),
        said("wrong less constant", "gain", percent),
        said("right less wrong", "gain", of_wrong),
        said("right less constant", "failed", 1.0),
        said("wrong less constant", "failed", 1.0),
    );
    assert!(read("measurements/failures.md").contains(&row), "{row}");
}

#[test]
fn sdsc_sp2_gives_the_surplus_at_each_tightness_again_and_none_where_estimates_are_exact() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none()
        || std::env::var_os("BOOKAHEAD_FAILURES").is_none()
    {
        println!("skipped: needs the folders that BOOKAHEAD_TRACES and BOOKAHEAD_FAILURES name");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), "estimate-tightness/sdsc-sp2.toml");
    run(folder.path(), "estimate-tightness/failures-sdsc-sp2.toml");
    let page = read("estimate-tightness.md");
    let [query] = &queries("estimate-tightness.md")[..] else {
        panic!("another number of queries");
    };
    let found = rows(&folder.path().join("it.db"), query, |row| {
        let [threshold, tightness] = [row.get("threshold")?, row.get("tightness")?];
        let arm: (String, String) = (row.get("experiment")?, row.get("arm")?);
        let numbers: [f64; 5] = [
            row.get("planning")?,
            row.get("percent")?,
            row.get("variance")?,
            row.get("differing")?,
            row.get("overbooked")?,
        ];
        Ok((arm, threshold, tightness, numbers))
    });
    let mut cells = 0;
    for threshold in [0.1, 0.3, 0.6, 0.9] {
        let start = format!("| SDSC SP2 | {threshold} |");
        let line = page.lines().find(|line| line.starts_with(&start));
        let line: Vec<&str> = line.expect("a row of the first table").split('|').collect();
        for (at, share) in [1.0, 0.75, 0.5, 0.25, 0.1].into_iter().enumerate() {
            let row = found.iter().find(|((experiment, _), at, tightness, _)| {
                experiment == "tightness-sdsc-sp2" && (*at, *tightness) == (threshold, share)
            });
            let [planning, percent, variance, ..] = row.expect("a row of the query").3;
            let sign = if percent < 0.0 { '−' } else { '+' };
            let half = 100.0 * 2.093 * variance.sqrt() / planning;
            let said = format!("{sign}{:.1} ± {half:.1}", percent.abs());
            assert_eq!(line[3 + at].trim().trim_matches('*'), said);
            cells += 1;
        }
    }
    assert_eq!(cells, 20);
    let rules = ["", "final, wait-full", "restart-short, wait-short"];
    let exact = found
        .iter()
        .filter(|(_, _, tightness, _)| *tightness == 0.0);
    for ((experiment, arm), .., [_, _, _, differing, overbooked]) in exact {
        assert_eq!(*overbooked, 0.0, "{experiment}, {arm}");
        let is_same = rules.contains(&arm.as_str());
        assert_eq!(*differing == 0.0, is_same, "{experiment}, {arm}");
    }
}

/// The row of a table on the page of the market: the differences that a query finds for the
/// measures of its columns, or the mean where the page has one.
fn market_row(
    found: &[(Vec<String>, [Option<f64>; 3])],
    key: &[&str],
    columns: &[(&str, bool)],
) -> String {
    let minus = |value: f64| if value < 0.0 { "−" } else { "" };
    let cells = columns.iter().map(|(measure, is_mean)| {
        let wanted: Vec<&str> = key.iter().copied().chain([*measure]).collect();
        let row = found.iter().find(|(of, _)| *of == wanted);
        let [mean, more, half] = row.unwrap_or_else(|| panic!("no {wanted:?}")).1;
        let (mean, more, half) = (
            mean.unwrap_or_default(),
            more.unwrap_or_default(),
            half.unwrap_or_default(),
        );
        if *is_mean {
            return format!("{}{:.1}", minus(mean), mean.abs());
        }
        let sign = if more < 0.0 { "−" } else { "+" };
        let said = format!("{sign}{:.1} ± {half:.1}", more.abs());
        if more.abs() > half {
            format!("**{said}**")
        } else {
            said
        }
    });
    cells.collect::<Vec<_>>().join(" | ")
}

/// Runs an experiment of the market and returns what its query finds: the cell and the measure,
/// mean, difference and half-width.
fn market(name: &str, key: &[&str]) -> Vec<(Vec<String>, [Option<f64>; 3])> {
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), format!("market/ctc-{name}.toml"));
    let query = fs::read_to_string(project().join(format!("configs/market/{name}.sql")));
    let query = query.expect("a query");
    rows(&folder.path().join("it.db"), &query, |row| {
        let columns = key.iter().copied().chain(["measure"]);
        let key = columns.map(|column| {
            Ok(match row.get_ref(column)? {
                rusqlite::types::ValueRef::Real(number) => number.to_string(),
                other => other.as_str()?.to_owned(),
            })
        });
        let numbers = [row.get("mean")?, row.get("more")?, row.get("half_width")?];
        Ok((key.collect::<rusqlite::Result<_>>()?, numbers))
    })
}

#[test]
fn markets_with_homes_prices_auctions_and_outages_give_a_row_of_their_page_again() {
    if std::env::var_os("BOOKAHEAD_TRACES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_TRACES names");
        return;
    }
    let page = read("measurements/market.md");
    let gains = [
        ("market_provider_gain_percent", false),
        ("market_customer_gain_percent", false),
    ];
    let homes = market("home", &["policy", "first_percent", "overflow"]);
    let taken = [
        ("market_delegated_percent", false),
        ("market_most_loaded_kept_percent", false),
        ("market_least_loaded_kept_percent", false),
    ];
    let columns = [&taken[..], &gains, &[("market_away_percent", true)]].concat();
    let row = market_row(&homes, &["heuristic-overbooking", "60", "ask"], &columns);
    let row = format!("| overbooking | 60 % | others are asked | {row} |");
    assert!(page.contains(&row), "{row}");

    let prices = market("prices", &["policy", "supply", "slope"]);
    let columns = [
        &[
            ("market_price_percent", true),
            ("market_virtual_supply_percent", true),
            ("market_delegated_percent", false),
        ],
        &gains[..],
        &[("market_jain_percent", false)],
    ]
    .concat();
    let row = market_row(&prices, &["heuristic-overbooking", "nodes", "1"], &columns);
    let row = format!("| overbooking | nodes | 1 | {row} |");
    assert!(page.contains(&row), "{row}");

    let auctions = market("auctions", &["policy", "mechanism"]);
    let columns = [
        &[
            ("market_agreed_price_percent", true),
            ("market_delegated_percent", false),
        ],
        &gains[..],
        &[("market_jain_percent", false)],
    ]
    .concat();
    let row = market_row(
        &auctions,
        &["heuristic-overbooking", "reverse-second"],
        &columns,
    );
    let row = format!("| overbooking | second price | {row} |");
    assert!(page.contains(&row), "{row}");

    let outages = market("outages", &["mtbf_days", "arm"]);
    let moves = [("market_moves", true), ("market_moved_kept_percent", true)];
    let columns = [&[("failed", false)], &gains[..], &moves].concat();
    let row = market_row(&outages, &["2.5", "daly, best-offer, remote"], &columns);
    let row = format!("| 2.5 days | may move, remote checkpoints | {row} |");
    assert!(page.contains(&row), "{row}");
}
