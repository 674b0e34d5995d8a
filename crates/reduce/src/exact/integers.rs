//! The operator of exact plans: words are added, each by itself.

use bytemuck::Pod;

use crate::operator::{Operator, Sum};

/// Adds arrays of `i64` element by element, wrapping.
#[derive(Debug)]
pub(crate) struct IntegerSum {
    /// What the words stand for.
    pub(crate) name: String,
}

impl<W: Pod> Operator<W> for IntegerSum {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, left: W, right: W) -> W {
        let mut into = left;
        let places = bytemuck::bytes_of_mut(&mut into);
        let places: &mut [i64] = bytemuck::cast_slice_mut(places);
        let words: &[i64] = bytemuck::cast_slice(bytemuck::bytes_of(&right));
        for (place, &word) in places.iter_mut().zip(words) {
            *place = place.wrapping_add(word);
        }
        into
    }

    fn empty(&self) -> Option<W> {
        Some(W::zeroed())
    }

    fn combine_rows(&self, left: &[W], right: &[W], into: &mut [W]) {
        let (left, right) = (bytemuck::cast_slice(left), bytemuck::cast_slice(right));
        Operator::<i64>::combine_rows(&Sum, left, right, bytemuck::cast_slice_mut(into));
    }

    fn combine_rows_canonical(&self, left: &[W], right: &[W], into: &mut [W]) {
        self.combine_rows(left, right, into);
    }

    fn make_canonical(&self, _row: &mut [W]) {}

    fn copy_canonical(&self, row: &[W], into: &mut [W]) {
        into.copy_from_slice(row);
    }

    fn canonical(&self, value: W) -> W {
        value
    }
}
