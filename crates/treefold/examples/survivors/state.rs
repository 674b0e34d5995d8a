//! Keeps a rank's part of an iterate, with a copy on another rank, and lets survivors take over the parts of lost ranks.

use std::ops::Range;

use treefold::transport::Tag;
use treefold::{Distribution, Min, Move, Ownership, Plan, Rebalance, Source, World};

use crate::Outcome;
use crate::problem::SIDE;

/// The number of values at a grid point: x, r, p and s.
pub(crate) const FIELDS: usize = 4;

/// The number of values in a row of the grid.
const ROW: usize = FIELDS * SIDE;

/// The state that is the same on all ranks.
#[derive(Clone, Debug)]
pub(crate) struct Scalars {
    pub(crate) alpha: f64,
    pub(crate) rr_before: f64,
    pub(crate) rr_first: Option<f64>,
    /// The fingerprints of the bits of each iterate so far.
    pub(crate) fingerprints: Vec<u64>,
}

/// One rank's part of an iterate.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) scalars: Scalars,
    /// The fields of this rank's points.
    values: Vec<f64>,
    /// A copy of the fields of the previous rank's points. This rank is that rank's buddy.
    copies: Vec<f64>,
}

impl State {
    fn iteration(&self) -> u64 {
        self.scalars.fingerprints.len() as u64
    }

    /// x, r, p and s.
    pub(crate) fn columns(&self) -> [Vec<f64>; FIELDS] {
        let column = |field| self.values.iter().skip(field).step_by(FIELDS).copied();
        std::array::from_fn(|field| column(field).collect())
    }
}

/// The last iterates, and which rank has which rows of the grid.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) rows: Distribution,
    tag: Tag,
    /// The last iterate and the iterate before it. A rank may have completed one iteration more than another, but not two more, because
    /// each iteration begins with a sum over all ranks.
    states: Vec<State>,
}

impl Saved {
    /// The state before the first iteration, with x = 0. Collective.
    pub(crate) fn start(world: &World) -> Outcome<Self> {
        let rows = Distribution::lower(SIDE as u64, world.size())?;
        let scalars = Scalars {
            alpha: 1.0,
            rr_before: f64::INFINITY,
            rr_first: None,
            fingerprints: Vec::new(),
        };
        let of = |rank: usize| -> Outcome<Vec<f64>> {
            let points = usize::try_from(rows.count(rank))? * SIDE;
            Ok([0.0, 1.0, 0.0, 0.0].repeat(points))
        };
        let states = vec![State {
            scalars,
            values: of(world.rank())?,
            copies: of(rank_before(world))?,
        }];
        let tag = world.fresh_tag()?;
        Ok(Self { rows, tag, states })
    }

    pub(crate) fn newest(&self) -> &State {
        self.states.last().expect("the beginning is saved")
    }

    /// The fingerprints of all iterates so far.
    pub(crate) fn fingerprints(&self) -> &[u64] {
        &self.newest().scalars.fingerprints
    }

    /// Saves an iterate, here and on the next rank, and keeps only this iterate and the one before it. Collective.
    pub(crate) fn save(
        &mut self,
        world: &World,
        scalars: Scalars,
        values: Vec<f64>,
    ) -> Outcome<()> {
        let copies = exchange_copies(world, self.tag, &self.rows, &values)?;
        self.states.push(State {
            scalars,
            values,
            copies,
        });
        if self.states.len() > 2 {
            self.states.remove(0);
        }
        Ok(())
    }
}

/// The previous rank, whose buddy is this rank.
fn rank_before(world: &World) -> usize {
    (world.rank() + world.size() - 1) % world.size()
}

/// Sends this rank's values to its buddy, the next rank, and receives the previous rank's values. Collective.
fn exchange_copies(
    world: &World,
    tag: Tag,
    rows: &Distribution,
    values: &[f64],
) -> Outcome<Vec<f64>> {
    let before = rank_before(world);
    let transport = world.transport();
    let length_bytes = length_bytes(rows.count(before))?;
    let receive = transport.start_receive(before, tag, vec![0; length_bytes])?;
    let message = to_bytes(values);
    let (next, capacity_bytes) = ((world.rank() + 1) % world.size(), message.len());
    let send = transport.start_send(next, tag, message, capacity_bytes)?;
    let copies = to_values(&transport.wait(receive)?);
    transport.wait(send)?;
    Ok(copies)
}

/// The state from which each survivor continues: its even share of the last iterate that all survivors have completed. `left` are the
/// numbers that the survivors had when the state was saved. Collective.
pub(crate) fn take_over(world: &World, saved: &Saved, left: &[usize]) -> Outcome<Saved> {
    let completed = Plan::builder(world)
        .local_items(1)
        .operator(Min)
        .build::<u64>()?;
    let completed = completed.allreduce(&[saved.newest().iteration()])?;
    let mut states = saved.states.iter();
    let state = states.find(|state| state.iteration() == completed);
    let state = state.ok_or("ranks are more than one iteration apart")?;

    let now: Vec<Option<usize>> = left.iter().copied().map(Some).collect();
    let before = Ownership::from(saved.rows.clone());
    let after = before.rebalanced(&now, Rebalance::EvenShares)?;
    let rows = after
        .ownership
        .as_distribution()
        .ok_or("even shares should be contiguous")?;

    // All values that this rank has: those of its own rows, and the copies of the previous rank's rows.
    let (own_rank, before_count) = (left[world.rank()], saved.rows.ranks());
    let copied_rank = (own_rank + before_count - 1) % before_count;
    let held = [(own_rank, &state.values), (copied_rank, &state.copies)];
    let of = |rank: usize, items: &Range<u64>| -> Outcome<&[f64]> {
        let (_, values) = held
            .iter()
            .find(|(held, _)| *held == rank)
            .ok_or("this rank lacks rows")?;
        Ok(&values[places(&saved.rows.range(rank), items)?])
    };

    let own_rows = rows.range(world.rank());
    let mut values = vec![0.0; places(&own_rows, &own_rows)?.len()];
    let kept = saved.rows.range(own_rank);
    let kept = kept.start.max(own_rows.start)..kept.end.min(own_rows.end);
    if !kept.is_empty() {
        values[places(&own_rows, &kept)?].copy_from_slice(of(own_rank, &kept)?);
    }
    let (transport, tag) = (world.transport(), world.fresh_tag()?);
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for Move { from, to, items } in &after.moves {
        // The rank that has the values now, and the rank that owned them.
        let (holder, owner) = match *from {
            Source::Rank(rank) => (rank, left[rank]),
            Source::Lost(rank) => {
                let buddy = left.binary_search(&((rank + 1) % before_count));
                let buddy = buddy.map_err(|_| format!("rank {rank} and its buddy are both lost"));
                (buddy?, rank)
            }
        };
        match (holder == world.rank(), *to == world.rank()) {
            (true, true) => values[places(&own_rows, items)?].copy_from_slice(of(owner, items)?),
            (true, false) => {
                let message = to_bytes(of(owner, items)?);
                let capacity_bytes = message.len();
                sends.push(transport.start_send(*to, tag, message, capacity_bytes)?);
            }
            (false, true) => {
                let length_bytes = length_bytes(items.end - items.start)?;
                let receive = transport.start_receive(holder, tag, vec![0; length_bytes])?;
                receives.push((items, receive));
            }
            (false, false) => {}
        }
    }
    for (items, receive) in receives {
        let received = to_values(&transport.wait(receive)?);
        values[places(&own_rows, items)?].copy_from_slice(&received);
    }
    for send in sends {
        transport.wait(send)?;
    }
    let copies = exchange_copies(world, tag, rows, &values)?;
    Ok(Saved {
        rows: rows.clone(),
        tag,
        states: vec![State {
            scalars: state.scalars.clone(),
            values,
            copies,
        }],
    })
}

/// The places of the values of `rows` among the values of the rows `held`.
fn places(held: &Range<u64>, rows: &Range<u64>) -> Outcome<Range<usize>> {
    let place = |row: u64| -> Outcome<usize> { Ok(usize::try_from(row - held.start)? * ROW) };
    Ok(place(rows.start)?..place(rows.end)?)
}

fn length_bytes(rows: u64) -> Outcome<usize> {
    Ok(usize::try_from(rows)? * ROW * size_of::<f64>())
}

fn to_bytes(values: &[f64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn to_values(bytes: &[u8]) -> Vec<f64> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|&bytes| f64::from_le_bytes(bytes))
        .collect()
}
