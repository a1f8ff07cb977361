//! What operators bring and want to know: logs of other programs, read into traces ([`foreign`]),
//! advice about a machine from its own log ([`advice`]), which of its nodes are weak
//! ([`weak_nodes`]), and what to do for a job against their failures ([`proposals`]).
//!
//! ```
//! use std::path::Path;
//!
//! use bookahead_operators::foreign::{
//!     ImportSettings, LocalTimes, SacctSettings, read_sacct, zone_by_name,
//! };
//!
//! let log = "JobIDRaw|User|Submit|Start|End|TimelimitRaw|AllocCPUS|State\n\
//!            7|ada|1000|1010|1110|10|8|COMPLETED\n";
//! let (sacct, common) = (SacctSettings::default(), ImportSettings::default());
//! let mut times = LocalTimes::new(zone_by_name("UTC")?);
//! let trace =
//!     read_sacct(&mut log.as_bytes(), Path::new("jobs.txt"), &sacct, common, &mut times)?;
//! let job = trace.records().next().expect("one job");
//! assert_eq!((job.wait, job.run, job.requested_time), (10, 100, 600));
//! # Ok::<(), bookahead_operators::foreign::ImportError>(())
//! ```

pub mod advice;
pub mod foreign;
pub mod proposals;
pub mod weak_nodes;
