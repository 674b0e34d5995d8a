//! What crate `treefold-c-mpi` does with the states by key that a program holds.

use std::any::Any;

use crate::accumulator::Change;
use crate::element::ElementType;
use crate::failure::Failure;
use crate::handle;
use crate::keyed::{Keys, of_codes, treefold_keyed};

/// Items of a type, added up by keys 0 to `keys` - 1: `A` is what a figure of `treefold.h` stands for.
///
/// # Errors
/// As those of `treefold_keyed_create` and `treefold_keyed_add`.
///
/// # Panics
/// It stands for something else.
pub fn collected<A: Any>(
    (element_type, figure): (ElementType, i32),
    keys: usize,
    of_items: Keys<'_>,
    items: &[u8],
) -> Result<A, Failure> {
    let mut state = of_codes(element_type, figure, keys)?;
    state.change(Change::Add, of_items, &[items])?;
    let any: Box<dyn Any> = state;
    let state = any.downcast::<A>();
    Ok(*state.unwrap_or_else(|_| panic!("figure {figure} of {element_type:?} is another state")))
}

/// Lets `body` change the state of a handle, which is a `KeyedSums` or the like. If it fails, it leaves the state as it was.
///
/// # Errors
/// The handle names no state, or one of another kind; another thread uses it; or those of `body`.
pub fn change<A: Any, R>(
    keyed: *const treefold_keyed,
    body: impl FnOnce(&mut A) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::change(keyed, |held| {
        let any: &mut dyn Any = held.as_mut();
        let state = any.downcast_mut::<A>();
        body(state.ok_or_else(|| {
            Failure::argument("keyed", "it is of another type or figure than the plan")
        })?)
    })
}
