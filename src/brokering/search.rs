//! Placeholder of the search.
#![allow(missing_docs)]
use super::*;
use crate::random::Stream;
use crate::scheduling::local::ClusterId;
use crate::units::Seconds;
use crate::workload::{CoRequest, Preference};
use rand::seq::SliceRandom;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate { pub cluster: ClusterId, pub part: u16, pub start: Seconds, pub cost: f64, pub pof: f64, pub expected: f64 }
pub fn candidate_starts(request: &CoRequest, settings: &SearchSettings) -> Vec<Seconds> {
    let span = request.slack().0;
    if span < 0 { return Vec::new(); }
    let inc = settings.minimum_step.0.max(span / i64::from(settings.maximum_starts)).max(1);
    (0..settings.maximum_starts as i64).map(|i| i * inc).take_while(|o| *o <= span).map(|o| request.earliest + Seconds(o)).collect()
}
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRules { pub order: Order, pub repair: Repair, pub preference: Preference, pub start_tolerance: Seconds, pub cost_tolerance: f64, pub memoise: bool, pub pof_limit: Option<f64> }
#[derive(Clone, Debug, PartialEq)]
pub enum Step { Reserve(Candidate), Cancel(Candidate), Granted(Vec<Candidate>), Exhausted, NoCandidate }
#[derive(Debug)]
pub struct Search { rules: SearchRules, paths: Vec<Vec<Candidate>>, count: usize, held: Vec<Candidate>, tried: Option<Candidate>, gone: Vec<ClusterId> }
impl Search {
  pub fn new(rules: SearchRules, parts: usize, mut candidates: Vec<Candidate>, stream: &mut Stream) -> Self {
    candidates.shuffle(stream);
    if rules.order == Order::Start { candidates.sort_by_key(|c| c.start); }
    let mut paths: Vec<Vec<Candidate>> = candidates.iter().filter(|c| c.part == 0).map(|c| vec![*c]).collect();
    for part in 1..parts {
      paths = paths.iter().flat_map(|path| candidates.iter().filter(|c| usize::from(c.part) == part && c.start == path[0].start && path.iter().all(|p| p.cluster != c.cluster)).map(|c| { let mut p = path.clone(); p.push(*c); p }).collect::<Vec<_>>()).collect();
    }
    if rules.order == Order::Value { paths.sort_by(|a, b| a.iter().map(|c| c.expected).sum::<f64>().total_cmp(&b.iter().map(|c| c.expected).sum::<f64>())); }
    let count = paths.len();
    Self { rules, paths, count, held: vec![], tried: None, gone: vec![] }
  }
  pub fn step(&mut self) -> Step {
    if self.count == 0 { return Step::NoCandidate; }
    if let Some(at) = self.held.iter().position(|c| self.gone.contains(&c.cluster)) {
        if self.held.len() > at + 1 { return Step::Cancel(self.held.pop().unwrap()); }
        self.held.pop();
    }
    let Some(path) = self.paths.first() else {
      return match self.held.pop() { Some(c) => Step::Cancel(c), None => Step::Exhausted };
    };
    if !path.starts_with(&self.held) { return Step::Cancel(self.held.pop().unwrap()); }
    if path.len() == self.held.len() { return Step::Granted(path.clone()); }
    let next = path[self.held.len()];
    self.tried = Some(next);
    Step::Reserve(next)
  }
  pub fn answer(&mut self, granted: bool) {
    let tried = self.tried.take().unwrap();
    if granted { self.held.push(tried); return; }
    let mut bad = self.held.clone(); bad.push(tried);
    self.paths.retain(|p| !p.starts_with(&bad));
    if self.rules.repair == Repair::None { self.paths.clear(); }
  }
  pub fn give_up(&mut self, cluster: ClusterId) { self.gone.push(cluster); self.paths.retain(|p| p.iter().all(|c| c.cluster != cluster)); }
  pub fn candidates(&self) -> f64 { self.count as f64 }
  pub fn bounds(&self) -> Option<OfferBounds> { None }
}
