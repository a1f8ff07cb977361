//! Whoever watches a sweep, as an actor: it passes on what happened. A watcher that panics is
//! restarted; the sweep goes on.

use std::sync::Arc;
use std::time::Duration;

use kameo::Actor;
use kameo::message::{Context, Message};

use super::messages::{How, Watch};
use super::roles::SweepWork;
use crate::sweep::spec::Point;

/// The actor around the observer of a sweep.
#[derive(Actor, Clone)]
pub(super) struct Watcher(pub(super) Arc<SweepWork>);

impl Message<Watch> for Watcher {
    type Reply = ();

    async fn handle(&mut self, watch: Watch, _: &mut Context<Self, ()>) {
        let Self(work) = self;
        let points = |place| work.points(place).collect::<Vec<&Point>>();
        match watch {
            Watch::Begun(place) => work.observer.started(&points(place)),
            Watch::Ended(all) => {
                for ended in all {
                    let (wall, error) = match &ended.how {
                        How::Finished => (ended.wall, None),
                        How::Failed(error) => (ended.wall, Some(error.as_str())),
                        How::Adopted => (Duration::ZERO, None),
                        How::Elsewhere | How::Left => continue,
                    };
                    work.observer.ended(&points(ended.place), wall, error);
                }
            }
        }
    }
}
