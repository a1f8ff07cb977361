use super::*;
use crate::studies::STUDIES;
use bookahead_papers::findings::MeasureNames;

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_copies_in_the_program_are_the_files_of_the_folder() {
    let nowhere = Path::new("/no/such/folder");
    let names = paper_names(nowhere);
    assert_eq!(names, paper_names(here()));
    assert!(names.len() > 4, "{names:?}");
    for name in names {
        let (own, copied) = (
            Paper::read(here(), &name).unwrap(),
            Paper::read(nowhere, &name).unwrap(),
        );
        assert_eq!(own.traces, copied.traces);
        assert_eq!(own.stems().unwrap(), copied.stems().unwrap());
        let data = [PAPER, FINDINGS, EXPLANATIONS, READINGS].map(str::to_owned);
        for stem in own.stems().unwrap().into_iter().chain(data) {
            let file = own.optional(&stem).unwrap();
            let copy = copied.optional(&stem).unwrap();
            assert_eq!(file.is_some(), copy.is_some(), "{stem}");
            if let (Some(file), Some(copy)) = (file, copy) {
                assert_eq!(file.text, copy.text, "{stem}");
                assert!(file.path.is_some() && copy.path.is_none());
            }
        }
        let findings = own.configuration(FINDINGS).unwrap();
        let findings =
            bookahead_papers::findings::parse(FINDINGS, &findings.text, STUDIES, MeasureNames::Any)
                .unwrap();
        for stem in findings.point_files() {
            let points = own.points(&stem).unwrap();
            assert_eq!(points, copied.points(&stem).unwrap(), "{stem}");
            assert_ne!(points, PublishedPoints::default());
        }
    }
}

#[test]
fn moved_clocks_are_the_risk_experiment_and_nothing_else() {
    use crate::sweep::{AxisValue, Experiment, Point, Sweep};
    use bookahead_papers::findings::tables::CellCheck;
    use bookahead_papers::findings::{Check, parse};

    let paper = Paper::read(here(), "birkenheuer2012").unwrap();
    let sweep = |stem: &str| {
        let text = paper.configuration(stem).unwrap().text;
        Experiment::parse(STUDIES, stem, &text, None).unwrap().sweep
    };
    let subject = |point: &Point| {
        let axis = |key: &str| format!("{:?}", point.axes.get(key));
        let names = [axis("estimates.classes"), axis("scheduling.strategy")];
        (names, point.penalty_ratio.to_bits())
    };
    let of = |sweep: &Sweep, point: &Point| sweep.simulations.get(point.simulation);
    let published = paper.configuration(FINDINGS).unwrap();
    let published = parse(FINDINGS, &published.text, STUDIES, MeasureNames::Any).unwrap();
    let rule = published
        .cells
        .as_ref()
        .unwrap()
        .alignment
        .as_ref()
        .unwrap();
    for trace in &paper.traces {
        let [_, risk, moved] = trace.runs.as_slice() else {
            panic!("{}: three experiments", trace.name);
        };
        let (risk, moved) = (sweep(risk), sweep(moved));
        let offset = |point: &Point| match point.axes["failures.offset_hours"] {
            AxisValue::Real(hours) => hours,
            ref other => panic!("{other:?} hours"),
        };
        assert!(
            moved
                .points
                .iter()
                .all(|point| offset(point).abs() <= rule.within)
        );
        // Replications differ in their number alone: the first stands for all.
        let first = |sweep: &'_ Sweep| -> Vec<Point> {
            let points = sweep.points.iter().cloned();
            points.filter(|point| point.replication == 0).collect()
        };
        let mut here = first(&moved);
        here.retain(|point| offset(point) == 0.0);
        let twins = first(&risk);
        for point in &here {
            let twin = twins
                .iter()
                .find(|twin| subject(twin) == subject(point))
                .unwrap();
            assert_eq!(of(&moved, point), of(&risk, twin), "{}", moved.name);
        }
        // Every claim that is judged over alignments finds its cell, and no cell is simulated for
        // nothing.
        let asked = || {
            let own = published.findings.iter();
            own.filter(|finding| finding.trace.as_ref() == Some(&trace.name))
                .filter_map(|finding| match &finding.check {
                    Check::Cell(check) if rule.asks_for(check) => Some((&finding.id, check)),
                    _ => None,
                })
        };
        let cell = |point: &Point, family: Option<&str>, strategy: &str, ratio: f64| {
            let text = |key: &str| match &point.axes[key] {
                AxisValue::Text(text) => text.clone(),
                other => panic!("{other:?}"),
            };
            family.is_none_or(|family| text("estimates.classes") == family)
                && text("scheduling.strategy") == strategy
                && point.penalty_ratio == ratio
        };
        let strategy = |check: &CellCheck| check.strategy.clone().unwrap();
        for (id, check) in asked() {
            let ratio = check.at.unwrap();
            let found = here
                .iter()
                .any(|point| cell(point, check.family.as_deref(), &strategy(check), ratio));
            assert!(found, "{id}");
        }
        for point in &here {
            let is_asked = asked().any(|(_, check)| {
                // A baseline is one simulation for all families and ratios.
                cell(point, None, &strategy(check), point.penalty_ratio)
                    && (!strategy(check).ends_with("overbooking")
                        || check.at == Some(point.penalty_ratio))
            });
            assert!(is_asked, "{}: {:?}", moved.name, point.axes);
        }
    }
}

#[test]
fn a_folder_with_a_missing_file_is_an_error_that_names_it_and_says_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("configs/birkenheuer2012")).unwrap();
    let error = Paper::read(root.path(), "birkenheuer2012")
        .unwrap_err()
        .to_string();
    assert!(error.contains("birkenheuer2012/paper.toml"), "{error}");
    assert!(
        error.contains("run in a folder without configs/birkenheuer2012/"),
        "{error}"
    );
}

#[test]
fn a_paper_of_a_folder_of_ones_own_is_known_and_what_is_wrong_with_it_is_said_with_line_and_key() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("configs/mine");
    fs::create_dir_all(&folder).unwrap();
    let unknown = Paper::read(root.path(), "mine").unwrap_err().to_string();
    assert!(
        unknown.contains("no paper is called `mine`; there are: birkenheuer2008"),
        "{unknown}"
    );
    assert!(
        unknown.contains("configs/mine/paper.toml in the current folder would make one"),
        "{unknown}"
    );
    for stem in ["one", "two"] {
        fs::write(folder.join(format!("{stem}.toml")), "# A little.\n").unwrap();
    }
    let good = "title = \"Mine\"\n\n[[trace]]\nname = \"small\"\nsubject = \"a model\"\nruns = [\"one\"]\n\n\
                [[trace]]\nname = \"large\"\nsubject = \"a model\"\nruns = [\"two\"]\n";
    let read = |text: &str| {
        fs::write(folder.join("paper.toml"), text).unwrap();
        Paper::read(root.path(), "mine")
    };
    let paper = read(good).unwrap();
    assert_eq!(paper.trace_of("two").unwrap().name, "large");
    assert!(paper_names(root.path()).contains(&"mine".to_owned()));
    for (from, to, problem) in [
        (
            "title",
            "titel",
            "paper.toml: TOML parse error at line 1, column 1",
        ),
        (
            "\"large\"",
            "\"small\"",
            "line 8: trace `small`: `name` appears twice",
        ),
        (
            "\"large\"",
            "\"both\"",
            "`both` is the card of findings that compare traces",
        ),
        ("\"large\"", "\"../large\"", "`name` has letters, digits"),
        ("[\"two\"]", "[]", "line 8: trace `large`: `runs` is empty"),
        (
            "[\"two\"]",
            "[\"three\"]",
            "there is no three.toml beside this file; there are: one, two",
        ),
        (
            "[\"two\"]",
            "[\"one\"]",
            "`runs` names `one`, which is run already",
        ),
        ("runs = [\"two\"]", "run = [\"two\"]", "unknown field `run`"),
        (
            "runs = [\"two\"]",
            "runs = [\"two\"]\n[[summary]]\nfigure = \"1\"\ntitle = \"Gain\"\nunit = \"coins\"\nexperiment = \"pof\"\n\
             quantity = \"max-gain\"\ntraces = [\"huge\"]\ngroups = \"trace\"\nseries = \"strategy\"",
            "summary figure `1`: `traces` names `huge`, which is none",
        ),
        (
            "runs = [\"two\"]",
            "runs = [\"two\"]\n[[summary]]\nfigure = \"1\"",
            "missing field `title`",
        ),
    ] {
        let error = read(&good.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
        assert!(error.contains("configs/mine/paper.toml"), "{error}");
    }
}

#[test]
fn the_page_of_decisions_has_every_ambiguity_and_names_only_ablations_that_exist() {
    let page = include_str!("../../../../docs/decisions.md");
    for number in 1..=45 {
        assert!(
            page.contains(&format!("</a>A-{number:02} | ")),
            "A-{number:02}"
        );
    }
    let stems = Paper::read(here(), "birkenheuer2012")
        .unwrap()
        .stems()
        .unwrap();
    let named: Vec<&str> = page
        .split('`')
        .filter(|word| word.starts_with("ablation-"))
        .collect();
    assert!(named.len() > 20);
    for name in named {
        assert!(
            stems.iter().any(|stem| stem == name),
            "{name} does not exist"
        );
    }
}
