//! Identities: what determines a result, in one canonical text, hashed.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::spec::{RESULT_FORMAT, RunInput, SimulationSpec, Sweep};
use crate::studies::lab_study;

/// The content of a simulation's inputs, known once they are loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContentHashes {
    /// The jobs: hash of the trace's content, or of the generated jobs.
    pub workload: String,
    /// The replayed failures; `None` where they follow from settings and seed alone.
    pub failures: Option<String>,
    /// The jobs of the sites behind the first, of a study of provisioning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sites: Vec<String>,
    /// The file of the workflow; `None` where it was drawn, and without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
}

/// JSON with sorted keys and no white space: equal values give equal texts.
///
/// # Errors
///
/// When a value has no JSON form (never for the settings of this crate).
pub fn canonical_json<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let mut text = String::new();
    write_sorted(&serde_json::to_value(value)?, &mut text);
    Ok(text)
}

fn write_sorted(value: &Value, into: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            into.push('{');
            for (position, (key, child)) in entries.into_iter().enumerate() {
                if position > 0 {
                    into.push(',');
                }
                into.push_str(&Value::from(key.as_str()).to_string());
                into.push(':');
                write_sorted(child, into);
            }
            into.push('}');
        }
        Value::Array(items) => {
            into.push('[');
            for (position, child) in items.iter().enumerate() {
                if position > 0 {
                    into.push(',');
                }
                write_sorted(child, into);
            }
            into.push(']');
        }
        leaf => into.push_str(&leaf.to_string()),
    }
}

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
        let texts: Vec<String> = (0..self.simulations.len())
            .map(|index| sorted(&base(index)))
            .collect();
        self.inputs = self
            .simulations
            .iter()
            .zip(&contents)
            .flat_map(|(spec, content)| inputs(spec, content))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect();
        self.simulation_ids = texts.iter().map(|text| digest(text)).collect();
        for point in &mut self.points {
            let ratio = sorted(&json!({ "penalty_ratio": point.penalty_ratio }));
            point.id = digest(&format!("{}{ratio}", texts[point.simulation]));
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
