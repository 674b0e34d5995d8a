//! No start-up code, no C library, no loader: whatever needs one of them fails to link.

fn main() {
    for argument in ["-nostartfiles", "-nostdlib", "-static"] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
