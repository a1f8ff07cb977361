//! Records of a trace that cleaning dropped: how many, why, and whether that is worth a warning.

use std::collections::BTreeMap;
use std::fmt;

use super::remark::is_much;
use crate::workload::CleaningReport;

/// What cleaning dropped of one workload. Shown as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLoss {
    /// The workload's name for people.
    pub workload: String,
    /// Its records.
    pub records: u64,
    /// How many records each rule dropped, by the rule's name; rules that dropped none are left
    /// out.
    pub dropped: BTreeMap<String, u64>,
}

impl RecordLoss {
    /// What was dropped by this report; `None` where nothing was.
    pub fn of(workload: &str, report: &CleaningReport) -> Option<Self> {
        let dropped: BTreeMap<String, u64> = report
            .dropped()
            .into_iter()
            .filter(|(_, _, count)| *count > 0)
            .map(|(rule, _, count)| (rule.to_owned(), count))
            .collect();
        (!dropped.is_empty()).then(|| Self {
            workload: workload.to_owned(),
            records: report.records,
            dropped,
        })
    }

    /// Records dropped in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.dropped
            .values()
            .fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Whether more than 1 % of the records are lost.
    #[must_use]
    pub fn is_worth_a_warning(&self) -> bool {
        is_much(self.total(), self.records)
    }
}

impl fmt::Display for RecordLoss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.total() as f64 / self.records.max(1) as f64;
        write!(
            formatter,
            "{}: {} of {} records ({percent:.1} %) are not used: ",
            self.workload,
            self.total(),
            self.records
        )?;
        let rules = CleaningReport::default().dropped();
        let mut dropped: Vec<(&String, &u64)> = self.dropped.iter().collect();
        dropped.sort_by(|one, other| other.1.cmp(one.1).then(one.0.cmp(other.0)));
        for (number, (rule, count)) in dropped.into_iter().enumerate() {
            let meaning = rules
                .iter()
                .find(|(name, _, _)| name == rule)
                .map_or(rule.as_str(), |(_, meaning, _)| meaning);
            let comma = if number > 0 { ", " } else { "" };
            write!(formatter, "{comma}{meaning} ({count})")?;
        }
        if self.dropped.contains_key("missing-estimate") {
            formatter.write_str(
                "; `workload.missing_estimate = \"runtime\"` keeps those without a requested time",
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(records: u64, missing_estimate: u64, zero_runtime: u64) -> Option<RecordLoss> {
        let report = CleaningReport {
            records,
            usable: records - missing_estimate - zero_runtime,
            missing_estimate,
            zero_runtime,
            ..CleaningReport::default()
        };
        RecordLoss::of("LLNL-Thunder", &report)
    }

    #[test]
    fn a_loss_of_more_than_a_hundredth_is_worth_a_warning_and_says_why_most_were_lost_first() {
        assert_eq!(loss(100, 0, 0), None);
        assert!(!loss(100, 0, 1).unwrap().is_worth_a_warning());
        let thunder = loss(121_039, 87_000, 623).unwrap();
        assert!(thunder.is_worth_a_warning());
        assert_eq!(
            thunder.to_string(),
            "LLNL-Thunder: 87623 of 121039 records (72.4 %) are not used: requested time missing, zero or negative (87000), \
             run time 0 (623); `workload.missing_estimate = \"runtime\"` keeps those without a requested time"
        );
    }
}
