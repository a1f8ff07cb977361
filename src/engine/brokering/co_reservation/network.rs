//! Messages in virtual time: they take a while, and some are lost (§5.3 [R], §7.4 of the thesis).

use rand::RngExt;

use super::MessageSettings;
use super::messages::Envelope;
use crate::kernel::Agenda;
use crate::random::Stream;
use crate::units::Seconds;

/// The messages that are on their way, in the order of (arrival, sending).
#[derive(Debug)]
pub struct Network {
    settings: MessageSettings,
    stream: Stream,
    /// The most that a message may be late beyond the latency; 0 but in tests, which shake the order of messages with it.
    jitter: Seconds,
    under_way: Agenda<Envelope>,
}

impl Network {
    /// A network on which nothing is under way. Losses are drawn from `stream`, one number a message; nothing is drawn where
    /// nothing can be lost.
    #[must_use]
    pub fn new(settings: &MessageSettings, stream: Stream) -> Self {
        Self {
            settings: settings.clone(),
            stream,
            jitter: Seconds::ZERO,
            under_way: Agenda::default(),
        }
    }

    /// The same network with messages that are late by up to `jitter`, each by its own draw, so that they overtake each other.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Seconds) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sends an envelope, which may be lost.
    pub fn send(&mut self, now: Seconds, envelope: Envelope) {
        if !self.is_lost() {
            self.post(now, envelope);
        }
    }

    /// Sends an envelope, and again whenever no receipt came within the time-out: it arrives late rather than never.
    pub fn send_until_received(&mut self, now: Seconds, envelope: Envelope) {
        let mut at = now;
        while self.is_lost() {
            at += self.settings.timeout;
        }
        self.post(at, envelope);
    }

    /// When the next envelope arrives.
    #[must_use]
    pub fn next_arrival(&self) -> Option<Seconds> {
        self.under_way.next_time()
    }

    /// Takes the next envelope off the network.
    pub fn deliver(&mut self) -> Option<Envelope> {
        self.under_way.pop().map(|(_, envelope)| envelope)
    }

    fn is_lost(&mut self) -> bool {
        self.settings.loss > 0.0 && self.stream.random::<f64>() < self.settings.loss
    }

    fn post(&mut self, now: Seconds, envelope: Envelope) {
        let late = if self.jitter > Seconds::ZERO {
            Seconds(self.stream.random_range(0..=self.jitter.0))
        } else {
            Seconds::ZERO
        };
        let arrival = now + self.settings.latency + late;
        self.under_way.push(arrival, 0, envelope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::brokering::co_reservation::local::ClusterId;
    use crate::brokering::co_reservation::messages::{Answer, Instruction};
    use crate::random;
    use crate::workload::CoRequestId;

    fn envelope(order: u32) -> Envelope {
        let request = CoRequestId(0);
        Envelope::ToCluster(ClusterId(0), Instruction::Cancel { request, order })
    }

    fn network(latency: i64, loss: f64) -> Network {
        let settings = MessageSettings {
            latency: Seconds(latency),
            timeout: Seconds(60),
            loss,
        };
        Network::new(&settings, random::stream(1, "grid", 0, "messages"))
    }

    #[test]
    fn letters_arrive_after_the_latency_in_the_order_in_which_they_were_sent() {
        let mut network = network(3, 0.0);
        network.send(Seconds(5), envelope(0));
        network.send(Seconds(5), envelope(1));
        network.send(Seconds(4), envelope(2));
        assert_eq!(network.next_arrival(), Some(Seconds(7)));
        let order: Vec<_> = std::iter::from_fn(|| network.deliver()).collect();
        assert_eq!(order, [envelope(2), envelope(0), envelope(1)]);
        assert_eq!(network.next_arrival(), None);
    }

    #[test]
    fn the_share_of_lost_letters_is_the_probability_of_loss() {
        let mut network = network(0, 0.3);
        for number in 0..10_000 {
            network.send(Seconds::ZERO, envelope(number));
        }
        let arrived = std::iter::from_fn(|| network.deliver()).count();
        assert!((6_800..7_200).contains(&arrived), "{arrived}");
    }

    #[test]
    fn what_is_sent_until_it_is_received_arrives_a_whole_number_of_time_outs_late() {
        let mut network = network(1, 0.5);
        for number in 0..100 {
            let lost = Answer::Cancelled {
                request: CoRequestId(0),
                order: number,
            };
            network.send_until_received(Seconds::ZERO, Envelope::ToBroker(ClusterId(0), lost));
        }
        let mut late = 0;
        for _ in 0..100 {
            let arrival = network.next_arrival().expect("every one arrives");
            assert_eq!((arrival.0 - 1) % 60, 0);
            late += u32::from(arrival > Seconds(1));
            network.deliver();
        }
        assert!((30..70).contains(&late), "{late}");
    }
}
