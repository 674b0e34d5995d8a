//! Compares sums on a GPU with the processor's sums, bit by bit. Without a GPU, prints that tests are
//! skipped.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod exact;
mod golden;
mod plans;
mod tree;

use std::io::{self, Write};
use std::sync::OnceLock;

use cuda::{Device, Element};
use reduce::{Operator, Sum};

/// The GPU, or `None`. The first call prints which GPU it is, or why there is none.
fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE
        .get_or_init(|| match Device::new(0) {
            Ok(device) => {
                tell(&format!("GPU: {}", device.name().unwrap()));
                Some(device)
            }
            Err(error) => {
                tell(&format!("skipped: {error}"));
                None
            }
        })
        .as_ref()
}

#[expect(
    clippy::explicit_write,
    reason = "the test harness captures other output"
)]
fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").unwrap();
}

/// A generator of test data: xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`.
    fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        usize::try_from(self.next() % end).expect("it fits in a usize")
    }

    /// A number in (-1, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 * 2_f64.powi(-52) - 1.0
    }
}

/// A type of items that converts to and from its bits.
trait Bits: Element
where
    Sum: Operator<Self>,
{
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    fn rounded(number: f64) -> Self;
}

impl Bits for f64 {
    fn bits(self) -> u64 {
        self.to_bits()
    }
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits)
    }
    fn rounded(number: f64) -> Self {
        number
    }
}

impl Bits for f32 {
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
    #[expect(clippy::cast_possible_truncation, reason = "a float has 32 bits")]
    fn of_bits(bits: u64) -> Self {
        Self::from_bits(bits as u32)
    }
    #[expect(clippy::cast_possible_truncation, reason = "the cast rounds")]
    fn rounded(number: f64) -> Self {
        number as f32
    }
}

fn bits<T: Bits>(values: &[T]) -> Vec<u64>
where
    Sum: Operator<T>,
{
    values.iter().map(|value| value.bits()).collect()
}

/// The number of kinds of items that [`items`] draws.
const KINDS: usize = 8;

fn items<T: Bits>(random: &mut Random, kind: usize, length: usize) -> Vec<T>
where
    Sum: Operator<T>,
{
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MAX];
    let mut item = |index: usize| match kind {
        0 => T::rounded(random.unit()),
        // Any exponents of this type, but no NaN and no infinities.
        1 => loop {
            let item = T::of_bits(random.next());
            if item.to_finite().is_some() {
                break item;
            }
        },
        2 => T::rounded(-0.0),
        // Subnormal numbers.
        3 => T::of_bits(random.next() & 0x8000_0000_000F_FFFF),
        // Cancellation, across the range of floats.
        4 => {
            let scale = [1e30, 1.0, 1e-30, 1e-40][index % 4];
            T::rounded(random.unit() * scale)
        }
        // A few items of a much greater magnitude.
        5 if random.below(1000) == 0 => T::rounded(random.unit() * 1e35),
        6 if random.below(2000) == 0 => T::rounded(special[random.below(5)]),
        // Larger and larger items.
        7 => T::rounded(random.unit() * 1.001_f64.powf((index % 50_000) as f64)),
        _ => T::rounded(random.unit() + 1.0),
    };
    (0..length).map(&mut item).collect()
}

trait Finite: Sized {
    fn to_finite(self) -> Option<f64>;
}

impl<T: Bits> Finite for T
where
    Sum: Operator<T>,
{
    fn to_finite(self) -> Option<f64> {
        let value = exact_sum::sum(&[self]);
        let number = f64::from_bits(value.bits());
        let is_float = size_of::<T>() == 4;
        let number = if is_float {
            f64::from(f32::from_bits(u32::try_from(value.bits()).ok()?))
        } else {
            number
        };
        number.is_finite().then_some(number)
    }
}
