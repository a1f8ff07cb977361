//! `[stop]` and `[select]`, resolved.

use toml::Spanned;

use crate::adaptive::{Margin, Rule, SelectRule, StopRule};
use crate::keys::declaration::Given;
use crate::keys::field::Field;
use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::point_axes::Axis;
use crate::sweep::progress::shown;
use crate::sweep::raw::{RawExperiment, RawSelect, RawStop};

/// The rule that a file gives, if it gives one; the outer `None` where something is wrong with it.
pub(in crate::sweep) fn rule(
    raw: &RawExperiment,
    axes: &[Axis],
    refined: &[&str],
    problems: &mut Problems,
) -> Option<Option<Rule>> {
    if let [_, second, ..] = refined {
        let help = "give one of them a `step`, or select from them in two experiments";
        problems.add(
            ProblemKind::Conflict,
            second,
            0..0,
            "two axes that are refined",
            help,
        );
        return None;
    }
    let refined = refined.first().copied();
    let rule = match (&raw.stop, &raw.select) {
        (None, None) => {
            return match refined {
                None => Some(None),
                Some(key) => {
                    let message = "an axis that is refined, and no rule that says by what";
                    let help =
                        "add [select] with its quantity and this axis, or give the range a `step`";
                    problems.add(ProblemKind::Missing, key, 0..0, message, help);
                    None
                }
            };
        }
        (Some(_), Some(select)) => {
            let help = "select first; what confirms a selection has `select.confirm_replications`";
            let message = "[stop] and [select] exclude each other";
            problems.add(
                ProblemKind::Conflict,
                "select",
                select.span(),
                message,
                help,
            );
            return None;
        }
        (Some(raw), None) => {
            if let Some(key) = refined {
                let help = "a range with a `tolerance` is refined by [select]; give it a `step`";
                let message = "an axis that is refined, and no [select]";
                problems.add(ProblemKind::Conflict, key, raw.span(), message, help);
                return None;
            }
            stop(raw, problems).map(Rule::Stop)
        }
        (None, Some(raw)) => select(raw, axes, refined, problems).map(Rule::Select),
    };
    let header = raw.experiment.as_ref().map(Spanned::get_ref);
    if let Some(replications) = header.and_then(|header| header.replications.as_ref()) {
        problems.add(
            ProblemKind::Conflict,
            "experiment.replications",
            replications.span(),
            "the rule says how many replications there are",
            "delete this key; `max_replications` is the most that are run",
        );
        return None;
    }
    rule.map(Some)
}

fn stop(spanned: &Spanned<RawStop>, problems: &mut Problems) -> Option<StopRule> {
    let raw = spanned.get_ref();
    let quantities = needed_list(raw.quantities(), spanned, problems);
    let absolute = raw.half_width().checked(problems)?;
    let relative = raw.relative_half_width().checked(problems)?;
    let narrow = match (absolute, relative) {
        (Some(width), None) => Some(Margin::Absolute(width)),
        (None, Some(share)) => Some(Margin::Relative(share)),
        (given, _) => {
            let (kind, message) = match given {
                None => (
                    ProblemKind::Missing,
                    "how narrow is narrow enough is not said",
                ),
                Some(_) => (ProblemKind::Conflict, "two widths that are narrow enough"),
            };
            let help = "give one of `half_width` and `relative_half_width`";
            problems.add(kind, "stop.half_width", spanned.span(), message, help);
            None
        }
    };
    let counts = counts(
        spanned,
        raw.min_replications(),
        raw.rung_replications(),
        raw.max_replications(),
        problems,
    );
    let confidence = raw.confidence().or_default(problems)?;
    let (least, rung, most) = counts?;
    Some(StopRule {
        quantities: quantities?,
        narrow: narrow?,
        confidence,
        interval: raw.rule.unwrap_or_default(),
        least,
        rung,
        most,
    })
}

fn select(
    spanned: &Spanned<RawSelect>,
    axes: &[Axis],
    refined: Option<&str>,
    problems: &mut Problems,
) -> Option<SelectRule> {
    let raw = spanned.get_ref();
    let quantity = raw.quantity.as_ref().map(|name| name.get_ref().clone());
    if quantity.is_none() {
        missing("select.quantity", spanned, problems);
    }
    let chosen = needed_list(raw.axes(), spanned, problems)?;
    let known: Vec<&str> = axes.iter().map(|axis| axis.key.as_str()).collect();
    for key in &chosen {
        if !known.contains(&key.as_str()) {
            let field = raw.axes();
            let message = format!("`{key}` has no axis");
            let help = match known.as_slice() {
                [] => "give the key an [[axis]] with the values to select from".to_owned(),
                known => crate::keys::suggest(key, known),
            };
            problems.add(
                ProblemKind::UnknownName,
                field.key.path,
                field.place(),
                message,
                help,
            );
            return None;
        }
    }
    if let Some(key) = refined
        && chosen.as_slice() != [key]
    {
        let help = "select from this axis alone, or give its range a `step`";
        let message = "an axis that is refined is the only one that is selected from";
        problems.add(
            ProblemKind::Conflict,
            key,
            raw.axes().place(),
            message,
            help,
        );
        return None;
    }
    let absolute = raw.indifference().checked(problems)?;
    let relative = raw.relative_indifference().checked(problems)?;
    let zone = match (absolute, relative) {
        (Some(_), Some(_)) => {
            let help = "give one of `indifference` and `relative_indifference`";
            let message = "two indifference zones";
            problems.add(
                ProblemKind::Conflict,
                "select.indifference",
                spanned.span(),
                message,
                help,
            );
            return None;
        }
        (Some(difference), None) => Margin::Absolute(difference),
        (None, _) => Margin::Relative(raw.relative_indifference().or_default(problems)?),
    };
    let goal = raw.goal().name(problems)?;
    let (least, rung, most) = counts(
        spanned,
        raw.min_replications(),
        raw.rung_replications(),
        raw.max_replications(),
        problems,
    )?;
    let confirm = raw.confirm_replications().or_default(problems)?;
    let baseline = match &raw.baseline {
        None => None,
        Some(_) => Some(baseline(raw, axes, &chosen, problems)?),
    };
    Some(SelectRule {
        quantity: quantity?,
        axes: chosen,
        smallest: goal == "smallest",
        zone,
        probability: raw.probability().or_default(problems)?,
        least,
        rung,
        most,
        confirm,
        population: raw.population.unwrap_or_default(),
        baseline,
        refined: refined.is_some(),
    })
}

/// A value of each of the axes that are selected from.
fn baseline(
    raw: &RawSelect,
    axes: &[Axis],
    chosen: &[String],
    problems: &mut Problems,
) -> Option<Vec<String>> {
    let field = raw.baseline();
    let values = field.given.as_ref()?.get_ref();
    if values.len() != chosen.len() {
        field.refuse(
            "this names not one value for each of `select.axes`",
            problems,
        );
        return None;
    }
    for (key, value) in chosen.iter().zip(values) {
        let axis = axes.iter().find(|axis| axis.key == *key)?;
        let known: Vec<String> = axis.values.iter().map(shown).collect();
        if !known.contains(value) {
            let message = format!("`{value}` is no value of the axis `{key}`");
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = crate::keys::suggest(value, &known);
            problems.add(
                ProblemKind::UnknownName,
                field.key.path,
                field.place(),
                message,
                help,
            );
            return None;
        }
    }
    Some(values.clone())
}

fn missing<T>(path: &str, table: &Spanned<T>, problems: &mut Problems) {
    problems.add(
        ProblemKind::Missing,
        path,
        table.span(),
        "this key is needed",
        format!("add `{} = …`", path.split('.').next_back().unwrap_or(path)),
    );
}

fn needed_list<T>(
    field: Field<'_, Given<Vec<String>>>,
    table: &Spanned<T>,
    problems: &mut Problems,
) -> Option<Vec<String>> {
    match field.given.as_ref().map(Spanned::get_ref) {
        Some(names) if !names.is_empty() => Some(names.clone()),
        Some(_) => {
            field.refuse("this list is empty", problems);
            None
        }
        None => {
            missing(field.key.path, table, problems);
            None
        }
    }
}

/// Least, rung and most replications.
fn counts<T>(
    table: &Spanned<T>,
    least: Field<'_, Given<u32>>,
    rung: Field<'_, Given<u32>>,
    most: Field<'_, Given<u32>>,
    problems: &mut Problems,
) -> Option<(u32, u32, u32)> {
    let (first, step) = (least.or_default(problems)?, rung.or_default(problems)?);
    let Some(last) = most.checked(problems)? else {
        missing(most.key.path, table, problems);
        return None;
    };
    if last < first {
        let message = format!("{last} is fewer than the {first} of `{}`", least.key.path);
        most.refuse(&message, problems);
        return None;
    }
    Some((first, step, last))
}
