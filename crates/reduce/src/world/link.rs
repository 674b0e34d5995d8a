//! The cost of messages: a default, and measurements.
//!
//! A link is measured by round trips between two ranks. If there are several nodes, all ranks of the first few nodes then exchange messages
//! between these nodes at once. The time that this takes beyond that of one message is due to crowding.

use std::time::{Duration, Instant};

use comm::{Communicator, Error, Tag, collective};
use schedule::{Link, Network};

use super::World;

/// The default cost: that of two processes or threads that poll for each other's messages on the machine of `docs/performance.md`. Short
/// messages have less than this latency; long messages have more, because they take another round trip.
pub const DEFAULT_LINK: Link = Link {
    latency_ns: 500.0,
    byte_ns: 0.1,
    combine_byte_ns: 0.01,
};

/// The number of round trips in a series on a fast link. Only the fastest of `SERIES` series counts.
const ROUND_TRIPS: u32 = 50;
const SERIES: u32 = 9;

/// A series on a slow link has fewer round trips, and takes about this time.
const SERIES_TIME: Duration = Duration::from_millis(2);

/// Once this time has passed, no further series begins.
const LINK_TIME: Duration = Duration::from_millis(60);

/// The number of bytes of a short message and of a long message.
const SHORT_BYTES: usize = 8;
const LONG_BYTES: usize = 1 << 18;

/// All exchanges between the nodes together take about this time.
const EXCHANGES_NS: f64 = 5e7;

/// The number of ranks that take part in these exchanges. If two nodes have more ranks, all ranks of two nodes take part.
const EXCHANGING_RANKS: usize = 16;

/// The kind in the tags of a measurement's messages. No plan uses this kind, so a rank that builds a plan meanwhile gets an error instead
/// of mistaking these messages for its own.
const MEASURING: u8 = Tag::KIND_LIMIT - 1;

/// The first byte of a message says whether more messages follow, or whether this message is the last.
const MORE: u8 = 1;
const LAST: u8 = 0;

/// Measures the links. Collective; every rank gets the same network.
pub(super) fn measure(world: &World) -> Result<Network, Error> {
    let comm = world.transport();
    let tag = world.fresh_tag()?.with_exchange(0, MEASURING);
    let ranks = comm.size();
    let combine_byte_ns = combine_byte_ns();
    let link_to = |peer: usize| -> Result<Link, Error> {
        let short_ns = one_way_ns(comm, tag, peer, SHORT_BYTES)?;
        let long_ns = one_way_ns(comm, tag, peer, LONG_BYTES)?;
        #[expect(clippy::cast_precision_loss, reason = "a power of two")]
        let long_bytes = LONG_BYTES as f64;
        let own = [
            short_ns.max(1.0),
            ((long_ns - short_ns) / long_bytes).max(1e-4),
            combine_byte_ns,
        ];
        let [latency_ns, byte_ns, combine_byte_ns] = agreed(comm, tag, own)?;
        Ok(Link {
            latency_ns,
            byte_ns,
            combine_byte_ns,
        })
    };
    let hints = comm.hints();
    let near_peer = match hints.node_ranks {
        _ if ranks == 1 => {
            return Ok(Network::from(Link {
                combine_byte_ns,
                ..DEFAULT_LINK
            }));
        }
        // Each node has one rank.
        Some(1) => None,
        _ => Some(1),
    };
    let near = near_peer.map(link_to).transpose()?;
    let (node_ranks, far) = match hints.node_ranks {
        Some(node_ranks) if node_ranks < ranks => (node_ranks, link_to(node_ranks)?),
        Some(_) => return Ok(near.unwrap_or(DEFAULT_LINK).into()),
        // Nodes have different numbers of ranks, so the slower of the two links represents all links.
        None => {
            let last = link_to(ranks - 1)?;
            let links = near.into_iter().chain([last]);
            let slower = links.max_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns));
            return Ok(slower.unwrap_or(last).into());
        }
    };
    let shares_cores = ranks > hints.concurrency;
    Ok(Network {
        near: near.unwrap_or(far),
        far,
        node_ranks,
        crowding_ns: crowding_ns(comm, tag, node_ranks, far, shares_cores)?,
        port_ranks: if shares_cores { ranks } else { node_ranks },
    })
}

/// Broadcasts rank 0's numbers. Collective.
fn agreed<const N: usize>(
    comm: &dyn Communicator,
    tag: Tag,
    own: [f64; N],
) -> Result<[f64; N], Error> {
    let mut message = bytemuck::cast_slice(&own).to_vec();
    let length_bytes = message.len();
    collective::broadcast(comm, 0, tag, &mut message, length_bytes)?;
    let mut agreed = own;
    bytemuck::cast_slice_mut(&mut agreed).copy_from_slice(&message);
    Ok(agreed)
}

/// Measures, by round trips, how long a message from rank 0 to a peer takes. The result is meaningless on ranks other than 0.
fn one_way_ns(comm: &dyn Communicator, tag: Tag, peer: usize, bytes: usize) -> Result<f64, Error> {
    if comm.rank() == peer {
        loop {
            let message = collective::receive(comm, 0, tag, bytes)?;
            if message.first() == Some(&LAST) {
                return Ok(0.0);
            }
            collective::send(comm, 0, tag, message, bytes)?;
        }
    }
    if comm.rank() != 0 {
        return Ok(0.0);
    }
    let series = |round_trips: u32| -> Result<Duration, Error> {
        let begin = Instant::now();
        for _ in 0..round_trips {
            collective::send(comm, peer, tag, vec![MORE; bytes], bytes)?;
            collective::receive(comm, peer, tag, bytes)?;
        }
        Ok(begin.elapsed() / round_trips)
    };
    let begin = Instant::now();
    // The first messages allocate memory and open connections.
    series(2)?;
    let first = series(2)?.max(Duration::from_nanos(1));
    let round_trips = SERIES_TIME.as_nanos() / first.as_nanos();
    let round_trips =
        u32::try_from(round_trips).map_or(ROUND_TRIPS, |number| number.clamp(2, ROUND_TRIPS));
    let mut best = first;
    for _ in 0..SERIES {
        best = best.min(series(round_trips)?);
        if begin.elapsed() > LINK_TIME {
            break;
        }
    }
    collective::send(comm, peer, tag, vec![LAST; bytes], bytes)?;
    Ok(nanoseconds(best) / 2.0)
}

/// The time that each further message through the same port adds, measured by short messages from all ranks of some nodes to all ranks of
/// the others.
fn crowding_ns(
    comm: &dyn Communicator,
    tag: Tag,
    node_ranks: usize,
    far: Link,
    shares_cores: bool,
) -> Result<f64, Error> {
    let nodes = (EXCHANGING_RANKS / node_ranks).max(2);
    let ranks = (nodes * node_ranks).min(comm.size());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 2 and 25"
    )]
    // The number is even, because nodes out of step by one message wait alternately: only a pair of exchanges takes the time of two messages.
    let times = 2 * (EXCHANGES_NS / far.latency_ns / 2.0).clamp(2.0, 25.0) as u32;
    let mut one_ns = 0.0;
    if comm.rank() < ranks {
        let own_node = comm.rank() / node_ranks;
        let others = (0..ranks).filter(|rank| rank / node_ranks != own_node);
        let others: Vec<usize> = others.collect();
        let exchange = || -> Result<(), Error> {
            let mut requests = Vec::new();
            for &other in &others {
                requests.push(comm.start_receive(other, tag, vec![0; SHORT_BYTES])?);
            }
            for &other in &others {
                requests.push(comm.start_send(other, tag, vec![0; SHORT_BYTES], SHORT_BYTES)?);
            }
            requests
                .into_iter()
                .try_for_each(|request| comm.wait(request).map(drop))
        };
        // These exchanges open connections, which takes some ranks longer than others, and then synchronise the ranks.
        for _ in 0..3 {
            exchange()?;
        }
        let begin = Instant::now();
        for _ in 0..times {
            exchange()?;
        }
        one_ns = nanoseconds(begin.elapsed() / times);
    }
    let [one_ns] = agreed(comm, tag, [one_ns])?;
    let sending = if shares_cores { ranks } else { node_ranks };
    #[expect(clippy::cast_precision_loss, reason = "some thousand messages")]
    let further = (sending * (ranks - node_ranks)).saturating_sub(1) as f64;
    Ok(((one_ns - far.latency_ns) / further.max(1.0)).max(0.0))
}

/// How much longer adding a byte takes than copying it, in cache. Only the difference counts, because all received data is copied anyway.
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
            best = best.min(nanoseconds(begin.elapsed()) / f64::from(ROUND_TRIPS));
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

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}
