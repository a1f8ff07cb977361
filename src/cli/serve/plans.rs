//! The page of the plans of a run: the best point of each strategy, the points of a setting or
//! behind a mark of a figure, and any other point.

use std::path::Path;

use maud::html;

use super::pages::{self, PageFailure};
use crate::cli::{gantt, studies};
use crate::store::{ListedPoint, RunSelector, Store};

/// Points that one page lists.
const MOST_POINTS: usize = 200;

/// The key of the axis that names the policy, which a point has also where it is no axis.
const STRATEGY: &str = "scheduling.strategy";

/// The page. Without values of axes it lists every setting with its first replication, else every
/// done point at these values.
///
/// # Errors
///
/// When the store cannot be read, or has no such run or axis.
pub(super) fn page(
    path: &Path,
    run: &RunSelector,
    at: &[(String, String)],
) -> Result<String, PageFailure> {
    let store = Store::open_read_only(studies(), path)?;
    let run = store.run(run)?;
    let places = store.best_places(run.id)?;
    let number = run.id.0;
    let mut listed = Vec::new();
    let mut more = 0;
    let mut first = None;
    let mut known = vec![false; at.len()];
    store.list_done_points(run.id, |point| {
        let mut is_wanted =
            !at.is_empty() || *first.get_or_insert(point.replication) == point.replication;
        for ((key, value), known) in at.iter().zip(&mut known) {
            // A point that has no value on an axis is at each of them.
            if let Some(is_there) = is_at(&point, key, value) {
                *known = true;
                is_wanted &= is_there;
            }
        }
        match (is_wanted, listed.len() < MOST_POINTS) {
            (true, true) => listed.push(point),
            (true, false) => more += 1,
            (false, _) => {}
        }
    })?;
    if let Some(((key, _), _)) = at.iter().zip(known).find(|(_, known)| !known) {
        let text = format!("No done point of this run has a value on the axis `{key}`.");
        return Err(PageFailure::wrong(text));
    }
    let held: Vec<String> = at
        .iter()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    let address = |place: u32| format!("/runs/{number}/plan?point={place}");
    let head = html! {
        p.lead {
            "A point is simulated again from what the store has of it, checked against its stored totals, and drawn. Its traces must be \
             where BOOKAHEAD_TRACES was when the server began. Large simulations take as long as they took. Plans of machines that count \
             their nodes are read off the stored outcomes."
        } "\n"
    };
    let body = html! {
        @if at.is_empty() {
            section { h2 { "The best point of each strategy" } "\n"
                @if places.is_empty() { p { "No point is done yet." } "\n" }
                ul {
                    @for (place, strategy) in &places {
                        li { a href=(address(*place)) { (strategy) } ", point " (place) } "\n"
                    }
                }
            } "\n"
        }
        section {
            h2 { @if at.is_empty() { "Each setting, in its first replication" } @else { "Points at " (held.join(", ")) } } "\n"
            @if !at.is_empty() && listed.is_empty() { p { "No point is done there." } "\n" }
            ul {
                @for point in &listed {
                    li {
                        a href=(address(point.place)) { (gantt::point_words(&point.strategy, &point.axes, point.replication)) }
                        ", point " (point.place)
                    } "\n"
                }
            }
            @if more > 0 { p.note { (more) " more: " code { "bookahead show " (number) " --points" } " lists all." } "\n" }
        } "\n"
        section { h2 { "Another point" } "\n"
            form.tools action={ "/runs/" (number) "/plan" } {
                label { "point " input type="number" name="point" min="0" max=(run.points.saturating_sub(1)) required; }
                label { "cluster " input type="number" name="cluster" min="0" value="0"; }
                button type="submit" { "Draw" }
            } "\n"
            p.note { code { "bookahead show " (number) " --points" } " lists the points; places and clusters are counted from 0." } "\n"
        } "\n"
        p { a href={ "/runs/" (number) } { "The report of this run" } } "\n"
    };
    Ok(pages::framed(&format!("Plans of {}", run.name), &head, &body).0)
}

/// Whether a point has this value on an axis, as a reader writes it; `None` where it has no value
/// on it.
fn is_at(point: &ListedPoint, key: &str, value: &str) -> Option<bool> {
    if key == STRATEGY {
        return Some(point.strategy == value);
    }
    let axes: serde_json::Value = serde_json::from_str(&point.axes).unwrap_or_default();
    match axes.get(key)? {
        serde_json::Value::Null => None,
        serde_json::Value::String(name) => Some(name == value),
        serde_json::Value::Number(number) => Some(
            value
                .parse()
                .is_ok_and(|value| number.as_f64() == Some(value)),
        ),
        other => {
            let written = other.to_string();
            Some(written == value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_at_a_value_however_the_number_is_written() {
        let point = ListedPoint {
            place: 0,
            strategy: "s".to_owned(),
            axes: r#"{"a.number":0.20,"a.name":"moga","a.flag":true}"#.to_owned(),
            replication: 0,
        };
        for (key, value, is_there) in [
            (STRATEGY, "s", Some(true)),
            (STRATEGY, "t", Some(false)),
            ("a.number", "0.2", Some(true)),
            ("a.number", "2e-1", Some(true)),
            ("a.number", "0.3", Some(false)),
            ("a.number", "x", Some(false)),
            ("a.name", "moga", Some(true)),
            ("a.flag", "true", Some(true)),
            ("a.flag", "1", Some(false)),
            ("nothing", "1", None),
        ] {
            assert_eq!(is_at(&point, key, value), is_there, "{key} {value}");
        }
    }
}
