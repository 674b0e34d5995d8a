//! The transport's own reductions, whose order the transport chooses: the baseline of schedules and plans.

use bytemuck::Pod;
use comm::{Tag, collective};
use reduce::mpi::mpi_library::{Datatype, Handles, Op};
use reduce::{Max, Operator, Sum, World};

use crate::{Backend, Error};

/// The transport's own collective operations: on threads, along a binomial tree to rank 0 and back; under MPI, the library's functions.
///
/// The order of a sum, and so its bits, depends on the number of ranks.
#[derive(Clone, Debug)]
pub struct Ordinary {
    world: World,
    backend: Backend,
    tag: Tag,
}

/// An element type that every MPI library has.
pub trait Element: Pod {
    /// The MPI handle of the type.
    fn datatype(handles: &Handles) -> Datatype;
}

impl Element for f64 {
    fn datatype(handles: &Handles) -> Datatype {
        handles.MPI_DOUBLE
    }
}

impl Element for i64 {
    fn datatype(handles: &Handles) -> Datatype {
        handles.MPI_INT64_T
    }
}

/// An operator that every MPI library has.
pub trait Known<T: Copy + 'static>: Operator<T> {
    /// The MPI handle of the operator.
    fn operation(handles: &Handles) -> Op;
}

impl<T: Copy + 'static> Known<T> for Sum
where
    Sum: Operator<T>,
{
    fn operation(handles: &Handles) -> Op {
        handles.MPI_SUM
    }
}

impl<T: Copy + 'static> Known<T> for Max
where
    Max: Operator<T>,
{
    fn operation(handles: &Handles) -> Op {
        handles.MPI_MAX
    }
}

impl Ordinary {
    /// The operations of a world; under MPI, they run on all processes. Collective, like [`World::fresh_tag`].
    pub fn new(world: &World, backend: Backend) -> Result<Self, Error> {
        Ok(Self {
            world: world.clone(),
            backend,
            tag: world.fresh_tag()?,
        })
    }

    /// Waits until all ranks have arrived. Collective.
    pub fn barrier(&self) -> Result<(), Error> {
        match self.backend {
            Backend::Threads => {
                collective::allgather(self.world.transport(), Tag::CONTROL, Vec::new())?;
                Ok(())
            }
            Backend::Mpi => library::barrier(),
        }
    }

    /// Combines the ranks' rows, column by column; every rank gets the result. Collective.
    pub fn allreduce<T: Element, O: Known<T>>(
        &self,
        operator: &O,
        row: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        match self.backend {
            Backend::Threads => {
                self.combine_on_first(operator, row, result)?;
                self.broadcast(result)
            }
            Backend::Mpi => library::reduce::<T, O>(row, result, true),
        }
    }

    /// Combines the ranks' rows, column by column. Rank 0 gets the result; on other ranks, `result` is undefined afterwards. Collective.
    pub fn reduce<T: Element, O: Known<T>>(
        &self,
        operator: &O,
        row: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        match self.backend {
            Backend::Threads => self.combine_on_first(operator, row, result),
            Backend::Mpi => library::reduce::<T, O>(row, result, false),
        }
    }

    /// Returns every rank's items (at most `items_max` each) on rank 0 in rank order, and nothing on other ranks. Collective.
    pub fn gather<T: Pod>(&self, items: &[T], items_max: usize) -> Result<Vec<T>, Error> {
        let message = bytemuck::cast_slice(items).to_vec();
        let capacity_bytes = items_max * size_of::<T>();
        let comm = self.world.transport();
        let messages = collective::gather(comm, 0, self.tag, message, capacity_bytes)?;
        let items = messages.iter().flat_map(|message| {
            let items = message.chunks_exact(size_of::<T>());
            items.map(bytemuck::pod_read_unaligned)
        });
        Ok(items.collect())
    }

    /// Broadcasts rank 0's row. Collective.
    pub fn broadcast<T: Pod>(&self, row: &mut [T]) -> Result<(), Error> {
        let row: &mut [u8] = bytemuck::cast_slice_mut(row);
        let mut message = row.to_vec();
        let comm = self.world.transport();
        collective::broadcast(comm, 0, self.tag, &mut message, row.len())?;
        row.copy_from_slice(&message);
        Ok(())
    }

    /// Combines rows along a binomial tree to rank 0. The rows of lower ranks are always the left operands.
    fn combine_on_first<T: Pod, O: Operator<T>>(
        &self,
        operator: &O,
        row: &[T],
        result: &mut [T],
    ) -> Result<(), Error> {
        let comm = self.world.transport();
        let (rank, bytes) = (comm.rank(), size_of_val(row));
        result.copy_from_slice(row);
        let mut distance = 1;
        while distance < comm.size() {
            if rank & distance != 0 {
                let message = bytemuck::cast_slice(result).to_vec();
                collective::send(comm, rank - distance, self.tag, message, bytes)?;
                break;
            }
            if rank + distance < comm.size() {
                let right = collective::receive(comm, rank + distance, self.tag, bytes)?;
                let right = right.chunks_exact(size_of::<T>());
                for (left, right) in result.iter_mut().zip(right) {
                    *left = operator.combine(*left, bytemuck::pod_read_unaligned(right));
                }
            }
            distance *= 2;
        }
        Ok(())
    }
}

/// The MPI library's functions, on all processes.
#[expect(unsafe_code, reason = "MPI is a C library")]
mod library {
    use std::ffi::c_int;

    use reduce::mpi::library;
    use reduce::mpi::mpi_library::MPI_SUCCESS;

    use super::{Element, Known};
    use crate::Error;

    pub(super) fn barrier() -> Result<(), Error> {
        let mpi = library()?;
        // SAFETY: MPI is initialised, since there is a world under MPI.
        let code = unsafe { mpi.MPI_Barrier(mpi.handles.MPI_COMM_WORLD) };
        check("MPI_Barrier", code)
    }

    /// Reduces rows. All ranks get the result, or only rank 0.
    pub(super) fn reduce<T: Element, O: Known<T>>(
        row: &[T],
        result: &mut [T],
        on_all: bool,
    ) -> Result<(), Error> {
        let mpi = library()?;
        let (count, handles) = (count_of(row, result)?, &mpi.handles);
        let (datatype, operation) = (T::datatype(handles), O::operation(handles));
        let (from, to) = (row.as_ptr().cast(), result.as_mut_ptr().cast());
        let world = handles.MPI_COMM_WORLD;
        if on_all {
            // SAFETY: MPI is initialised; both rows have `count` elements of this type, and are distinct.
            let code = unsafe { mpi.MPI_Allreduce(from, to, count, datatype, operation, world) };
            check("MPI_Allreduce", code)
        } else {
            // SAFETY: as above; only rank 0's result is written.
            let code = unsafe { mpi.MPI_Reduce(from, to, count, datatype, operation, 0, world) };
            check("MPI_Reduce", code)
        }
    }

    fn count_of<T>(row: &[T], result: &[T]) -> Result<c_int, Error> {
        let count = c_int::try_from(row.len()).ok();
        let count = count.filter(|_| row.len() == result.len());
        count.ok_or_else(|| Error::Mpi("rows of these lengths cannot be reduced".to_owned()))
    }

    fn check(call: &str, code: c_int) -> Result<(), Error> {
        if code == MPI_SUCCESS {
            Ok(())
        } else {
            Err(Error::Mpi(format!("{call} failed with code {code}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use reduce::{Max, Sum, threads};

    use super::Ordinary;
    use crate::Backend;

    /// Integers can be compared, since every order gives the same result.
    #[test]
    fn integers_are_reduced_over_any_number_of_ranks() {
        for ranks in 1..=17 {
            let results = threads::run(ranks, |world| {
                let ordinary = Ordinary::new(world, Backend::Threads).unwrap();
                let rank = i64::try_from(world.rank()).unwrap();
                let (row, mut all, mut first) = ([rank, 100 - rank], [0; 2], [0; 2]);
                ordinary.allreduce(&Sum, &row, &mut all).unwrap();
                ordinary.reduce(&Max, &row, &mut first).unwrap();
                (all, first)
            });
            let results = results.unwrap();
            let p = i64::try_from(ranks).unwrap();
            let sums = [p * (p - 1) / 2, p * 100 - p * (p - 1) / 2];
            assert!(results.iter().all(|(all, _)| *all == sums), "p = {p}");
            assert_eq!(results[0].1, [p - 1, 100], "p = {p}");
        }
    }
}
