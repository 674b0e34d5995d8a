//! Runs clusters: checks that nodes are isolated, that the network delays and loses frames, and that nothing is left afterwards.
//!
//! Needs root and `/dev/net/tun`; without them, prints why it is skipped. The cluster's processes and its commands also run this program.

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
