//! What experiment files are made of: keys, declared once, how they are read, and what is said of
//! them when they are wrong.
//!
//! Here stand the keys that every study has; those of a study stand in its folder. `sweep/keys.rs`
//! knows all of them.

pub mod adaptive;
pub mod declaration;
pub mod delay_costs;
pub mod estimates;
pub mod failures;
pub mod field;
pub mod former;
mod macros;
pub mod ours;
pub mod problem;
pub mod reader;
pub mod reservations;
pub mod scheduling;
pub mod workload;

/// "Did you mean …?" where a known name is near, then everything that is allowed.
#[must_use]
pub fn suggest(wrong: &str, allowed: &[&str]) -> String {
    let list = allowed
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    match nearest(wrong, allowed) {
        Some(name) => format!("did you mean `{name}`? Allowed are: {list}"),
        None => format!("allowed are: {list}"),
    }
}

/// The allowed name with the smallest edit distance, where that is small enough to be a slip.
#[must_use]
pub fn nearest<'a>(wrong: &str, allowed: &[&'a str]) -> Option<&'a str> {
    allowed
        .iter()
        .map(|name| (strsim::levenshtein(wrong, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= (name.len() / 3).max(1))
        .map(|(_, name)| name)
}
