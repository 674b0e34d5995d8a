//! Tests rows that were folded elsewhere: instead of its rows, each rank passes the folds of its own nodes.

use distribution::{Distribution, Ownership};
use reduce::{Algorithm, Operation, Plan, RunError, Sum, World, sum_rows};

use super::collectives::{bits, local, random_ownership, rows_by_definition, scheduled};
use super::{Check, numbers};

pub(crate) const CHECKS: [(&str, Check); 3] = [
    ("rows that were folded elsewhere", folded_elsewhere),
    ("folds beside another run", beside_another_run),
    ("folds that are missing", missing_folds),
];

/// Folds a rank's rows: one row for each of the rank's own nodes.
fn folds(plan: &Plan<f64, Sum>, operation: Operation, rows: &[f64]) -> Vec<f64> {
    let width = plan.width();
    let mut rest = rows;
    let lengths = plan.own_node_lengths(operation).unwrap();
    let fold = |length: usize| {
        let node = rest.split_off(..length * width).unwrap();
        let mut row = vec![0.0; width];
        sum_rows(node, width, &mut row).unwrap();
        row
    };
    let nodes = lengths.into_iter().flat_map(fold).collect();
    assert!(rest.is_empty());
    nodes
}

/// The widths include short rows, which plans copy, and long rows, which plans use in place.
fn folded_elsewhere(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for (count, width) in [(1, 1), (1000, 1), (7 * size, 3), (size, 300), (45, 300)] {
        let one_stretch = Ownership::from(Distribution::upper(count as u64, size).unwrap());
        let scattered = random_ownership(count as u64, size, 3);
        for ownership in [one_stretch, scattered] {
            let items = numbers(count * width, count as u64);
            let expected = rows_by_definition(&items, width, &Sum);
            let rows = local(&items, width, &ownership, rank);
            for algorithm in scheduled(world) {
                let plan = Plan::builder(world).width(width).algorithm(algorithm);
                let plan = plan.ownership(&ownership).build::<f64>().unwrap();
                let mut row = vec![7.0; width];
                // Each rank passes rows in one turn and folds in the other. The result is the same.
                for turn in 0..2 {
                    if (rank + turn) % 2 == 0 {
                        let nodes = folds(&plan, Operation::Allreduce, &rows);
                        plan.allreduce_folded(Ok(&nodes), &mut row).unwrap();
                    } else {
                        plan.allreduce_into(&rows, &mut row).unwrap();
                    }
                    assert_eq!(bits(&row), expected, "{algorithm}");
                }
                let nodes = folds(&plan, Operation::Reduce, &rows);
                if plan.reduce_folded(Ok(&nodes), &mut row).unwrap() {
                    assert_eq!(bits(&row), expected, "{algorithm}");
                }
                let columns = plan.scattered_columns();
                let mut part = vec![7.0; columns.len()];
                let nodes = folds(&plan, Operation::ReduceScatter, &rows);
                plan.reduce_scatter_folded(Ok(&nodes), &mut part).unwrap();
                assert_eq!(bits(&part), expected[columns.clone()], "{algorithm}");
                part.fill(7.0);
                let pending = plan.start_reduce_scatter_folded(Ok(&nodes)).unwrap();
                pending.wait_into(&mut part).unwrap();
                assert_eq!(bits(&part), expected[columns], "{algorithm}");
                let nodes = folds(&plan, Operation::Reduce, &rows);
                let pending = plan.start_reduce_folded(Ok(&nodes)).unwrap();
                if pending.wait_into(&mut row).unwrap() {
                    assert_eq!(bits(&row), expected, "{algorithm}");
                }
            }
        }
    }
}

fn beside_another_run(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    for width in [1, 300] {
        let items = numbers(9 * size * width, 9);
        let expected = rows_by_definition(&items, width, &Sum);
        let rows = &items[9 * rank * width..9 * (rank + 1) * width];
        let plan = || {
            let plan = Plan::builder(world).width(width).local_items(9);
            plan.build::<f64>().unwrap()
        };
        let (first, second) = (plan(), plan());
        let pending = first.start_allreduce_row(rows).unwrap();
        let nodes = folds(&second, Operation::Allreduce, rows);
        let mut row = vec![7.0; width];
        second.allreduce_folded(Ok(&nodes), &mut row).unwrap();
        assert_eq!(bits(&row), expected);
        pending.wait_into(&mut row).unwrap();
        assert_eq!(bits(&row), expected);
        // Like rows, the folds can be dropped as soon as their run is under way.
        let pending = first.start_allreduce_folded(Ok(&nodes)).unwrap();
        drop(nodes);
        second.allreduce_into(rows, &mut row).unwrap();
        pending.wait_into(&mut row).unwrap();
        assert_eq!(bits(&row), expected);
    }
}

/// A rank that has no folds, or a wrong number of them, fails, and the others get an error.
fn missing_folds(world: &World) {
    let (rank, size) = (world.rank(), world.size());
    let failing = size / 2;
    for reason in [None, Some("the device is gone".to_owned())] {
        let plan = Plan::builder(world).local_items(5).build::<f64>().unwrap();
        let length = plan.own_node_lengths(Operation::Allreduce).unwrap().len();
        let nodes = vec![1.0; if rank == failing { length + 1 } else { length }];
        let own = match reason.clone().filter(|_| rank == failing) {
            Some(reason) => Err(reason),
            None => Ok(&nodes[..]),
        };
        let error = plan.allreduce_folded(own, &mut [7.0]).unwrap_err();
        if rank != failing {
            assert!(
                matches!(error, RunError::RankFailed { rank } if rank == failing),
                "{error}"
            );
        } else if reason.is_some() {
            let text = error.to_string();
            assert!(
                text.ends_with("could not fold its items: the device is gone"),
                "{text}"
            );
        } else {
            assert!(matches!(error, RunError::WrongLength { .. }), "{error}");
        }
    }
    // If the folds are passed when a run is started, the error is returned by the wait.
    let plan = Plan::builder(world).local_items(5).build::<f64>().unwrap();
    let nodes = folds(&plan, Operation::Allreduce, &[1.0; 5]);
    let gone = (rank == failing).then(|| "the device is gone".to_owned());
    let own = gone.map_or(Ok(&nodes[..]), Err);
    let pending = plan.start_allreduce_folded(own).unwrap();
    let error = pending.wait_into(&mut [7.0]).unwrap_err();
    assert_eq!(
        matches!(error, RunError::NotFolded { .. }),
        rank == failing,
        "{error}"
    );
    // One rank passes a result slice of the wrong length.
    let plan = Plan::builder(world).local_items(5).build::<f64>().unwrap();
    let nodes = folds(&plan, Operation::Allreduce, &[1.0; 5]);
    let mut result = vec![7.0; if rank == failing { 2 } else { 1 }];
    let error = plan.allreduce_folded(Ok(&nodes), &mut result).unwrap_err();
    assert_eq!(
        matches!(error, RunError::WrongResultLength { .. }),
        rank == failing,
        "{error}"
    );
    // Plans of Algorithm 1 have no own nodes, so they refuse folds. They can be run afterwards.
    let plan = Plan::builder(world)
        .local_items(5)
        .algorithm(Algorithm::Algorithm1);
    let plan = plan.build::<f64>().unwrap();
    assert_eq!(plan.own_node_lengths(Operation::Allreduce), None);
    let refused = plan.allreduce_folded(Ok(&[]), &mut [7.0]).unwrap_err();
    assert!(matches!(refused, RunError::NoOwnNodes { .. }), "{refused}");
    let refused = plan.start_allreduce_folded(Ok(&[])).unwrap_err();
    assert!(matches!(refused, RunError::NoOwnNodes { .. }), "{refused}");
    assert_eq!(plan.allreduce(&[1.0; 5]), Ok(5.0 * size as f64));
    // But if a rank passes a reason instead of folds, the other ranks get an error, too.
    let error = if rank == failing {
        let gone = Err("the device is gone".to_owned());
        plan.allreduce_folded(gone, &mut [7.0]).unwrap_err()
    } else {
        plan.allreduce(&[1.0; 5]).unwrap_err()
    };
    assert_eq!(
        matches!(error, RunError::NotFolded { .. }),
        rank == failing,
        "{error}"
    );
}
