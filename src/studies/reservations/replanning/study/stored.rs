//! Reading how prices and waits of reservations are distributed.

use std::collections::HashMap;

use bookahead_lab::store::{Bin, BinCounts, OF_RUN, RunId, Store, StoreError};

/// How many granted reservations of a simulation had a price and a wait in every bin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReservationCounts {
    /// By price in SU; empty where nobody asked for prices. The first bin holds what costs less
    /// than 0.1 SU.
    pub prices: Vec<Bin>,
    /// By seconds from the request to the start. The first bin holds what waits less than a second.
    pub waits: Vec<Bin>,
}

/// A tenth of an SU in node-seconds: where the bins of prices begin.
const TENTH: f64 = 360.0;

/// Prices and waits of the granted reservations of a run, by simulation; empty where their outcomes
/// were not kept.
///
/// # Errors
///
/// When the store cannot be read.
pub fn reservation_counts(
    store: &Store,
    run: RunId,
) -> Result<HashMap<i64, ReservationCounts>, StoreError> {
    let query = format!(
        "SELECT o.simulation, o.price, o.start FROM reservation_outcome o
         JOIN request_verdict v ON v.code = o.verdict AND v.granted
         WHERE o.start IS NOT NULL AND o.simulation IN {OF_RUN}"
    );
    let mut counts: HashMap<i64, [BinCounts; 2]> = HashMap::new();
    store.rows("reading reservations", &query, [run.0], |row| {
        let [prices, waits] = counts.entry(row.get(0)?).or_default();
        if let Some(price) = row.get::<_, Option<i64>>(1)? {
            prices.add(price as f64 / TENTH);
        }
        waits.add(row.get::<_, i64>(2)? as f64);
        Ok(())
    })?;
    Ok(counts
        .into_iter()
        .map(|(simulation, [prices, waits])| {
            let counts = ReservationCounts {
                prices: prices.bins(TENTH / 3_600.0),
                waits: waits.bins(1.0),
            };
            (simulation, counts)
        })
        .collect())
}
