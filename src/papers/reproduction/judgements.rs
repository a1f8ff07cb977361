//! The two judgements of findings, in words.

use std::collections::BTreeSet;

use super::{ScoreCard, Tallies};
use crate::findings::tables::Ground;

/// How the second judgement of these cards is made; `None` where nothing was judged twice.
/// `tolerances` says where a reader finds those of the first.
pub(super) fn two_judgements(cards: &[&ScoreCard], tolerances: &str) -> Option<String> {
    let results = || cards.iter().flat_map(|card| &card.results);
    if Tallies::of(results()).judged_twice == 0 {
        return None;
    }
    let mut measured = None;
    let mut counts = BTreeSet::new();
    for result in results() {
        let ground = result
            .second
            .as_ref()
            .and_then(|second| second.ground.as_ref());
        if let Some(Ground::Alignments {
            offsets_hours,
            batteries,
            ..
        }) = ground
        {
            measured.get_or_insert(offsets_hours);
            counts.insert(*batteries);
        }
    }
    let over_alignments = match measured {
        Some(offsets) => {
            let hours: Vec<String> = offsets.iter().map(f64::to_string).collect();
            let counts: Vec<String> = counts.iter().map(u64::to_string).collect();
            format!(
                "lost shares, penalties, and gains at ratio 2 and more hold where the published number lies in the union (not the hull) of the 95 % intervals \
                 measured with the failure clock moved by {} hours, which is more room than one of them gives; tolerances play no part. An interval is Student's t over the {} batteries of a trace, \
                 the unit of replication; at one offset all batteries see the same outages, so no single interval contains what another alignment would do.",
                hours.join(", "),
                counts.join(" or ")
            )
        }
        None => "lost shares, penalties, and gains at ratio 2 and more would be judged by the union of the 95 % intervals at offsets of the failure clock, \
                 which were not measured completely."
            .to_owned(),
    };
    Some(format!(
        "Two judgements. The first is by {tolerances}. Over alignments: {over_alignments} A best threshold that misses its tolerance holds where the mean at the \
         published threshold lies within the 95 % interval of the measured best, which is that of its own mean and generous: where it stands, the interval of the difference \
         battery by battery is the narrower one. Every other claim is judged once."
    ))
}
