//! From what the file says to the requests of the co-reservation study.

use super::keys::RawRequests;
use bookahead_core::units::{NodeSeconds, Seconds};
use bookahead_core::workload::{
    Bursts, CoRequestSettings, LeadRule, PartNeed, Preference, RequestKinds, RequestPreset,
    SlackRule, TemplateSelection, WorkflowShape,
};
use bookahead_lab::keys::declaration::{Given, Table};
use bookahead_lab::keys::field::Field;
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// `[requests]`, resolved; the inner `None` for jobs only.
pub(super) fn requests(
    raw: &Table<RawRequests>,
    problems: &mut Problems,
) -> Option<Option<CoRequestSettings>> {
    if raw.place.is_none() {
        return Some(None);
    }
    let preset = preset(raw, problems);
    let base = preset.and_then(RequestPreset::settings);
    let jobs_only = preset.is_some() && base.is_none();
    let base = base.unwrap_or_default();
    // Everything is checked, also what is not read.
    let selection = selection(raw, base.selection, problems);
    let parts = raw.parts().or(base.parts, problems);
    let work = raw.total_cpu_seconds().or_default(problems);
    if raw.chance.is_some() {
        exclude(
            ("requests.total_cpu_seconds", &raw.total_cpu_seconds),
            ("requests.chance", &raw.chance),
            problems,
        )?;
    }
    let lead = lead(raw, base.lead, problems);
    let slack = slack(raw, base.slack, problems);
    let drop_every = raw.drop_every().or(base.drop_every.unwrap_or(0), problems);
    let drop_every = match drop_every {
        Some(1) => {
            raw.drop_every()
                .refuse("this would leave out every request", problems);
            None
        }
        other => other,
    };
    let bursts = raw
        .bursts()
        .limited(|bursts| bursts <= 1e6)
        .or_default(problems);
    let burst_hours = raw
        .burst_hours()
        .limited(|hours| hours * 3_600.0 >= 1.0 && hours <= 1e6)
        .or_default(problems);
    let preference = preference(raw, base.preference, problems);
    let kinds = kinds(raw, problems);
    let licences = need(raw.licences_percent(), raw.licences(), problems);
    let storage = need(raw.storage_percent(), raw.storage_gb(), problems);
    preset?;
    let bursts = match bursts? {
        0 => None,
        count => Some(Bursts {
            count,
            width: Seconds::from_hours(burst_hours?),
        }),
    };
    let settings = CoRequestSettings {
        selection: selection?,
        work: Some(NodeSeconds(i64::from(work?))).filter(|work| work.0 > 0),
        templates: raw.templates.unwrap_or_default(),
        slack: slack?,
        lead: lead?,
        parts: parts?,
        further_parts: raw.further_parts.unwrap_or(base.further_parts),
        drop_every: Some(drop_every?).filter(|every| *every > 0),
        bursts,
        preference: preference?,
        kinds: kinds?,
        licences: licences?,
        storage: storage?,
    };
    Some((!jobs_only).then_some(settings))
}

fn preset(raw: &RawRequests, problems: &mut Problems) -> Option<RequestPreset> {
    let name = raw.workload().name(problems)?;
    let found = RequestPreset::ALL.iter().find(|(_, known)| *known == name);
    found.map(|(preset, _)| *preset)
}

/// The inner `None` where every request is a co-reservation.
fn kinds(raw: &Table<RawRequests>, problems: &mut Problems) -> Option<Option<RequestKinds>> {
    let single_percent = raw.single_percent().or_default(problems);
    let workflow_percent = raw.workflow_percent().or_default(problems);
    let kinds = RequestKinds {
        single_percent: single_percent?,
        workflow_percent: workflow_percent?,
        tasks: tasks(raw, problems)?,
    };
    if kinds.single_percent + kinds.workflow_percent > 100.0 {
        raw.workflow_percent().refuse(
            "with `requests.single_percent` these are more than all requests",
            problems,
        );
        return None;
    }
    let is_mixed = kinds.single_percent > 0.0 || kinds.workflow_percent > 0.0;
    Some(is_mixed.then_some(kinds))
}

/// The inner `None` where no part needs any of it.
fn need(
    percent: Field<'_, Given<f64>>,
    each: Field<'_, Given<u32>>,
    problems: &mut Problems,
) -> Option<Option<PartNeed>> {
    let (percent, each) = (percent.or_default(problems), each.or_default(problems));
    let need = PartNeed {
        percent: percent?,
        each: each?,
    };
    Some((need.percent > 0.0).then_some(need))
}

fn tasks(raw: &Table<RawRequests>, problems: &mut Problems) -> Option<WorkflowShape> {
    exclude(
        ("requests.workflow_stages", &raw.workflow_stages),
        ("requests.workflow_file", &raw.workflow_file),
        problems,
    )?;
    match &raw.workflow_file {
        None => {
            let stages = raw.workflow_stages().or_default(problems);
            stages.map(WorkflowShape::Stages)
        }
        Some(file) if file.get_ref().trim().is_empty() => {
            raw.workflow_file().refuse("an empty file name", problems);
            None
        }
        Some(file) => Some(WorkflowShape::File(file.get_ref().clone())),
    }
}

fn selection(
    raw: &RawRequests,
    base: TemplateSelection,
    problems: &mut Problems,
) -> Option<TemplateSelection> {
    exclude(
        ("requests.count", &raw.count),
        ("requests.chance", &raw.chance),
        problems,
    )?;
    if let Some(probability) = raw.chance().checked(problems)? {
        return Some(TemplateSelection::Chance { probability });
    }
    let count = raw.count().checked(problems)?;
    Some(count.map_or(base, |count| TemplateSelection::Count { count }))
}

/// The weights, each on its own or both by α.
fn preference(raw: &RawRequests, base: Preference, problems: &mut Problems) -> Option<Preference> {
    for (key, given) in [
        ("requests.cost_weight", &raw.cost_weight),
        ("requests.start_weight", &raw.start_weight),
    ] {
        exclude((key, given), ("requests.alpha", &raw.alpha), problems)?;
    }
    let mix_weight = raw.mix_weight().or(base.mix_weight, problems);
    let degree_weight = raw.degree_weight().or(base.degree_weight, problems);
    if let Some(alpha) = raw.alpha().checked(problems)? {
        return Some(Preference {
            cost_weight: alpha,
            start_weight: 1.0 - alpha,
            mix_weight: mix_weight?,
            degree_weight: degree_weight?,
        });
    }
    let cost_weight = raw.cost_weight().or(base.cost_weight, problems);
    let start_weight = raw.start_weight().or(base.start_weight, problems);
    Some(Preference {
        cost_weight: cost_weight?,
        start_weight: start_weight?,
        mix_weight: mix_weight?,
        degree_weight: degree_weight?,
    })
}

fn lead(raw: &RawRequests, base: LeadRule, problems: &mut Problems) -> Option<LeadRule> {
    let (factor, seconds) = (&raw.lead_factor, &raw.lead_seconds);
    exclude(
        ("requests.lead_factor", factor),
        ("requests.lead_seconds", seconds),
        problems,
    )?;
    if let Some(factor) = raw.lead_factor().checked(problems)? {
        return Some(LeadRule::Factor { factor });
    }
    Some(seconds.as_ref().map_or(base, |given| LeadRule::Fixed {
        seconds: Seconds(i64::from(*given.get_ref())),
    }))
}

fn slack(raw: &RawRequests, base: SlackRule, problems: &mut Problems) -> Option<SlackRule> {
    let (factor, seconds) = (&raw.slack_factor, &raw.slack_seconds);
    exclude(
        ("requests.slack_factor", factor),
        ("requests.slack_seconds", seconds),
        problems,
    )?;
    let limit = raw.slack_limit_hours().limited(|hours| hours <= 1e6);
    let (given, most) = match base {
        SlackRule::Factor { factor, most } => {
            let given = raw.slack_factor().or(factor, problems);
            (given, limit.or(most.hours(), problems))
        }
        SlackRule::Fixed { .. } => {
            let given = raw.slack_factor().or(0.0, problems);
            (given, limit.or_default(problems))
        }
    };
    if let Some(seconds) = seconds {
        return Some(SlackRule::Fixed {
            seconds: Seconds(i64::from(*seconds.get_ref())),
        });
    }
    let (given, most) = (given?, Seconds::from_hours(most?));
    Some(match base {
        SlackRule::Fixed { .. } if factor.is_none() => base,
        _ => SlackRule::Factor {
            factor: given,
            most,
        },
    })
}

/// Says where two keys are given of which only one is read.
pub(super) fn exclude<A, B>(
    (first, one): (&str, &Given<A>),
    (second, other): (&str, &Given<B>),
    problems: &mut Problems,
) -> Option<()> {
    match (one, other) {
        (Some(_), Some(other)) => {
            problems.add(
                ProblemKind::Conflict,
                second,
                other.span(),
                format!("{first} and {second} exclude each other"),
                "keep exactly one of them",
            );
            None
        }
        _ => Some(()),
    }
}
