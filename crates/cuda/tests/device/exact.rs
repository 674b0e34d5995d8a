//! Compares exact sums on a GPU with the processor's sums.

use cuda::Device;
use exact_sum::Accumulator;
use reduce::{Operator, Sum, exact};

use crate::{Bits, KINDS, Random, device, items};

trait Exact: Bits
where
    Sum: Operator<Self>,
{
    /// The words of the sum that a device computes, and of the processor's sum.
    fn words(device: &Device, items: &[Self], skipped: usize) -> [Vec<u64>; 2];
}

macro_rules! exact {
    ($float:ident) => {
        impl Exact for $float {
            fn words(device: &Device, items: &[Self], skipped: usize) -> [Vec<u64>; 2] {
                let memory = device.copy(items).unwrap();
                let pointer = memory.items().as_ptr() + (skipped * size_of::<Self>()) as u64;
                let rest = &items[skipped..];
                // SAFETY: the items are part of `memory`.
                #[expect(unsafe_code, reason = "part of a buffer")]
                let on_device = unsafe { device.items::<Self>(pointer, rest.len()) }.unwrap();
                let sum = device.exact_sum(on_device).unwrap();
                let expected = exact::Sum::of(rest);
                assert_eq!(sum.value().bits(), expected.value().bits());
                [sum.words().to_vec(), expected.words().to_vec()]
            }
        }
    };
}

exact!(f64);
exact!(f32);

fn check<T: Exact>(device: &Device, items: &[T], skipped: usize, kind: usize)
where
    Sum: Operator<T>,
{
    let [words, expected] = T::words(device, items, skipped);
    let length = items.len() - skipped;
    assert_eq!(
        words, expected,
        "{length} items of kind {kind}, {skipped} skipped"
    );
}

fn check_kinds<T: Exact>(device: &Device, seed: u64)
where
    Sum: Operator<T>,
{
    let mut random = Random(seed);
    for kind in 0..KINDS {
        for length in (0..20).chain([511, 512, 513, 4095, 4096, 10_000, 65_536, 1_000_003]) {
            let skipped = random.below(8).min(length);
            check(
                device,
                &items::<T>(&mut random, kind, length),
                skipped,
                kind,
            );
        }
    }
    for _ in 0..40 {
        let length = random.below(300_000) + 8;
        let (kind, skipped) = (random.below(KINDS), random.below(8));
        check(
            device,
            &items::<T>(&mut random, kind, length),
            skipped,
            kind,
        );
    }
}

#[test]
fn exact_sums_of_any_kind() {
    let Some(device) = device() else { return };
    check_kinds::<f64>(device, 46_011);
    check_kinds::<f32>(device, 46_012);
}

/// Every accumulator fills up, and must be emptied in time: all numbers have the largest magnitude of a scale, and the same sign.
#[test]
fn accumulators_run_full() {
    let Some(device) = device() else { return };
    let largest = f64::from_bits(0x3FEF_FFFF_FFFF_FFFF);
    check(device, &vec![largest; 1 << 25], 0, 100);
    check(device, &vec![-largest; 1 << 25], 1, 101);
    check(device, &vec![0.999_999_94_f32; 1 << 25], 0, 102);
    // Numbers at the ends of the range.
    for item in [f64::MAX, -f64::MAX, 5e-324, 2.2e-308, 1.7e303] {
        check(device, &vec![item; 100_000], 0, 103);
    }
    for item in [f32::MAX, 1e-45, -1.2e-38] {
        check(device, &vec![item; 100_000], 0, 104);
    }
}
