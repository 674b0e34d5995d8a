//! Fixed-point numbers that hold any sum of floats.

use core::marker::PhantomData;

use bytemuck::Pod;

use crate::counters::Counters;

/// The bits of a limb that belong to it; what is above is a carry, which waits.
const LIMB_BITS: u32 = 32;
const LIMB_MASK: i64 = (1 << LIMB_BITS) - 1;

/// An addition changes a limb by less than 2^54, and a limb has room for 2^63.
const MOST_ADDITIONS: u32 = 1 << 8;

/// The range of a fixed-point number: an array of limbs of 32 bits, in words of 64 so that carries can wait.
pub trait Window: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// An array of limbs.
    type Limbs: AsRef<[i64]> + AsMut<[i64]> + Copy + PartialEq + core::fmt::Debug + Send + Sync;

    /// An array of the limbs and the [`Counters`].
    type Words: AsRef<[i64]> + AsMut<[i64]> + Pod;

    /// The number of limbs.
    const LIMBS: usize;

    /// The exponent of the lowest bit.
    const LOWEST: i32;

    /// Zero.
    const ZERO: Self::Limbs;
}

/// A window with room for 2^64 numbers below 2^`$highest`, all multiples of 2^`$lowest`.
macro_rules! window {
    ($(#[$doc:meta])* $name:ident, $lowest:literal, $highest:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $name {
            /// One more for the sign, and for the upper end of an addition.
            const LIMBS: usize = {
                let bits: i32 = $highest + 64 - $lowest;
                bits.cast_unsigned().div_ceil(LIMB_BITS) as usize + 1
            };
        }

        impl Window for $name {
            type Limbs = [i64; $name::LIMBS];
            type Words = [i64; $name::LIMBS + Counters::WORDS];
            const LIMBS: usize = $name::LIMBS;
            const LOWEST: i32 = $lowest;
            const ZERO: Self::Limbs = [0; $name::LIMBS];
        }
    };
}

window!(
    /// Sums of doubles.
    Doubles, -1074, 1024
);
window!(
    /// Sums of products of two doubles.
    DoubleProducts, -2148, 2048
);
window!(
    /// Sums of floats.
    Singles, -149, 128
);
window!(
    /// Sums of products of two floats.
    SingleProducts, -298, 256
);

/// A fixed-point number: limb i counts units of 2^(`W::LOWEST` + 32 i).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<W: Window> {
    limbs: W::Limbs,
    /// Since carries were propagated.
    additions: u32,
    window: PhantomData<W>,
}

impl<W: Window> Fixed<W> {
    pub(crate) const ZERO: Self = Self {
        limbs: W::ZERO,
        additions: 0,
        window: PhantomData,
    };

    /// Adds value * 2^unit, where the value has 53 bits and a sign; it must be a multiple of 2^`W::LOWEST`, and within the window.
    #[inline]
    pub(crate) fn add(&mut self, value: i64, unit: i32) {
        debug_assert!(value.unsigned_abs() < 1 << 54);
        let position = (unit - W::LOWEST).cast_unsigned();
        let shift = position % LIMB_BITS;
        let first = (position / LIMB_BITS) as usize;
        let limbs = &mut self.limbs.as_mut()[first..][..2];
        limbs[0] += (value << shift) & LIMB_MASK;
        limbs[1] += value >> (LIMB_BITS - shift);
        self.additions += 1;
        if self.additions >= MOST_ADDITIONS {
            self.propagate_carries();
        }
    }

    /// [`add`](Self::add) of any value, and with a unit that may be below the window if no bit of the value is.
    pub(crate) fn add_long(&mut self, value: i64, unit: i32) {
        let below = (W::LOWEST - unit).max(0).unsigned_abs();
        let (value, unit) = (value.checked_shr(below).unwrap_or(0), unit.max(W::LOWEST));
        self.add(value & LIMB_MASK, unit);
        self.add(value >> LIMB_BITS, unit + LIMB_BITS as i32);
    }

    /// Adds another number.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_limbs(other.propagated_limbs().as_ref());
    }

    /// Adds limbs, each of which is below 2^62 in magnitude.
    pub(crate) fn add_limbs(&mut self, limbs: &[i64]) {
        self.propagate_carries();
        for (own, other) in self.limbs.as_mut().iter_mut().zip(limbs) {
            *own += *other;
        }
        self.propagate_carries();
    }

    /// Makes every limb but the highest one a number from 0 to 2^32 - 1.
    pub(crate) fn propagate_carries(&mut self) {
        let limbs = self.limbs.as_mut();
        let (highest, lower) = limbs.split_last_mut().expect("a window has limbs");
        let mut carry = 0;
        for limb in lower {
            let sum = *limb + carry;
            *limb = sum & LIMB_MASK;
            carry = sum >> LIMB_BITS;
        }
        *highest = highest.wrapping_add(carry);
        self.additions = 0;
    }

    /// The limbs, of which all but the highest are numbers from 0 to 2^32 - 1.
    pub(crate) fn propagated_limbs(&self) -> W::Limbs {
        let mut copy = *self;
        copy.propagate_carries();
        copy.limbs
    }

    /// The sign and the magnitude; `None` for zero.
    pub(crate) fn magnitude(&self) -> Option<(bool, Magnitude)> {
        let mut positive = *self;
        positive.propagate_carries();
        let is_negative = positive.limbs.as_ref().last() < Some(&0);
        if is_negative {
            for limb in positive.limbs.as_mut() {
                *limb = -*limb;
            }
            positive.propagate_carries();
        }
        let limbs = positive.limbs.as_ref();
        let top = limbs.iter().rposition(|&limb| limb != 0)?;
        // The highest limb may hold more than 32 bits, of a sum of more than 2^64 items.
        let at = |below: usize| -> u128 {
            let index = top.checked_sub(below);
            index.map_or(0, |index| u128::from(limbs[index].unsigned_abs()))
        };
        let upper =
            at(0) << (3 * LIMB_BITS) | at(1) << (2 * LIMB_BITS) | at(2) << LIMB_BITS | at(3);
        let free = upper.leading_zeros();
        let next = at(4) << LIMB_BITS | at(5);
        let below = 2 * LIMB_BITS - free.min(LIMB_BITS);
        let rest = limbs[..top.saturating_sub(5)].iter();
        let top = i32::try_from(top).expect("a window has some hundred limbs");
        let magnitude = Magnitude {
            bits: upper << free | next >> below,
            exponent: W::LOWEST + 32 * (top - 3) - free.cast_signed(),
            is_more: next & ((1 << below) - 1) != 0 || rest.into_iter().any(|&limb| limb != 0),
        };
        Some((is_negative, magnitude))
    }
}

/// A number: bits * 2^exponent, where the highest bit is set, and less than 2^exponent more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Magnitude {
    pub(crate) bits: u128,
    pub(crate) exponent: i32,
    /// Whether it is more.
    pub(crate) is_more: bool,
}
