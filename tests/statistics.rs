//! Whether intervals cover what they should, over hundreds of seeds: minutes, so nothing here runs
//! unless it is asked for.
//!
//! `cargo test --release --test statistics -- --ignored --nocapture` prints what it measures.

mod statistics {
    pub mod batteries;
    pub mod choices;
    pub mod intervals;
    pub mod kinds;
    pub mod promises;
    pub mod rules;
    pub mod support;
    pub mod weeks;
}
