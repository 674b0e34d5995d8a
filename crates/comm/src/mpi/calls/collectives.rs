//! MPI's own collectives, on integers.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_int;

use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::{Failure, check};
use crate::mpi::calls::library::mpi;

/// The top bit. If it is flipped, a signed comparison orders unsigned numbers correctly.
const SIGN: u64 = 1 << 63;

/// How an allreduce combines the ranks' numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Agreed {
    Least,
    Greatest,
    /// The bitwise OR.
    Union,
}

impl RawCommunicator {
    /// `MPI_Allreduce`, element by element, on slices of the same length.
    ///
    /// Minima and maxima use signed integers with the top bit flipped, since MPICH 4.0.2 compares MPI_UINT64_T as if it were signed.
    pub(crate) fn allreduce_u64s(
        &self,
        numbers: &[u64],
        agreed: Agreed,
    ) -> Result<Vec<u64>, Failure> {
        let flipped = match agreed {
            Agreed::Least | Agreed::Greatest => SIGN,
            Agreed::Union => 0,
        };
        let numbers: Vec<u64> = numbers.iter().map(|number| number ^ flipped).collect();
        let mut result = vec![0_u64; numbers.len()];
        let count = c_int::try_from(numbers.len()).expect("ranks agree on few numbers");
        let handles = &mpi().handles;
        let (datatype, operation) = match agreed {
            Agreed::Least => (handles.MPI_INT64_T, handles.MPI_MIN),
            Agreed::Greatest => (handles.MPI_INT64_T, handles.MPI_MAX),
            Agreed::Union => (handles.MPI_UINT64_T, handles.MPI_BOR),
        };
        // SAFETY: both buffers hold `count` numbers, and are distinct.
        let code = unsafe {
            mpi().MPI_Allreduce(
                numbers.as_ptr().cast(),
                result.as_mut_ptr().cast(),
                count,
                datatype,
                operation,
                self.handle(),
            )
        };
        check("MPI_Allreduce", code)?;
        result.iter_mut().for_each(|number| *number ^= flipped);
        Ok(result)
    }

    /// Like [`allreduce_u64s`](RawCommunicator::allreduce_u64s), for one number.
    pub(crate) fn allreduce_u64(&self, number: u64, agreed: Agreed) -> Result<u64, Failure> {
        Ok(self.allreduce_u64s(&[number], agreed)?[0])
    }

    /// Adds integers in place with `MPI_SUM`, by `MPI_Reduce` to `root` or by `MPI_Allreduce`. One MPI call adds at most 2^31 - 1 integers.
    pub(crate) fn add_integers(
        &self,
        root: Option<c_int>,
        words: &mut [i64],
    ) -> Result<(), Failure> {
        const MOST: usize = c_int::MAX as usize;
        let (datatype, operation) = (mpi().handles.MPI_INT64_T, mpi().handles.MPI_SUM);
        let mut sums = vec![0_i64; words.len().min(MOST)];
        for words in words.chunks_mut(MOST) {
            let count = c_int::try_from(words.len()).expect("a chunk is short enough");
            let sums = &mut sums[..words.len()];
            let (from, to) = (words.as_ptr().cast(), sums.as_mut_ptr().cast());
            let (call, code) = match root {
                // SAFETY: both buffers hold `count` integers and are distinct.
                None => ("MPI_Allreduce", unsafe {
                    mpi().MPI_Allreduce(from, to, count, datatype, operation, self.handle())
                }),
                // SAFETY: as above; the second buffer exists on every rank, though MPI writes only the root's.
                Some(root) => ("MPI_Reduce", unsafe {
                    mpi().MPI_Reduce(from, to, count, datatype, operation, root, self.handle())
                }),
            };
            check(call, code)?;
            words.copy_from_slice(sums);
        }
        Ok(())
    }

    /// `MPI_Allgather`: the numbers of all ranks, in rank order. Collective.
    pub(crate) fn allgather_u64(&self, number: u64) -> Result<Vec<u64>, Failure> {
        let mut numbers = vec![0_u64; self.size()?];
        let datatype = mpi().handles.MPI_UINT64_T;
        // SAFETY: one buffer is a live u64, the other has a u64 for each rank.
        let code = unsafe {
            mpi().MPI_Allgather(
                (&raw const number).cast(),
                1,
                datatype,
                numbers.as_mut_ptr().cast(),
                1,
                datatype,
                self.handle(),
            )
        };
        check("MPI_Allgather", code).map(|()| numbers)
    }
}
