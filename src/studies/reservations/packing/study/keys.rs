//! Keys of the packing of lists of jobs.

use crate::packing::{PackedHeights, PackingAlgorithm};
use bookahead_lab::keys::declaration::{Given, named, real};
use bookahead_lab::{section, tables};

/// Which papers the keys are for.
const BASELINES: &str = "Birkenheuer 2008 §2.1.1, Birkenheuer 2012 §2.3.1";

tables! {
    packing: RawPacking = PACKING,
}

section! {
    /// How a list of jobs is packed.
    PACKING = "packing", RawPacking {
        /// Where each job is placed.
        algorithm: Option<PackingAlgorithm> = named::<PackingAlgorithm>().decides(BASELINES),
        /// How high each kind of shelf is as a part of the next higher one.
        shelf_ratio: Given<f64> = real().from(0.01).to(0.99)
            .note(": r, how high a kind of shelf is as a part of the next higher one, for algorithms with shelves")
            .default_is("0.5")
            .decides(BASELINES),
        /// Which time of a job is its height.
        heights: Option<PackedHeights> = named::<PackedHeights>(),
    }
}
