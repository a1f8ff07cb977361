//! The layout of a plan: which part of which slot each task takes, and so what has to be bought
//! (Singh 2008, eq. 4, Table 1).

use bookahead_core::plan::{Piece, Slot};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::{Advertised, Application, TaskPlacement};

/// A task's part of an advertised slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Index of the task.
    pub(super) task: usize,
    /// Index of the slot.
    pub(super) slot: usize,
    /// What it takes.
    pub(super) piece: Piece,
}

/// What has to be bought of one slot.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lot {
    /// Index of the slot.
    pub(super) slot: usize,
    /// Pieces and the tasks that each is for: one for the whole of a slot that is sold whole, else
    /// one a task.
    pub(super) pieces: Vec<(Piece, Vec<usize>)>,
    /// All of it that is paid by time.
    pub(super) paid: NodeSeconds,
}

/// The shares of the tasks in the order of planning, where the evaluation of these chosen slots
/// placed the tasks like this (ALG-2); `None` when it did not.
pub(super) fn lay_out(
    application: &Application,
    slots: &[Advertised],
    chosen: &[bool],
    submitted: Seconds,
    placements: &[TaskPlacement],
) -> Option<Vec<Share>> {
    let sites = slots.iter().map(|slot| slot.site + 1).max().unwrap_or(0);
    let mut bins: Vec<Vec<(Slot, usize)>> = vec![Vec::new(); sites];
    for (index, (advertised, _)) in slots
        .iter()
        .zip(chosen)
        .enumerate()
        .filter(|(_, (_, chosen))| **chosen)
    {
        let start = advertised.slot.start.max(submitted);
        let slot = Slot {
            start,
            ..advertised.slot
        };
        insert(&mut bins[advertised.site], slot, index);
    }
    let mut shares = Vec::new();
    for &task in application.order() {
        let TaskPlacement { site, start, end } = placements[task];
        let nodes = application.tasks()[task].nodes;
        if end <= start || nodes.0 == 0 {
            continue;
        }
        let bin = bins.get_mut(site)?;
        let mut stack = stack_at(bin, nodes, start, end)?;
        let mut missing = nodes.0;
        let mut taken = Vec::with_capacity(stack.len());
        for &place in &stack {
            let (slot, origin) = bin[place];
            let piece = Piece {
                start,
                nodes: Nodes(missing.min(slot.nodes.0)),
                end,
            };
            missing -= piece.nodes.0;
            taken.push((slot, origin, piece));
        }
        stack.sort_unstable_by(|one, other| other.cmp(one));
        for place in stack {
            bin.remove(place);
        }
        for (slot, origin, piece) in taken {
            for rest in slot.left_overs(piece) {
                insert(bin, rest, origin);
            }
            shares.push(Share {
                task,
                slot: origin,
                piece,
            });
        }
    }
    Some(shares)
}

/// What has to be bought for these shares, by slot.
pub(super) fn lots(slots: &[Advertised], shares: &[Share]) -> Vec<Lot> {
    let mut lots: Vec<Lot> = Vec::new();
    for share in shares {
        let place = lots.partition_point(|lot| lot.slot < share.slot);
        if lots.get(place).is_none_or(|lot| lot.slot != share.slot) {
            let lot = Lot {
                slot: share.slot,
                pieces: Vec::new(),
                paid: NodeSeconds(0),
            };
            lots.insert(place, lot);
        }
        let (lot, slot) = (&mut lots[place], &slots[share.slot].slot);
        let wanted = if slot.divisible {
            share.piece
        } else {
            Piece {
                end: slot.end.max(share.piece.end),
                ..slot.whole()
            }
        };
        match lot.pieces.first_mut() {
            Some((whole, tasks)) if !slot.divisible => {
                whole.end = whole.end.max(wanted.end);
                tasks.push(share.task);
            }
            _ => lot.pieces.push((wanted, vec![share.task])),
        }
    }
    for lot in &mut lots {
        let pieces = lot.pieces.iter();
        lot.paid = pieces.fold(NodeSeconds(0), |sum, (piece, _)| {
            sum + piece.nodes.for_span(piece.end - piece.start)
        });
    }
    lots
}

/// The slots that a task takes, in the order of discovery, if the first anchor that holds it lets
/// it start then.
fn stack_at(
    bin: &[(Slot, usize)],
    nodes: Nodes,
    wanted: Seconds,
    end: Seconds,
) -> Option<Vec<usize>> {
    for (index, (anchor, _)) in bin.iter().enumerate() {
        if anchor.start > wanted {
            return None;
        }
        if !anchor.lasts_until(end) {
            continue;
        }
        let mut stack = vec![index];
        let mut found = anchor.nodes.0;
        for (place, (slot, _)) in bin[..index].iter().enumerate().rev() {
            if found < nodes.0 && slot.lasts_until(end) {
                found += slot.nodes.0;
                stack.push(place);
            }
        }
        if found >= nodes.0 {
            return Some(stack);
        }
    }
    None
}

/// Sorted by start, shorter ones first among equals (AMB-5).
fn insert(bin: &mut Vec<(Slot, usize)>, slot: Slot, origin: usize) {
    let place =
        bin.partition_point(|(other, _)| (other.start, other.end) <= (slot.start, slot.end));
    bin.insert(place, (slot, origin));
}

#[cfg(test)]
mod tests;
