//! States of aggregates where a caller wants them: in its own memory, behind a tag.

use treefold::exact::{
    CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactSum,
    CompactWeightedMean, Held,
};

use crate::aggregate::Aggregate;
use crate::failure::{Code, Failure};
use crate::raw::place;
use crate::statistic::Asked;

/// The beginning of a caller's memory that holds a state.
#[repr(C)]
#[derive(Debug)]
pub struct treefold_aggregate {
    /// Tells what is held, and that this is a state.
    tag: u64,
}

/// A state in a caller's memory.
#[repr(C)]
struct Placed<S> {
    tag: u64,
    state: S,
}

/// What tags are, up to their lowest byte: no number that is likely elsewhere.
const STATE: u64 = 0x7472_6565_666f_6c00;

/// Evaluates an expression for the type that holds this.
macro_rules! with_type {
    ($held:expr, $state:ident => $value:expr, else $none:expr) => {
        match $held {
            Held::Sum => with_type!(CompactSum, $state => $value),
            Held::Products => with_type!(CompactProducts, $state => $value),
            Held::Moments => with_type!(CompactMoments, $state => $value),
            Held::Weighted => with_type!(CompactWeightedMean, $state => $value),
            Held::Powers => with_type!(CompactPowers, $state => $value),
            Held::CoMoments => with_type!(CompactCoMoments, $state => $value),
            _ => $none,
        }
    };
    ($type:ty, $state:ident => $value:expr) => {{
        type $state = $type;
        $value
    }};
}

/// All that states hold.
const HELD: [Held; 6] = [
    Held::Sum,
    Held::Products,
    Held::Moments,
    Held::Weighted,
    Held::Powers,
    Held::CoMoments,
];

/// What a state for a statistic holds.
///
/// # Errors
/// There is no such state.
pub(super) fn held_for(statistic: i32) -> Result<Held, Failure> {
    let asked = Asked::of_code(statistic)?;
    let held = asked.held();
    match asked {
        Asked::Of(statistic) if HELD.contains(&held) && held.has(statistic) => Ok(held),
        _ => Err(asked.missing("aggregates")),
    }
}

/// The bytes of a state.
pub(super) fn bytes_of(held: Held) -> usize {
    with_type!(held, State => {
        const { assert!(align_of::<Placed<State>>() <= 8) };
        size_of::<Placed<State>>()
    }, else 0)
}

/// The state in a caller's memory.
///
/// # Safety
/// If the memory begins as a state does, it holds one, and nobody else reads or writes it while the result is in use.
///
/// # Errors
/// It is NULL, or does not begin so.
#[inline(always)]
pub(super) unsafe fn state<'a>(
    name: &'static str,
    memory: *mut treefold_aggregate,
) -> Result<&'a mut dyn Aggregate, Failure> {
    place(name, memory)?;
    // SAFETY: not NULL and aligned, as was just found, and the caller promises a state.
    let tag = unsafe { (*memory).tag };
    with_type!(held_of(tag), State => {
        // SAFETY: the tag says that a state of this type was created here; the caller promises that it is still there and not in use.
        Ok(unsafe { &mut (*memory.cast::<Placed<State>>()).state })
    }, else Err(Failure::argument(name, "it is not a state")))
}

fn tag_of(held: Held) -> u64 {
    STATE | held as u64
}

/// What a tag says; extrema, which no aggregate holds, for no tag.
#[inline(always)]
fn held_of(tag: u64) -> Held {
    let mut all = HELD.into_iter();
    all.find(|held| tag == tag_of(*held))
        .unwrap_or(Held::Extrema)
}

/// Creates the state of no rows.
///
/// # Safety
/// `memory` is n bytes, which nobody else reads or writes.
///
/// # Errors
/// It is NULL, not aligned, or too short.
pub(super) unsafe fn create(
    memory: *mut treefold_aggregate,
    n: usize,
    held: Held,
) -> Result<(), Failure> {
    place("aggregate", memory)?;
    let needed = bytes_of(held);
    if n < needed {
        let message = format!("`aggregate` has {n} bytes, but a state has {needed}");
        return Err(Failure::new(Code::Length, message));
    }
    let tag = tag_of(held);
    with_type!(held, State => {
        let new = Placed { tag, state: State::default() };
        // SAFETY: not NULL and aligned to 8, as was found, which is enough for every state; there is room, as the caller promises.
        unsafe { memory.cast::<Placed<State>>().write(new) };
    }, else ());
    Ok(())
}
