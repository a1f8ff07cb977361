//! The same work for many things on several threads, with the results in the order of the things.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What `work` makes of every item, in the order of the items, on at most so many threads.
///
/// Threads begin far apart: items beside each other often need the same input, which one of them
/// makes while the others would wait for it.
///
/// # Errors
///
/// The error of the first item among those that failed; after one, no item is begun.
pub fn map_in_parallel<I: Sync, T: Send + Sync, E: Send + Sync>(
    items: &[I],
    threads: usize,
    work: &(dyn Fn(&I) -> Result<T, E> + Sync),
) -> Result<Vec<T>, E> {
    let threads = threads.clamp(1, items.len().max(1));
    let begun: Vec<AtomicBool> = items.iter().map(|_| AtomicBool::new(false)).collect();
    let results: Vec<OnceLock<Result<T, E>>> = items.iter().map(|_| OnceLock::new()).collect();
    let failed = AtomicBool::new(false);
    let from = |start: usize| {
        for index in (start..items.len()).chain(0..start) {
            if failed.load(Ordering::Relaxed) {
                break;
            }
            if begun[index].swap(true, Ordering::Relaxed) {
                continue;
            }
            let result = work(&items[index]);
            if result.is_err() {
                failed.store(true, Ordering::Relaxed);
            }
            // Nobody else began this one.
            let _ = results[index].set(result);
        }
    };
    std::thread::scope(|scope| {
        for thread in 1..threads {
            let start = thread * items.len() / threads;
            let from = &from;
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || from(start));
            // This thread does everything that no other does.
            if spawned.is_err() {
                break;
            }
        }
        from(0);
    });
    results
        .into_iter()
        .filter_map(OnceLock::into_inner)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn every_item_is_worked_on_once_and_results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..1_000).collect();
        for threads in [0, 1, 3, 16, 5_000] {
            let calls = AtomicUsize::new(0);
            let squares = map_in_parallel(&items, threads, &|item: &usize| {
                calls.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(item * item)
            });
            let expected: Vec<usize> = items.iter().map(|item| item * item).collect();
            assert_eq!(squares, Ok(expected));
            assert_eq!(calls.into_inner(), items.len());
        }
        assert_eq!(
            map_in_parallel(&[], 4, &|(): &()| Ok::<_, ()>(())),
            Ok(Vec::new())
        );
    }

    #[test]
    fn the_first_error_comes_back_and_ends_the_work() {
        let items: Vec<usize> = (0..1_000).collect();
        let calls = AtomicUsize::new(0);
        let work = |item: &usize| {
            calls.fetch_add(1, Ordering::Relaxed);
            if *item == 7 { Err("seven") } else { Ok(()) }
        };
        assert_eq!(map_in_parallel(&items, 1, &work), Err("seven"));
        assert_eq!(calls.into_inner(), 8);
    }

    #[test]
    fn what_two_items_share_is_not_in_the_way_of_what_others_need() {
        // Four items of one kind and four of another: with two threads both kinds are begun at
        // once.
        let barrier = std::sync::Barrier::new(2);
        let kinds: [OnceLock<()>; 2] = [OnceLock::new(), OnceLock::new()];
        let items = [0, 0, 0, 0, 1, 1, 1, 1];
        let done = map_in_parallel(&items, 2, &|kind: &usize| {
            kinds[*kind].get_or_init(|| {
                barrier.wait();
            });
            Ok::<_, ()>(())
        });
        assert_eq!(done.map(|done| done.len()), Ok(8));
    }
}
