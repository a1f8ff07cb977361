//! Papers: what published evaluations say, as data, and what is measured of it.
//!
//! A paper is a folder of files. [`findings`] reads what it says about its results and judges it by
//! what the store holds; [`reproduction`] shows the verdicts as a score card and as a page.

pub mod findings;
pub mod reproduction;
