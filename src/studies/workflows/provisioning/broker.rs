//! The broker: it collects the offers of sites, plans, reserves, and brings the application to its
//! end through failures of slots and nodes (docs/model.md, "The broker of workflows").

use std::sync::Arc;

use bookahead_core::kernel::{Decision, ServiceChannel, Stopwatch};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;

use self::application_state::ApplicationState;
use self::laid_out::LaidOut;
use super::copies::Copies;
use super::environment::Environment;
use super::greedy::greedy;
use super::ledger::{PlannedTasks, purchases};
use super::processor_failures::{ProcessorFailure, ProcessorFailures};
use super::queue_choice::TasksInTransit;
use super::search::{search, search_stream};
use super::{
    Advertised, AfterFailure, Application, BestEffortOutcome, BestEffortRun, BrokerError,
    Commitment, Evaluator, FrontMember, Genetic, ProviderSite, ProvisioningInputs, ProvisioningRun,
    ProvisioningSettings, SearchMethod, SiteQuestion, TaskRun,
};

mod application_state;
mod asking;
mod effect;
mod giving_back;
mod in_turn;
mod just_in_time;
mod laid_out;
mod one_slot;
mod outlasting;
mod over_offers;

/// Provisions the applications of a simulation at sites that stand at the end of the second of its
/// first submission instant.
///
/// The value of a plan is known when it is made: nothing that others do can delay a slot that is
/// paid. Time passes at the sites only as far as somebody asks them later: for a reservation under
/// way, for a plan after a node failure, or for the next application.
///
/// # Errors
///
/// When a site gives an answer that does not fit the question, or a plan contradicts the search
/// that made it.
pub(super) async fn provision(
    inputs: &ProvisioningInputs,
    settings: &ProvisioningSettings,
    seed: &StreamSeed,
    channel: ServiceChannel<ProviderSite>,
    stopwatch: Stopwatch,
) -> Result<ProvisioningRun, BrokerError> {
    let submissions = inputs.submissions();
    let begin = inputs.instants.first();
    let begin = begin.map_or(Seconds::ZERO, |&at| inputs.background.instants[at]);
    let sites = (&*inputs.sites, &inputs.users);
    let mut broker = Broker {
        inputs,
        settings,
        seed,
        environment: Environment::new(channel, sites, begin, settings.latency),
        failures: ProcessorFailures::new(&inputs.sites, seed, begin),
        in_transit: TasksInTransit::new(inputs.sites.len()),
        copies: Copies::new(inputs.sites.len()),
        states: Vec::with_capacity(submissions.len()),
    };
    broker.environment.charges = settings.replanning.clone();
    let used_before = broker.used_for_users().await?;
    let brokers = settings.submitters() as usize;
    for (group, together) in submissions.chunks(brokers).enumerate() {
        let submitted = together[0];
        broker.apply_failures_until(Some(submitted)).await?;
        broker.submit_just_in_time(Some(submitted)).await?;
        broker.environment.pass_to(submitted).await?;
        let offers = broker.offers_to_all().await?;
        for place in 0..together.len() {
            let begun = stopwatch.begin();
            broker
                .submit(group * brokers + place, submitted, offers.clone())
                .await?;
            stopwatch.end(Decision::Request, begun);
        }
    }
    let used = broker.used_for_users().await?;
    let utilisations = broker.utilisations(begin, &used_before, &used);
    broker.apply_failures_until(None).await?;
    broker.submit_just_in_time(None).await?;
    let (effects, started) = match settings.commitment {
        Commitment::Discarded => (Vec::new(), Vec::new()),
        Commitment::Committed { .. } => broker.effects().await?,
    };
    let outcomes = broker.states.into_iter();
    let outcomes = outcomes.map(|state| state.close(&inputs.application));
    Ok(ProvisioningRun {
        outcomes: outcomes.collect(),
        effects,
        started,
        utilisations,
    })
}

struct Broker<'a> {
    inputs: &'a ProvisioningInputs,
    settings: &'a ProvisioningSettings,
    seed: &'a StreamSeed,
    environment: Environment<'a>,
    failures: ProcessorFailures,
    /// Tasks of best effort that were sent and have not reached their queues yet.
    in_transit: TasksInTransit,
    /// Tasks of best effort that wait in several queues.
    copies: Copies,
    states: Vec<ApplicationState>,
}

/// The slots that sites offered, and when a reservation arrives that is sent at once.
#[derive(Clone)]
struct Offers {
    slots: Vec<Advertised>,
    arrival: Seconds,
}

impl Broker<'_> {
    /// The offers that all brokers see who submit at this instant, before any of them has bought
    /// anything; `None` for a single broker.
    async fn offers_to_all(&mut self) -> Result<Option<Offers>, BrokerError> {
        if self.settings.brokers <= 1 || !self.settings.is_genetic() {
            return Ok(None);
        }
        let slots = self.environment.collect().await?;
        let arrival = self.environment.arrival();
        Ok(Some(Offers { slots, arrival }))
    }

    /// Submits application number `number`. Its first plan is made from `offers` where there are
    /// any, else from what the sites offer then.
    async fn submit(
        &mut self,
        number: usize,
        submitted: Seconds,
        offers: Option<Offers>,
    ) -> Result<(), BrokerError> {
        let inputs = self.inputs;
        let application = inputs.planned(number);
        let best_effort = inputs.best_effort.get(number);
        let mut state = ApplicationState::new(number, submitted, self.settings);
        let of_best_effort = |run: &Arc<BestEffortRun>| best_effort_of(inputs.real(number), run);
        state.outcome.best_effort = best_effort.map(of_best_effort);
        if self.settings.search == SearchMethod::BestEffort {
            match self.settings.commitment {
                Commitment::Discarded => state.follow_best_effort(application),
                Commitment::Committed { .. } => {
                    state.progress = Some(just_in_time::Progress::new(application));
                }
            }
        } else {
            self.environment.asked = self.asked_by(number).await?;
            let done = if self.settings.joint || inputs.parts.is_empty() {
                let tasks: Vec<usize> = (0..application.tasks().len()).collect();
                (self.provide(&mut state, application, &tasks, offers)).await?
            } else {
                self.provide_in_turn(&mut state, offers).await?
            };
            if !done {
                state.given_up = Some(self.environment.now());
            }
        }
        self.states.push(state);
        Ok(())
    }

    /// Plans `planned`, which consists of these tasks of the application, and books the plan.
    /// Returns whether there is one.
    async fn provide(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
        offers: Option<Offers>,
    ) -> Result<bool, BrokerError> {
        match self.settings.search {
            SearchMethod::Moga | SearchMethod::Nsga2 | SearchMethod::WeightedSum => {
                self.provide_genetically(state, planned, tasks, offers)
                    .await
            }
            SearchMethod::QueriedMoga => self.provide_over_offers(state, planned, tasks).await,
            SearchMethod::SingleSlot => self.provide_in_one_slot(state, planned, tasks).await,
            SearchMethod::Greedy | SearchMethod::BestEffort => {
                self.provide_greedily(state, planned, tasks).await
            }
        }
    }

    async fn provide_greedily(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
    ) -> Result<bool, BrokerError> {
        let begin = self.environment.arrival();
        let wish = state.wish(self.settings.wish, begin);
        let retries = self.settings.replans - state.outcome.realised.replans;
        let mut next = self.environment.next_request;
        let mut prices = self.inputs.keep_prices.then(Vec::new);
        let made = greedy(
            planned,
            &mut self.environment,
            begin,
            wish,
            retries,
            &mut next,
            prices.as_mut(),
        )
        .await;
        self.environment.next_request = next;
        let mut plan = made?;
        let real = self.inputs.real(state.outcome.submission as usize);
        let of = PlannedTasks { real, tasks };
        state.plans += 1;
        let outcome = &mut state.outcome;
        outcome.queries += plan.queries;
        outcome.offers += plan.offers;
        outcome.note_prices(prices.unwrap_or_default(), tasks, plan.queries);
        outcome.realised.gone += plan.gone;
        outcome.realised.replans += plan.gone.min(retries);
        if plan.failure.is_none() {
            state.paid += plan.value.cost;
            state.outcome.transfers.append(&mut plan.transfers);
            let value = state.since_submission(plan.value, begin);
            state.outcome.planned.get_or_insert(value);
            state.ledger.enter_greedy(of, &plan);
            return Ok(true);
        }
        // Slots that have not begun are given back. Those that have begun are paid and useless.
        let mut begun = Vec::new();
        for (task, id) in std::mem::take(&mut plan.booked) {
            let site = plan.placements[task].site;
            if !self.environment.cancel(site, id).await? {
                begun.push((task, id));
            }
        }
        plan.booked = begun;
        let now = self.environment.now();
        let links = &mut self.environment.links;
        links.free_after(now, planned, &mut plan.transfers);
        state.paid += planned.network_cost(&plan.transfers);
        state.outcome.transfers.append(&mut plan.transfers);
        state.paid += state.ledger.enter_greedy(of, &plan);
        let unplanned = |run: &TaskRun| tasks.contains(&(run.task as usize));
        self.give_back(state, unplanned).await?;
        Ok(false)
    }

    async fn provide_genetically(
        &mut self,
        state: &mut ApplicationState,
        planned: &Application,
        tasks: &[usize],
        mut offers: Option<Offers>,
    ) -> Result<bool, BrokerError> {
        loop {
            let Offers {
                slots: free,
                arrival: begin,
            } = match offers.take() {
                Some(offers) => offers,
                None => Offers {
                    slots: self.environment.collect().await?,
                    arrival: self.environment.arrival(),
                },
            };
            let tariff = self.settings.tariff;
            let slots = tariff.all_offered(&free, planned);
            let mut evaluator = Evaluator::new(planned, &slots, begin)
                .choosing(self.settings.site_choice)
                .under(tariff)
                .beside(&self.environment.links);
            let is_first = state.plans == 0;
            let shared = self.inputs.searched.as_deref();
            // The earlier search holds for the slots of the instant, as they were advertised, and
            // for the first broker.
            let is_shared = is_first && state.outcome.submission == 0;
            let shared = shared.filter(|_| is_shared && self.settings.latency == Seconds::ZERO);
            let own;
            let found = match shared {
                Some(found) => found,
                None => {
                    own = self.search(&mut evaluator, state);
                    &own
                }
            };
            state.plans += 1;
            state.outcome.evaluations += found.evaluations;
            state.outcome.infeasible += found.infeasible;
            let chosen = state.wish(self.settings.wish, begin).choose(&found.front);
            if is_first {
                state.outcome.slots_offered = slots.len() as u32;
                state.outcome.advertised.clone_from(&slots);
            }
            // The front of one of several applications is no front of them all.
            if is_first && self.settings.joint {
                let members = found.front.members().iter().enumerate().rev();
                state.outcome.front = members
                    .map(|(place, (value, _))| FrontMember {
                        value: state.since_submission(*value, begin),
                        chosen: chosen == Some(place),
                    })
                    .collect();
            }
            let Some((_, chosen)) = chosen.and_then(|place| found.front.members().get(place))
            else {
                return Ok(false);
            };
            let plan = LaidOut::of(state, &mut evaluator, &slots, chosen, begin)?;
            let wanted = purchases(&slots, &plan.shares, || self.environment.request());
            self.environment.pass_to(begin).await?;
            let mut booked = 0;
            for purchase in &wanted {
                let advertised = &free[purchase.slot];
                let question = SiteQuestion::BuyPiece {
                    id: purchase.id,
                    slot: advertised.slot,
                    piece: purchase.piece,
                    in_parts: tariff.sells_parts(),
                };
                if !self.environment.book(advertised.site, question).await? {
                    break;
                }
                booked += 1;
            }
            if booked == wanted.len() {
                self.enter(state, planned, tasks, &plan, &slots, &wanted);
                return Ok(true);
            }
            for purchase in &wanted[..booked] {
                let site = slots[purchase.slot].site;
                self.environment.cancel(site, purchase.id).await?;
            }
            if !self.may_plan_anew(state) {
                return Ok(false);
            }
        }
    }

    fn search(&self, evaluator: &mut Evaluator<'_>, state: &ApplicationState) -> Genetic {
        let name = search_stream(state.outcome.submission, state.plans);
        search(evaluator, self.settings, &mut self.seed.stream(&name))
    }

    /// Handles node failures, tasks that outlast their slots, and slots whose rest is given back,
    /// until the end of a second, or until all applications have ended. In one second rests are
    /// given back before slots end, and slots end before nodes fail.
    async fn apply_failures_until(&mut self, time: Option<Seconds>) -> Result<(), BrokerError> {
        loop {
            let last_end = || {
                self.states
                    .iter()
                    .filter_map(|it| it.ledger.last_end())
                    .max()
            };
            let Some(until) = time.or_else(last_end) else {
                return Ok(());
            };
            let outlasting = self.next_outlasting().filter(|next| next.0 <= until);
            let latest = outlasting.map_or(until, |(time, ..)| time);
            let early = self.next_early_end().filter(|next| next.0 <= latest);
            let before = match (early, outlasting) {
                (None, None) => until,
                _ => early.map_or(latest, |(time, _)| time) - Seconds(1),
            };
            match (self.failures.next_until(before), early, outlasting) {
                (Some(failure), ..) => self.apply_failure(failure).await?,
                (None, Some(next), _) => self.end_early(next).await?,
                (None, None, Some(next)) => self.stop(next).await?,
                (None, None, None) => return Ok(()),
            }
        }
    }

    /// Applies a failure of a processor. The processors of the applications' tasks are numbered in
    /// the order of submission and booking.
    async fn apply_failure(&mut self, failure: ProcessorFailure) -> Result<(), BrokerError> {
        let mut processor = failure.processor;
        for place in 0..self.states.len() {
            let ledger = &self.states[place].ledger;
            match ledger.hit(failure.site, failure.time, processor) {
                Err(held) => processor -= held,
                Ok(run) => {
                    let mut state = std::mem::take(&mut self.states[place]);
                    let done = self.lose(&mut state, run, failure.time).await;
                    self.states[place] = state;
                    return done;
                }
            }
        }
        Ok(())
    }

    /// A run of a task is lost: the application fails, or the task and its successors are planned
    /// again.
    async fn lose(
        &mut self,
        state: &mut ApplicationState,
        run: usize,
        time: Seconds,
    ) -> Result<(), BrokerError> {
        let lost = state.ledger.lose(run, time);
        state.outcome.realised.lost_tasks += 1;
        self.environment.pass_to(time).await?;
        let now = self.environment.now();
        let number = state.outcome.submission as usize;
        let application = self.inputs.planned(number);
        let again = behind(application, lost);
        let fails = self.settings.after_failure == AfterFailure::Fail;
        if fails || state.given_up.is_some() {
            state.given_up.get_or_insert(time);
            let useless = |run: &TaskRun| run.start > now || again[run.task as usize];
            return self.give_back(state, useless).await;
        }
        self.give_back(state, |run| again[run.task as usize])
            .await?;
        let (rest, tasks) = state.part(application, &again, now);
        state.outcome.realised.reprovisioned += 1;
        self.environment.asked = self.asked_by(number).await?;
        self.provide_again(state, &rest, &tasks).await?;
        Ok(())
    }

    /// Plans a part of the application again, or gives the application up. Returns whether there is
    /// a plan.
    async fn provide_again(
        &mut self,
        state: &mut ApplicationState,
        part: &Application,
        tasks: &[usize],
    ) -> Result<bool, BrokerError> {
        let provided = self.provide(state, part, tasks, None).await?;
        if !provided {
            let now = self.environment.now();
            state.given_up = Some(now);
            self.give_back(state, |run| run.start > now).await?;
        }
        Ok(provided)
    }
}

/// Which tasks depend on `lost`, itself included.
fn behind(application: &Application, lost: usize) -> Vec<bool> {
    let mut behind = vec![false; application.tasks().len()];
    behind[lost] = true;
    for &task in application.order() {
        let mut parents = application.tasks()[task].parents.iter();
        behind[task] |= parents.any(|dependency| behind[dependency.parent]);
    }
    behind
}

fn best_effort_of(application: &Application, run: &BestEffortRun) -> BestEffortOutcome {
    let placed = application.tasks().iter().zip(&run.placements);
    let charges = placed.map(|(task, placed)| {
        let work = task.nodes.for_span(task.runtimes[placed.site]);
        application.charge(placed.site, work)
    });
    BestEffortOutcome {
        makespan: run.makespan,
        cost: charges.sum::<f64>() / 3_600.0 + application.network_cost(&run.transfers),
        placements: run.placements.clone(),
        cancelled: run.cancelled,
        transfers: run.transfers.clone(),
    }
}

#[cfg(test)]
mod tests;
