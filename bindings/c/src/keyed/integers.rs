//! Sums of integers by key, in 128 bits.

use std::fmt::Display;
use std::marker::PhantomData;

use bytemuck::Pod;
use treefold::exact::{Key, KeyError, KeyedIntegers, LimitError};

use super::kind::{Kind, Removal, write};
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::statistic::Statistic;

/// The types of items that are added as integers.
pub(crate) trait Integer: Pod + Into<i128> + Send + Sync {
    const TYPE: ElementType;
    /// Of as many signs.
    type Longest: Pod + TryFrom<i128>;
}

macro_rules! integers {
    ($($item:ty, $code:ident, $longest:ty);+) => {$(
        impl Integer for $item {
            const TYPE: ElementType = ElementType::$code;
            type Longest = $longest;
        }
    )+};
}

integers!(
    i8, I8, i64; i16, I16, i64; i32, I32, i64; i64, I64, i64;
    u8, U8, u64; u16, U16, u64; u32, U32, u64; u64, U64, u64
);

/// Sums of integers of a type.
pub(crate) struct Integers<I> {
    sums: KeyedIntegers,
    item: PhantomData<I>,
}

impl<I: Integer> Integers<I> {
    pub(crate) fn new(keys: usize) -> Result<Self, LimitError> {
        Ok(Self {
            sums: KeyedIntegers::new(keys)?,
            item: PhantomData,
        })
    }
}

impl<I> Clone for Integers<I> {
    fn clone(&self) -> Self {
        Self {
            sums: self.sums.clone(),
            item: PhantomData,
        }
    }
}

impl<I> PartialEq for Integers<I> {
    fn eq(&self, other: &Self) -> bool {
        self.sums == other.sums
    }
}

impl<I: Integer> Kind for Integers<I> {
    type Item = I;
    const TYPE: ElementType = I::TYPE;
    const NAME: &'static str = "sums by key";
    const KEY_BYTES: usize = size_of::<i128>() + size_of::<u64>();

    fn groups(&self) -> usize {
        self.sums.keys()
    }

    fn memory(&self) -> usize {
        self.sums.memory()
    }

    fn take<K: Key>(&mut self, keys: &[K], x: &[I], _: &[I]) -> Result<(), KeyError> {
        self.sums.add(keys, x)
    }

    fn take_back<K: Key>(&mut self, keys: &[K], x: &[I], _: &[I]) -> Result<(), Removal> {
        self.sums.remove(keys, x).map_err(Removal::Refused)
    }

    fn join(&mut self, other: &Self) -> Result<(), LimitError> {
        self.sums.merge(&other.sums)
    }

    fn counted(&self) -> Option<&[u64]> {
        Some(self.sums.counts())
    }

    fn statistic(&self, statistic: Statistic, result: &mut [u8]) -> Result<bool, Failure> {
        match statistic {
            Statistic::Value => {
                let longest = |(key, &sum): (usize, &i128)| {
                    I::Longest::try_from(sum).map_err(|_| too_large(key, &sum))
                };
                let sums = self.sums.values().iter().enumerate().map(longest);
                let sums: Vec<I::Longest> = sums.collect::<Result<_, _>>()?;
                write(result, sums.into_iter())
            }
            Statistic::Mean => write(result, (0..self.sums.keys()).map(|key| self.sums.mean(key))),
            _ => Ok(false),
        }
    }
}

/// A sum is none of 64 bits.
#[cold]
fn too_large(key: usize, sum: &impl Display) -> Failure {
    let message = format!("`result`: the sum of key {key} is {sum}, which 64 bits do not hold");
    Failure::new(Code::Argument, message)
}
