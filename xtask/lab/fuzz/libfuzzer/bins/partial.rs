//! See `fuzz::partial`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::partial(bytes));
