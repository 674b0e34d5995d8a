//! Computes plain sums, as most programs do: each rank sums its own items, and the ranks' sums are added along a binomial tree.

use treefold::World;
use treefold::transport::Tag;
use treefold::transport::collective::{receive, send};

use crate::Outcome;

const LENGTH_BYTES: usize = size_of::<[f64; 2]>();

/// The dot products of a vector with itself and with another vector. The number of ranks determines which partial sums are added, and when.
pub(crate) fn dot_products(world: &World, tag: Tag, r: &[f64], w: &[f64]) -> Outcome<[f64; 2]> {
    let add = |left: [f64; 2], right: [f64; 2]| [left[0] + right[0], left[1] + right[1]];
    let products = r.iter().zip(w).map(|(&r, &w)| [r * r, r * w]);
    let mut total = products.fold([0.0; 2], add);
    let (transport, rank, size) = (world.transport(), world.rank(), world.size());
    // Sums go towards rank 0, from ranks at distance 1, then 2, then 4, …
    let mut stride = 1;
    while stride < size && rank & stride == 0 {
        if rank + stride < size {
            let message = receive(transport, rank + stride, tag, LENGTH_BYTES)?;
            total = add(total, from_bytes(&message));
        }
        stride *= 2;
    }
    if rank > 0 {
        let parent = rank - stride;
        send(transport, parent, tag, to_bytes(total), LENGTH_BYTES)?;
        total = from_bytes(&receive(transport, parent, tag, LENGTH_BYTES)?);
    }
    // The total goes back along the same tree.
    while stride > 1 {
        stride /= 2;
        if rank + stride < size {
            let message = to_bytes(total);
            send(transport, rank + stride, tag, message, LENGTH_BYTES)?;
        }
    }
    Ok(total)
}

fn to_bytes(pair: [f64; 2]) -> Vec<u8> {
    pair.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn from_bytes(message: &[u8]) -> [f64; 2] {
    let mut pair = [0.0; 2];
    for (value, &bytes) in pair.iter_mut().zip(message.as_chunks().0) {
        *value = f64::from_le_bytes(bytes);
    }
    pair
}
