//! Axes, zipped axes and exclusions: the dimensions of a sweep and the combinations that they span.

mod values;

use std::collections::BTreeSet;
use std::ops::Range;

use toml::Spanned;

use super::document::Document;
use super::keys::{FormerKey, Key, Keys, Kind, nearest, suggest};
use super::raw::{RawAxis, RawZip};
use super::spec::{Axis, AxisValue};
use crate::keys::problem::{ProblemKind, Problems};
use values::{axis_value, cell, range_cells};

pub(super) use values::Cell;
pub use values::{MAXIMUM_POINTS, round12};

/// A sweep may have so many simulations at most: giving each its identity takes some 20 µs, and ten
/// seconds is what a plan may take.
pub const MAXIMUM_SIMULATIONS: usize = 500_000;

/// One factor of the product: an axis, or several keys that move together.
#[derive(Clone, Debug)]
pub(super) struct Dimension {
    pub(super) keys: Vec<&'static Key>,
    /// Rows of one cell a key.
    pub(super) rows: Vec<Vec<Cell>>,
    /// Whether it is continuous, and refined around its optimum by a selection.
    pub(super) is_refined: bool,
    place: usize,
}

/// The dimensions in the order of the file, `[[axis]]` and `[[zip]]` together.
pub(super) fn dimensions(document: &Document<'_>, problems: &mut Problems) -> Vec<Dimension> {
    let axes = document
        .axes
        .iter()
        .filter_map(|axis| axis_dimension(document.keys, axis, problems))
        .collect::<Vec<_>>();
    let zips = document
        .zips
        .iter()
        .filter_map(|zip| zip_dimension(document.keys, zip, problems))
        .collect::<Vec<_>>();
    let mut dimensions: Vec<Dimension> = axes.into_iter().chain(zips).collect();
    dimensions.sort_by_key(|dimension| dimension.place);
    let mut places: Vec<&Spanned<String>> = document
        .axes
        .iter()
        .map(|axis| &axis.get_ref().key)
        .collect();
    places.extend(document.zips.iter().flat_map(|zip| &zip.get_ref().keys));
    places.sort_by_key(|key| key.span().start);
    let mut seen = BTreeSet::new();
    for key in places {
        if !seen.insert(key.get_ref().as_str()) {
            let help = "give each key one axis, with all its values";
            problems.add(
                ProblemKind::Duplicate,
                key.get_ref(),
                key.span(),
                "this key has an axis already",
                help,
            );
        }
    }
    dimensions
}

/// The axes as the store and tables show them.
pub(super) fn axes_of(dimensions: &[Dimension]) -> Vec<Axis> {
    dimensions
        .iter()
        .flat_map(|dimension| {
            dimension.keys.iter().enumerate().map(|(column, key)| Axis {
                key: key.path.to_owned(),
                values: dimension
                    .rows
                    .iter()
                    .map(|row| row[column].value.clone())
                    .collect(),
            })
        })
        .collect()
}

/// Whether a key has another name now; says so.
fn is_former(keys: Keys, key: &Spanned<String>, problems: &mut Problems) -> bool {
    let former = keys.former_key(key.get_ref());
    if let Some(former) = former {
        problems.add(
            ProblemKind::FormerKey,
            former.was,
            key.span(),
            FormerKey::MESSAGE,
            former.help(),
        );
    }
    former.is_some()
}

fn axis_key(keys: Keys, key: &Spanned<String>, problems: &mut Problems) -> Option<&'static Key> {
    let path = key.get_ref();
    if Keys::is_of_whole_sweep(path) {
        let help =
            "seed, replications and rules hold for a whole sweep: use another file, or `--seed`";
        problems.add(
            ProblemKind::UnknownAxisKey,
            path,
            key.span(),
            "this key cannot be an axis",
            help,
        );
        return None;
    }
    if let Some(list) = keys.list_around(path) {
        problems.add(
            ProblemKind::UnknownAxisKey,
            path,
            key.span(),
            "this key cannot be an axis",
            format!(
                "[[{list}]] is a list of tables, and an axis could not say which of them it means"
            ),
        );
        return None;
    }
    if is_former(keys, key, problems) {
        return None;
    }
    let found = keys.find(path);
    if found.is_none() {
        let section = path.split('.').next().unwrap_or_default();
        let siblings: Vec<&str> = keys
            .all()
            .map(|key| key.path)
            .filter(|known| known.starts_with(&format!("{section}.")) && section != "experiment")
            .collect();
        let help = if siblings.is_empty() {
            let all: Vec<&str> = keys.all().map(|key| key.path).collect();
            match nearest(path, &all) {
                Some(near) => format!("did you mean `{near}`? An axis key is `section.key`"),
                None => format!(
                    "an axis key is `section.key`; sections are {}",
                    keys.tables()[1..7].join(", ")
                ),
            }
        } else {
            suggest(path, &siblings)
        };
        problems.add(
            ProblemKind::UnknownAxisKey,
            path,
            key.span(),
            "an axis on a key that does not exist",
            help,
        );
    }
    found
}

fn axis_dimension(
    known: Keys,
    axis: &Spanned<RawAxis>,
    problems: &mut Problems,
) -> Option<Dimension> {
    let place = axis.span().start;
    let axis = axis.get_ref();
    let key = axis_key(known, &axis.key, problems)?;
    let cells = match (&axis.values, &axis.range) {
        (Some(values), None) => {
            let cells: Option<Vec<Cell>> = values
                .get_ref()
                .iter()
                .map(|value| cell(key, value, problems))
                .collect();
            let cells = cells?;
            if cells.is_empty() {
                let help = "give at least one value, or leave the axis out";
                problems.add(
                    ProblemKind::EmptyAxis,
                    key.path,
                    values.span(),
                    "an axis without values",
                    help,
                );
                return None;
            }
            cells
        }
        (None, Some(range)) => range_cells(key, range, problems)?,
        (both, _) => {
            let message = if both.is_some() {
                "`values` and `range` exclude each other"
            } else {
                "an axis without values"
            };
            let help = "give `values = […]` or `range = { from = …, to = …, step = … }`";
            problems.add(
                ProblemKind::Conflict,
                key.path,
                axis.key.span(),
                message,
                help,
            );
            return None;
        }
    };
    distinct(key.path, &cells, problems);
    let rows = cells.into_iter().map(|cell| vec![cell]).collect();
    let range = axis.range.as_ref().map(Spanned::get_ref);
    Some(Dimension {
        keys: vec![key],
        rows,
        is_refined: range.is_some_and(|range| range.tolerance.is_some()),
        place,
    })
}

/// Says which value stands twice on an axis: its points could not be told apart.
fn distinct(path: &str, cells: &[Cell], problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    for cell in cells {
        if !seen.insert(cell.text.as_str()) {
            let message = format!("the value {} appears twice on this axis", cell.text);
            problems.add(
                ProblemKind::Duplicate,
                path,
                cell.span.clone(),
                message,
                "leave one of them out",
            );
        }
    }
}

fn zip_dimension(known: Keys, zip: &Spanned<RawZip>, problems: &mut Problems) -> Option<Dimension> {
    let place = zip.span().start;
    let zip = zip.get_ref();
    let keys: Vec<Option<&'static Key>> = zip
        .keys
        .iter()
        .map(|key| axis_key(known, key, problems))
        .collect();
    let keys: Vec<&'static Key> = keys.into_iter().collect::<Option<_>>()?;
    if keys.is_empty() || zip.values.get_ref().is_empty() {
        let help = "give `keys = […]` and at least one row of values";
        problems.add(
            ProblemKind::EmptyAxis,
            "zip",
            zip.values.span(),
            "a zip without keys or rows",
            help,
        );
        return None;
    }
    let mut rows = Vec::new();
    let mut whole = true;
    for row in zip.values.get_ref() {
        if row.get_ref().len() == keys.len() {
            let cells: Option<Vec<Cell>> = row
                .get_ref()
                .iter()
                .zip(&keys)
                .map(|(value, key)| cell(key, value, problems))
                .collect();
            whole &= cells.is_some();
            rows.extend(cells);
        } else {
            whole = false;
            let names: Vec<&str> = keys.iter().map(|key| key.path).collect();
            let message = format!(
                "this row has {} values for {} keys",
                row.get_ref().len(),
                keys.len()
            );
            let help = format!("give one value each for {}", names.join(", "));
            problems.add(ProblemKind::RowLength, "zip", row.span(), message, help);
        }
    }
    whole.then_some(Dimension {
        keys,
        rows,
        is_refined: false,
        place,
    })
}

/// Exclusions bound to columns of the dimensions.
pub(super) struct Exclusions {
    /// Place, conditions (dimension, column, allowed values), and whether a combination ever
    /// matched.
    list: Vec<(Range<usize>, Vec<Condition>, bool)>,
}

struct Condition {
    dimension: usize,
    column: usize,
    values: Vec<AxisValue>,
}

impl Exclusions {
    pub(super) fn bind(
        document: &Document<'_>,
        dimensions: &[Dimension],
        problems: &mut Problems,
    ) -> Self {
        let mut list = Vec::new();
        for (span, conditions) in &document.excludes {
            let mut bound = Vec::new();
            for (key, value) in conditions {
                if is_former(document.keys, key, problems) {
                    continue;
                }
                let Some((dimension, column, known)) = column_of(key.get_ref(), dimensions) else {
                    let axes: Vec<&str> = dimensions
                        .iter()
                        .flat_map(|d| d.keys.iter().map(|key| key.path))
                        .collect();
                    let help = suggest(key.get_ref(), &axes);
                    let message = "an exclusion by a key that is not an axis";
                    problems.add(
                        ProblemKind::UnknownAxisKey,
                        key.get_ref(),
                        key.span(),
                        message,
                        help,
                    );
                    continue;
                };
                let values = match value.get_ref() {
                    toml::Value::Array(values) if known.kind != Kind::List => values
                        .iter()
                        .map(|value| axis_value(known, value))
                        .collect(),
                    one => vec![axis_value(known, one)],
                };
                bound.push(Condition {
                    dimension,
                    column,
                    values,
                });
            }
            if conditions.is_empty() {
                let help = "name at least one axis key and its value";
                problems.add(
                    ProblemKind::EmptyAxis,
                    "exclude",
                    span.clone(),
                    "an exclusion of everything",
                    help,
                );
            }
            list.push((span.clone(), bound, false));
        }
        Self { list }
    }

    /// Whether the combination with these row indices is left out.
    pub(super) fn matches(&mut self, dimensions: &[Dimension], rows: &[usize]) -> bool {
        let mut any = false;
        for (_, conditions, matched) in &mut self.list {
            let all = !conditions.is_empty()
                && conditions.iter().all(|condition| {
                    let cell = &dimensions[condition.dimension].rows[rows[condition.dimension]]
                        [condition.column];
                    condition
                        .values
                        .iter()
                        .any(|value| same(value, &cell.value))
                });
            *matched |= all;
            any |= all;
        }
        any
    }

    pub(super) fn warn_unmatched(&self, problems: &mut Problems) {
        for (span, _, matched) in &self.list {
            if !matched {
                let help = "compare its values with those of the axes, or delete it";
                let message = "this exclusion matches no combination";
                problems.warn(
                    ProblemKind::NeverMatches,
                    "exclude",
                    span.clone(),
                    message,
                    help,
                );
            }
        }
    }
}

fn column_of(path: &str, dimensions: &[Dimension]) -> Option<(usize, usize, &'static Key)> {
    dimensions
        .iter()
        .enumerate()
        .find_map(|(dimension, factors)| {
            let column = factors.keys.iter().position(|key| key.path == path)?;
            Some((dimension, column, factors.keys[column]))
        })
}

/// Equality of axis values; real numbers within half of the twelfth decimal.
fn same(left: &AxisValue, right: &AxisValue) -> bool {
    match (left, right) {
        (AxisValue::Real(a), AxisValue::Real(b)) => (a - b).abs() < 5e-13,
        _ => left == right,
    }
}

/// The number of combinations, or nothing where it overflows.
pub(super) fn combinations(dimensions: &[Dimension]) -> Option<u64> {
    dimensions.iter().try_fold(1_u64, |product, dimension| {
        product.checked_mul(dimension.rows.len() as u64)
    })
}

/// Counts to the next combination, the last dimension fastest. `false` after the last one.
pub(super) fn advance(rows: &mut [usize], dimensions: &[Dimension]) -> bool {
    for (row, dimension) in rows.iter_mut().zip(dimensions).rev() {
        *row += 1;
        if *row < dimension.rows.len() {
            return true;
        }
        *row = 0;
    }
    false
}
