//! The kinds of accumulators. Each kind implements [`AccumulatorKind`].

use std::marker::PhantomData;

use bytemuck::Pod;
use treefold::exact::{
    Accumulator as _, BytesError, ComplexMoments, Float, LimitError, Moments, Quantity,
    RemoveError, Statistic,
};

/// A kind of accumulator.
pub(crate) trait AccumulatorKind: 'static {
    /// The type of an element of the program's arrays.
    type Item: Pod;
    /// The type of a variance.
    type Real: Pod;
    /// The accumulated sums.
    type Total: Clone + Default + PartialEq + Send + Sync;
    /// Whether accumulators of this kind take two arrays.
    const TAKES_PAIRS: bool;
    /// The kind's name in error messages.
    const NAME: &'static str;

    fn add(total: &mut Self::Total, x: &[Self::Item], y: &[Self::Item]);
    fn merge(total: &mut Self::Total, other: &Self::Total) -> Result<(), LimitError>;
    fn unmerge(total: &mut Self::Total, other: &Self::Total) -> Result<(), RemoveError>;
    fn items(total: &Self::Total) -> u64;
    fn value(total: &Self::Total) -> Self::Item;
    fn mean(total: &Self::Total) -> Option<Self::Item>;
    /// A variance or a standard deviation; `None` for other statistics.
    fn spread(total: &Self::Total, statistic: Statistic, ddof: f64) -> Option<Self::Real>;
    fn to_bytes(total: &Self::Total) -> Vec<u8>;
    fn of_bytes(bytes: &[u8]) -> Result<Self::Total, BytesError>;
}

/// Implements the functions of a kind that are methods of its `Total`.
macro_rules! methods_of_total {
    () => {
        fn merge(total: &mut Self::Total, other: &Self::Total) -> Result<(), LimitError> {
            total.merge(other)
        }

        fn unmerge(total: &mut Self::Total, other: &Self::Total) -> Result<(), RemoveError> {
            total.unmerge(other)
        }

        fn items(total: &Self::Total) -> u64 {
            total.items()
        }

        fn to_bytes(total: &Self::Total) -> Vec<u8> {
            total.to_bytes()
        }

        fn of_bytes(bytes: &[u8]) -> Result<Self::Total, BytesError> {
            Self::Total::of_bytes(bytes)
        }
    };
}

/// The kind of accumulator that computes a sum, a norm or a dot product.
pub(super) struct OfFigure<Q>(PhantomData<Q>);

impl<Q: Quantity> AccumulatorKind for OfFigure<Q> {
    type Item = Q::Item;
    /// This type is not used, because these accumulators have no variance.
    type Real = u8;
    type Total = Q::Total;
    const TAKES_PAIRS: bool = Q::TAKES_PAIRS;
    const NAME: &'static str = Q::NAME;

    methods_of_total!();

    fn add(total: &mut Q::Total, x: &[Q::Item], y: &[Q::Item]) {
        Q::add(total, x, y);
    }

    fn value(total: &Q::Total) -> Q::Item {
        Q::value(total)
    }

    fn mean(total: &Q::Total) -> Option<Q::Item> {
        Q::mean(total)
    }

    fn spread(_: &Q::Total, _: Statistic, _: f64) -> Option<u8> {
        None
    }
}

macro_rules! moments {
    ($(#[$docs:meta])* $kind:ident, $moments:ident, $item:ty) => {
        $(#[$docs])*
        pub(super) struct $kind<T>(PhantomData<T>);

        impl<T: Float> AccumulatorKind for $kind<T> {
            type Item = $item;
            type Real = T;
            type Total = $moments<T>;
            const TAKES_PAIRS: bool = false;
            const NAME: &'static str = "moments";

            methods_of_total!();

            fn add(total: &mut $moments<T>, x: &[$item], _: &[$item]) {
                total.add(x);
            }

            fn value(total: &$moments<T>) -> $item {
                total.sum().value()
            }

            fn mean(total: &$moments<T>) -> Option<$item> {
                Some(total.mean())
            }

            fn spread(total: &$moments<T>, statistic: Statistic, ddof: f64) -> Option<T> {
                match statistic {
                    Statistic::Variance => Some(total.variance(ddof)),
                    Statistic::StandardDeviation => Some(total.standard_deviation(ddof)),
                    _ => None,
                }
            }
        }
    };
}

moments!(
    /// Moments of real items.
    MomentsOf,
    Moments,
    T
);
moments!(
    /// Moments of complex items.
    ComplexMomentsOf,
    ComplexMoments,
    [T; 2]
);
