//! Gives the extension module the name that its file has: without it, it would have that of `treefold-c-mpi`'s own library, which it holds.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,_native.abi3.so");
    }
}
