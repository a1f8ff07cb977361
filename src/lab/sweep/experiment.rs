//! From an experiment file to a sweep: every combination of axis values read, checked and resolved
//! before anything runs.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::axes::{
    Dimension, Exclusions, MAXIMUM_POINTS, MAXIMUM_SIMULATIONS, advance, axes_of, combinations,
    dimensions,
};
use super::combination::{CellNodes, nodes_of, resolved};
use super::digest::Identity;
use super::document::{Document, Node};
use super::keys::Keys;
use super::point_axes::PointAxes;
use super::resolve::{self, Header};
use super::simulations::Simulations;
use super::spec::{Axis, Point, Sweep};
use super::unread;
use crate::keys::problem::{ExperimentError, Problem, ProblemKind, Problems};
use crate::study::Studies;
use crate::study::inputs::canonical_json;
use crate::workload::input_file::open_plain;

/// A sweep that can run, and what a reader of its file should know.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The sweep; its points have no identities before [`Sweep::identify`].
    pub sweep: Sweep,
    /// Warnings: what is probably not meant but does no harm.
    pub warnings: Vec<Problem>,
}

impl Experiment {
    /// Reads and checks an experiment file; `-` is standard input. `seed` takes the place of the
    /// file's.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or with every problem found in it (up to twenty).
    pub fn load(studies: Studies, path: &Path, seed: Option<u64>) -> Result<Self, ExperimentError> {
        if path == Path::new("-") {
            const NAME: &str = "standard input";
            return Self::parse(
                studies,
                NAME,
                &read(Path::new(NAME), Ok(io::stdin().lock()))?,
                seed,
            );
        }
        let text = Self::text_of(path)?;
        let mut experiment = Self::parse(studies, &path.display().to_string(), &text, seed)?;
        experiment.sweep.source = Some(path.to_owned());
        Ok(experiment)
    }

    /// The text of an experiment file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn text_of(path: &Path) -> Result<String, ExperimentError> {
        read(path, open_plain(path))
    }

    /// Checks the text of an experiment; `file` is its name in messages.
    ///
    /// # Errors
    ///
    /// With every problem found in it (up to twenty).
    pub fn parse(
        studies: Studies,
        file: &str,
        text: &str,
        seed: Option<u64>,
    ) -> Result<Self, ExperimentError> {
        Self::parse_within(studies, file, text, seed, MAXIMUM_SIMULATIONS)
    }

    /// The same with another bound than [`MAXIMUM_SIMULATIONS`].
    fn parse_within(
        studies: Studies,
        file: &str,
        text: &str,
        seed: Option<u64>,
        most_simulations: usize,
    ) -> Result<Self, ExperimentError> {
        let mut problems = Problems::new(file, text);
        let document = Document::parse(Keys::of(studies), text, &mut problems);
        let Some(document) = document else {
            problems.check()?;
            return Err(ExperimentError::Invalid(Vec::new()));
        };
        let dimensions = dimensions(&document, &mut problems);
        let mut exclusions = Exclusions::bind(&document, &dimensions, &mut problems);
        let raw = document.read(&[], &mut problems);
        let header = resolve::header(raw.experiment.as_ref(), &mut problems);
        let refined: Vec<&str> = (dimensions.iter())
            .filter(|dimension| dimension.is_refined)
            .flat_map(|dimension| dimension.keys.iter().map(|key| key.path))
            .collect();
        let axes = axes_of(&dimensions);
        let rule = resolve::rule(&raw, &axes, &refined, &mut problems).flatten();
        let replications = match (&rule, &header) {
            (Some(rule), _) => rule.replications(),
            (None, Some(header)) => header.replications,
            (None, None) => 1,
        };
        let points =
            combinations(&dimensions).and_then(|count| count.checked_mul(u64::from(replications)));
        if points.is_none_or(|points| points > MAXIMUM_POINTS) {
            let message = match points {
                Some(points) => format!("{points} points"),
                None => "more points than can be counted".to_owned(),
            };
            let place = document
                .axes
                .first()
                .map_or(0..0, |axis| axis.get_ref().key.span());
            let help = format!(
                "a sweep may have {MAXIMUM_POINTS} points at most: use fewer values or several sweeps"
            );
            problems.add(ProblemKind::TooManyPoints, "axis", place, message, help);
            problems.check()?;
        }
        let axes_wrong = problems.errors() > 0;
        let mut plan = Plan::new(&dimensions, most_simulations);
        let mut rows = vec![0; dimensions.len()];
        let nodes = nodes_of(&dimensions);
        let seed = seed
            .or(header.as_ref().map(|header| header.seed))
            .unwrap_or(1);
        loop {
            if !exclusions.matches(&dimensions, &rows) {
                plan.places
                    .push((place_of(&dimensions, &rows), plan.points.len()));
                plan.combination(
                    &document,
                    &dimensions,
                    &nodes,
                    &rows,
                    (seed, replications),
                    &mut problems,
                );
            }
            if plan.is_too_large {
                let place = document
                    .axes
                    .first()
                    .map_or(0..0, |axis| axis.get_ref().key.span());
                let message = format!("more than {most_simulations} simulations");
                let help = "use fewer values or replications, or several sweeps into one store";
                problems.add(ProblemKind::TooManyPoints, "axis", place, message, help);
                break;
            }
            if problems.enough() || axes_wrong || !advance(&mut rows, &dimensions) {
                break;
            }
        }
        problems.check()?;
        let header_of_file = raw.experiment.as_ref();
        resolve::primary(header_of_file, studies, &plan.simulations, &mut problems);
        problems.check()?;
        exclusions.warn_unmatched(&mut problems);
        plan.warn_idle(&dimensions, &mut problems);
        unread::warn(text, &document, &dimensions, &mut problems);
        if plan.points.is_empty() {
            let place = document
                .excludes
                .first()
                .map_or(0..0, |(span, _)| span.clone());
            let help = "delete an exclusion or add values";
            problems.add(
                ProblemKind::EmptyAxis,
                "exclude",
                place,
                "no point is left to run",
                help,
            );
            problems.check()?;
        }
        let Some(Header {
            name, description, ..
        }) = header
        else {
            return Err(ExperimentError::Invalid(problems.into_warnings()));
        };
        let sweep = Sweep {
            name,
            description,
            source: None,
            text: text.to_owned(),
            seed,
            replications,
            rule,
            axes,
            simulation_ids: Vec::new(),
            simulations: plan.simulations,
            points: plan.points,
            inputs: Vec::new(),
            losses: Vec::new(),
            machines: Vec::new(),
        };
        Ok(Self {
            sweep,
            warnings: problems.into_warnings(),
        })
    }
}

/// More is no experiment file (and a device such as /dev/zero has no end).
const LARGEST_FILE: u64 = 16 << 20;

fn read(path: &Path, source: io::Result<impl Read>) -> Result<String, ExperimentError> {
    let mut bytes = Vec::new();
    source
        .and_then(|file| file.take(LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(|source| ExperimentError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
    if bytes.len() as u64 > LARGEST_FILE {
        return Err(ExperimentError::TooLarge {
            path: path.to_owned(),
            limit: LARGEST_FILE,
        });
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        ExperimentError::NotText {
            path: path.to_owned(),
            line: 1 + good.iter().filter(|byte| **byte == b'\n').count(),
        }
    })
}

/// Simulations and points as combinations are resolved; equal schedules are kept once.
struct Plan {
    simulations: Simulations,
    points: Vec<Point>,
    /// The first simulation of each kind, by the hash of its settings.
    known: HashMap<[u8; 32], usize>,
    /// For every combination its place in the full product and the index of its first point.
    places: Vec<(u64, usize)>,
    /// How many simulations there may be.
    most_simulations: usize,
    /// Whether there would be more than that; no more are added then.
    is_too_large: bool,
    /// The axes by key, with the dimension of each.
    axes: Arc<[Axis]>,
    dimension_of: Vec<usize>,
}

/// The number of a combination in the full product, the last dimension counting fastest.
fn place_of(dimensions: &[Dimension], rows: &[usize]) -> u64 {
    dimensions
        .iter()
        .zip(rows)
        .fold(0, |place, (dimension, row)| {
            place * dimension.rows.len() as u64 + *row as u64
        })
}

impl Plan {
    fn new(dimensions: &[Dimension], most_simulations: usize) -> Self {
        let owners = (dimensions.iter().enumerate())
            .flat_map(|(number, dimension)| dimension.keys.iter().map(move |_| number));
        let mut axes: Vec<(Axis, usize)> = axes_of(dimensions).into_iter().zip(owners).collect();
        axes.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
        let (axes, dimension_of): (Vec<Axis>, Vec<usize>) = axes.into_iter().unzip();
        Self {
            simulations: Simulations::default(),
            points: Vec::new(),
            known: HashMap::new(),
            places: Vec::new(),
            most_simulations,
            is_too_large: false,
            axes: axes.into(),
            dimension_of,
        }
    }

    /// Warns of dimensions along which neither a simulation nor its accounting ever changes.
    fn warn_idle(&self, dimensions: &[Dimension], problems: &mut Problems) {
        let mut stride = 1;
        for dimension in dimensions.iter().rev() {
            let count = dimension.rows.len() as u64;
            let mut first = HashMap::new();
            let idle = self.places.iter().all(|(place, index)| {
                let Some(point) = self.points.get(*index) else {
                    return true;
                };
                let outcome = (point.simulation, point.penalty_ratio.to_bits());
                let elsewhere = place - place / stride % count * stride;
                *first.entry(elsewhere).or_insert(outcome) == outcome
            });
            if idle && count > 1 {
                let keys: Vec<&str> = dimension.keys.iter().map(|key| key.path).collect();
                problems.warn(
                    ProblemKind::Conflict,
                    &keys.join(", "),
                    dimension.rows[0][0].span.clone(),
                    "nothing in this sweep reads this key: all values give the same results",
                    "delete the axis, or choose the strategy, test, source or model that reads it",
                );
            }
            stride *= count;
        }
    }

    fn combination<'i>(
        &mut self,
        document: &Document<'i>,
        dimensions: &[Dimension],
        nodes: &CellNodes<'i>,
        rows: &[usize],
        (seed, replications): (u64, u32),
        problems: &mut Problems,
    ) {
        let mut values: Vec<(&str, &Node<'i>)> = Vec::new();
        for (dimension, factors) in dimensions.iter().enumerate() {
            let row = rows[dimension];
            for (column, key) in factors.keys.iter().enumerate() {
                if let Some(node) = &nodes[dimension][row][column] {
                    values.push((key.path, node));
                }
            }
        }
        let resolved = resolved(document, &values, replications, seed, problems);
        let Some((base, penalty_ratio)) = resolved else {
            return;
        };
        let positions: Box<[u32]> = (self.dimension_of.iter())
            .map(|dimension| rows[*dimension] as u32)
            .collect();
        let axes = PointAxes::new(&self.axes, positions);
        let Ok(text) = canonical_json(&base) else {
            return;
        };
        let settings: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let room = self.most_simulations.saturating_sub(self.simulations.len());
        if replications as usize > room && !self.known.contains_key(&settings) {
            self.is_too_large = true;
            return;
        }
        let simulations = &mut self.simulations;
        let first = *(self.known)
            .entry(settings)
            .or_insert_with(|| simulations.add(base, replications));
        for replication in 0..replications {
            self.points.push(Point {
                id: Identity::new(),
                simulation: first + replication as usize,
                axes: axes.clone(),
                penalty_ratio,
                replication,
                place: self.points.len() as u32,
            });
        }
    }
}
