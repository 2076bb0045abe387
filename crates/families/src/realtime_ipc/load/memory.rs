//! Load `memory`: memory is mapped, written from end to end, and given back: faults, bandwidth, cold caches.

use oscost_sys::memory::ColdPages;

use super::Round;

/// Words of a round: 64 MB, more than most caches hold.
const WORDS: usize = 8 << 20;

/// Nothing to make.
pub fn prepare() -> Round {
    Box::new(|| {
        let mut pages = ColdPages::new(WORDS).map_err(|error| error.to_string())?;
        pages.words().iter_mut().for_each(|word| *word = 1);
        std::hint::black_box(pages.words());
        Ok(())
    })
}
