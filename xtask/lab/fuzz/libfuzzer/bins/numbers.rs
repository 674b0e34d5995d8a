//! See `fuzz::numbers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::numbers(bytes));
