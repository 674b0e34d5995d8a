//! A plan of any kind, with the run that it may have in flight.

use distribution::Ownership;
use reduce::{Operand, Operands, Operation, Operator, Pending, Plan, RunError, Sum, World};

use super::element::{Element, Faulty, rows, with_kind};
use super::exact;
use super::fault::FaultKind;
use super::flight::{Flight, Polls, outcome};
use super::keyed;
use super::outcome::{Outcome, not_built};
use super::slot::Slot;
use super::started;
use super::vocabulary::{Kind, Spec};

/// Builds a plan as its specification says, but for this fault. Collective.
pub(super) fn build(
    spec: &Spec,
    seed: u64,
    world: &World,
    fault: Option<FaultKind>,
) -> Result<Box<dyn Slot>, Outcome> {
    if spec.kind == Kind::Started {
        return Ok(started::of(spec, seed, world.rank()));
    }
    with_kind!(
        spec.kind,
        [build_of, exact::build_of, keyed::build_of],
        (spec, seed, world, fault)
    )
}

fn build_of<T: Element, O: Operator<T> + 'static>(
    operator: O,
    spec: &Spec,
    seed: u64,
    world: &World,
    fault: Option<FaultKind>,
) -> Result<Box<dyn Slot>, Outcome> {
    let rank = world.rank();
    let mut builder = spec.builder(world).operator(Faulty {
        operator,
        has_other_empty: fault == Some(FaultKind::OtherEmpty),
    });
    builder = if spec.gathers_extents {
        builder.extents(&spec.extents[rank])
    } else {
        let other = match fault {
            Some(FaultKind::OtherOwnership) => spec.other_ownership(rank),
            _ => None,
        };
        let ownership = Ownership::from_extents(other.as_ref().unwrap_or(&spec.extents));
        builder.ownership(&ownership.map_err(|error| Outcome::Failed(error.to_string()))?)
    };
    if fault == Some(FaultKind::OtherItems) {
        builder = builder.items(spec.items() + 1);
    }
    if fault == Some(FaultKind::OtherKind) {
        let lanes = builder.operator(Sum).build_lanes::<f64>(spec.width);
        return Err(lanes.map_or_else(not_built, |_| Outcome::Nothing));
    }
    let plan = builder.build::<T>().map_err(not_built)?;
    Ok(Box::new(Built {
        plan,
        spec: spec.clone(),
        seed,
        rank,
        flight: Flight::default(),
    }))
}

struct Built<T: Element, O: Operator<T> + 'static> {
    plan: Plan<T, Faulty<O>>,
    spec: Spec,
    seed: u64,
    rank: usize,
    flight: Flight<T>,
}

impl<T: Element, O: Operator<T> + 'static> Built<T, O> {
    /// This rank's rows of a step.
    fn local(&self, step: usize, surplus: usize) -> Vec<T> {
        let Spec { extents, width, .. } = &self.spec;
        let all = rows::<T>(self.spec.items(), *width, self.seed, step);
        let index = |item: u64| usize::try_from(item).expect("the items are in memory") * width;
        let own = extents[self.rank].iter();
        let own = own.flat_map(|range| &all[index(range.start)..index(range.end)]);
        let surplus = std::iter::repeat_n(T::zeroed(), surplus);
        own.copied().chain(surplus).collect()
    }

    fn try_call(
        &self,
        operation: Operation,
        step: usize,
        surplus: usize,
    ) -> Result<Option<Vec<T>>, RunError> {
        let (plan, width) = (&self.plan, self.spec.width);
        let local = self.local(step, surplus);
        let mut row = vec![T::zeroed(); width];
        match operation {
            Operation::Allreduce if width == 1 => Ok(Some(vec![plan.allreduce(&local)?])),
            Operation::Allreduce => plan.allreduce_into(&local, &mut row).map(|()| Some(row)),
            Operation::Reduce if width == 1 => Ok(plan.reduce(&local)?.map(|value| vec![value])),
            Operation::Reduce => {
                let is_root = plan.reduce_into(&local, &mut row)?;
                Ok(is_root.then_some(row))
            }
            Operation::ReduceScatter => {
                row.truncate(plan.scattered_columns().len());
                plan.reduce_scatter(&local, &mut row).map(|()| Some(row))
            }
            Operation::Scan | Operation::Exscan => {
                let mut prefixes = vec![T::zeroed(); local.len()];
                match operation {
                    Operation::Scan => plan.scan(&local, &mut prefixes)?,
                    _ => plan.exscan(&local, &mut prefixes)?,
                }
                Ok(Some(prefixes))
            }
            _ => {
                if self.rank == self.spec.root {
                    row = rows(1, width, self.seed, step);
                }
                row.extend(std::iter::repeat_n(T::zeroed(), surplus));
                plan.broadcast(&mut row).map(|()| Some(row))
            }
        }
    }

    fn try_start(
        &self,
        operation: Operation,
        local: &[T],
    ) -> Result<Pending<Option<Vec<T>>>, RunError> {
        let (plan, is_scalar) = (&self.plan, self.spec.width == 1);
        Ok(match operation {
            Operation::Allreduce if is_scalar => {
                plan.start_allreduce(local)?.map(|value| Some(vec![value]))
            }
            Operation::Allreduce => plan.start_allreduce_row(local)?.map(Some),
            Operation::Reduce if is_scalar => plan
                .start_reduce(local)?
                .map(|value| value.map(|value| vec![value])),
            Operation::Reduce => plan.start_reduce_row(local)?,
            Operation::ReduceScatter => plan.start_reduce_scatter(local)?.map(Some),
            Operation::Scan => plan.start_scan(local)?.map(Some),
            Operation::Exscan => plan.start_exscan(local)?.map(Some),
            _ => unreachable!("a broadcast is not started"),
        })
    }
}

impl<T: Element, O: Operator<T> + 'static> Slot for Built<T, O> {
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        outcome(self.try_call(operation, step, surplus))
    }

    fn call_of_products(&mut self, step: usize) -> Outcome {
        let mut row = vec![T::zeroed(); self.spec.width];
        let call = Operation::Allreduce.of(Operand::Products);
        let local = self.local(step, 0);
        let items = Operands::Items(bytemuck::cast_slice(&local));
        let run = self
            .plan
            .run(call, items, bytemuck::cast_slice_mut(&mut row));
        outcome::<T>(run.map(|_| None))
    }

    fn start(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome {
        let mut local = self.local(step, surplus);
        let started = self.try_start(operation, &local);
        // The slice is the program's again.
        local.fill(T::zeroed());
        self.flight.begin(started)
    }

    fn test(&self) -> Outcome {
        self.flight.test()
    }

    fn wait(&mut self, polls: Polls) -> Outcome {
        self.flight.end(polls, outcome)
    }

    fn give_up(&mut self) {
        self.flight.give_up();
    }
}
