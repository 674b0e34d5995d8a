//! Plans of reductions in tree order: their items, the expected results, and how a program uses them.

use std::ops::Range;

use distribution::Ownership;
use reduce::{Operand, Operands, Operation, Operator, Plan, RunError, Sum, World};

use super::case::{FaultKind, Own};
use super::element::{Element, Faulty, rows};
use super::slot::{Asked, CallResult, Form, Outcome};
use super::vocabulary::Mode;

/// The calls that plans in tree order and exact plans share by name. A plan of width 1 gets `$one`, others `$local` and possibly a
/// `$row` for the result.
macro_rules! reduced {
    ($plan:expr, $asked:expr, $one:expr, $local:expr, $row:expr, $other:expr) => {{
        use reduce::Operation::{Allreduce, Reduce, ReduceScatter};
        use $crate::campaign::slot::CallResult::{Later, Now};
        use $crate::campaign::vocabulary::Mode::{Blocking, Split};
        let (plan, local, mut row) = ($plan, $local, $row);
        match ($asked.operation, $asked.mode, $one) {
            (Allreduce, Blocking, Some(one)) => Now(Some(vec![plan.allreduce(one)?])),
            (Allreduce, Split, Some(one)) => {
                Later(plan.start_allreduce(one)?.map(|value| Some(vec![value])))
            }
            (Allreduce, Blocking, None) => {
                plan.allreduce_into(local, &mut row)?;
                Now(Some(row))
            }
            (Allreduce, Split, None) => Later(plan.start_allreduce_row(local)?.map(Some)),
            (Reduce, Blocking, Some(one)) => Now(plan.reduce(one)?.map(|value| vec![value])),
            (Reduce, Split, Some(one)) => {
                let run = plan.start_reduce(one)?;
                Later(run.map(|value| value.map(|value| vec![value])))
            }
            (Reduce, Blocking, None) => Now(plan.reduce_into(local, &mut row)?.then_some(row)),
            (Reduce, Split, None) => Later(plan.start_reduce_row(local)?),
            (ReduceScatter, Blocking, _) => {
                row.truncate(plan.scattered_columns().len());
                plan.reduce_scatter(local, &mut row)?;
                Now(Some(row))
            }
            (ReduceScatter, Split, _) => Later(plan.start_reduce_scatter(local)?.map(Some)),
            _ => $other,
        }
    }};
}
pub(super) use reduced;

/// Builds a plan. Collective.
pub(super) fn build<T: Element, O: Operator<T> + 'static>(
    operator: O,
    own: Own,
    world: &World,
    fault: Option<FaultKind>,
) -> Result<Form, Outcome> {
    let Own { spec, rank, .. } = &own;
    let mut builder = spec.builder(world).operator(Faulty {
        operator,
        has_other_empty: fault == Some(FaultKind::OtherEmpty),
    });
    builder = if spec.gathers_extents {
        builder.extents(&spec.extents[*rank])
    } else {
        let other = match fault {
            Some(FaultKind::OtherOwnership) => spec.other_ownership(*rank),
            _ => None,
        };
        let ownership = Ownership::from_extents(other.as_ref().unwrap_or(&spec.extents));
        builder.ownership(&ownership.map_err(|error| Outcome::Failed(error.to_string()))?)
    };
    if fault == Some(FaultKind::OtherItems) {
        builder = builder.items(spec.items() + 1);
    }
    if fault == Some(FaultKind::OtherKind) {
        builder.operator(Sum).build_lanes::<f64>(spec.width)?;
        return Err(Outcome::Nothing);
    }
    let plan = builder.build::<T>()?;
    Ok(Box::new(move |asked| {
        Ok(call(&plan, &own, asked)?.given(|row| row))
    }))
}

/// A rank's rows.
fn local<T: Element>(own: &Own, asked: Asked) -> Vec<T> {
    let Own { spec, seed, rank } = own;
    let all = rows::<T>(spec.items(), spec.width, *seed, asked.step);
    let own = own.items_of(*rank);
    let own = own.flat_map(|item| &all[item * spec.width..][..spec.width]);
    let surplus = std::iter::repeat_n(T::zeroed(), asked.surplus);
    own.copied().chain(surplus).collect()
}

fn call<T: Element, O: Operator<T> + 'static>(
    plan: &Plan<T, Faulty<O>>,
    own: &Own,
    asked: Asked,
) -> Result<CallResult<T>, RunError> {
    let spec = &own.spec;
    let mut local = local(own, asked);
    let mut row = vec![T::zeroed(); spec.width];
    if asked.is_of_products {
        let items = Operands::Items(bytemuck::cast_slice(&local));
        let row = bytemuck::cast_slice_mut(&mut row);
        plan.run(asked.operation.of(Operand::Products), items, row)?;
        return Ok(CallResult::Now(None));
    }
    let one = (spec.width == 1).then_some(&local[..]);
    let answer = reduced!(plan, asked, one, &local, row, {
        let mut prefixes = vec![T::zeroed(); local.len()];
        match (asked.operation, asked.mode) {
            (Operation::Scan, Mode::Split) => Later(plan.start_scan(&local)?.map(Some)),
            (Operation::Exscan, Mode::Split) => Later(plan.start_exscan(&local)?.map(Some)),
            (Operation::Scan, _) => {
                plan.scan(&local, &mut prefixes)?;
                Now(Some(prefixes))
            }
            (Operation::Exscan, _) => {
                plan.exscan(&local, &mut prefixes)?;
                Now(Some(prefixes))
            }
            _ => {
                let mut row = vec![T::zeroed(); spec.width];
                if own.rank == spec.root {
                    row = rows(1, spec.width, own.seed, asked.step);
                }
                row.extend(std::iter::repeat_n(T::zeroed(), asked.surplus));
                plan.broadcast(&mut row)?;
                Now(Some(row))
            }
        }
    });
    // After the call, a program may change the slice.
    local.fill(T::zeroed());
    Ok(answer)
}

/// The expected result of a rank, computed by the recursive definition of the order over all items.
pub(super) fn expected<T: Element, O: Operator<T>>(
    operator: O,
    own: &Own,
    operation: Operation,
    step: usize,
    columns: Range<usize>,
) -> Vec<u8> {
    let width = own.spec.width;
    let all = rows::<T>(own.spec.items(), width, own.seed, step);
    let of_column = |rows: &[T], column: usize| -> T {
        let column: Vec<T> = rows.iter().skip(column).step_by(width).copied().collect();
        let combine = |left, right| operator.combine(left, right);
        let total = simd_kernels::by_definition(&column, &combine).or(operator.empty());
        let total = total.expect("an operator without an empty value has items");
        operator.canonical(total).canonical()
    };
    let row = |rows: &[T]| {
        columns
            .clone()
            .map(|column| of_column(rows, column))
            .collect()
    };
    let values: Vec<T> = match operation {
        Operation::Scan | Operation::Exscan => {
            let is_with_own = usize::from(operation == Operation::Scan);
            let own = own.items_of(own.rank);
            own.flat_map(|item| -> Vec<T> { row(&all[..(item + is_with_own) * width]) })
                .collect()
        }
        Operation::Broadcast => rows(1, width, own.seed, step),
        _ => row(&all),
    };
    bytemuck::cast_slice(&values).to_vec()
}
