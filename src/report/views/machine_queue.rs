//! A queue on a machine as its operators configure it: its measures are shown as those of every
//! study are.

use super::{Reported, View, ViewContent};
use crate::store::StoreError;

/// The view of the study.
pub(super) struct MachineQueue;

impl View for MachineQueue {
    fn show(&self, _run: &Reported<'_>, _shown: &mut ViewContent) -> Result<(), StoreError> {
        Ok(())
    }
}
