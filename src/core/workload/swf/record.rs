//! One record: the 18 fields of a line, as they stand in the file.

/// A record of the Standard Workload Format. Missing values are −1, as in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SwfRecord {
    /// Field 1: the job number; cleaned logs keep the original ones, so there are gaps.
    pub job_number: i64,
    /// Field 2: submit time in seconds since the log's start.
    pub submit: i64,
    /// Field 3: wait time in seconds.
    pub wait: i64,
    /// Field 4: run time in seconds (wall clock).
    pub run: i64,
    /// Field 5: allocated processors.
    pub allocated_processors: i64,
    /// Field 6: average CPU time used a processor, in seconds; often a decimal.
    pub average_cpu_time: f64,
    /// Field 7: average used memory a processor, in kilobytes.
    pub used_memory: f64,
    /// Field 8: requested processors.
    pub requested_processors: i64,
    /// Field 9: requested time in seconds: the user's runtime estimate.
    pub requested_time: i64,
    /// Field 10: requested memory a processor, in kilobytes.
    pub requested_memory: f64,
    /// Field 11: status: 1 completed, 0 failed, 5 cancelled, 2 to 4 for partial executions.
    pub status: i64,
    /// Field 12: user number.
    pub user: i64,
    /// Field 13: group number.
    pub group: i64,
    /// Field 14: executable (application) number.
    pub executable: i64,
    /// Field 15: queue number.
    pub queue: i64,
    /// Field 16: partition number.
    pub partition: i64,
    /// Field 17: number of the preceding job.
    pub preceding_job: i64,
    /// Field 18: think time after the preceding job, in seconds.
    pub think_time: i64,
}

impl SwfRecord {
    /// A record of which nothing is known: every field −1.
    pub const MISSING: Self = Self {
        job_number: -1,
        submit: -1,
        wait: -1,
        run: -1,
        allocated_processors: -1,
        average_cpu_time: -1.0,
        used_memory: -1.0,
        requested_processors: -1,
        requested_time: -1,
        requested_memory: -1.0,
        status: -1,
        user: -1,
        group: -1,
        executable: -1,
        queue: -1,
        partition: -1,
        preceding_job: -1,
        think_time: -1,
    };

    /// The most processors that it says, allocated or requested.
    #[must_use]
    pub fn width(&self) -> i64 {
        self.allocated_processors.max(self.requested_processors)
    }

    /// The 18 fields as eight bytes each, for content hashes: independent of spacing, compression
    /// and notation.
    #[must_use]
    pub fn canonical_bytes(&self) -> [u8; 144] {
        let words = [
            self.job_number.to_le_bytes(),
            self.submit.to_le_bytes(),
            self.wait.to_le_bytes(),
            self.run.to_le_bytes(),
            self.allocated_processors.to_le_bytes(),
            self.average_cpu_time.to_le_bytes(),
            self.used_memory.to_le_bytes(),
            self.requested_processors.to_le_bytes(),
            self.requested_time.to_le_bytes(),
            self.requested_memory.to_le_bytes(),
            self.status.to_le_bytes(),
            self.user.to_le_bytes(),
            self.group.to_le_bytes(),
            self.executable.to_le_bytes(),
            self.queue.to_le_bytes(),
            self.partition.to_le_bytes(),
            self.preceding_job.to_le_bytes(),
            self.think_time.to_le_bytes(),
        ];
        let mut bytes = [0; 144];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word);
        }
        bytes
    }
}

/// What each field holds, for messages; index 0 is field 1.
pub(super) const FIELD_NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
