//! What will end when: a heap in order of (time, who was entered first). It is no [`Agenda`](crate::kernel::Agenda), but four-way and
//! without classes, as the engines of this module are to work off a million jobs a second.

use crate::units::Seconds;

const WAYS: usize = 4;

/// Things that end, each with its time.
#[derive(Debug)]
pub(super) struct Ends<T> {
    /// A four-way heap: half as deep as a binary one, and a node's children share a cache line or two.
    heap: Vec<Entry<T>>,
    entered: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    time: i64,
    number: u64,
    what: T,
}

impl<T> Entry<T> {
    fn key(&self) -> (i64, u64) {
        (self.time, self.number)
    }
}

impl<T> Default for Ends<T> {
    fn default() -> Self {
        Self {
            heap: Vec::new(),
            entered: 0,
        }
    }
}

impl<T: Copy> Ends<T> {
    /// Enters something that ends at `time`.
    pub(super) fn push(&mut self, time: Seconds, what: T) {
        let entry = Entry {
            time: time.0,
            number: self.entered,
            what,
        };
        self.entered += 1;
        let mut place = self.heap.len();
        self.heap.push(entry);
        while place > 0 {
            let parent = (place - 1) / WAYS;
            if self.heap[parent].key() <= entry.key() {
                break;
            }
            self.heap[place] = self.heap[parent];
            place = parent;
        }
        self.heap[place] = entry;
    }

    /// When the next one ends.
    pub(super) fn next(&self) -> Option<Seconds> {
        self.heap.first().map(|entry| Seconds(entry.time))
    }

    /// Everything that will end, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.heap.iter().map(|entry| &entry.what)
    }

    /// Takes out the next one that ends at `until` or before.
    pub(super) fn pop_until(&mut self, until: Seconds) -> Option<(Seconds, T)> {
        let first = *self.heap.first()?;
        if first.time > until.0 {
            return None;
        }
        let last = self.heap.pop()?;
        let count = self.heap.len();
        if count > 0 {
            let mut place = 0;
            loop {
                let child = place * WAYS + 1;
                if child >= count {
                    break;
                }
                let past = (child + WAYS).min(count);
                let mut least = child;
                for other in child + 1..past {
                    if self.heap[other].key() < self.heap[least].key() {
                        least = other;
                    }
                }
                if last.key() <= self.heap[least].key() {
                    break;
                }
                self.heap[place] = self.heap[least];
                place = least;
            }
            self.heap[place] = last;
        }
        Some((Seconds(first.time), first.what))
    }
}
