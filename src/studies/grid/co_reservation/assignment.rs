//! Assigns parts to distinct clusters at the least total weight, by shortest augmenting paths on a
//! small dense matrix.

/// No row or column.
const NONE: usize = usize::MAX;

/// The assignment problem, with its memory kept between uses.
#[derive(Debug, Default)]
pub(super) struct Assignment {
    rows: usize,
    columns: usize,
    /// Weights, row by row; infinite where a row may not have a column.
    weights: Vec<f64>,
    state: State,
    /// A state to come back to.
    kept: State,
    distance: Vec<f64>,
    before: Vec<usize>,
    done: Vec<bool>,
}

/// The assignment, and the prices that prove it optimal.
#[derive(Debug, Default)]
struct State {
    row_price: Vec<f64>,
    column_price: Vec<f64>,
    row_of: Vec<usize>,
    column_of: Vec<usize>,
}

impl State {
    fn copy_from(&mut self, other: &Self) {
        self.row_price.clone_from(&other.row_price);
        self.column_price.clone_from(&other.column_price);
        self.row_of.clone_from(&other.row_of);
        self.column_of.clone_from(&other.column_of);
    }

    fn heap_bytes(&self) -> usize {
        (self.row_price.capacity() + self.column_price.capacity()) * size_of::<f64>()
            + (self.row_of.capacity() + self.column_of.capacity()) * size_of::<usize>()
    }
}

impl Assignment {
    /// Begins anew: `rows` × `columns`, nothing allowed.
    pub fn reset(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.columns = columns;
        refill(&mut self.weights, rows * columns, f64::INFINITY);
        refill(&mut self.state.row_price, rows, 0.0);
        refill(&mut self.state.column_price, columns, 0.0);
        refill(&mut self.state.row_of, columns, NONE);
        refill(&mut self.state.column_of, rows, NONE);
        // These begin anew with every row.
        self.distance.resize(columns, 0.0);
        self.before.resize(columns, NONE);
        self.done.resize(columns, false);
    }

    /// Allows a row a column at a finite weight.
    pub fn allow(&mut self, row: usize, column: usize, weight: f64) {
        self.weights[row * self.columns + column] = weight;
    }

    /// The weight of an allowed pair; infinite for any other.
    pub fn weight(&self, row: usize, column: usize) -> f64 {
        self.weights[row * self.columns + column]
    }

    /// Whether every row can have a column of its own. If so, [`Assignment::column`] says which at
    /// the least total weight.
    pub fn solve(&mut self) -> bool {
        (0..self.rows).all(|row| self.augment(row, NONE))
    }

    /// The column of a row.
    pub fn column(&self, row: usize) -> usize {
        self.state.column_of[row]
    }

    /// The row that has a column.
    pub fn row(&self, column: usize) -> Option<usize> {
        Some(self.state.row_of[column]).filter(|&row| row != NONE)
    }

    /// After [`Assignment::solve`]: the same without one of the columns that were used, for as long
    /// as `look` looks at it. `None` where not every row can have a column then.
    pub fn without<T>(&mut self, column: usize, look: impl FnOnce(&Self) -> T) -> Option<T> {
        let row = self.state.row_of[column];
        let mut kept = std::mem::take(&mut self.kept);
        kept.copy_from(&self.state);
        self.state.row_of[column] = NONE;
        let found = self.augment(row, column).then(|| look(self));
        std::mem::swap(&mut self.state, &mut kept);
        self.kept = kept;
        found
    }

    /// Finds a column for `row` along the shortest path of changes, never `forbidden`. Prices keep
    /// every reduced weight at or above zero and at zero on the assignment, so that the total stays
    /// the least.
    fn augment(&mut self, row: usize, forbidden: usize) -> bool {
        let columns = self.columns;
        // All of one length, so that a column need not be checked again and again.
        let distance = &mut self.distance[..columns];
        let before = &mut self.before[..columns];
        let done = &mut self.done[..columns];
        let row_price = &mut self.state.row_price[..];
        let column_price = &mut self.state.column_price[..columns];
        let row_of = &mut self.state.row_of[..columns];
        distance.fill(f64::INFINITY);
        done.fill(false);
        let (mut at_row, mut at_column) = (row, NONE);
        loop {
            let price = row_price[at_row];
            let weights = &self.weights[at_row * columns..][..columns];
            let (mut nearest, mut next) = (f64::INFINITY, NONE);
            for column in 0..columns {
                if done[column] || column == forbidden {
                    continue;
                }
                let reduced = weights[column] - price - column_price[column];
                if reduced < distance[column] {
                    distance[column] = reduced;
                    before[column] = at_column;
                }
                if distance[column] < nearest {
                    nearest = distance[column];
                    next = column;
                }
            }
            if next == NONE {
                return false;
            }
            let is_last = row_of[next] == NONE;
            row_price[row] += nearest;
            // Mostly the first column is free, and no other price changes.
            if !is_last || at_column != NONE {
                for column in 0..columns {
                    if done[column] {
                        row_price[row_of[column]] += nearest;
                        column_price[column] -= nearest;
                    } else {
                        distance[column] -= nearest;
                    }
                }
            }
            done[next] = true;
            at_column = next;
            if is_last {
                break;
            }
            at_row = row_of[next];
        }
        while at_column != NONE {
            let before = before[at_column];
            let moved = if before == NONE { row } else { row_of[before] };
            row_of[at_column] = moved;
            self.state.column_of[moved] = at_column;
            at_column = before;
        }
        true
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        (self.weights.capacity() + self.distance.capacity()) * size_of::<f64>()
            + self.before.capacity() * size_of::<usize>()
            + self.done.capacity()
            + self.state.heap_bytes()
            + self.kept.heap_bytes()
    }
}

fn refill<T: Clone>(values: &mut Vec<T>, count: usize, value: T) {
    values.clear();
    values.resize(count, value);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn least(
        weights: &[Vec<Option<u8>>],
        forbidden: usize,
        row: usize,
        used: &mut Vec<usize>,
    ) -> Option<u32> {
        if row == weights.len() {
            return Some(0);
        }
        let mut best = None;
        for (column, weight) in weights[row].iter().enumerate() {
            let Some(weight) = weight else { continue };
            if column == forbidden || used.contains(&column) {
                continue;
            }
            used.push(column);
            if let Some(rest) = least(weights, forbidden, row + 1, used) {
                let total = rest + u32::from(*weight);
                best = Some(best.map_or(total, |known: u32| known.min(total)));
            }
            used.pop();
        }
        best
    }

    fn total(assignment: &Assignment) -> u32 {
        (0..assignment.rows)
            .map(|row| assignment.weight(row, assignment.column(row)) as u32)
            .sum()
    }

    proptest! {
        #[test]
        fn the_total_is_the_least_of_all_also_without_a_column(
            weights in prop::collection::vec(
                prop::collection::vec(prop::option::weighted(0.7, 0_u8..12), 6), 1..5)
        ) {
            let mut assignment = Assignment::default();
            assignment.reset(weights.len(), 6);
            for (row, columns) in weights.iter().enumerate() {
                for (column, weight) in columns.iter().enumerate() {
                    if let Some(weight) = weight {
                        assignment.allow(row, column, f64::from(*weight));
                    }
                }
            }
            let expected = least(&weights, NONE, 0, &mut Vec::new());
            let found = assignment.solve().then(|| total(&assignment));
            prop_assert_eq!(found, expected);
            if found.is_some() {
                for column in 0..6 {
                    if assignment.row(column).is_some() {
                        let found = assignment.without(column, total);
                        let expected = least(&weights, column, 0, &mut Vec::new());
                        prop_assert_eq!(found, expected);
                    }
                }
                prop_assert_eq!(Some(total(&assignment)), expected);
            }
        }
    }
}
