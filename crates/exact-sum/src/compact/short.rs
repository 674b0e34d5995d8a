//! A sum in a short integer.

use super::digits::Digits;

/// The unit of a sum to which nothing was added: no item fits it.
pub(super) const NO_UNIT: i16 = i16::MAX;

/// digits * 2^unit, without padding.
#[derive(Clone, Copy, Debug)]
#[repr(C, packed(2))]
pub(super) struct Short<D: Digits> {
    pub(super) digits: D,
    pub(super) unit: i16,
}

impl<D: Digits> Short<D> {
    pub(super) const EMPTY: Self = Self {
        digits: D::ZERO,
        unit: NO_UNIT,
    };

    fn unit(self) -> i32 {
        self.unit.into()
    }

    #[inline(always)]
    fn with(self, digits: Option<D>) -> Option<Self> {
        digits.map(|digits| Self { digits, ..self })
    }

    /// This number plus item * 2^unit, if there is room.
    #[inline(always)]
    pub(super) fn plus_item(self, item: D::Item, unit: i32) -> Option<Self> {
        let own = self.unit();
        let unit = if item == D::Item::default() {
            own
        } else {
            unit
        };
        let places = (unit - own).cast_unsigned();
        if places > D::MOST_PLACES {
            return None;
        }
        let digits = self.digits;
        self.with(digits.plus_item(item, places))
    }

    /// This number plus the parts of a power, as [`Number::add_parts`] takes them, if there is room.
    #[inline(always)]
    pub(super) fn plus_parts<const N: usize>(self, parts: [(i128, i32); N]) -> Option<Self> {
        let own = self.unit();
        let (_, lowest) = parts[N - 1];
        let factors = D::ITEM_BITS / 53;
        let most_places = D::BITS - 2 - factors * 63;
        if (lowest - own).cast_unsigned() > most_places {
            return None;
        }
        let mut digits = self.digits;
        for (part, unit) in parts {
            digits = digits.plus(part, (unit - own).cast_unsigned())?;
        }
        self.with(Some(digits))
    }

    /// This number plus an integer, if its unit is 1 and there is room.
    #[inline(always)]
    pub(super) fn plus_whole(self, integer: i128) -> Option<Self> {
        let digits = self.digits;
        let is_whole = self.unit() == 0;
        self.with(is_whole.then(|| digits.plus(integer, 0)).flatten())
    }

    /// The sum of both numbers, or the difference if `is_less`, if their units are the same and there is room.
    #[inline(always)]
    pub(super) fn plus(self, other: Self, is_less: bool) -> Option<Self> {
        let [own, others] = [self.digits, other.digits];
        let others = if is_less { others.negated()? } else { others };
        match (own.is_zero(), others.is_zero()) {
            (_, true) => Some(self),
            (true, _) => other.with(Some(others)),
            _ if self.unit() == other.unit() => self.with(own.plus_all(others)),
            _ => None,
        }
    }
}
