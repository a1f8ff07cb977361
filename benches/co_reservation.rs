//! How long the first candidate of a co-reservation request takes, and what a search occupies:
//! `cargo bench --bench co_reservation`. 12 clusters, 6 parts, 200 starts, every candidate admitted
//! (14,400), one thread. What the columns mean stands in `benches/README.md`.

use std::hint::black_box;
use std::time::Instant;

use bookahead::random::stream;
use bookahead::units::{Nodes, Seconds};
use bookahead::workload::{CoRequest, CoRequestId, Preference};
use bookahead_grid::co_reservation::local::ClusterId;
use bookahead_grid::co_reservation::{
    Candidate, Order, Repair, Search, SearchRules, Step, candidate_starts,
};
use bookahead_grid::co_reservation::{SearchSettings, Valuation, unprobed_candidates, variations};
use rand::RngExt;

const SAMPLES: u32 = 301;

#[derive(Clone, Copy)]
enum Costs {
    /// One price for everything.
    Equal,
    /// CPUs × one of two rates, by cluster and start.
    Tariff,
    /// Every candidate its own.
    Different,
}

fn main() {
    println!(
        "order    repair   costs      clusters  first in µs: p10     p50     p90     max   KB then  granted in µs  KB then"
    );
    let preferences = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)];
    for clusters in [12, 64] {
        measure("random", clusters, Order::Random, Costs::Equal, (0.0, 1.0));
        measure("start", clusters, Order::Start, Costs::Tariff, (0.0, 1.0));
        for costs in [Costs::Equal, Costs::Tariff, Costs::Different] {
            for preference in preferences {
                measure("value", clusters, Order::Value, costs, preference);
            }
        }
    }
    count(12);
    count(64);
}

fn request() -> CoRequest {
    CoRequest {
        id: CoRequestId(0),
        trace_number: 1,
        user: None,
        submit: Seconds(0),
        earliest: Seconds(3_600),
        deadline: Seconds(3_600 + 7_200 + 86_400),
        duration: Seconds(7_200),
        parts: [512, 384, 256, 192, 160, 128].map(Nodes).to_vec(),
        further: Vec::new(),
        preference: Preference::default(),
        task: None,
    }
}

fn candidates(clusters: u16, costs: Costs) -> Vec<Candidate> {
    let request = request();
    let settings = SearchSettings {
        maximum_starts: 200,
        ..SearchSettings::default()
    };
    let starts = candidate_starts(&request, &settings);
    assert_eq!(starts.len(), 200);
    let sizes: Vec<_> = (0..clusters)
        .map(|cluster| (ClusterId(cluster), Nodes(1_160)))
        .collect();
    let parts: Vec<Nodes> = request
        .largest_first()
        .into_iter()
        .map(|part| request.parts[part])
        .collect();
    let mut found = unprobed_candidates(&parts, &starts, &sizes);
    let mut stream = stream(1, "co-reservation-bench", 0, "costs");
    for candidate in &mut found {
        let nodes = f64::from(request.parts[usize::from(candidate.part)].0);
        let hour = (candidate.start.0 / 3_600 + i64::from(candidate.cluster.0)) % 24;
        candidate.cost = match costs {
            Costs::Equal => 1.0,
            Costs::Tariff => nodes * if (8..18).contains(&hour) { 4.0 } else { 2.0 },
            Costs::Different => nodes * stream.random_range(1.0..4.0),
        };
        candidate.expected = candidate.cost;
    }
    found
}

fn measure(name: &str, clusters: u16, order: Order, costs: Costs, preference: (f64, f64)) {
    let repair = match order {
        Order::Value => Repair::BestFirst,
        _ => Repair::Chronological,
    };
    let rules = SearchRules {
        order,
        repair,
        valuation: Valuation::Weighted(Preference {
            cost_weight: preference.0,
            start_weight: preference.1,
            mix_weight: 0.0,
            degree_weight: 0.0,
        }),
        start_tolerance: Seconds::ZERO,
        cost_tolerance: 0.0,
        memoise: false,
        pof_limit: None,
    };
    let candidates = candidates(clusters, costs);
    let (mut firsts, mut grants) = (Vec::new(), Vec::new());
    let (mut first_bytes, mut granted_bytes) = (0, 0);
    for sample in 0..SAMPLES {
        let offered = candidates.clone();
        let mut stream = stream(1, "co-reservation-bench", sample, "search");
        let begun = Instant::now();
        let mut search = Search::new(rules, 6, offered, &mut stream);
        black_box(search.step());
        firsts.push(begun.elapsed().as_secs_f64() * 1e6);
        first_bytes = search.footprint_bytes();
        while let Step::Reserve(_) = search.step() {
            search.answer(true);
        }
        grants.push(begun.elapsed().as_secs_f64() * 1e6);
        granted_bytes = search.footprint_bytes();
    }
    firsts.sort_by(f64::total_cmp);
    grants.sort_by(f64::total_cmp);
    let at = |times: &[f64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let costs = match costs {
        Costs::Equal => "equal",
        Costs::Tariff => "tariff",
        Costs::Different => "different",
    };
    let label = match order {
        Order::Value => format!("{name} {}/{}", preference.0, preference.1),
        _ => name.to_owned(),
    };
    println!(
        "{label:15} {costs:10}  {clusters:8}  {:16.0}  {:6.0}  {:6.0}  {:6.0}  {:7.0}  {:13.0}  {:7.0}",
        at(&firsts, 0.1),
        at(&firsts, 0.5),
        at(&firsts, 0.9),
        at(&firsts, 1.0),
        first_bytes as f64 / 1e3,
        at(&grants, 0.5),
        granted_bytes as f64 / 1e3,
    );
}

/// Complete candidates and extremes, which the outcome of a request needs once.
fn count(clusters: u16) {
    let rules = SearchRules {
        order: Order::Start,
        repair: Repair::Chronological,
        valuation: Valuation::Weighted(Preference::default()),
        start_tolerance: Seconds::ZERO,
        cost_tolerance: 0.0,
        memoise: false,
        pof_limit: None,
    };
    let mut search = Search::in_order(rules, 6, candidates(clusters, Costs::Different));
    let begun = Instant::now();
    let counted = search.candidates();
    let counting = begun.elapsed();
    assert!((counted / variations(200, &[u64::from(clusters); 6]) - 1.0).abs() < 1e-12);
    let begun = Instant::now();
    black_box(search.bounds());
    println!(
        "{clusters} clusters: {counted:.3e} complete candidates counted in {:.0} µs, extremes found in {:.0} µs",
        counting.as_secs_f64() * 1e6,
        begun.elapsed().as_secs_f64() * 1e6
    );
}
