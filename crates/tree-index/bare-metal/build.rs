//! Makes the linker omit the start-up code, the C library and the loader, so that code that needs
//! any of these fails to link.

fn main() {
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
