//! The file of a first experiment: it is valid, runs in seconds, and shows every key that counts
//! for it with what the key means.
//!
//! A study says which keys it sets and what it varies ([`Starter`](crate::study::Starter)); the
//! text is made from the declarations of the keys. A key is shown when the simulations of the file
//! are others with another value of it.

use std::fmt::Write as _;
use std::ops::Bound::{Excluded, Included, Unbounded};

use super::axes::dimensions;
use super::combination::nodes_of;
use super::document::{Document, node_of};
use super::keys::{Key, Keys, Kind, Section};
use super::unread::{Combination, sampled, simulations};
use crate::keys::problem::Problems;
use crate::study::{AnyStudy, Studies};

/// Characters of a line of comments.
const WIDTH: usize = 110;

/// How often a first experiment is repeated, as a number and as it stands in the file.
const REPLICATIONS: (u32, &str) = (3, "3");

/// What all first experiments set.
const COMMON: &[(&str, &str)] = &[
    ("experiment.seed", "1"),
    ("experiment.replications", REPLICATIONS.1),
    ("workload.model", "\"lublin-feitelson\""),
    ("workload.jobs", "1500"),
    ("workload.nodes", "64"),
];

/// Values that are tried to find out whether a number counts.
const NUMBERS: [f64; 10] = [2.0, 1.0, 10.0, 0.5, 0.25, 5.0, 50.0, 100.0, 1000.0, 0.0];

/// What a study or a policy is called, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning {
    /// What [`starter`] takes.
    pub name: String,
    /// A sentence.
    pub about: String,
}

/// Everything that there is a first experiment for: the studies, then the policies.
pub fn beginnings(studies: Studies) -> impl Iterator<Item = Beginning> {
    let of_studies = studies.iter().map(|study| Beginning {
        name: study.name().to_owned(),
        about: study.about().trim_end_matches('.').to_owned(),
    });
    let of_policies = studies.policies().map(|policy| Beginning {
        name: policy.name.to_owned(),
        about: policy.summary.to_owned(),
    });
    of_studies.chain(of_policies)
}

/// The file of a first experiment with a study (by its name, or by the strategy that stands for it)
/// or with a policy; `None` where there is neither.
#[must_use]
pub fn starter(studies: Studies, name: &str) -> Option<String> {
    let chosen = Chosen::of(studies, name)?;
    Some(chosen.text(name))
}

/// What a first experiment sets and varies.
struct Chosen {
    known: Keys,
    study: &'static str,
    about: &'static str,
    keys: Vec<(&'static str, String)>,
    axes: Vec<(&'static str, String)>,
}

impl Chosen {
    fn of(studies: Studies, name: &str) -> Option<Self> {
        let is_named = |study: &&dyn AnyStudy| {
            study.name() == name || study.strategy().is_some_and(|known| known.name == name)
        };
        if let Some(study) = studies.iter().find(is_named) {
            let mut chosen = Self::of_study(studies, study);
            if let Some(strategy) = study.strategy() {
                chosen.set("scheduling.strategy", format!("{:?}", strategy.name));
            }
            return Some(chosen);
        }
        let policy = studies.policy(name)?;
        let mut chosen = Self::of_study(studies, studies.of_strategy(name)?);
        chosen.about = policy.summary;
        let is_read = |key: &str| policy.overbooks || !key.starts_with("acceptance.");
        chosen
            .axes
            .retain(|(key, _)| *key != "scheduling.strategy" && is_read(key));
        match policy.baseline {
            Some(baseline) => {
                let values = format!("[{baseline:?}, {name:?}]");
                chosen.axes.insert(0, ("scheduling.strategy", values));
            }
            None => chosen.set("scheduling.strategy", format!("{name:?}")),
        }
        chosen.drop_unread();
        if chosen.axes.is_empty() {
            chosen
                .keys
                .retain(|(key, _)| *key != "workload.load.each_battery");
            let loads = "[0.8, 1.2]".to_owned();
            chosen.axes.push(("workload.load.each_battery", loads));
        }
        Some(chosen)
    }

    fn of_study(studies: Studies, study: &dyn AnyStudy) -> Self {
        let mut chosen = Self {
            known: Keys::of(studies),
            study: study.name(),
            about: study.about(),
            keys: Vec::new(),
            axes: Vec::new(),
        };
        for (key, value) in COMMON.iter().chain(study.starter().keys) {
            chosen.set(key, (*value).to_owned());
        }
        for (key, values) in study.starter().axes {
            chosen.axes.push((key, (*values).to_owned()));
        }
        chosen
    }

    fn set(&mut self, key: &'static str, value: String) {
        match self.keys.iter_mut().find(|(known, _)| *known == key) {
            Some((_, before)) => *before = value,
            None => self.keys.push((key, value)),
        }
    }

    fn is_set(&self, key: &str) -> Option<&str> {
        let found = self.keys.iter().find(|(known, _)| *known == key)?;
        Some(&found.1)
    }

    fn is_axis(&self, key: &str) -> bool {
        self.axes.iter().any(|(known, _)| *known == key)
    }

    /// Leaves out settings of the policy that it does not read, such as those that only overbooking
    /// has.
    fn drop_unread(&mut self) {
        let (known, whole) = (self.known, self.bare());
        let with = all_simulations(known, &whole);
        self.keys.retain(|(key, value)| {
            let is_of_policy = key.starts_with("scheduling.") && *key != "scheduling.strategy";
            let without = whole.replace(&line_of(key, value), "");
            !is_of_policy || all_simulations(known, &without) != with
        });
    }

    /// The file without a word of comment.
    fn bare(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.keys {
            text += &line_of(key, value);
        }
        for (key, values) in &self.axes {
            let _ = writeln!(text, "[[axis]]\nkey = {key:?}\nvalues = {values}");
        }
        text
    }

    /// The file.
    fn text(mut self, name: &str) -> String {
        self.set("experiment.name", format!("\"first-{name}\""));
        let about = self.about.trim_end_matches('.');
        let bare = self.bare();
        let others = others(self.known, &bare);
        let mut text = String::new();
        comment(&mut text, &format!("A first experiment: {about}."));
        text += "#\n#   bookahead check FILE    what it will do, and whether everything is there\n";
        text += "#   bookahead run FILE      run it and write its report\n#\n";
        comment(
            &mut text,
            "Every key that counts here is shown. A line such as `#laxity = 2` holds the default, or an example where there is none: \
             take the `#` away to set it, and the one in front of its table. `bookahead list keys` explains every key of every study; \
             after `bookahead list schema --out experiment.schema.json`, the first line `#:schema experiment.schema.json` lets editors \
             complete and check this file.",
        );
        let sections = self.known.sections_for(self.study);
        for section in &sections {
            self.section(section, &others, &mut text);
        }
        text += "\n# What is varied: every value of one axis with every value of the others.\n";
        for (key, values) in &self.axes {
            text += "[[axis]]\n";
            let mut known = sections.iter().flat_map(|section| section.keys);
            if let Some(known) = known.find(|known| known.path == *key) {
                explain(known, &mut text);
            }
            let _ = writeln!(text, "key = {key:?}\nvalues = {values}");
        }
        text
    }

    /// A table, where one of its keys counts.
    fn section(&self, section: &Section, others: &[(&'static str, String)], text: &mut String) {
        let is_shown = |key: &&Key| {
            !self.is_axis(key.path)
                && (self.is_set(key.path).is_some()
                    || others.iter().any(|(other, _)| *other == key.path))
        };
        let shown: Vec<&Key> = section.keys.iter().filter(is_shown).collect();
        if shown.is_empty() {
            return;
        }
        let is_open = shown.iter().any(|key| self.is_set(key.path).is_some());
        text.push('\n');
        comment(text, section.about);
        if section.path == "workload" {
            comment(
                text,
                "For a log write `trace = \"CTC-SP2-1996-3.1-cln.swf\"` instead of `model`, `jobs` and `nodes` (the machine is then as large as that \
                 of the log), and of a whole log leave out `fresh`: `bookahead list traces` lists the available logs.",
            );
        }
        let mark = if is_open { "" } else { "#" };
        let _ = writeln!(text, "{mark}[{}]", section.path);
        for key in shown {
            explain(key, text);
            let name = key.path.rsplit('.').next().unwrap_or(key.path);
            let other = others.iter().find(|(other, _)| *other == key.path);
            match (self.is_set(key.path), other) {
                (Some(value), _) => _ = writeln!(text, "{name} = {value}"),
                (None, Some((_, value))) => _ = writeln!(text, "#{name} = {value}"),
                (None, None) => {}
            }
        }
    }
}

/// A key with its value, by its whole path.
fn line_of(key: &str, value: &str) -> String {
    format!("{key} = {value}\n")
}

/// What is simulated by a file, at the combinations that are looked at.
fn all_simulations(keys: Keys, bare: &str) -> Vec<Option<(String, u64)>> {
    let mut problems = Problems::new("", bare);
    let Some(document) = Document::parse(keys, bare, &mut problems) else {
        return Vec::new();
    };
    let dimensions = dimensions(&document, &mut problems);
    let nodes = nodes_of(&dimensions);
    simulations(
        &document,
        &sampled(&dimensions, &nodes),
        REPLICATIONS.0,
        bare,
    )
}

/// What a key is and what it may be.
fn explain(key: &Key, text: &mut String) {
    comment(text, &format!("{} [{}]", key.about, key.allowed()));
}

fn comment(text: &mut String, words: &str) {
    let options = textwrap::Options::new(WIDTH)
        .initial_indent("# ")
        .subsequent_indent("# ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    for line in textwrap::wrap(words, options) {
        let _ = writeln!(text, "{line}");
    }
}

/// The keys that a file does not set and that count for it, each with its default as it stands in a
/// file, or with a value that counts.
fn others(keys: Keys, bare: &str) -> Vec<(&'static str, String)> {
    let mut problems = Problems::new("", bare);
    let Some(document) = Document::parse(keys, bare, &mut problems) else {
        return Vec::new();
    };
    let dimensions = dimensions(&document, &mut problems);
    let nodes = nodes_of(&dimensions);
    let combinations = sampled(&dimensions, &nodes);
    let is_given = |key: &Key| document.given().iter().any(|(path, _)| path == key.path);
    keys.all()
        .filter(|key| keys.is_axis(key) && !is_given(key))
        .filter_map(|key| {
            let default = default_text(key);
            let before = simulated(&document, &combinations, bare, key, default.as_deref())?;
            let counts = |value: &String| {
                let with = simulated(&document, &combinations, bare, key, Some(value));
                with.is_some_and(|with| with != before)
            };
            let value = tried(keys, key).into_iter().find(counts)?;
            Some((key.path, default.unwrap_or(value)))
        })
        .collect()
}

/// What is simulated with a key at this value, or with the file as it is; `None` where that is
/// refused.
fn simulated(
    document: &Document<'_>,
    combinations: &[Combination<'_, '_>],
    text: &str,
    key: &Key,
    value: Option<&str>,
) -> Option<Vec<(String, u64)>> {
    let Some(value) = value else {
        return simulations(document, combinations, REPLICATIONS.0, text)
            .into_iter()
            .collect();
    };
    let changed = document.changed(key.path, Some(&node_of(value, 0..0)?));
    simulations(&changed, combinations, REPLICATIONS.0, text)
        .into_iter()
        .collect()
}

/// The default of a key as it stands in a file.
fn default_text(key: &Key) -> Option<String> {
    let default = key.default()?;
    Some(match key.kind {
        Kind::Text => format!("{default:?}"),
        _ => default,
    })
}

/// Values that a key may have, to find out whether it counts.
fn tried(keys: Keys, key: &Key) -> Vec<String> {
    let is_allowed = |number: &f64| {
        let (least, most) = key.range;
        let is_above = match least {
            Included(least) => *number >= least,
            Excluded(least) => *number > least,
            Unbounded => true,
        };
        let is_below = match most {
            Included(most) => *number <= most,
            Excluded(most) => *number < most,
            Unbounded => true,
        };
        is_above && is_below
    };
    let numbers = NUMBERS.into_iter().filter(is_allowed);
    match (key.kind, key.names) {
        (_, Some(_)) => keys
            .names(key)
            .iter()
            .map(|name| format!("{name:?}"))
            .collect(),
        (Kind::Flag, _) => vec!["true".to_owned(), "false".to_owned()],
        (Kind::Integer, _) => numbers
            .filter(|number| number.fract() == 0.0)
            .map(|number| number.to_string())
            .collect(),
        (Kind::Real, _) => numbers.map(|number| number.to_string()).collect(),
        (Kind::List, _) => vec!["[2]".to_owned(), "[1]".to_owned()],
        (Kind::Text, None) => Vec::new(),
    }
}
