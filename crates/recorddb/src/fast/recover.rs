//! Recovery: frees the space that killed processes had allocated.

use super::format::{ARENAS, CLASSES, Head, header};
use super::space;
use super::survey::{Led, Survey};
use super::words::Words;
use super::{format, format::ARENA_IN_USE};
use crate::error::Error;

/// Whether some process was killed since the last recovery.
pub(super) fn is_needed(words: &mut impl Words) -> Result<bool, Error> {
    if words.load(header::UNCLEAN)? != 0 {
        return Ok(true);
    }
    for number in 0..ARENAS {
        if words.load(format::arena(number) + ARENA_IN_USE)? != 0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Puts every block that nothing leads to on the lists that all share. The caller is alone. A recovery that is killed
/// leaves what the next one recovers.
pub(super) fn recover(words: &mut impl Words) -> Result<(), Error> {
    words.store(header::UNCLEAN, 1)?;
    for number in 0..ARENAS {
        let arena = format::arena(number);
        if words.load(arena + ARENA_IN_USE)? != 0 {
            space::Space::take_over(words, number)?.0.give_back(words)?;
        }
    }
    let survey = Survey::of(words)?;
    if let Some(damage) = survey.damages.first() {
        return Err((*damage).into());
    }
    let mut found: Vec<(u64, usize)> = Vec::new();
    for block in survey.blocks.iter().filter(|block| block.led == Led::Nothing) {
        words.store(block.at, Head::free(block.head.class).word())?;
        found.push((block.at, block.head.class));
    }
    for (from, to) in survey.tails {
        space::cut(words, from, to, |at, class| found.push((at, class)))?;
    }
    for class in 0..CLASSES {
        let pool = header::POOL + class as u64;
        for (at, _) in found.iter().filter(|(_, of)| *of == class) {
            let head = words.load(pool)?;
            words.store(at + 1, head)?;
            words.store(pool, *at)?;
        }
    }
    words.store(header::UNCLEAN, 0)
}
