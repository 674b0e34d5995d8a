//! Converts items to doubles.

/// Converts an `f32` to a double by integer arithmetic.
#[inline]
pub(super) fn widened(item: f32) -> f64 {
    /// The number of bits by which a double's fraction is longer than that of an `f32`.
    const MORE: u32 = 52 - 23;
    let bits = item.to_bits();
    let (biased, fraction) = (u64::from(bits >> 23 & 0xFF), u64::from(bits & 0x7F_FFFF));
    let (biased, fraction) = match (biased, fraction) {
        (0, 0) => (0, 0),
        // A subnormal number is fraction * 2^-149. As a double it is normal: its highest bit moves to bit 52.
        (0, _) => {
            let shift = fraction.leading_zeros() - 11;
            let exponent = u64::from(1023 + 52 - 149 - shift);
            (exponent, fraction << shift & ((1 << 52) - 1))
        }
        (0xFF, _) => (0x7FF, fraction << MORE),
        _ => (biased + 1023 - 127, fraction << MORE),
    };
    f64::from_bits(u64::from(bits >> 31) << 63 | biased << 52 | fraction)
}

/// The largest number of items that are converted to doubles, or copied with other signs, at once.
pub(crate) const CONVERTED_ITEMS: usize = 2048;

/// Up to this many items are converted in a short buffer.
pub(crate) const FEW_ITEMS: usize = 64;

/// Converts items, and calls `add` with pieces of the result. All pieces but the last have an even number of items.
#[inline]
pub(crate) fn convert<T: Copy>(
    items: &[T],
    conversion: impl Fn(T) -> f64,
    add: impl FnMut(&[f64]),
) {
    // Clearing a long buffer takes longer than adding a few items.
    if items.len() <= FEW_ITEMS {
        convert_by::<FEW_ITEMS, T>(items, conversion, add);
    } else {
        convert_by::<CONVERTED_ITEMS, T>(items, conversion, add);
    }
}

#[inline]
fn convert_by<const ITEMS: usize, T: Copy>(
    items: &[T],
    conversion: impl Fn(T) -> f64,
    mut add: impl FnMut(&[f64]),
) {
    let mut doubles = [0.0; ITEMS];
    for chunk in items.chunks(ITEMS) {
        for (double, &item) in doubles.iter_mut().zip(chunk) {
            *double = conversion(item);
        }
        add(&doubles[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::widened;

    #[test]
    fn floats_as_doubles() {
        for high in 0..=u32::from(u16::MAX) {
            for low in [0, 1, 0x5555, 0x8000, 0xFFFF] {
                let item = f32::from_bits(high << 16 | low);
                let (own, expected) = (widened(item), f64::from(item));
                let are_alike = own.is_nan() && expected.is_nan();
                assert!(are_alike || own.to_bits() == expected.to_bits(), "{item:e}");
            }
        }
    }
}
