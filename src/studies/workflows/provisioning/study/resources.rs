//! What sites have beside processors: memory, and a make.

use super::made::{Made, instance, of_site};
use super::{JobMemory, ProvisionedSettings};
use crate::provisioning::Application;
use bookahead_core::random;
use bookahead_core::units::Megabytes;
use bookahead_core::workload::Job;
use bookahead_core::workload::swf::SwfRecord;
use bookahead_lab::study::inputs::InputError;
use std::collections::HashMap;
use std::sync::Arc;

impl Made<'_> {
    /// The own jobs of a site that counts its memory, with what they take of it.
    pub(super) fn with_memory(
        &self,
        about: &ProvisionedSettings,
        site: usize,
        jobs: &[Job],
    ) -> Result<Arc<[Job]>, InputError> {
        let settings = &about.sites[site];
        let each = about.memory.of_processors[site];
        let recorded: HashMap<i64, Megabytes> = match about.memory.of_jobs {
            JobMemory::Share => HashMap::new(),
            JobMemory::Log => {
                let trace = self.inputs.raw_records(&of_site(self.spec, settings))?;
                let records = trace.records.iter();
                let recorded: HashMap<i64, Megabytes> = records
                    .filter_map(|record| Some((record.job_number, recorded(record)?)))
                    .collect();
                if recorded.is_empty() {
                    return Err(InputError::Workload(format!(
                        "{} says of no job how much memory it asked for or used: say \
                         `sites.job_memory = \"share\"`, or choose another log",
                        trace.label
                    )));
                }
                recorded
            }
        };
        let size = each.of_nodes(settings.workload.nodes);
        let with_memory = |job: &Job| {
            let own = recorded.get(&job.trace_number).copied().unwrap_or(each);
            job.clone().with_memory(own.of_nodes(job.nodes).min(size))
        };
        Ok(jobs.iter().map(with_memory).collect())
    }

    /// The application whose tasks run on the makes that they are bound to.
    pub(super) fn bound_to_makes(
        &self,
        about: &ProvisionedSettings,
        application: Application,
    ) -> Application {
        let Some(bound) = &about.make else {
            return application;
        };
        let number = instance(self.spec, about);
        let mut draws = random::stream(self.spec.seed, "makes of tasks", number, "make");
        let runs_at = bound.drawn(application.tasks().len(), &mut draws);
        application.running_at(runs_at)
    }
}

/// What a record says of the memory of each processor: asked for, else used.
fn recorded(record: &SwfRecord) -> Option<Megabytes> {
    let said = [record.requested_memory, record.used_memory];
    let kilobytes = said.into_iter().find(|kilobytes| *kilobytes > 0.0)?;
    Some(Megabytes::from_kilobytes(kilobytes))
}
