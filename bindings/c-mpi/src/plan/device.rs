//! Plans whose items are in the memory of a GPU: which of them it folds, and how they run then.

use std::any::Any;
use std::rc::Rc;

use bytemuck::{Pod, cast_slice_mut};
use num_complex::Complex;
use treefold::cuda::{Device, Error, Items};
use treefold::exact::{Float, Sum as ExactSum};
use treefold::{Operands, Operation, RunError};
use treefold_c::failure::{Code, Failure};

use super::{AnyPlan, Shaped, TypedPlan, treefold_plan};
use crate::exact::ExactPlan;
use crate::exact::figure::Sums;
use crate::failure::of_run;
use crate::gpu::Floats;
use crate::items::Plain;
use crate::reduction::{InTree, Reduction};
use crate::run::{AnyRun, ToldOfPanics};

/// Items in the memory of a GPU.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnDevice {
    F32(&'static Device, Items<'static, f32>),
    F64(&'static Device, Items<'static, f64>),
}

impl OnDevice {
    /// Sums runs of rows, each of so many items of type `T`.
    fn fold_runs<T: Pod>(&self, width: usize, lengths: &[usize]) -> Result<Vec<T>, Error> {
        let mut rows = vec![T::zeroed(); lengths.len() * width];
        // A complex number is two columns.
        let columns = |float_bytes: usize| width * (size_of::<T>() / float_bytes);
        match *self {
            Self::F32(device, items) => {
                device.fold_runs(items, columns(4), lengths, cast_slice_mut(&mut rows))
            }
            Self::F64(device, items) => {
                device.fold_runs(items, columns(8), lengths, cast_slice_mut(&mut rows))
            }
        }?;
        Ok(rows)
    }

    /// The exact sum of floats, which are of type `T`.
    fn exact_sum<T: Float>(&self) -> Result<ExactSum<T>, Error> {
        let sum: Box<dyn Any> = match *self {
            Self::F32(device, items) => Box::new(device.exact_sum(items)?),
            Self::F64(device, items) => Box::new(device.exact_sum(items)?),
        };
        Ok(*sum.downcast().expect("a plan's items are of its type"))
    }
}

/// The failure of a call to the driver.
pub(crate) fn of_cuda(error: &Error) -> Failure {
    let text = error.to_string();
    let code = match error {
        Error::Fold(error) => return Failure::from(error.clone()),
        Error::NoDriver | Error::NoDevice { .. } | Error::TooOld { .. } => Code::Unsupported,
        Error::Driver { .. } if text.contains("OUT_OF_MEMORY") => Code::Memory,
        _ => Code::Argument,
    };
    Failure::new(code, text)
}

impl Shaped {
    /// What n elements are made of, if a GPU folds them in this operation. One that fails for their number fails as in ordinary memory.
    pub(crate) fn folded_floats(&self, operation: Operation, n: usize) -> Option<Floats> {
        let offers = |folds: &dyn Folds| folds.offers(operation, n);
        self.gpu
            .floats
            .get()
            .filter(|_| folds(self).is_some_and(offers))
    }

    /// As [`AnyPlan::run`], on items in the memory of a GPU that folds them.
    pub(crate) fn run_on_device(
        &self,
        operation: Operation,
        local: OnDevice,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let folds = folds(self).expect("the plan has said that it can");
        folds.run(operation, local, result)
    }

    /// As [`AnyPlan::start`].
    pub(crate) fn start_on_device(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: OnDevice,
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let folds = folds(self).expect("the plan has said that it can");
        folds.start(name, operation, local)
    }
}

/// A plan with the types of those that a GPU folds for. Their operator may be another one.
fn folds(plan: &Shaped) -> Option<&dyn Folds> {
    let plan = plan.as_any();
    tree::<f32>(plan)
        .or_else(|| tree::<f64>(plan))
        .or_else(|| tree::<Complex<f32>>(plan))
        .or_else(|| tree::<Complex<f64>>(plan))
        .or_else(|| exact::<f32>(plan))
        .or_else(|| exact::<f64>(plan))
}

type Tree<T> = TypedPlan<Plain<T>, InTree<T>>;
type Exact<T> = TypedPlan<Plain<T>, ExactPlan<Sums<T>>>;

fn tree<T: Pod>(plan: &dyn Any) -> Option<&dyn Folds> {
    plan.downcast_ref::<Tree<T>>().map(|plan| plan as _)
}

fn exact<T: Float>(plan: &dyn Any) -> Option<&dyn Folds> {
    plan.downcast_ref::<Exact<T>>().map(|plan| plan as _)
}

/// A plan that takes what a GPU has folded.
trait Folds {
    /// Whether it takes what is made of n elements.
    fn offers(&self, operation: Operation, n: usize) -> bool;

    fn run(
        &self,
        operation: Operation,
        local: OnDevice,
        result: &mut [u8],
    ) -> Result<bool, Failure>;

    fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: OnDevice,
    ) -> Result<Rc<dyn AnyRun>, Failure>;
}

fn is_reduction(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Allreduce | Operation::Reduce | Operation::ReduceScatter
    )
}

impl<T: Pod> Folds for Tree<T> {
    /// An algorithm that is not a schedule takes items.
    fn offers(&self, operation: Operation, n: usize) -> bool {
        if !is_reduction(operation) {
            return false;
        }
        let lengths = self.plan.own_node_lengths(operation);
        let rows =
            lengths.map(|lengths| lengths.iter().fold(0_u128, |rows, &one| rows + one as u128));
        rows.is_some_and(|rows| rows * self.plan.width() as u128 == n as u128)
    }

    fn run(
        &self,
        operation: Operation,
        local: OnDevice,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let folded = self.nodes(operation, local);
        let reason = folded.as_ref().err().map(ToString::to_string);
        let nodes = of_nodes(&folded, reason.as_deref());
        let outcome = self.run_into(operation, "result", result, |result| {
            self.plan.run_on(operation, nodes, result)
        });
        // What the driver says has a code of its own.
        folded.map_err(|error| of_cuda(&error)).and(outcome)
    }

    fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: OnDevice,
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let folded = self.nodes(operation, local);
        let reason = folded.as_ref().err().map(ToString::to_string);
        let nodes = of_nodes(&folded, reason.as_deref());
        let started = self.plan.start_on(operation, nodes)?;
        Ok(self.under_way(name, operation, started))
    }
}

/// The sums of a rank's own nodes, or why there are none.
fn of_nodes<'n, T: Pod>(
    folded: &'n Result<Vec<T>, Error>,
    reason: Option<&'n str>,
) -> Operands<'n> {
    let nodes = folded.as_deref().map(bytemuck::cast_slice);
    Operands::Nodes(nodes.map_err(|_| reason.unwrap_or_default()))
}

impl<T: Pod> Tree<T> {
    /// The sums of this rank's own nodes.
    fn nodes(&self, operation: Operation, local: OnDevice) -> Result<Vec<T>, Error> {
        let lengths = self.plan.own_node_lengths(operation);
        local.fold_runs(self.plan.width(), &lengths.unwrap_or_default())
    }
}

impl<T: Float> Folds for Exact<T> {
    /// There are no kernels for exact sums of rows.
    fn offers(&self, operation: Operation, _: usize) -> bool {
        is_reduction(operation) && self.plan.width() == 1
    }

    fn run(
        &self,
        operation: Operation,
        local: OnDevice,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let total = local.exact_sum::<T>();
        let total = total.map_err(|error| of_cuda(&error));
        let total = total.inspect_err(|_| AnyPlan::refuse(self, operation))?;
        self.run_into(operation, "result", result, |result| {
            let outcome = self.plan.run_totals(operation, &[total], result);
            outcome.map_err(|error: RunError| of_run(&error))
        })
    }

    fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: OnDevice,
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let total = local.exact_sum::<T>();
        let total = total.map_err(|error| of_cuda(&error));
        let total = total.inspect_err(|_| AnyPlan::refuse_to_start(self, operation))?;
        let started = self.plan.start_totals(operation, &[total], &[]);
        let started = started.map_err(|error| of_run(&error))?;
        Ok(self.under_way(name, operation, started))
    }
}
