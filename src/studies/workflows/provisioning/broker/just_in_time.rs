//! Best effort at running sites: every task goes into a queue when its parents have ended (Singh
//! 2008, §4.7), and everybody else lives with it. On forks, of which nothing stays, it is
//! [`best_effort`](crate::provisioning::best_effort).

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::{ApplicationState, Broker};
use crate::provisioning::best_effort::task_job;
use crate::provisioning::{Application, BrokerError, FIRST_TASK, TaskPlacement, TaskRun};

/// How far an application has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    /// How many parents have not ended, by task.
    missing: Vec<usize>,
    /// The tasks that wait for each task, in the order of planning.
    children: Vec<Vec<usize>>,
    /// Tasks that may be submitted.
    ready: Vec<usize>,
    /// Where tasks ran that have ended.
    placements: Vec<Option<TaskPlacement>>,
    open: usize,
}

impl Progress {
    pub(super) fn new(application: &Application) -> Self {
        let tasks = application.tasks();
        let order = application.order().iter().copied();
        let mut children = vec![Vec::new(); tasks.len()];
        for child in order.clone() {
            for dependency in &tasks[child].parents {
                children[dependency.parent].push(child);
            }
        }
        Self {
            children,
            missing: tasks.iter().map(|task| task.parents.len()).collect(),
            ready: order
                .filter(|&task| tasks[task].parents.is_empty())
                .collect(),
            placements: vec![None; tasks.len()],
            open: tasks.len(),
        }
    }

    /// A task has ended, and others may be ready because of it.
    fn ended(&mut self, task: usize, placed: TaskPlacement) {
        self.placements[task] = Some(placed);
        self.open -= 1;
        for &child in &self.children[task] {
            self.missing[child] -= 1;
            if self.missing[child] == 0 {
                self.ready.push(child);
            }
        }
    }

    /// The runs in the order of planning, and what they cost in service units.
    pub(super) fn runs(&self, application: &Application) -> (Vec<TaskRun>, f64) {
        let mut work = NodeSeconds(0);
        let mut runs = Vec::with_capacity(self.placements.len());
        for &task in application.order() {
            let Some(placed) = self.placements[task] else {
                continue;
            };
            let nodes = application.tasks()[task].nodes;
            work += nodes.for_span(placed.end - placed.start);
            runs.push(TaskRun::placed(task, nodes, placed));
        }
        (runs, work.coins().0)
    }
}

impl Broker<'_> {
    /// Submits what becomes ready, until the end of a second or until all applications have ended.
    pub(super) async fn submit_just_in_time(
        &mut self,
        until: Option<Seconds>,
    ) -> Result<(), BrokerError> {
        loop {
            for (site, outcome) in std::mem::take(&mut self.environment.own) {
                self.note_end(site, &outcome);
            }
            for place in 0..self.states.len() {
                self.submit_ready(place).await?;
            }
            let is_under_way =
                |state: &ApplicationState| state.progress.as_ref().is_some_and(|it| it.open > 0);
            if !self.states.iter().any(is_under_way) {
                return Ok(());
            }
            let mut next = self.environment.next_arrival();
            for report in self.environment.reports().await? {
                next = next.into_iter().chain(report.next_event).min();
            }
            if !self.environment.own.is_empty() {
                continue;
            }
            let Some(next) = next else {
                // Nothing will ever happen: a task was dropped.
                let now = self.environment.now();
                for state in self.states.iter_mut().filter(|it| is_under_way(it)) {
                    state.given_up = Some(now);
                    state.close_progress(&self.inputs.application);
                }
                return Ok(());
            };
            if until.is_some_and(|until| next > until) {
                return Ok(());
            }
            self.environment.pass_to(next).await?;
        }
    }

    fn note_end(&mut self, site: usize, outcome: &JobOutcome) {
        let application = &*self.inputs.application;
        let tasks = application.tasks().len();
        let number = (outcome.job.id.0 - FIRST_TASK) as usize;
        let (place, task) = (number / tasks, number % tasks);
        let now = self.environment.now();
        let Some(state) = self.states.get_mut(place) else {
            return;
        };
        let Some(progress) = &mut state.progress else {
            return;
        };
        match (outcome.start, outcome.end) {
            (Some(start), Some(end)) => {
                progress.ended(task, TaskPlacement { site, start, end });
                if progress.open > 0 {
                    return;
                }
            }
            _ => state.given_up = Some(now),
        }
        state.close_progress(application);
    }

    /// Each ready task goes to the site with the fewest tasks that can hold it, those of this
    /// instant counted (AMB-24d), when its data is there (AMB-24c).
    async fn submit_ready(&mut self, place: usize) -> Result<(), BrokerError> {
        let application = self.inputs.real(place);
        let Some(progress) = &mut self.states[place].progress else {
            return Ok(());
        };
        let mut ready = std::mem::take(&mut progress.ready);
        if ready.is_empty() {
            return Ok(());
        }
        let mut rank = vec![0; application.tasks().len()];
        for (number, &task) in application.order().iter().enumerate() {
            rank[task] = number;
        }
        ready.sort_by_key(|&task| rank[task]);
        let placements = progress.placements.clone();
        let sites = &self.inputs.sites;
        let sizes: Vec<Nodes> = sites.iter().map(|site| site.nodes).collect();
        let reports = self.environment.reports().await?;
        let in_system = reports.iter().map(|report| report.tasks_in_system);
        let in_system: Vec<_> = in_system.collect();
        let now = self.environment.now();
        let mut busy = self.in_transit.beside(in_system, now);
        let mut jobs = vec![Vec::new(); sites.len()];
        for task in ready {
            let nodes = application.tasks()[task].nodes;
            let Some(site) = busy.send_to_least(&sizes, nodes) else {
                let state = &mut self.states[place];
                state.given_up = Some(now);
                state.close_progress(application);
                return Ok(());
            };
            let arrival = application.earliest(task, site, now, |parent| {
                placements[parent].map_or((site, now), |placed| (placed.site, placed.end))
            });
            let first = FIRST_TASK + (place * application.tasks().len()) as u32;
            jobs[site].push(task_job(application, task, site, arrival, first));
        }
        for (site, jobs) in jobs.into_iter().enumerate() {
            for job in &jobs {
                self.in_transit.note(site, job.submit);
            }
            if !jobs.is_empty() {
                self.environment.submit(site, jobs).await?;
            }
        }
        Ok(())
    }
}

impl ApplicationState {
    /// All tasks have ended, or it is given up.
    fn close_progress(&mut self, application: &Application) {
        if let Some(progress) = self.progress.take() {
            let (runs, cost) = progress.runs(application);
            self.outcome.tasks = runs;
            self.paid = cost;
        }
    }
}
