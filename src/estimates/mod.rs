//! How well users estimate: percent-bin distributions, classes, joint and convolved distributions.

mod settings;

pub use settings::{Binning, ClassFamily, EstimateSettings, Overrun};
