//! Sets the shared library's soname.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let version =
        |part: &str| env::var(format!("CARGO_PKG_VERSION_{part}")).expect("cargo sets it");
    // Before 1.0, a minor version may change the interface.
    let interface = match version("MAJOR").as_str() {
        "0" => format!("0.{}", version("MINOR")),
        major => major.to_owned(),
    };
    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtreefold_pmpi.so.{interface}");
    }
}
