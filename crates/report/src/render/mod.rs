//! Blocks to text, Markdown and a page for a browser.

pub(crate) mod html;
pub(crate) mod markdown;
pub(crate) mod text;
