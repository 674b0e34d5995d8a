//! Links without start-up code, C library or loader, so that code that needs any of them fails to
//! link.

fn main() {
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
