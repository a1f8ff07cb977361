//! Rows across the whole strip: levels of jobs that are sorted by height, and shelves of fixed
//! heights for jobs that are not.

use std::cmp::Reverse;

use super::{Place, Rectangle};
use bookahead_core::plan::shelf_height;
use bookahead_core::units::{NodeIndex, Nodes, Seconds};

/// Which of the rows that a rectangle may be in takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowFit {
    /// The last one, or none.
    Next,
    /// The lowest one with room.
    First,
    /// The one with room and the least width left, of these the lowest.
    Best,
}

/// A row from one side of the strip to the other.
struct Row {
    bottom: Seconds,
    height: Seconds,
    /// Width that is taken, from the left.
    used: u32,
}

/// Rows on top of each other.
struct Rows {
    strip: u32,
    rows: Vec<Row>,
}

impl Rows {
    fn new(strip: Nodes) -> Self {
        Self {
            strip: strip.0,
            rows: Vec::new(),
        }
    }

    /// The next place in one of these rows, else in a new row of this height on top of all.
    fn put(
        &mut self,
        nodes: Nodes,
        height: Seconds,
        fit: RowFit,
        is_open: impl Fn(&Row) -> bool,
    ) -> Place {
        let strip = self.strip;
        let has_room = |row: &&mut Row| row.used + nodes.0 <= strip;
        let mut open = self.rows.iter_mut().filter(|row| is_open(row));
        let found = match fit {
            RowFit::Next => open.next_back().filter(has_room),
            RowFit::First => open.find(has_room),
            RowFit::Best => open.filter(has_room).min_by_key(|row| strip - row.used),
        };
        if let Some(row) = found {
            let place = Place {
                bottom: row.bottom,
                first_node: Some(NodeIndex(row.used)),
            };
            row.used += nodes.0;
            return place;
        }
        let top = self.rows.last().map(|row| row.bottom + row.height);
        let bottom = top.unwrap_or(Seconds::ZERO);
        self.rows.push(Row {
            bottom,
            height,
            used: nodes.0,
        });
        Place {
            bottom,
            first_node: Some(NodeIndex(0)),
        }
    }
}

/// By falling height, of equal ones in order of submission; a level is as high as its first.
pub(super) fn levels(rectangles: &[Rectangle], strip: Nodes, fit: RowFit) -> Vec<Place> {
    let mut order: Vec<usize> = (0..rectangles.len()).collect();
    order.sort_by_key(|number| Reverse(rectangles[*number].height));
    let mut rows = Rows::new(strip);
    let mut places = vec![Place::default(); rectangles.len()];
    for number in order {
        let Rectangle { nodes, height } = rectangles[number];
        places[number] = rows.put(nodes, height, fit, |_| true);
    }
    places
}

/// A hybrid of ours of stacking, levels and split: rectangles wider than half of the strip on top
/// of each other, in order of submission. The others come by falling height: in one level of the
/// whole width until the next does not fit, then again and again in a level of the half of the
/// strip that is lower, of equal ones the left one. (Of an odd width the right half has one node
/// more.)
pub(super) fn hybrid(rectangles: &[Rectangle], strip: Nodes) -> Vec<Place> {
    let middle = strip.0 / 2;
    let mut places = vec![Place::default(); rectangles.len()];
    let mut top = Seconds::ZERO;
    let mut narrow = Vec::new();
    for (number, rectangle) in rectangles.iter().enumerate() {
        if rectangle.nodes.0 <= middle {
            narrow.push(number);
            continue;
        }
        places[number] = Place {
            bottom: top,
            first_node: Some(NodeIndex(0)),
        };
        top += rectangle.height;
    }
    narrow.sort_by_key(|number| Reverse(rectangles[*number].height));
    let halves = [(0, middle), (middle, strip.0)];
    // How high each half is.
    let mut tops = [top; 2];
    let mut level = (0, strip.0, top);
    for number in narrow {
        let Rectangle { nodes, height } = rectangles[number];
        if level.0 + nodes.0 > level.1 {
            let lower = usize::from(tops[1] < tops[0]);
            level = (halves[lower].0, halves[lower].1, tops[lower]);
        }
        let (first, end) = (level.0, level.0 + nodes.0);
        places[number] = Place {
            bottom: level.2,
            first_node: Some(NodeIndex(first)),
        };
        level.0 = end;
        for (half, top) in halves.iter().zip(&mut tops) {
            if first < half.1 && half.0 < end {
                *top = (*top).max(level.2 + height);
            }
        }
    }
    places
}

/// In order of submission; a rectangle with rᵏ⁺¹ · H < h ≤ rᵏ · H lies in a shelf of the height
/// rᵏ · H, where H is at least the height of the tallest.
pub(super) fn shelves(
    rectangles: &[Rectangle],
    strip: Nodes,
    tallest: Seconds,
    ratio: f64,
    fit: RowFit,
) -> Vec<Place> {
    let mut rows = Rows::new(strip);
    let places = rectangles.iter().map(|rectangle| {
        let height = shelf_height(rectangle.height, tallest, ratio);
        rows.put(rectangle.nodes, height, fit, |row| row.height == height)
    });
    places.collect()
}
