//! What simulations of provisioning read, each prepared once and shared: sites at their load, the application, the sites at the
//! submission instants, best effort and genetic searches from them.

use std::convert::Infallible;
use std::sync::Arc;

use super::{FailureRequest, InputError, Inputs, PreparedWorkload, battery, json};
use crate::brokering::provisioning::{
    Application, Background, BestEffortRun, Commitment, Genetic, ProvisioningInputs,
    ProvisioningSettings, SiteWorkload, Wish, best_effort, common_window, draw_instants, load_site,
    search_advertised, search_stream,
};
use crate::failures::{FailureSource, FailureTrace};
use crate::random;
use crate::sweep::parallel::map_in_parallel;
use crate::sweep::spec::{ProvisionedSettings, RelativeWish, SimulationSpec};
use crate::units::{Nodes, Seconds};
use crate::workload::workflows::{
    ApplicationSource, Instances, Workflow, WorkflowError, cyber_shake, synthetic,
};
use crate::workload::{Job, SECOND_COPY_SHIFT, SiteSettings};

/// Failures are made until so long after a site's own jobs are worked off, for applications that come late and take long.
const AFTER_THE_TRACE: Seconds = Seconds(100 * 86_400);

/// A workflow with the hash of what it was read from; `None` where it was drawn.
pub(super) type SourcedWorkflow = (Arc<Workflow>, Option<String>);

fn undrawable(error: WorkflowError) -> InputError {
    InputError::Workflow(error.to_string())
}

impl Inputs {
    /// Content hashes of the sites behind the first, and of the workflow's file.
    pub(super) fn provisioned_hashes(
        &self,
        spec: &SimulationSpec,
    ) -> Result<(Vec<String>, Option<String>), Arc<InputError>> {
        let Some((_, about)) = spec.provisioned() else {
            return Ok((Vec::new(), None));
        };
        let more = about.sites.iter().skip(1);
        let sites = more
            .map(|site| Ok(self.site_trace(spec, site)?.content_hash.clone()))
            .collect::<Result<_, Arc<InputError>>>()?;
        Ok((sites, self.workflow(spec, about)?.1.clone()))
    }

    /// Makes what is made before the first simulation: sites at their load, application, failures; neither replays nor searches.
    pub(super) fn prepare_provisioned(&self, spec: &SimulationSpec) -> Result<(), Arc<InputError>> {
        let Some((_, about)) = spec.provisioned() else {
            return Ok(());
        };
        self.application(spec, about)?;
        self.sites(spec, about).map(drop)
    }

    /// Everything of a study of provisioning, and its settings with the wish in numbers.
    pub(super) fn provisioning(
        &self,
        spec: &SimulationSpec,
    ) -> Result<Option<(Arc<ProvisioningInputs>, ProvisioningSettings)>, Arc<InputError>> {
        let Some((settings, about)) = spec.provisioned() else {
            return Ok(None);
        };
        let workflow = self.workflow(spec, about)?.0.clone();
        let application = self.application(spec, about)?;
        let sites = self.sites(spec, about)?;
        let background_key = background_key(spec, settings, about);
        let background = self.background(&background_key, spec, settings, &sites)?;
        let mut instants: Vec<usize> = match settings.commitment {
            Commitment::Discarded => vec![spec.replication as usize],
            Commitment::Committed { submissions } => {
                let submissions = submissions as usize;
                let first = spec.replication as usize * submissions;
                (first..first + submissions).collect()
            }
        };
        instants.sort_by_key(|&instant| (background.instants[instant], instant));
        let key = format!("{background_key}|{}", application_key(spec, about));
        let best_effort = instants
            .iter()
            .map(|&instant| self.best_effort(&key, &sites, &background, &application, instant))
            .collect::<Result<Vec<_>, _>>()?;
        // What was found holds where slots are as they were at the instant: not after a latency, nor beside committed plans.
        let shared = settings.is_genetic()
            && settings.latency == Seconds::ZERO
            && settings.commitment == Commitment::Discarded;
        let searched = match instants.first() {
            Some(&instant) if shared => {
                Some(self.searched(&key, spec, settings, &background, &application, instant)?)
            }
            _ => None,
        };
        let settings = ProvisioningSettings {
            wish: absolute(settings.wish, about.relative_wish, &application),
            ..settings.clone()
        };
        let inputs = ProvisioningInputs {
            sites: Arc::clone(&sites),
            workflow,
            application,
            background,
            instants,
            best_effort,
            searched,
        };
        Ok(Some((Arc::new(inputs), settings)))
    }

    /// The jobs of a site before anything is done about its load.
    fn site_trace(
        &self,
        spec: &SimulationSpec,
        site: &SiteSettings,
    ) -> Result<Arc<PreparedWorkload>, Arc<InputError>> {
        self.workload_of(&site.workload, spec.seed)
    }

    /// All sites, with the failures of their nodes.
    fn sites(
        &self,
        spec: &SimulationSpec,
        about: &ProvisionedSettings,
    ) -> Result<Arc<Arc<[SiteWorkload]>>, Arc<InputError>> {
        let failures = json(&spec.failures);
        let key = format!("{}|{}|{failures}", spec.seed, json(&about.sites));
        self.site_sets.get_shared(key, || {
            let sites = about
                .sites
                .iter()
                .enumerate()
                .map(|(place, settings)| {
                    let site = self.loaded_site(spec, settings)?;
                    Ok(SiteWorkload {
                        failures: self.site_failures(spec, settings, place)?,
                        ..site.as_ref().clone()
                    })
                })
                .collect::<Result<Vec<_>, Arc<InputError>>>()?;
            Ok(sites.into())
        })
    }

    fn loaded_site(
        &self,
        spec: &SimulationSpec,
        settings: &SiteSettings,
    ) -> Result<Arc<SiteWorkload>, Arc<InputError>> {
        let trace = self.site_trace(spec, settings)?;
        let jobs = battery(&trace, &of_site(spec, settings))?;
        let workload = &settings.workload;
        let key = format!("{}|{}", spec.seed, json(settings));
        self.loaded_sites.get(key, || {
            // The source alone: all loads and sizes of a trace see the same draws.
            let draws = self.sources.source_key(workload);
            load_site(
                &trace.label,
                jobs,
                workload.nodes,
                settings.utilisation_percent,
                spec.seed,
                &draws,
            )
            .map_err(|error| InputError::Workload(error.to_string()))
        })
    }

    /// The failures of a site's nodes; each site has its own, the same for every submission.
    pub(super) fn site_failures(
        &self,
        spec: &SimulationSpec,
        settings: &SiteSettings,
        place: usize,
    ) -> Result<Arc<FailureTrace>, Arc<InputError>> {
        if spec.failures.source == FailureSource::None {
            return Ok(Arc::default());
        }
        let trace = self.site_trace(spec, settings)?;
        let jobs = battery(&trace, &of_site(spec, settings))?;
        let nodes = settings.workload.nodes;
        let workload_key = format!(
            "{}|site {place}",
            self.sources.source_key(&settings.workload)
        );
        self.failures_of(&FailureRequest {
            settings: &spec.failures,
            nodes,
            horizon: horizon(&jobs, nodes),
            seed: spec.seed,
            workload_key: &workload_key,
            replication: 0,
        })
    }

    fn workflow(
        &self,
        spec: &SimulationSpec,
        about: &ProvisionedSettings,
    ) -> Result<Arc<SourcedWorkflow>, Arc<InputError>> {
        let source = &about.application.source;
        let instance = instance(spec, about);
        let key = format!("{}|{instance}|{}", spec.seed, json(source));
        self.workflows.get(key, || match source {
            // The streams are those of `bookahead workflow generate`.
            ApplicationSource::Synthetic(settings) => {
                let mut stream =
                    random::stream(spec.seed, "synthetic-workflow", instance, "workflow");
                let workflow = synthetic(settings, &mut stream).map_err(undrawable)?;
                Ok((Arc::new(workflow), None))
            }
            ApplicationSource::CyberShake(settings) => {
                let mut stream =
                    random::stream(spec.seed, "cyber-shake-workflow", instance, "workflow");
                let workflow = cyber_shake(settings, &mut stream).map_err(undrawable)?;
                Ok((Arc::new(workflow), None))
            }
            ApplicationSource::File { file, negatives } => {
                let (workflow, hash) = self.sources.workflow(file, *negatives)?;
                Ok((Arc::new(workflow), Some(hash)))
            }
        })
    }

    fn application(
        &self,
        spec: &SimulationSpec,
        about: &ProvisionedSettings,
    ) -> Result<Arc<Application>, Arc<InputError>> {
        let workflow = self.workflow(spec, about)?;
        let sizes: Vec<Nodes> = about.sites.iter().map(|site| site.workload.nodes).collect();
        let key = format!("{}|{sizes:?}", application_key(spec, about));
        self.applications.get(key, || {
            Application::of(&workflow.0, &sizes, &about.application.network)
                .map_err(|error| InputError::Workflow(error.to_string()))
        })
    }

    fn background(
        &self,
        key: &str,
        spec: &SimulationSpec,
        settings: &ProvisioningSettings,
        sites: &[SiteWorkload],
    ) -> Result<Arc<Background>, Arc<InputError>> {
        self.backgrounds.get(key.to_owned(), || {
            let window = common_window(sites).ok_or_else(|| {
                InputError::Workload(
                    "the traces of the sites have no time in common: choose others, or more days"
                        .to_owned(),
                )
            })?;
            let instants = draw_instants(window, spec.seed, instants_of(spec, settings));
            Ok(replay_beside_each_other(sites, settings, &instants))
        })
    }

    fn best_effort(
        &self,
        key: &str,
        sites: &[SiteWorkload],
        background: &Background,
        application: &Application,
        instant: usize,
    ) -> Result<Arc<BestEffortRun>, Arc<InputError>> {
        self.best_efforts.get(format!("{key}|{instant}"), || {
            best_effort(application, background.fork(sites, instant)).ok_or_else(|| {
                InputError::Workload(
                    "best effort comes to no end: a task was lost in a queue".to_owned(),
                )
            })
        })
    }

    fn searched(
        &self,
        key: &str,
        spec: &SimulationSpec,
        settings: &ProvisioningSettings,
        background: &Background,
        application: &Application,
        instant: usize,
    ) -> Result<Arc<Genetic>, Arc<InputError>> {
        let how = (settings.search, &settings.genetic, settings.site_choice);
        let key = format!("{key}|{}|{instant}", json(&how));
        self.searches.get(key, || {
            // The stream that a broker would draw its first search from.
            let mut stream = random::stream(
                spec.seed,
                &self.sources.workload_key(&spec.workload),
                spec.replication,
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

/// The replay of all sites. Every simulation waits for it, and no site knows of another: each has its own thread.
fn replay_beside_each_other(
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
    };
    for part in parts {
        for (all, own) in whole.snapshots.iter_mut().zip(part.snapshots) {
            all.extend(own);
        }
        whole.starts.extend(part.starts);
    }
    whole
}

/// Instants that are prepared: as many as the sweep asks for, and at least those of this simulation.
fn instants_of(spec: &SimulationSpec, settings: &ProvisioningSettings) -> u32 {
    let own = (spec.replication + 1).saturating_mul(settings.submissions());
    settings.instants.max(own)
}

fn background_key(
    spec: &SimulationSpec,
    settings: &ProvisioningSettings,
    about: &ProvisionedSettings,
) -> String {
    format!(
        "{}|{}|{}|{}|{}",
        spec.seed,
        json(&about.sites),
        json(&settings.provider),
        json(&settings.reserving),
        instants_of(spec, settings)
    )
}

fn application_key(spec: &SimulationSpec, about: &ProvisionedSettings) -> String {
    let instance = instance(spec, about);
    format!("{}|{instance}|{}", spec.seed, json(&about.application))
}

/// The number of the workflow (AMB-16b).
fn instance(spec: &SimulationSpec, about: &ProvisionedSettings) -> u32 {
    match about.application.instances {
        Instances::One => 0,
        Instances::OneAReplication => spec.replication,
    }
}

/// The specification as if the site's workload were the first one's.
fn of_site(spec: &SimulationSpec, site: &SiteSettings) -> SimulationSpec {
    SimulationSpec {
        workload: site.workload.clone(),
        ..spec.clone()
    }
}

/// The wish in numbers.
fn absolute(wish: Wish, relative: Option<RelativeWish>, application: &Application) -> Wish {
    match relative {
        None => wish,
        Some(RelativeWish::Deadline { factor }) => {
            let longest = application.longest_path().0 as f64;
            Wish::Deadline {
                after: Seconds((factor * longest).round() as i64),
            }
        }
        Some(RelativeWish::Budget { factor }) => Wish::Budget {
            service_units: factor * application.least_work().0 as f64 / 3_600.0,
        },
    }
}

/// When a site has worked off two copies of its jobs, and long after.
fn horizon(jobs: &[Job], nodes: Nodes) -> Seconds {
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

#[cfg(test)]
#[path = "provisioned_tests.rs"]
mod tests;
