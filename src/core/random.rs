//! Named random streams.
//!
//! Every random number comes from a stream derived from (seed, workload key, replication, stream
//! name), never from a thread, a clock or the order in which points run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// The generator behind every stream: portable, so a seed gives the same numbers on every machine.
pub type Stream = ChaCha8Rng;

/// Opens the stream that belongs to these four names.
///
/// `workload_key` names what must be common to all strategies of a comparison (a trace and its
/// scaling, or a model and its parameters), so that they see the same jobs and the same failures.
#[must_use]
pub fn stream(seed: u64, workload_key: &str, replication: u32, name: &str) -> Stream {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update((workload_key.len() as u64).to_le_bytes());
    hash.update(workload_key.as_bytes());
    hash.update(replication.to_le_bytes());
    hash.update(name.as_bytes());
    Stream::from_seed(hash.finalize().into())
}

/// What the random streams of a simulation derive from, beside their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSeed {
    /// The sweep's seed.
    pub seed: u64,
    /// Names the workload.
    pub workload_key: String,
    /// The replication.
    pub replication: u32,
}

impl std::fmt::Display for StreamSeed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            seed,
            workload_key,
            replication,
        } = self;
        write!(formatter, "{seed}|{workload_key}|{replication}")
    }
}

impl StreamSeed {
    /// The stream of this name.
    #[must_use]
    pub fn stream(&self, name: &str) -> Stream {
        stream(self.seed, &self.workload_key, self.replication, name)
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::rand_core::Rng;

    use super::*;

    #[test]
    fn equal_names_give_equal_streams_and_any_other_name_gives_another() {
        let first = |seed, key, replication, name| stream(seed, key, replication, name).next_u64();
        let reference = first(1, "ctc", 0, "failures");
        assert_eq!(reference, first(1, "ctc", 0, "failures"));
        for other in [
            first(2, "ctc", 0, "failures"),
            first(1, "kth", 0, "failures"),
            first(1, "ctc", 1, "failures"),
            first(1, "ctc", 0, "arrivals"),
        ] {
            assert_ne!(reference, other);
        }
    }
}
