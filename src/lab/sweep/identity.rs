//! Identities: what determines a result, in one canonical text, hashed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::digest::Digest;
use super::spec::{RESULT_FORMAT, SimulationSpec, Sweep};
use crate::study::inputs::{ContentHashes, RunInput, write_sorted};

impl Sweep {
    /// Gives every simulation and every point its identity, now that the content of the inputs is
    /// known.
    ///
    /// A simulation's identity is the digest of result format, specification (with seed and
    /// replication), content hashes and, where its study has one, the revision of the engine; a
    /// point's adds the penalty ratio. Points with the same identity have the same result, whatever
    /// the sweep. Points of this sweep may be the same, because their strategy does not read the
    /// values in which they differ; their places tell them apart.
    ///
    /// # Errors
    ///
    /// What `hashes` returns for some of the simulations; it returns one for each of them, in their
    /// order.
    pub fn identify<E>(
        &mut self,
        mut hashes: impl FnMut(&[SimulationSpec]) -> Result<Vec<ContentHashes>, E>,
    ) -> Result<(), E> {
        let mut order: Vec<u32> = (0..self.points.len() as u32).collect();
        order.sort_by_key(|place| self.points[*place as usize].simulation);
        let mut order = order.into_iter().peekable();
        let mut simulation_ids = Vec::with_capacity(self.simulations.len());
        let mut read = BTreeSet::new();
        // Some at a time, and one text at a time: all of them would take more memory than
        // everything else.
        let mut specs = self.simulations.iter();
        let mut kind: Option<Kind<'_>> = None;
        loop {
            let some: Vec<SimulationSpec> = specs.by_ref().take(AT_A_TIME).collect();
            if some.is_empty() {
                break;
            }
            for (spec, content) in some.iter().zip(hashes(&some)?) {
                let number = simulation_ids.len();
                let spec_of_kind = self.simulations.kind(number);
                let known = kind.take_if(|known| std::ptr::eq(known.spec, spec_of_kind));
                let known = kind.insert(known.unwrap_or_else(|| Kind::of(spec_of_kind)));
                let text = known.text(spec.replication, &content);
                // A point's text begins with its simulation's.
                let text = Digest::of(&text);
                simulation_ids.push(text.identity());
                let points = &mut self.points;
                while let Some(place) =
                    order.next_if(|place| points[*place as usize].simulation == number)
                {
                    let point = &mut points[place as usize];
                    let ratio = json!({ "penalty_ratio": point.penalty_ratio });
                    point.id = text.identity_with(&sorted(&ratio));
                }
                for input in known.inputs(spec, &content) {
                    read.insert(input);
                }
            }
        }
        self.inputs = read.into_iter().collect();
        self.simulation_ids = simulation_ids;
        Ok(())
    }
}

/// Simulations whose inputs are hashed beside each other.
const AT_A_TIME: usize = 4_096;

/// What all replications of a simulation have in common, made once for them.
struct Kind<'a> {
    spec: &'a SimulationSpec,
    /// What determines a result; replication and content are those of the last one.
    base: Value,
    workload: String,
    failures: String,
}

impl<'a> Kind<'a> {
    fn of(spec: &'a SimulationSpec) -> Self {
        let mut base = json!({ "format": RESULT_FORMAT, "simulation": spec });
        if let Some(revision) = spec.study.revision() {
            base["revision"] = revision.into();
        }
        Self {
            spec,
            base,
            workload: spec.workload.key(),
            failures: sorted(&json!(spec.failures)),
        }
    }

    fn text(&mut self, replication: u32, content: &ContentHashes) -> String {
        self.base["simulation"]["replication"] = replication.into();
        self.base["content"] = json!(content);
        sorted(&self.base)
    }

    fn inputs(&self, spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput> {
        let Self {
            workload, failures, ..
        } = self;
        // Each fresh replication of a model has jobs of its own.
        let drawn = match spec.workload.draw_of(spec.replication) {
            0 => String::new(),
            draw => format!(" replication={draw}"),
        };
        let mut inputs = vec![RunInput {
            source: format!("workload {workload} seed={}{drawn}", spec.seed),
            content: content.workload.clone(),
        }];
        if let Some(hash) = &content.failures {
            inputs.push(RunInput {
                source: format!(
                    "failures {failures} of workload {workload} seed={} replication={}",
                    spec.seed, spec.replication
                ),
                content: hash.clone(),
            });
        }
        inputs.extend(spec.study.more_sources(spec, content));
        inputs
    }
}

fn sorted(value: &Value) -> String {
    let mut text = String::new();
    write_sorted(value, &mut text);
    text
}
