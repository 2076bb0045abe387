//! Tells the crate the target triple for which it is built: a result names it.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=OSCOST_TARGET={}", std::env::var("TARGET").unwrap_or_default());
}
