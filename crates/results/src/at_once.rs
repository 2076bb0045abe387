//! Many files, read by all CPUs at once.

use std::num::NonZeroUsize;

/// A thread for fewer files costs more than it saves. And if memory is short when a thread starts, the standard library may end
/// the program.
const LEAST_OF_A_THREAD: usize = 8;

/// What `read` makes of each of `paths`, in their order.
pub(crate) fn by_all_cpus<P: Sync, T: Send>(paths: &[P], read: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let cpus = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let part = paths.len().div_ceil(cpus).max(LEAST_OF_A_THREAD);
    let (own, others) = paths.split_at(part.min(paths.len()));
    let read = |paths: &[P]| paths.iter().map(&read).collect::<Vec<T>>();
    let read = &read;
    std::thread::scope(|scope| {
        let start = |paths| std::thread::Builder::new().spawn_scoped(scope, move || read(paths));
        let threads: Vec<_> = others.chunks(part).map(start).collect();
        let mut all = read(own);
        // Where no thread was to be had its files are read here; so are those of one that panicked, in the open.
        for (thread, paths) in threads.into_iter().zip(others.chunks(part)) {
            all.extend(thread.ok().and_then(|thread| thread.join().ok()).unwrap_or_else(|| read(paths)));
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread whose start lacks memory ends the program, and two results need none.
    #[test]
    fn few_files_are_read_without_threads_and_many_in_their_order() {
        let caller = std::thread::current().id();
        let few: Vec<usize> = (0..LEAST_OF_A_THREAD).collect();
        let readers = by_all_cpus(&few, |_| std::thread::current().id());
        assert!(readers.iter().all(|reader| *reader == caller), "{readers:?}");
        let many: Vec<usize> = (0..1000).collect();
        for length in [0, 1, few.len() + 1, 999, 1000] {
            assert_eq!(by_all_cpus(&many[..length], |number| *number), many[..length]);
        }
    }
}
