//! The page on the experiment file says what the program reads.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use bookahead::scheduling::registry::STRATEGIES;
use bookahead::sweep::keys::{KEYS, Kind};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    fs::read_to_string(path).expect("the page is part of the project")
}

/// The rows of the tables of keys: key and the other cells.
fn rows(page: &str) -> Vec<(&str, &str)> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .collect()
}

#[test]
fn the_page_describes_every_key_once_and_no_other() {
    let page = page();
    let described: Vec<&str> = rows(&page).iter().map(|(key, _)| *key).collect();
    let known: Vec<&str> = KEYS.iter().map(|key| key.path).collect();
    let sorted = |list: &[&str]| {
        let mut list: Vec<String> = list.iter().map(|key| (*key).to_owned()).collect();
        list.sort_unstable();
        list
    };
    assert_eq!(sorted(&described), sorted(&known));
}

#[test]
fn the_page_names_every_value_that_a_key_of_names_allows() {
    let page = page();
    for (key, cells) in rows(&page) {
        let known = bookahead::sweep::keys::find(key).expect("checked by the test above");
        if known.kind != Kind::Text {
            continue;
        }
        let quoted = |text: &str| -> BTreeSet<String> {
            text.split('"')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect()
        };
        let missing: Vec<String> = quoted(known.allowed)
            .difference(&quoted(cells))
            .cloned()
            .collect();
        assert!(
            missing.is_empty(),
            "{key}: the page does not name {missing:?}"
        );
    }
    let (_, strategies) = rows(&page)
        .into_iter()
        .find(|(key, _)| *key == "scheduling.strategy")
        .expect("a row for strategies");
    for strategy in STRATEGIES {
        assert!(
            strategies.contains(&format!("`\"{}\"`", strategy.name)),
            "{}",
            strategy.name
        );
    }
}
