//! The JSON Schema of experiment files, for editors and checkers: what a declaration says of one
//! key, and the form of axes.
//!
//! What depends on several keys (a trace or a model, what a strategy reads) is checked where
//! experiments are resolved.

use std::ops::Bound::{Excluded, Included, Unbounded};

use serde_json::{Map, Value, json};

use super::{Key, Keys, Kind, Section};

impl Keys {
    /// The JSON Schema (draft 2020-12) of experiment files.
    #[must_use]
    pub fn schema(self) -> Value {
        let mut definitions: Map<String, Value> = self
            .all()
            .map(|key| (key.path.to_owned(), definition(self, key)))
            .collect();
        let axis_keys: Vec<&Key> = self.all().filter(|key| self.is_axis(key)).collect();
        let paths: Vec<&str> = axis_keys.iter().map(|key| key.path).collect();
        definitions.insert(
            "axis_key".to_owned(),
            json!({ "type": "string", "enum": paths }),
        );
        definitions.insert("range".to_owned(), range("number"));
        definitions.insert("whole_range".to_owned(), range("integer"));

        let mut properties = Map::new();
        let mut top = Vec::new();
        for path in self.tables() {
            if let Some(section) = self.sections().find(|section| section.path == path) {
                properties.insert(path.to_owned(), table(self, section));
                top.push(path);
            }
        }
        properties.insert("axis".to_owned(), tables(axis(&axis_keys)));
        properties.insert("zip".to_owned(), tables(zip()));
        properties.insert("exclude".to_owned(), tables(exclude(&top)));
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Experiment file of bookahead",
            "description": "What an experiment varies, and what it holds fixed. docs/configuration.md explains every key.",
            "type": "object",
            "required": ["experiment"],
            "additionalProperties": false,
            "properties": properties,
            "$defs": definitions,
        })
    }
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// What one key may be; where several studies declare it, in any of them.
fn definition(keys: Keys, key: &Key) -> Value {
    let declared: Vec<(Option<&str>, &Key)> = keys.declared(key.path).collect();
    let of = |key: &Key| match key.kind {
        Kind::List => json!({ "type": "array", "items": single(keys, key, key.element) }),
        kind => single(keys, key, kind),
    };
    let mut forms: Vec<Value> = Vec::new();
    let mut texts: Vec<String> = Vec::new();
    let mut defaults: Vec<Option<String>> = Vec::new();
    for (study, key) in &declared {
        let form = of(key);
        if !forms.contains(&form) {
            forms.push(form);
        }
        let mut text = format!("{}\n\nAllowed: {}", key.about, key.allowed());
        if !key.decides.is_empty() {
            text += &format!("\n\nDecides: {}", key.decides);
        }
        if let (Some(study), true) = (study, declared.len() > 1) {
            text += &format!("\n\nIn the study {study}.");
        }
        texts.push(text);
        if !defaults.contains(&key.default()) {
            defaults.push(key.default());
        }
    }
    let mut of = match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    };
    of["description"] = texts.join("\n\n").into();
    if let [Some(default)] = defaults.as_slice() {
        of["default"] = match key.kind {
            Kind::Text => default.as_str().into(),
            _ => serde_json::from_str(default).unwrap_or_default(),
        };
    }
    of
}

fn single(keys: Keys, key: &Key, kind: Kind) -> Value {
    let number = |of: &'static str| {
        let (least, most) = key.range;
        let mut number = json!({ "type": of });
        for (bound, included, excluded) in [
            (least, "minimum", "exclusiveMinimum"),
            (most, "maximum", "exclusiveMaximum"),
        ] {
            match bound {
                Included(value) => number[included] = shortest(value),
                Excluded(value) => number[excluded] = shortest(value),
                Unbounded => {}
            }
        }
        number
    };
    match (kind, key.names) {
        (Kind::Integer, _) => number("integer"),
        (Kind::Real | Kind::List, _) => number("number"),
        (Kind::Flag, _) => json!({ "type": "boolean" }),
        (Kind::Text, Some(_)) if key.others => {
            json!({ "type": "string", "anyOf": [{ "enum": keys.names(key) }, {}] })
        }
        (Kind::Text, Some(_)) => json!({ "type": "string", "enum": keys.names(key) }),
        (Kind::Text, None) => json!({ "type": "string" }),
    }
}

/// A bound, as people write it: 64 and not 64.0.
fn shortest(value: f64) -> Value {
    if value.fract() == 0.0 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

/// A table with its keys and the tables in it.
fn table(keys: Keys, section: &Section) -> Value {
    let mut properties = Map::new();
    let name = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let same = keys.sections().filter(|other| other.path == section.path);
    for key in same.flat_map(|section| section.keys) {
        properties.insert(name(key.path), reference(key.path));
    }
    for below in keys.sections() {
        let parent = below.path.rsplit_once('.').map(|(parent, _)| parent);
        if parent == Some(section.path) {
            let one = table(keys, below);
            properties.insert(
                name(below.path),
                if below.is_list { tables(one) } else { one },
            );
        }
    }
    let mut table = json!({
        "description": section.about,
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if section.path == "experiment" {
        table["required"] = json!(["name"]);
    }
    table
}

fn tables(one: Value) -> Value {
    json!({ "type": "array", "items": one })
}

fn range(of: &str) -> Value {
    json!({
        "description": "From the first value to the last, both included.",
        "type": "object",
        "required": ["from", "to"],
        "additionalProperties": false,
        "properties": {
            "from": { "type": of },
            "to": { "type": of },
            "step": { "type": of, "exclusiveMinimum": 0 },
            "tolerance": {
                "description": "In the place of a step: [select] refines the axis to this distance.",
                "type": of,
                "exclusiveMinimum": 0,
            },
        },
        "oneOf": [{ "required": ["step"] }, { "required": ["tolerance"] }],
    })
}

/// An axis: its values are those that its key may have.
fn axis(keys: &[&Key]) -> Value {
    let of_keys: Vec<Value> = keys
        .iter()
        .map(|key| {
            let range = match key.kind {
                Kind::Integer => reference("whole_range"),
                Kind::Real => reference("range"),
                _ => json!(false),
            };
            json!({
                "if": { "required": ["key"], "properties": { "key": { "const": key.path } } },
                "then": { "properties": { "values": { "items": reference(key.path) }, "range": range } },
            })
        })
        .collect();
    json!({
        "description": "A key and the values that it takes; the product of all axes is run.",
        "type": "object",
        "required": ["key"],
        "oneOf": [{ "required": ["values"] }, { "required": ["range"] }],
        "additionalProperties": false,
        "properties": {
            "key": reference("axis_key"),
            "values": { "type": "array", "minItems": 1 },
            "range": { "type": "object" },
        },
        "allOf": of_keys,
    })
}

fn zip() -> Value {
    json!({
        "description": "Keys that move together: one axis of the product.",
        "type": "object",
        "required": ["keys", "values"],
        "additionalProperties": false,
        "properties": {
            "keys": { "type": "array", "minItems": 1, "items": reference("axis_key") },
            "values": {
                "description": "Rows with one value for each key.",
                "type": "array",
                "minItems": 1,
                "items": { "type": "array", "minItems": 1 },
            },
        },
    })
}

fn exclude(tables: &[&str]) -> Value {
    json!({
        "description": "A combination that matches all of these is left out; a list means any of its values.",
        "type": "object",
        "minProperties": 1,
        "propertyNames": { "anyOf": [reference("axis_key"), { "enum": tables }] },
    })
}
