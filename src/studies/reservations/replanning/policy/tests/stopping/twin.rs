//! A slow twin of the machine: it looks at every node in every second.

use super::*;

/// Who holds a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Job(usize),
    Request(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Waiting,
    Running { start: i64, until: i64 },
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    NotYet,
    Refused,
    Granted,
    Running,
    /// Over; where `until` lies ahead, its nodes stay blocked.
    Over,
    Lost,
}

/// What the twin and the machine say of a job: last start, end, verdict, restarts, failures under
/// it.
pub(super) type JobEnd = (Option<i64>, Option<i64>, Verdict, u32, u32);

pub(super) struct Twin<'a> {
    pub(super) settings: &'a ReplanningSettings,
    pub(super) jobs: &'a [Job],
    pub(super) requests: &'a [ReservationRequest],
    pub(super) marks: &'a JobMarks,
    /// Work that a job need not do again.
    pub(super) saved: Vec<i64>,
    pub(super) holder: Vec<Option<By>>,
    pub(super) down: Vec<bool>,
    pub(super) stages: Vec<Stage>,
    pub(super) asked: Vec<Asked>,
    /// Granted requests in order of their grants.
    pub(super) granted: Vec<usize>,
    pub(super) ends: Vec<JobEnd>,
    pub(super) request_ends: Vec<Option<i64>>,
    pub(super) time: i64,
}

pub(super) const SPAN: i64 = 2_500;

impl Twin<'_> {
    /// How long a run of the job reads before it computes.
    fn reads(&self, job: usize) -> i64 {
        match self.settings.resumes_after() {
            Some(overhead) if self.saved[job] > 0 => overhead.0,
            _ => 0,
        }
    }

    /// How long a run of the job lasts if it is not stopped and has so much to do in all.
    fn length(&self, job: usize, work: Seconds) -> i64 {
        self.reads(job) + work.0 - self.saved[job]
    }

    fn full_end(&self, job: usize, start: i64) -> i64 {
        let asked = &self.jobs[job];
        start + self.length(job, asked.estimate.min(asked.runtime))
    }

    /// The jobs as they are planned: for what is left of them.
    fn to_plan(&self) -> Vec<Job> {
        (0..self.jobs.len())
            .map(|job| Job {
                estimate: Seconds(self.length(job, self.jobs[job].estimate)),
                ..self.jobs[job].clone()
            })
            .collect()
    }

    fn hold(&mut self, by: By, nodes: u32) -> bool {
        let idle: Vec<usize> = (0..self.holder.len())
            .filter(|&node| !self.down[node] && self.holder[node].is_none())
            .take(nodes as usize)
            .collect();
        if idle.len() < nodes as usize {
            return false;
        }
        for node in idle {
            self.holder[node] = Some(by);
        }
        true
    }

    fn leave(&mut self, by: By) {
        for holder in self.holder.iter_mut().filter(|holder| **holder == Some(by)) {
            *holder = None;
        }
    }

    fn again(&mut self, job: usize) {
        self.leave(By::Job(job));
        self.stages[job] = Stage::Waiting;
        self.ends[job].3 += 1;
    }

    fn end(&mut self, job: usize, start: i64, verdict: Verdict) {
        self.leave(By::Job(job));
        self.stages[job] = Stage::Over;
        let end = &mut self.ends[job];
        (end.0, end.1, end.2) = (Some(start), Some(self.time), verdict);
    }

    /// Whoever has finished, reached the end of the estimate, or is to be stopped by now.
    fn end_jobs(&mut self) {
        for job in 0..self.jobs.len() {
            let Stage::Running { start, until } = self.stages[job] else {
                continue;
            };
            if self.full_end(job, start) <= self.time {
                let killed = self.jobs[job].runtime > self.jobs[job].estimate;
                let verdict = if killed {
                    Verdict::SuccessfulFullGrant
                } else {
                    Verdict::SuccessfulFinished
                };
                self.end(job, start, verdict);
            } else if until <= self.time {
                match self.settings.admission {
                    Admission::Requeue => {
                        let computed = (self.time - start - self.reads(job)).max(0);
                        if self.settings.resume_overhead.is_some() {
                            self.saved[job] += computed;
                        }
                        self.again(job);
                    }
                    _ => self.end(job, start, Verdict::FailedOverbooked),
                }
            }
        }
    }

    fn end_requests(&mut self) {
        for (index, request) in self.requests.iter().enumerate() {
            let end = request.wanted.earliest().0 + request.runtime.0.min(request.duration.0);
            if self.asked[index] == Asked::Running && end <= self.time {
                self.asked[index] = Asked::Over;
                self.request_ends[index] = Some(self.time);
                self.leave(By::Request(index));
            }
        }
    }

    fn start_request(&mut self, index: usize) {
        let nodes = self.requests[index].nodes.0;
        self.asked[index] = if self.hold(By::Request(index), nodes) {
            Asked::Running
        } else {
            Asked::Lost
        };
    }

    fn fail(&mut self, node: usize) {
        match self.holder[node] {
            Some(By::Job(job)) => {
                self.ends[job].4 += 1;
                self.again(job);
            }
            Some(By::Request(index)) => {
                self.leave(By::Request(index));
                self.asked[index] = Asked::Lost;
                self.request_ends[index] = Some(self.time);
            }
            None => {}
        }
        self.down[node] = true;
    }

    /// What is free in every second beside whoever runs, granted reservations, and nodes that are
    /// down.
    fn hard(&self) -> Oracle {
        let mut free = Oracle {
            free: vec![self.holder.len() as i32; SPAN as usize],
        };
        let down = self.down.iter().filter(|down| **down).count() as u32;
        free.take(self.time, SPAN - self.time, down);
        for (job, stage) in self.stages.iter().enumerate() {
            if let Stage::Running { until, .. } = *stage {
                free.take(self.time, until - self.time, self.jobs[job].nodes.0);
            }
        }
        for (index, request) in self.requests.iter().enumerate() {
            let blocks = match self.asked[index] {
                Asked::Granted | Asked::Running => true,
                Asked::Over => self.settings.early_end == EarlyEnd::Keep,
                Asked::NotYet | Asked::Refused | Asked::Lost => false,
            };
            let start = request.wanted.earliest().0;
            let end = start + request.duration.0;
            let from = start.max(self.time);
            if blocks && from < end {
                free.take(from, end - from, request.nodes.0);
            }
        }
        free
    }

    fn waiting(&self) -> Vec<usize> {
        (0..self.jobs.len())
            .filter(|&job| {
                self.stages[job] == Stage::Waiting && self.jobs[job].submit.0 <= self.time
            })
            .collect()
    }

    /// Those who are stopped for a request; `None` where it is refused.
    fn decide(&self, request: &ReservationRequest) -> Option<Vec<usize>> {
        let (start, length) = (request.wanted.earliest().0, request.duration.0);
        let nodes = request.nodes.0;
        if start < self.time {
            return None;
        }
        let (jobs, waiting) = (self.to_plan(), self.waiting());
        let plan = |free| plan_slowly(self.settings, &jobs, self.time, free, &waiting);
        let (mut free, starts) = plan(self.hard());
        if self.settings.admission == Admission::Move {
            let mut beside = self.hard();
            if !beside.fits(start, length, nodes) {
                return None;
            }
            beside.take(start, length, nodes);
            let moved = plan(beside).1;
            let mut watched = waiting.iter().filter(|&&job| self.marks.undelayed[job]);
            return watched.all(|&job| moved[job] <= starts[job]).then(Vec::new);
        }
        if !self.settings.admission.preempts() {
            return free.fits(start, length, nodes).then(Vec::new);
        }
        for &job in waiting.iter().filter(|&&job| self.marks.preemptible[job]) {
            free.give(starts[job], jobs[job].estimate.0, jobs[job].nodes.0);
        }
        let mut stopped = Vec::new();
        while !free.fits(start, length, nodes) {
            let lacking = (start..start + length)
                .find(|&second| !free.fits(second, 1, nodes))
                .unwrap();
            let in_the_way = (0..self.jobs.len()).filter(|&job| {
                let holds =
                    matches!(self.stages[job], Stage::Running { until, .. } if until > lacking);
                holds && self.marks.preemptible[job] && !stopped.contains(&job)
            });
            let youngest = in_the_way.max_by_key(|&job| match self.stages[job] {
                Stage::Running { start, .. } => (start, job),
                Stage::Waiting | Stage::Over => (NEVER, job),
            })?;
            let Stage::Running { until, .. } = self.stages[youngest] else {
                return None;
            };
            free.give(start, until - start, self.jobs[youngest].nodes.0);
            stopped.push(youngest);
        }
        Some(stopped)
    }

    fn ask(&mut self, index: usize) {
        let Some(stopped) = self.decide(&self.requests[index]) else {
            self.asked[index] = Asked::Refused;
            return;
        };
        let start = self.requests[index].wanted.earliest().0;
        for job in stopped {
            if let Stage::Running { until, .. } = &mut self.stages[job] {
                *until = start;
            }
        }
        self.asked[index] = Asked::Granted;
        self.granted.push(index);
        if start == self.time {
            self.end_jobs();
            self.start_request(index);
        }
    }

    fn start_jobs(&mut self) {
        let mut waiting = self.waiting();
        if waiting.is_empty() {
            return;
        }
        let jobs = self.to_plan();
        waiting.sort_by_key(|&job| {
            let job = &jobs[job];
            (self.settings.order.rank(job.estimate), job.submit, job.id)
        });
        let (_, starts) = plan_slowly(self.settings, &jobs, self.time, self.hard(), &waiting);
        for job in waiting {
            if starts[job] == self.time {
                assert!(self.hold(By::Job(job), self.jobs[job].nodes.0));
                self.stages[job] = Stage::Running {
                    start: self.time,
                    until: self.time + jobs[job].estimate.0,
                };
            }
        }
    }

    pub(super) fn run(&mut self, failures: &FailureTrace) {
        for time in 0..SPAN / 2 {
            self.time = time;
            self.end_jobs();
            self.end_requests();
            for event in failures.events.iter().filter(|event| event.time.0 == time) {
                let node = event.node.0 as usize;
                if event.up {
                    self.down[node] = false;
                } else {
                    self.fail(node);
                }
            }
            for index in self.granted.clone() {
                if self.asked[index] == Asked::Granted
                    && self.requests[index].wanted.earliest().0 == time
                {
                    self.start_request(index);
                }
            }
            for index in 0..self.requests.len() {
                if self.requests[index].submit.0 == time {
                    self.ask(index);
                }
            }
            self.start_jobs();
        }
    }
}
