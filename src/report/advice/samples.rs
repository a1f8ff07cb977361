//! The answer to a query, as samples by group: what is compared replication by replication.

use std::collections::BTreeMap;

use crate::report::section::ReportError;
use crate::report::statistics::Estimate;
use crate::scheduling::measures::QuantityKind;
use crate::store::{SqlValue, Store};

/// All rows of a query.
pub(super) fn rows(store: &Store, sql: &str) -> Result<Vec<Vec<SqlValue>>, ReportError> {
    let mut rows = Vec::new();
    store.query(sql, &mut |_| Ok(()), &mut |row| {
        rows.push(row.to_vec());
        Ok(true)
    })?;
    Ok(rows)
}

/// A value as a number, where it is one.
pub(super) fn number(value: &SqlValue) -> Option<f64> {
    match value {
        SqlValue::Integer(value) => Some(*value as f64),
        SqlValue::Real(value) => Some(*value),
        _ => None,
    }
}

/// The replications of one setting.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// What tells it apart: the first columns of the query.
    pub(super) key: Vec<String>,
    /// The other columns by replication.
    values: BTreeMap<i64, Vec<Option<f64>>>,
}

/// The rows of a query by group, in the order of their first rows: so many columns that tell them apart, the replication, values.
pub(super) fn groups(rows: &[Vec<SqlValue>], keys: usize) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for row in rows {
        let (key, rest) = row.split_at(keys.min(row.len()));
        let Some((SqlValue::Integer(replication), values)) = rest.split_first() else {
            continue;
        };
        let key: Vec<String> = key.iter().map(ToString::to_string).collect();
        let values = values.iter().map(number).collect();
        let place = groups.iter().position(|group| group.key == key);
        let place = place.unwrap_or_else(|| {
            groups.push(Group {
                key,
                values: BTreeMap::new(),
            });
            groups.len() - 1
        });
        groups[place].values.insert(*replication, values);
    }
    groups
}

impl Group {
    fn value(&self, replication: i64, column: usize) -> Option<f64> {
        *self.values.get(&replication)?.get(column)?
    }

    /// The mean of a value that cannot be negative over the replications that have it.
    pub(super) fn mean(&self, column: usize) -> Option<Estimate> {
        Estimate::of_kind(&self.values_of(column), QuantityKind::Mean)
    }

    /// The mean of a value that may be negative, such as a gain.
    pub(super) fn signed_mean(&self, column: usize) -> Option<Estimate> {
        Estimate::of_kind(&self.values_of(column), QuantityKind::Signed)
    }

    fn values_of(&self, column: usize) -> Vec<f64> {
        let replications = self.values.keys();
        replications
            .filter_map(|replication| self.value(*replication, column))
            .collect()
    }

    /// A value of these groups, replication by replication; `None` where they do not all have it in
    /// the same ones.
    pub(super) fn together(groups: &[&Self], column: usize) -> Option<Vec<Vec<f64>>> {
        let replications = |group: &Self| group.values.keys().copied().collect::<Vec<i64>>();
        let all = replications(groups.first()?);
        let values = |group: &&Self| -> Option<Vec<f64>> {
            let is_same = replications(group) == all;
            let values = all.iter().map(|at| group.value(*at, column));
            is_same.then(|| values.collect())?
        };
        groups.iter().map(values).collect()
    }

    /// How much larger a value is than that of another group, over the replications that both have.
    pub(super) fn more_than(&self, other: &Self, column: usize) -> Option<Estimate> {
        let differences: Vec<f64> = self
            .values
            .keys()
            .filter_map(|replication| {
                Some(self.value(*replication, column)? - other.value(*replication, column)?)
            })
            .collect();
        Estimate::of(&differences)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_compared_over_the_replications_that_both_have() {
        let row = |key: &str, replication, value| {
            vec![
                SqlValue::Text(key.to_owned()),
                SqlValue::Integer(replication),
                value,
            ]
        };
        let found = groups(
            &[
                row("b", 0, SqlValue::Integer(3)),
                row("a", 0, SqlValue::Real(1.0)),
                row("b", 1, SqlValue::Integer(6)),
                row("a", 1, SqlValue::Real(2.0)),
                row("a", 2, SqlValue::Real(9.0)),
                row("b", 2, SqlValue::Null),
            ],
            1,
        );
        assert_eq!([&found[0].key[0], &found[1].key[0]], ["b", "a"]);
        let mean = found[1].mean(0).unwrap();
        assert_eq!((mean.count, mean.mean), (3, 4.0));
        // 3 − 1 and 6 − 2; the third replication of b has no value.
        let difference = found[0].more_than(&found[1], 0).unwrap();
        assert_eq!((difference.count, difference.mean), (2, 3.0));
    }

    #[test]
    fn a_group_without_a_value_has_no_mean() {
        let found = groups(&[vec![SqlValue::Integer(0), SqlValue::Null]], 0);
        assert_eq!(found[0].mean(0), None);
        assert_eq!(found[0].mean(1), None);
    }
}
