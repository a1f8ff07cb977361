//! The axes of a run, and the values of its points on them.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, params};

use crate::store::RunId;
use crate::sweep::{AxisValue, Point};

/// Makes a point part of a run, with its value on every axis. Does nothing where it is already.
pub(in crate::store) fn link_point(
    connection: &Connection,
    run: RunId,
    id: i64,
    point: &Point,
    axes: &mut RunAxes,
) -> rusqlite::Result<()> {
    let new = connection
        .prepare_cached(
            "INSERT INTO run_point (run, place, point) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute(params![run.0, point.place, id])?;
    if new == 0 {
        return Ok(());
    }
    for (key, value) in point.axes.iter() {
        let (axis, position) = axes.value(connection, run, key, value)?;
        connection
            .prepare_cached(
                "INSERT INTO point_axis (run, place, axis, value) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![run.0, point.place, axis, position])?;
    }
    Ok(())
}

/// The axes of one run and the positions of their values, as the store has them.
#[derive(Debug, Default)]
pub(in crate::store) struct RunAxes {
    by_key: HashMap<String, (i64, HashMap<ValueKey, i64>)>,
}

/// A value's kind and bits: 1 and 1.0 are different values, and so are 0.1 and the next number
/// after it.
#[derive(Debug, PartialEq, Eq, Hash)]
enum ValueKey {
    Integer(i64),
    Real(u64),
    Text(String),
    Flag(bool),
}

impl ValueKey {
    fn of(value: &AxisValue) -> Self {
        match value {
            AxisValue::Integer(value) => Self::Integer(*value),
            AxisValue::Real(value) => Self::Real(value.to_bits()),
            AxisValue::Text(value) => Self::Text(value.clone()),
            AxisValue::Flag(value) => Self::Flag(*value),
        }
    }
}

impl RunAxes {
    /// Reads the axes of a run.
    pub(in crate::store) fn load(connection: &Connection, run: RunId) -> rusqlite::Result<Self> {
        let mut axes = Self::default();
        let mut keys = connection.prepare("SELECT position, key FROM axis WHERE run = ?1")?;
        let mut rows = keys.query([run.0])?;
        while let Some(row) = rows.next()? {
            axes.by_key
                .insert(row.get(1)?, (row.get(0)?, HashMap::new()));
        }
        let mut values = connection.prepare(
            "SELECT a.key, v.position, v.kind, v.value FROM axis_value v
             JOIN axis a ON a.run = v.run AND a.position = v.axis WHERE v.run = ?1",
        )?;
        let mut rows = values.query([run.0])?;
        while let Some(row) = rows.next()? {
            let key: String = row.get(0)?;
            let value = axis_value(&row.get::<_, String>(2)?, row.get(3)?);
            if let Some((_, positions)) = axes.by_key.get_mut(&key) {
                positions.insert(ValueKey::of(&value), row.get(1)?);
            }
        }
        Ok(axes)
    }

    pub(in crate::store) fn axis(
        &mut self,
        connection: &Connection,
        run: RunId,
        key: &str,
    ) -> rusqlite::Result<i64> {
        if let Some((position, _)) = self.by_key.get(key) {
            return Ok(*position);
        }
        let position = self.by_key.len() as i64;
        connection.execute(
            "INSERT INTO axis (run, position, key) VALUES (?1, ?2, ?3)",
            params![run.0, position, key],
        )?;
        self.by_key
            .insert(key.to_owned(), (position, HashMap::new()));
        Ok(position)
    }

    /// The position of an axis and of a value on it; a value that the run did not announce is added
    /// at its end.
    pub(in crate::store) fn value(
        &mut self,
        connection: &Connection,
        run: RunId,
        key: &str,
        value: &AxisValue,
    ) -> rusqlite::Result<(i64, i64)> {
        let axis = self.axis(connection, run, key)?;
        let (_, positions) = self
            .by_key
            .get_mut(key)
            .expect("the axis was entered by the line above");
        let value_key = ValueKey::of(value);
        if let Some(position) = positions.get(&value_key) {
            return Ok((axis, *position));
        }
        let position = positions.len() as i64;
        let (kind, stored) = match value {
            AxisValue::Integer(value) => ("integer", Value::Integer(*value)),
            AxisValue::Real(value) => ("real", Value::Real(*value)),
            AxisValue::Text(value) => ("text", Value::Text(value.clone())),
            AxisValue::Flag(value) => ("flag", Value::Integer(i64::from(*value))),
        };
        connection.execute(
            "INSERT INTO axis_value (run, axis, position, kind, value) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![run.0, axis, position, kind, stored],
        )?;
        positions.insert(value_key, position);
        Ok((axis, position))
    }
}

/// A stored axis value with its type.
pub(in crate::store) fn axis_value(kind: &str, value: Value) -> AxisValue {
    match (kind, value) {
        ("flag", Value::Integer(value)) => AxisValue::Flag(value != 0),
        (_, Value::Integer(value)) => AxisValue::Integer(value),
        (_, Value::Real(value)) => AxisValue::Real(value),
        (_, Value::Text(value)) => AxisValue::Text(value),
        // The table's check allows nothing else.
        (_, other) => AxisValue::Text(format!("{other:?}")),
    }
}
