//! What treefold is measured against: the fastest way without an order, and the slow way with one.

use bytemuck::Pod;
use comm::{Communicator, Reduction, Tag, collective};
use distribution::Distribution;

use crate::error::RunError;
use crate::operator::Operator;
use crate::trace::span;
use crate::wire;

/// Each rank folds its own items in any order; then the transport's ordinary allreduce. Not reproducible.
///
/// A rank whose `local` is an error contributes zeros, and it alone gets the error: the transport's allreduce has no
/// room for more.
pub(crate) fn unordered<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    operator: &O,
    distribution: &Distribution,
    local: Result<&[T], RunError>,
) -> Result<T, RunError> {
    let folded = {
        span!("local work", items = distribution.count(comm.rank()));
        local.clone().map(|local| operator.fold_unordered(local))
    };
    let everyone_has_one = (0..distribution.ranks()).all(|rank| distribution.count(rank) > 0);
    let own = folded
        .clone()
        .unwrap_or(Some(T::zeroed()))
        .or(operator.empty());
    span!("waiting");
    let total = match own {
        Some(own) if everyone_has_one || operator.empty().is_some() => {
            allreduce_values(comm, operator, own)?
        }
        own => allreduce_options(comm, operator, own)?,
    };
    folded.map(|_| total)
}

fn allreduce_values<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    operator: &O,
    value: T,
) -> Result<T, RunError> {
    let combine = |left: &mut [u8], right: &[u8]| {
        let (a, b) = (
            bytemuck::pod_read_unaligned(left),
            bytemuck::pod_read_unaligned(right),
        );
        left.copy_from_slice(bytemuck::bytes_of(&operator.combine(a, b)));
    };
    let reduction = Reduction {
        native: operator.native(),
        combine: &combine,
    };
    let mut total = value;
    let (value, result) = (
        bytemuck::bytes_of(&value),
        bytemuck::bytes_of_mut(&mut total),
    );
    comm.allreduce_unordered(value, result, &reduction)?;
    Ok(total)
}

/// For operators without an empty value, where some rank has no items: a value and, as its last
/// byte, whether it is one.
fn allreduce_options<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    operator: &O,
    own: Option<T>,
) -> Result<T, RunError> {
    let value_bytes = size_of::<T>();
    let mut bytes = bytemuck::bytes_of(&own.unwrap_or(T::zeroed())).to_vec();
    bytes.push(own.is_some().into());
    let combine = |left: &mut [u8], right: &[u8]| {
        if right[value_bytes] == 0 {
            return;
        }
        if left[value_bytes] == 0 {
            left.copy_from_slice(right);
            return;
        }
        let left = &mut left[..value_bytes];
        let a = bytemuck::pod_read_unaligned(left);
        let b = bytemuck::pod_read_unaligned(&right[..value_bytes]);
        left.copy_from_slice(bytemuck::bytes_of(&operator.combine(a, b)));
    };
    let reduction = Reduction {
        native: None,
        combine: &combine,
    };
    let mut total = bytes.clone();
    comm.allreduce_unordered(&bytes, &mut total, &reduction)?;
    wire::value(&total[..value_bytes], comm.rank(), comm.rank())
}

/// All items on `root`, folded from left to right (eq. 1.5); the others get `None`.
pub(crate) fn left_to_right<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    tag: Tag,
    operator: &O,
    distribution: &Distribution,
    root: usize,
    local: Result<&[T], RunError>,
) -> Result<Option<T>, RunError> {
    let rank = comm.rank();
    let own = match &local {
        Ok(items) => wire::delivered(bytemuck::cast_slice(items).to_vec()),
        Err(_) => wire::failed(rank),
    };
    let most_items = (0..comm.size()).map(|rank| distribution.count(rank)).max();
    let capacity_items = usize::try_from(most_items.unwrap_or(0)).unwrap_or(usize::MAX);
    let capacity_bytes = wire::frame_bytes(capacity_items.saturating_mul(size_of::<T>()));
    let frames = {
        span!("waiting");
        collective::gather(comm, root, tag, own, capacity_bytes)?
    };
    local?;
    if rank != root {
        return Ok(None);
    }
    let mut items: Vec<T> = Vec::new();
    for (from, frame) in frames.iter().enumerate() {
        for bytes in wire::payload(frame, rank, from)?.chunks(size_of::<T>().max(1)) {
            items.push(wire::value(bytes, rank, from)?);
        }
    }
    span!("local work", items = items.len());
    Ok(operator.fold_left_to_right(&items))
}
