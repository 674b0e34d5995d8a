//! Sets `cfg(unoptimised)` for builds without optimisation. They have only the level `scalar`: without optimisation, vector kernels need minutes to
//! compile, and megabytes of stack.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
