//! Compares sums in tree order on a GPU with the processor's sums.

use std::thread;

use cuda::{Device, Error};
use reduce::{Operator, Sum};

use crate::{Bits, KINDS, Random, bits, device, items};

/// Compares the sum of `items[skipped..]` with the processor's sum.
fn check<T: Bits>(device: &Device, items: &[T], skipped: usize)
where
    Sum: Operator<T>,
{
    let memory = device.copy(items).unwrap();
    let pointer = memory.items().as_ptr() + (skipped * size_of::<T>()) as u64;
    let rest = &items[skipped..];
    // SAFETY: the items are part of `memory`.
    #[expect(unsafe_code, reason = "part of a buffer")]
    let on_device = unsafe { device.items::<T>(pointer, rest.len()) }.unwrap();
    let sum = device.sum(on_device).unwrap();
    let expected = reduce::sum(rest).unwrap();
    let length = rest.len();
    assert_eq!(
        sum.bits(),
        expected.bits(),
        "{length} items, {skipped} skipped"
    );
}

fn check_lengths<T: Bits>(device: &Device, seed: u64)
where
    Sum: Operator<T>,
{
    let mut random = Random(seed);
    let short = 0..70;
    let around = (7..=20).flat_map(|power| {
        let length = 1_usize << power;
        [length - 1, length, length + 1]
    });
    for length in short.chain(around) {
        let kind = random.below(KINDS);
        let skipped = random.below(8).min(length);
        check(device, &items::<T>(&mut random, kind, length), skipped);
    }
    for _ in 0..40 {
        let length = random.below(3_000_000) + 8;
        let (kind, skipped) = (random.below(KINDS), random.below(8));
        check(device, &items::<T>(&mut random, kind, length), skipped);
    }
}

#[test]
fn sums_of_any_length() {
    let Some(device) = device() else { return };
    check_lengths::<f64>(device, 46_001);
    check_lengths::<f32>(device, 46_002);
}

/// Sums that need every level of blocks, and more partial sums than a block folds.
#[test]
fn long_sums() {
    let Some(device) = device() else { return };
    let mut random = Random(46_003);
    let long: Vec<f32> = items(&mut random, 0, (1 << 27) + 12_345);
    for length in [1 << 23, (1 << 25) - 1, (1 << 26) + 1, long.len()] {
        check(device, &long[..length], 0);
        check(device, &long[..length], 3);
    }
    let long: Vec<f64> = items(&mut random, 0, (1 << 26) + 12_345);
    for length in [1 << 22, (1 << 24) - 1, (1 << 25) + 1, long.len()] {
        check(device, &long[..length], 0);
        check(device, &long[..length], 1);
    }
}

fn check_runs<T: Bits>(device: &Device, random: &mut Random, width: usize, lengths: &[usize])
where
    Sum: Operator<T>,
{
    let rows = lengths.iter().fold(0, |rows, length| rows + length);
    let kind = random.below(KINDS);
    let items = items::<T>(random, kind, rows * width);
    let memory = device.copy(&items).unwrap();
    let mut results = vec![T::rounded(7.0); lengths.len() * width];
    device
        .fold_runs(memory.items(), width, lengths, &mut results)
        .unwrap();
    Operator::<T>::make_canonical(&Sum, &mut results);
    let mut rest = &items[..];
    for (index, (&length, result)) in lengths.iter().zip(results.chunks_exact(width)).enumerate() {
        let (run, others) = rest.split_at(length * width);
        let mut expected = vec![T::rounded(0.0); width];
        reduce::sum_rows(run, width, &mut expected).unwrap();
        assert_eq!(
            bits(result),
            bits(&expected),
            "run {index} of {length} rows of {width}"
        );
        rest = others;
    }
}

fn check_many_runs<T: Bits>(device: &Device, seed: u64)
where
    Sum: Operator<T>,
{
    let mut random = Random(seed);
    for width in [1, 1, 1, 2, 3, 5, 8, 17, 31, 32, 33, 100, 1000] {
        for count in [1, 2, 63, 64, 65, 300] {
            let most = 60_000 / (width * count).min(50_000) + 1;
            let lengths: Vec<usize> = (0..count).map(|_| random.below(most) + 1).collect();
            check_runs::<T>(device, &mut random, width, &lengths);
        }
    }
    // Runs of many blocks, among short ones.
    let lengths = [1, 3_000_000, 5, 700_000, 1 << 20, 1];
    check_runs::<T>(device, &mut random, 1, &lengths);
    check_runs::<T>(device, &mut random, 2, &lengths);
    check_runs::<T>(device, &mut random, 40, &[1, 70_000, 33_000]);
}

#[test]
fn runs_of_rows() {
    let Some(device) = device() else { return };
    check_many_runs::<f64>(device, 46_004);
    check_many_runs::<f32>(device, 46_005);
}

#[test]
fn threads_share_a_device() {
    let Some(device) = device() else { return };
    thread::scope(|scope| {
        for seed in 1..5 {
            scope.spawn(move || {
                let mut random = Random(seed);
                for _ in 0..50 {
                    let length = random.below(100_000);
                    check(device, &items::<f64>(&mut random, 0, length), 0);
                }
            });
        }
    });
}

#[test]
fn what_is_wrong_is_said() {
    let Some(device) = device() else { return };
    let memory = device.copy(&[1.0, 2.0, 3.0]).unwrap();
    let wrong = |outcome: Result<(), Error>, words: &str| {
        let text = outcome.unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    wrong(
        device.sum_rows(memory.items(), 2, &mut [0.0; 2]),
        "3 values cannot form rows of 2",
    );
    wrong(
        device.sum_rows(memory.items(), 0, &mut []),
        "cannot form rows of 0",
    );
    wrong(
        device.sum_rows(memory.items(), 3, &mut [0.0; 2]),
        "a row has 3 values, but the result has 2",
    );
    wrong(
        device.fold_runs(memory.items(), 1, &[2, 0, 1], &mut [0.0; 3]),
        "run 1 has no rows",
    );
    wrong(
        device.fold_runs(memory.items(), 1, &[2, 2], &mut [0.0; 2]),
        "the runs have 4 values, but there are 3",
    );
    let host = [1.0_f64];
    let refused = |pointer: u64| {
        // SAFETY: nothing is read, because the pointers are rejected.
        #[expect(unsafe_code, reason = "pointers that are rejected")]
        unsafe { device.items::<f64>(pointer, 1) }.map(drop)
    };
    wrong(refused(memory.items().as_ptr() + 4), "not aligned");
    wrong(
        refused(host.as_ptr() as u64),
        "the driver does not know this memory",
    );
    let most = Device::new(1 << 20).map(drop);
    wrong(most, "no GPU 1048576");
}
