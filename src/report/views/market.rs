//! A market over clusters: its measures are shown as those of every study are.

use super::{Reported, Shown, View};
use crate::store::StoreError;

/// The view of the study.
pub(super) struct Market;

impl View for Market {
    fn show(&self, _run: &Reported<'_>, _shown: &mut Shown) -> Result<(), StoreError> {
        Ok(())
    }
}
