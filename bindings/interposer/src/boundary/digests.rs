//! Whether the library gives all ranks of a call the same bits, where all get one result.
//!
//! Each rank keeps digests of its results by communicator and number of the call, and ranks compare them when the communicator is freed or
//! MPI_Finalize begins: calls are complete at different times.

use std::ffi::c_int;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treefold::mpi::mpi_library::{Comm, Request};

use super::library::{Communicator, SUCCESS, mpi};
use crate::statistics;
use crate::task::Element;

/// Calls share digests where there are more of them, so that each communicator exchanges no more.
const DIGESTS: usize = 512;

/// What says nothing in a minimum.
const UNKNOWN: u64 = u64::MAX;

/// Those of a communicator.
#[derive(Debug, Default)]
pub(super) struct Digests(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    /// The calls so far.
    calls: u64,
    /// Those that are not complete.
    open: Vec<u64>,
    digests: Vec<u64>,
}

/// Those of all communicators with calls.
static ALL: Mutex<Vec<(Comm, Arc<Digests>)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(Comm, Arc<Digests>)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(call: u64) -> usize {
    usize::try_from(call % DIGESTS as u64).unwrap_or(0)
}

impl Digests {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of a call, which begins: the same on all ranks.
    pub(super) fn begin(self: &Arc<Self>, comm: Comm) -> u64 {
        let mut inner = self.lock();
        if inner.calls == 0 {
            inner.digests = vec![0; DIGESTS];
            all().push((comm, Arc::clone(self)));
        }
        inner.calls += 1;
        let call = inner.calls;
        inner.open.push(call);
        call
    }

    /// The communicator is gone.
    pub(super) fn forget(self: &Arc<Self>) {
        all().retain(|(_, kept)| !Arc::ptr_eq(kept, self));
    }

    /// The result of a call.
    pub(super) fn end(&self, call: u64, element: Element, result: &[u8]) {
        let digest = element.digest(call, result);
        let mut inner = self.lock();
        inner.open.retain(|&open| open != call);
        let kept = &mut inner.digests[place(call)];
        *kept = kept.wrapping_add(digest);
    }

    /// For a minimum over ranks: each digest and its complement, of which the minimum is that of the maximum.
    fn list(&self) -> Vec<u64> {
        let inner = self.lock();
        let mut list: Vec<u64> = inner.digests.iter().flat_map(|&d| [d, !d]).collect();
        for &open in &inner.open {
            list[2 * place(open)..][..2].fill(UNKNOWN);
        }
        list
    }
}

/// The digests of which ranks have several, by their minima.
fn differing(minima: &[u64]) -> u64 {
    let pairs = minima.chunks_exact(2);
    let differ = pairs.filter(|pair| **pair != [UNKNOWN; 2] && pair[0] != !pair[1]);
    differ.count() as u64
}

/// One rank counts for all.
fn count(comm: Comm, minima: &[u64]) {
    if Communicator(comm).rank() == 0 {
        let mut own = statistics::own();
        own.disagreements = own.disagreements.saturating_add(differing(minima));
    }
}

/// Compares those of a communicator that is being freed. Collective.
pub(super) fn compare(comm: Comm) {
    let mut all = all();
    let Some(place) = all.iter().position(|(kept, _)| *kept == comm) else {
        return;
    };
    let (_, digests) = all.swap_remove(place);
    drop(all);
    let list = digests.list();
    let mut minima = vec![UNKNOWN; list.len()];
    let (length, handles) = (int(list.len()), &mpi().handles);
    // SAFETY: both lists have so many numbers of 64 bits; the program frees the communicator on all ranks.
    let code = unsafe {
        mpi().MPI_Allreduce(
            list.as_ptr().cast(),
            minima.as_mut_ptr().cast(),
            length,
            handles.MPI_UINT64_T,
            handles.MPI_MIN,
            comm,
        )
    };
    if code == SUCCESS {
        count(comm, &minima);
    }
}

/// Compares all that are left, as all ranks are in MPI_Finalize. `wait` waits for one request, or gives up.
pub(super) fn compare_all(wait: impl Fn(&mut Request) -> bool) {
    let left = std::mem::take(&mut *all());
    // The library may use them after this function has given up.
    let started = left.into_iter().map(|(comm, digests)| {
        let list = digests.list().leak();
        let minima = vec![UNKNOWN; list.len()].leak();
        let mut request = Request::UNSET;
        let handles = &mpi().handles;
        // SAFETY: both lists have so many numbers of 64 bits, and live for ever; ranks may start them in any order, as each is of another
        // communicator.
        let code = unsafe {
            mpi().MPI_Iallreduce(
                list.as_ptr().cast(),
                minima.as_mut_ptr().cast(),
                int(list.len()),
                handles.MPI_UINT64_T,
                handles.MPI_MIN,
                comm,
                &raw mut request,
            )
        };
        (comm, ptr::from_mut(minima), request, code)
    });
    let started: Vec<_> = started.collect();
    for (comm, minima, mut request, code) in started {
        if code == SUCCESS && wait(&mut request) {
            // SAFETY: the list lives for ever, and the library has written it.
            count(comm, unsafe { &*minima });
        }
    }
}

fn int(length: usize) -> c_int {
    c_int::try_from(length).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Digests, UNKNOWN, differing};
    use crate::task::Element;

    #[test]
    fn ranks_with_other_results_are_found() {
        let ranks: [Digests; 3] = Default::default();
        for (rank, digests) in ranks.iter().enumerate() {
            digests.lock().digests = vec![0; super::DIGESTS];
            let result = |call: u64| {
                let is_other = call == 2 && rank == 1;
                f64::from(u8::from(is_other)).to_ne_bytes()
            };
            digests.end(1, Element::F64, &f64::NAN.to_ne_bytes());
            digests.end(2, Element::F64, &result(2));
            // One rank has no result yet.
            if rank == 2 {
                digests.lock().open.push(3);
            } else {
                digests.end(3, Element::F64, &result(3));
            }
        }
        let lists = ranks.map(|digests| digests.list());
        let minima: Vec<u64> = (0..lists[0].len())
            .map(|place| {
                lists
                    .iter()
                    .map(|list| list[place])
                    .min()
                    .unwrap_or(UNKNOWN)
            })
            .collect();
        assert_eq!(differing(&minima), 1);
        assert_eq!(differing(&[UNKNOWN; 4]), 0);
    }
}
