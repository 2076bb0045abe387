//! Memory that a benchmark holds: whether the machine has it, whether it is resident, and in which pages.

use oscost_harness::{CallError, PostCondition, Unable};
use oscost_sys::region::{self, Pages, Region, Smaps};

use crate::lack;

/// What stays for others beside what is asked for.
const SPARE: u64 = 64 << 20;

/// Refuses before memory is touched that the machine or the cgroup would have to kill somebody for. A child's page tables and a
/// copy are in twice the size.
pub fn enough(bytes: usize) -> Result<(), Unable> {
    let needed = 2 * bytes as u64 + SPARE;
    match region::available() {
        Some(available) if available < needed => Err(lack::of_room(needed, available)),
        _ => Ok(()),
    }
}

/// A region of `bytes`, all resident in pages of this size.
pub fn resident(bytes: usize, pages: Pages) -> Result<Region, Unable> {
    enough(bytes)?;
    let mut region = Region::new(bytes, pages).map_err(|error| of(error, pages))?;
    region.touch(pages)?;
    huge_enough(region.smaps(), bytes, pages)?;
    Ok(region)
}

/// Of mapping pages of this size.
pub fn of(error: CallError, pages: Pages) -> Unable {
    match (pages, error.symbol()) {
        (Pages::Huge, Some("EINVAL")) => lack::of_huge_pages("this kernel has none"),
        _ => lack::of_memory(error),
    }
}

/// Refuses where huge pages were asked for and the kernel gave small ones.
pub fn huge_enough(smaps: Option<Smaps>, bytes: usize, pages: Pages) -> Result<(), Unable> {
    match smaps {
        Some(smaps) if pages == Pages::Huge && smaps.huge < bytes as u64 => {
            let given = format!("the kernel gave {} of {} MiB in huge pages", smaps.huge >> 20, bytes >> 20);
            Err(lack::of_huge_pages(&given))
        }
        _ => Ok(()),
    }
}

/// That all of it is resident, and in pages of this size.
pub fn holds(smaps: Option<Smaps>, bytes: usize, pages: Pages) -> impl Iterator<Item = PostCondition> {
    let huge = if pages == Pages::Huge { bytes as f64 } else { 0.0 };
    smaps.into_iter().flat_map(move |smaps| {
        [
            PostCondition::exactly("bytes_resident", bytes as f64, smaps.resident as f64),
            PostCondition::exactly("bytes_in_huge_pages", huge, smaps.huge as f64),
        ]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_the_wrong_size_are_told() {
        let small = Some(Smaps { resident: 4 << 20, huge: 0, writable: true });
        let held = |pages| holds(small, 4 << 20, pages).all(|it| it.holds());
        assert!(held(Pages::Small) && !held(Pages::Huge));
        assert!(!holds(small, 8 << 20, Pages::Small).all(|it| it.holds()), "half of it is not there");
        assert!(huge_enough(small, 4 << 20, Pages::Small).is_ok());
        let Err(Unable::Unsupported { why, .. }) = huge_enough(small, 4 << 20, Pages::Huge) else {
            panic!("huge")
        };
        assert!(why.contains("gave 0 of 4 MiB"), "{why}");
        assert!(matches!(enough(usize::MAX / 4), Err(Unable::Unsupported { .. })));
    }
}
