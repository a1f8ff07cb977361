//! The least demands of groups of waiting jobs, so that a search skips groups in which no job can
//! start.

/// Nodes of a job that left.
pub(super) const GONE: i32 = i32::MAX;

/// Shortest estimates are known for jobs of 1, at most 2, 3, 4, 7, 8, 15, 16, … nodes; all jobs are
/// of the last class.
const CLASSES: usize = 32;

/// Summaries that share one of the next level.
const TOGETHER: usize = 16;

/// The space that the first job leaves to those behind it, in 32 bits, never less than it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactSpace {
    pub(super) idle: i32,
    pub(super) span: i32,
    /// Nodes that may be taken for any time.
    pub(super) beside: i32,
    class: usize,
}

impl CompactSpace {
    pub(super) fn new(idle: i32, span: i32, beside: i32) -> Self {
        Self {
            idle,
            span,
            beside,
            class: class_of(idle),
        }
    }
}

/// No job of the group has fewer nodes, and no job up to a class has a shorter estimate.
#[derive(Clone, Copy, Debug)]
struct Summary {
    fewest: i32,
    shortest: [i32; CLASSES],
    /// Jobs have left since it was computed.
    is_stale: bool,
}

impl Summary {
    const EMPTY: Self = Self {
        fewest: GONE,
        shortest: [i32::MAX; CLASSES],
        is_stale: false,
    };

    fn add(&mut self, nodes: i32, estimate: i32) {
        self.fewest = self.fewest.min(nodes);
        let larger = &mut self.shortest[class_of(nodes)..];
        for shortest in larger.iter_mut().take_while(|other| estimate < **other) {
            *shortest = estimate;
        }
    }

    fn may_hold(&self, space: &CompactSpace) -> bool {
        self.fewest <= space.beside || self.shortest[space.class] <= space.span
    }

    fn of_jobs(nodes: &[i32], estimates: &[i32]) -> Self {
        let mut summary = Self::EMPTY;
        for (&nodes, &estimate) in nodes.iter().zip(estimates) {
            if nodes != GONE {
                summary.fewest = summary.fewest.min(nodes);
                let shortest = &mut summary.shortest[class_of(nodes)];
                *shortest = estimate.min(*shortest);
            }
        }
        for class in 1..CLASSES {
            let smaller = summary.shortest[class - 1];
            summary.shortest[class] = summary.shortest[class].min(smaller);
        }
        summary
    }

    fn of_summaries(summaries: &[Self]) -> Self {
        let mut all = Self::EMPTY;
        for other in summaries {
            all.fewest = all.fewest.min(other.fewest);
            for (shortest, other) in all.shortest.iter_mut().zip(&other.shortest) {
                *shortest = (*shortest).min(*other);
            }
        }
        all
    }
}

/// The smallest class that holds all jobs of at most this many nodes.
fn class_of(nodes: i32) -> usize {
    let nodes = nodes.max(1);
    let bits = nodes.ilog2() as usize;
    // 1 | 2 | 3 | 4 | 5 to 7 | 8 | 9 to 15 | …
    let is_between = nodes.count_ones() > 1;
    let class = (2 * bits).saturating_sub(1) + usize::from(is_between);
    class.min(CLASSES - 1)
}

/// Summaries of blocks of jobs, of groups of blocks, of groups of groups …, up to a level of few.
#[derive(Debug)]
pub(super) struct Summaries {
    levels: Vec<Vec<Summary>>,
    /// Jobs of a block.
    block: usize,
}

impl Summaries {
    pub(super) fn new(block: usize) -> Self {
        Self {
            levels: vec![Vec::new()],
            block,
        }
    }

    /// Counts a job that was added at the last place.
    pub(super) fn add(&mut self, place: usize, nodes: i32, estimate: i32) {
        let mut number = place / self.block;
        for level in &mut self.levels {
            if number == level.len() {
                level.push(Summary::EMPTY);
            }
            level[number].add(nodes, estimate);
            number /= TOGETHER;
        }
        self.grow();
    }

    fn grow(&mut self) {
        while let Some(top) = self.levels.last().filter(|top| top.len() > TOGETHER) {
            let above = top.chunks(TOGETHER).map(Summary::of_summaries).collect();
            self.levels.push(above);
        }
    }

    /// Notes that a job has left.
    pub(super) fn left(&mut self, place: usize) {
        let mut number = place / self.block;
        for level in &mut self.levels {
            level[number].is_stale = true;
            number /= TOGETHER;
        }
    }

    /// Computes all summaries anew from all jobs.
    pub(super) fn renew(&mut self, nodes: &[i32], estimates: &[i32]) {
        let blocks = nodes.chunks(self.block).zip(estimates.chunks(self.block));
        let first = &mut self.levels[0];
        first.clear();
        first.extend(blocks.map(|(nodes, estimates)| Summary::of_jobs(nodes, estimates)));
        self.levels.truncate(1);
        self.grow();
    }

    /// The first place at `from` or behind that `look` finds. `look` searches the places of one
    /// block that may hold a fitting job.
    pub(super) fn find(
        &mut self,
        from: usize,
        space: &CompactSpace,
        nodes: &[i32],
        estimates: &[i32],
        look: &impl Fn(usize, usize) -> Option<usize>,
    ) -> Option<usize> {
        let top = self.levels.len() - 1;
        let width = self.width(top);
        let mut search = Search {
            summaries: self,
            from,
            space,
            nodes,
            estimates,
            look,
        };
        (from / width..search.summaries.levels[top].len())
            .find_map(|number| search.below(top, number))
    }

    /// How many places one summary of a level covers.
    fn width(&self, level: usize) -> usize {
        self.block * TOGETHER.pow(level as u32)
    }
}

struct Search<'a, L> {
    summaries: &'a mut Summaries,
    from: usize,
    space: &'a CompactSpace,
    nodes: &'a [i32],
    estimates: &'a [i32],
    look: &'a L,
}

impl<L: Fn(usize, usize) -> Option<usize>> Search<'_, L> {
    fn below(&mut self, level: usize, number: usize) -> Option<usize> {
        let Summaries { levels, block } = &mut *self.summaries;
        if !levels[level][number].may_hold(self.space) {
            return None;
        }
        if level == 0 {
            let begin = number * *block;
            let past = (begin + *block).min(self.nodes.len());
            let found = (self.look)(begin.max(self.from), past);
            if found.is_none() && levels[0][number].is_stale {
                let jobs = begin..past;
                levels[0][number] =
                    Summary::of_jobs(&self.nodes[jobs.clone()], &self.estimates[jobs]);
            }
            return found;
        }
        let past = ((number + 1) * TOGETHER).min(levels[level - 1].len());
        let first = (self.from / self.summaries.width(level - 1)).max(number * TOGETHER);
        for child in first..past {
            if let Some(found) = self.below(level - 1, child) {
                return Some(found);
            }
        }
        let levels = &mut self.summaries.levels;
        if levels[level][number].is_stale {
            levels[level][number] =
                Summary::of_summaries(&levels[level - 1][number * TOGETHER..past]);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_rise_with_the_nodes_and_a_class_of_a_power_of_two_holds_nobody_wider() {
        for nodes in 1..60_000 {
            assert!(class_of(nodes) <= class_of(nodes + 1), "{nodes}");
        }
        for bits in 0..15 {
            assert!(class_of(1 << bits) < class_of((1 << bits) + 1), "{bits}");
        }
        assert!(class_of(i32::MAX) < CLASSES);
    }
}
