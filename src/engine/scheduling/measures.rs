//! Every quantity that a study measures beside the totals of its jobs: one line each, and the store, the reports and the
//! claims know it.

/// A quantity with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its name in the store, in CSV files and in claims.
    pub name: &'static str,
    /// Its unit, for people; empty for counts and ratios.
    pub unit: &'static str,
    /// What it is, as a heading, with the unit.
    pub title: &'static str,
    /// Decimals in tables for people.
    pub decimals: usize,
    /// Where reports show it.
    pub topic: Topic,
}

/// Where a report shows a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// Requests: asked, granted, refused.
    Reservations,
    /// What reservations cost others, in delay or money.
    Prices,
    /// How long jobs and reservations wait.
    Waits,
    /// How much of the machine is used.
    Machine,
    /// Advertised slots.
    Slots,
    /// Virtual against real reservations.
    Virtual,
    /// Predictions of waits against what came true.
    Predictions,
    /// Co-reservation: requests across clusters.
    CoReservations,
    /// What a broker and its clusters say to each other.
    Messages,
    /// What co-reservations do to local jobs.
    Fairness,
    /// Parts that clusters lost, and what became of their requests.
    LostParts,
    /// Promised risk, and what it cost.
    Risk,
    /// One cluster beside the others.
    Clusters,
    /// Workflows that buy their resources.
    Workflows,
    /// What a plan met when it was carried out: slots gone, node failures, other people's jobs.
    CarriedOut,
    /// In the store and in tables of figures only.
    Detail,
}

const fn measure(
    name: &'static str,
    unit: &'static str,
    title: &'static str,
    decimals: usize,
    topic: Topic,
) -> Measure {
    Measure {
        name,
        unit,
        title,
        decimals,
        topic,
    }
}

/// All measures, in the order in which tables show them.
pub const MEASURES: &[Measure] = &[
    measure("requests", "", "Requests", 0, Topic::Detail),
    measure("granted", "", "Reservations granted", 0, Topic::Detail),
    measure(
        "rejected_percent",
        "%",
        "Requests rejected (%)",
        2,
        Topic::Reservations,
    ),
    measure(
        "rejected_fixed_percent",
        "%",
        "Rejected for running jobs or reservations (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "rejected_planned_percent",
        "%",
        "Rejected for planned jobs (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "rejected_impossible_percent",
        "%",
        "Impossible requests (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "reservations_used_percent",
        "%",
        "Machine used by reservations (%)",
        2,
        Topic::Reservations,
    ),
    measure(
        "held_idle_percent",
        "%",
        "Held by reservations and not used (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "loaded_utilisation_percent",
        "%",
        "Utilisation while jobs are submitted (%)",
        2,
        Topic::Machine,
    ),
    measure(
        "job_wait_hours",
        "h",
        "Mean wait of jobs (h)",
        3,
        Topic::Waits,
    ),
    measure(
        "reservation_wait_hours",
        "h",
        "Mean wait of reservations (h)",
        3,
        Topic::Waits,
    ),
    measure(
        "wait_ratio",
        "",
        "Wait of reservations ÷ wait of jobs",
        3,
        Topic::Waits,
    ),
    measure(
        "price_su",
        "SU",
        "Mean additive price (SU)",
        3,
        Topic::Prices,
    ),
    measure(
        "price_deviation_su",
        "SU",
        "Deviation of the price within a simulation (SU)",
        2,
        Topic::Detail,
    ),
    measure(
        "priced_percent",
        "%",
        "Reservations with a price above 0 (%)",
        2,
        Topic::Prices,
    ),
    measure("offers_mean", "", "Offers a request", 1, Topic::Detail),
    measure(
        "displaced_jobs_mean",
        "",
        "Jobs displaced a reservation",
        3,
        Topic::Prices,
    ),
    measure(
        "displaced_hours_mean",
        "h",
        "Delay inflicted a reservation (h)",
        3,
        Topic::Prices,
    ),
    measure(
        "anomalies",
        "",
        "Jobs moved back by planning anew",
        0,
        Topic::Detail,
    ),
    measure(
        "flexible_rejected_percent",
        "%",
        "Flexible jobs rejected (%)",
        2,
        Topic::Reservations,
    ),
    measure(
        "flexible_fees_vc",
        "VC",
        "Fees of flexible jobs (VC)",
        0,
        Topic::Prices,
    ),
    measure(
        "flexible_forfeited_vc",
        "VC",
        "Forfeited fees of flexible jobs (VC)",
        0,
        Topic::Prices,
    ),
    measure(
        "reservation_fees_vc",
        "VC",
        "Fees of reservations (VC)",
        0,
        Topic::Prices,
    ),
    measure(
        "reservation_forfeited_vc",
        "VC",
        "Forfeited fees of reservations (VC)",
        0,
        Topic::Detail,
    ),
    measure("slots_mean", "", "Advertised slots", 2, Topic::Slots),
    measure("tasks_mean", "", "Tasks in the system", 1, Topic::Slots),
    measure(
        "slots_tasks_correlation",
        "",
        "Correlation of slots and tasks",
        3,
        Topic::Slots,
    ),
    measure(
        "slot_start_p50_hours",
        "h",
        "Median start of a slot (h)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_start_p95_hours",
        "h",
        "95 % quantile of the start of a slot (h)",
        2,
        Topic::Slots,
    ),
    measure(
        "slot_duration_p50_hours",
        "h",
        "Median duration of a slot (h)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_duration_p95_hours",
        "h",
        "95 % quantile of the duration of a slot (h)",
        2,
        Topic::Slots,
    ),
    measure(
        "narrow_slots_percent",
        "%",
        "Slots of at most 9 nodes (%)",
        1,
        Topic::Slots,
    ),
    measure(
        "edge_slots_percent",
        "%",
        "Slots that nothing is planned behind (%)",
        1,
        Topic::Slots,
    ),
    measure(
        "slots_around_16_peak",
        "",
        "Slots in the bin of 16 nodes ÷ mean of its neighbours",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_around_32_peak",
        "",
        "Slots in the bin of 32 nodes ÷ mean of its neighbours",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_around_64_peak",
        "",
        "Slots in the bin of 64 nodes ÷ the bin before",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_samples",
        "",
        "Samples of the slot list",
        0,
        Topic::Detail,
    ),
    measure(
        "slots_0_1",
        "%",
        "Samples with 0–1 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_2_4",
        "%",
        "Samples with 2–4 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_5_7",
        "%",
        "Samples with 5–7 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_8_10",
        "%",
        "Samples with 8–10 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_11_13",
        "%",
        "Samples with 11–13 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_14_16",
        "%",
        "Samples with 14–16 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_17_19",
        "%",
        "Samples with 17–19 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_20_22",
        "%",
        "Samples with 20–22 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_23_25",
        "%",
        "Samples with 23–25 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_26_28",
        "%",
        "Samples with 26–28 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_29_31",
        "%",
        "Samples with 29–31 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_32_34",
        "%",
        "Samples with 32–34 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_35_37",
        "%",
        "Samples with 35–37 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_38_40",
        "%",
        "Samples with 38–40 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_41_43",
        "%",
        "Samples with 41–43 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_44_46",
        "%",
        "Samples with 44–46 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_47_49",
        "%",
        "Samples with 47–49 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_50_52",
        "%",
        "Samples with 50–52 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_53_55",
        "%",
        "Samples with 53–55 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_56_58",
        "%",
        "Samples with 56–58 slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slots_more",
        "%",
        "Samples with more slots (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_1",
        "%",
        "Slots of 1 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_2_5",
        "%",
        "Slots of 2–5 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_6_9",
        "%",
        "Slots of 6–9 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_10_13",
        "%",
        "Slots of 10–13 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_14_17",
        "%",
        "Slots of 14–17 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_18_21",
        "%",
        "Slots of 18–21 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_22_25",
        "%",
        "Slots of 22–25 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_26_29",
        "%",
        "Slots of 26–29 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_30_33",
        "%",
        "Slots of 30–33 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_34_37",
        "%",
        "Slots of 34–37 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_38_41",
        "%",
        "Slots of 38–41 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_42_45",
        "%",
        "Slots of 42–45 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_46_49",
        "%",
        "Slots of 46–49 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_50_53",
        "%",
        "Slots of 50–53 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_54_57",
        "%",
        "Slots of 54–57 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_58_61",
        "%",
        "Slots of 58–61 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_62_65",
        "%",
        "Slots of 62–65 nodes (%)",
        2,
        Topic::Detail,
    ),
    measure(
        "slot_nodes_more",
        "%",
        "Slots of more nodes (%)",
        2,
        Topic::Detail,
    ),
    measure("trials", "", "Trials", 0, Topic::Detail),
    measure(
        "var_cost",
        "",
        "Cost of virtual reservations (÷ nodes·duration)",
        3,
        Topic::Virtual,
    ),
    measure("var_bound", "", "Bound of that cost", 3, Topic::Detail),
    measure(
        "var_bound_when_asked",
        "",
        "Published bound of that cost",
        3,
        Topic::Detail,
    ),
    measure(
        "var_successes",
        "",
        "Virtual reservations that succeeded",
        0,
        Topic::Detail,
    ),
    measure(
        "ar_successes",
        "",
        "Reservations that succeeded",
        0,
        Topic::Detail,
    ),
    measure(
        "combined_successes",
        "",
        "Combined schemes that succeeded",
        0,
        Topic::Detail,
    ),
    measure(
        "combined_cost_where_ar",
        "",
        "Cost of the combined scheme where the reservation was granted",
        3,
        Topic::Detail,
    ),
    measure(
        "var_cost_where_both",
        "",
        "Cost of virtual reservations where both succeeded",
        3,
        Topic::Detail,
    ),
    measure(
        "ar_cost_where_both",
        "",
        "Cost of reservations where both succeeded",
        3,
        Topic::Detail,
    ),
    measure(
        "combined_uses_var_percent",
        "%",
        "Trials in which the combined scheme keeps the virtual one (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "var_submitted_percent",
        "%",
        "Trials in which a padded job was submitted (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "var_started_late_percent",
        "%",
        "Trials in which the padded job started too late (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "var_success_percent",
        "%",
        "Success of virtual reservations (%)",
        1,
        Topic::Virtual,
    ),
    measure(
        "ar_cost",
        "",
        "Cost of reservations (÷ nodes·duration)",
        3,
        Topic::Virtual,
    ),
    measure(
        "ar_success_percent",
        "%",
        "Success of reservations (%)",
        1,
        Topic::Virtual,
    ),
    measure(
        "ar_free_percent",
        "%",
        "Reservations at price 0 (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "combined_cost",
        "",
        "Cost of the combined scheme (÷ nodes·duration)",
        3,
        Topic::Virtual,
    ),
    measure(
        "combined_success_percent",
        "%",
        "Success of the combined scheme (%)",
        1,
        Topic::Virtual,
    ),
    measure(
        "var_cheaper_percent",
        "%",
        "Trials in which the virtual one is cheaper (%)",
        1,
        Topic::Virtual,
    ),
    measure(
        "ar_cheaper_percent",
        "%",
        "Trials in which the real one is cheaper (%)",
        1,
        Topic::Virtual,
    ),
    measure(
        "only_var_percent",
        "%",
        "Trials in which only the virtual one succeeds (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "only_ar_percent",
        "%",
        "Trials in which only the real one succeeds (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "neither_percent",
        "%",
        "Trials in which neither succeeds (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "worst_var_over_bound",
        "",
        "Largest cost minus bound of a virtual reservation",
        3,
        Topic::Detail,
    ),
    measure(
        "worst_combined_over_ar",
        "",
        "Largest cost of the combined scheme minus that of the reservation",
        3,
        Topic::Detail,
    ),
    measure(
        "failure_correlation",
        "",
        "Correlation of the failures of both",
        2,
        Topic::Detail,
    ),
    measure(
        "prediction_mean",
        "",
        "Predicted probability of the chosen submissions",
        3,
        Topic::Predictions,
    ),
    measure(
        "brier_score",
        "",
        "Brier score of predicted waits",
        4,
        Topic::Predictions,
    ),
    measure(
        "bound_coverage_50_percent",
        "%",
        "Waits within the bound of the 50 % quantile (%)",
        1,
        Topic::Predictions,
    ),
    measure(
        "bound_coverage_75_percent",
        "%",
        "Waits within the bound of the 75 % quantile (%)",
        1,
        Topic::Predictions,
    ),
    measure(
        "bound_coverage_95_percent",
        "%",
        "Waits within the bound of the 95 % quantile (%)",
        1,
        Topic::Predictions,
    ),
    measure(
        "co_requests",
        "",
        "Co-reservation requests",
        0,
        Topic::Detail,
    ),
    measure(
        "co_granted",
        "",
        "Co-reservations granted",
        0,
        Topic::Detail,
    ),
    measure(
        "co_failure_rate",
        "",
        "Failure rate of co-reservations",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_no_candidate_rate",
        "",
        "Failed without any candidate",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_refused_rate",
        "",
        "Failed with every candidate refused",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_candidates_mean",
        "",
        "Mean complete candidates of a request",
        1,
        Topic::Detail,
    ),
    measure(
        "co_relative_start_mean",
        "",
        "Mean relative start offset",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_relative_start_deviation",
        "",
        "Standard deviation of the relative start offset",
        3,
        Topic::Detail,
    ),
    measure(
        "co_relative_cost_mean",
        "",
        "Mean relative cost offset",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_relative_cost_deviation",
        "",
        "Standard deviation of the relative cost offset",
        3,
        Topic::Detail,
    ),
    measure(
        "co_weekend1_relative_start_mean",
        "",
        "Mean relative start offset at the first weekend",
        3,
        Topic::Detail,
    ),
    measure(
        "co_weekend1_relative_cost_mean",
        "",
        "Mean relative cost offset at the first weekend",
        3,
        Topic::Detail,
    ),
    measure(
        "co_weekend2_relative_start_mean",
        "",
        "Mean relative start offset at the second weekend",
        3,
        Topic::Detail,
    ),
    measure(
        "co_weekend2_relative_cost_mean",
        "",
        "Mean relative cost offset at the second weekend",
        3,
        Topic::Detail,
    ),
    measure(
        "co_window_start_mean",
        "",
        "Mean start offset within the window asked for",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_window_start_latest_mean",
        "",
        "Mean start offset up to the latest candidate start",
        3,
        Topic::Detail,
    ),
    measure(
        "co_at_earliest_share",
        "",
        "Share of requests that start at the earliest start asked for",
        3,
        Topic::CoReservations,
    ),
    measure(
        "co_cost_mean",
        "",
        "Mean total cost",
        1,
        Topic::CoReservations,
    ),
    measure(
        "co_day_share",
        "",
        "Share of granted requests entirely by day",
        3,
        Topic::Detail,
    ),
    measure(
        "co_night_share",
        "",
        "Share of granted requests entirely by night",
        3,
        Topic::Detail,
    ),
    measure(
        "co_granted_work_hours",
        "CPU·h",
        "Mean work of a granted request (CPU·h)",
        1,
        Topic::Detail,
    ),
    measure(
        "co_lead_hours",
        "h",
        "Mean lead time of granted requests (h)",
        2,
        Topic::CoReservations,
    ),
    measure(
        "messages_total",
        "",
        "Reserve and cancel messages",
        0,
        Topic::Messages,
    ),
    measure(
        "messages_mean",
        "",
        "Mean messages a request",
        2,
        Topic::Messages,
    ),
    measure(
        "messages_deviation",
        "",
        "Standard deviation of messages a request",
        2,
        Topic::Detail,
    ),
    measure(
        "messages_max",
        "",
        "Messages of the least efficient request",
        0,
        Topic::Messages,
    ),
    measure(
        "messages_max_worst_case",
        "",
        "Worst case of that request",
        0,
        Topic::Detail,
    ),
    measure(
        "messages_max_candidates",
        "",
        "Candidates of that request",
        0,
        Topic::Detail,
    ),
    measure(
        "messages_with_probes_total",
        "",
        "Messages with status queries",
        0,
        Topic::Messages,
    ),
    measure(
        "messages_part_failures",
        "",
        "Parts refused",
        0,
        Topic::Messages,
    ),
    measure(
        "messages_cancellations",
        "",
        "Parts given back",
        0,
        Topic::Messages,
    ),
    measure(
        "messages_beyond_minimum",
        "",
        "Messages beyond one a part of granted requests",
        0,
        Topic::Detail,
    ),
    measure(
        "messages_timed_out",
        "",
        "Answers that did not come in time",
        0,
        Topic::Detail,
    ),
    measure(
        "messages_repeated",
        "",
        "Messages sent again",
        0,
        Topic::Detail,
    ),
    measure(
        "reservation_efficiency_mean",
        "",
        "Mean reservation efficiency",
        4,
        Topic::Messages,
    ),
    measure(
        "top_request_message_share",
        "",
        "Share of all messages that one request took",
        3,
        Topic::Detail,
    ),
    measure(
        "unfairness_mean",
        "",
        "Mean unfairness degree",
        3,
        Topic::Fairness,
    ),
    measure(
        "unfairness_deviation",
        "",
        "Standard deviation of the unfairness degree",
        3,
        Topic::Detail,
    ),
    measure(
        "expansion_factor_mean",
        "",
        "Mean expansion factor of jobs",
        3,
        Topic::Fairness,
    ),
    measure(
        "longest_wait_seconds",
        "s",
        "Longest wait of a job (s)",
        0,
        Topic::Fairness,
    ),
    measure(
        "ten_longest_waits_seconds",
        "s",
        "Mean of the ten longest waits (s)",
        0,
        Topic::Fairness,
    ),
    measure(
        "drain_hours",
        "h",
        "Drained after the end of submissions (h)",
        1,
        Topic::Detail,
    ),
    measure(
        "grid_utilisation_percent",
        "%",
        "Utilisation of all clusters (%)",
        2,
        Topic::Machine,
    ),
    measure(
        "grid_job_percent",
        "%",
        "Utilisation by jobs (%)",
        2,
        Topic::Machine,
    ),
    measure(
        "grid_part_percent",
        "%",
        "Utilisation by reservations (%)",
        2,
        Topic::Machine,
    ),
    measure(
        "grid_backlog_hours",
        "h",
        "Mean backlog time at queries (h)",
        2,
        Topic::Fairness,
    ),
    measure(
        "co_lost_rate",
        "",
        "Share of granted requests that lost a part",
        4,
        Topic::LostParts,
    ),
    measure(
        "co_kept_rate",
        "",
        "Share of requests that were granted and kept every part, or had it replaced",
        4,
        Topic::Detail,
    ),
    measure(
        "co_replaced_rate",
        "",
        "Share of lost parts that were replaced",
        4,
        Topic::LostParts,
    ),
    measure(
        "co_pof_mean",
        "",
        "Mean promised probability of failure",
        4,
        Topic::Risk,
    ),
    measure(
        "co_risk_cost_mean",
        "",
        "Mean expected cost: price and PoF × penalty",
        1,
        Topic::Risk,
    ),
    measure(
        "co_realised_cost_mean",
        "",
        "Mean cost after penalties that were paid back",
        1,
        Topic::Risk,
    ),
    measure(
        "leaked_cpu_seconds",
        "CPU·s",
        "CPU-seconds held by parts that belong to no granted request and were never given back",
        0,
        Topic::Detail,
    ),
    measure(
        "undecided_cpu_seconds",
        "CPU·s",
        "CPU-seconds held by parts that were given back after they had begun",
        0,
        Topic::Detail,
    ),
    // Workflows that buy their resources (spec `provisioning.md` §10). `wf_` is the plan, or best effort where that is the search.
    measure(
        "wf_makespan_hours",
        "h",
        "Makespan (h)",
        2,
        Topic::Workflows,
    ),
    measure(
        "wf_cost_su",
        "SU",
        "Allocation cost (SU)",
        1,
        Topic::Workflows,
    ),
    measure(
        "wf_makespan_ratio",
        "",
        "Makespan ÷ best effort",
        3,
        Topic::Workflows,
    ),
    measure(
        "wf_cost_ratio",
        "",
        "Allocation cost ÷ best effort",
        3,
        Topic::Workflows,
    ),
    measure(
        "wf_planned_percent",
        "%",
        "Applications with a plan (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "be_makespan_hours",
        "h",
        "Makespan of best effort (h)",
        2,
        Topic::Workflows,
    ),
    measure(
        "be_cost_su",
        "SU",
        "Allocation cost of best effort (SU)",
        1,
        Topic::Detail,
    ),
    measure(
        "wf_idle_su",
        "SU",
        "Paid and idle (SU)",
        1,
        Topic::Workflows,
    ),
    measure(
        "wf_externality_su",
        "SU",
        "Paid for the delay of others (SU)",
        1,
        Topic::Workflows,
    ),
    measure(
        "wf_slots_offered",
        "",
        "Slots to choose from",
        1,
        Topic::Detail,
    ),
    measure("wf_slots_bought", "", "Slots bought", 1, Topic::Workflows),
    measure(
        "wf_front_size",
        "",
        "Plans on the Pareto front",
        1,
        Topic::Workflows,
    ),
    measure(
        "wf_hypervolume",
        "",
        "Hypervolume of the Pareto front",
        4,
        Topic::Workflows,
    ),
    measure("wf_evaluations", "", "Plans evaluated", 0, Topic::Detail),
    measure(
        "wf_infeasible_percent",
        "%",
        "Evaluated plans that do not fit (%)",
        1,
        Topic::Detail,
    ),
    measure("wf_queries", "", "Queries answered", 0, Topic::Detail),
    measure("wf_offers", "", "Offers a query", 1, Topic::Detail),
    measure(
        "wf_deadline_met_percent",
        "%",
        "Deadlines met (%)",
        1,
        Topic::Workflows,
    ),
    measure(
        "be_deadline_met_percent",
        "%",
        "Deadlines met by best effort (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "wf_within_budget_percent",
        "%",
        "Budgets kept (%)",
        1,
        Topic::Workflows,
    ),
    measure(
        "wf_completed_percent",
        "%",
        "Applications completed (%)",
        1,
        Topic::CarriedOut,
    ),
    measure(
        "wf_realised_makespan_hours",
        "h",
        "Makespan when carried out (h)",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "wf_realised_cost_su",
        "SU",
        "Paid when carried out (SU)",
        1,
        Topic::CarriedOut,
    ),
    measure(
        "wf_wasted_su",
        "SU",
        "Paid for nothing (SU)",
        1,
        Topic::CarriedOut,
    ),
    measure(
        "wf_slots_gone",
        "",
        "Slots gone when reserved",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "wf_replans",
        "",
        "Plans made anew for slots gone",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "wf_lost_tasks",
        "",
        "Tasks lost to node failures",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "wf_reprovisioned",
        "",
        "Plans made anew after failures",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "others_jobs",
        "",
        "Jobs of others compared",
        0,
        Topic::Detail,
    ),
    measure(
        "others_wait_hours",
        "h",
        "Wait of others (h)",
        3,
        Topic::CarriedOut,
    ),
    measure(
        "others_undisturbed_wait_hours",
        "h",
        "Wait of others without applications (h)",
        3,
        Topic::Detail,
    ),
    measure(
        "others_added_wait_minutes",
        "min",
        "Wait added to others (min)",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "others_delayed_percent",
        "%",
        "Jobs of others delayed (%)",
        2,
        Topic::CarriedOut,
    ),
    measure(
        "others_slowdown_ratio",
        "",
        "Slowdown of others ÷ undisturbed",
        3,
        Topic::CarriedOut,
    ),
    measure(
        "site_utilisation_percent",
        "%",
        "Utilisation by own jobs (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "site_copied_percent",
        "%",
        "Jobs copied for the load (%)",
        1,
        Topic::Detail,
    ),
    measure(
        "site_kept_percent",
        "%",
        "Jobs kept for the load (%)",
        1,
        Topic::Detail,
    ),
];

/// Finds a measure by name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

/// Measured values by name. Names that are no measure are a defect that debug builds find.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured(Vec<(&'static str, f64)>);

impl Measured {
    /// Adds a value; one that is not finite is undefined and left out.
    pub fn add(&mut self, name: &'static str, value: f64) {
        debug_assert!(find(name).is_some(), "{name} is a measure");
        if value.is_finite() {
            self.0.push((name, value));
        }
    }

    /// Adds a ratio, where its denominator is not 0.
    pub fn add_ratio(&mut self, name: &'static str, above: f64, below: f64) {
        if below != 0.0 {
            self.add(name, above / below);
        }
    }

    /// Names and values in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.0.iter().copied()
    }

    /// A value by name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_measure_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = MEASURES.iter().map(|measure| measure.name).collect();
        assert_eq!(names.len(), MEASURES.len());
    }

    #[test]
    fn what_is_not_defined_is_left_out() {
        let mut measured = Measured::default();
        measured.add_ratio("price_su", 1.0, 0.0);
        measured.add("wait_ratio", f64::NAN);
        measured.add_ratio("var_cost", 1.0, 4.0);
        assert_eq!(measured.iter().collect::<Vec<_>>(), [("var_cost", 0.25)]);
    }
}
