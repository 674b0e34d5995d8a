//! Specifies the order by a recursive function.

/// The fold of the items along the binary tree, by its recursive definition; `None` for no items.
///
/// Node (x, y) covers the items from x to x + 2^y. Its value is `combine(value(x, y - 1), value(x + 2^(y-1), y - 1))`, or
/// `value(x, y - 1)` unchanged if there is no item x + 2^(y-1) (thesis, eqs. 2.1 to 2.3). The result is the value of the root.
///
/// This function is slow; it is the oracle of the tests. The depth of the recursion is the height of the tree.
///
/// ```
/// let parenthesised = simd_kernels::by_definition(&[1.0, 1e100, 1.0, -1e100, 5.0], &|a, b| a + b);
/// assert_eq!(parenthesised, Some(((1.0 + 1e100) + (1.0 - 1e100)) + 5.0));
/// ```
pub fn by_definition<T: Copy>(items: &[T], combine: &impl Fn(T, T) -> T) -> Option<T> {
    match items {
        [] => None,
        [item] => Some(*item),
        _ => {
            // The right child of the root begins at half of the smallest power of two that is not below the number of items.
            let middle = items.len().next_power_of_two() / 2;
            let (left, right) = items.split_at(middle);
            Some(combine(
                by_definition(left, combine)?,
                by_definition(right, combine)?,
            ))
        }
    }
}
