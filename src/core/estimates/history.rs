//! How much of their estimates users' last jobs took: what a planner knows of a user beside the
//! statistics of all.

use std::collections::BTreeMap;

use crate::units::Seconds;

/// The ratio of runtime to estimate, in percent, of each user's last job that has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserHistory {
    last: BTreeMap<i64, u8>,
}

impl UserHistory {
    /// The ratio of the user's last job in percent, 100 for one that was stopped at its estimate;
    /// `None` where none has ended.
    #[must_use]
    pub fn last_ratio(&self, user: Option<i64>) -> Option<u8> {
        self.last.get(&user?).copied()
    }

    /// A job of the user ran for `ran` of its estimate. A job that was stopped before its estimate
    /// (`cut`) only tells that it needed more, so it counts where that is more than what was known.
    pub fn ended(&mut self, user: Option<i64>, ran: Seconds, estimate: Seconds, cut: bool) {
        let Some(user) = user else { return };
        let percent = (100 * ran.0 / estimate.0.max(1)).clamp(0, 100) as u8;
        let last = self.last.entry(user).or_insert(percent);
        if !cut || percent > *last {
            *last = percent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_job_of_a_user_counts_and_a_stopped_one_only_as_a_bound() {
        let mut history = UserHistory::default();
        let hour = Seconds::HOUR;
        assert_eq!(history.last_ratio(Some(1)), None);
        history.ended(Some(1), Seconds(1_800), hour, false);
        assert_eq!(history.last_ratio(Some(1)), Some(50));
        history.ended(Some(1), Seconds(900), hour, true);
        assert_eq!(history.last_ratio(Some(1)), Some(50));
        history.ended(Some(1), Seconds(2_700), hour, true);
        assert_eq!(history.last_ratio(Some(1)), Some(75));
        history.ended(Some(1), Seconds(36), hour, false);
        assert_eq!(history.last_ratio(Some(1)), Some(1));
        history.ended(None, hour, hour, false);
        assert_eq!(history.last_ratio(None), None);
        history.ended(Some(2), hour * 2, hour, false);
        assert_eq!(history.last_ratio(Some(2)), Some(100));
    }
}
