//! Best effort at running sites: every task goes into a queue when its parents have ended (Singh
//! 2008, §4.7), and everybody else lives with it. On forks, of which nothing stays, it is
//! [`best_effort`](crate::provisioning::best_effort).

use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{Nodes, Seconds};

use super::{ApplicationState, Broker};
use crate::provisioning::best_effort::task_job;
use crate::provisioning::copies::TaskCopy;
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
        let mut cost = 0.0;
        let mut runs = Vec::with_capacity(self.placements.len());
        for &task in application.order() {
            let Some(placed) = self.placements[task] else {
                continue;
            };
            let nodes = application.tasks()[task].nodes;
            let work = nodes.for_span(placed.end - placed.start);
            cost += application.charge(placed.site, work);
            runs.push(TaskRun::placed(task, nodes, placed));
        }
        (runs, cost / 3_600.0)
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
            next = next.into_iter().chain(self.copies.next_arrival()).min();
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
            self.pass_to(next).await?;
        }
    }

    /// Lets time pass to the end of a second, in which copies of tasks start.
    async fn pass_to(&mut self, time: Seconds) -> Result<(), BrokerError> {
        if self.copies.is_empty() {
            return self.environment.pass_to(time).await;
        }
        let tasks = self.inputs.application.tasks().len();
        self.copies.begin();
        while let Some((site, told)) = self.copies.next_visit(time) {
            let started = self.environment.pass_with_copies(site, time, told).await?;
            for copy in self.copies.started(site, &started) {
                let place = (copy.job.id.0 - FIRST_TASK) as usize / tasks;
                let realised = &mut self.states[place].outcome.realised;
                realised.cancelled.add(&copy);
            }
        }
        Ok(())
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

    /// Each ready task goes to the sites that the rule chooses, those of this instant counted
    /// (AMB-24d), when its data is there (AMB-24c).
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
        let in_system = reports.iter().enumerate();
        let in_system =
            in_system.map(|(site, report)| report.tasks_in_system + self.copies.on_the_way(site));
        let now = self.environment.now();
        let mut busy = self.in_transit.beside(in_system, now);
        let choice = self.settings.queue_choice;
        let widths = ready.iter().map(|&task| application.tasks()[task].nodes);
        let widths: Vec<Nodes> = widths.collect();
        let waits = match choice.quantile() {
            Some(quantile) => self.environment.predicted_waits(&widths, quantile).await?,
            None => vec![vec![Seconds::ZERO; widths.len()]; sites.len()],
        };
        let mut jobs = vec![Vec::new(); sites.len()];
        for (number, task) in ready.into_iter().enumerate() {
            let finished = |site| {
                let placements = &placements;
                move |parent: usize| {
                    placements[parent].map_or((site, now), |placed| (placed.site, placed.end))
                }
            };
            let links = &mut self.environment.links;
            let arrivals = (0..sites.len())
                .map(|site| links.earliest(application, task, site, now, finished(site)))
                .collect::<Vec<Seconds>>();
            let runtimes = &application.tasks()[task].runtimes;
            let end = |site: usize| arrivals[site] + waits[site][number] + runtimes[site];
            let fits = |site: usize| application.fits(task, site, sizes[site]);
            let chosen = busy.send(choice, fits, end);
            if chosen.is_empty() {
                let state = &mut self.states[place];
                state.given_up = Some(now);
                state.close_progress(application);
                return Ok(());
            }
            let first = FIRST_TASK + (place * application.tasks().len()) as u32;
            for site in chosen {
                let links = &mut self.environment.links;
                let (arrival, sent) = links.send(application, task, site, now, finished(site));
                self.states[place].outcome.transfers.extend(sent);
                let job = task_job(application, task, site, arrival, first);
                if choice.is_redundant() {
                    let ran = |parent: usize| placements[parent].map_or(site, |placed| placed.site);
                    let transfers = application.transfers(task, site, ran);
                    self.copies.send(TaskCopy::sent(job, site, transfers));
                } else {
                    jobs[site].push(job);
                }
            }
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
            self.paid = cost + application.network_cost(&self.outcome.transfers);
        }
    }
}
