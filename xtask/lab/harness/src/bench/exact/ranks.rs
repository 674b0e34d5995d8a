//! Allreduces by key, against the transport's own of as many plain doubles.

use reduce::exact::KeyedSums;
use reduce::{Plan, Sum, World};
use serde::{Deserialize, Serialize};

use super::{Keys, log_normal};
use crate::bench::Row;
use crate::bench::timing::{median, slowest_ns};
use crate::ordinary::Ordinary;
use crate::output::Output;
use crate::ranks::on_ranks;
use crate::{Backend, Error, Place};

/// What every rank measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// The numbers of keys.
    keys: Vec<usize>,
    /// How often everything is measured.
    rounds: usize,
}

/// Items that a rank has of each key, on average.
const ITEMS_OF_KEY: usize = 2;

/// A sample has so many keys, one call's at least.
const SAMPLE_KEYS: usize = 1 << 20;

/// Runs the bench in a place.
pub fn launch(
    place: &Place,
    ranks: usize,
    quick: bool,
    output: &Output,
) -> Result<Vec<Row>, Error> {
    let (keys, rounds) = if quick {
        (vec![64, 4096], 3)
    } else {
        (vec![4096, 1_000_000], 31)
    };
    let mut rows = Vec::new();
    let job = Job { keys, rounds };
    on_ranks(place, ranks, "exact", &job, on_rank, |row: Row| {
        output.say(format!("exact: {} keys on {ranks} ranks", row.n));
        rows.push(row);
    })?;
    Ok(rows)
}

/// Measures the job on the ranks of a world; rank 0 hands everything to `report`. Collective.
pub fn on_rank(
    world: &World,
    backend: Backend,
    job: &Job,
    report: &dyn Fn(Row),
) -> Result<(), Error> {
    let ordinary = Ordinary::new(world, backend)?;
    for &count in &job.keys {
        let items = log_normal(ITEMS_OF_KEY * count);
        let keys = Keys::random(count, items.len());
        let mut local = KeyedSums::<f64>::new(count);
        local
            .add(&keys.of_items, &items)
            .expect("the keys are right");
        let plain = local.values();
        let plan = Plan::builder(world).build_keyed(count)?;
        let mut result = vec![0.0; count];
        let repeats = (SAMPLE_KEYS / count).clamp(1, 200);
        let mut samples = [Vec::new(), Vec::new()];
        for _ in 0..job.rounds {
            samples[0].push(slowest_ns(world, repeats, || {
                ordinary.allreduce(&Sum, &plain, &mut result)
            })?);
            samples[1].push(slowest_ns(world, repeats, || {
                Ok(plan.allreduce_values(&local, &mut result)?)
            })?);
        }
        if world.rank() == 0 {
            let [reference_ns, ns] = samples.map(|samples| median(samples) / count as f64);
            let (variant, reference) = (
                ("by-key-allreduce f64", ns),
                (backend.allreduce(), reference_ns),
            );
            report(Row {
                ranks: world.size(),
                backend: backend.name().to_owned(),
                distribution: Some(keys.order.to_owned()),
                ..Row::of("exact", variant, count, reference)
            });
        }
    }
    Ok(())
}
