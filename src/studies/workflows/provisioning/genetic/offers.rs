//! The genetic algorithm over answers to queries (Singh 2008, chapter 7, eq. 24). Starts that a
//! site answers overlap, so that which of them can be had together, and what they cost then, is
//! only known of a whole plan: each is booked in the order of its starts on copies of the sites.

use std::collections::BTreeMap;

use rand::RngExt;

use bookahead_core::random::Stream;
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::{Genetic, GeneticSettings, mating_pool, offspring};
use crate::provisioning::environment::Environment;
use crate::provisioning::{
    Application, BookedStart, BrokerError, PlanValue, PriceSample, TaskPlacement, Transfer,
};

/// So many starts behind the first a task may wait for.
const MOST_LATER: u16 = 7;

/// Where a task runs, and how much later than it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Gene {
    site: usize,
    /// 0 for the second from which its data is there, else the so-manieth start that the site
    /// offered behind it.
    later: u16,
}

/// A plan whose starts can be had together, with what they cost then.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::provisioning) struct JointPlan {
    /// Where each task runs, by index.
    pub(in crate::provisioning) placements: Vec<TaskPlacement>,
    /// The externality price of each task's start beside those before it, by index.
    pub(in crate::provisioning) externalities: Vec<NodeSeconds>,
    /// c · n · d of each task, by index, in processor-seconds of 1 SU an hour.
    pub(in crate::provisioning) charges: Vec<f64>,
    /// The slots on the network that bring the data of its tasks.
    pub(in crate::provisioning) transfers: Vec<Transfer>,
}

/// What a search found, and what it asked.
#[derive(Debug)]
pub(in crate::provisioning) struct OfferSearch {
    /// The plans that nothing beats.
    pub(in crate::provisioning) found: Genetic<JointPlan>,
    /// Queries for starts that were answered.
    pub(in crate::provisioning) queries: u64,
    /// Starts in these answers.
    pub(in crate::provisioning) offers: u64,
}

/// What sites answered, for tasks of the same processors and run times.
struct Shape {
    /// The starts that each site offers, rising; empty where it was not asked.
    starts: Vec<Vec<Seconds>>,
    /// The sites that offer any.
    open: Vec<usize>,
}

/// A search under way.
struct Search<'a, 'b> {
    application: &'a Application,
    sites: &'a Environment<'b>,
    submitted: Seconds,
    shapes: Vec<Shape>,
    /// The shape of each task, by index.
    shape_of: Vec<usize>,
    known: BTreeMap<Vec<Gene>, Option<PlanValue>>,
    found: Genetic<JointPlan>,
}

/// Searches the starts that sites offer for the tasks of an application that is submitted at
/// `submitted`. Each site is asked once for each shape of tasks; a task's gene then says which
/// start it takes once its data is there. Populations evolve as those of [`moga`](super::moga).
/// Every offer is added to `prices`, if there is such a list; an empty front is found where a task
/// has no start anywhere.
///
/// # Errors
///
/// When a site answers something else than it is asked.
pub(in crate::provisioning) async fn search_offers(
    application: &Application,
    sites: &Environment<'_>,
    submitted: Seconds,
    settings: &GeneticSettings,
    stream: &mut Stream,
    prices: Option<&mut Vec<PriceSample>>,
) -> Result<OfferSearch, BrokerError> {
    let mut asked = OfferSearch {
        found: Genetic::default(),
        queries: 0,
        offers: 0,
    };
    let (shapes, shape_of) = ask(application, sites, submitted, &mut asked, prices).await?;
    if shapes.iter().any(|shape| shape.open.is_empty()) {
        return Ok(asked);
    }
    let mut search = Search {
        application,
        sites,
        submitted,
        shapes,
        shape_of,
        known: BTreeMap::new(),
        found: Genetic::default(),
    };
    let mut population: Vec<Vec<Gene>> = (0..settings.population.max(2))
        .map(|_| {
            let tasks = application.order().iter();
            tasks.map(|&task| search.draw(task, stream)).collect()
        })
        .collect();
    for generation in 0..=settings.generations {
        let mut values = Vec::with_capacity(population.len());
        for plan in &population {
            values.push(search.evaluate(plan).await?);
        }
        if generation == settings.generations {
            break;
        }
        let pool = mating_pool(&population, &values, settings.sharing_radius, stream);
        population = offspring(pool, stream, |plan, stream| search.mutate(plan, stream));
    }
    asked.found = search.found;
    Ok(asked)
}

/// Asks each site for the starts of each shape of tasks.
async fn ask(
    application: &Application,
    sites: &Environment<'_>,
    submitted: Seconds,
    asked: &mut OfferSearch,
    mut prices: Option<&mut Vec<PriceSample>>,
) -> Result<(Vec<Shape>, Vec<usize>), BrokerError> {
    let mut shapes: Vec<Shape> = Vec::new();
    let mut numbers: BTreeMap<(Nodes, &[Seconds], &[bool]), usize> = BTreeMap::new();
    let mut shape_of = Vec::with_capacity(application.tasks().len());
    for (task, needs) in application.tasks().iter().enumerate() {
        let shape = (needs.nodes, &needs.runtimes[..], application.sites_of(task));
        if let Some(&number) = numbers.get(&shape) {
            shape_of.push(number);
            continue;
        }
        let fitting = sites.nodes_for_tasks().enumerate();
        let fitting = fitting.filter(|(site, most)| application.fits(task, *site, *most));
        let places = fitting.map(|(site, _)| (site, submitted, needs.runtimes[site]));
        let mut starts = vec![Vec::new(); sites.sizes().count()];
        for (site, offers) in sites.query(needs.nodes, places).await? {
            if let Some(prices) = &mut prices {
                let of_task = (needs.nodes, needs.runtimes[site]);
                let samples = PriceSample::of_answer(asked.queries, task, site, of_task, &offers);
                prices.extend(samples);
            }
            asked.queries += 1;
            asked.offers += offers.len() as u64;
            starts[site] = offers.iter().map(|offer| offer.start).collect();
        }
        let has_any = |site: &usize| !starts[*site].is_empty();
        let open = (0..starts.len()).filter(has_any).collect();
        numbers.insert(shape, shapes.len());
        shape_of.push(shapes.len());
        shapes.push(Shape { starts, open });
    }
    Ok((shapes, shape_of))
}

impl Search<'_, '_> {
    /// Any site that offers starts; half of the genes take the first start, half of the others the
    /// second, and so on.
    fn draw(&self, task: usize, stream: &mut Stream) -> Gene {
        let open = &self.shapes[self.shape_of[task]].open;
        let site = open[stream.random_range(0..open.len())];
        let mut later = 0;
        while later < MOST_LATER && stream.random::<bool>() {
            later += 1;
        }
        Gene { site, later }
    }

    fn mutate(&self, plan: &mut [Gene], stream: &mut Stream) {
        let chance = 1.0 / plan.len().max(1) as f64;
        for (gene, &task) in plan.iter_mut().zip(self.application.order()) {
            if stream.random_bool(chance) {
                *gene = self.draw(task, stream);
            }
        }
    }

    /// The value of a plan; `None` where its starts cannot be had together.
    async fn evaluate(&mut self, plan: &Vec<Gene>) -> Result<Option<PlanValue>, BrokerError> {
        self.found.evaluations += 1;
        let value = match self.known.get(plan) {
            Some(known) => *known,
            None => {
                let priced = match self.decode(plan) {
                    Some(decoded) => self.price(decoded).await?,
                    None => None,
                };
                let value = priced.as_ref().map(|(value, _)| *value);
                if let Some((value, joint)) = priced {
                    self.found.front.offer(value, || joint);
                }
                self.known.insert(plan.clone(), value);
                value
            }
        };
        self.found.infeasible += u64::from(value.is_none());
        Ok(value)
    }

    /// Where the tasks run by these genes; `None` where a site offers no start so late.
    fn decode(&self, plan: &[Gene]) -> Option<(Vec<TaskPlacement>, Vec<Transfer>)> {
        let (application, submitted) = (self.application, self.submitted);
        let mut links = self.sites.links.clone();
        let mut transfers = Vec::new();
        let nowhere = TaskPlacement {
            site: 0,
            start: submitted,
            end: submitted,
        };
        let mut placed = vec![nowhere; application.tasks().len()];
        for (&Gene { site, later }, &task) in plan.iter().zip(application.order()) {
            let finished = |parent: usize| (placed[parent].site, placed[parent].end);
            let (earliest, sent) = links.send(application, task, site, submitted, finished);
            let start = match later.checked_sub(1) {
                None => earliest,
                Some(behind) => {
                    let starts = &self.shapes[self.shape_of[task]].starts[site];
                    let first = starts.partition_point(|start| *start <= earliest);
                    *starts.get(first + usize::from(behind))?
                }
            };
            transfers.extend(sent);
            placed[task] = TaskPlacement {
                site,
                start,
                end: start + application.tasks()[task].runtimes[site],
            };
        }
        Some((placed, transfers))
    }

    /// What the plan costs, each start beside those before it; `None` where they collide.
    async fn price(
        &self,
        (placements, transfers): (Vec<TaskPlacement>, Vec<Transfer>),
    ) -> Result<Option<(PlanValue, JointPlan)>, BrokerError> {
        let tasks = self.application.tasks();
        let order = by_start(&placements);
        let mut wanted: Vec<Vec<BookedStart>> = vec![Vec::new(); self.sites.sizes().count()];
        for &task in &order {
            let TaskPlacement { site, start, end } = placements[task];
            wanted[site].push(BookedStart {
                start,
                nodes: tasks[task].nodes,
                duration: end - start,
            });
        }
        let Some(prices) = self.sites.price_together(wanted).await? else {
            return Ok(None);
        };
        let mut of_site: Vec<_> = prices.into_iter().map(Vec::into_iter).collect();
        let mut externalities = vec![NodeSeconds(0); tasks.len()];
        for &task in &order {
            let price = of_site[placements[task].site].next();
            externalities[task] = price.unwrap_or(NodeSeconds(0));
        }
        let charges: Vec<f64> = (tasks.iter().zip(&placements))
            .map(|(needs, placed)| {
                let work = needs.nodes.for_span(placed.end - placed.start);
                let reserved = self.sites.charges.reserved_charge(work);
                self.application.charge(placed.site, reserved)
            })
            .collect();
        let delays: i64 = externalities.iter().map(|price| price.0).sum();
        let paid = charges.iter().sum::<f64>() + delays as f64;
        let value = PlanValue {
            cost: paid / 3_600.0 + self.application.network_cost(&transfers),
            makespan: (self.application).schedule_cost(&placements, self.submitted),
        };
        let joint = JointPlan {
            placements,
            externalities,
            charges,
            transfers,
        };
        Ok(Some((value, joint)))
    }
}

/// The tasks in the order of their starts, in which they are booked.
pub(in crate::provisioning) fn by_start(placements: &[TaskPlacement]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..placements.len()).collect();
    order.sort_by_key(|&task| placements[task].start);
    order
}
