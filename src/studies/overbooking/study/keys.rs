//! Keys of the users of a cluster, of when their jobs may start, and of jobs without promises.

use crate::Dependencies;
use crate::best_effort::{BestEffortStart, WhenStopped};
use bookahead_lab::keys::declaration::{Given, flag, integer_within, named, real};
use bookahead_lab::{section, tables};

tables! {
    releases: RawReleases = RELEASES,
    client: RawClient = CLIENT,
    best_effort: RawBestEffort = BEST_EFFORT,
}

section! {
    /// Jobs that may not start at their submission; by default all may.
    RELEASES = "releases", RawReleases {
        /// How many jobs are released later than they are submitted.
        share_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": jobs that are released later than they are submitted; their deadlines move with the release")
            .default_is("0"),
        /// How long after its submission a job is released.
        spread_hours: Given<f64> = real().from(0.0)
            .note(" hours: release times are uniform up to so long after the submission")
            .default_is("24"),
    }
}

section! {
    /// How users react to what becomes of their jobs; by default they do not (an open loop).
    CLIENT = "client", RawClient {
        /// How often a rejected job is submitted again.
        resubmit_rejected: Given<u32> = integer_within(0, 1_000)
            .note(": how often a rejected job is submitted again")
            .default_is("0"),
        /// How often a failed job is submitted again.
        resubmit_failed: Given<u32> = integer_within(0, 1_000)
            .note(": how often a job that was accepted and failed is submitted again")
            .default_is("0"),
        /// How long after a rejection or failure.
        resubmit_after_minutes: Given<f64> = real().above(0.0)
            .note(" minutes from the rejection or failure to the next submission; at least a second")
            .default_is("60"),
        /// Whose end a job waits for.
        dependencies: Option<Dependencies> = named::<Dependencies>(),
        /// The longest think time within a session.
        session_gap_minutes: Given<f64> = real().from(0.0)
            .note(r#" minutes: the longest think time within a session, for dependencies = "sessions""#)
            .default_is("20"),
        /// How long users wait for a start.
        patience_hours: Given<f64> = real().above(0.0)
            .note(" hours in the mean that a user waits for the first start before taking a job back (default: for ever)"),
        /// Whether users leave who are offered a late end: the more probably, the more of the time
        /// until the deadline it uses.
        refuses_late_offers: Option<bool> = flag("false").decides("Birkenheuer 2012 §5.1.1"),
        /// How many users whose jobs need more than their estimates ask for more time while they
        /// run.
        lengthen_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": of the jobs that outlast their estimates, whose users ask for more time while they run; a larger share contains the smaller one")
            .default_is("0")
            .decides("Birkenheuer 2012 §4.2"),
        /// How long before the end of the estimate they ask.
        lengthen_before_minutes: Given<f64> = real().above(0.0)
            .note(" minutes before the end of its estimate, when a user asks for more time")
            .default_is("60"),
    }
}

section! {
    /// Jobs that are promised nothing and run where the others leave nodes; by default all jobs ask
    /// for promises.
    BEST_EFFORT = "best_effort", RawBestEffort {
        /// How many jobs ask for no promise.
        share_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": jobs that ask for no promise and no deadline; a larger share contains the smaller one")
            .default_is("0"),
        /// When such a job starts.
        start: Option<BestEffortStart> = named::<BestEffortStart>(),
        /// What becomes of such a job when others need its nodes.
        when_stopped: Option<WhenStopped> = named::<WhenStopped>(),
        /// What they pay.
        fee_per_node_hour: Given<f64> = real().from(0.0)
            .note(" VC for a node-hour that was used and not lost; one that is booked costs jobs with promises 1 VC")
            .default_is("0.5"),
    }
}
