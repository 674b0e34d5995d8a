//! Plans with items in GPU memory: which operations a GPU can fold, and how they run.

use std::rc::Rc;

use treefold::Operation;
use treefold::cuda::{Device, Error, Items};
use treefold::exact::Accumulator;
use treefold_c::failure::{Code, Failure};

use super::{Shaped, treefold_plan};
use crate::gpu::Floats;
use crate::operands::{Given, Takes};
use crate::run::{NotifyOnPanic, Output, Run};

/// Items in GPU memory.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnDevice {
    F32(&'static Device, Items<'static, f32>),
    F64(&'static Device, Items<'static, f64>),
}

/// What a GPU computed: rows of floats, or the words of an exact sum.
enum Nodes {
    F32(Vec<f32>),
    F64(Vec<f64>),
    Words(Vec<u64>),
}

impl OnDevice {
    /// Sums each run of consecutive rows; `lengths` has the number of rows of each run. A complex number is two columns.
    fn fold_runs(&self, row_bytes: usize, lengths: &[usize]) -> Result<Nodes, Error> {
        match *self {
            Self::F32(device, items) => {
                let columns = row_bytes / size_of::<f32>();
                let mut rows = vec![0.0; lengths.len() * columns];
                device.fold_runs(items, columns, lengths, &mut rows)?;
                Ok(Nodes::F32(rows))
            }
            Self::F64(device, items) => {
                let columns = row_bytes / size_of::<f64>();
                let mut rows = vec![0.0; lengths.len() * columns];
                device.fold_runs(items, columns, lengths, &mut rows)?;
                Ok(Nodes::F64(rows))
            }
        }
    }

    fn exact_sum(&self) -> Result<Nodes, Error> {
        fn words<A: Accumulator>(sum: &A) -> Nodes {
            Nodes::Words(bytemuck::cast_slice(&[sum.words()]).to_vec())
        }
        Ok(match *self {
            Self::F32(device, items) => words(&device.exact_sum(items)?),
            Self::F64(device, items) => words(&device.exact_sum(items)?),
        })
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
    /// Returns the type of the floats that a GPU can fold for this operation, or `None`. Also returns `None` for a wrong `n`, because the
    /// call for host memory reports this error.
    pub(crate) fn folded_floats(&self, operation: Operation, n: usize) -> Option<Floats> {
        let floats = self.gpu.floats.get()?;
        let is_reduction = matches!(
            operation,
            Operation::Allreduce | Operation::Reduce | Operation::ReduceScatter
        );
        // Algorithms without a schedule need the items themselves, so a GPU folds nothing for them.
        let are_all = |lengths: Vec<usize>| {
            let rows = lengths.iter().fold(0_u128, |rows, &one| rows + one as u128);
            rows * self.width as u128 == n as u128
        };
        let lengths = || self.plan.own_node_lengths(operation);
        let offers = || match self.takes {
            Takes::InTree => lengths().is_some_and(are_all),
            // There are no kernels for exact sums of rows.
            _ => self.width == 1,
        };
        (is_reduction && offers()).then_some(floats)
    }

    /// Like [`run`](Self::run), but on items that a GPU folds.
    pub(crate) fn run_on_device(
        &self,
        operation: Operation,
        local: OnDevice,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        let folded = self.nodes(operation, local);
        let reason = folded.as_ref().err().map(ToString::to_string);
        let nodes = Given::Nodes(of_nodes(&folded, reason.as_deref()));
        let outcome = self.run_into(operation, nodes, result);
        // An error of the driver has its own code.
        folded.map_err(|error| of_cuda(&error)).and(outcome)
    }

    /// Like [`start`](Self::start), but on items that a GPU folds.
    pub(crate) fn start_on_device(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: OnDevice,
        result: Output,
    ) -> Result<Rc<Run>, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        let folded = self.nodes(operation, local);
        let reason = folded.as_ref().err().map(ToString::to_string);
        let nodes = Given::Nodes(of_nodes(&folded, reason.as_deref()));
        let started = self.start_given(operation, nodes, true);
        // An error of the driver has its own code.
        let started =
            started.map_err(|failure| folded.err().map_or(failure, |error| of_cuda(&error)));
        Ok(self.under_way(name, operation, started?, result))
    }

    /// The sums of the rank's own nodes, or the exact sum of the rank's items.
    fn nodes(&self, operation: Operation, local: OnDevice) -> Result<Nodes, Error> {
        if self.takes == Takes::Exact {
            return local.exact_sum();
        }
        let lengths = self.plan.own_node_lengths(operation).unwrap_or_default();
        local.fold_runs(self.width * self.items.bytes, &lengths)
    }
}

fn of_nodes<'n>(
    folded: &'n Result<Nodes, Error>,
    reason: Option<&'n str>,
) -> Result<&'n [u8], &'n str> {
    match folded {
        Ok(Nodes::F32(nodes)) => Ok(bytemuck::cast_slice(nodes)),
        Ok(Nodes::F64(nodes)) => Ok(bytemuck::cast_slice(nodes)),
        Ok(Nodes::Words(words)) => Ok(bytemuck::cast_slice(words)),
        Err(_) => Err(reason.unwrap_or_default()),
    }
}
