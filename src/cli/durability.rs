//! `--durability`, of every command that writes to a store.

use clap::{Args, ValueEnum};

use crate::sweep::Durability;

/// What a power failure may cost a store.
#[derive(Args, Clone, Copy, Debug)]
pub struct DurabilityArgument {
    /// What a power failure may cost; a kill or a crash of the program costs nothing that was
    /// committed in any case
    #[arg(long, value_name = "LEVEL", value_enum, default_value = "normal")]
    pub durability: Level,
}

/// Values of `--durability`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Results since the last checkpoint, up to 32 MB of journal: nothing waits for the disk in
    /// between
    Fast,
    /// Results of the last 10 seconds
    Normal,
    /// Nothing that was committed: every commit waits for the disk
    Full,
}

impl From<DurabilityArgument> for Durability {
    fn from(argument: DurabilityArgument) -> Self {
        match argument.durability {
            Level::Fast => Self::Fast,
            Level::Normal => Self::Normal,
            Level::Full => Self::Full,
        }
    }
}
