//! Sums the first four powers of items of similar magnitude.
//!
//! For n < 2^c items below 2^b in magnitude, where 4 b + c is at most 319 and c at most 36, all numerators and denominators in this file are
//! less than 2^(4 b + 6 c + 8), which is at most 2^507.

use crate::number::float::Float;
use crate::number::near::{Near, Part, near_quotient};
use crate::number::wide::Wide;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::narrow::{Count, Narrow};
use crate::slots::powers::Powers;
use crate::statistic::{Options, Statistic};

/// The sums S1, S2, S3 and S4 of the first four powers of items.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowPowers {
    moments: NarrowMoments,
    cubes: Wide<4>,
    fourths: Wide<5>,
}

/// The cube and the fourth power of an item.
#[inline(always)]
fn higher(x: i128) -> (Wide<4>, Wide<5>) {
    let x = Wide::<2>::of(x);
    let square = x.times::<2, 3>(x);
    (square.times(x), square.times(square))
}

impl NarrowPowers {
    /// n^2 S3 - 3 n S1 S2 + 2 S1^3.
    #[inline(always)]
    fn third(&self, items: u64) -> Wide<6> {
        let n = i128::from(items);
        let sum = Wide::<2>::of(self.moments.sum);
        let cubes = self.cubes.times::<2, 6>(Wide::of(n * n));
        let mixed = self.moments.squares.times::<2, 5>(sum);
        let mixed = mixed.times::<1, 6>(Wide::of(3 * n));
        let doubled = Wide::<2>::of(2 * self.moments.sum);
        let cube = sum.times::<2, 4>(sum).times::<2, 6>(doubled);
        cubes.less(mixed).plus(cube)
    }

    /// n^3 S4 - 4 n^2 S1 S3 + 6 n S1^2 S2 - 3 S1^4.
    #[inline(always)]
    fn fourth(&self, items: u64) -> Wide<8> {
        let n = i128::from(items);
        let sum = Wide::<2>::of(self.moments.sum);
        let square = sum.times::<2, 4>(sum);
        let fourths = self.fourths.times::<2, 7>(Wide::of(n * n * n));
        let with_cubes = self.cubes.times::<2, 6>(sum);
        let with_cubes = with_cubes.times::<2, 8>(Wide::of(4 * n * n));
        let with_squares = square.times::<3, 7>(self.moments.squares);
        let with_squares = with_squares.times::<1, 8>(Wide::of(6 * n));
        // 3 S1^2 may not fit four words.
        let alone = square.times::<4, 8>(square);
        let alone = alone.plus(alone).plus(alone);
        fourths
            .resized()
            .less(with_cubes)
            .plus(with_squares)
            .less(alone)
    }

    /// The exponent of a power of two above the error of [`third`](Self::third), if each sum is up to 1 too small. The error is at most
    /// n^2 + 3 n (|S1| + S2 + 1) + 6 S1^2 + 6 |S1| + 2.
    fn third_error(&self, items: u64) -> i32 {
        let [n, s1, s2, _] = self.bits(items);
        let mixed = n + 2 + s1.max(s2);
        (2 * n).max(mixed).max(2 * s1 + 3) + 3
    }

    /// The exponent of a power of two above the error of [`fourth`](Self::fourth), if each sum is up to 1 too small. The error is at most
    /// n^3 + 4 n^2 (|S1| + |S3| + 1) + 6 n (2 |S1| S2 + 2 |S1| + S2 + 1 + S1^2) + 12 |S1|^3 + 18 S1^2 + 12 |S1| + 3.
    fn fourth_error(&self, items: u64) -> i32 {
        let [n, s1, s2, s3] = self.bits(items);
        let cubes = (2 * n + 2 + s1.max(s3)).max(3 * s1 + 4);
        let squares = n + 4 + s1 + s2.max(s1);
        (3 * n).max(cubes).max(squares) + 4
    }

    /// The numbers of bits of n, S1, S2 and S3, each at least 1.
    fn bits(&self, items: u64) -> [i32; 4] {
        let [n, sum] = [items.into(), self.moments.sum].map(|number| Wide::<2>::of(number).bits());
        let [squares, cubes] = [self.moments.squares.bits(), self.cubes.bits()];
        [n, sum, squares, cubes].map(|bits| bits.max(1))
    }

    #[inline(always)]
    fn skewness<T: Float>(&self, bias: bool, items: u64, is_cut: bool) -> Option<T> {
        let second = self.moments.second(items).magnitude(0);
        let second = Part::of(second, is_cut.then(|| self.moments.second_error(items)));
        let third = self.third(items).magnitude(0);
        let third = Part::of(third, is_cut.then(|| self.third_error(items)));
        if bias {
            return near_quotient(third, second, |third, second| {
                third.over(second.by(second.root()))
            });
        }
        let n = i128::from(items);
        let (_, pairs) = Wide::<2>::of(n * (n - 1)).magnitude(0)?;
        let (_, rest) = Wide::<2>::of(n - 2).magnitude(0)?;
        near_quotient(third, second, |third, second| {
            let third = third.by(Near::of(pairs).root());
            third.over(second.by(second.root()).by(Near::of(rest)))
        })
    }

    #[inline(always)]
    fn kurtosis<T: Float>(&self, bias: bool, items: u64, is_cut: bool) -> Option<T> {
        let second = self.moments.second(items);
        let square = second.times::<4, 8>(second);
        let thrice = square.plus(square).plus(square);
        let excess = self.fourth(items).less(thrice);
        let errors = is_cut.then(|| {
            let error = self.moments.second_error(items);
            let square = second.bits().max(error) + error + 2;
            [self.fourth_error(items).max(square + 2) + 1, square]
        });
        if bias {
            let [above, below] = [excess, square].map(|number| number.magnitude(0));
            let above = Part::of(above, errors.map(|[excess, _]| excess));
            let below = Part::of(below, errors.map(|[_, square]| square));
            return near_quotient(above, below, |a, b| a.over(b));
        }
        let n = i128::from(items);
        // The factors n + 1, n - 1, n - 2 and n - 3 are below 2^bits.
        let bits = Wide::<2>::of(n + 1).bits();
        let errors = errors.map(|[excess, square]| {
            let above = (excess + bits).max(square + 3) + 1;
            [above + bits, square + 2 * bits]
        });
        let excess = excess.times::<1, 8>(Wide::of(n + 1));
        let excess = excess.plus(thrice).plus(thrice);
        let above = excess.times::<1, 8>(Wide::of(n - 1));
        let below = square.times::<2, 8>(Wide::of((n - 2) * (n - 3)));
        let above = Part::of(above.magnitude(0), errors.map(|[above, _]| above));
        let below = Part::of(below.magnitude(0), errors.map(|[_, below]| below));
        near_quotient(above, below, |a, b| a.over(b))
    }
}

impl<T: Float> Narrow<T, 1> for NarrowPowers {
    type Slot = Powers<T>;

    #[inline(always)]
    fn change(&mut self, row: [i128; 1], removes: bool) {
        Narrow::<T, 1>::change(&mut self.moments, row, removes);
        let (cube, fourth) = higher(row[0]);
        self.cubes = self.cubes.changed(cube, removes);
        self.fourths = self.fourths.changed(fourth, removes);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        options: Options,
        Count { items, .. }: Count,
        _: [i32; 1],
        is_cut: bool,
    ) -> Option<T> {
        if items < statistic.least_items(options) {
            return None;
        }
        match statistic {
            Statistic::Skewness => self.skewness(options.bias, items, is_cut),
            Statistic::Kurtosis => self.kurtosis(options.bias, items, is_cut),
            _ => None,
        }
    }

    fn cut(slot: &Powers<T>, items: u64) -> Option<(Self, [i32; 1])> {
        let (moments, unit) = NarrowMoments::cut(&slot.moments, items)?;
        let cut = Self {
            moments,
            cubes: Wide(slot.cubes.cut(3 * unit)),
            fourths: Wide(slot.fourths.cut(4 * unit)),
        };
        Some((cut, [unit]))
    }

    fn with(&self, others: &Powers<T>, items: u64, [unit]: [i32; 1]) -> Powers<T> {
        let mut all = *others;
        all.moments = self.moments.with(&others.moments, items, [unit]);
        all.cubes.add_wide(self.cubes.0, 3 * unit);
        all.fourths.add_wide(self.fourths.0, 4 * unit);
        all
    }

    fn step(slot: &mut Powers<T>, [x]: [f64; 1], sign: i64) {
        NarrowMoments::step(&mut slot.moments, [x], sign);
        if x.is_finite() {
            slot.step_higher(x, sign);
        }
    }
}
