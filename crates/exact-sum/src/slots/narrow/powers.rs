//! The first four powers of items near each other.
//!
//! Of n < 2^c items below 2^b in magnitude, where 4 b + c is at most 319 and c at most 36, all numerators and denominators below are less than
//! 2^(4 b + 6 c + 8), which is at most 2^507.

use crate::number::float::Float;
use crate::number::near::{Near, near_quotient};
use crate::number::wide::Wide;
use crate::slots::narrow::Narrow;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::powers::Powers;
use crate::statistic::{Options, Statistic};

/// The sums of the first four powers of items.
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
        // 3 S1^2 may have a bit more than four words.
        let alone = square.times::<4, 8>(square);
        let alone = alone.plus(alone).plus(alone);
        fourths
            .resized()
            .less(with_cubes)
            .plus(with_squares)
            .less(alone)
    }

    #[inline(always)]
    fn skewness<T: Float>(&self, bias: bool, items: u64) -> Option<T> {
        let second = self.moments.second(items).magnitude(0);
        let third = self.third(items).magnitude(0);
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
    fn kurtosis<T: Float>(&self, bias: bool, items: u64) -> Option<T> {
        let second = self.moments.second(items);
        let square = second.times::<4, 8>(second);
        let thrice = square.plus(square).plus(square);
        let excess = self.fourth(items).less(thrice);
        if bias {
            let [above, below] = [excess, square].map(|number| number.magnitude(0));
            return near_quotient(above, below, |a, b| a.over(b));
        }
        let n = i128::from(items);
        let excess = excess.times::<1, 8>(Wide::of(n + 1));
        let excess = excess.plus(thrice).plus(thrice);
        let above = excess.times::<1, 8>(Wide::of(n - 1));
        let below = square.times::<2, 8>(Wide::of((n - 2) * (n - 3)));
        near_quotient(above.magnitude(0), below.magnitude(0), |a, b| a.over(b))
    }
}

impl<T: Float> Narrow<T, 1> for NarrowPowers {
    type Slot = Powers<T>;

    #[inline(always)]
    fn add(&mut self, row: [i128; 1]) {
        Narrow::<T, 1>::add(&mut self.moments, row);
        let (cube, fourth) = higher(row[0]);
        self.cubes = self.cubes.plus(cube);
        self.fourths = self.fourths.plus(fourth);
    }

    #[inline(always)]
    fn remove(&mut self, row: [i128; 1]) {
        Narrow::<T, 1>::remove(&mut self.moments, row);
        let (cube, fourth) = higher(row[0]);
        self.cubes = self.cubes.less(cube);
        self.fourths = self.fourths.less(fourth);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        options: Options,
        items: u64,
        _: [i32; 1],
    ) -> Option<T> {
        if items < statistic.least_items(options) {
            return None;
        }
        match statistic {
            Statistic::Skewness => self.skewness(options.bias, items),
            Statistic::Kurtosis => self.kurtosis(options.bias, items),
            _ => None,
        }
    }

    fn with(&self, others: &Powers<T>, items: u64, [unit]: [i32; 1]) -> Powers<T> {
        let mut all = *others;
        all.moments = self.moments.with(&others.moments, items, [unit]);
        all.cubes.add_wide(&self.cubes.0, 3 * unit);
        all.fourths.add_wide(&self.fourths.0, 4 * unit);
        all
    }

    fn step(slot: &mut Powers<T>, [x]: [f64; 1], sign: i64) {
        NarrowMoments::step(&mut slot.moments, [x], sign);
        if x.is_finite() {
            slot.step_higher(x, sign);
        }
    }
}
