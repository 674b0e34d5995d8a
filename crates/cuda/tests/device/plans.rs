//! Tests plans of ranks that have all or some of their items on a GPU.

use cuda::Device;
use distribution::Ownership;
use reduce::{Algorithm, Operator, Plan, Sum, World, exact, threads};

use crate::{Bits, Random, bits, device, items, tell};

const ALGORITHMS: [Algorithm; 6] = [
    Algorithm::Binomial,
    Algorithm::Ring,
    Algorithm::RecursiveDoubling,
    Algorithm::Rabenseifner,
    Algorithm::BinaryPipelined,
    Algorithm::Algorithm1,
];

fn check<T: Bits + Send + Sync>(device: &Device, seed: u64)
where
    Sum: Operator<T>,
{
    let mut random = Random(seed);
    for ranks in [1, 2, 3, 7] {
        for width in [1, 3, 200] {
            for algorithm in ALGORITHMS {
                if algorithm == Algorithm::Algorithm1 && width != 1 {
                    continue;
                }
                let rows = random.below(40_000 / width) + 1;
                let kind = random.below(2);
                let all = items::<T>(&mut random, kind, rows * width);
                let cut: Vec<usize> = (0..=ranks).map(|rank| rows * rank / ranks).collect();
                let mut expected = vec![T::rounded(0.0); width];
                reduce::sum_rows(&all, width, &mut expected).unwrap();
                let results = threads::run(ranks, |world| {
                    let rank = world.rank();
                    let own = &all[cut[rank] * width..cut[rank + 1] * width];
                    let plan = Plan::builder(world)
                        .local_items((cut[rank + 1] - cut[rank]) as u64)
                        .width(width)
                        .algorithm(algorithm)
                        .build::<T>()
                        .unwrap();
                    let memory = device.copy(own).unwrap();
                    let mut result = vec![T::rounded(7.0); width];
                    for round in 0..3 {
                        // One rank has its items in ordinary memory.
                        if (rank + round) % 3 == 2 {
                            plan.allreduce_into(own, &mut result).unwrap();
                        } else {
                            device
                                .allreduce(&plan, memory.items(), &mut result)
                                .unwrap();
                        }
                    }
                    let mut root = vec![T::rounded(7.0); width];
                    if device.reduce(&plan, memory.items(), &mut root).unwrap() {
                        assert_eq!(bits(&root), bits(&result));
                    }
                    if algorithm != Algorithm::Algorithm1 {
                        let columns = plan.scattered_columns();
                        let mut scattered = vec![T::rounded(7.0); columns.len()];
                        device
                            .reduce_scatter(&plan, memory.items(), &mut scattered)
                            .unwrap();
                        assert_eq!(bits(&scattered), bits(&result[columns]));
                    }
                    result
                });
                for result in results.unwrap() {
                    assert_eq!(
                        bits(&result),
                        bits(&expected),
                        "{algorithm}, {ranks} ranks, width {width}"
                    );
                }
            }
        }
    }
}

#[test]
fn plans_of_items_on_a_device() {
    let Some(device) = device() else { return };
    check::<f64>(device, 46_021);
    check::<f32>(device, 46_022);
}

#[test]
fn exact_plans_of_items_on_a_device() {
    let Some(device) = device() else { return };
    let all: Vec<f64> = items(&mut Random(46_023), 4, 100_000);
    let totals = threads::run(3, |world| {
        let own = &all[all.len() * world.rank() / 3..all.len() * (world.rank() + 1) / 3];
        let memory = device.copy(own).unwrap();
        let plan = Plan::builder(world)
            .build_exact::<exact::Sum<f64>>()
            .unwrap();
        let local = device.exact_sum(memory.items()).unwrap();
        plan.allreduce(&local).unwrap().value().to_bits()
    });
    assert_eq!(totals.unwrap(), [exact::sum(&all).to_bits(); 3]);
}

/// Ranks whose items are scattered have many short runs.
#[test]
fn scattered_items() {
    let Some(device) = device() else { return };
    let all: Vec<f64> = items(&mut Random(46_024), 0, 30_000);
    let ownership = Ownership::block_cyclic(all.len() as u64, 2, 7).unwrap();
    let expected = reduce::sum(&all).unwrap().to_bits();
    let totals = threads::run(2, |world| {
        let rank = world.rank();
        let own: Vec<f64> = all
            .chunks(7)
            .skip(rank)
            .step_by(2)
            .flatten()
            .copied()
            .collect();
        let plan = Plan::builder(world)
            .ownership(&ownership)
            .build::<f64>()
            .unwrap();
        let memory = device.copy(&own).unwrap();
        let mut result = [0.0];
        device
            .allreduce(&plan, memory.items(), &mut result)
            .unwrap();
        result[0].to_bits()
    });
    assert_eq!(totals.unwrap(), [expected; 2]);
}

/// A rank whose number of items is not the planned one fails, and the other ranks get an error.
#[test]
fn a_rank_without_its_items() {
    let Some(device) = device() else { return };
    let errors = threads::run(3, |world| {
        let plan = Plan::builder(world)
            .local_items(1000)
            .build::<f64>()
            .unwrap();
        let length = if world.rank() == 1 { 999 } else { 1000 };
        let memory = device.copy(&vec![1.0; length]).unwrap();
        let outcome = device.allreduce(&plan, memory.items(), &mut [0.0]);
        outcome.unwrap_err().to_string()
    });
    let errors = errors.unwrap();
    assert!(
        errors[1]
            .contains("could not fold its items: the runs have 1000 values, but there are 999"),
        "{}",
        errors[1]
    );
    for rank in [0, 2] {
        assert!(errors[rank].contains("rank 1"), "{}", errors[rank]);
    }
}

/// Processes with items on GPUs, which they may share. To run it: `mpirun -n 3 PROGRAM plans::under_mpi --exact --ignored --nocapture`.
#[test]
#[ignore = "every rank runs it, on a machine with a GPU and MPI"]
fn under_mpi() {
    assert!(reduce::mpi::is_launched(), "no launcher has started ranks");
    let Some(device) = device() else { return };
    reduce::mpi::run(|world| on_processes(device, world)).expect("MPI starts once");
}

fn on_processes(device: &Device, world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for width in [1, 3, 200, 5000] {
        for algorithm in Algorithm::all() {
            let is_thesis = matches!(
                algorithm,
                Algorithm::Algorithm1 | Algorithm::Algorithm1Unbuffered
            );
            if width != 1 && is_thesis {
                continue;
            }
            let all: Vec<f64> = items(&mut Random(46_025), 0, 1000 * size * width);
            let own = &all[1000 * rank * width..1000 * (rank + 1) * width];
            let mut expected = vec![0.0; width];
            reduce::sum_rows(&all, width, &mut expected).unwrap();
            let plan = Plan::builder(world).local_items(1000).width(width);
            let plan = plan.algorithm(algorithm).build::<f64>().unwrap();
            let memory = device.copy(own).unwrap();
            let mut result = vec![7.0; width];
            device
                .allreduce(&plan, memory.items(), &mut result)
                .unwrap();
            assert_eq!(bits(&result), bits(&expected), "{algorithm}, width {width}");
        }
    }
    let exact_plan = Plan::builder(world)
        .build_exact::<exact::Sum<f64>>()
        .unwrap();
    let all: Vec<f64> = items(&mut Random(46_026), 4, 1000 * size);
    let memory = device.copy(&all[1000 * rank..1000 * (rank + 1)]).unwrap();
    let local = device.exact_sum(memory.items()).unwrap();
    let total = exact_plan.allreduce(&local).unwrap().value();
    assert_eq!(total.to_bits(), exact::sum(&all).to_bits());
    tell(&format!(
        "rank {rank} of {size}: all plans have the processor's bits"
    ));
}
