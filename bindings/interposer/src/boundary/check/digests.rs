//! Checks that the MPI library gives all ranks of a call the same bits, and that all ranks made the same call.
//!
//! For each communicator and call number, each rank keeps a digest of its result and a description of its call. Ranks compare these when
//! the communicator is freed or MPI_Finalize begins, since a call completes at different times on different ranks.

use std::ffi::c_int;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treefold::mpi::mpi_library::{Comm, Request};

use crate::boundary::library::loaded::{self, Communicator, SUCCESS, mpi};
use crate::statistics;
use crate::task::{Call, Element, Task};

/// The number of slots per communicator, which bounds the length of messages. If there are more calls than slots, calls share slots.
const SLOTS: usize = 512;

/// The neutral element of the minimum.
const UNKNOWN: u64 = u64::MAX;

#[derive(Debug, Default)]
pub(crate) struct Digests(Mutex<KeptDigests>);

#[derive(Debug, Default)]
struct KeptDigests {
    /// The number of calls so far.
    calls: u64,
    /// Calls that are not complete yet.
    open: Vec<u64>,
    places: Vec<Slot>,
}

/// The digests of the calls that share a slot.
#[derive(Clone, Debug, Default)]
struct Slot {
    /// The sum of the results' digests.
    digest: u64,
    /// The kinds of calls, as [`Task::asked`] gives them, and the number of calls of each kind.
    asked: Vec<(Task, u64)>,
}

/// The digests of all communicators on which the program has made calls.
static ALL: Mutex<Vec<(Comm, Arc<Digests>)>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<(Comm, Arc<Digests>)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn place(call: u64) -> usize {
    usize::try_from(call % SLOTS as u64).unwrap_or(0)
}

impl Slot {
    fn ask(&mut self, asked: Task) {
        match self.asked.iter_mut().find(|(kept, _)| *kept == asked) {
            Some((_, calls)) => *calls += 1,
            None => self.asked.push((asked, 1)),
        }
    }

    /// A digest of the kinds of calls and their numbers, which does not depend on the order of the calls.
    fn asked_digest(&self) -> u64 {
        let digests = self.asked.iter().map(|(asked, calls)| {
            let mut hasher = DefaultHasher::new();
            asked.hash(&mut hasher);
            hasher.finish().wrapping_mul(*calls)
        });
        digests.fold(0, u64::wrapping_add)
    }

    /// The calls as text.
    fn text(&self) -> String {
        let asked = self.asked.iter().map(|(asked, calls)| match calls {
            1 => asked.to_string(),
            _ => format!("{calls} times {asked}"),
        });
        let asked: Vec<_> = asked.collect();
        match &asked[..] {
            [] => "no reduction".to_owned(),
            _ => asked.join("; "),
        }
    }
}

impl Digests {
    fn lock(&self) -> MutexGuard<'_, KeptDigests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a call's arguments. Returns the call's number, which is the same on all ranks.
    pub(crate) fn ask(self: &Arc<Self>, comm: Comm, task: &Task) -> u64 {
        let mut inner = self.lock();
        if inner.calls == 0 {
            inner.places = vec![Slot::default(); SLOTS];
            all().push((comm, Arc::clone(self)));
        }
        inner.calls += 1;
        let call = inner.calls;
        inner.places[place(call)].ask(task.asked());
        call
    }

    /// Adds the arguments of a call that begins. Returns the call's number if all ranks get the same result.
    pub(crate) fn begin(self: &Arc<Self>, comm: Comm, task: &Task) -> Option<u64> {
        let call = self.ask(comm, task);
        if task.call != Call::Allreduce {
            return None;
        }
        self.lock().open.push(call);
        Some(call)
    }

    /// Removes a communicator that was freed.
    pub(crate) fn forget(self: &Arc<Self>) {
        all().retain(|(_, kept)| !Arc::ptr_eq(kept, self));
    }

    /// Adds the result of a call.
    pub(crate) fn end(&self, call: u64, element: Element, result: &[u8]) {
        let digest = element.digest(call, result);
        let mut inner = self.lock();
        inner.open.retain(|&open| open != call);
        let kept = &mut inner.places[place(call)].digest;
        *kept = kept.wrapping_add(digest);
    }

    /// The words whose minima over ranks are taken: both digests of each slot and their complements, which show the maxima of the digests.
    fn list(&self) -> Vec<u64> {
        let inner = self.lock();
        let lists = inner.places.iter().map(|place| {
            let asked = place.asked_digest();
            [place.digest, !place.digest, asked, !asked]
        });
        let mut lists: Vec<_> = lists.collect();
        for &open in &inner.open {
            lists[place(open)][..2].fill(UNKNOWN);
        }
        lists.concat()
    }
}

/// What the minima show for a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Alike,
    /// Ranks have different results for the same calls.
    OtherResults,
    /// Ranks made different calls.
    OtherCalls,
}

fn found(minima: &[u64]) -> impl Iterator<Item = Comparison> {
    minima.chunks_exact(4).map(|minima| {
        let (results, asked) = minima.split_at(2);
        if asked[0] != !asked[1] {
            Comparison::OtherCalls
        } else if results != [UNKNOWN; 2] && results[0] != !results[1] {
            Comparison::OtherResults
        } else {
            Comparison::Alike
        }
    })
}

/// Rank 0 counts the slots with different results. Each rank counts its own calls in the first slot where ranks made different calls.
fn count(comm: Comm, digests: &Digests, minima: &[u64]) {
    let mut own = statistics::own();
    if let Some(first) = found(minima).position(|found| found == Comparison::OtherCalls) {
        let text = digests.lock().places[first].text();
        own.count_mismatched(&text, loaded::world().rank(), 1);
    }
    if Communicator(comm).rank() == 0 {
        let differing = found(minima).filter(|found| *found == Comparison::OtherResults);
        own.disagreements = own.disagreements.saturating_add(differing.count() as u64);
    }
}

/// Compares the digests of a communicator that is being freed. Collective.
pub(crate) fn compare(comm: Comm) {
    let mut all = all();
    let Some(place) = all.iter().position(|(kept, _)| *kept == comm) else {
        return;
    };
    let (_, digests) = all.swap_remove(place);
    drop(all);
    let list = digests.list();
    let mut minima = vec![UNKNOWN; list.len()];
    let (length, handles) = (int(list.len()), &mpi().handles);
    // SAFETY: both lists have that many numbers of 64 bits; the program frees the communicator on all ranks.
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
        count(comm, &digests, &minima);
    }
}

/// Compares the remaining digests in MPI_Finalize, which all ranks call. `wait` waits for one request, or gives up.
pub(crate) fn compare_all(wait: impl Fn(&mut Request) -> bool) {
    let left = std::mem::take(&mut *all());
    // The buffers are leaked, since the library may use them after this function has given up.
    let started = left.into_iter().map(|(comm, digests)| {
        let list = digests.list().leak();
        let minima = vec![UNKNOWN; list.len()].leak();
        let mut request = Request::UNSET;
        let handles = &mpi().handles;
        // SAFETY: both lists have that many numbers of 64 bits, and live forever; ranks may start the reductions in any order, as each
        // reduction has its own communicator.
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
        (comm, digests, ptr::from_mut(minima), request, code)
    });
    let started: Vec<_> = started.collect();
    for (comm, digests, minima, mut request, code) in started {
        if code == SUCCESS && wait(&mut request) {
            // SAFETY: the list lives forever, and the library has written it.
            count(comm, &digests, unsafe { &*minima });
        }
    }
}

fn int(length: usize) -> c_int {
    c_int::try_from(length).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Digests, SLOTS, Slot, UNKNOWN, found};
    use crate::task::{Call, Element, Op, Task};

    fn asked(op: Op) -> Task {
        let task = Task::sum(Call::Allreduce, 1);
        Task { op, ..task }.asked()
    }

    fn begin(digests: &Digests, call: u64, op: Op) {
        let mut inner = digests.lock();
        inner.places.resize_with(SLOTS, Slot::default);
        inner.places[super::place(call)].ask(asked(op));
    }

    #[test]
    fn ranks_with_other_results_or_calls_are_found() {
        let ranks: [Digests; 3] = Default::default();
        for (rank, digests) in ranks.iter().enumerate() {
            let result = |call: u64| {
                let is_other = call == 2 && rank == 1;
                f64::from(u8::from(is_other)).to_ne_bytes()
            };
            let last = if rank == 2 { Op::Prod } else { Op::Sum };
            for (call, op) in [(1, Op::Sum), (2, Op::Sum), (3, Op::Sum), (4, last)] {
                begin(digests, call, op);
            }
            digests.end(1, Element::F64, &f64::NAN.to_ne_bytes());
            digests.end(2, Element::F64, &result(2));
            digests.end(4, Element::F64, &result(rank as u64));
            // One rank does not have its result yet.
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
        let places = found(&minima).take(5).collect::<Vec<_>>();
        assert_eq!(
            places,
            [
                Comparison::Alike,
                Comparison::Alike,
                Comparison::OtherResults,
                Comparison::Alike,
                Comparison::OtherCalls
            ]
        );
    }

    #[test]
    fn a_place_says_what_it_was_asked_for_in_any_order() {
        let mut places: [Slot; 2] = Default::default();
        assert_eq!(places[0].text(), "no reduction");
        places[0].ask(asked(Op::Sum));
        assert_eq!(places[0].text(), "MPI_Allreduce of 1 double, sum");
        for op in [Op::Prod, Op::Sum] {
            places[0].ask(asked(op));
        }
        for op in [Op::Sum, Op::Sum, Op::Prod] {
            places[1].ask(asked(op));
        }
        assert_eq!(
            places[0].text(),
            "2 times MPI_Allreduce of 1 double, sum; MPI_Allreduce of 1 double, prod"
        );
        assert_eq!(places[0].asked_digest(), places[1].asked_digest());
    }
}
