//! From what the file says to the requests of the co-reservation study.

use toml::Spanned;

use super::keys::RawRequests;
use crate::sweep::keys::declaration::{Given, Table};
use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::resolve::{out_of_range, real, unknown_name, whole};
use crate::units::{NodeSeconds, Seconds};
use crate::workload::{
    Bursts, CoRequestSettings, LeadRule, MOST_PARTS, RequestPreset, SlackRule, TemplateSelection,
};

/// `[requests]`, resolved; the inner `None` for jobs only.
pub(super) fn requests(
    raw: &Table<RawRequests>,
    problems: &mut Problems,
) -> Option<Option<CoRequestSettings>> {
    if raw.place.is_none() {
        return Some(None);
    }
    let preset = preset(raw.workload.as_ref(), problems);
    let base = preset.and_then(RequestPreset::settings);
    let jobs_only = preset.is_some() && base.is_none();
    let base = base.unwrap_or_default();
    // Everything is checked, also what is not read.
    let selection = selection(raw, base.selection, problems);
    let parts = whole(
        "requests.parts",
        &raw.parts,
        base.parts,
        1..=MOST_PARTS,
        problems,
    );
    let work = whole(
        "requests.total_cpu_seconds",
        &raw.total_cpu_seconds,
        0,
        0..=u32::MAX,
        problems,
    );
    if raw.chance.is_some() {
        exclude(
            ("requests.total_cpu_seconds", &raw.total_cpu_seconds),
            ("requests.chance", &raw.chance),
            problems,
        )?;
    }
    let lead = lead(raw, base.lead, problems);
    let slack = slack(raw, base.slack, problems);
    let drop_every = whole(
        "requests.drop_every",
        &raw.drop_every,
        base.drop_every.unwrap_or(0),
        0..=u32::MAX,
        problems,
    );
    let drop_every = match drop_every {
        Some(1) => {
            let span = raw.drop_every.as_ref().map_or(0..0, Spanned::span);
            let message = "this would leave out every request";
            out_of_range("requests.drop_every", span, message, problems);
            None
        }
        other => other,
    };
    let bursts = whole("requests.bursts", &raw.bursts, 0, 0..=1_000_000, problems);
    let burst_hours = real(
        "requests.burst_hours",
        &raw.burst_hours,
        6.0,
        |hours| hours * 3_600.0 >= 1.0 && hours <= 1e6,
        problems,
    );
    let weight = |key, given, default, problems: &mut Problems| {
        real(
            key,
            given,
            default,
            |weight| (0.0..=1.0).contains(&weight),
            problems,
        )
    };
    let cost_weight = weight(
        "requests.cost_weight",
        &raw.cost_weight,
        base.preference.cost_weight,
        problems,
    );
    let start_weight = weight(
        "requests.start_weight",
        &raw.start_weight,
        base.preference.start_weight,
        problems,
    );
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
        preference: crate::workload::Preference {
            cost_weight: cost_weight?,
            start_weight: start_weight?,
        },
    };
    Some((!jobs_only).then_some(settings))
}

fn preset(given: Option<&Spanned<String>>, problems: &mut Problems) -> Option<RequestPreset> {
    let Some(name) = given else {
        return Some(RequestPreset::default());
    };
    let found = RequestPreset::ALL
        .iter()
        .find(|(_, known)| known == name.get_ref());
    if found.is_none() {
        let known = RequestPreset::ALL.map(|(_, name)| name);
        unknown_name("requests.workload", name, &known, problems);
    }
    found.map(|(preset, _)| *preset)
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
    if raw.chance.is_some() {
        let fits = |chance: f64| chance > 0.0 && chance <= 1.0;
        let probability = real("requests.chance", &raw.chance, 0.1, fits, problems)?;
        return Some(TemplateSelection::Chance { probability });
    }
    if raw.count.is_none() {
        return Some(base);
    }
    let count = whole("requests.count", &raw.count, 213, 1..=u32::MAX, problems)?;
    Some(TemplateSelection::Count { count })
}

fn lead(raw: &RawRequests, base: LeadRule, problems: &mut Problems) -> Option<LeadRule> {
    let (factor, seconds) = (&raw.lead_factor, &raw.lead_seconds);
    exclude(
        ("requests.lead_factor", factor),
        ("requests.lead_seconds", seconds),
        problems,
    )?;
    if factor.is_some() {
        let factor = real("requests.lead_factor", factor, 0.0, is_factor, problems)?;
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
    let default = |factor| match base {
        SlackRule::Factor { factor, most } => (factor, most),
        SlackRule::Fixed { .. } => (factor, Seconds(86_400)),
    };
    let given = real(
        "requests.slack_factor",
        factor,
        default(6.0).0,
        is_factor,
        problems,
    );
    let most = real(
        "requests.slack_limit_hours",
        &raw.slack_limit_hours,
        default(6.0).1.hours(),
        |hours| (0.0..=1e6).contains(&hours),
        problems,
    );
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

fn is_factor(factor: f64) -> bool {
    (0.0..=1_000.0).contains(&factor)
}

/// Says where two keys are given of which only one is read.
fn exclude<A, B>(
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
