//! The operators of arrays: each applies an operator of the elements, element by element.

use std::array;

use super::{Max, Min, Operator, Product, Sum};

/// Makes an operator of elements an operator of arrays, too.
macro_rules! array_operator {
    ($operator:ident) => {
        impl<T: Copy + 'static, const K: usize> Operator<[T; K]> for $operator
        where
            $operator: Operator<T>,
        {
            fn name(&self) -> &str {
                Operator::<T>::name(self)
            }
            fn combine(&self, left: [T; K], right: [T; K]) -> [T; K] {
                array::from_fn(|index| self.combine(left[index], right[index]))
            }
            fn empty(&self) -> Option<[T; K]> {
                Operator::<T>::empty(self).map(|empty| [empty; K])
            }
            fn is_plain(&self) -> bool {
                Operator::<T>::is_plain(self)
            }
            fn canonical(&self, value: [T; K]) -> [T; K] {
                value.map(|element| self.canonical(element))
            }
        }
    };
}

array_operator!(Sum);
array_operator!(Product);
array_operator!(Min);
array_operator!(Max);
