//! A market over clusters: its measures are shown as those of every study are.

use super::{Reported, View, ViewContent};
use crate::store::StoreError;

/// The view of the study.
pub(super) struct Market;

impl View for Market {
    fn show(&self, _run: &Reported<'_>, _shown: &mut ViewContent) -> Result<(), StoreError> {
        Ok(())
    }
}
