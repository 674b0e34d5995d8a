//! The sum of 100,000 numbers by 1, 2, 5 and 17 ranks: the same bits with treefold, other bits with a plain sum.
//!
//! ```text
//! cargo run --release --example first_sum
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::collections::BTreeSet;
use std::error::Error;

use treefold::{Plan, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let items: Vec<f64> = (1..=100_000).map(|i| 1.0 / f64::from(i)).collect();

    // One process with all items needs no ranks.
    let total = treefold::sum(&items)?;
    println!("                             treefold                       plain");
    println!("one slice  {}", shown(total));

    let mut plain_totals = BTreeSet::new();
    for ranks in [1, 2, 5, 17] {
        // A rank is a thread here. `treefold::mpi::run` starts the same function on MPI processes.
        let of_ranks = threads::run(ranks, |world| {
            // Any other stretches would do, as long as the ranks' items together are the same.
            let start = |rank: usize| items.len() * rank / ranks;
            let local = &items[start(world.rank())..start(world.rank() + 1)];
            Ok((sum(world, local)?, plain_sum(local)))
        })?;
        let of_ranks = of_ranks.into_iter().collect::<Outcome<Vec<_>>>()?;

        // Every rank has the same total. The plain sum is that of the ranks' own sums.
        let plain_total = of_ranks.iter().fold(0.0, |total, (_, own)| total + own);
        let (of_first, of_plain) = (shown(of_ranks[0].0), shown(plain_total));
        println!("p = {ranks:<5}  {of_first}  {of_plain}");
        for (of_rank, _) in of_ranks {
            if of_rank.to_bits() != total.to_bits() {
                return Err("the ranks' total should have the bits of the slice's".into());
            }
        }
        plain_totals.insert(plain_total.to_bits());
    }
    if plain_totals.len() == 1 {
        return Err("the plain totals should differ".into());
    }
    println!(
        "bit patterns: 1 with treefold, {} with plain sums",
        plain_totals.len()
    );
    Ok(())
}

/// The sum of all ranks' items, on every rank.
///
/// A program that adds up more than once keeps the plan: it is built once and run many times.
fn sum(world: &World, local: &[f64]) -> Outcome<f64> {
    let plan = Plan::builder(world)
        .local_items(local.len() as u64)
        .build::<f64>()?;
    Ok(plan.allreduce(local)?)
}

/// From left to right.
fn plain_sum(local: &[f64]) -> f64 {
    local.iter().fold(0.0, |total, item| total + item)
}

fn shown(total: f64) -> String {
    format!("{total:.15} {:016X}", total.to_bits())
}
