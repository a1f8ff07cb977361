//! Makes of sites, and which tasks run on one of them alone.

use super::RawTables;
use crate::provisioning::study::BoundTasks;
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::keys::suggest;

/// The tasks that run on one make alone; the inner `None` where all run on every make.
pub(super) fn make(
    own: &RawTables,
    count: usize,
    problems: &mut Problems,
) -> Option<Option<BoundTasks>> {
    let (makes, make) = (&own.sites.makes, own.workflow.make());
    let percent = own.workflow.make_percent().or_default(problems)?;
    let known: Vec<&str> = (makes.iter().flat_map(|list| list.get_ref()))
        .map(String::as_str)
        .collect();
    if known.iter().any(|name| name.trim().is_empty()) {
        own.sites.makes().refuse("an empty name", problems);
        return None;
    }
    let Some(wanted) = make.given.as_ref().map(|name| name.get_ref().as_str()) else {
        if let Some(place) = own.workflow.make_percent.as_ref().map(toml::Spanned::span) {
            problems.add(
                ProblemKind::Missing,
                "workflow.make",
                place,
                "it is not said on which make these tasks run",
                "say `workflow.make`, one of `sites.makes`",
            );
            return None;
        }
        return Some(None);
    };
    let of_sites = known.iter().cycle().take(count.min(64));
    let sites: Vec<bool> = of_sites.map(|make| *make == wanted).collect();
    if !sites.contains(&true) {
        problems.add(
            ProblemKind::UnknownName,
            make.key.path,
            make.place(),
            format!("no site is of the make `{wanted}`"),
            match known.as_slice() {
                [] => "say `sites.makes`, a name for each site".to_owned(),
                known => suggest(wanted, known),
            },
        );
        return None;
    }
    let binds = percent > 0.0 && sites.contains(&false);
    Some(binds.then(|| BoundTasks {
        make: wanted.to_owned(),
        sites,
        percent,
    }))
}
