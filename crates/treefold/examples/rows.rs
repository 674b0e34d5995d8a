//! Reduces items that are rows of several quantities. One plan reduces all quantities, in one message instead of several.
//!
//! ```text
//! cargo run --release --example rows
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use treefold::{Max, Min, Plan, Sum, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PARTICLES: u32 = 10_000;

const RANKS: [usize; 4] = [1, 2, 5, 17];

/// Quantities that a collision of particles does not change.
const NAMES: [&str; 3] = ["mass", "momentum", "kinetic energy"];
const WIDTH: usize = NAMES.len();
type Row = [f64; WIDTH];

fn main() -> Outcome<()> {
    // In one process, with an array for each quantity.
    let wave = |step: f64| (0..PARTICLES).map(move |i| (f64::from(i) * step).fract());
    let masses: Vec<f64> = wave(0.317).map(|m| 1.0 + m).collect();
    let speeds: Vec<f64> = wave(0.713).map(|v| v - 0.5).collect();
    let pairs = || masses.iter().zip(&speeds);
    let momenta: Vec<f64> = pairs().map(|(m, v)| m * v).collect();
    let energies: Vec<f64> = pairs().map(|(m, v)| 0.5 * m * v * v).collect();
    let totals = treefold::fields(&[&masses, &momenta, &energies], &Sum)?;
    for (name, total) in NAMES.iter().zip(&totals) {
        println!("{name:15} {total:23.16e}");
    }

    // In one process, with the quantities of each particle next to each other.
    let row = |i: usize| [masses[i], momenta[i], energies[i]];
    let rows: Vec<Row> = (0..masses.len()).map(row).collect();
    let mut row_totals = [0.0; WIDTH];
    treefold::sum_rows(rows.as_flattened(), WIDTH, &mut row_totals)?;
    same_bits(&row_totals, &totals)?;

    // Over ranks.
    let extremes = [
        treefold::fold(&speeds, &Min)?,
        treefold::fold(&speeds, &Max)?,
    ];
    for ranks in RANKS {
        let of_ranks = threads::run(ranks, |world| -> Outcome<_> {
            let start = |rank: usize| rows.len() * rank / ranks;
            let own = start(world.rank())..start(world.rank() + 1);
            Ok((
                sums(world, &rows[own.clone()])?,
                range(world, &speeds[own])?,
            ))
        })?;
        for of_rank in of_ranks {
            let (sums, [least, greatest]) = of_rank?;
            same_bits(&sums, &totals)?;
            same_bits(&[least, greatest], &extremes)?;
        }
    }
    println!("the same bits for p in {RANKS:?}");
    Ok(())
}

/// The sum of every quantity over all ranks' particles.
fn sums(world: &World, local: &[Row]) -> Outcome<Row> {
    let plan = Plan::builder(world)
        .local_items(local.len() as u64)
        .width(WIDTH)
        .build::<f64>()?;
    // The builder counts rows; calls take the values of the rows.
    let mut totals = [0.0; WIDTH];
    plan.allreduce_into(local.as_flattened(), &mut totals)?;
    Ok(totals)
}

/// The least and the greatest value, by one plan with one operator. The least value is minus the greatest of the negated values.
fn range(world: &World, local: &[f64]) -> Outcome<[f64; 2]> {
    let rows: Vec<[f64; 2]> = local.iter().map(|&value| [-value, value]).collect();
    let plan = Plan::builder(world)
        .local_items(rows.len() as u64)
        .width(2)
        .operator(Max)
        .build::<f64>()?;
    let mut greatest = [0.0; 2];
    plan.allreduce_into(rows.as_flattened(), &mut greatest)?;
    Ok([-greatest[0], greatest[1]])
}

fn same_bits(one: &[f64], other: &[f64]) -> Outcome<()> {
    let bits = |values: &[f64]| -> Vec<u64> { values.iter().map(|v| v.to_bits()).collect() };
    if bits(one) != bits(other) {
        return Err(format!("{one:?} and {other:?} should have the same bits").into());
    }
    Ok(())
}
