//! What operators bring and want to know: logs of other programs, read into traces ([`foreign`]),
//! and advice about a machine from its own log ([`advice`]).

pub mod advice;
pub mod foreign;
