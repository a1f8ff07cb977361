//! Jobs whose ratio of run time to estimate is uniform, as the 2008 paper on overbooking assumes
//! when it derives how much of an estimate may be cut (Birkenheuer 2008, §3.1.1, §3.1.2).
//!
//! Arrivals, sizes, estimates, users and applications are those of [`super::lublin_feitelson`] with
//! the same seed. The run time of each job is drawn anew, uniformly among the whole seconds from 1
//! to its estimate, and independently of everything else: no attribute of a job says anything about
//! its ratio, and nobody underestimates.

use super::error::WorkloadError;
use super::lublin_feitelson;
use super::swf::{ParsedTrace, Provenance};
use super::variates::uniform;
use crate::random::stream;
use crate::units::Nodes;

/// Generates `jobs` records of a replication for a machine of `nodes`.
///
/// # Errors
/// [`WorkloadError::ImpossibleSetting`] for no jobs or no nodes.
pub fn generate(
    jobs: u32,
    nodes: Nodes,
    seed: u64,
    replication: u32,
) -> Result<ParsedTrace, WorkloadError> {
    let ParsedTrace {
        mut header,
        mut records,
        ..
    } = lublin_feitelson::generate(jobs, nodes, seed, replication)?;
    let key = format!("uniform-ratio {} nodes", nodes.0);
    let mut ratios = stream(seed, &key, replication, "ratios");
    for record in &mut records {
        let estimate = record.requested_time;
        record.run = ((uniform(&mut ratios) * estimate as f64) as i64 + 1).min(estimate);
    }
    header.note("run times drawn anew, uniform between 1 s and the estimate");
    Ok(ParsedTrace::from_records(
        "Lublin-Feitelson 2003 model with Tsafrir 2005 estimates and run times that are a uniform share of them"
            .to_owned(),
        Provenance::Model,
        header,
        records,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tenth_of_the_estimate_ends_as_many_jobs() {
        let trace = generate(20_000, Nodes(128), 1, 0).unwrap();
        let mut tenths = [0_u32; 10];
        for record in &trace.records {
            assert!((1..=record.requested_time).contains(&record.run));
            tenths[((record.run - 1) * 10 / record.requested_time) as usize] += 1;
        }
        // 2,000 each; a standard deviation is 42.
        assert!(
            tenths.iter().all(|count| (1_830..2_170).contains(count)),
            "{tenths:?}"
        );
    }

    #[test]
    fn everything_but_the_run_times_is_that_of_the_model() {
        let model = lublin_feitelson::generate(500, Nodes(64), 3, 0).unwrap();
        let uniform = generate(500, Nodes(64), 3, 0).unwrap();
        assert_ne!(model.content_hash, uniform.content_hash);
        for (model, uniform) in model.records.iter().zip(&uniform.records) {
            let mut same = *model;
            same.run = uniform.run;
            assert_eq!(same, *uniform);
        }
    }
}
