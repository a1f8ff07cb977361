//! A queue that plans with predicted run times.

mod keys;
pub mod measures;
mod settings;

use std::sync::Arc;

use self::keys::RawTables;
pub use self::measures::MEASURES;
pub use self::settings::*;
use crate::predicted_queue::posted::{ClassChoice, Classed, PostedSettings, class_measures};
use crate::predicted_queue::{
    HeadRules, PredictedQueueMachine, PredictedQueueSettings, QueueRules, ScoreTimes, ScoredOrder,
    job_outcomes, predicted_queue_scene, queue_jobs, queue_measures,
};
use bookahead_core::predictions::{
    Build, Corrector, LearnedSettings, Loss, PredictorSettings, Reads, Side, predictor,
};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::Nodes;
use bookahead_core::workload::{DELAY_COSTS_STREAM, Job};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::delay_costs::CostKeys;
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Handed, InputError, Inputs};
use bookahead_lab::study::{
    Asked, CommonSettings, Simulation, SimulationResult, Starter, Strategy, Study, name_of,
};

/// None of its own.
pub type Rows = ();

/// The queue and its jobs.
#[derive(Clone, Debug)]
pub struct PredictedQueueSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// The queue.
    pub settings: PredictedQueueSettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// What a node and an hour of waiting cost their owners, where there are classes of priority.
    pub costs: Vec<f64>,
}

impl Simulation for PredictedQueueSimulation {
    fn check(&self) -> Result<(), SimulationError> {
        PredictedQueueMachine::new(self.nodes, &self.settings)
            .map(drop)
            .map_err(SimulationError::of_study)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let rules = self.settings.rules;
        let mut jobs = queue_jobs(&self.jobs, self.nodes, rules);
        let classed = (self.settings.classes.as_ref())
            .map(|classes| {
                let fitting = self.jobs.iter().zip(&self.costs);
                let costs: Vec<f64> = fitting
                    .filter_map(|(job, cost)| (job.nodes <= self.nodes).then_some(*cost))
                    .collect();
                Classed::of(&jobs, self.nodes, classes, &costs)
            })
            .transpose()
            .map_err(SimulationError::of_study)?;
        if let Some(classed) = &classed {
            jobs = classed.jobs.as_slice().into();
        }
        let scene = predicted_queue_scene(&jobs, self.nodes, &self.settings)
            .map_err(SimulationError::of_study)?;
        let played = player.play(scene, false, name_of(STRATEGY))?;
        let outcomes = played.machine.into_outcomes();
        let until = self.settings.capacity_until;
        let (kept, metrics) = job_outcomes(&self.jobs, &outcomes, self.nodes, until, keep_outcomes);
        let mut measured = queue_measures(&jobs, &outcomes, rules);
        if let Some(classed) = &classed {
            measured.extend(&class_measures(classed, &outcomes));
        }
        Ok(SimulationResult {
            metrics,
            measured,
            outcomes: kept,
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
    }
}

impl Study for PredictedQueueStudy {
    type Keys = RawTables;

    const NAME: &'static str = "predicted-queue";

    const ABOUT: &'static str =
        "A queue that plans with predicted run times (Tsafrir et al. 2007; Gaussier et al. 2015).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const OWNER: Option<&'static str> =
        Some("this table belongs to the queue that plans with predictions");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.load.value", "0.9"),
            ("queue.corrector", r#""increments""#),
            ("queue.backfill", r#""shortest-first""#),
        ],
        axes: &[
            (
                "queue.predictor",
                r#"["request", "average-of-two", "conformal-quantile", "learned"]"#,
            ),
            ("queue.order", r#"["fcfs", "wfp3"]"#),
        ],
    };

    fn resolve(keys: &Self::Keys, _asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let (raw, learning) = (&keys.queue, &keys.learning);
        let predictor = raw.predictor().name(problems);
        let quantile = raw.quantile().or_default(problems);
        let classes = classes(keys, problems);
        let over = side(
            learning.over().name(problems),
            learning.over_factor().or_default(problems),
        );
        let under = side(
            learning.under().name(problems),
            learning.under_factor().or_default(problems),
        );
        let threshold = learning.threshold_seconds().or_default(problems);
        let regularisation = learning.regularisation().or_default(problems);
        let loss = Loss {
            over: over?,
            under: under?,
            threshold: threshold?,
            regularisation: regularisation?,
        };
        Some(Self {
            settings: PredictedQueueSettings {
                predictor: predictor?.to_owned(),
                corrector: raw.corrector.unwrap_or_default(),
                order: raw.order.unwrap_or_default(),
                backfill: raw.backfill.unwrap_or_default(),
                rules: raw.rules.unwrap_or_default(),
                reservation: raw.reservation.unwrap_or_default(),
                head_rules: HeadRules {
                    head: raw.head.unwrap_or_default(),
                    reserved_start: raw.reserved_start.unwrap_or_default(),
                    passing: raw.passing.unwrap_or_default(),
                },
                times: ScoreTimes {
                    wait: raw.score_wait.unwrap_or_default(),
                    from: raw.score_from.unwrap_or_default(),
                },
                capacity_until: raw.capacity_until.unwrap_or_default(),
                told: PredictorSettings {
                    quantile: quantile?,
                    learned: LearnedSettings {
                        loss,
                        weight: learning.weight.unwrap_or_default(),
                        features: learning.features.unwrap_or_default(),
                    },
                },
                classes: classes?,
            },
        })
    }

    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        common.without_all();
        let settings = &mut self.settings;
        if let Some(classes) = &mut settings.classes
            && classes.choice == ClassChoice::Free
        {
            classes.classes = 2;
            classes.load = None;
        }
        // An unknown name is an error when it is run.
        let Some(predictor) = predictor(&settings.predictor) else {
            return;
        };
        settings.told = settings.told.read_by(predictor.reads);
        let ends_at_request = settings.rules == QueueRules::Gaussier2015;
        let is_exact = matches!(predictor.build, Build::KnowsRunTime);
        if is_exact || predictor.is_never_short && ends_at_request {
            settings.corrector = Corrector::default();
        }
        if settings.corrector == Corrector::Unchanged && ends_at_request {
            settings.corrector = Corrector::None;
        }
    }

    fn takes_missing_requests(&self) -> bool {
        self.settings.predictor == "request"
    }

    /// 1: of equal scores behind a committed first whoever came first before does so again.
    fn revision(&self) -> Option<u32> {
        (self.settings.ties_stay_behind_committed()).then_some(1)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        let reads = predictor(&self.settings.predictor).map(|predictor| predictor.reads);
        match reads {
            Some(Reads::Learned) => 6e-7,
            _ => 2e-7,
        }
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
        let costs = self.settings.classes.map(|classes| {
            let mut stream = inputs.seed(spec).stream(DELAY_COSTS_STREAM);
            jobs.iter()
                .map(|_| classes.costs.draw(&mut stream).0)
                .collect()
        });
        Ok(Box::new(PredictedQueueSimulation {
            nodes: spec.workload.nodes,
            settings: self.settings.clone(),
            jobs,
            costs: costs.unwrap_or_default(),
        }))
    }
}

/// `queue.classes` and what belongs to it; the outer `None` where something is wrong.
fn classes(keys: &RawTables, problems: &mut Problems) -> Option<Option<PostedSettings>> {
    let (raw, planning) = (&keys.queue, &keys.planning);
    let load = raw.posted_load().checked(problems);
    let costs = CostKeys {
        delay_costs: planning.delay_costs,
        shares: planning.delay_cost_shares_percent(),
        weights: planning.delay_cost_weights(),
        variation: planning.delay_cost_variation(),
    };
    let costs = costs.spread(problems);
    let field = raw.classes();
    let classes = field.or_default(problems)?;
    if classes == 1 {
        return Some(None);
    }
    if raw.order.unwrap_or_default() != ScoredOrder::Fcfs {
        problems.add(
            ProblemKind::Conflict,
            field.key.path,
            field.place(),
            "within a class of priority jobs are served in order of submission",
            "set queue.order = \"fcfs\", or leave queue.classes out",
        );
        return None;
    }
    Some(Some(PostedSettings {
        classes,
        choice: raw.class_choice.unwrap_or_default(),
        load: load?,
        costs: costs?,
    }))
}

fn side(curve: Option<&str>, factor: Option<f64>) -> Option<Side> {
    let factor = factor?;
    Some(match curve? {
        "linear" => Side::Linear(factor),
        "square" => Side::Square(factor),
        _ => Side::Exponential(factor),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookahead_core::workload::CostSpread;
    use bookahead_lab::study::{Studies, study};
    use bookahead_lab::sweep::Experiment;

    const STUDIES: Studies = Studies::new(&[study::<PredictedQueueStudy>()]);

    fn resolved(more: &str) -> Result<Option<PostedSettings>, String> {
        let text = format!(
            "[experiment]\nname = \"q\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 900\nnodes = 32\n\
             battery_jobs = 300\nload.value = 2.0\n[scheduling]\nstrategy = \"predicted-queue\"\n{more}"
        );
        let experiment = Experiment::parse(STUDIES, "q.toml", &text, None);
        let experiment = experiment.map_err(|error| error.to_string())?;
        let simulation = experiment.sweep.simulations.iter().next();
        let queue = simulation.and_then(|spec| spec.study.get::<PredictedQueueStudy>().cloned());
        Ok(queue.expect("a queue").settings.classes)
    }

    #[test]
    fn classes_have_a_choice_a_load_and_costs_and_one_class_has_none() {
        let settled = |classes, choice, load| {
            Ok(Some(PostedSettings {
                classes,
                choice,
                load,
                costs: CostSpread::Width,
            }))
        };
        assert_eq!(resolved(""), Ok(None));
        assert_eq!(resolved("[queue]\nclasses = 1\n"), Ok(None));
        let two = "[queue]\nclasses = 2\n";
        assert_eq!(resolved(two), settled(2, ClassChoice::Posted, None));
        let three = "[queue]\nclasses = 3\nclass_choice = \"assigned\"\nposted_load = 0.5\n";
        assert_eq!(
            resolved(three),
            settled(3, ClassChoice::Assigned, Some(0.5))
        );
        // For nothing everybody is in the first, however many there are.
        let free = "[queue]\nclasses = 3\nclass_choice = \"free\"\nposted_load = 0.5\n";
        assert_eq!(resolved(free), settled(2, ClassChoice::Free, None));
    }

    #[test]
    fn classes_that_cannot_be_are_refused_by_their_key() {
        for (queue, key) in [
            ("classes = 4", "queue.classes"),
            ("classes = 0", "queue.classes"),
            ("classes = 2\nposted_load = 1.0", "queue.posted_load"),
            ("classes = 2\norder = \"sjf\"", "queue.classes"),
            (
                "classes = 2\nclass_choice = \"drawn\"",
                "queue.class_choice",
            ),
        ] {
            let refused = resolved(&format!("[queue]\n{queue}\n")).unwrap_err();
            assert!(refused.contains(key), "{refused}");
        }
    }
}
