//! `bookahead list metrics [TEXT]`: every quantity that the store has of a point.

use crate::cli::aligned::is_tsv;
use crate::cli::paragraphs::{names, paragraph};
use crate::cli::screen::{LookError, print_rows};
use crate::cli::studies;
use crate::scheduling::measures::Topic;
use crate::store::METRICS;
use crate::sweep::keys;

/// Lists the quantities that points are measured by: what `compare --metric` takes, and the columns
/// of `v_point` and `v_measure`.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead list metrics
  bookahead list metrics wait
  bookahead compare 3 4 --metric mean_wait")]
pub struct MetricsArguments {
    /// Only those whose names contain this text
    #[arg(value_name = "TEXT")]
    pub text: Option<String>,
}

/// Every topic with what it is about, in the order of tables.
const TOPICS: &[(Topic, &str)] = &[
    (Topic::Money, "what jobs earn and cost"),
    (Topic::Jobs, "what becomes of jobs"),
    (Topic::Overbooking, "what becomes of overbooked jobs"),
    (Topic::Waits, "how long jobs and reservations wait"),
    (Topic::Machine, "how much of the machine is used"),
    (Topic::Reservations, "requests: asked, granted, refused"),
    (Topic::Prices, "what reservations cost others"),
    (Topic::Slots, "advertised slots"),
    (Topic::Virtual, "virtual against real reservations"),
    (
        Topic::Predictions,
        "predictions compared with what happened",
    ),
    (Topic::CoReservations, "requests across clusters"),
    (
        Topic::Messages,
        "messages between a broker and its clusters",
    ),
    (Topic::Fairness, "what co-reservations do to local jobs"),
    (Topic::LostParts, "parts that clusters lost"),
    (Topic::Risk, "promised risk, and what it cost"),
    (Topic::Clusters, "one cluster compared with the others"),
    (Topic::Workflows, "workflows that buy their resources"),
    (
        Topic::CarriedOut,
        "what happened to plans when they were carried out",
    ),
    (Topic::Detail, "details"),
];

/// Every quantity: name, topic, and what it is with its unit.
pub(in crate::cli) fn all() -> Vec<(&'static str, Topic, String)> {
    let unit = |text: &str, unit: &str| match unit {
        "" => text.to_owned(),
        unit => format!("{text}, in {unit}"),
    };
    let metrics = METRICS
        .iter()
        .map(|metric| (metric.name, metric.topic, unit(metric.meaning, metric.unit)));
    let measures = studies()
        .measures()
        .map(|measure| (measure.name, measure.topic, measure.title.to_owned()));
    metrics.chain(measures).collect()
}

/// How many quantities there are on which topics, for help texts.
pub(in crate::cli) fn in_words() -> String {
    let all = all();
    let counted = TOPICS.iter().filter_map(|(topic, about)| {
        let count = all.iter().filter(|(_, of, _)| of == topic).count();
        (count > 0).then(|| format!("{about} ({count})"))
    });
    let counted: Vec<String> = counted.collect();
    format!(
        "Measures: {}. `bookahead list metrics` names them.",
        counted.join("; ")
    )
}

/// Prints them.
///
/// # Errors
///
/// When nothing has such a name, or standard output cannot be written.
pub fn execute(arguments: &MetricsArguments) -> Result<(), LookError> {
    let wanted = arguments.text.as_deref().unwrap_or_default();
    let all = all();
    let mut text = String::new();
    let mut values = Vec::new();
    for (topic, about) in TOPICS {
        let rows: Vec<(String, Vec<String>)> = all
            .iter()
            .filter(|(name, of, _)| of == topic && name.contains(wanted))
            .map(|(name, _, meaning)| ((*name).to_owned(), vec![meaning.clone()]))
            .collect();
        for (name, meaning) in &rows {
            values.push(vec![name.clone(), (*about).to_owned(), meaning.join(" ")]);
        }
        if !rows.is_empty() {
            let between = if text.is_empty() { "" } else { "\n" };
            text += between;
            paragraph(
                &mut text,
                &format!("{}{}", about[..1].to_uppercase(), &about[1..]),
            );
            names(&mut text, &rows);
        }
    }
    if text.is_empty() {
        let known: Vec<&str> = all.iter().map(|(name, _, _)| *name).collect();
        let near = keys::nearest(wanted, &known);
        let near = near.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
        return Err(LookError::Use(format!(
            "no quantity has `{wanted}` in its name{near}"
        )));
    }
    if is_tsv() {
        return Ok(print_rows(["metric", "topic", "meaning"], values)?);
    }
    Ok(crate::cli::print(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_quantity_has_a_topic_that_is_listed() {
        for (name, topic, _) in all() {
            assert!(TOPICS.iter().any(|(known, _)| *known == topic), "{name}");
        }
    }
}
