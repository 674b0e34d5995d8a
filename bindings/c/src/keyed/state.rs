//! States that a program keeps between calls: exact sums of all items or by key, and the statistics that follow from them.

use std::any::Any;

use treefold::FoldError;
use treefold::exact::{BytesError, Items, Keyed, KeyedSlot, RemoveKeyedError, Statistic};

use super::kind::{Real, SlotKind, Unchanged, write};
use super::{Keys, has_room, of_limit, of_removal};
use crate::element::ElementType;
use crate::failure::{self, Code, Failure};
use crate::handle::{Copied, handle};
use crate::raw::elements;
use crate::statistic::{Asked, Question};

handle!(
    /// The handle of a state by key.
    pub treefold_keyed,
    Box<dyn State>,
    2,
    "keyed"
);

/// Whether items are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add,
    Remove,
}

/// An accumulator of all items, or a state by key: for the keys 0 to K - 1, or for all keys to which items were added.
pub(crate) trait State: Any + Send + Sync {
    /// The type of the program's items.
    fn element_type(&self) -> ElementType;

    /// The number of keys; 1 for an accumulator.
    fn groups(&self) -> usize {
        1
    }

    /// The number of items per row, and of results per key.
    fn width(&self) -> usize {
        1
    }

    /// Adds or removes the items of one array, or the pairs of two arrays. An accumulator ignores the keys.
    ///
    /// # Errors
    /// The number of arrays is wrong, there are not as many keys as items, a key is out of range, an address is not aligned, or there are
    /// fewer items than are to be removed.
    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure>;

    /// Adds the items of another state, or removes them.
    ///
    /// # Errors
    /// `other` is of another kind or has another number of keys, or there are fewer items than are to be removed.
    fn change_by(&mut self, change: Change, other: &dyn State) -> Result<(), Failure>;

    /// Whether `other` is equal to this state.
    ///
    /// # Errors
    /// `other` is of another kind.
    fn equals(&self, other: &dyn State) -> Result<bool, Failure>;

    /// Writes a statistic of each key, of type [`Asked::element_type`].
    ///
    /// # Errors
    /// There is no such statistic, an address is not aligned, or a result does not fit its type.
    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure>;

    /// The type of the keys of a hashed state.
    ///
    /// # Errors
    /// The state is not hashed: its keys are 0 to K - 1.
    fn key_type(&self) -> Result<ElementType, Failure> {
        let message = format!(
            "{} have the keys 0 to K - 1: only hashed states list their keys",
            self.name()
        );
        Err(Failure::new(Code::Unsupported, message))
    }

    /// Writes the keys of a hashed state in ascending order.
    ///
    /// # Errors
    /// An address is not aligned.
    fn write_keys(&self, _: &mut [u8]) -> Result<(), Failure> {
        self.key_type().map(drop)
    }

    /// # Errors
    /// The state cannot be written as bytes.
    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Err(self.has_no_bytes())
    }

    /// Replaces the contents with those that the bytes describe.
    ///
    /// # Errors
    /// The bytes do not describe a state of this kind.
    fn become_bytes(&mut self, _: &[u8]) -> Result<(), Failure> {
        Err(self.has_no_bytes())
    }

    /// An empty state of this kind. Unless this state is hashed, the new state has as many keys as this one.
    ///
    /// # Errors
    /// There is no memory for the new state.
    fn emptied(&self) -> Result<Box<dyn State>, Failure>;

    /// A copy of the state.
    ///
    /// # Errors
    /// There is no memory for the copy.
    fn boxed(&self) -> Result<Box<dyn State>, Failure>;

    /// The description of the state in error messages.
    fn name(&self) -> String;

    #[cold]
    fn has_no_bytes(&self) -> Failure {
        let name = self.name();
        let message = format!("{name} have no byte format");
        Failure::new(Code::Unsupported, message)
    }

    #[cold]
    fn takes(&self, what: &str) -> Failure {
        Failure::new(Code::Unsupported, format!("{} take {what}", self.name()))
    }

    #[cold]
    fn lacks(&self, asked: Asked) -> Failure {
        asked.missing(&self.name())
    }
}

impl Copied for Box<dyn State> {
    fn copied(&self) -> Result<Self, Failure> {
        self.boxed()
    }
}

/// Creates slots without items.
pub(super) fn empty<S: SlotKind>(keys: usize, width: usize) -> Result<Keyed<S>, Failure> {
    has_room(keys.saturating_mul(width), S::KEY_BYTES)?;
    Keyed::of_rows(keys, width).map_err(|error| of_limit("keys", error))
}

/// The failure for invalid bytes.
pub(crate) fn of_bytes_error(error: &BytesError) -> Failure {
    let code = match error {
        BytesError::Truncated | BytesError::TooMany { .. } => Code::Length,
        _ => Code::Argument,
    };
    Failure::new(code, format!("`bytes`: {error}"))
}

/// Casts `other` to the kind of `own`.
pub(crate) fn same_kind<'o, S: State>(own: &S, other: &'o dyn State) -> Result<&'o S, Failure> {
    let any: &dyn Any = other;
    let same = any.downcast_ref::<S>();
    let same = same.filter(|other| own.element_type() == other.element_type());
    same.ok_or_else(|| {
        let reason = format_args!("it is {}, not {}", other.name(), own.name());
        Failure::argument("other", reason)
    })
}

/// Checks that there are whole rows, makes the keys unsigned, and calls `change`, which adds items to slots or removes them.
pub(super) fn change_slots<S: KeyedSlot>(
    slots: &mut Keyed<S>,
    keys: Keys<'_>,
    items: S::Items<'_>,
    array: &str,
    change: impl FnOnce(&mut Keyed<S>, Keys<'_>, S::Items<'_>) -> Result<(), Unchanged>,
) -> Result<(), Failure> {
    let width = slots.width();
    let values = items.count();
    if !values.is_multiple_of(width) {
        let (values, width) = (values as u64, width as u64);
        return Err(FoldError::NotRows { values, width }.into());
    }
    let of_items = keys.without_signs(slots.keys())?;
    change(slots, of_items, items).map_err(|unchanged| match unchanged {
        Unchanged::Failure(failure) => failure,
        Unchanged::Removal(error) => of_removal(keys, &error, array, width),
    })
}

/// Adds other slots with the same keys and columns, or removes them.
pub(super) fn change_by_slots<S: KeyedSlot>(
    slots: &mut Keyed<S>,
    change: Change,
    other: &Keyed<S>,
) -> Result<(), Failure> {
    let found = [other, slots].map(|slots| [slots.keys(), slots.width()]);
    for (what, [found, expected]) in [
        ("keys", found.map(|[keys, _]| keys)),
        ("columns", found.map(|[_, columns]| columns)),
    ] {
        if found != expected {
            let message = format!("`other` has {found} {what}, but `keyed` has {expected}");
            return Err(Failure::new(Code::Length, message));
        }
    }
    match change {
        Change::Add => slots.merge(other).map_err(|error| of_limit("other", error)),
        Change::Remove => {
            let unmerged = slots.unmerge(other);
            unmerged.map_err(|error| of_unmerge(&error))
        }
    }
}

/// The failure for a state that cannot be removed from another.
pub(super) fn of_unmerge(error: &RemoveKeyedError) -> Failure {
    match error {
        RemoveKeyedError::Never => Failure::new(Code::Unsupported, error.to_string()),
        other => Failure::argument("other", other),
    }
}

impl<S: SlotKind> State for Keyed<S> {
    fn element_type(&self) -> ElementType {
        S::Real::TYPE
    }

    fn groups(&self) -> usize {
        self.keys()
    }

    fn width(&self) -> usize {
        self.width()
    }

    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
        let arrays = match (arrays, S::TAKES_PAIRS) {
            ([x], false) => [elements("items", x)?, &[]],
            ([x, y], true) => [elements("x", x)?, elements("y", y)?],
            _ => return Err(self.takes(["one array", "two arrays"][usize::from(S::TAKES_PAIRS)])),
        };
        change_arrays(self, change, keys, arrays)
    }

    fn change_by(&mut self, change: Change, other: &dyn State) -> Result<(), Failure> {
        change_by_slots(self, change, same_kind(self, other)?)
    }

    fn equals(&self, other: &dyn State) -> Result<bool, Failure> {
        Ok(self == same_kind(self, other)?)
    }

    fn write(&self, question: Question, result: &mut [u8]) -> Result<(), Failure> {
        // The results are computed into a buffer before they are written.
        has_room(result.len(), 1)?;
        let Question { asked, options } = question;
        let lacks = || self.lacks(asked);
        match asked.of_reals() {
            Statistic::Count => write(result, self.counts().ok_or_else(lacks)?),
            statistic => write(
                result,
                &self.statistics(statistic, options).ok_or_else(lacks)?,
            ),
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Ok(self.to_bytes())
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // In the byte format, each key takes at least nine bytes.
        has_room(bytes.len() / 9, S::KEY_BYTES)?;
        let new = Self::of_bytes(bytes).map_err(|error| of_bytes_error(&error))?;
        let [found, expected] = [new.width(), self.width()];
        if found != expected {
            let reason = format_args!("the rows have {found} items, not {expected} as in `keyed`");
            return Err(Failure::argument("bytes", reason));
        }
        *self = new;
        Ok(())
    }

    fn emptied(&self) -> Result<Box<dyn State>, Failure> {
        Ok(Box::new(empty::<S>(self.keys(), self.width())?))
    }

    fn boxed(&self) -> Result<Box<dyn State>, Failure> {
        has_room(self.memory(), 1)?;
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> String {
        let rows = if self.width() > 1 { " of rows" } else { "" };
        format!("{}{rows} of TREEFOLD_{:?}", S::NAME, S::Real::TYPE)
    }
}

/// Adds the items of one array or the pairs of two arrays to slots, or removes them.
pub(super) fn change_arrays<S: SlotKind>(
    slots: &mut Keyed<S>,
    change: Change,
    keys: Keys<'_>,
    [x, y]: [&[S::Real]; 2],
) -> Result<(), Failure> {
    if S::TAKES_PAIRS && x.len() != y.len() {
        return Err(failure::lengths(x.len(), y.len()));
    }
    let array = ["items", "x"][usize::from(S::TAKES_PAIRS)];
    change_slots(
        slots,
        keys,
        S::items([x, y]),
        array,
        |slots, keys, items| S::change_items(slots, change, keys, items),
    )
}
