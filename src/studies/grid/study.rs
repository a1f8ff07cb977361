//! What studies of a broker have in common: the policy of its clusters, by the tables that every
//! study has.

use bookahead_core::scheduling::PolicySpec;
use bookahead_lab::study::CommonSettings;
use bookahead_overbooking::registry;
use bookahead_overbooking::study::policy_read;

/// What a policy of this name reads of `[scheduling]`, `[checkpoint]` and `[penalty]`; `None` where
/// that is nothing but defaults. Its name, its acceptance test and its reliability are those of the
/// study, and what calibrates promises needs batteries that were run before: they are the defaults
/// here.
pub(crate) fn cluster_policy(common: &CommonSettings<'_>, strategy: &str) -> Option<PolicySpec> {
    let default = PolicySpec::default();
    let given = PolicySpec {
        strategy: default.strategy.clone(),
        acceptance: default.acceptance,
        reliability: default.reliability.clone(),
        calibration: default.calibration,
        adapt_security_factor: default.adapt_security_factor,
        ..common.scheduling.clone()
    };
    if given == default {
        return None;
    }
    let known = registry::strategy(strategy);
    let read = |policy: PolicySpec| PolicySpec {
        strategy: default.strategy.clone(),
        acceptance: default.acceptance,
        reliability: default.reliability.clone(),
        ..policy_read(known, common.failures, policy)
    };
    let (read, unread) = (read(given), read(default.clone()));
    (read != unread).then_some(read)
}
