//! Compares every level of this machine with the recursive definition, bit for bit.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod common;

use common::{Bits, OPERATIONS, finite_word, spread_word, word};
use proptest::collection::vec;
use proptest::prelude::*;
use simd_kernels::{
    Level, LevelError, by_definition, fold, reduce_level_by_level, scratch_len, subtree_sum8, sum,
    tree_fold,
};

/// Runs every level on the leaves, compares with the definition, and checks that the leaves are unchanged.
#[track_caller]
fn check<T: Bits>(leaves: &[T]) {
    let before: Vec<u64> = leaves.iter().map(|leaf| leaf.bits()).collect();
    let expected = by_definition(leaves, &|left, right| left + right).map(Bits::bits);
    for level in Level::available() {
        let mut scratch = vec![T::ZERO; scratch_len(leaves.len())];
        let passes = reduce_level_by_level(level, leaves, &mut scratch);
        assert_eq!(
            passes.map(Bits::bits),
            expected,
            "passes, {level}, N = {}",
            leaves.len()
        );
        let one_pass = sum(level, leaves);
        assert_eq!(
            one_pass.map(Bits::bits),
            expected,
            "sum, {level}, N = {}",
            leaves.len()
        );
        let (subtrees, _) = leaves.as_chunks::<8>();
        for subtree in subtrees {
            let expected = by_definition(subtree, &|left, right| left + right).unwrap();
            assert_eq!(
                subtree_sum8(level, subtree).bits(),
                expected.bits(),
                "subtree, {level}"
            );
        }
    }
    for operation in OPERATIONS {
        let expected = by_definition(leaves, &|left, right| {
            T::by_standard(operation, left, right)
        });
        for level in Level::available() {
            let found = fold(level, operation, leaves);
            let (found, expected) = (found.map(Bits::bits), expected.map(Bits::bits));
            assert_eq!(
                found,
                expected,
                "{operation:?}, {level}, N = {}",
                leaves.len()
            );
        }
    }
    let any_operator = tree_fold(leaves, |left, right| left + right);
    assert_eq!(
        any_operator.map(Bits::bits),
        expected,
        "tree_fold, N = {}",
        leaves.len()
    );
    assert!(leaves.iter().map(|leaf| leaf.bits()).eq(before));
}

proptest! {
    #[test]
    fn any_length_and_offset(words in vec(word(), 0..700), offset in 0..16_usize) {
        let from = offset.min(words.len());
        let doubles: Vec<f64> = words.iter().copied().map(Bits::from_word).collect();
        check(&doubles[from..]);
        let floats: Vec<f32> = words.iter().copied().map(Bits::from_word).collect();
        check(&floats[from..]);
    }

    /// Slices of several blocks; the leaves are finite, so that no NaN hides a difference.
    #[test]
    fn long_slices(words in vec(finite_word(), 1000), repeats in 1..30_usize, cut in 0..1000_usize) {
        let words = words.repeat(repeats);
        let doubles: Vec<f64> = words[cut..].iter().copied().map(Bits::from_word).collect();
        check(&doubles);
        let floats: Vec<f32> = words[cut..].iter().copied().map(Bits::from_word).collect();
        check(&floats);
    }
}

/// Tests every length around the powers of eight and the block sizes, and a length beyond the caches.
#[test]
fn lengths_where_something_ends() {
    let leaves: Vec<f64> = (0..(1 << 20) + 3)
        .map(|i| f64::from_word(spread_word(i)))
        .collect();
    for length in 0..=130 {
        check(&leaves[..length]);
    }
    // Blocks and groups of the kernels end at 128, 256, 512, 1024 and 4096. Prefetching has its own test.
    for edge in [
        256,
        512,
        1024,
        4096,
        5000,
        8192,
        3 * 4096 + 512 + 64,
        32768,
        1 << 17,
        1 << 18,
    ] {
        for length in edge - 2..=edge + 2 {
            check(&leaves[..length]);
        }
    }
    check(&leaves);
}

/// An operator that is neither associative nor commutative, so different expressions over the items give different results.
fn mix(left: u64, right: u64) -> u64 {
    (left.rotate_left(7) ^ right.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_add(left >> 3)
}

#[test]
fn tree_fold_keeps_operands_in_order() {
    let items: Vec<u64> = (1..5000).collect();
    for length in (0..600).chain([4095, 4096, 4097, 4999]) {
        let items = &items[..length];
        assert_eq!(
            tree_fold(items, mix),
            by_definition(items, &mix),
            "N = {length}"
        );
    }
}

/// Tests silently skip a level that is not detected, so the detected levels must match the processor's
/// flags.
#[test]
fn levels_are_those_of_the_processor() {
    let names: Vec<&str> = Level::available().map(Level::name).collect();
    println!("levels that ran: {}", names.join(", "));
    assert_eq!(Some(Level::best()), Level::available().last());
    assert!(Level::available().is_sorted());
    if cfg!(unoptimised) {
        assert_eq!(names, ["scalar"]);
        return;
    }
    // Without `std`, only the target features chosen at compile time are detected.
    if let Ok(cpu) = std::fs::read_to_string("/proc/cpuinfo")
        && cfg!(all(target_arch = "x86_64", feature = "std"))
    {
        for (name, flag) in [("avx2", "avx2"), ("avx512", "avx512f")] {
            let has = cpu.split_whitespace().any(|word| word == flag);
            assert_eq!(names.contains(&name), has, "{name}");
        }
        assert!(names.contains(&"sse2"));
        // CI machines must have AVX2, so that the tests of AVX2 are not skipped there.
        assert!(std::env::var_os("CI").is_none() || names.contains(&"avx2"));
    }
    // NEON is part of the compilation target. Flags are not compared, because qemu shows the flags of the machine that it runs on.
    if cfg!(target_arch = "aarch64") {
        assert_eq!(names, ["scalar", "neon"]);
    }
    for level in Level::available() {
        assert_eq!(Level::named(level.name()), Ok(level));
    }
    for name in ["neon", "sse2", "avx2", "avx512"] {
        let missing = Err(LevelError::NotSupported { name });
        assert!(names.contains(&name) || Level::named(name) == missing);
    }
    assert_eq!(Level::named("mmx"), Err(LevelError::Unknown));
}

/// Padding with +0.0 would turn a sum of negative zeros positive.
#[test]
fn nothing_is_padded() {
    for length in 1..100 {
        check(&vec![-0.0_f64; length]);
        check(&vec![-0.0_f32; length]);
    }
    for level in Level::available() {
        assert_eq!(sum::<f64>(level, &[]), None);
    }
}

/// Tests factors a little above 1. Products of many other floats overflow or become 0, which hides their order.
#[test]
fn products_that_neither_overflow_nor_vanish() {
    let random = |i: u64| spread_word(i) & 0x0000_FFFF_FFFF_FFFF;
    let doubles: Vec<f64> = (0..5000)
        .map(|i| f64::from_word(0x3FF0_0000_0000_0000 | random(i) >> 4))
        .collect();
    let floats: Vec<f32> = (0..5000)
        .map(|i| f32::from_word(0x3F80_0000_0000_0000 | random(i)))
        .collect();
    assert!(doubles.iter().all(|x| (1.0..1.01).contains(x)));
    assert!(floats.iter().all(|x| (1.0..1.01).contains(x)));
    for length in (120..600).step_by(7).chain([1024, 4096, 4999, 5000]) {
        check(&doubles[..length]);
        check(&floats[..length]);
    }
}

/// Tests slices of sizes at which the streaming kernel prefetches, which is a separate code path.
#[test]
fn leaves_that_are_fetched_ahead() {
    let doubles: Vec<f64> = (0..(1 << 21) + 3)
        .map(|i| f64::from_word(spread_word(i)))
        .collect();
    check_streams(&doubles);
    let floats: Vec<f32> = (0..(1 << 22) + 3)
        .map(|i| f32::from_word(spread_word(i)))
        .collect();
    check_streams(&floats);
}

/// Makes only the checks of [`check`] that long slices need.
#[track_caller]
fn check_streams<T: Bits>(leaves: &[T]) {
    let expected = by_definition(leaves, &|left, right| left + right).map(Bits::bits);
    for level in Level::available() {
        let found = sum(level, leaves).map(Bits::bits);
        assert_eq!(found, expected, "sum, {level}, N = {}", leaves.len());
    }
}

#[test]
#[should_panic(expected = "100 leaves need 16 values of scratch memory, not 3")]
fn short_scratch_is_a_bug() {
    let _ = reduce_level_by_level(Level::SCALAR, &[0.0; 100], &mut [0.0; 3]);
}
