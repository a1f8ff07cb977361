//! The blocks of a file of findings that hold numbers of tables.

use serde::Deserialize;

use super::{CellCheck, Expected, Experiment, Layout, Quantity, Setting, ToleranceRule, run};
use crate::findings::file::{finite, not_negative};
use crate::findings::{Check, Finding, Provenance, Tolerance};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::findings) struct RawTolerance {
    quantities: Vec<Quantity>,
    relative: Option<f64>,
    absolute: Option<f64>,
    reason: String,
}

impl RawTolerance {
    /// How an error calls it.
    pub(in crate::findings) fn name(&self) -> String {
        let names: Vec<&str> = self.quantities.iter().map(|known| known.name()).collect();
        format!("tolerance for {}", names.join(", "))
    }

    pub(in crate::findings) fn resolve(self) -> Result<ToleranceRule, String> {
        let tolerance = match (self.relative, self.absolute) {
            (Some(share), None) => Tolerance::Relative(not_negative("relative", share)?),
            (None, Some(width)) => Tolerance::Absolute(not_negative("absolute", width)?),
            _ => return Err("give exactly one of `relative` and `absolute`".to_owned()),
        };
        Ok(ToleranceRule {
            quantities: self.quantities,
            tolerance,
            reason: self.reason,
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::findings) struct RawTable {
    number: String,
    trace: String,
    section: String,
    provenance: Provenance,
    // Read one by one, so that an error can name the finding.
    pub(in crate::findings) findings: Vec<toml::Spanned<toml::Table>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCell {
    id: String,
    value: Option<f64>,
    order: Option<Vec<String>>,
    at_least: Option<f64>,
    held_out: Option<Vec<String>>,
    printed: Option<f64>,
    resolves: Option<String>,
    provenance: Option<Provenance>,
    note: Option<String>,
}

impl RawCell {
    fn expected(&self, quantity: Quantity) -> Result<Expected, String> {
        let given = (self.value, self.at_least, &self.order, &self.held_out);
        let expected = match given {
            (Some(value), None, None, None) => Expected::Value(finite("value", value)?),
            (None, Some(bound), None, None) => Expected::AtLeast {
                at_least: finite("at_least", bound)?,
            },
            (None, None, Some(order), None) => Expected::Order(order.clone()),
            (None, None, None, Some(among)) => Expected::HeldOut(among.clone()),
            _ => {
                return Err(
                    "give exactly one of `value`, `at_least`, `order` and `held_out`".to_owned(),
                );
            }
        };
        let has_order = match &expected {
            Expected::Order(names) if names.len() < 2 => {
                return Err("`order` has two names or more".to_owned());
            }
            Expected::Order(_) => true,
            Expected::HeldOut(among) => among.len() > 1,
            Expected::Value(_) | Expected::AtLeast { .. } => false,
        };
        if quantity.is_order() == has_order {
            Ok(expected)
        } else {
            Err("an order has `order`, everything else has `value`".to_owned())
        }
    }
}

/// A finding of a table: its id is taken apart, so that its subject is written down once; the error
/// is the problem alone.
pub(in crate::findings) fn resolve(
    layout: &Layout,
    tolerances: &[ToleranceRule],
    table: &RawTable,
    raw: toml::Table,
) -> Result<Finding, String> {
    let raw =
        RawCell::deserialize(raw).map_err(|error| error.to_string().trim().replace('\n', ", "))?;
    let subject = Subject::parse(layout, &table.trace, &raw.id)?;
    let quantity = subject.quantity;
    let expected = raw.expected(quantity)?;
    let mut rules = tolerances
        .iter()
        .filter(|rule| rule.quantities.contains(&quantity));
    let (Some(rule), None) = (rules.next(), rules.next()) else {
        return Err(format!("`{}` needs exactly one tolerance", quantity.name()));
    };
    let mut runs = vec![run(&table.trace, &subject.experiment.name)];
    runs.extend(
        layout
            .alignment
            .iter()
            .map(|rule| run(&table.trace, &rule.name)),
    );
    Ok(Finding {
        statement: subject.statement(),
        section: table.section.clone(),
        provenance: raw.provenance.unwrap_or(table.provenance),
        trace: Some(table.trace.clone()),
        unit: None,
        note: raw.note,
        held_out: matches!(expected, Expected::HeldOut(_)),
        is_once: false,
        check: Check::Cell(CellCheck {
            runs,
            table: (table.number != "-").then(|| table.number.clone()),
            experiment: subject.experiment.name.clone(),
            family: subject.family,
            overbooks: (subject.strategy.as_deref())
                .is_some_and(|strategy| layout.studies.overbooks(strategy)),
            strategy: subject.strategy,
            quantity,
            at: subject.at,
            expected,
            printed: raw.printed,
            resolves: raw.resolves,
            tolerance: rule.tolerance,
        }),
        id: raw.id,
    })
}

/// What an id says.
struct Subject<'l> {
    experiment: &'l Experiment,
    family: Option<String>,
    strategy: Option<String>,
    quantity: Quantity,
    at: Option<f64>,
}

impl<'l> Subject<'l> {
    fn parse(layout: &'l Layout, trace: &str, id: &str) -> Result<Self, String> {
        let (path, setting) = match id.split_once('@') {
            Some((path, setting)) => (path, Some(setting)),
            None => (id, None),
        };
        let parts: Vec<&str> = path.split('/').collect();
        let [own, scope, subject @ .., last] = parts.as_slice() else {
            return Err("an id is trace/experiment/…/quantity".to_owned());
        };
        if *own != trace {
            return Err(format!(
                "stands in a table of trace `{trace}` and must begin with it"
            ));
        }
        let quantity = *Quantity::ALL
            .iter()
            .find(|quantity| quantity.name() == *last)
            .ok_or_else(|| format!("`{last}` is no quantity"))?;
        let (mut family, mut strategy) = (None, None);
        for part in subject {
            let part = (*part).to_owned();
            if layout.families.contains(&part) && family.is_none() && strategy.is_none() {
                family = Some(part);
            } else if layout.studies.policy(&part).is_some() && strategy.is_none() {
                strategy = Some(part);
            } else {
                return Err(format!(
                    "`{part}` is neither a family ({}) nor a registered strategy, or out of place",
                    layout.families.join(", ")
                ));
            }
        }
        let alias = layout.also.iter().find(|alias| alias.name == *scope);
        let name = alias.map_or(*scope, |alias| &alias.experiment);
        let experiment = layout.experiment(name).ok_or_else(|| {
            let known = layout.experiments.iter().map(|known| known.name.as_str());
            let also = layout.also.iter().map(|alias| alias.name.as_str());
            let known: Vec<&str> = known.chain(also).collect();
            format!(
                "`{name}` is no experiment; allowed are {}",
                known.join(", ")
            )
        })?;
        let at = match (setting, quantity.setting()) {
            (None, Setting::Required) if alias.is_none() => {
                return Err(format!("`{last}` needs a setting, as in `{last}@0.5`"));
            }
            (Some(_), Setting::Never) => return Err(format!("`{last}` has no setting")),
            (None, _) => None,
            (Some(text), _) => {
                let value: f64 = text
                    .parse()
                    .map_err(|_| format!("`{text}` is not a number"))?;
                let is_on = |point: &f64| (point - value).abs() < 1e-9;
                if !experiment.values.iter().any(is_on) {
                    return Err(format!("{value} is not on the grid of the experiment"));
                }
                Some(value)
            }
        };
        Ok(Self {
            experiment,
            at: at.or(alias.map(|alias| alias.at)),
            family: family.or_else(|| alias.map(|alias| alias.family.clone())),
            strategy,
            quantity,
        })
    }

    /// Experiment, families, strategy, quantity and setting in words.
    fn statement(&self) -> String {
        let mut words = vec![self.experiment.title.clone()];
        let family = self.family.as_ref();
        words.extend(family.map(|family| format!("{family} classes")));
        words.extend(self.strategy.clone());
        let setting = self.at.map_or_else(String::new, |at| {
            format!(" At {} {at}.", self.experiment.called)
        });
        format!("{}: {}{setting}", words.join(", "), self.quantity.meaning())
    }
}
