//! The table behind [`Request`]: every backend keeps what is under way here, so that a buffer
//! outlives its handle.

use crate::communicator::Request;

/// Slots that are used again, each with a generation that tells a stale handle from a live one.
#[derive(Debug)]
pub(crate) struct Requests<T> {
    slots: Vec<(u64, Option<T>)>,
    free: Vec<usize>,
}

impl<T> Default for Requests<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<T> Requests<T> {
    /// Makes room for so many operations at once.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.slots.reserve(count.saturating_sub(self.slots.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
    }

    /// Stores `operation` and returns its handle.
    pub(crate) fn insert(&mut self, operation: T) -> Request {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() - 1
        });
        let (generation, stored) = &mut self.slots[slot];
        *stored = Some(operation);
        Request {
            slot,
            generation: *generation,
        }
    }

    /// The operation of a live handle.
    ///
    /// # Panics
    /// The handle is another communicator's: a bug of the caller.
    pub(crate) fn get_mut(&mut self, request: &Request) -> &mut T {
        self.find(request)
            .expect("a request is used with the communicator that made it")
    }

    /// The operation of a handle; `None` if it is over.
    pub(crate) fn find(&mut self, request: &Request) -> Option<&mut T> {
        self.slots
            .get_mut(request.slot)
            .filter(|(generation, _)| *generation == request.generation)
            .and_then(|(_, operation)| operation.as_mut())
    }

    /// Takes the operation out and frees its slot.
    ///
    /// # Panics
    /// The handle is another communicator's: a bug of the caller.
    pub(crate) fn remove(&mut self, request: Request) -> T {
        let (generation, stored) = &mut self.slots[request.slot];
        assert_eq!(
            *generation, request.generation,
            "a request is used with the communicator that made it"
        );
        let operation = stored
            .take()
            .expect("a request is used with the communicator that made it");
        *generation += 1;
        self.free.push(request.slot);
        operation
    }

    /// Every operation that is still in the table.
    #[cfg(feature = "mpi")]
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.slots
            .iter_mut()
            .filter_map(|(_, operation)| operation.take())
    }
}
