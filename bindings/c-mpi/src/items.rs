//! Items as bytes: as a program passes them, and as a plan takes them.

use std::borrow::Cow;
use std::marker::PhantomData;

use bytemuck::Pod;
use treefold_c::boundary::elements;
use treefold_c::failure::Failure;
use treefold_c::operator::{padded_items, unpadded};

/// How a plan's items lie in a program's arrays.
pub(crate) trait Layout {
    /// What the plan reduces.
    type Item: Pod;

    /// The bytes of an item in an array.
    fn bytes(&self) -> usize;

    /// The items of an array, if they lie as the plan takes them.
    fn in_place<'a>(&self, array: &'a [u8]) -> Option<&'a [Self::Item]>;

    /// The same, to be written to.
    fn in_place_mut<'a>(&self, array: &'a mut [u8]) -> Option<&'a mut [Self::Item]>;

    /// A copy of items that do not.
    ///
    /// # Errors
    /// Items of this type must lie so, or there is no memory.
    fn copy(&self, name: &'static str, array: &[u8]) -> Result<Vec<Self::Item>, Failure>;

    /// Copies items to an array of as many.
    fn write(&self, items: &[Self::Item], array: &mut [u8]);
}

/// Elements of a type of `treefold.h`, which lie as they are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plain<T>(PhantomData<T>);

impl<T> Plain<T> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Pod> Layout for Plain<T> {
    type Item = T;

    #[inline]
    fn bytes(&self) -> usize {
        size_of::<T>()
    }

    #[inline]
    fn in_place<'a>(&self, array: &'a [u8]) -> Option<&'a [T]> {
        if array.is_empty() {
            Some(&[])
        } else {
            bytemuck::try_cast_slice(array).ok()
        }
    }

    #[inline]
    fn in_place_mut<'a>(&self, array: &'a mut [u8]) -> Option<&'a mut [T]> {
        if array.is_empty() {
            Some(&mut [])
        } else {
            bytemuck::try_cast_slice_mut(array).ok()
        }
    }

    /// Programs that read it otherwise would be wrong as well.
    fn copy(&self, name: &'static str, array: &[u8]) -> Result<Vec<T>, Failure> {
        elements(name, array).map(<[T]>::to_vec)
    }

    fn write(&self, items: &[T], array: &mut [u8]) {
        array.copy_from_slice(bytemuck::cast_slice(items));
    }
}

/// Items of an operator of the program's, of so many bytes each, which a plan keeps in whole words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Padded<const WORDS: usize> {
    pub(crate) item_bytes: usize,
}

impl<const WORDS: usize> Padded<WORDS> {
    /// Whether items fill their words, so that aligned arrays need no copy.
    fn is_whole(self) -> bool {
        self.item_bytes == size_of::<[u64; WORDS]>()
    }
}

impl<const WORDS: usize> Layout for Padded<WORDS>
where
    [u64; WORDS]: Pod,
{
    type Item = [u64; WORDS];

    fn bytes(&self) -> usize {
        self.item_bytes
    }

    fn in_place<'a>(&self, array: &'a [u8]) -> Option<&'a [Self::Item]> {
        let items = bytemuck::try_cast_slice(array).ok();
        items.filter(|_| self.is_whole())
    }

    fn in_place_mut<'a>(&self, array: &'a mut [u8]) -> Option<&'a mut [Self::Item]> {
        let items = bytemuck::try_cast_slice_mut(array).ok();
        items.filter(|_| self.is_whole())
    }

    fn copy(&self, _: &'static str, array: &[u8]) -> Result<Vec<Self::Item>, Failure> {
        padded_items(array, self.item_bytes)
    }

    fn write(&self, items: &[Self::Item], array: &mut [u8]) {
        for (item, bytes) in items.iter().zip(array.chunks_exact_mut(self.item_bytes)) {
            unpadded(item, bytes);
        }
    }
}

/// The items of an array.
///
/// # Errors
/// As [`Layout::copy`].
pub(crate) fn read<'a, L: Layout>(
    layout: &L,
    name: &'static str,
    array: &'a [u8],
) -> Result<Cow<'a, [L::Item]>, Failure> {
    match layout.in_place(array) {
        Some(items) => Ok(Cow::Borrowed(items)),
        None => layout.copy(name, array).map(Cow::Owned),
    }
}

/// Lets `body` write a result to an array, in place or by way of a copy.
///
/// # Errors
/// As [`Layout::copy`], before `body` is called; or that of `body`.
pub(crate) fn into<L: Layout, R>(
    layout: &L,
    name: &'static str,
    array: &mut [u8],
    body: impl FnOnce(&mut [L::Item]) -> Result<R, Failure>,
) -> Result<R, Failure> {
    if let Some(items) = layout.in_place_mut(array) {
        return body(items);
    }
    let mut copy = layout.copy(name, array)?;
    let outcome = body(&mut copy)?;
    layout.write(&copy, array);
    Ok(outcome)
}
