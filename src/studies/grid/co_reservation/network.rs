//! Messages in virtual time: they take time, and some are lost (Meltzer 2005, §5.4, §7.4).

use rand::RngExt;

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;

use super::MessageSettings;

/// Says of each message that is sent when it arrives, if it does.
#[derive(Debug)]
pub struct Network {
    settings: MessageSettings,
    stream: Stream,
    /// The most that a message may be late beyond the latency; 0 but in tests, which shake the
    /// order of messages with it.
    jitter: Seconds,
}

impl Network {
    /// A network of these settings. Losses are drawn from `stream`, one number a message; nothing
    /// is drawn where nothing can be lost.
    #[must_use]
    pub fn new(settings: &MessageSettings, stream: Stream) -> Self {
        Self {
            settings: settings.clone(),
            stream,
            jitter: Seconds::ZERO,
        }
    }

    /// The same network with messages that are late by up to `jitter`, each by its own draw, so
    /// that they overtake each other.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Seconds) -> Self {
        self.jitter = jitter;
        self
    }

    /// When a message arrives that is sent now; `None` where it is lost.
    pub fn send(&mut self, now: Seconds) -> Option<Seconds> {
        (!self.is_lost()).then(|| self.arrival(now))
    }

    /// When a message arrives that is sent now, and again whenever no receipt came within the
    /// time-out: late rather than never.
    pub fn send_until_received(&mut self, now: Seconds) -> Seconds {
        let mut at = now;
        while self.is_lost() {
            at += self.settings.timeout;
        }
        self.arrival(at)
    }

    fn is_lost(&mut self) -> bool {
        self.settings.loss > 0.0 && self.stream.random::<f64>() < self.settings.loss
    }

    fn arrival(&mut self, sent: Seconds) -> Seconds {
        let late = if self.jitter > Seconds::ZERO {
            Seconds(self.stream.random_range(0..=self.jitter.0))
        } else {
            Seconds::ZERO
        };
        sent + self.settings.latency + late
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::random;

    use super::*;

    fn network(latency: i64, loss: f64) -> Network {
        let settings = MessageSettings {
            latency: Seconds(latency),
            timeout: Seconds(60),
            loss,
        };
        Network::new(&settings, random::stream(1, "grid", 0, "messages"))
    }

    #[test]
    fn messages_arrive_after_the_latency() {
        let mut network = network(3, 0.0);
        assert_eq!(network.send(Seconds(5)), Some(Seconds(8)));
        assert_eq!(network.send_until_received(Seconds(4)), Seconds(7));
    }

    #[test]
    fn the_share_of_lost_messages_is_the_probability_of_loss() {
        let mut network = network(0, 0.3);
        let arrived = (0..10_000).filter(|_| network.send(Seconds::ZERO).is_some());
        let arrived = arrived.count();
        assert!((6_800..7_200).contains(&arrived), "{arrived}");
    }

    #[test]
    fn what_is_sent_until_it_is_received_arrives_a_whole_number_of_time_outs_late() {
        let mut network = network(1, 0.5);
        let mut late = 0;
        for _ in 0..100 {
            let arrival = network.send_until_received(Seconds::ZERO);
            assert_eq!((arrival.0 - 1) % 60, 0);
            late += u32::from(arrival > Seconds(1));
        }
        assert!((30..70).contains(&late), "{late}");
    }
}
