//! The scene of a simulation of provisioning: a broker that buys for applications, the sites that
//! it asks, and the result.

use std::sync::{Arc, OnceLock};

use bookahead_core::kernel::{Machine, Played, Questions, Scene, Service, Step, Stopwatch};
use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;

use super::broker::provision;
use super::{
    BrokerError, ProviderSite, ProvisioningInputs, ProvisioningRun, ProvisioningSettings,
    SiteAnswer, SiteQuestion,
};

/// Why a simulation of provisioning could not be carried out.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProvisioningError {
    /// There are no submissions.
    #[error("a provisioning study submits at no instant; it needs at least one")]
    NoInstants,
    /// An instant that was not prepared.
    #[error("submission instant number {0} was not prepared: there is no snapshot of the sites")]
    NoSnapshot(usize),
    /// Instants go backwards.
    #[error("submission instants are not in order of time")]
    InstantsOutOfOrder,
    /// The broker could not go on.
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

/// The sites as they are when a simulation begins: at the end of the second of its first
/// submission.
///
/// # Errors
///
/// When its instants are not those of snapshots, in order of time.
fn sites_at_begin(inputs: &ProvisioningInputs) -> Result<Vec<ProviderSite>, ProvisioningError> {
    let background = &inputs.background;
    let mut previous = None;
    for &instant in &inputs.instants {
        let time = background.instants.get(instant);
        let time = time.ok_or(ProvisioningError::NoSnapshot(instant))?;
        if previous.is_some_and(|previous| previous > time) {
            return Err(ProvisioningError::InstantsOutOfOrder);
        }
        previous = Some(time);
    }
    let first = *inputs
        .instants
        .first()
        .ok_or(ProvisioningError::NoInstants)?;
    let sites = background.snapshots.get(first);
    let sites = sites.ok_or(ProvisioningError::NoSnapshot(first))?;
    Ok(sites.clone())
}

impl Service for ProviderSite {
    type Question = SiteQuestion;
    type Answer = SiteAnswer;

    fn answer(&mut self, question: SiteQuestion) -> SiteAnswer {
        self.answer(question)
    }
}

/// The broker as a machine. It takes no input from outside: it knows when its applications come,
/// and lets time pass at the sites as far as it needs. So one window covers the whole simulation.
pub struct ProvisioningBroker {
    begin: Seconds,
    progress: Progress,
    /// Read when the broker begins.
    stopwatch: Arc<OnceLock<Stopwatch>>,
}

enum Progress {
    Running(Questions<ProviderSite, Result<ProvisioningRun, BrokerError>>),
    Over(Result<ProvisioningRun, BrokerError>),
}

impl Machine for ProvisioningBroker {
    type Input = ();
    type Output = ();
    type Service = ProviderSite;

    fn take(&mut self, (): ()) {}

    fn advance(&mut self, until: Seconds) -> Step<ProviderSite> {
        if let Progress::Running(questions) = &mut self.progress {
            match questions.go_on() {
                Err(next) => return Step::Ask(next),
                Ok(run) => self.progress = Progress::Over(run),
            }
        }
        Step::Reached(until)
    }

    fn answered(&mut self, answers: Vec<SiteAnswer>) {
        if let Progress::Running(questions) = &mut self.progress {
            questions.answered(answers);
        }
    }

    fn next_event(&self) -> Option<Seconds> {
        (!self.is_idle()).then_some(self.begin)
    }

    fn is_idle(&self) -> bool {
        matches!(self.progress, Progress::Over(_))
    }

    fn hand_out(&mut self) {}

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.stopwatch.get_or_init(|| stopwatch.clone());
    }
}

/// A broker before the submissions of one replication, and the sites as they are then.
///
/// # Errors
///
/// When the inputs do not fit together.
pub fn provisioning_scene(
    inputs: &Arc<ProvisioningInputs>,
    settings: &ProvisioningSettings,
    seed: &StreamSeed,
) -> Result<Scene<ProvisioningBroker>, ProvisioningError> {
    let sites = sites_at_begin(inputs)?;
    let begin = sites.iter().map(ProviderSite::now).max();
    let (inputs, settings, seed) = (Arc::clone(inputs), settings.clone(), seed.clone());
    let stopwatch: Arc<OnceLock<Stopwatch>> = Arc::default();
    let given = Arc::clone(&stopwatch);
    let questions = Questions::new(async move |channel| {
        let stopwatch = given.get().cloned().unwrap_or_default();
        provision(&inputs, &settings, &seed, channel, stopwatch).await
    });
    let broker = ProvisioningBroker {
        begin: begin.unwrap_or(Seconds::ZERO),
        progress: Progress::Running(questions),
        stopwatch,
    };
    let mut scene = Scene::new("broker", broker);
    scene.services = sites;
    scene.service_name = "site";
    Ok(scene)
}

impl ProvisioningRun {
    /// What a [`provisioning_scene`] came to.
    ///
    /// # Errors
    ///
    /// When the broker could not go on.
    pub fn of(played: Played<ProvisioningBroker>) -> Result<Self, ProvisioningError> {
        match played.machine.progress {
            Progress::Over(run) => Ok(run?),
            Progress::Running(_) => unreachable!("a scene is played until its machine is idle"),
        }
    }
}
