//! Windows that are sold beside jobs bound to nodes: only free ones.

use bookahead_core::scheduling::{Cluster, WindowQuote};
use bookahead_core::units::{Nodes, Seconds};

use super::Comprehensive;

impl Comprehensive {
    /// What can be promised of a window that does not lie in the past: what a fixed reservation
    /// would get.
    pub(super) fn quote(
        &self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let usable = Some((cluster.now(), cluster.up()));
        let (_, nodes) = (self.plan).first_full(&[start], nodes, end - start, usable)?;
        let success = self.hardware.window_on(&nodes, (start, end), 1.0);
        Some(WindowQuote::free(success, self.settings.test_full_length))
    }
}
