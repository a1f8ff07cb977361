//! The admitted candidates of one request: shuffled once, and kept in a few bytes each.

use std::ops::Range;

use rand::seq::SliceRandom;

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;
use bookahead_core::workload::Preference;

use crate::co_reservation::local::{ClusterId, OfferedPart};

/// A TR candidate: one part on one cluster at one start (Meltzer 2005, Table 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Where.
    pub cluster: ClusterId,
    /// Which part, most CPUs first.
    pub part: u16,
    /// When.
    pub start: Seconds,
    /// Partial cost in units of money.
    pub cost: f64,
    /// The probability that the part is not there when it starts, in `[0, 1]`.
    pub pof: f64,
    /// What cost is weighed by: the cost, or cost + PoF × penalty.
    pub expected: f64,
    /// The share of large jobs that ran lately at the cluster, in `[0, 1]` (Meltzer 2005, §7.2); 0
    /// where it does not count.
    pub large_share: f64,
    /// The degree to which the cluster would be reserved (Meltzer 2005, §7.1); 0 where it does not
    /// count.
    pub degree: f64,
}

/// What counts beside cost and start, by its mean over the parts (Meltzer 2005, §4.7.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Criterion {
    /// The share of large jobs that ran lately at the cluster.
    LargeShare,
    /// The degree to which the cluster would be reserved.
    Degree,
}

impl Criterion {
    /// All of them; their weights are added in this order.
    pub const ALL: [Self; 2] = [Self::LargeShare, Self::Degree];

    /// What it is of a candidate.
    pub fn of(self, candidate: &Candidate) -> f64 {
        match self {
            Self::LargeShare => candidate.large_share,
            Self::Degree => candidate.degree,
        }
    }

    /// What it counts for a client.
    pub fn weight(self, preference: &Preference) -> f64 {
        match self {
            Self::LargeShare => preference.mix_weight,
            Self::Degree => preference.degree_weight,
        }
    }
}

impl Candidate {
    /// One of which neither price nor risk is known.
    #[must_use]
    pub fn free(cluster: ClusterId, part: u16, start: Seconds) -> Self {
        Self {
            cluster,
            part,
            start,
            cost: 0.0,
            pof: 0.0,
            expected: 0.0,
            large_share: 0.0,
            degree: 0.0,
        }
    }

    /// What `cluster` offered; `penalty` is what is lost when the part is not there (0: price alone
    /// counts).
    #[must_use]
    pub fn offered(cluster: ClusterId, offer: &OfferedPart, penalty: f64) -> Self {
        Self {
            cluster,
            part: offer.part,
            start: offer.start,
            cost: offer.cost,
            pof: offer.pof,
            expected: offer.cost + offer.pof * penalty,
            large_share: 0.0,
            degree: 0.0,
        }
    }
}

/// A candidate's place in a [`Table`]: candidates are ordered by part, then start, then as they
/// were shuffled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its number.
    pub index: u32,
    /// The part.
    pub part: usize,
    /// The number of its start.
    pub start: u32,
    /// The number of its cluster.
    pub cluster: u16,
}

/// Every candidate of a request: 2 bytes each, and 8 more for each of cost, expected cost, risk and
/// further criteria that differs among them.
#[derive(Debug)]
pub(super) struct Table {
    /// Distinct clusters, rising.
    clusters: Vec<ClusterId>,
    /// Distinct starts, rising.
    starts: Vec<Seconds>,
    parts: usize,
    /// Where the candidates of (part, start) begin; one more for the end.
    offsets: Vec<u32>,
    /// Numbers of clusters.
    cluster_of: Vec<u16>,
    cost: Column,
    pof: Column,
    /// `None` where it is the cost.
    expected: Option<Column>,
    /// In the order of [`Criterion::ALL`].
    further: [Column; Criterion::ALL.len()],
    /// Expected cost and further criteria together; `None` where cost alone counts.
    weighed: Option<Column>,
    /// The candidates of the first part in the order of the shuffled list.
    shuffled: Vec<u32>,
}

/// A number for each candidate.
#[derive(Debug)]
pub(super) enum Column {
    /// The same for all.
    Same(f64),
    /// One each.
    Each(Vec<f64>),
}

impl Column {
    fn of(order: &[u32], candidates: &[Candidate], value: impl Fn(&Candidate) -> f64) -> Self {
        let first = candidates.first().map_or(0.0, &value);
        if candidates
            .iter()
            .all(|candidate| value(candidate).to_bits() == first.to_bits())
        {
            return Self::Same(first);
        }
        Self::Each(
            order
                .iter()
                .map(|&place| value(&candidates[place as usize]))
                .collect(),
        )
    }

    /// The value of one candidate.
    pub fn at(&self, index: u32) -> f64 {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values[index as usize],
        }
    }

    /// The value that all share, if they do.
    pub fn same(&self) -> Option<f64> {
        match self {
            Self::Same(value) => Some(*value),
            Self::Each(_) => None,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Same(_) => 0,
            Self::Each(values) => values.capacity() * size_of::<f64>(),
        }
    }
}

impl Table {
    /// Shuffles `candidates` once, the whole list (Meltzer 2005, §4.2.2); without a stream they
    /// stay in the order given. Candidates of parts that do not exist are left out, and of the same
    /// (cluster, part, start) all but the first after shuffling.
    pub fn new(parts: usize, mut candidates: Vec<Candidate>, stream: Option<&mut Stream>) -> Self {
        candidates.retain(|candidate| usize::from(candidate.part) < parts);
        let clusters = distinct(candidates.iter().map(|candidate| candidate.cluster));
        let starts = distinct(candidates.iter().map(|candidate| candidate.start));
        let mut shuffled: Vec<u32> = (0..candidates.len() as u32).collect();
        if let Some(stream) = stream {
            shuffled.shuffle(stream);
        }
        let (mut cluster_numbers, mut start_numbers) = (Finder::default(), Finder::default());
        let keys: Vec<(u32, u16)> = candidates
            .iter()
            .map(|candidate| {
                let start = start_numbers.find(&starts, candidate.start);
                let cluster = cluster_numbers.find(&clusters, candidate.cluster);
                let group = usize::from(candidate.part) * starts.len() + start;
                (group as u32, cluster as u16)
            })
            .collect();
        let groups = parts * starts.len();
        let mut counts = vec![0_u32; groups + 1];
        for &(group, _) in &keys {
            counts[group as usize + 1] += 1;
        }
        for group in 0..groups {
            counts[group + 1] += counts[group];
        }
        let mut next = counts.clone();
        let mut order = vec![0_u32; candidates.len()];
        let mut first_part = Vec::with_capacity(counts[starts.len().min(groups)] as usize);
        for &place in &shuffled {
            let (group, _) = keys[place as usize];
            let index = &mut next[group as usize];
            order[*index as usize] = place;
            if (group as usize) < starts.len() {
                first_part.push(*index);
            }
            *index += 1;
        }
        let cluster_of: Vec<u16> = order.iter().map(|&place| keys[place as usize].1).collect();
        let repeated = repeats(&counts, &cluster_of, clusters.len());
        if !repeated.is_empty() {
            let mut drop = vec![false; candidates.len()];
            for index in repeated {
                drop[order[index] as usize] = true;
            }
            let kept = shuffled
                .iter()
                .filter(|&&place| !drop[place as usize])
                .map(|&place| candidates[place as usize])
                .collect();
            return Self::new(parts, kept, None);
        }
        let cost = Column::of(&order, &candidates, |candidate| candidate.cost);
        let pof = Column::of(&order, &candidates, |candidate| candidate.pof);
        let expected = candidates
            .iter()
            .any(|candidate| candidate.expected.to_bits() != candidate.cost.to_bits())
            .then(|| Column::of(&order, &candidates, |candidate| candidate.expected));
        let further = Criterion::ALL
            .map(|criterion| Column::of(&order, &candidates, |candidate| criterion.of(candidate)));
        Self {
            clusters,
            starts,
            parts,
            offsets: counts,
            cluster_of,
            cost,
            pof,
            expected,
            further,
            weighed: None,
            shuffled: first_part,
        }
    }

    /// Parts of the request.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> usize {
        self.clusters.len()
    }

    /// How many starts there are.
    pub fn starts(&self) -> u32 {
        self.starts.len() as u32
    }

    /// A start by its number.
    pub fn start(&self, number: u32) -> Seconds {
        self.starts[number as usize]
    }

    /// The number of a cluster that has a candidate.
    pub fn cluster_number(&self, cluster: ClusterId) -> Option<u16> {
        self.clusters
            .binary_search(&cluster)
            .ok()
            .map(|number| number as u16)
    }

    /// How many candidates there are.
    pub fn len(&self) -> usize {
        self.cluster_of.len()
    }

    /// The candidates of one part at one start.
    pub fn group(&self, part: usize, start: u32) -> Range<u32> {
        let group = part * self.starts.len() + start as usize;
        self.offsets[group]..self.offsets[group + 1]
    }

    /// The number of a candidate's cluster.
    pub fn cluster(&self, index: u32) -> u16 {
        self.cluster_of[index as usize]
    }

    /// The candidates of the first part as they were shuffled.
    pub fn shuffled(&self) -> &[u32] {
        &self.shuffled
    }

    /// The number of the start of a candidate of the first part.
    pub fn first_part_start(&self, index: u32) -> u32 {
        self.offsets[..=self.starts.len()].partition_point(|&begin| begin <= index) as u32 - 1
    }

    /// Costs.
    pub fn cost(&self) -> &Column {
        &self.cost
    }

    /// What cost is weighed by.
    pub fn expected(&self) -> &Column {
        self.expected.as_ref().unwrap_or(&self.cost)
    }

    /// What a further criterion is.
    pub fn further(&self, criterion: Criterion) -> &Column {
        &self.further[criterion as usize]
    }

    /// What candidates are ordered by beside their start: expected cost, or, after [`Self::weigh`],
    /// that and further criteria together.
    pub fn weighed(&self) -> &Column {
        self.weighed.as_ref().unwrap_or(self.expected())
    }

    /// From now on candidates are ordered by expected cost and further criteria together, each with
    /// its weight as a share of its range over the complete candidates. All add up over the parts
    /// (a mean is the sum over the number of parts), so that each part has its piece of the value.
    pub fn weigh(&mut self, cost: (f64, Range<f64>), further: &[(Criterion, f64, Range<f64>)]) {
        let parts = self.parts.max(1) as f64;
        let piece = |column: &Column, index: u32, weight: f64, range: &Range<f64>| {
            let span = range.end - range.start;
            if span > 0.0 {
                weight * (column.at(index) - range.start / parts) / span
            } else {
                0.0
            }
        };
        let pieces = (0..self.len() as u32).map(|index| {
            let of_cost = piece(self.expected(), index, cost.0, &cost.1);
            further
                .iter()
                .fold(of_cost, |sum, (criterion, weight, range)| {
                    sum + piece(self.further(*criterion), index, *weight, range)
                })
        });
        self.weighed = Some(Column::Each(pieces.collect()));
    }

    /// Probabilities of failure.
    pub fn pof(&self) -> &Column {
        &self.pof
    }

    /// A candidate in full.
    pub fn candidate(&self, entry: Entry) -> Candidate {
        Candidate {
            cluster: self.clusters[usize::from(entry.cluster)],
            part: entry.part as u16,
            start: self.starts[entry.start as usize],
            cost: self.cost.at(entry.index),
            pof: self.pof.at(entry.index),
            expected: self.expected().at(entry.index),
            large_share: self.further(Criterion::LargeShare).at(entry.index),
            degree: self.further(Criterion::Degree).at(entry.index),
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.clusters.capacity() * size_of::<ClusterId>()
            + self.starts.capacity() * size_of::<Seconds>()
            + (self.offsets.capacity() + self.shuffled.capacity()) * size_of::<u32>()
            + self.cluster_of.capacity() * size_of::<u16>()
            + self.cost.bytes()
            + self.pof.bytes()
            + self.expected.as_ref().map_or(0, Column::bytes)
            + self.further.iter().map(Column::bytes).sum::<usize>()
            + self.weighed.as_ref().map_or(0, Column::bytes)
    }
}

fn distinct<T: Ord + Copy>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut found: Vec<T> = Vec::new();
    let mut last = 0;
    // Candidates come in runs, by start or by cluster: what is already known is mostly the one
    // before or its neighbour.
    for value in values {
        if found.get(last) == Some(&value) {
            continue;
        }
        match found.binary_search(&value) {
            Ok(place) => last = place,
            Err(place) => {
                found.insert(place, value);
                last = place;
            }
        }
    }
    found
}

/// Finds numbers of values that come in runs.
#[derive(Default)]
struct Finder {
    last: usize,
}

impl Finder {
    fn find<T: Ord>(&mut self, values: &[T], value: T) -> usize {
        if values.get(self.last) != Some(&value) {
            self.last = values.partition_point(|known| *known < value);
        }
        self.last
    }
}

/// Candidates whose cluster stands earlier in the same group.
fn repeats(offsets: &[u32], cluster_of: &[u16], clusters: usize) -> Vec<usize> {
    let mut seen = vec![u32::MAX; clusters];
    let mut repeated = Vec::new();
    for (group, ends) in offsets.windows(2).enumerate() {
        for index in ends[0] as usize..ends[1] as usize {
            let last = &mut seen[usize::from(cluster_of[index])];
            if *last == group as u32 {
                repeated.push(index);
            }
            *last = group as u32;
        }
    }
    repeated
}
