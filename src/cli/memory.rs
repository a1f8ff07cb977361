//! `--memory`: how much of the machine's memory the records of inputs may take.

use std::fs;
use std::path::Path;

use bookahead_core::memory::MemoryBudget;
use bytesize::ByteSize;
use clap::Args;

/// The budget where the machine does not say how much memory it has.
const UNKNOWN_MACHINE: u64 = 2_000_000_000;

/// The option of all commands that read records or simulate.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct MemoryArguments {
    /// Memory that the records of inputs may take, such as 500MB or 4GB [default: half of what the
    /// machine has and its control groups and ulimit -v allow; 2GB where that cannot be read]
    #[arg(long, value_name = "SIZE", global = true)]
    memory: Option<ByteSize>,
}

impl MemoryArguments {
    /// The budget that was asked for, else half of the memory that there is.
    #[must_use]
    pub fn budget(self) -> MemoryBudget {
        let bytes = match self.memory {
            Some(size) => size.as_u64(),
            None => available().map_or(UNKNOWN_MACHINE, |bytes| bytes / 2),
        };
        MemoryBudget::of_bytes(bytes)
    }
}

/// Bytes that this process can have: the smallest of the machine's memory, the limits of its
/// control groups and that of its address space.
fn available() -> Option<u64> {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let machine = in_meminfo(&read("/proc/meminfo"));
    let address_space = in_limits(&read("/proc/self/limits"));
    let groups = groups_in(&read("/proc/self/cgroup"));
    let group_limits = groups
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok());
    (machine.into_iter())
        .chain(address_space)
        .chain(group_limits)
        .min()
}

/// `MemTotal` of `/proc/meminfo`.
fn in_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// The limit of the address space in `/proc/self/limits`; `None` where there is none.
fn in_limits(text: &str) -> Option<u64> {
    let line = (text.lines()).find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The files that limit the control groups of `/proc/self/cgroup` and those above them, in version
/// 2 and version 1. One that says `max` limits nothing.
fn groups_in(text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            "memory" => ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => continue,
        };
        for group in Path::new(path).ancestors() {
            let group = group.to_string_lossy();
            files.push(format!("{root}{}/{file}", group.trim_end_matches('/')));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_the_machine_its_groups_and_its_ulimit_are_read() {
        let meminfo = "MemTotal:       24683520 kB\nMemFree:  1 kB\n";
        assert_eq!(in_meminfo(meminfo), Some(24_683_520 << 10));
        assert_eq!(in_meminfo("nothing"), None);
        let limits =
            "Limit  Soft  Hard  Units\nMax address space         4194304000  unlimited  bytes\n";
        assert_eq!(in_limits(limits), Some(4_194_304_000));
        assert_eq!(
            in_limits("Max address space  unlimited  unlimited  bytes"),
            None
        );
        assert_eq!(
            groups_in("0::/slurm/job_7\n"),
            [
                "/sys/fs/cgroup/slurm/job_7/memory.max",
                "/sys/fs/cgroup/slurm/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            groups_in("5:cpu:/a\n4:memory:/a\n"),
            [
                "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ]
        );
    }

    #[test]
    fn without_the_option_the_budget_is_half_of_what_there_is() {
        let default = MemoryArguments::default().budget().bytes();
        assert_eq!(
            default,
            available().map_or(UNKNOWN_MACHINE, |bytes| bytes / 2)
        );
        assert!(default > 0);
    }
}
