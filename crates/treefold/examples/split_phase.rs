//! Shows reductions that continue while other work is done: start, work, test, wait. Several reductions are in flight at once, owned by a
//! struct.
//!
//! ```text
//! cargo run --release --example split_phase
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;

use treefold::{Max, Pending, Plan, Sum, World, threads};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const ITEMS: usize = 20_000;
const STEPS: usize = 10;
const RANKS: [usize; 4] = [1, 2, 5, 17];

/// A rank's part of a simulation, and the plans that watch the energy while the simulation goes on.
///
/// Plans own what they need, so a struct can keep a plan next to its world, and a run next to its
/// plan.
struct Simulation {
    world: World,
    amplitudes: Vec<f64>,
    energy: Plan<f64, Sum>,
    peak: Plan<f64, Max>,
    /// The energy before the last step, while the ranks still add it up.
    energy_in_flight: Option<Pending<f64>>,
    energies: Vec<f64>,
}

impl Simulation {
    fn new(world: &World) -> Outcome<Self> {
        let start = |rank: usize| ITEMS * rank / world.size();
        let own = start(world.rank())..start(world.rank() + 1);
        let builder = || Plan::builder(world).local_items(own.len() as u64);
        Ok(Self {
            world: world.clone(),
            energy: builder().build()?,
            peak: builder().operator(Max).build()?,
            amplitudes: own.map(|i| (i as f64 * 0.618).fract() - 0.5).collect(),
            energy_in_flight: None,
            energies: Vec::new(),
        })
    }

    /// Starts a reduction, computes a step that needs no other rank, and ends the reduction.
    fn step(&mut self) -> Outcome<()> {
        let squares: Vec<f64> = self.amplitudes.iter().map(|a| a * a).collect();
        // When this call returns, the squares are folded and no longer needed.
        self.energy_in_flight = Some(self.energy.start_allreduce(&squares)?);
        for part in self.amplitudes.chunks_mut(1000) {
            for amplitude in part {
                *amplitude *= 1.0 - *amplitude * *amplitude;
            }
            // Messages move only in calls, so a test now and then keeps the reduction going, without waiting.
            if let Some(pending) = &self.energy_in_flight {
                pending.test()?;
            }
        }
        if let Some(pending) = self.energy_in_flight.take() {
            self.energies.push(pending.wait()?);
        }
        Ok(())
    }

    /// Energy and peak at the end, by two reductions at once.
    fn end(mut self) -> Outcome<(Vec<f64>, f64)> {
        let squares: Vec<f64> = self.amplitudes.iter().map(|a| a * a).collect();
        let energy = self.energy.start_allreduce(&squares)?;
        let peak = self.peak.start_allreduce(&self.amplitudes)?;
        // Each rank may wait in its own order, because waiting for one run drives all runs in flight.
        let (energy, peak) = if self.world.rank().is_multiple_of(2) {
            let energy = energy.wait()?;
            (energy, peak.wait()?)
        } else {
            let peak = peak.wait()?;
            (energy.wait()?, peak)
        };
        self.energies.push(energy);
        Ok((self.energies, peak))
    }
}

/// A whole simulation: the energy before every step and after the last, and the greatest amplitude.
fn simulate(world: &World) -> Outcome<(Vec<f64>, f64)> {
    let mut simulation = Simulation::new(world)?;
    for _ in 0..STEPS {
        simulation.step()?;
    }
    simulation.end()
}

fn main() -> Outcome<()> {
    let mut on_one_rank = None;
    for ranks in RANKS {
        for of_rank in threads::run(ranks, simulate)? {
            let (energies, peak) = of_rank?;
            if on_one_rank.is_none() {
                println!("energies {energies:.1?}\npeak {peak:.6}");
            }
            let values = energies.iter().chain([&peak]);
            let bits: Vec<u64> = values.map(|value| value.to_bits()).collect();
            if *on_one_rank.get_or_insert_with(|| bits.clone()) != bits {
                return Err("the results should have the same bits as on one rank".into());
            }
        }
    }
    println!("the same bits for p in {RANKS:?}");
    Ok(())
}
