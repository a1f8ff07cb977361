//! Numbers in place of names: a trace that leaves a machine should not say who worked there.

use std::collections::HashMap;

use bookahead_core::workload::NameKind;

/// What a name costs beside its letters: its place in a table that is half full at worst, and its
/// allocation.
const BYTES_A_NAME: usize = 80;

/// Names in order of their first appearance, each kind numbered from 1.
#[derive(Clone, Debug, Default)]
pub struct Names {
    kinds: [Numbering; 4],
    bytes: u64,
}

#[derive(Clone, Debug, Default)]
struct Numbering {
    numbers: HashMap<Box<[u8]>, u32>,
    /// The last name asked for: jobs of one user come in bursts.
    last: (Vec<u8>, u32),
}

impl Names {
    /// The number of a name: −1 where there is none.
    pub fn number(&mut self, kind: NameKind, name: &[u8]) -> i32 {
        if name.is_empty() {
            return -1;
        }
        let numbering = &mut self.kinds[kind as usize];
        if numbering.last.0 != name {
            let next = u32::try_from(numbering.numbers.len()).unwrap_or(u32::MAX) + 1;
            let number = match numbering.numbers.get(name) {
                Some(number) => *number,
                None => {
                    self.bytes += (name.len() + BYTES_A_NAME) as u64;
                    *numbering.numbers.entry(name.into()).or_insert(next)
                }
            };
            numbering.last.0.clear();
            numbering.last.0.extend_from_slice(name);
            numbering.last.1 = number;
        }
        i32::try_from(numbering.last.1).unwrap_or(-1)
    }

    /// Bytes that the names take, at most.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many names of a kind there are.
    #[must_use]
    pub fn count(&self, kind: NameKind) -> usize {
        self.kinds[kind as usize].numbers.len()
    }

    /// Every name with its kind and number, in order of kind and number. What is no UTF-8 is shown
    /// as far as it is.
    #[must_use]
    pub fn all(&self) -> Vec<(&'static str, u32, String)> {
        let mut all = Vec::new();
        for (kind, word) in NameKind::ALL {
            let mut names: Vec<_> = self.kinds[kind as usize].numbers.iter().collect();
            names.sort_by_key(|(_, number)| **number);
            all.extend(
                names.into_iter().map(|(name, number)| {
                    (word, *number, String::from_utf8_lossy(name).into_owned())
                }),
            );
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_from_one_in_order_of_appearance_each_kind_by_itself() {
        let mut names = Names::default();
        let users: Vec<i32> = ["ada", "bob", "ada", "", "carl", "bob"]
            .map(|name| names.number(NameKind::User, name.as_bytes()))
            .into();
        assert_eq!(users, [1, 2, 1, -1, 3, 2]);
        assert_eq!(names.number(NameKind::Queue, b"bob"), 1);
        let all = names.all();
        assert_eq!(all[2], ("user", 3, "carl".to_owned()));
        assert_eq!(all[3], ("queue", 1, "bob".to_owned()));
        assert_eq!(names.count(NameKind::User), 3);
    }
}
