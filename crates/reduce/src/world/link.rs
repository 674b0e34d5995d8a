//! What a message costs: by default, and as measured.

use std::time::Instant;

use comm::{Communicator, Tag, collective};
use schedule::Link;

use super::World;

/// Two processes or threads of one machine that poll for each other's messages, as on the machine of `docs/performance.md`; its
/// latency is between those of short messages and of long ones, which take another round trip.
pub const DEFAULT_LINK: Link = Link {
    latency_ns: 500.0,
    byte_ns: 0.1,
    combine_byte_ns: 0.01,
};

/// Round trips that are timed at once.
const ROUND_TRIPS: u32 = 50;

/// The bytes of a long message.
const LONG_BYTES: usize = 1 << 18;

/// Measures the link between ranks 0 and 1. Collective; the same on every rank.
pub(super) fn measure(world: &World) -> Result<Link, comm::Error> {
    let comm = world.transport();
    let mut link = DEFAULT_LINK;
    if comm.size() > 1 {
        let tag = world.fresh_tag()?;
        let one_way = |bytes: usize| -> Result<f64, comm::Error> {
            let mut best = f64::INFINITY;
            for _ in 0..9 {
                let begin = Instant::now();
                for _ in 0..ROUND_TRIPS {
                    round_trip(comm, tag, bytes)?;
                }
                best = best.min(nanoseconds(begin) / f64::from(2 * ROUND_TRIPS));
            }
            Ok(best)
        };
        let (short, long) = (one_way(8)?, one_way(LONG_BYTES)?);
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        let long_bytes = LONG_BYTES as f64;
        link.latency_ns = short.max(1.0);
        link.byte_ns = ((long - short) / long_bytes).max(1e-4);
    }
    link.combine_byte_ns = combine_byte_ns();
    let own = [link.latency_ns, link.byte_ns, link.combine_byte_ns];
    let all = collective::allgather(comm, bytemuck::cast_slice(&own).to_vec())?;
    let first: [f64; 3] = bytemuck::pod_read_unaligned(&all[..size_of_val(&own)]);
    let [latency_ns, byte_ns, combine_byte_ns] = first;
    Ok(Link {
        latency_ns,
        byte_ns,
        combine_byte_ns,
    })
}

/// There and back between ranks 0 and 1; the others have nothing to do.
fn round_trip(comm: &dyn Communicator, tag: Tag, bytes: usize) -> Result<(), comm::Error> {
    match comm.rank() {
        0 => {
            collective::send(comm, 1, tag, vec![0; bytes], bytes)?;
            collective::receive(comm, 1, tag, bytes).map(drop)
        }
        1 => {
            let message = collective::receive(comm, 0, tag, bytes)?;
            collective::send(comm, 0, tag, message, bytes)
        }
        _ => Ok(()),
    }
}

/// By how much adding a byte takes longer than copying it, which everything that is received is: in cache.
fn combine_byte_ns() -> f64 {
    let (mut left, right) = (vec![1.0_f64; 4096], vec![1.0_f64; 4096]);
    let mut best = |step: fn(&mut [f64], &[f64])| {
        let mut best = f64::INFINITY;
        for _ in 0..9 {
            let begin = Instant::now();
            for _ in 0..ROUND_TRIPS {
                step(&mut left, std::hint::black_box(&right));
                std::hint::black_box(&mut left);
            }
            best = best.min(nanoseconds(begin) / f64::from(ROUND_TRIPS));
        }
        best
    };
    let copying = best(<[f64]>::copy_from_slice);
    let adding = best(|left, right| {
        for (left, right) in left.iter_mut().zip(right) {
            *left += right;
        }
    });
    #[expect(clippy::cast_precision_loss, reason = "some thousand bytes")]
    let bytes = size_of_val(&right[..]) as f64;
    ((adding - copying) / bytes).max(1e-4)
}

fn nanoseconds(begin: Instant) -> f64 {
    begin.elapsed().as_secs_f64() * 1e9
}
