//! Workflows that are made or read, and the applications that planners of some sites see in them.

use super::ProvisionedSettings;
use super::made::{Made, SourcedWorkflow, application_key, instance};
use crate::provisioning::Application;
use bookahead_core::random;
use bookahead_core::units::Nodes;
use bookahead_core::workload::SiteSettings;
use bookahead_core::workload::workflows::{
    ApplicationSource, Task, Workflow, WorkflowError, cyber_shake, synthetic,
};
use bookahead_lab::study::inputs::InputError;
use std::sync::Arc;

fn undrawable(error: WorkflowError) -> InputError {
    InputError::Workflow(error.to_string())
}

/// The task that a single job is, for drawings: what it needs is known of each user alone.
fn a_job() -> Task {
    Task {
        name: "job".to_owned(),
        module: "job".to_owned(),
        nodes: Nodes(1),
        seconds: 1.0,
        seconds_by_resource: Vec::new(),
    }
}

impl Made<'_> {
    /// The application, or several as one.
    pub(super) fn workflow(
        &self,
        about: &ProvisionedSettings,
    ) -> Result<Arc<SourcedWorkflow>, Arc<InputError>> {
        let key = application_key(self.spec, about);
        self.shared.workflows.get(key, || {
            if about.users_percent.is_some() {
                let workflow = Workflow::new("jobs", vec![a_job()], Vec::new());
                return Ok(SourcedWorkflow {
                    workflow: Arc::new(workflow.map_err(undrawable)?),
                    hash: None,
                    parts: Vec::new(),
                });
            }
            let settings = &about.application;
            let number = settings.number();
            let first = instance(self.spec, about) * number;
            let of_source = 0..=settings.further;
            let mut read = of_source
                .map(|place| self.single(&settings.source, first + place))
                .collect::<Result<Vec<_>, InputError>>()?;
            if let ApplicationSource::File { negatives, .. } = settings.source {
                for file in &settings.further_files {
                    let (workflow, hash) = self.inputs.workflow(file, negatives)?;
                    read.push((workflow, Some(hash)));
                }
            }
            let (workflows, hashes): (Vec<Workflow>, Vec<Option<String>>) =
                read.into_iter().unzip();
            let workflows: Vec<Workflow> = (workflows.into_iter())
                .map(|workflow| workflow.in_shares(about.shares.of_task))
                .collect();
            let hashes: Option<Vec<String>> = hashes.into_iter().collect();
            Ok(SourcedWorkflow {
                workflow: Arc::new(Workflow::merged(&workflows).map_err(undrawable)?),
                hash: hashes.map(|hashes| hashes.join(",")),
                parts: match number {
                    1 => Vec::new(),
                    _ => Workflow::parts(&workflows),
                },
            })
        })
    }

    /// One workflow, with the hash of its file.
    fn single(
        &self,
        source: &ApplicationSource,
        instance: u32,
    ) -> Result<(Workflow, Option<String>), InputError> {
        let seed = self.spec.seed;
        // The streams are those of `bookahead workflow generate`.
        match source {
            ApplicationSource::Synthetic(settings) => {
                let mut stream = random::stream(seed, "synthetic-workflow", instance, "workflow");
                let workflow = synthetic(settings, &mut stream).map_err(undrawable)?;
                Ok((workflow, None))
            }
            ApplicationSource::CyberShake(settings) => {
                let mut stream = random::stream(seed, "cyber-shake-workflow", instance, "workflow");
                let workflow = cyber_shake(settings, &mut stream).map_err(undrawable)?;
                Ok((workflow, None))
            }
            ApplicationSource::File { file, negatives } => {
                let (workflow, hash) = self.inputs.workflow(file, *negatives)?;
                Ok((workflow, Some(hash)))
            }
        }
    }

    /// The application as planners see it: its workflow at the sites' speeds and prices, on their
    /// network, where its tasks run.
    pub(super) fn application(
        &self,
        about: &ProvisionedSettings,
    ) -> Result<Arc<Application>, Arc<InputError>> {
        let workflow = self.workflow(about)?;
        let shares = about.shares.of_processor;
        let size = |(place, site): (usize, &SiteSettings)| {
            let nodes = Nodes(site.workload.nodes.0 * shares);
            let memory = about.memory.of_site(place, nodes);
            memory.map_or(nodes, |memory| memory.most_reserved(nodes))
        };
        let sizes: Vec<Nodes> = about.sites.iter().enumerate().map(size).collect();
        let key = format!("{}|{sizes:?}", application_key(self.spec, about));
        self.shared.applications.get(key, || {
            let workflow = workflow.workflow.at_speeds(&about.speeds);
            let workflow = workflow.map_err(undrawable)?;
            let network = about.network.at_rate_of_a_slot(&about.application.network);
            let terms = about.network.terms(&network);
            let application = Application::of(&workflow, &sizes, &network)
                .map_err(|error| InputError::Workflow(error.to_string()))?;
            let application = application.priced(&about.prices).over(terms);
            let application = application.with_memory(about.memory.of_task);
            let application = self.bound_to_makes(about, application);
            let names = workflow.tasks().iter();
            let placeless = names.enumerate().find(|(task, _)| {
                let mut sites = sizes.iter().enumerate();
                !sites.any(|(site, most)| application.fits(*task, site, *most))
            });
            match placeless {
                None => Ok(application),
                Some((_, task)) => Err(InputError::Workflow(format!(
                    "task `{}` needs {} of the make `{}`, and no site of it is so large: lower \
                     `workflow.mean_nodes`, or bind tasks to another make",
                    task.name,
                    task.nodes,
                    (about.make.as_ref()).map_or("", |bound| bound.make.as_str()),
                ))),
            }
        })
    }
}
