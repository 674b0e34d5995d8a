//! Clusters that run: what nodes have for themselves, what the network between them does, and that nothing is left of any of it.
//!
//! For root, with `/dev/net/tun`; elsewhere it says that it is skipped. This program is the cluster, what runs in it, and the test.

#![expect(clippy::print_stdout, reason = "it says which tests ran")]

#[cfg(target_os = "linux")]
mod parts;
#[cfg(target_os = "linux")]
mod tests;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    cluster::take_part();
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    match parts::run(&arguments) {
        Some(code) => code,
        None => tests::run(&arguments),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: a cluster needs Linux");
}
