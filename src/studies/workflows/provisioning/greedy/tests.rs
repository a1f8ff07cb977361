use std::collections::BTreeSet;

use bookahead_core::kernel::{Questions, ServiceChannel};
use bookahead_reservations::replanning::{Admission, ReplanningMachine, ReplanningSettings};

use super::super::{
    ApplicationTask, BookedStart, Dependency, GeneticSettings, PlanningSite, Provider,
    ProviderSite, SiteAnswer,
};
use super::*;
use crate::provisioning::Users;
use crate::provisioning::genetic::{by_start, search_offers};
use crate::provisioning::testutils::{job, workload};
use bookahead_core::workload::Job;

const HOUR: Seconds = Seconds::HOUR;

/// A machine worked out by hand (AMB-42): A and B run, R is booked, C and D wait.
fn section_12_4() -> ProviderSite {
    let settings = ReplanningSettings {
        admission: Admission::MovePrice,
        ..ReplanningSettings::default()
    };
    let mut machine = ReplanningMachine::replanning(Nodes(5), settings);
    machine.submit([job(0, 0, 3, 3_600), job(1, 0, 1, 7_200)]);
    machine.advance(Seconds(1));
    let mut site = ProviderSite::Planning(Box::new(PlanningSite {
        machine,
        provider: Provider::Queried,
    }));
    let booked = site.answer(SiteQuestion::Reserve {
        id: RequestId(0),
        start: HOUR * 3,
        nodes: Nodes(3),
        duration: HOUR,
        price: NodeSeconds(0),
    });
    assert_eq!(booked, SiteAnswer::Done);
    site.submit([job(2, 0, 2, 14_400), job(3, 0, 2, 14_400)]);
    site.advance(Seconds(1));
    site
}

fn task(nodes: u32, hours: i64, parents: &[usize]) -> ApplicationTask {
    ApplicationTask {
        nodes: Nodes(nodes),
        runtimes: vec![HOUR * hours],
        parents: parents
            .iter()
            .map(|&parent| Dependency {
                parent,
                transfer: Seconds::ZERO,
            })
            .collect(),
    }
}

/// a → b → c, and a → c.
fn application() -> Application {
    let tasks = vec![task(2, 2, &[]), task(1, 3, &[0]), task(2, 1, &[0, 1])];
    Application::new(tasks, vec![0, 1, 2])
}

fn plan(application: &Application, wish: Wish) -> GreedyPlan {
    plan_at(application, wish, None)
}

fn plan_at(application: &Application, wish: Wish, price: Option<f64>) -> GreedyPlan {
    let application = application.clone();
    let answered = at_section_12_4(async move |desk| {
        let workloads = [workload(5, Vec::new())];
        let (begin, nobody) = (Seconds::ZERO, Users::default());
        let mut sites = Environment::new(desk, (&workloads, &nobody), begin, Seconds::ZERO);
        sites.charges.reserved_unit_price = price;
        greedy(&application, &mut sites, begin, wish, 0, &mut 1, None).await
    });
    answered.unwrap()
}

/// What a broker finds that asks that machine.
fn at_section_12_4<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    asks: impl FnOnce(ServiceChannel<ProviderSite>) -> F + Send + 'static,
) -> T {
    let mut site = section_12_4();
    let mut questions = Questions::new(asks);
    loop {
        match questions.go_on() {
            Ok(answer) => return answer,
            Err(next) => {
                let answers = next.into_iter().map(|(_, question)| site.answer(question));
                questions.answered(answers.collect());
            }
        }
    }
}

/// The slot that is best for the application by this wish: nodes, hour of its start, hours, f.
fn one_slot(application: Application, wish: Wish) -> (u32, i64, i64, f64) {
    let asked = at_section_12_4(async move |desk| {
        let workloads = [workload(5, Vec::new())];
        let (begin, nobody) = (Seconds::ZERO, Users::default());
        let sites = Environment::new(desk, (&workloads, &nobody), begin, Seconds::ZERO);
        ask_for_one_slot(&application, &sites, begin, wish, None).await
    });
    let asked = asked.unwrap();
    let slot = asked.best.unwrap().slot;
    assert_eq!(asked.externality.coins().0, slot.fixed_price);
    let hours = |time: Seconds| time.0 / HOUR.0;
    (
        slot.nodes.0,
        hours(slot.start),
        hours(slot.duration()),
        slot.fixed_price,
    )
}

fn planned(wish: Wish) -> (Vec<i64>, Vec<i64>, PlanValue) {
    let plan = plan(&application(), wish);
    assert_eq!(plan.failure, None);
    let hours = |time: Seconds| time.0 / HOUR.0;
    (
        plan.placements
            .iter()
            .map(|placed| hours(placed.start))
            .collect(),
        plan.externalities
            .iter()
            .map(|price| price.0 / 3_600)
            .collect(),
        plan.value,
    )
}

#[test]
fn section_12_5_is_planned_as_it_says_for_every_alpha() {
    let (starts, prices, value) = planned(Wish::TradeOff { alpha: 0.0 });
    assert_eq!((starts, prices), (vec![1, 3, 6], vec![0, 6, 6]));
    assert_eq!((value.cost, value.makespan), (21.0, HOUR * 7));
    for alpha in [0.5, 1.0] {
        let (starts, prices, value) = planned(Wish::TradeOff { alpha });
        assert_eq!((starts, prices), (vec![1, 4, 7], vec![0, 0, 0]));
        assert_eq!((value.cost, value.makespan), (9.0, HOUR * 8));
    }
}

/// Addendum S10: the chain takes 2 processors for 6 hours. At 1 it pushes others back by 12
/// node-hours, 24 SU and 7 h in all; from 5 on by none, 12 SU and 11 h.
#[test]
fn one_slot_for_the_whole_of_section_12_5_costs_what_the_addendum_says() {
    let of = |wish| one_slot(application(), wish);
    let (early, late) = ((2, 1, 6, 12.0), (2, 5, 6, 0.0));
    assert_eq!(of(Wish::TradeOff { alpha: 0.0 }), early);
    assert_eq!(of(Wish::TradeOff { alpha: 1.0 }), late);
    assert_eq!(of(Wish::Deadline { after: HOUR * 7 }), early);
    assert_eq!(of(Wish::Deadline { after: HOUR * 11 }), late);
    let budget = |service_units| of(Wish::Budget { service_units });
    assert_eq!((budget(24.0), budget(12.0)), (early, late));
}

/// Two tasks of a node, of 2 and 1 hours: on one node they take 3 hours, on two 2, and on more
/// nothing less.
#[test]
fn widths_that_make_an_application_no_shorter_are_not_asked_for() {
    let application = Application::new(vec![task(1, 2, &[]), task(1, 1, &[])], vec![0, 1]);
    let asked = at_section_12_4(async move |desk| {
        let workloads = [workload(5, Vec::new())];
        let (begin, nobody) = (Seconds::ZERO, Users::default());
        let sites = Environment::new(desk, (&workloads, &nobody), begin, Seconds::ZERO);
        let mut prices = Vec::new();
        let wish = Wish::TradeOff { alpha: 0.0 };
        let asked = ask_for_one_slot(&application, &sites, begin, wish, Some(&mut prices)).await;
        let shapes = prices
            .iter()
            .map(|sample| (sample.nodes.0, sample.duration.0 / HOUR.0));
        (asked.unwrap().queries, shapes.collect::<BTreeSet<_>>())
    });
    assert_eq!(asked, (2, BTreeSet::from([(1, 3), (2, 2)])));
}

#[test]
fn a_deadline_buys_only_what_it_needs_and_a_budget_only_what_it_can_pay() {
    // Eight hours are enough without paying anybody's delay; seven are not.
    assert_eq!(planned(Wish::Deadline { after: HOUR * 8 }).2.cost, 9.0);
    let (_, prices, value) = planned(Wish::Deadline { after: HOUR * 7 });
    assert_eq!(value.makespan, HOUR * 7);
    assert_eq!(prices, [0, 6, 6]);
    let poor = planned(Wish::Budget { service_units: 9.0 }).2;
    assert_eq!((poor.cost, poor.makespan), (9.0, HOUR * 8));
    let rich = planned(Wish::Budget {
        service_units: 100.0,
    })
    .2;
    assert_eq!((rich.cost, rich.makespan), (21.0, HOUR * 7));
}

/// Addendum S9: 9 SU of processor-hours at 1.2 SU are 10.8. With 2 SU an hour, a budget of 18
/// SU pays for the cheapest plan, and one of 100 SU for all delays.
#[test]
fn reserved_hours_may_cost_more_than_those_of_best_effort() {
    let dear = |wish, price| plan_at(&application(), wish, Some(price));
    let plan = dear(Wish::TradeOff { alpha: 1.0 }, 1.2);
    assert!((plan.value.cost - 10.8).abs() < 1e-9);
    assert_eq!(plan.value.makespan, HOUR * 8);
    assert_eq!((plan.unit_price, plan.charges[0]), (1.2, 17_280.0));
    let of = |service_units| {
        let plan = dear(Wish::Budget { service_units }, 2.0);
        (plan.value.cost, plan.value.makespan)
    };
    assert_eq!(of(18.0), (18.0, HOUR * 8));
    assert_eq!(of(100.0), (30.0, HOUR * 7));
}

#[test]
fn a_task_that_no_site_can_hold_is_named() {
    let wide = Application::new(vec![task(6, 1, &[])], vec![0]);
    let plan = plan(&wide, Wish::TradeOff { alpha: 0.5 });
    let failure = PlanFailure::TooWide {
        task: 0,
        nodes: Nodes(6),
    };
    assert_eq!((plan.failure, plan.booked), (Some(failure), Vec::new()));
}

/// A machine of two nodes of a site that answers queries.
fn two_nodes(jobs: &[Job], booked: (i64, i64)) -> ProviderSite {
    let settings = ReplanningSettings {
        admission: Admission::MovePrice,
        ..ReplanningSettings::default()
    };
    let mut machine = ReplanningMachine::replanning(Nodes(2), settings);
    machine.submit(jobs[..jobs.len() - 1].iter().cloned());
    machine.advance(Seconds(1));
    let mut site = ProviderSite::Planning(Box::new(PlanningSite {
        machine,
        provider: Provider::Queried,
    }));
    let booked = site.answer(SiteQuestion::Reserve {
        id: RequestId(0),
        start: Seconds(booked.0),
        nodes: Nodes(2),
        duration: Seconds(booked.1 - booked.0),
        price: NodeSeconds(0),
    });
    assert_eq!(booked, SiteAnswer::Done);
    site.submit(jobs[jobs.len() - 1..].iter().cloned());
    site.advance(Seconds(1));
    site
}

/// Where a job of a node and two hours is reserved, and at which hour, by α and the sites that it
/// asks.
fn reserved(alpha: f64, asked: Option<usize>) -> (usize, i64) {
    let hour = HOUR.0;
    // At A a job of both nodes waits for the end of the first. From 0 the slot pushes it behind
    // what is booked, by 3 h; from 1 h it would collide with that.
    let a = [job(0, 0, 1, hour), job(1, 0, 2, hour)];
    // At B another waits for both nodes at 2.5 h. From 1 h the slot delays it by half an hour;
    // whatever begins later collides with what is booked until 6 h.
    let b = [
        job(0, 0, 1, hour),
        job(1, 0, 1, 5 * hour / 2),
        job(2, 0, 2, hour / 2),
    ];
    let mut sites = [
        two_nodes(&a, (2 * hour, 4 * hour)),
        two_nodes(&b, (7 * hour / 2, 6 * hour)),
    ];
    let needs = ApplicationTask {
        runtimes: vec![HOUR * 2; 2],
        ..task(1, 2, &[])
    };
    let application = Application::new(vec![needs], vec![0]);
    let mut offered = Vec::new();
    for (site, offers) in sites.iter_mut().enumerate() {
        let offers = offers.offers(Seconds::ZERO, Nodes(1), HOUR * 2).unwrap();
        let hours = |offer: &Offer| (site, offer.start.0 / hour, offer.price.0 / hour);
        offered.extend(offers.iter().map(hours));
    }
    assert_eq!(offered, [(0, 0, 6), (0, 4, 0), (1, 1, 1), (1, 6, 0)]);
    let mut questions = Questions::new(async move |desk| {
        let workloads = [workload(2, Vec::new()), workload(2, Vec::new())];
        let (begin, nobody) = (Seconds::ZERO, Users::default());
        let mut sites = Environment::new(desk, (&workloads, &nobody), begin, Seconds::ZERO);
        sites.asked = asked;
        let wish = Wish::TradeOff { alpha };
        greedy(&application, &mut sites, begin, wish, 0, &mut 1, None).await
    });
    let plan = loop {
        match questions.go_on() {
            Ok(plan) => break plan.unwrap(),
            Err(next) => {
                let answers = next.into_iter();
                let answers = answers.map(|(site, question)| sites[site].answer(question));
                questions.answered(answers.collect());
            }
        }
    };
    let placed = plan.placements[0];
    (placed.site, placed.start.0 / hour)
}

/// Addendum S8. By eq. 20 with α = 0.5 the four offers are worth 0.5, 0.333, 0.167 and 0.5. With
/// 0.75 the second and the third are both worth 0.167, and the earlier is taken.
#[test]
fn a_price_sensitive_job_chooses_among_the_offers_of_all_sites() {
    assert_eq!(reserved(0.5, None), (1, 1));
    let others = [0.0, 0.25, 0.75, 1.0].map(|alpha| reserved(alpha, None));
    assert_eq!(others, [(0, 0), (1, 1), (1, 1), (0, 4)]);
}

/// Of two offers of one site, with α = 0.5 both are worth 0.5.
#[test]
fn a_job_that_asks_one_site_chooses_among_its_offers() {
    assert_eq!(
        [0.5, 0.75].map(|alpha| reserved(alpha, Some(0))),
        [(0, 0), (0, 4)]
    );
    assert_eq!(
        [0.5, 0.75].map(|alpha| reserved(alpha, Some(1))),
        [(1, 1), (1, 6)]
    );
}

/// Singh 2008, chapter 7: two processors for 3 h from 1 and 2 h on collide; from 1 and 5 h on they
/// are quoted 6 and 0 h, and cost 14 together, in either order.
#[test]
fn starts_are_priced_beside_those_before_them_and_collide_where_they_cannot_be_had_together() {
    let ask = |hours: [i64; 2]| {
        let mut site = section_12_4();
        let wanted = hours.map(|start| BookedStart {
            start: HOUR * start,
            nodes: Nodes(2),
            duration: HOUR * 3,
        });
        let answer = site.answer(SiteQuestion::PriceTogether {
            first: RequestId(1),
            wanted: wanted.into(),
        });
        let SiteAnswer::Prices(prices) = answer else {
            panic!("{answer:?}");
        };
        let hours = |price: &NodeSeconds| price.0 / 3_600;
        prices.map(|prices| prices.iter().map(hours).collect::<Vec<i64>>())
    };
    assert_eq!(ask([1, 2]), None);
    assert_eq!(ask([1, 5]), Some(vec![6, 8]));
    assert_eq!(ask([5, 1]), Some(vec![0, 14]));
}

#[test]
fn a_search_over_offers_finds_plans_no_worse_than_those_task_by_task_which_can_be_had_at_their_price()
 {
    let application = application();
    let asked = at_section_12_4({
        let application = application.clone();
        async move |desk| {
            let workloads = [workload(5, Vec::new())];
            let (begin, nobody) = (Seconds::ZERO, Users::default());
            let sites = Environment::new(desk, (&workloads, &nobody), begin, Seconds::ZERO);
            let settings = GeneticSettings::default();
            let mut stream = bookahead_core::random::stream(1, "offers", 0, "search");
            search_offers(&application, &sites, begin, &settings, &mut stream, None).await
        }
    });
    let asked = asked.unwrap();
    // Three shapes of tasks, and one site.
    assert_eq!(asked.queries, 3);
    assert_eq!(asked.found.evaluations, 1_100);
    assert!(asked.found.infeasible > 0);
    let members = asked.found.front.members();
    let (fastest, cheapest) = (&members[0].0, &members[members.len() - 1].0);
    assert!(
        fastest.makespan <= HOUR * 7 && cheapest.cost <= 9.0,
        "{members:?}"
    );
    let no_worse = |cost: f64, hours: i64| {
        let mut values = members.iter().map(|(value, _)| value);
        values.any(|value| value.cost <= cost && value.makespan <= HOUR * hours)
    };
    assert!(no_worse(21.0, 7) && no_worse(9.0, 8), "{members:?}");
    for (value, plan) in members {
        let mut site = section_12_4();
        for task in by_start(&plan.placements) {
            let placed = plan.placements[task];
            let booked = site.answer(SiteQuestion::Reserve {
                id: RequestId(1 + task as u32),
                start: placed.start,
                nodes: application.tasks()[task].nodes,
                duration: placed.end - placed.start,
                price: plan.externalities[task],
            });
            assert_eq!(booked, SiteAnswer::Done, "{plan:?}");
        }
        let delays: f64 = plan.externalities.iter().map(|price| price.0 as f64).sum();
        let paid = plan.charges.iter().sum::<f64>() + delays;
        assert!((paid / 3_600.0 - value.cost).abs() < 1e-9);
    }
}
