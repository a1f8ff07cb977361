//! Keys of failures: those that nodes meet, and what the planner believes of them.

use super::declaration::{Given, integers, named, one_of, real, reals, text};
use crate::scheduling::SurvivalForm;
use crate::section;

section! {
    /// The failures that nodes meet.
    FAILURES = "failures", RawFailures {
        /// Where failures come from.
        source: Given<String> = one_of(|| vec!["none", "lanl", "generated"]).default_is("none"),
        /// The LANL table of failures.
        file: Given<String> = text("the file name of the LANL table, with or without .gz or .xz"),
        /// The systems of the LANL table that are taken.
        systems: Given<Vec<u32>> = integers(0)
            .words("different system numbers of the LANL table")
            .default_is("[18, 19]"),
        /// Where on the failure clock a simulation starts.
        offset_hours: Given<f64> = real()
            .words("hours of the failure clock at the start (default 0); negative ones are a lead-in without failures")
            .default_in_words("0")
            .decides("A-29"),
        /// The model of up-times.
        survival: Given<String> = one_of(|| vec!["poisson", "weibull", "hyper-exponential"])
            .default_is("poisson"),
        /// The failure rate of the Poisson model.
        rate_per_hour: Given<f64> = real().from(0.0)
            .note(" failures an hour and node")
            .default_is("1.2904e-4"),
        /// The shape of the Weibull model.
        shape: Given<f64> = real().above(0.0).words("a Weibull shape above 0").default_is("0.7"),
        /// The scale of the Weibull model.
        scale_hours: Given<f64> = real().above(0.0)
            .words("a Weibull scale above 0 hours")
            .default_is("7749.5"),
        /// The weights of the hyper-exponential model.
        probabilities: Given<Vec<f64>> = reals().from(0.0).to(1.0)
            .words("probabilities that sum to 1, one for each of rates_per_hour"),
        /// The rates of the hyper-exponential model.
        rates_per_hour: Given<Vec<f64>> = reals().from(0.0)
            .words("rates of 0 or more an hour, one for each of probabilities"),
        /// The repair rate of a node.
        repair_rate_per_hour: Given<f64> = real().above(0.0)
            .note(" repairs an hour")
            .default_is("0.4333"),
        /// How many failures follow a failure that the model draws.
        burst_followers: Given<f64> = real().from(0.0).to(100.0)
            .note(" on the average")
            .default_is("0.0"),
        /// How long after it they come.
        burst_delay_hours: Given<f64> = real().above(0.0)
            .note(" hours on the average")
            .default_is("1.0"),
        /// How many of them hit the same node; the others hit any.
        burst_same_node: Given<f64> = real().from(0.0).to(1.0)
            .note(", a share")
            .default_is("0.5"),
        /// The rate by hour of the day, from the hour after time 0 of the failure clock on; scaled
        /// to the mean 1.
        hour_factors: Given<Vec<f64>> = reals().from(0.0)
            .words("24 factors of 0 or more, not all 0"),
        /// The rate on Saturdays and Sundays for 1 on working days, from the Monday on that begins
        /// at time 0 of the failure clock; scaled to the mean 1 of a week.
        weekend_factor: Given<f64> = real().from(0.0).default_is("1.0"),
        /// How much more a machine of age 0 fails, as a share of the rate that remains.
        early_excess: Given<f64> = real().from(0.0).default_is("0.0"),
        /// The age at which that excess has fallen to 1/e.
        early_decay_hours: Given<f64> = real().above(0.0)
            .note(" hours")
            .default_is("4383.0"),
        /// How the rate of drawn failures follows the load of the cluster.
        load_factor: Given<f64> = real().from(0.0).to(100.0)
            .words("γ from 0 (not at all) to 100: the rate is max(0, 1 + γ · (u/ū − 1)) times that of the Poisson model where the part u of the nodes runs jobs; for policies on one cluster")
            .default_is("0.0")
            .decides("Birkenheuer 2012 §3.3.1"),
        /// The load at which the rate is that of the model.
        mean_load: Given<f64> = real().above(0.0).to(1.0)
            .note(", ū, with load_factor")
            .default_is("0.5"),
    }
}

section! {
    /// What the planner believes of the nodes.
    RELIABILITY = "reliability", RawReliability {
        /// The model of survival.
        survival: Given<String> = one_of(|| vec!["poisson", "weibull", "hyper-exponential"])
            .default_is("poisson"),
        /// The failure rate of the Poisson model.
        rate_per_hour: Given<f64> = real().from(0.0)
            .note(" failures an hour and node")
            .default_is("1.2904e-4"),
        /// The shape of the Weibull model.
        shape: Given<f64> = real().above(0.0).words("a Weibull shape above 0").default_is("0.7"),
        /// The scale of the Weibull model.
        scale_hours: Given<f64> = real().above(0.0)
            .words("a Weibull scale above 0 hours")
            .default_is("7749.5"),
        /// The weights of the hyper-exponential model.
        probabilities: Given<Vec<f64>> = reals().from(0.0).to(1.0)
            .words("probabilities that sum to 1, one for each of rates_per_hour"),
        /// The rates of the hyper-exponential model.
        rates_per_hour: Given<Vec<f64>> = reals().from(0.0)
            .words("rates of 0 or more an hour, one for each of probabilities"),
        /// λ of the availability of a node.
        failure_rate_per_hour: Given<f64> = real().from(0.0)
            .note(" failures an hour")
            .default_is("1.2904e-4")
            .decides("A-01"),
        /// μ of the availability of a node.
        repair_rate_per_hour: Given<f64> = real().above(0.0)
            .note(" repairs an hour")
            .default_is("0.4333")
            .decides("A-01"),
        /// Whether survival is computed correctly, or as printed.
        form: Option<SurvivalForm> = named::<SurvivalForm>().decides("A-02"),
        /// Whether each node has rates of its own, learned from the failures before the simulation
        /// starts.
        nodes: Given<String> = one_of(|| vec!["common", "learned"]).default_is("common").decides("A-06"),
        /// Which of several equally free nodes is taken: the one with the lowest number, or the
        /// most reliable one.
        node_order: Given<String> = one_of(|| vec!["index", "reliability"]).default_is("index"),
        /// How many failures the common rates weigh where rates of nodes are learned.
        prior_failures: Given<f64> = real().above(0.0).default_is("1.0"),
        /// What is believed of the rate by hour of the day: P_success takes the hours that a slot
        /// lies in.
        hour_factors: Given<Vec<f64>> = reals().from(0.0)
            .words("24 factors of 0 or more, not all 0; scaled to the mean 1 (default: 1 at all hours)")
            .decides("Birkenheuer 2012 §3.3.1"),
        /// What is believed of the rate at weekends, for 1 on working days.
        weekend_factor: Given<f64> = real().from(0.0)
            .note("; scaled to the mean 1 of a week")
            .default_is("1.0"),
        /// What is believed of how much more a new machine fails.
        early_excess: Given<f64> = real().from(0.0)
            .note(", a share of the rate that remains")
            .default_is("0.0"),
        /// The age at which that is believed to have fallen to 1/e.
        early_decay_hours: Given<f64> = real().above(0.0)
            .note(" hours")
            .default_is("4383.0"),
        /// How the rate is believed to follow the load.
        load_factor: Given<f64> = real().from(0.0).to(100.0)
            .words("γ from 0 (not at all) to 100: P_success takes max(0, 1 + γ · (u/ū − 1)) times the rate, where u is the part of the nodes that is planned in the slot on the average")
            .default_is("0.0")
            .decides("Birkenheuer 2012 §3.3.1"),
        /// The load at which it is believed to be the rate of the model.
        mean_load: Given<f64> = real().above(0.0).to(1.0)
            .note(", ū, with load_factor")
            .default_is("0.5"),
    }
}
