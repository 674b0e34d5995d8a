//! Shows a user-defined operator that is not commutative: a recursive filter over the samples of all ranks.
//!
//! A low-pass filter has a state y, which each sample changes to a y + b. So every sample is a map y -> a y + b, and the composition of two such maps
//! is again such a map. For each sample, the ranks compose the maps of all samples before it, instead of filtering one sample after the other.
//!
//! ```text
//! cargo run --release --example operator
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use treefold::{Operator, Plan, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const SAMPLES: u32 = 50_000;

const RANKS: [usize; 4] = [1, 2, 5, 17];

/// The map y -> a y + b. An item may be of any plain type (`bytemuck::Pod`), such as an array of numbers.
type Step = [f64; 2];

/// Composes two steps: first the left one, then the right one. In the other order, the composition is another map.
///
/// If a name and a function are enough, `treefold::operator::custom(name, function)` is shorter.
#[derive(Clone, Copy, Debug)]
struct Compose;

impl Operator<Step> for Compose {
    /// Ranks that build a plan together compare the names of their operators.
    fn name(&self) -> &str {
        "compose steps of a filter"
    }

    /// The results are rounded, so the operator is not quite associative either. It need not be, because the tree defines what is combined
    /// with what.
    fn combine(&self, left: Step, right: Step) -> Step {
        [right[0] * left[0], right[0] * left[1] + right[1]]
    }

    /// The composition of no steps, which does not change y. Without this value, reductions of no items and `exscan` return errors.
    fn empty(&self) -> Option<Step> {
        Some([1.0, 0.0])
    }
}

fn main() -> Outcome<()> {
    // A filter whose strength varies.
    let step = |i: u32| {
        let sample = (f64::from(i) * 0.618).fract();
        let a = 0.9 + 0.09 * (f64::from(i) * 0.414).fract();
        [a, (1.0 - a) * sample]
    };
    let steps: Vec<Step> = (0..SAMPLES).map(step).collect();

    let mut on_one_rank = None;
    let mut farthest = 0.0_f64;
    for ranks in RANKS {
        let of_ranks = threads::run(ranks, |world| {
            let start = |rank: usize| steps.len() * rank / ranks;
            filtered(world, &steps[start(world.rank())..start(world.rank() + 1)])
        })?;
        let output = of_ranks.into_iter().collect::<Outcome<Vec<_>>>()?.concat();

        // Applying the steps in sequence is another order: its bits differ, but the result is close.
        let mut y = 0.0;
        for (step, output) in steps.iter().zip(&output) {
            y = step[0] * y + step[1];
            farthest = farthest.max((output - y).abs());
        }
        if farthest > 1e-12 {
            return Err("the filter's output is wrong".into());
        }
        let bits: Vec<u64> = output.iter().map(|y| y.to_bits()).collect();
        if *on_one_rank.get_or_insert_with(|| bits.clone()) != bits {
            return Err("the output should have the same bits as on one rank".into());
        }
    }
    println!("the same bits for p in {RANKS:?}");
    println!("within {farthest:.1e} of applying the steps in sequence");

    // Folds in one process, without ranks.
    let [a, b] = treefold::fold(&steps[..10], &Compose)?;
    println!("ten steps: y -> {a} y + {b}");
    let [a, b] = treefold::fold(&[], &Compose)?;
    println!("no steps: y -> {a} y + {b}");
    Ok(())
}

/// The filter's output for each of this rank's samples, if its state is 0 before rank 0's first sample.
fn filtered(world: &World, local: &[Step]) -> Outcome<Vec<f64>> {
    let plan = Plan::builder(world)
        .local_items(local.len() as u64)
        .operator(Compose)
        .build::<Step>()?;
    // For each sample, the composition of all steps before it.
    let mut before = vec![[0.0; 2]; local.len()];
    plan.exscan(local, &mut before)?;
    let states = before.iter().map(|[_, state]| state);
    let outputs = local.iter().zip(states).map(|([a, b], y)| a * y + b);
    Ok(outputs.collect())
}
