//! Stores the states of all groups as sums by key, in one type for each kind of aggregate.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, BinaryArray, BinaryBuilder, Decimal128Array,
};
use arrow::datatypes::Float64Type;
use datafusion_common::Result;
use exact_sum::{IntegerSum, KeyError, Keyed, LimitError, Moments, ProductSum, Sum, partial};

use crate::accumulator::{binary, integers, wrong_state};
use crate::groups::{GroupColumns, Groups, Values};
use crate::input::Items;
use crate::kind::{Kind, LONG};

macro_rules! counted {
    ($doc:literal, $groups:ident, $table:ident, $add:expr, $values:expr, $write_rows:expr) => {
        #[doc = $doc]
        #[derive(Debug)]
        pub(crate) struct $groups {
            counts: Vec<u64>,
            sums: Keyed<$table<f64>>,
        }

        impl Default for $groups {
            fn default() -> Self {
                Self {
                    counts: Vec::new(),
                    sums: Keyed::new(0).expect("0 groups need no memory"),
                }
            }
        }

        impl Groups for $groups {
            type Item = Float64Type;

            fn counts(&self) -> &[u64] {
                &self.counts
            }

            fn grow(&mut self, groups: usize) -> Result<(), LimitError> {
                self.sums.grow(groups)?;
                self.counts.resize(groups.max(self.counts.len()), 0);
                Ok(())
            }

            fn forget_first(&mut self, groups: usize) {
                self.counts.drain(..groups);
                self.sums.forget_first(groups);
            }

            fn memory(&self) -> usize {
                self.counts.capacity() * size_of::<u64>() + self.sums.memory()
            }

            fn add(
                &mut self,
                groups: &[usize],
                items: GroupColumns<'_, Self>,
            ) -> Result<(), KeyError> {
                $add(&mut self.sums, groups, items)?;
                groups.iter().for_each(|&group| self.counts[group] += 1);
                Ok(())
            }

            fn values(&self, kind: Kind, groups: usize) -> Values {
                Values::Doubles($values(&self.sums, kind, &self.counts[..groups]))
            }

            fn write(&self, groups: usize) -> Vec<ArrayRef> {
                let mut sums = builder(groups);
                self.sums
                    .partials(0..groups, |_, bytes| sums.append_value(bytes));
                vec![Arc::new(sums.finish())]
            }

            fn merge(
                &mut self,
                groups: &[usize],
                counts: &[u64],
                columns: &[ArrayRef],
            ) -> Result<()> {
                let sums = slices(binary(columns, 0)?);
                self.sums.add_partials(groups, sums).map_err(wrong_state)?;
                for (&group, items) in groups.iter().zip(counts) {
                    self.counts[group] += items;
                }
                Ok(())
            }

            fn write_rows(items: &Items<'_, Float64Type>) -> Vec<ArrayRef> {
                vec![of_rows(items, $write_rows)]
            }
        }
    };
}

counted!(
    "The number of each group's items, and their sum.",
    Sums,
    Sum,
    |sums: &mut Keyed<Sum<f64>>, groups: &[usize], [items, _]: [&[f64]; 2]| sums.add(groups, items),
    |sums: &Keyed<Sum<f64>>, kind, counts: &[u64]| {
        let groups = counts.iter().enumerate();
        match kind {
            Kind::Mean => groups
                .map(|(group, &items)| sums.mean(group, items))
                .collect(),
            _ if counts.len() == sums.keys() => sums.values(),
            _ => groups.map(|(group, _)| sums.value(group)).collect(),
        }
    },
    |[items, _], each| partial::of_items(items, each)
);

counted!(
    "The number of each group's products, and their sum.",
    Products,
    ProductSum,
    |sums: &mut Keyed<ProductSum<f64>>, groups: &[usize], [x, y]: [&[f64]; 2]| sums
        .add(groups, [x, y]),
    |sums: &Keyed<ProductSum<f64>>, _, counts: &[u64]| {
        (0..counts.len()).map(|group| sums.value(group)).collect()
    },
    |[x, y], each| partial::of_products(x, y, each)
);

/// The number of each group's items, their sum, and the sum of their squares.
#[derive(Debug)]
pub(crate) struct Squares(Keyed<Moments<f64>>);

impl Default for Squares {
    fn default() -> Self {
        Self(Keyed::<Moments<_>>::new(0).expect("0 groups need no memory"))
    }
}

impl Groups for Squares {
    type Item = Float64Type;

    fn counts(&self) -> &[u64] {
        self.0.counts().expect("moments count items")
    }

    fn grow(&mut self, groups: usize) -> Result<(), LimitError> {
        self.0.grow(groups)
    }

    fn forget_first(&mut self, groups: usize) {
        self.0.forget_first(groups);
    }

    fn memory(&self) -> usize {
        self.0.memory()
    }

    fn add(
        &mut self,
        groups: &[usize],
        [items, _]: GroupColumns<'_, Self>,
    ) -> Result<(), KeyError> {
        self.0.add(groups, items)
    }

    fn values(&self, kind: Kind, groups: usize) -> Values {
        let value = |group| match kind {
            Kind::Deviation(divisor) => self.0.get(group).standard_deviation(divisor.ddof()),
            Kind::Variance(divisor) => self.0.get(group).variance(divisor.ddof()),
            _ => self.0.value(group),
        };
        Values::Doubles((0..groups).map(value).collect())
    }

    fn write(&self, groups: usize) -> Vec<ArrayRef> {
        let [mut sums, mut squares] = [builder(groups), builder(groups)];
        self.0.partials(0..groups, |_, sum, of_squares| {
            sums.append_value(sum);
            squares.append_value(of_squares);
        });
        vec![Arc::new(sums.finish()), Arc::new(squares.finish())]
    }

    fn merge(&mut self, groups: &[usize], counts: &[u64], columns: &[ArrayRef]) -> Result<()> {
        let (sums, squares) = (binary(columns, 0)?, binary(columns, 1)?);
        let (sums, squares) = (slices(sums), slices(squares));
        let added = self.0.add_partials(groups, counts, sums, squares);
        added.map_err(wrong_state)
    }

    fn write_rows(items: &Items<'_, Float64Type>) -> Vec<ArrayRef> {
        let squares = |[items, _]: [&[f64]; 2], each: &mut dyn FnMut(&[u8])| {
            partial::of_products(items, items, each);
        };
        let sums = |[items, _]: [&[f64]; 2], each: &mut dyn FnMut(&[u8])| {
            partial::of_items(items, each);
        };
        vec![of_rows(items, sums), of_rows(items, squares)]
    }
}

/// The number of each group's integers of the type `P`, and their sum.
#[derive(Debug)]
pub(crate) struct LongSums<P> {
    sums: Keyed<IntegerSum>,
    counts: Vec<u64>,
    of: PhantomData<fn() -> P>,
}

impl<P> Default for LongSums<P> {
    fn default() -> Self {
        Self {
            sums: Keyed::new(0).expect("0 groups need no memory"),
            counts: Vec::new(),
            of: PhantomData,
        }
    }
}

impl<P> LongSums<P> {
    /// Returns a group's sum. The sum of up to 2^63 items fits into 128 bits.
    fn sum(&self, group: usize) -> i128 {
        let sum = self.sums.get(group).value();
        sum.expect("a sum of 64-bit items fits")
    }
}

impl<P: ArrowPrimitiveType<Native: Into<i128>> + Debug> Groups for LongSums<P> {
    type Item = P;

    fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn grow(&mut self, groups: usize) -> Result<(), LimitError> {
        self.sums.grow(groups)?;
        self.counts.resize(groups.max(self.counts.len()), 0);
        Ok(())
    }

    fn forget_first(&mut self, groups: usize) {
        self.counts.drain(..groups);
        self.sums.forget_first(groups);
    }

    fn memory(&self) -> usize {
        self.counts.capacity() * size_of::<u64>() + self.sums.memory()
    }

    fn add(
        &mut self,
        groups: &[usize],
        [items, _]: GroupColumns<'_, Self>,
    ) -> Result<(), KeyError> {
        let items: Vec<i128> = items.iter().map(|&item| item.into()).collect();
        self.sums.add(groups, items[..].into())?;
        groups.iter().for_each(|&group| self.counts[group] += 1);
        Ok(())
    }

    fn values(&self, kind: Kind, groups: usize) -> Values {
        match kind {
            Kind::Mean => {
                let means =
                    (0..groups).map(|group| self.sums.get(group).mean().unwrap_or(f64::NAN));
                Values::Doubles(means.collect())
            }
            _ => Values::Integers((0..groups).map(|group| self.sum(group)).collect()),
        }
    }

    fn write(&self, groups: usize) -> Vec<ArrayRef> {
        vec![long((0..groups).map(|group| self.sum(group)))]
    }

    fn merge(&mut self, groups: &[usize], counts: &[u64], columns: &[ArrayRef]) -> Result<()> {
        let wrong = |error: &dyn Display| datafusion_common::internal_datafusion_err!("{error}");
        let parts = integers(columns)?.iter().zip(counts);
        let parts = parts.map(|(sum, count)| IntegerSum::with(*sum, *count));
        let parts = parts
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| wrong(&error))?;
        self.sums
            .add_slots(groups, &parts)
            .map_err(|error| wrong(&error))?;
        for (&group, count) in groups.iter().zip(counts) {
            self.counts[group] += count;
        }
        Ok(())
    }

    fn write_rows(items: &Items<'_, P>) -> Vec<ArrayRef> {
        let [kept, _] = items.columns();
        let mut kept = kept.iter();
        let item = |is_kept: bool| is_kept.then(|| kept.next()).flatten();
        let items = items.are_kept().map(item);
        vec![long(items.map(|item| item.map_or(0, |&item| item.into())))]
    }
}

fn long(sums: impl Iterator<Item = i128>) -> ArrayRef {
    Arc::new(Decimal128Array::from_iter_values(sums).with_data_type(LONG))
}

/// Creates a builder with room for one short sum per group.
fn builder(groups: usize) -> BinaryBuilder {
    BinaryBuilder::with_capacity(groups, groups * size_of::<f64>())
}

fn slices(column: &BinaryArray) -> impl Iterator<Item = &[u8]> {
    (0..column.len()).map(|row| column.value(row))
}

/// Returns a column of one sum per row. The kept rows have the sums that `write` produces, in order; the other rows have empty sums.
fn of_rows(
    items: &Items<'_, Float64Type>,
    write: impl FnOnce([&[f64]; 2], &mut dyn FnMut(&[u8])),
) -> ArrayRef {
    const NONE: [u8; size_of::<f64>()] = [0; _];
    let mut builder = builder(items.rows());
    let mut kept = items.are_kept();
    write(items.columns(), &mut |bytes| {
        while kept.next() == Some(false) {
            builder.append_value(NONE);
        }
        builder.append_value(bytes);
    });
    kept.for_each(|_| builder.append_value(NONE));
    Arc::new(builder.finish())
}
