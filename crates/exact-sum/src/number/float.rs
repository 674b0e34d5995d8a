//! Defines the types of items, `f32` and `f64`, with their conversions and rounding.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bytemuck::{Pod, cast_slice};
use simd_kernels::{
    Compiled, DECODED_ITEMS, DecodeUnit, Level, Pair, Quiet, decode_floats, doubles_to_round,
    nearest_doubles,
};

use crate::number::convert::{CONVERTED_ITEMS, convert, widened};
use crate::number::fixed::{
    DoubleCubes, DoubleFourths, DoubleProducts, Doubles, FixedFormat, Magnitude, SingleCubes,
    SingleFourths, SingleProducts, Singles, integer, integer_of, short_magnitude,
};
use crate::number::round::Format;

/// The types of items: `f32` and `f64`.
pub trait Float:
    sealed::Conversions + Compiled + Pod + Into<f64> + Default + PartialEq + fmt::Debug + Send + Sync
{
    /// The fixed-point format of a sum.
    #[doc(hidden)]
    type Sums: FixedFormat;

    /// The fixed-point format of a sum of products.
    #[doc(hidden)]
    type Products: FixedFormat;

    /// The fixed-point format of a sum of cubes.
    #[doc(hidden)]
    type Cubes: FixedFormat;

    /// The fixed-point format of a sum of fourth powers.
    #[doc(hidden)]
    type Fourths: FixedFormat;
}

pub(crate) mod sealed {
    use super::{
        CONVERTED_ITEMS, Cow, DECODED_ITEMS, DecodeUnit, Level, Magnitude, Pair, Pod, Quiet, Range,
        cast_slice, convert, decode_floats, integer, integer_of, short_magnitude,
    };

    /// Methods that other crates can neither call nor implement.
    #[expect(
        private_interfaces,
        reason = "other crates cannot name the trait, so they cannot call its functions"
    )]
    pub trait Conversions: Pod + Into<f64> {
        const NAME: &'static str;
        const BYTES: u8;
        const ZERO: Self;
        const NEGATIVE_ZERO: Self;
        const NAN: Self;
        const INFINITY: Self;

        /// Whether the type is `f32`. The product of two `f32` is exact in doubles.
        const IS_SINGLE: bool;

        /// Converts the item to a double by integer arithmetic alone, whatever the floating-point environment.
        fn widened(self) -> f64;

        /// The items, if they are doubles.
        #[inline(always)]
        fn doubles(items: &[Self]) -> Option<&[f64]> {
            (!Self::IS_SINGLE).then(|| cast_slice(items))
        }

        /// Calls `add` with the items as doubles, in pieces. All pieces but the last have an even number of items.
        #[inline]
        fn in_doubles(items: &[Self], mut add: impl FnMut(&[f64])) {
            match Self::doubles(items) {
                Some(doubles) => add(doubles),
                None => convert(items, Self::into, add),
            }
        }

        /// Like [`in_doubles`](Self::in_doubles), but exact in any floating-point environment.
        #[inline]
        fn in_exact_doubles(items: &[Self], mut add: impl FnMut(&[f64])) {
            // Doubles are not converted, so they do not depend on the environment.
            if Self::IS_SINGLE && Quiet::now().is_none() {
                let doubles: Vec<f64> = items.iter().copied().map(Self::widened).collect();
                add(&doubles);
            } else {
                Self::in_doubles(items, add);
            }
        }

        /// The items as doubles, in any floating-point environment.
        fn as_doubles(items: &[Self]) -> Cow<'_, [f64]> {
            let items = match Self::doubles(items) {
                Some(doubles) => return Cow::Borrowed(doubles),
                None => items.iter().copied(),
            };
            if Quiet::now().is_some() {
                items.map(Self::into).collect()
            } else {
                items.map(Self::widened).collect()
            }
        }

        /// Calls `add` with some columns of rows of `width` items as doubles. The arguments of `add` are rows that contain the columns, the
        /// width of these rows, and the index in a row at which the columns begin.
        fn columns_in_doubles(
            rows: &[Self],
            width: usize,
            columns: Range<usize>,
            add: impl FnOnce(&[f64], usize, usize),
        ) {
            if let Some(rows) = Self::doubles(rows) {
                return add(rows, width, columns.start);
            }
            let mut doubles = Vec::with_capacity(rows.len() / width * columns.len());
            for row in rows.chunks_exact(width) {
                doubles.extend(row[columns.clone()].iter().copied().map(Self::into));
            }
            add(&doubles, columns.len(), 0);
        }

        /// Calls `add` with the items of two slices of equal length as doubles, in pieces.
        #[inline]
        fn in_pairs_of_doubles(x: &[Self], y: &[Self], mut add: impl FnMut(&[f64], &[f64])) {
            if let (Some(x), Some(y)) = (Self::doubles(x), Self::doubles(y)) {
                return add(x, y);
            }
            for (x, y) in x.chunks(CONVERTED_ITEMS).zip(y.chunks(CONVERTED_ITEMS)) {
                convert(x, Self::into, |x| convert(y, Self::into, |y| add(x, y)));
            }
        }

        /// Writes items as integers in a unit. Returns whether all fit the first half of a pair: see
        /// [`simd_kernels::decode_floats`].
        fn decode_short(
            level: Level,
            items: &[Self],
            unit: DecodeUnit,
            integers: &mut [i64; DECODED_ITEMS],
        ) -> bool {
            Self::IS_SINGLE && decode_floats(level, cast_slice(items), unit, integers)
        }

        /// Whether the last places of all items, as doubles, are zero.
        fn are_short(items: &[Self]) -> bool;

        /// The number that is nearest to a magnitude.
        fn nearest(magnitude: Magnitude) -> Self;

        fn negate(self) -> Self;

        /// The number that is nearest to a magnitude with a sign.
        fn signed((is_negative, magnitude): (bool, Magnitude)) -> Self {
            let nearest = Self::nearest(magnitude);
            if is_negative {
                nearest.negate()
            } else {
                nearest
            }
        }

        /// The number that is nearest to integer * 2^unit. `is_quiet` says whether the floating-point environment is the default.
        fn of_integer(integer: i128, unit: i32, is_quiet: bool) -> Self;

        /// Rounds integers in a unit, each once to the nearest number. The floating-point environment must be the default. `None` if
        /// the unit is so small that numbers may be subnormal.
        fn of_pairs<'v>(
            level: Level,
            pairs: &[Pair],
            unit: DecodeUnit,
            doubles: &'v mut [f64],
        ) -> Option<impl ExactSizeIterator<Item = Self> + 'v>;

        /// Rounds integers in a unit, each once to the nearest number, and appends the numbers to `values`.
        fn append_rounded(
            pairs: &[Pair],
            unit: DecodeUnit,
            is_quiet: bool,
            values: &mut Vec<Self>,
        ) {
            let mut doubles = [0.0; DECODED_ITEMS];
            for pairs in pairs.chunks(DECODED_ITEMS) {
                let doubles = &mut doubles[..pairs.len()];
                let rounded = Self::of_pairs(Level::best(), pairs, unit, doubles);
                if let Some(rounded) = rounded.filter(|_| is_quiet) {
                    values.extend(rounded);
                } else {
                    let exponent = unit.exponent();
                    let value = |pair| Self::of_integer(integer_of(pair), exponent, is_quiet);
                    values.extend(pairs.iter().copied().map(value));
                }
            }
        }

        /// The number that is nearest to a value, given the double that is nearest to the value; `None` if the rounding is in doubt,
        /// or the double is NaN.
        fn of_nearest(double: f64) -> Option<Self>;

        /// Converts a double that is a number of this type, and not NaN, by integer arithmetic alone.
        fn narrowed(double: f64) -> Self {
            let magnitude = if double.is_infinite() {
                return Self::special(double);
            } else {
                let (value, unit) = integer(double);
                short_magnitude(value.into(), unit)
            };
            match magnitude {
                Some(magnitude) => Self::signed(magnitude),
                None if double.is_sign_negative() => Self::NEGATIVE_ZERO,
                None => Self::ZERO,
            }
        }

        /// Converts a double that is zero, infinite or NaN.
        fn special(value: f64) -> Self;
    }
}

macro_rules! float {
    ($float:ident, $bytes:literal, $bits:ident, $format:ident, $sums:ident, $products:ident, $cubes:ident, $fourths:ident, $is_single:literal, $widened:expr) => {
        #[expect(private_interfaces, reason = "the trait is sealed")]
        impl sealed::Conversions for $float {
            const NAME: &'static str = stringify!($float);
            const BYTES: u8 = $bytes;
            const ZERO: Self = 0.0;
            const NEGATIVE_ZERO: Self = -0.0;
            const NAN: Self = Self::NAN;
            const INFINITY: Self = Self::INFINITY;
            const IS_SINGLE: bool = $is_single;

            fn widened(self) -> f64 {
                $widened(self)
            }

            #[inline]
            fn are_short(items: &[Self]) -> bool {
                /// In most cases a plain sum is rounded unless these places of all items are zero.
                const LAST_PLACES: u64 = 0xF;
                let any = |bits, item: &Self| bits | u64::from(item.to_bits());
                $is_single || items.iter().fold(0, any) & LAST_PLACES == 0
            }

            fn nearest(magnitude: Magnitude) -> Self {
                let bits = <$bits>::try_from(Format::$format.round(magnitude));
                Self::from_bits(bits.expect("infinity is the largest"))
            }

            fn negate(self) -> Self {
                -self
            }

            #[inline]
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the integer is rounded here"
            )]
            fn of_integer(integer: i128, unit: i32, is_quiet: bool) -> Self {
                const FRACTION: u32 = $float::MANTISSA_DIGITS - 1;
                let bits = integer.unsigned_abs();
                let free = bits.leading_zeros();
                // The 64 highest bits. The last of them is also set if any lower bit is.
                let bits = bits.checked_shl(free).unwrap_or(0);
                let upper = (bits >> 64) as u64 | u64::from(bits as u64 != 0);
                let exponent = unit + 64 - free.cast_signed();
                let is_normal = exponent >= Self::MIN_EXP && exponent + 65 < Self::MAX_EXP;
                if !is_quiet || !is_normal || bits == 0 {
                    return short_magnitude(integer, unit).map_or(Self::ZERO, Self::signed);
                }
                let biased = (exponent + Self::MAX_EXP - 1).cast_unsigned();
                let scale = Self::from_bits($bits::from(biased) << FRACTION);
                let value = upper as Self * scale;
                if integer < 0 { -value } else { value }
            }

            #[allow(
                clippy::cast_possible_truncation,
                reason = "doubles that are not rounded yet are rounded here"
            )]
            fn of_pairs<'v>(
                level: Level,
                pairs: &[Pair],
                unit: DecodeUnit,
                doubles: &'v mut [f64],
            ) -> Option<impl ExactSizeIterator<Item = Self> + 'v> {
                let are_there = if $is_single {
                    doubles_to_round(level, pairs, unit, doubles)
                } else {
                    nearest_doubles(level, pairs, unit, doubles)
                };
                are_there.then(|| doubles.iter().map(|double| *double as Self))
            }

            #[inline]
            #[allow(clippy::cast_possible_truncation, reason = "this rounds the double")]
            fn of_nearest(double: f64) -> Option<Self> {
                let error = if $is_single { f64::EPSILON } else { 0.0 };
                let [least, most] = [1.0 - error, 1.0 + error].map(|of| (double * of) as Self);
                let is_clear = least.to_bits() == most.to_bits() && !double.is_nan();
                is_clear.then_some(most)
            }

            #[allow(clippy::cast_possible_truncation, reason = "the cast is exact")]
            fn special(value: f64) -> Self {
                if value.is_nan() {
                    Self::NAN
                } else {
                    value as Self
                }
            }
        }

        impl Float for $float {
            type Sums = $sums;
            type Products = $products;
            type Cubes = $cubes;
            type Fourths = $fourths;
        }
    };
}

float!(
    f64,
    8,
    u64,
    DOUBLE,
    Doubles,
    DoubleProducts,
    DoubleCubes,
    DoubleFourths,
    false,
    core::convert::identity
);
float!(
    f32,
    4,
    u32,
    SINGLE,
    Singles,
    SingleProducts,
    SingleCubes,
    SingleFourths,
    true,
    widened
);
