//! Identities: what determines a result, in one canonical text, hashed.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::spec::{RESULT_FORMAT, SimulationSpec, Sweep};
use crate::inputs::{ContentHashes, RunInput, write_sorted};
use crate::studies::lab_study;

/// The first 32 hexadecimal digits of the SHA-256 of a text.
#[must_use]
pub fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl Sweep {
    /// Gives every simulation and every point its identity, now that the content of the inputs is known.
    ///
    /// A simulation's identity is the digest of result format, specification (with seed and replication), content
    /// hashes and, where its study has one, the revision of the engine; a point's adds the penalty ratio. Points with the same identity have the same result, whatever the sweep.
    /// Points of this sweep may be the same, because their strategy does not read the values in which they differ; their
    /// places tell them apart.
    ///
    /// # Errors
    ///
    /// What `hashes` returns for a simulation.
    pub fn identify<E>(
        &mut self,
        mut hashes: impl FnMut(&SimulationSpec) -> Result<ContentHashes, E>,
    ) -> Result<(), E> {
        let mut contents = Vec::with_capacity(self.simulations.len());
        for spec in &self.simulations {
            contents.push(hashes(spec)?);
        }
        let base = |index: usize| {
            let spec = &self.simulations[index];
            let mut base = json!({
                "format": RESULT_FORMAT,
                "simulation": spec,
                "content": contents[index],
            });
            if let Some(revision) = spec.study.study().revision() {
                base["revision"] = revision.into();
            }
            base
        };
        // One text at a time: all of them would take more memory than everything else.
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by_key(|point| self.points[*point].simulation);
        let mut order = order.into_iter().peekable();
        let mut simulation_ids = Vec::with_capacity(self.simulations.len());
        let mut point_ids = vec![String::new(); self.points.len()];
        for index in 0..self.simulations.len() {
            let text = sorted(&base(index));
            simulation_ids.push(digest(&text));
            while let Some(place) = order.next_if(|place| self.points[*place].simulation == index) {
                let ratio = json!({ "penalty_ratio": self.points[place].penalty_ratio });
                point_ids[place] = digest(&format!("{text}{}", sorted(&ratio)));
            }
        }
        self.inputs = self
            .simulations
            .iter()
            .zip(&contents)
            .flat_map(|(spec, content)| inputs(spec, content))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        self.simulation_ids = simulation_ids;
        for (point, id) in self.points.iter_mut().zip(point_ids) {
            point.id = id;
        }
        Ok(())
    }
}

fn inputs(spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput> {
    let workload = spec.workload.key();
    let mut inputs = vec![RunInput {
        source: format!("workload {workload} seed={}", spec.seed),
        content: content.workload.clone(),
    }];
    if let Some(failures) = &content.failures {
        inputs.push(RunInput {
            source: format!(
                "failures {} of workload {workload} seed={} replication={}",
                sorted(&json!(spec.failures)),
                spec.seed,
                spec.replication
            ),
            content: failures.clone(),
        });
    }
    inputs.extend(lab_study(&spec.study).more_sources(spec, content));
    inputs
}

fn sorted(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    text
}
