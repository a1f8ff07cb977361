//! Tests of the store by subject.

// Helpers of tests panic where their premises do not hold, as the tests do.
#![allow(clippy::unwrap_used)]

mod big;
mod calibration;
mod co_reservations;
mod curves;
mod digests;
mod documents;
mod generations;
mod labels;
mod measures;
mod opening;
mod outcomes;
mod overlap;
mod paired;
mod progress;
mod promises;
mod provisioning;
mod removal;
mod round_trip;
mod shapes;
mod versions;
mod writing;

use bookahead::store::Store;
use rusqlite::Connection;

/// Another connection to the file of a store.
fn connection(store: &Store) -> Connection {
    Connection::open(store.path()).unwrap()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}
