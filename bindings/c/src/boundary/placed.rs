//! Aggregate states in the caller's memory, each preceded by a tag.

use treefold::exact::{
    CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactSum,
    CompactWeightedMean, Held,
};

use crate::aggregate::Aggregate;
use crate::failure::{Code, Failure};
use crate::raw::place;
use crate::statistic::Asked;

/// The header of a state in the caller's memory.
#[repr(C)]
#[derive(Debug)]
pub struct treefold_aggregate {
    /// Marks the memory as a state, and says which sums the state holds.
    tag: u64,
}

/// The layout of a state in the caller's memory.
#[repr(C)]
struct Placed<S> {
    tag: u64,
    state: S,
}

/// The common upper bytes of all tags: a value that is unlikely in other memory.
const STATE: u64 = 0x7472_6565_666f_6c00;

/// Evaluates `$value`, in which `$state` is the type of the state that holds `$held`.
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

/// All kinds of states.
const HELD: [Held; 6] = [
    Held::Sum,
    Held::Products,
    Held::Moments,
    Held::Weighted,
    Held::Powers,
    Held::CoMoments,
];

/// The sums that a state for this statistic holds.
///
/// # Errors
/// There is no state for this statistic.
pub(super) fn held_for(statistic: i32) -> Result<Held, Failure> {
    let asked = Asked::of_code(statistic)?;
    let held = asked.held();
    match asked {
        Asked::Of(statistic) if HELD.contains(&held) && held.has(statistic) => Ok(held),
        _ => Err(asked.missing("aggregates")),
    }
}

/// The number of bytes of a state.
pub(super) fn bytes_of(held: Held) -> usize {
    with_type!(held, State => {
        const { assert!(align_of::<Placed<State>>() <= 8) };
        size_of::<Placed<State>>()
    }, else 0)
}

/// The state in a caller's memory.
///
/// # Safety
/// If the memory begins with a state's tag, it holds a state, and no other thread reads or writes this state while the result is in use.
///
/// # Errors
/// The pointer is NULL or not aligned, or the memory does not begin with a tag.
#[inline(always)]
pub(super) unsafe fn state<'a>(
    name: &'static str,
    memory: *mut treefold_aggregate,
) -> Result<&'a mut dyn Aggregate, Failure> {
    place(name, memory)?;
    // SAFETY: `memory` is aligned and not NULL, as was just checked, and the caller promises that it points to a state.
    let tag = unsafe { (*memory).tag };
    with_type!(held_of(tag), State => {
        // SAFETY: the tag says that a state of this type was created here. The caller promises that it still exists and is not in use.
        Ok(unsafe { &mut (*memory.cast::<Placed<State>>()).state })
    }, else Err(Failure::argument(name, "it does not point to a state")))
}

fn tag_of(held: Held) -> u64 {
    STATE | held as u64
}

/// The sums that a tag stands for. For a value that is not a tag, returns [`Held::Extrema`], which no aggregate holds.
#[inline(always)]
fn held_of(tag: u64) -> Held {
    let mut all = HELD.into_iter();
    all.find(|held| tag == tag_of(*held))
        .unwrap_or(Held::Extrema)
}

/// Creates an empty state.
///
/// # Safety
/// `memory` points to n bytes, which no other thread reads or writes.
///
/// # Errors
/// The memory is NULL, not aligned, or too short.
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
        // SAFETY: `memory` is not NULL and aligned to 8 (enough for every state), as was just checked. The caller promises n bytes there.
        unsafe { memory.cast::<Placed<State>>().write(new) };
    }, else ());
    Ok(())
}
