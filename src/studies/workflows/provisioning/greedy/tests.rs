use bookahead_core::kernel::Questions;
use bookahead_reservations::replanning::{Admission, ReplanningMachine, ReplanningSettings};

use super::super::{ApplicationTask, Dependency, PlanningSite, Provider, ProviderSite, SiteAnswer};
use super::*;
use crate::provisioning::testutils::{job, workload};

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
    let mut site = section_12_4();
    let application = application.clone();
    let mut questions = Questions::new(async move |desk| {
        let workloads = [workload(5, Vec::new())];
        let mut sites = Environment::new(desk, &workloads, Seconds::ZERO, Seconds::ZERO);
        let begin = Seconds::ZERO;
        greedy(&application, &mut sites, begin, wish, 0, &mut 1, None).await
    });
    loop {
        match questions.go_on() {
            Ok(plan) => return plan.unwrap(),
            Err(next) => {
                let answers = next.into_iter().map(|(_, question)| site.answer(question));
                questions.answered(answers.collect());
            }
        }
    }
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
