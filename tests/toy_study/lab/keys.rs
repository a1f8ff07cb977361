//! Keys of the toy study.

use serde::Deserialize;

use crate::keys::declaration::{
    Given, Key, ReadTable, Section, Table, Tables, real, section, tables,
};
use crate::keys::field::Field;

tables! {
    toy: RawToy = TOY,
}

section! {
    /// How jobs are counted.
    TOY = "toy", RawToy {
        /// What a job counts.
        weight: Given<f64> = real().from(0.0).to(10.0).default_is("2"),
    }
}
