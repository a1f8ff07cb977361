//! A budget of memory for what is read or generated, so that an input with too many records ends in
//! an error and not in an abort.
//!
//! The budget comes in as an argument of everything that collects records. Nothing here measures
//! what the process takes: each place that collects knows how many bytes one of its records costs
//! until the end, and compares that with the budget.

use std::fmt;

use thiserror::Error;

/// How much memory the records of one input may take, in bytes. Without a limit by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryBudget(u64);

/// More records than a budget has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "{count} {what} take {} with what is made of them, more than the memory budget of {}; allow more with --memory SIZE \
     (such as --memory {}), or take fewer",
    Size(*.needed), Size(*.budget), Size(twice(*.needed))
)]
pub struct OverBudget {
    /// How many there are, or how many had been collected when it was noticed.
    pub count: u64,
    /// What is counted, in the plural.
    pub what: &'static str,
    /// Bytes that they take.
    pub needed: u64,
    /// Bytes that they may take.
    pub budget: u64,
}

impl MemoryBudget {
    /// No limit.
    pub const UNLIMITED: Self = Self(u64::MAX);

    /// A budget of so many bytes.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    /// Its size in bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// What remains beside something else that takes so many bytes.
    #[must_use]
    pub const fn without(self, bytes: u64) -> Self {
        match self {
            Self::UNLIMITED => self,
            Self(budget) => Self(budget.saturating_sub(bytes)),
        }
    }

    /// Whether `count` things of `bytes_each` have room; `what` names them in the error.
    ///
    /// # Errors
    /// [`OverBudget`].
    pub fn check(
        self,
        count: u64,
        bytes_each: usize,
        what: &'static str,
    ) -> Result<(), OverBudget> {
        let needed = count.saturating_mul(bytes_each as u64);
        if needed <= self.0 {
            return Ok(());
        }
        Err(OverBudget {
            count,
            what,
            needed,
            budget: self.0,
        })
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::UNLIMITED
    }
}

/// What is suggested to somebody whose input needed so much when it was stopped; at least a
/// megabyte.
fn twice(needed: u64) -> u64 {
    needed.saturating_mul(2).max(1_000_000)
}

/// Bytes for people, in a form that `--memory` takes: 512kB, 20MB, 3.5GB.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, word) = match self.0 {
            1_000_000_000.. => (1e9, "GB"),
            1_000_000.. => (1e6, "MB"),
            _ => (1e3, "kB"),
        };
        let amount = format!("{:.1}", self.0 as f64 / unit);
        formatter.write_str(amount.strip_suffix(".0").unwrap_or(&amount))?;
        formatter.write_str(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_room_passes_and_what_has_not_is_an_error_with_count_budget_and_remedy() {
        let budget = MemoryBudget::of_bytes(1_000_000);
        assert_eq!(budget.check(10_000, 100, "records"), Ok(()));
        let message = budget
            .check(10_001, 100, "records")
            .unwrap_err()
            .to_string();
        for part in ["10001 records take 1MB", "budget of 1MB", "--memory 2MB"] {
            assert!(message.contains(part), "{message}");
        }
        assert_eq!(
            MemoryBudget::UNLIMITED.check(u64::MAX, usize::MAX, "records"),
            Ok(())
        );
    }

    #[test]
    fn what_is_held_already_leaves_less_and_no_limit_stays_none() {
        let budget = MemoryBudget::of_bytes(1_000);
        assert_eq!(budget.without(400).bytes(), 600);
        assert_eq!(budget.without(4_000).bytes(), 0);
        assert_eq!(MemoryBudget::UNLIMITED.without(4), MemoryBudget::UNLIMITED);
    }

    #[test]
    fn sizes_are_shown_with_the_largest_unit_and_no_needless_decimal() {
        for (bytes, text) in [
            (0, "0kB"),
            (512_000, "512kB"),
            (20_000_000, "20MB"),
            (3_540_000_000, "3.5GB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}
