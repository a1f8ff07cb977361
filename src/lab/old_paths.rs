//! The paths that the parts of the core and of the families had when they were one crate: until
//! whoever calls them calls their crates.

/// Policies and what they stand on.
pub mod scheduling {
    pub use bookahead_core::scheduling::*;
    pub use bookahead_overbooking::policies::*;
    pub use bookahead_overbooking::{
        ClientSettings, ClientTies, ClosedLoop, ClusterRun, Dependencies, Follows, Replay, Work,
        cluster_scene, learn_from_batteries, replay, simulate,
    };
    pub use bookahead_queues::{machine_queue, predicted_queue};
    pub use bookahead_reservations::slots::*;
    pub use bookahead_reservations::virtual_reservations::*;
    pub use bookahead_reservations::{replanning, selection};

    pub use bookahead_overbooking::registry;

    /// One trace under one policy as fast as it goes.
    pub mod stream {
        pub use bookahead_core::scheduling::stream::*;
        pub use bookahead_overbooking::stream::RegisteredStream;
    }
}

/// Across clusters.
pub mod brokering {
    pub use bookahead_grid::{co_reservation, market};
    pub use bookahead_workflows::provisioning;
}
