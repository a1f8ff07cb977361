//! Keys of a machine that advertises its holes.

use crate::slots::SlotSource;
use bookahead_core::plan::{EqualStarts, Surplus};
use bookahead_lab::keys::declaration::{Given, flag, named, real};
use bookahead_lab::{section, tables};

tables! {
    slots: RawSlots = SLOTS,
}

section! {
    /// How free slots are kept and sampled.
    SLOTS = "slots", RawSlots {
        /// Where slots come from.
        source: Option<SlotSource> = named::<SlotSource>().decides("AMB-4"),
        /// The time between two samples.
        sample_minutes: Given<f64> = real().above(0.0)
            .note(" minutes between two samples")
            .default_is("60"),
        /// The order of slots with equal starts.
        equal_starts: Option<EqualStarts> = named::<EqualStarts>().decides("AMB-5"),
        /// Which slot keeps the surplus.
        surplus: Option<Surplus> = named::<Surplus>().decides("AMB-5b"),
        /// Whether identical slots are merged.
        merge_identical: Option<bool> = flag("true").decides("AMB-6"),
        /// The shortest slot that is advertised.
        minimum_minutes: Given<f64> = real().from(0.0)
            .note(": shorter slots are not advertised")
            .default_is("0")
            .decides("AMB-8"),
    }
}
