//! Sets `cfg(unoptimised)` for builds without optimisation. Vector kernels then take minutes to compile and megabytes of stack, and are slower than
//! plain Rust, so such builds have only the level `scalar`.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(unoptimised)");
    if env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=unoptimised");
    }
}
