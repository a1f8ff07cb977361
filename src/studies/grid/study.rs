//! What studies of a broker have in common: the policy of its clusters, by the tables that every
//! study has.

use bookahead_core::scheduling::PolicySpec;
use bookahead_lab::study::CommonSettings;
use bookahead_overbooking::registry;
use bookahead_overbooking::study::policy_read;

/// What a policy of this name reads of `[scheduling]`, `[checkpoint]` and `[penalty]`; `None` where
/// that is nothing but defaults. Its name, its acceptance test and its reliability are those of the
/// study, and what calibrates promises needs batteries that were run before: they are the defaults
/// here. No job of theirs runs twice, none passes the first of a queue at a risk, and clusters that
/// do not overbook have no statistics that tell who underestimates.
pub(crate) fn cluster_policy(common: &CommonSettings<'_>, strategy: &str) -> Option<PolicySpec> {
    let default = PolicySpec::default();
    let known = registry::strategy(strategy);
    let given = PolicySpec {
        strategy: default.strategy.clone(),
        acceptance: default.acceptance,
        reliability: default.reliability.clone(),
        calibration: default.calibration,
        adapt_security_factor: default.adapt_security_factor,
        double_execution: default.double_execution,
        backfill_risk: default.backfill_risk,
        underestimators: if known.is_none_or(|known| known.overbooks) {
            common.scheduling.underestimators
        } else {
            default.underestimators
        },
        ..common.scheduling.clone()
    };
    if given == default {
        return None;
    }
    let read = |policy: PolicySpec| PolicySpec {
        strategy: default.strategy.clone(),
        acceptance: default.acceptance,
        reliability: default.reliability.clone(),
        ..policy_read(known, common.failures, policy)
    };
    let (read, unread) = (read(given), read(default.clone()));
    (read != unread).then_some(read)
}

#[cfg(test)]
mod tests {
    use bookahead_core::plan::{ShelfFit, ShelfRule};
    use bookahead_core::scheduling::Retry;
    use bookahead_core::units::Seconds;
    use bookahead_lab::study::{Studies, study};
    use bookahead_lab::sweep::Experiment;
    use bookahead_overbooking::study::OverbookingStudy;

    use super::*;
    use crate::market::study::MarketStudy;

    /// The policy of a market's clusters, with these lines at the end of `[scheduling]`.
    fn policy(more: &str) -> PolicySpec {
        const STUDIES: Studies =
            Studies::new(&[study::<OverbookingStudy>(), study::<MarketStudy>()]);
        let text = format!(
            "[experiment]\nname = \"m\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 900\nnodes = 32\n\
             battery_jobs = 300\nload.value = 2.0\n[scheduling]\nstrategy = \"market\"\n{more}"
        );
        let experiment = Experiment::parse(STUDIES, "m.toml", &text, None);
        let experiment = experiment.unwrap_or_else(|error| panic!("{error}"));
        let spec = experiment.sweep.simulations.iter().next();
        let market = spec
            .expect("a simulation")
            .study
            .get::<MarketStudy>()
            .cloned();
        market.expect("a market").settings.policy
    }

    #[test]
    fn clusters_of_a_market_plan_by_the_common_tables() {
        let plain = policy("");
        assert_eq!((plain.retry, plain.penalty), (Retry::Events, None));
        let own = policy("retry = \"repairs\"\n[penalty]\nfunction = \"linear\"\n");
        assert_eq!(own.retry, Retry::Repairs);
        assert!(own.penalty.is_some());
        assert_eq!(own.strategy, plain.strategy);
        assert_eq!(own.acceptance, plain.acceptance);
    }

    #[test]
    fn only_clusters_that_plan_in_shelves_read_how_these_are() {
        let shelves = |strategy: &str| {
            let keys = "shelf_fit = \"next\"\nshelf_ratio = 0.7\nshelf_hours = 18.0\n";
            policy(&format!("{keys}[clusters]\npolicy = \"{strategy}\"\n")).shelves
        };
        let given = ShelfRule {
            fit: ShelfFit::Next,
            ratio: 0.7,
            height: Seconds::HOUR * 18,
        };
        assert_eq!(shelves("shelf-backfilling"), given);
        assert_eq!(shelves("conservative-backfilling"), ShelfRule::default());
    }
}
