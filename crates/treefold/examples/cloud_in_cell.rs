//! Simulates particles on a grid: two beams of electrons deposit their charge in cells with linear weights (cloud in cell).
//!
//! The charge of a cell is a sum by key. With exact sums, the particles' paths have the same bits on any number of ranks; with plain sums,
//! they do not.
//!
//! ```text
//! cargo run --release --example cloud_in_cell
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions are in units of cells"
)]

use std::error::Error;

use treefold::exact::{self, KeyedPlan};
use treefold::{Plan, Sum, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PARTICLES: usize = 2_000;
const STEPS: usize = 3_000;
const CELLS: usize = 64;
/// The width of a cell and the duration of a step, in units in which the plasma frequency is 1.
const CELL: f64 = 0.1;
const TIME: f64 = 0.1;

/// Adds up the charges that all ranks' particles deposit in the cells.
enum Deposition {
    Keyed(KeyedPlan<exact::Keyed<exact::Sum<f64>>>),
    /// Each rank adds up its own particles, and then the ranks' sums are added.
    Plain(Plan<f64, Sum>),
}

impl Deposition {
    fn keyed(world: &World) -> Outcome<Self> {
        Ok(Self::Keyed(Plan::builder(world).build_keyed(CELLS)?))
    }

    fn plain(world: &World) -> Outcome<Self> {
        let builder = Plan::builder(world).local_items(1).width(CELLS);
        Ok(Self::Plain(builder.build()?))
    }

    fn add(&self, cells: &[u32], charges: &[f64]) -> Outcome<Vec<f64>> {
        let mut total = vec![0.0; CELLS];
        match self {
            Self::Keyed(plan) => plan.by_key(cells, charges, &mut total)?,
            Self::Plain(plan) => {
                let mut own = vec![0.0; CELLS];
                for (&cell, charge) in cells.iter().zip(charges) {
                    own[cell as usize] += charge;
                }
                plan.allreduce_into(&own, &mut total)?;
            }
        }
        Ok(total)
    }
}

/// The positions, in cells, and the velocities of a rank's particles.
struct Particles {
    positions: Vec<f64>,
    velocities: Vec<f64>,
}

/// The two cells next to a position, and their weights.
fn neighbours(position: f64) -> [(usize, f64); 2] {
    let cell = position as usize;
    let weight = position - cell as f64;
    [(cell % CELLS, 1.0 - weight), ((cell + 1) % CELLS, weight)]
}

impl Particles {
    /// This rank's share of two colliding beams.
    fn new(world: &World) -> Self {
        let start = |rank: usize| PARTICLES * rank / world.size();
        let own = start(world.rank())..start(world.rank() + 1);
        let position = |i: usize| (i as f64 * 0.618_033_988).fract() * CELLS as f64;
        let velocity = |i: usize| if i.is_multiple_of(2) { 0.6 } else { -0.6 };
        Self {
            positions: own.clone().map(position).collect(),
            velocities: own.map(velocity).collect(),
        }
    }

    /// The electric field in the cells. Every rank gets all charges, and computes the same field.
    fn field(&self, deposition: &Deposition) -> Outcome<Vec<f64>> {
        let shares = self.positions.iter().flat_map(|x| neighbours(*x));
        let charge = CELLS as f64 / PARTICLES as f64;
        let (cells, charges): (Vec<u32>, Vec<f64>) = shares
            .map(|(cell, weight)| (cell as u32, weight * charge))
            .unzip();
        let density = deposition.add(&cells, &charges)?;
        // Gauss's law, with a background charge that makes the ring neutral.
        let mut field = Vec::with_capacity(CELLS);
        let (mut here, mut total) = (0.0, 0.0);
        for density in density {
            here += (1.0 - density) * CELL;
            total += here;
            field.push(here);
        }
        field.iter_mut().for_each(|e| *e -= total / CELLS as f64);
        Ok(field)
    }

    fn push(&mut self, field: &[f64]) {
        for (x, v) in self.positions.iter_mut().zip(&mut self.velocities) {
            let [(left, to_left), (right, to_right)] = neighbours(*x);
            *v -= (field[left] * to_left + field[right] * to_right) * TIME;
            *x = (*x + *v * TIME / CELL).rem_euclid(CELLS as f64);
        }
    }
}

/// The fields of all steps, and the final positions of this rank's particles.
fn simulate(world: &World, deposition: &Deposition) -> Outcome<(Vec<Vec<f64>>, Vec<f64>)> {
    let mut particles = Particles::new(world);
    let mut fields = Vec::new();
    for _ in 0..STEPS {
        let field = particles.field(deposition)?;
        particles.push(&field);
        fields.push(field);
    }
    Ok((fields, particles.positions))
}

fn bits(values: &[f64]) -> impl Iterator<Item = u64> {
    values.iter().map(|value| value.to_bits())
}

/// An FNV-1a hash of the values' bits.
fn fingerprint(values: &[f64]) -> u64 {
    bits(values).fold(0xCBF2_9CE4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// The distance between two positions on a ring of cells, in cells.
fn distance(x: f64, y: f64) -> f64 {
    let apart = (x - y).abs();
    apart.min(CELLS as f64 - apart)
}

fn main() -> Outcome<()> {
    println!("deposition  ranks  particles' bits   diverge from one rank");
    for is_keyed in [true, false] {
        let name = if is_keyed { "keyed sums" } else { "plain" };
        let mut on_one_rank = None;
        for ranks in [1, 2, 5, 17] {
            let of_ranks = threads::run(ranks, |world| {
                let deposition = if is_keyed {
                    Deposition::keyed(world)
                } else {
                    Deposition::plain(world)
                };
                simulate(world, &deposition?)
            })?;
            let (mut fields, mut positions) = (Vec::new(), Vec::new());
            for of_rank in of_ranks {
                let (its_fields, own) = of_rank?;
                fields = its_fields;
                positions.extend(own);
            }
            let (first_fields, first) =
                on_one_rank.get_or_insert_with(|| (fields.clone(), positions.clone()));
            let mut steps = fields.iter().zip(&*first_fields);
            let parts = steps.position(|(own, first)| !bits(own).eq(bits(first)));
            let distances = positions.iter().zip(&*first);
            let furthest = distances.fold(0.0, |far: f64, (x, y)| far.max(distance(*x, *y)));
            let parts = parts.map_or("never".to_owned(), |step| {
                format!("step {}, in the end by up to {furthest:.0} cells", step + 1)
            });
            println!(
                "{name:10}  {ranks:5}  {:016x}  {parts}",
                fingerprint(&positions)
            );
        }
    }
    Ok(())
}
