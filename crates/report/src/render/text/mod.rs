//! Blocks as lines for a terminal or a pipe.

pub(crate) mod blocks;
pub(crate) mod layout;
pub(crate) mod lines;
pub(crate) mod screen;
pub(crate) mod style;
mod table;
