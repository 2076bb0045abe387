//! Tells the crate the target triple for which it is built, which a result names, and whether the build aligns loops.

#[path = "src/loops.rs"]
mod loops;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/loops.rs");
    println!("cargo:rustc-env=OSCOST_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let aligned = if loops::are_aligned(&flags) { "aligned" } else { "elsewhere" };
    println!("cargo:rustc-env=OSCOST_LOOPS={aligned}");
}
