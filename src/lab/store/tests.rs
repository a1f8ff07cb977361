//! Tests of the store by subject.

mod big;
mod calibration;
mod co_reservations;
mod digests;
mod documents;
mod generations;
mod opening;
mod outcomes;
mod promises;
mod provisioning;
mod round_trip;
mod shapes;
mod versions;
mod writing;

use rusqlite::Connection;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}
