use super::*;
use bookahead_core::random::stream;
use bookahead_core::workload::workflows::{
    CyberShakeSettings, SyntheticSettings, cyber_shake, synthetic,
};

/// What an attribute says wherever a start of an element stands.
fn values(svg: &str, element: &str, key: &str) -> Vec<f64> {
    svg.split(element)
        .skip(1)
        .filter_map(|rest| {
            let rest = rest.split('>').next()?;
            let value = rest
                .split(&format!(" {key}=\""))
                .nth(1)?
                .split('"')
                .next()?;
            value.parse().ok()
        })
        .collect()
}

#[test]
fn a_hundred_tasks_have_a_box_each_that_overlaps_no_other() {
    let drawn = synthetic(&SyntheticSettings::default(), &mut stream(1, "s", 0, "w")).unwrap();
    let svg = workflow_svg(&drawn);
    let boxes = Drawing::new(&drawn).shapes;
    assert_eq!(boxes.len(), 100);
    assert_eq!(svg.matches("<g><title>").count(), 100);
    assert_eq!(svg.matches("<path ").count(), drawn.edges().len());
    for (index, one) in boxes.iter().enumerate() {
        for other in &boxes[index + 1..] {
            assert!(
                (one.x - other.x).abs() >= BOX.0 || (one.y - other.y).abs() >= BOX.1,
                "{} {}",
                one.x,
                other.x
            );
        }
    }
    let width = values(&svg, "<svg ", "width")[0];
    assert!(
        values(&svg, "<rect ", "x")
            .iter()
            .all(|x| *x > 0.0 && *x < width)
    );
}

#[test]
fn levels_of_thousands_of_tasks_are_one_box_with_their_number() {
    let workflow =
        cyber_shake(&CyberShakeSettings::default(), &mut stream(1, "c", 0, "w")).unwrap();
    let svg = workflow_svg(&workflow);
    assert_eq!(Drawing::new(&workflow).shapes.len(), 7);
    for part in [
        ">synthSGT</text>",
        "4,017 tasks, 519 s × 1 each",
        "8,039 tasks, 12,057 edges, 5 levels",
        "<title>4,017 edges</title>",
        "24 h × 288",
        ">289 processors</text>",
    ] {
        assert!(svg.contains(part), "{part}\n{svg}");
    }
    assert!(svg.len() < 12_000);
}

#[test]
fn children_stand_below_their_parents() {
    let drawn = synthetic(&SyntheticSettings::default(), &mut stream(2, "s", 0, "w")).unwrap();
    let drawing = Drawing::new(&drawn);
    for (from, to) in drawing.lines.keys() {
        assert!(drawing.shapes[*from].y + BOX.1 < drawing.shapes[*to].y);
    }
}

#[test]
fn long_names_and_long_run_times_are_short_in_a_box() {
    assert_eq!(shortened("abcdefgh", 8), "abcdefgh");
    assert_eq!(shortened("abcdefghi", 8), "…cdefghi");
    assert_eq!(duration(0.07), "0.07 s");
    assert_eq!(duration(86_400.0), "24 h");
    assert_eq!(duration(1_200.0), "20 min");
    assert_eq!(duration(28_800.0), "8 h");
}
