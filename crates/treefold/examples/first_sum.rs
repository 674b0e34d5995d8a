//! Sums 100,000 numbers on 1, 2, 5 and 17 ranks. With treefold, the bits are always the same; with a plain sum, they differ.
//!
//! `README.md` and `docs/tutorial-rust.md` show this program.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use treefold::{Plan, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    let items: Vec<f64> = (0..100_000).map(item).collect();
    println!("           treefold            plain loop");
    let (tree, plain) = (treefold::sum(&items)?, plain_sum(&items));
    println!("1 process  {tree:.15}  {plain:.15}");

    for ranks in [2, 5, 17] {
        // A rank is a thread here. With MPI it is a process.
        let sums = threads::run(ranks, |world| {
            let begin = |rank| items.len() * rank / ranks;
            let rank = world.rank();
            let mine = &items[begin(rank)..begin(rank + 1)];
            Ok((sum(world, mine)?, plain_sum(mine)))
        })?;
        let sums = sums.into_iter().collect::<Outcome<Vec<_>>>()?;

        // Every rank has the same sum. The plain loop adds up parts.
        let tree = sums[0].0;
        let parts: Vec<f64> = sums.iter().map(|sum| sum.1).collect();
        let plain = plain_sum(&parts);
        println!("{ranks:2} ranks   {tree:.15}  {plain:.15}");
    }
    Ok(())
}

/// The sum of all ranks' items, on every rank.
fn sum(world: &World, mine: &[f64]) -> Outcome<f64> {
    // The ranks build a plan together, once, and run it many times.
    let plan = Plan::builder(world)
        .local_items(mine.len() as u64)
        .build::<f64>()?;
    Ok(plan.allreduce(mine)?)
}

fn item(i: usize) -> f64 {
    1.0 / (i + 1) as f64
}

fn plain_sum(items: &[f64]) -> f64 {
    items.iter().fold(0.0, |sum, item| sum + item)
}
