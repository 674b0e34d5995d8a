//! What each function computes, in safe code.

use exact_sum::{CompactMean, CompactMoments, CompactProducts, CompactSum, IntegerSum};
use simd_kernels::{Float, Level};

/// An aggregate over rows of items.
pub(crate) trait Aggregate {
    /// What a group keeps: nothing of it is at another place as long as all items fit it.
    type State: Clone + Default;

    /// The argument of one row, or the arguments.
    type Item: Copy;

    /// What is returned.
    type Value;

    const NAME: &str;

    fn add(state: &mut Self::State, item: Self::Item);

    fn add_all(state: &mut Self::State, items: &[Self::Item]) {
        items.iter().for_each(|item| Self::add(state, *item));
    }

    fn merge(state: &mut Self::State, other: &Self::State) -> Result<(), &'static str>;

    /// `None` is NULL; an error says what is beyond the type.
    fn value(state: &Self::State) -> Result<Option<Self::Value>, &'static str>;
}

/// An aggregate's functions are those of its state: `$add_all` is there if many items take less time than one by one.
macro_rules! aggregate {
    ($aggregate:ident, $name:literal, $state:ident, $item:ty => $value:ty, $add:expr, $result:expr $(, $add_all:expr)?) => {
        pub(crate) struct $aggregate;

        impl Aggregate for $aggregate {
            type State = $state;
            type Item = $item;
            type Value = $value;

            const NAME: &str = $name;

            #[inline]
            fn add(state: &mut $state, item: $item) {
                $add(state, item);
            }

            $(fn add_all(state: &mut $state, items: &[$item]) {
                $add_all(state, items);
            })?

            fn merge(state: &mut $state, other: &$state) -> Result<(), &'static str> {
                let merged = state.merge(other);
                merged.map_err(|_| "a sum has room for 2^63 - 1 items")
            }

            fn value(state: &$state) -> Result<Option<$value>, &'static str> {
                $result(state)
            }
        }
    };
}

aggregate!(Sum, "exact_sum", CompactSum, f64 => f64, CompactSum::add, |state: &CompactSum| Ok(state.value()), CompactSum::add_all);
aggregate!(Average, "exact_avg", CompactMean, f64 => f64, CompactMean::add, |state: &CompactMean| Ok(state.value()), CompactMean::add_all);
aggregate!(Dot, "exact_dot", CompactProducts, (f64, f64) => f64, |state: &mut CompactProducts, (x, y)| state.add(x, y), |state: &CompactProducts| Ok(state.value()));
aggregate!(SumOfBigints, "exact_sum", IntegerSum, i64 => i128, |state: &mut IntegerSum, item: i64| state.add_one(item), integer_sum);
aggregate!(SumOfHugeints, "exact_sum", IntegerSum, i128 => i128, IntegerSum::add_one, integer_sum);
aggregate!(AverageOfBigints, "exact_avg", IntegerSum, i64 => f64, |state: &mut IntegerSum, item: i64| state.add_one(item), |state: &IntegerSum| Ok(state.mean()));
aggregate!(AverageOfHugeints, "exact_avg", IntegerSum, i128 => f64, IntegerSum::add_one, |state: &IntegerSum| Ok(state.mean()));

/// One of the two for doubles, and for integers.
macro_rules! spread {
    ($of_doubles:ident, $of_bigints:ident, $name:literal, $function:ident, $ddof:literal) => {
        aggregate!($of_doubles, $name, CompactMoments, f64 => f64, CompactMoments::add, |state: &CompactMoments| Ok(state.$function($ddof)));
        aggregate!($of_bigints, $name, CompactMoments, i64 => f64, CompactMoments::add_integer, |state: &CompactMoments| Ok(state.$function($ddof)));
    };
}

spread!(
    VariancePopulation,
    VariancePopulationOfBigints,
    "exact_var_pop",
    variance,
    0
);
spread!(
    VarianceSample,
    VarianceSampleOfBigints,
    "exact_var_samp",
    variance,
    1
);
spread!(
    DeviationPopulation,
    DeviationPopulationOfBigints,
    "exact_stddev_pop",
    standard_deviation,
    0
);
spread!(
    DeviationSample,
    DeviationSampleOfBigints,
    "exact_stddev_samp",
    standard_deviation,
    1
);

fn integer_sum(state: &IntegerSum) -> Result<Option<i128>, &'static str> {
    match (state.items(), state.value()) {
        (0, _) => Ok(None),
        (_, Some(sum)) => Ok(Some(sum)),
        (_, None) => Err("the sum is beyond the range of HUGEINT"),
    }
}

/// The function of lists.
pub(crate) const TREE_SUM: &str = "tree_sum";

/// Items that a tree adds.
pub(crate) trait Tree: Float + Into<f64> {
    const NAN: Self;
}

impl Tree for f64 {
    const NAN: Self = Self::NAN;
}

impl Tree for f32 {
    const NAN: Self = Self::NAN;
}

/// The sum of items by treefold's tree; `None` for none.
pub(crate) fn tree_sum<T: Tree>(items: &[T]) -> Option<T> {
    let sum = simd_kernels::sum(Level::best(), items)?;
    let is_nan = sum.into().is_nan();
    Some(if is_nan { T::NAN } else { sum })
}
