//! The specification of the order, as short as it can be said.

/// The fold of the items along the binary tree, by its recursive definition; `None` of none.
///
/// Node (x, y) covers the items from x to x + 2^y; its value is `combine(value(x, y - 1), value(x + 2^(y-1), y - 1))`, or, if
/// there is no item x + 2^(y-1), `value(x, y - 1)` unchanged (thesis, eqs. 2.1 to 2.3). The result is the root's.
///
/// Slow, and the oracle of every test. Recursion is as deep as the tree is high.
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
            // Half of the least power of two that holds all items: the root's right child begins there.
            let middle = items.len().next_power_of_two() / 2;
            let (left, right) = items.split_at(middle);
            Some(combine(
                by_definition(left, combine)?,
                by_definition(right, combine)?,
            ))
        }
    }
}
