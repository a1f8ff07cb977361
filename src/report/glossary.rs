//! The words of the field and of this program that reports use, each in a sentence or two.
//! `docs/glossary.md` has the same.

/// A word, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The word.
    pub name: &'static str,
    /// Other words for it, and abbreviations.
    pub others: &'static [&'static str],
    /// What it means.
    pub meaning: &'static str,
    /// The page of the manual that says more.
    pub page: &'static str,
}

const fn term(
    name: &'static str,
    others: &'static [&'static str],
    meaning: &'static str,
    page: &'static str,
) -> Term {
    Term {
        name,
        others,
        meaning,
        page,
    }
}

/// The words.
pub const TERMS: &[Term] = &[
    term(
        "indifference zone",
        &["δ"],
        "Differences that do not matter to whoever selects: a selected value is within the zone of the best, with the wanted probability.",
        "docs/adaptive.md",
    ),
    term(
        "rung",
        &[],
        "A batch of replications that is complete before a rule decides which settings have further ones.",
        "docs/adaptive.md",
    ),
    term(
        "survivor",
        &["survived"],
        "A value that a selection has not eliminated: it cannot be told from the best.",
        "docs/adaptive.md",
    ),
    term(
        "α",
        &["alpha"],
        "How much cost counts against time when a request or a workflow chooses: 0 takes what is soonest, 1 what is cheapest.",
        "docs/model.md",
    ),
    term(
        "advance reservation",
        &["reservation"],
        "Nodes that are promised for a time in the future, before it is known what the machine does until then.",
        "docs/model.md",
    ),
    term(
        "alignment",
        &[],
        "At which time of a recorded log of failures the first job of a workload arrives. A paper that does not say it leaves several open.",
        "docs/fidelity.md",
    ),
    term(
        "backfilling",
        &["EASY", "conservative backfilling"],
        "Letting a later job start early in a gap that delays nobody who was promised a start: under EASY the first job of the queue, under conservative backfilling every job.",
        "docs/strategies.md",
    ),
    term(
        "baseline",
        &[],
        "The strategy that an overbooking strategy is compared with: the same planning without overbooking.",
        "docs/strategies.md",
    ),
    term(
        "battery",
        &["batteries"],
        "A stretch of consecutive jobs of a log, simulated by itself with jobs before it to learn from. Batteries of one log are replications about that stretch of that log.",
        "docs/statistics.md",
    ),
    term(
        "best-effort job",
        &["job without a promise", "job without promises"],
        "A job that was promised nothing: it runs where nothing more important needs the nodes, gives way at once, and is owed nothing.",
        "docs/model.md",
    ),
    term(
        "calibration",
        &["calibration error"],
        "Whether promised risks come true: of the jobs that were promised a probability of failure of 10 %, a tenth fails. The calibration error is the mean distance between both.",
        "docs/calibration.md",
    ),
    term(
        "capacity provider",
        &["provider"],
        "Who runs a cluster, sells its time and pays when a promise is broken.",
        "docs/model.md",
    ),
    term(
        "co-reservation",
        &["co-allocation"],
        "A request for parts on several clusters that have to start together; a broker looks for a start at which all of them are promised.",
        "docs/co-reservation.md",
    ),
    term(
        "estimate",
        &["wall time", "requested time"],
        "The run time that a user asks for. Jobs that run longer are ended; most run much shorter, which is what overbooking sells.",
        "docs/model.md",
    ),
    term(
        "fee",
        &["fees"],
        "What a job that was successful pays: its nodes times its estimate, whatever it used, in virtual coins.",
        "docs/model.md",
    ),
    term(
        "finding",
        &["claim"],
        "One statement of a paper that a reproduction tests: a number with its tolerance, an order, or a bound.",
        "docs/fidelity.md",
    ),
    term(
        "gain",
        &[],
        "Fees of jobs that were successful less penalties of those that were accepted and failed, in virtual coins.",
        "docs/model.md",
    ),
    term(
        "interval",
        &["confidence interval"],
        "A range computed so that, in 95 of 100 such experiments, it contains the mean of the population that the replications are drawn from. It says nothing about any other population.",
        "docs/statistics.md",
    ),
    term(
        "laxity",
        &[],
        "How many times its estimate a job may take from its submission to its deadline.",
        "docs/model.md",
    ),
    term(
        "load",
        &["target load"],
        "The work that jobs ask for, divided by what the machine can do in the time in which they arrive.",
        "docs/configuration.md",
    ),
    term(
        "optimism",
        &[],
        "How much better the best of several settings looks because it was chosen and judged on the same replications.",
        "docs/calibration.md",
    ),
    term(
        "overbooking",
        &["overbooked job"],
        "Promising a slot that is shorter than a job's estimate, because the job will probably end earlier.",
        "docs/strategies.md",
    ),
    term(
        "paired",
        &["pair"],
        "Compared replication by replication where both settings saw the same jobs and failures, so that what differs is the setting alone.",
        "docs/statistics.md",
    ),
    term(
        "penalty ratio",
        &["ρ", "rho", "penalty_ratio"],
        "What a broken promise costs, in fees of the job. A promise with probability of failure p just pays at p = 1 ÷ (1 + ρ).",
        "docs/model.md",
    ),
    term(
        "planning",
        &["planning-based"],
        "Giving every job its start when it is submitted, in place of queueing it: the machine can promise when a job runs.",
        "docs/model.md",
    ),
    term(
        "PoF",
        &["probability of failure"],
        "The probability with which a job that is offered a slot will not end in it: because it runs longer than the slot, or because a node fails.",
        "docs/model.md",
    ),
    term(
        "PoF threshold",
        &["threshold", "PoF_max", "pof_max"],
        "The probability of failure from which on an overbooked slot is refused.",
        "docs/configuration.md",
    ),
    term(
        "promise",
        &["promised start"],
        "The slot that a job was told when it was accepted. Its start and its end can each be kept or broken.",
        "docs/measurements/promises.md",
    ),
    term(
        "reading",
        &["readings"],
        "One way to understand a passage of a paper that can be understood in several; each is a configuration, and a reproduction says what it changes.",
        "docs/fidelity.md",
    ),
    term(
        "replication",
        &["replications", "n"],
        "One independent repetition of a setting with jobs and failures of its own. Their number is n; it is the unit of every interval.",
        "docs/statistics.md",
    ),
    term(
        "significant",
        &[],
        "Said of a difference whose 95 % interval does not contain 0. Comparisons of runs say as well which differences remain after correction for their number.",
        "docs/statistics.md",
    ),
    term(
        "situation",
        &[],
        "One value for each axis that describes what a provider meets (load, laxity, penalty ratio) and does not choose.",
        "docs/statistics.md",
    ),
    term(
        "skill",
        &[],
        "How much better promised risks tell failures than their mean does: 1 is perfect, 0 no better, below 0 the mean would have been the better promise.",
        "docs/calibration.md",
    ),
    term(
        "slot",
        &["slots"],
        "Nodes from one instant to another, as a plan has them free or sells them.",
        "docs/model.md",
    ),
    term(
        "surplus",
        &[],
        "What a strategy earns more than its baseline, paired by replication.",
        "docs/statistics.md",
    ),
    term(
        "twin job",
        &["twin", "twin jobs"],
        "A job of the shape of a granted reservation that is queued in a copy of the machine when the reservation is asked for: what its owner could have done instead.",
        "docs/model.md",
    ),
    term(
        "VC",
        &["virtual coin", "coin", "coins"],
        "A virtual coin: the price of one node for one hour.",
        "docs/configuration.md",
    ),
];

/// The term that is called so, in any case.
#[must_use]
pub fn find(word: &str) -> Option<&'static Term> {
    let is_it = |name: &str| name.to_lowercase() == word.trim().to_lowercase();
    let mut terms = TERMS.iter();
    terms.find(|term| is_it(term.name) || term.others.iter().any(|name| is_it(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_every_other_word_for_it_is_that_of_one_term() {
        let words =
            |term: &'static Term| [term.name].into_iter().chain(term.others.iter().copied());
        for word in TERMS.iter().flat_map(words) {
            let found = find(&word.to_uppercase()).expect("a term");
            assert!(found.name == word || found.others.contains(&word), "{word}");
            let has_it = |term: &&'static Term| {
                words(term).any(|other| other.to_lowercase() == word.to_lowercase())
            };
            assert_eq!(TERMS.iter().filter(has_it).count(), 1, "{word}");
        }
        assert_eq!(find("no such word"), None);
    }
}
