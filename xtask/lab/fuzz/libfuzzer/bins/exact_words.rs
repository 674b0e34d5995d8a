//! See `fuzz::exact_words`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::exact_words(bytes));
