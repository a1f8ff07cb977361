//! What reports show of workflows that buy their resources.

use bookahead_studies::STUDIES;
use std::path::Path;

use super::{close, folder, labels, over_axes, the_query_gives_the_marks, viewed, write};
use bookahead_lab::store::RunSelector;
use bookahead_lab::sweep::AxisValue;
use bookahead_report::figure::{Marks, Section};
use bookahead_report::svg::short_number;
use bookahead_testutils::runs::provisioning::provisioned;
use bookahead_testutils::runs::{axis, point, record, text, write_run};
use bookahead_workflows::provisioning::SearchMethod;

const SEARCH: &str = "provisioning.search";
const ALPHA: &str = "requests.alpha";

const SEARCHES: [(&str, SearchMethod); 3] = [
    ("moga", SearchMethod::Moga),
    ("nsga2", SearchMethod::Nsga2),
    ("greedy", SearchMethod::Greedy),
];

/// Three searches with three α, three submissions each.
fn thesis(path: &Path) {
    thesis_about(path, "");
}

/// The same with this line in the head of the experiment.
fn thesis_about(path: &Path, line: &str) {
    let alphas = [0.0, 0.5, 1.0];
    let mut simulations = Vec::new();
    for (name, search) in SEARCHES {
        for alpha in alphas {
            for replication in 0..3 {
                let id = format!("{name}-{alpha}-{replication}");
                let values = [(SEARCH, text(name)), (ALPHA, AxisValue::Real(alpha))];
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(provisioned(&id, search, alpha, replication, points));
            }
        }
    }
    let axes = vec![
        axis(SEARCH, &SEARCHES.map(|(name, _)| text(name))),
        axis(ALPHA, &alphas.map(AxisValue::Real)),
    ];
    let mut record = record("workflows", axes, 27);
    record.configuration.push_str(line);
    write_run(path, &record, simulations);
}

/// Figures of workflows show one standard deviation, as those of the thesis do; the words beside
/// them speak of intervals.
#[test]
fn the_first_screen_says_intervals_of_means_where_figures_show_deviations() {
    let folder = folder();
    let (path, out) = (folder.path().join("store.db"), folder.path().join("out"));
    thesis(&path);
    let (figures, _) = over_axes(&path);
    let figure = figures
        .iter()
        .find(|figure| figure.name == "wf-makespan-hours-by-requests-alpha");
    let series = figure.unwrap().series.iter();
    let ends = series.filter_map(|series| match &series.marks {
        Marks::Whiskers(marks) => Some([*marks.first()?, *marks.last()?]),
        _ => None,
    });
    let mut spread = ends.flatten().filter(|mark| mark.high > mark.mean);
    // Three submissions: Student's t of 2 degrees of freedom over the root of 3.
    let (mark, half) = (spread.next().unwrap(), 4.302_652_73 / 3.0_f64.sqrt());
    let (low, high) = mark.interval();
    close((mark.mean - low) / (mark.mean - mark.low), half);
    close((high - mark.mean) / (mark.high - mark.mean), half);
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    let words = format!(
        "{} [{}, {}] at ",
        short_number(mark.mean),
        short_number(low),
        short_number(high)
    );
    assert!(page.contains(&words), "{words}");
}

/// The study's own measure is the makespan.
#[test]
fn the_first_screen_answers_about_the_measure_that_the_experiment_names() {
    let answered = |line: &str| {
        let folder = folder();
        let (path, out) = (folder.path().join("store.db"), folder.path().join("out"));
        thesis_about(&path, line);
        write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
        let page = std::fs::read_to_string(out.join("report.md")).unwrap();
        let first = |title: &str| page.find(title).unwrap_or(usize::MAX);
        first("Makespan (h)") < first("Allocation cost (SU)")
    };
    assert!(answered(""));
    assert!(!answered("primary = \"wf_cost_su\"\n"));
}

#[test]
fn makespan_and_cost_have_bars_of_one_standard_deviation_and_best_effort_beside_them() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path);
    let (figures, _) = over_axes(&path);
    for figure in &figures {
        the_query_gives_the_marks(&path, figure);
    }
    let find = |name: &str| {
        let found = figures.iter().find(|figure| figure.name == name);
        found.unwrap_or_else(|| panic!("{name}"))
    };
    let makespan = find("wf-makespan-hours-by-requests-alpha");
    assert_eq!(makespan.section, Section::Workflows);
    assert_eq!(labels(makespan), ["moga", "nsga2", "greedy", "best effort"]);
    assert!(makespan.note.contains("one standard deviation"));
    let Marks::Whiskers(marks) = &makespan.series[3].marks else {
        panic!("numbers make a line with bars");
    };
    // Best effort took 8, 8.5 and 9 hours.
    assert_eq!(marks.len(), 3);
    for mark in marks {
        close(mark.mean, 8.5);
        close(mark.low, 8.0);
        close(mark.high, 9.0);
        assert_eq!(mark.count, 3);
    }
    let ratio = find("wf-makespan-ratio-by-requests-alpha");
    assert_eq!(ratio.series.len(), 3);
    let Marks::Whiskers(marks) = &ratio.series[0].marks else {
        panic!("numbers make a line with bars");
    };
    close(marks[0].mean, (3.0 / 8.0 + 3.0 / 8.5 + 3.0 / 9.0) / 3.0);
    assert!(marks[0].high > marks[0].mean);
    assert!(
        figures
            .iter()
            .any(|figure| figure.section == Section::CarriedOut)
    );
}

#[test]
fn the_front_of_one_submission_shows_both_searches_what_alpha_chose_and_best_effort() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path);
    let figures = viewed(&path).first_figures;
    let figure = figures.into_iter().next().expect("fronts were kept");
    the_query_gives_the_marks(&path, &figure);
    assert_eq!(
        labels(&figure),
        [
            "moga: the front",
            "nsga2: the front",
            "moga: chosen",
            "nsga2: chosen",
            "best effort"
        ]
    );
    let Marks::Front(front) = &figure.series[0].marks else {
        panic!("a front is a flight of stairs");
    };
    let shape: Vec<(f64, f64)> = front.iter().map(|mark| (mark.x, mark.mean)).collect();
    assert_eq!(shape, [(11.0, 7.0), (13.0, 6.0), (16.0, 4.0), (20.0, 3.0)]);
    let Marks::Named(chosen) = &figure.series[2].marks else {
        panic!("a choice has its name");
    };
    let chosen: Vec<(f64, f64, &str)> = chosen
        .iter()
        .map(|(mark, name)| (mark.x, mark.mean, name.as_str()))
        .collect();
    assert_eq!(
        chosen,
        [(20.0, 3.0, "α 0"), (13.0, 6.0, "α 0.5"), (11.0, 7.0, "α 1")]
    );
}

#[test]
fn a_report_of_workflows_draws_one_application_of_each_search() {
    let folder = folder();
    let path = folder.path().join("store.db");
    thesis(&path);
    let out = folder.path().join("out");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    for (id, heading) in [
        ("workflows", "Workflows"),
        ("carried-out", "Plans carried out"),
        ("plans", "The plan, seen"),
    ] {
        assert!(
            page.contains(&format!(
                "<details class=\"chapter\" id=\"{id}\"><summary><h2>{heading}</h2>"
            )),
            "{id}"
        );
    }
    assert_eq!(page.matches("<figure class=\"plan\">").count(), 3);
    for name in [
        "workflow-moga.svg",
        "workflow-nsga2.svg",
        "workflow-greedy.svg",
        "pareto-front.svg",
        "pareto-front.csv",
    ] {
        assert!(out.join("plots").join(name).exists(), "{name}");
    }
}

#[test]
fn a_run_without_axes_has_its_drawing_too() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let points = vec![point("alone", &[], 0, 1.0)];
    let alone = provisioned("alone", SearchMethod::BestEffort, 0.5, 0, points);
    write_run(&path, &record("alone", vec![], 1), vec![alone]);
    let out = folder.path().join("out");
    write(STUDIES, &path, &RunSelector::Latest, &out).unwrap();
    assert!(out.join("plots/workflow-best-effort.svg").exists());
    assert!(!out.join("plots/pareto-front.svg").exists());
}
