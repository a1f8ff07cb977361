//! What sites held, for a drawing: their own jobs as they run without applications, and every slot
//! that was bought.

use super::Rows;
use crate::provisioning::ProvisioningInputs;
use bookahead_lab::study::{Held, MachineUse, SimulationResult};

/// One machine a site, in order.
pub(super) fn by_site(inputs: &ProvisioningInputs, result: &SimulationResult) -> Vec<MachineUse> {
    let run = (result.rows.get::<Rows>()).and_then(|rows| rows.run.as_ref());
    let outcomes = run.map_or(&[][..], |run| &run.outcomes);
    let starts = &inputs.background.starts;
    let machines = inputs.sites.iter().enumerate();
    let machines = machines.map(|(number, site)| {
        let jobs = site
            .jobs
            .iter()
            .zip(starts.get(number).into_iter().flatten());
        let jobs = jobs.filter_map(|(job, start)| {
            let start = (*start)?;
            Some(Held {
                kind: "jobs of the site, without applications",
                start,
                end: start + job.runtime.min(job.estimate),
                nodes: job.nodes,
            })
        });
        let bought = outcomes.iter().flat_map(|outcome| &outcome.slots);
        let bought = bought
            .filter(|bought| bought.site == number)
            .map(|bought| Held {
                kind: "slots that applications bought",
                start: bought.slot.start,
                end: bought.slot.end,
                nodes: bought.slot.nodes,
            });
        MachineUse {
            name: format!("site {number}"),
            nodes: site.nodes,
            held: jobs.chain(bought).collect(),
        }
    });
    machines.collect()
}
