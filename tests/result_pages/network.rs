//! The page about slots on the network.

use super::setting::{Setting, has_traces};
use super::*;

const PAGE: &str = "measurements/network-slots.md";

#[test]
fn the_page_about_slots_on_the_network_gives_its_row_of_one_lane_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "network-slots/lanes.toml",
        &[
            (
                "    [\"moga\", 0.0],\n    [\"moga\", 0.5],\n    [\"best-effort\", 0.5],\n",
                "",
            ),
            ("    [\"greedy\", 0.0],\n", ""),
            ("[1000, 4000]", "[1000]"),
            ("[0, 1, 2, 4]", "[0, 1]"),
        ],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let here = [("search", "greedy"), ("alpha", "0.5"), ("gigabits", "1000")];
    let of = |lanes| {
        let here: Vec<_> = here.into_iter().chain([("lanes", lanes)]).collect();
        Setting::of(&store, &queries(PAGE)[0], 40, &here)
    };
    let (none, one) = (of("0"), of("1"));
    let row = format!(
        "| 1,000 | `greedy` | 0.5 | {:.1} | {} |",
        none.mean("makespan_minutes"),
        one.difference("makespan_minutes", 2.023, 1),
    );
    let page = read(PAGE);
    assert!(page.contains(&row), "{row}");
}

#[test]
fn the_page_about_slots_on_the_network_gives_its_row_of_a_price_again() {
    if !has_traces() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "network-slots/price.toml",
        &[
            ("[0.0, 0.0005, 0.001, 0.004]", "[0.0, 0.001]"),
            ("[0.0, 0.5, 1.0]", "[0.5]"),
        ],
    );
    run(folder.path(), part);
    let store = folder.path().join("it.db");
    let here = [("alpha", "0.5"), ("price", "0.001")];
    let setting = Setting::of(&store, &queries(PAGE)[1], 40, &here);
    let of = |measure, digits| setting.difference(measure, 2.023, digits);
    let row = format!(
        "| 0.5 | 0.001 | {} | {} | {} | {} |",
        of("wf_transfers", 1),
        of("wf_network_su", 1),
        of("wf_cost_su", 1),
        of("wf_makespan_hours", 2)
    );
    assert!(read(PAGE).contains(&row), "{row}");
}
