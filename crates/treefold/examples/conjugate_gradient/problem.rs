//! Defines the problem: the Poisson equation on a square grid, whose rows of points are spread over the ranks.

use std::ops::Range;

use treefold::transport::Tag;
use treefold::{Distribution, World};

use crate::Outcome;

/// The number of points on a side of the grid. Around the grid, the solution is 0.
pub(crate) const SIDE: usize = 48;

/// The number of points on a side, including the rim.
const FRAMED: usize = SIDE + 2;

/// A heated plate: -div(k grad u) = 1 for the temperature u, where the conductivity k varies from point to point.
///
/// Nothing that is computed here depends on the number of ranks, because the ranks only exchange values, and sum nothing.
pub(crate) struct Plate<'w> {
    world: &'w World,
    /// This rank's rows of the grid.
    rows: Range<usize>,
    /// The ranks that have the adjacent rows.
    beside: [Option<usize>; 2],
    /// The conductivity of this rank's points, of the rows next to them, and of the rim.
    conductivity: Vec<f64>,
    /// One tag is enough: messages between two ranks arrive in the order in which they were sent.
    tag: Tag,
}

impl<'w> Plate<'w> {
    /// The plate whose rows are divided among the ranks by this distribution. Collective.
    pub(crate) fn new(world: &'w World, rank_of_rows: &Distribution) -> Outcome<Self> {
        let rows = rank_of_rows.range(world.rank());
        let rows = usize::try_from(rows.start)?..usize::try_from(rows.end)?;
        let rank_of = |row: usize| {
            if rows.is_empty() || row >= SIDE {
                None
            } else {
                Some(rank_of_rows.rank_of(row as u64))
            }
        };
        let beside = [
            rows.start.checked_sub(1).and_then(rank_of),
            rank_of(rows.end),
        ];
        let points = rows.start * FRAMED..(rows.end + 2) * FRAMED;
        Ok(Self {
            world,
            rows,
            beside,
            conductivity: points.map(conductivity).collect(),
            tag: world.fresh_tag()?,
        })
    }

    /// The grid points of this rank, by their numbers.
    pub(crate) fn points(&self) -> Range<usize> {
        self.rows.start * SIDE..self.rows.end * SIDE
    }

    /// The product A x: at every point, the flows of heat to its four neighbours, always added in the same order.
    pub(crate) fn times_matrix(&self, x: &[f64]) -> Outcome<Vec<f64>> {
        let [above, below] = self.rows_beside(x)?;
        let rows = [&above].into_iter().map(Vec::as_slice);
        let rows = rows.chain(x.chunks_exact(SIDE)).chain([&below[..]]);
        let framed: Vec<f64> = rows
            .flat_map(|row| [&[0.0], row, &[0.0]].concat())
            .collect();
        let k = &self.conductivity;
        let flow = |here: usize, there: usize| {
            let between = 2.0 * k[here] * k[there] / (k[here] + k[there]);
            between * (framed[here] - framed[there])
        };
        let at = |point: usize| {
            let here = (point / SIDE + 1) * FRAMED + point % SIDE + 1;
            let row = flow(here, here - 1) + flow(here, here + 1);
            (flow(here, here - FRAMED) + row) + flow(here, here + FRAMED)
        };
        Ok((0..x.len()).map(at).collect())
    }

    /// The rows next to this rank's rows: the last row of the previous rank and the first row of
    /// the next rank; zeros at the rim.
    fn rows_beside(&self, x: &[f64]) -> Outcome<[Vec<f64>; 2]> {
        let transport = self.world.transport();
        let [first, last] = match x.len() {
            0 => [x, x],
            length => [&x[..SIDE], &x[length - SIDE..]],
        };
        let edges = [(self.beside[0], first), (self.beside[1], last)];
        let length_bytes = SIDE * size_of::<f64>();
        let mut under_way = Vec::new();
        // All messages are started before this rank waits for the first one.
        for (side, (peer, edge)) in edges.into_iter().enumerate() {
            let Some(peer) = peer else { continue };
            let message = edge.iter().flat_map(|value| value.to_le_bytes()).collect();
            let receive = transport.start_receive(peer, self.tag, vec![0; length_bytes])?;
            let send = transport.start_send(peer, self.tag, message, length_bytes)?;
            under_way.push((side, receive, send));
        }
        let mut beside = [vec![0.0; SIDE], vec![0.0; SIDE]];
        for (side, receive, send) in under_way {
            let message = transport.wait(receive)?;
            for (value, &bytes) in beside[side].iter_mut().zip(message.as_chunks().0) {
                *value = f64::from_le_bytes(bytes);
            }
            transport.wait(send)?;
        }
        Ok(beside)
    }
}

/// The conductivity of a point, given its number in the grid with the rim: a pseudorandom power of two from 1 to 4096.
fn conductivity(point: usize) -> f64 {
    let drawn = (point as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    (0..drawn % 13).fold(1.0, |power, _| 2.0 * power)
}
