//! How well users estimate: percent-bin distributions, classes, joint and convolved distributions.

mod model;
mod settings;

pub use model::EstimateModel;
pub use settings::{Binning, ClassFamily, EstimateSettings, Overrun};
