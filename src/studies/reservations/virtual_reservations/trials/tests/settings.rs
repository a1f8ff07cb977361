//! Settings: what is refused, and how they are written.

use super::*;

#[test]
fn settings_out_of_range_are_named() {
    let base = small();
    let mut holes = base.clone();
    holes.replanning.admission = Admission::Holes;
    let mut forgetful = base.clone();
    forgetful.predictor.history = 0;
    for (key, settings) in [
        (
            "`nodes`",
            VirtualStudySettings {
                nodes: Nodes(5),
                ..base.clone()
            },
        ),
        (
            "`nodes`",
            VirtualStudySettings {
                nodes: Nodes(0),
                ..base.clone()
            },
        ),
        (
            "`duration`",
            VirtualStudySettings {
                duration: Seconds(0),
                ..base.clone()
            },
        ),
        (
            "`lead`",
            VirtualStudySettings {
                lead: Seconds(-1),
                ..base.clone()
            },
        ),
        (
            "`step`",
            VirtualStudySettings {
                step: Seconds(0),
                ..base.clone()
            },
        ),
        (
            "`penalty_factor`",
            VirtualStudySettings {
                penalty_factor: f64::NAN,
                ..base.clone()
            },
        ),
        (
            "`idle_limit`",
            VirtualStudySettings {
                idle_limit: Some(Seconds(0)),
                ..base.clone()
            },
        ),
        (
            "`instants`",
            VirtualStudySettings {
                instants: 0,
                ..base.clone()
            },
        ),
        (
            "`warm_up`",
            VirtualStudySettings {
                warm_up: Seconds(-1),
                ..base.clone()
            },
        ),
        ("`reserving.admission`", holes),
        ("`history`", forgetful),
    ] {
        let error = simulate_virtual(&[], Nodes(4), &settings, &mut stream(1)).unwrap_err();
        assert!(error.to_string().starts_with(key), "{error}");
    }
}

#[test]
fn settings_are_read_as_they_are_written() {
    let settings: VirtualStudySettings =
        toml::from_str("nodes = 64\nlead = 14400\npadding = \"once\"\ncombination = \"played\"")
            .unwrap();
    assert_eq!(
        (settings.nodes, settings.lead),
        (Nodes(64), Seconds::HOUR * 4)
    );
    assert_eq!(settings.combination, Combination::Played);
    let written = toml::to_string(&settings).unwrap();
    assert_eq!(
        toml::from_str::<VirtualStudySettings>(&written).unwrap(),
        settings
    );
}
