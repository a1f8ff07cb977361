//! What simulations of provisioning share: sites at their load, applications, backgrounds,
//! searches.

use super::{ProvisionedSettings, RelativeWish};
use crate::provisioning::slot_lifetimes::{LOOKS, SlotsLeft, slots_left};
use crate::provisioning::{
    Application, Background, BestEffortRun, Genetic, ProvisioningSettings, QueueChoice,
    SiteWorkload, Users, Wish, best_effort, common_window, draw_instants, load_site,
    search_advertised, search_stream,
};
use bookahead_core::failures::{FailureSource, FailureTrace};
use bookahead_core::random;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{Instances, Workflow};
use bookahead_core::workload::{Job, SECOND_COPY_SHIFT, SiteSettings};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::parallel::map_in_parallel;
use bookahead_lab::study::inputs::{
    Cache, FailureRequest, InputError, Inputs, PreparedWorkload, canonical_text,
};
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// Failures are made until so long after a site's own jobs are worked off, for applications that
/// come late and take long.
pub(super) const AFTER_THE_TRACE: Seconds = Seconds(100 * 86_400);

/// A workflow and where it is from.
pub(super) struct SourcedWorkflow {
    pub(super) workflow: Arc<Workflow>,
    /// Of the files that it was read from; `None` where it was drawn.
    pub(super) hash: Option<String>,
    /// The tasks of each application where it is several; else empty.
    pub(super) parts: Vec<Range<usize>>,
}

/// What simulations of provisioning share.
#[derive(Default)]
pub(super) struct Shared {
    loaded_sites: Cache<SiteWorkload>,
    site_sets: Cache<Arc<[SiteWorkload]>>,
    pub(super) workflows: Cache<SourcedWorkflow>,
    pub(super) applications: Cache<Application>,
    backgrounds: Cache<Background>,
    best_efforts: Cache<BestEffortRun>,
    searches: Cache<Genetic>,
    slots_left: Cache<[SlotsLeft; LOOKS.len()]>,
}

/// What one simulation has made or shares.
pub(super) struct Made<'a> {
    pub(super) spec: &'a SimulationSpec,
    pub(super) inputs: &'a Inputs,
    pub(super) shared: Arc<Shared>,
}

impl<'a> Made<'a> {
    pub(super) fn new(spec: &'a SimulationSpec, inputs: &'a Inputs) -> Self {
        Self {
            spec,
            inputs,
            shared: inputs.shared(),
        }
    }

    /// The jobs of a site before anything is done about its load.
    pub(super) fn site_trace(
        &self,
        site: &SiteSettings,
    ) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        self.inputs
            .workload_of(&site.workload, self.spec.seed, self.spec.replication)
    }

    /// All sites, with the failures of their nodes.
    pub(super) fn sites(
        &self,
        about: &ProvisionedSettings,
    ) -> Result<Arc<Arc<[SiteWorkload]>>, Arc<InputError>> {
        let failures = canonical_text(&self.spec.failures);
        let key = format!(
            "{}|{}|{failures}",
            self.spec.seed,
            canonical_text(&(&about.sites, about.shares, &about.memory))
        );
        self.shared.site_sets.get_shared(key, || {
            let sites = about
                .sites
                .iter()
                .enumerate()
                .map(|(place, settings)| {
                    let site = self.loaded_site(about, place)?.as_ref().clone();
                    Ok(SiteWorkload {
                        failures: self.site_failures(settings, place)?,
                        // Loads are shared by all tasks, whatever they take.
                        memory: about.memory.of_site(place, settings.workload.nodes),
                        ..site.in_shares(about.shares.of_processor)
                    })
                })
                .collect::<Result<Vec<_>, Arc<InputError>>>()?;
            Ok(sites.into())
        })
    }

    pub(super) fn loaded_site(
        &self,
        about: &ProvisionedSettings,
        place: usize,
    ) -> Result<Arc<SiteWorkload>, Arc<InputError>> {
        let settings = &about.sites[place];
        let trace = self.site_trace(settings)?;
        let jobs = self.inputs.battery(&trace, &of_site(self.spec, settings))?;
        let workload = &settings.workload;
        let memory = about.memory.of_site(place, workload.nodes);
        let of_jobs = memory.map(|memory| (memory.size.0, about.memory.of_jobs));
        let key = canonical_text(&(settings, of_jobs));
        let key = format!("{}|{key}", self.spec.seed);
        self.shared.loaded_sites.get(key, || {
            // The source alone: all loads and sizes of a trace see the same draws.
            let draws = self.inputs.source_key(workload);
            let jobs = match memory {
                Some(_) => self.with_memory(about, place, &jobs)?,
                None => jobs,
            };
            load_site(
                &trace.label,
                jobs,
                (workload.nodes, memory),
                settings.utilisation_percent,
                self.spec.seed,
                &draws,
            )
            .map_err(|error| InputError::Workload(error.to_string()))
        })
    }

    /// The failures of a site's nodes; each site has its own, the same for every submission.
    pub(super) fn site_failures(
        &self,
        settings: &SiteSettings,
        place: usize,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        if self.spec.failures.source == FailureSource::None {
            return Ok(Arc::default());
        }
        let trace = self.site_trace(settings)?;
        let jobs = self.inputs.battery(&trace, &of_site(self.spec, settings))?;
        let nodes = settings.workload.nodes;
        let workload_key = format!(
            "{}|site {place}",
            self.inputs.source_key(&settings.workload)
        );
        self.inputs.failures_of(&FailureRequest {
            settings: &self.spec.failures,
            nodes,
            horizon: horizon(&jobs, nodes),
            seed: self.spec.seed,
            workload_key: &workload_key,
            replication: 0,
        })
    }

    /// The users of a simulation that begins at `begin`. Replications that begin at other instants
    /// have other users of the same draws.
    pub(super) fn users(
        &self,
        about: &ProvisionedSettings,
        sites: &[SiteWorkload],
        begin: Seconds,
        most: u32,
    ) -> Users {
        let Some(percent) = about.users_percent else {
            return Users::default();
        };
        Users::drawn(sites, percent, begin, most, |site| {
            let source = self.inputs.source_key(&about.sites[site].workload);
            random::stream(self.spec.seed, &source, site as u32, "users")
        })
    }

    pub(super) fn background(
        &self,
        key: &str,
        (settings, about): (&ProvisioningSettings, &ProvisionedSettings),
        sites: &[SiteWorkload],
    ) -> Result<Arc<Background>, Arc<InputError>> {
        self.shared.backgrounds.get(key.to_owned(), || {
            let window = common_window(sites).ok_or_else(|| {
                InputError::Workload(
                    "the traces of the sites have no time in common: choose others, or more days"
                        .to_owned(),
                )
            })?;
            let count = instants_of(self.spec, settings, about);
            let instants = draw_instants(window, self.spec.seed, count);
            Ok(replay_beside_each_other(sites, settings, &instants))
        })
    }

    pub(super) fn best_effort(
        &self,
        key: &str,
        choice: QueueChoice,
        sites: &[SiteWorkload],
        background: &Background,
        application: &Application,
        instant: usize,
    ) -> Result<Arc<BestEffortRun>, Arc<InputError>> {
        let key = format!("{key}|{}|{instant}", canonical_text(&choice));
        self.shared.best_efforts.get(key, || {
            let forks = background.fork(sites, instant);
            best_effort(application, forks, choice).ok_or_else(|| {
                InputError::Workload(
                    "best effort comes to no end: a task was lost in a queue".to_owned(),
                )
            })
        })
    }

    /// What is left of advertised slots after each of these instants.
    pub(super) fn slots_left(
        &self,
        background_key: &str,
        sites: &[SiteWorkload],
        background: &Background,
        instants: &[usize],
    ) -> Result<Vec<Arc<[SlotsLeft; LOOKS.len()]>>, Arc<InputError>> {
        let of_one = |&instant: &usize| {
            let key = format!("{background_key}|{instant}");
            self.shared.slots_left.get(key, || {
                let forks = background.fork(sites, instant);
                Ok::<_, InputError>(slots_left(forks, background.instants[instant]))
            })
        };
        instants.iter().map(of_one).collect()
    }

    pub(super) fn searched(
        &self,
        key: &str,
        settings: &ProvisioningSettings,
        background: &Background,
        application: &Application,
        instant: usize,
    ) -> Result<Arc<Genetic>, Arc<InputError>> {
        let how = (settings.search, &settings.genetic, settings.site_choice);
        let how = (how, &settings.tariff, settings.weighting());
        let key = format!("{key}|{}|{instant}", canonical_text(&how));
        self.shared.searches.get(key, || {
            // The stream that a broker would draw its first search from.
            let mut stream = random::stream(
                self.spec.seed,
                &self.inputs.workload_key(&self.spec.workload),
                self.spec.replication,
                &search_stream(0, 0),
            );
            Ok(search_advertised(
                application,
                &background.snapshots[instant],
                background.instants[instant],
                settings,
                &mut stream,
            ))
        })
    }
}

/// The replay of all sites. Every simulation waits for it, and no site knows of another: each has
/// its own thread.
pub(super) fn replay_beside_each_other(
    sites: &[SiteWorkload],
    settings: &ProvisioningSettings,
    instants: &[Seconds],
) -> Background {
    let alone = |site: &SiteWorkload| {
        let site = std::slice::from_ref(site);
        Ok::<_, Infallible>(Background::replay(site, settings, instants))
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let Ok(parts) = map_in_parallel(sites, threads.min(sites.len()), &alone);
    let mut whole = Background {
        instants: instants.to_vec(),
        snapshots: vec![Vec::with_capacity(sites.len()); instants.len()],
        starts: Vec::with_capacity(sites.len()),
        longest_stays: Vec::with_capacity(sites.len()),
    };
    for part in parts {
        for (all, own) in whole.snapshots.iter_mut().zip(part.snapshots) {
            all.extend(own);
        }
        whole.starts.extend(part.starts);
        whole.longest_stays.extend(part.longest_stays);
    }
    whole
}

/// Instants that are prepared: as many as the sweep asks for, and at least those of this
/// simulation.
pub(super) fn instants_of(
    spec: &SimulationSpec,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
) -> u32 {
    let own = (spec.replication + 1).saturating_mul(about.instants_each(settings));
    settings.instants.max(own)
}

pub(super) fn background_key(
    spec: &SimulationSpec,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
) -> String {
    format!(
        "{}|{}|{}|{}|{}|{}",
        spec.seed,
        canonical_text(&(&about.sites, about.shares.of_processor, &about.memory)),
        canonical_text(&settings.provider),
        canonical_text(&settings.replanning),
        settings.queue_choice.quantile().is_some(),
        instants_of(spec, settings, about)
    )
}

pub(super) fn application_key(spec: &SimulationSpec, about: &ProvisionedSettings) -> String {
    let instance = instance(spec, about);
    if about.users_percent.is_some() {
        return "jobs".to_owned();
    }
    format!(
        "{}|{instance}|{}",
        spec.seed,
        canonical_text(&(
            &about.application,
            &about.speeds,
            &about.prices,
            about.shares,
            about.network,
            (&about.memory, &about.make)
        ))
    )
}

/// The number of the workflow (AMB-16b).
pub(super) fn instance(spec: &SimulationSpec, about: &ProvisionedSettings) -> u32 {
    match about.application.instances {
        Instances::One => 0,
        Instances::OneAReplication => spec.replication,
    }
}

/// The specification as if the site's workload were the first one's.
pub(super) fn of_site(spec: &SimulationSpec, site: &SiteSettings) -> SimulationSpec {
    SimulationSpec {
        workload: site.workload.clone(),
        ..spec.clone()
    }
}

/// The wish in numbers.
pub(super) fn absolute(
    wish: Wish,
    relative: Option<RelativeWish>,
    application: &Application,
) -> Wish {
    match relative {
        None => wish,
        Some(RelativeWish::Deadline { factor }) => {
            let longest = application.longest_path().0 as f64;
            Wish::Deadline {
                after: Seconds((factor * longest).round() as i64),
            }
        }
        Some(RelativeWish::Budget { factor }) => Wish::Budget {
            service_units: factor * application.least_cost() / 3_600.0,
        },
    }
}

/// When a site has worked off two copies of its jobs, and long after.
pub(super) fn horizon(jobs: &[Job], nodes: Nodes) -> Seconds {
    let last = jobs.iter().map(|job| job.submit).max();
    let longest = jobs.iter().map(|job| job.estimate).max();
    let area: i64 = jobs.iter().map(|job| job.fee().0).sum();
    let packed = Seconds(area / i64::from(nodes.0.max(1)));
    last.unwrap_or(Seconds::ZERO)
        + SECOND_COPY_SHIFT
        + packed * 2
        + longest.unwrap_or(Seconds::ZERO)
        + AFTER_THE_TRACE
}
