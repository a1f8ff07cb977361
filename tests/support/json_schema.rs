//! A small validator of JSON Schema (draft 2020-12): the keywords that the schema of experiment
//! files uses, and a panic for any other, so that nothing is passed over.
//!
//! The crates that know all of it turn on features of crates that Polars is built with:
//! `cargo test` would build Polars again after `cargo run`.

use serde_json::Value;

/// What the schema has against a value, each with its place in the value.
pub fn errors(schema: &Value, value: &Value) -> Vec<String> {
    let mut errors = Vec::new();
    Validator { root: schema }.check(schema, value, "", &mut errors);
    errors
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn accepts(&self, schema: &Value, value: &Value) -> bool {
        let mut errors = Vec::new();
        self.check(schema, value, "", &mut errors);
        errors.is_empty()
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, errors: &mut Vec<String>) {
        let Value::Object(rules) = schema else {
            if *schema != Value::Bool(true) {
                errors.push(format!("{at}: this may not be here"));
            }
            return;
        };
        for (keyword, rule) in rules {
            let number = |holds: fn(f64, f64) -> bool| {
                let limit = rule.as_f64().expect("a number");
                value.as_f64().is_none_or(|value| holds(value, limit))
            };
            let longer = |length: usize| length as u64 >= rule.as_u64().expect("a whole number");
            let accepting = || list(rule).filter(|one| self.accepts(one, value)).count();
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" => true,
                "$ref" => {
                    let pointer = text(rule).trim_start_matches('#');
                    let target = self.root.pointer(pointer).expect("a definition");
                    self.check(target, value, at, errors);
                    true
                }
                "type" => match text(rule) {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.as_f64().is_some_and(|value| value.fract() == 0.0),
                    other => panic!("no type is called {other}"),
                },
                "enum" => list(rule).any(|one| one == value),
                "const" => rule == value,
                "minimum" => number(|value, limit| value >= limit),
                "exclusiveMinimum" => number(|value, limit| value > limit),
                "maximum" => number(|value, limit| value <= limit),
                "exclusiveMaximum" => number(|value, limit| value < limit),
                "minItems" => value.as_array().is_none_or(|items| longer(items.len())),
                "minProperties" => value.as_object().is_none_or(|keys| longer(keys.len())),
                "required" => value
                    .as_object()
                    .is_none_or(|keys| list(rule).all(|name| keys.contains_key(text(name)))),
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{at}/{index}"), errors);
                    }
                    true
                }
                "properties" => {
                    for (name, child) in value.as_object().into_iter().flatten() {
                        if let Some(rule) = rule.get(name) {
                            self.check(rule, child, &format!("{at}/{name}"), errors);
                        }
                    }
                    true
                }
                "additionalProperties" => {
                    let mut others = value.as_object().into_iter().flatten();
                    *rule == Value::Bool(false)
                        && others.all(|(name, _)| schema["properties"].get(name).is_some())
                }
                "propertyNames" => {
                    let mut names = value.as_object().into_iter().flatten();
                    names.all(|(name, _)| self.accepts(rule, &Value::String(name.clone())))
                }
                "anyOf" => accepting() > 0,
                "oneOf" => accepting() == 1,
                "allOf" => {
                    for rule in list(rule) {
                        self.check(rule, value, at, errors);
                    }
                    true
                }
                "if" => {
                    if self.accepts(rule, value) {
                        self.check(&schema["then"], value, at, errors);
                    }
                    true
                }
                // With its `if`.
                "then" => true,
                other => panic!("the keyword {other} is not known here"),
            };
            if !holds {
                errors.push(format!("{at}: {keyword} {rule} does not hold for {value}"));
            }
        }
    }
}

fn text(rule: &Value) -> &str {
    rule.as_str().expect("a text")
}

fn list(rule: &Value) -> impl Iterator<Item = &Value> {
    rule.as_array().expect("a list").iter()
}
