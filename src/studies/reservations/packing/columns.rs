//! Places that no row holds: columns that are halved, the lowest place of neighbouring nodes, and
//! the earliest start on whichever nodes.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::{Place, Rectangle};
use bookahead_core::plan::{Fit, Profile};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};

/// A part of the strip that grows upwards.
struct Column {
    first: u32,
    width: u32,
    top: Seconds,
}

/// By falling width, of equal ones in order of submission, each on top of the lowest column, of
/// these the leftmost. A column that is at least twice as wide is first halved at its top, again
/// and again, and the left half is taken. (Of an odd width the right half has one node more: it
/// takes whatever the left one does.)
pub(super) fn split(rectangles: &[Rectangle], strip: Nodes) -> Vec<Place> {
    let mut order: Vec<usize> = (0..rectangles.len()).collect();
    order.sort_by_key(|number| Reverse(rectangles[*number].nodes));
    let mut columns = vec![Column {
        first: 0,
        width: strip.0,
        top: Seconds::ZERO,
    }];
    let mut places = vec![Place::default(); rectangles.len()];
    for number in order {
        let Rectangle { nodes, height } = rectangles[number];
        let lowest = (0..columns.len())
            .min_by_key(|column| columns[*column].top)
            .unwrap_or(0);
        while nodes.0 > 0 && nodes.0 <= columns[lowest].width / 2 {
            let whole = &mut columns[lowest];
            let left = whole.width / 2;
            let right = Column {
                first: whole.first + left,
                width: whole.width - left,
                top: whole.top,
            };
            whole.width = left;
            columns.insert(lowest + 1, right);
        }
        let column = &mut columns[lowest];
        places[number] = Place {
            bottom: column.top,
            first_node: Some(NodeIndex(column.first)),
        };
        column.top += height;
    }
    places
}

/// In order of submission at the lowest place with so many neighbouring nodes, of these the
/// leftmost; holes below others count.
pub(super) fn bottom_left(rectangles: &[Rectangle], strip: Nodes) -> Vec<Place> {
    let mut free = Profile::new(strip.0, Seconds::ZERO);
    // The lowest place is at the bottom or on top of another rectangle.
    let mut bottoms = BTreeSet::from([Seconds::ZERO]);
    let mut places: Vec<Place> = Vec::with_capacity(rectangles.len());
    for rectangle in rectangles {
        let at = |bottom: Seconds| {
            let top = bottom + rectangle.height;
            // Where too few nodes are free at all, no neighbours are.
            if !free.is_free(bottom, top, rectangle.nodes.0) {
                return None;
            }
            let beside = places.iter().zip(rectangles).filter_map(|(place, other)| {
                let is_beside = place.bottom < top && bottom < place.bottom + other.height;
                let first = place.first_node.filter(|_| is_beside)?;
                Some((first.0, first.0 + other.nodes.0))
            });
            leftmost(beside.collect(), rectangle.nodes.0, strip.0).map(|first| Place {
                bottom,
                first_node: Some(NodeIndex(first)),
            })
        };
        // On top of everything nothing is beside it.
        let place = bottoms.iter().find_map(|bottom| at(*bottom));
        let place = place.unwrap_or_default();
        let top = place.bottom + rectangle.height;
        free.reserve(place.bottom, top, rectangle.nodes.0);
        bottoms.insert(top);
        places.push(place);
    }
    places
}

/// The first of so many neighbouring nodes that none of these takes, which are nodes from the first
/// up to the one behind the last.
fn leftmost(mut taken: Vec<(u32, u32)>, nodes: u32, strip: u32) -> Option<u32> {
    taken.sort_unstable();
    let mut first = 0;
    for (from, to) in taken {
        if first + nodes <= from {
            break;
        }
        first = first.max(to);
    }
    (first + nodes <= strip).then_some(first)
}

/// In order of submission at the earliest start from which on so many nodes are free, whichever.
pub(super) fn earliest_start(rectangles: &[Rectangle], strip: Nodes) -> Vec<Place> {
    let mut free = Profile::new(strip.0, Seconds::ZERO);
    let places = rectangles.iter().map(|rectangle| {
        let found = free.earliest_fit(Fit {
            from: Seconds::ZERO,
            latest: Seconds::FAR,
            nodes: rectangle.nodes.0,
            duration: rectangle.height,
            own_start: None,
        });
        // Behind everything else the whole strip is free.
        let bottom = found.unwrap_or_default();
        free.reserve(bottom, bottom + rectangle.height, rectangle.nodes.0);
        Place {
            bottom,
            first_node: None,
        }
    });
    places.collect()
}
