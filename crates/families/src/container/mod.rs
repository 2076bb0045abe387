//! What containers are made of: namespaces, made and left behind for the kernel to take down.

mod namespace;

pub use namespace::ALL;
