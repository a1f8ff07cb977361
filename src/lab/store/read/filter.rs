//! Which runs a person wants listed.

use rusqlite::types::Value;

use crate::store::labels::Tag;
use crate::store::tables::outcomes;
use crate::study::Studies;

/// Conditions on runs, all of which hold; by default every run meets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// The experiment's name, with `*` for any characters, `?` for one and `[…]` for one of these.
    pub name: Option<String>,
    /// A study that simulations of the run are of.
    pub study: Option<String>,
    /// `running`, `done`, `interrupted` or `failed`.
    pub state: Option<String>,
    /// It began at this moment or later, milliseconds since 1970 (UTC).
    pub since: Option<i64>,
    /// It began before this moment.
    pub before: Option<i64>,
    /// It has all of these tags.
    pub tags: Vec<Tag>,
}

impl RunFilter {
    /// The condition on the run `r`, and the values of its parameters.
    pub(super) fn condition(&self, studies: Studies) -> (String, Vec<Value>) {
        let study = outcomes::study(studies, "t.name");
        let of_study = format!(
            "EXISTS (SELECT 1 FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
                WHERE rp.run = r.id AND m.strategy IN (SELECT t.code FROM strategy t WHERE {study} = ?))"
        );
        let text = |text: &Option<String>| text.clone().map(Value::from);
        let given = [
            ("r.name GLOB ?", text(&self.name)),
            (of_study.as_str(), text(&self.study)),
            ("r.started >= ?", self.since.map(Value::from)),
            ("r.started < ?", self.before.map(Value::from)),
        ];
        let of_tag = "EXISTS (SELECT 1 FROM run_tag t WHERE t.run = r.id AND t.tag = ?)";
        let tags = self
            .tags
            .iter()
            .map(|tag| (of_tag, Value::from(tag.to_string())));
        let mut conditions = vec!["1"];
        let mut values = Vec::new();
        let given = given
            .into_iter()
            .filter_map(|(condition, value)| Some((condition, value?)));
        for (condition, value) in given.chain(tags) {
            conditions.push(condition);
            values.push(value);
        }
        (conditions.join(" AND "), values)
    }

    /// Whether a run in this state is wanted. Which state it is in, no table says alone: a process
    /// may have died.
    pub(super) fn is_met_by_state(&self, state: &str) -> bool {
        self.state.as_deref().is_none_or(|wanted| wanted == state)
    }
}
