//! Handles of sends and receives under way, and the table in which a transport keeps these operations.

/// A send or a receive under way. It belongs to the communicator that made it.
///
/// Pass it to [`Communicator::wait`](crate::Communicator::wait) or [`Communicator::cancel`](crate::Communicator::cancel). A
/// request that is merely dropped stays posted. The communicator owns the buffer, which is not freed while the transport uses it.
#[derive(Debug)]
#[must_use = "a request that is neither waited for nor cancelled stays posted"]
pub struct Request(RequestId);

/// Names a [`Request`] without owning it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    slot: usize,
    generation: u64,
}

impl Request {
    /// The request's name, for [`Communicator::wait_any`](crate::Communicator::wait_any).
    pub fn id(&self) -> RequestId {
        self.0
    }
}

/// A transport's operations under way, by [`RequestId`]. The table owns an operation and its buffer, even if the [`Request`] is dropped.
///
/// Slots are reused. Each has a generation, which distinguishes stale requests from live requests.
#[derive(Debug)]
pub struct Requests<T> {
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
    /// Allocates memory for this number of operations.
    pub fn reserve(&mut self, count: usize) {
        self.slots.reserve(count.saturating_sub(self.slots.len()));
        self.free.reserve(count.saturating_sub(self.free.len()));
    }

    /// Stores `operation` and returns its handle.
    pub fn insert(&mut self, operation: T) -> Request {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push((0, None));
            self.slots.len() - 1
        });
        let (generation, stored) = &mut self.slots[slot];
        *stored = Some(operation);
        Request(RequestId {
            slot,
            generation: *generation,
        })
    }

    /// The operation of a live request.
    ///
    /// # Panics
    /// The request is not in this table: a bug in the caller.
    pub fn get_mut(&mut self, request: RequestId) -> &mut T {
        self.find(request)
            .expect("a request is used with the communicator that made it")
    }

    /// The operation of a request; `None` if the operation has ended.
    pub fn find(&mut self, request: RequestId) -> Option<&mut T> {
        self.slots
            .get_mut(request.slot)
            .filter(|(generation, _)| *generation == request.generation)
            .and_then(|(_, operation)| operation.as_mut())
    }

    /// Removes an operation and returns it.
    ///
    /// # Panics
    /// The request is not in this table: a bug in the caller.
    pub fn remove(&mut self, request: Request) -> T {
        let Request(RequestId { slot, generation }) = request;
        let (current, stored) = &mut self.slots[slot];
        let operation = stored.take().filter(|_| *current == generation);
        *current += 1;
        self.free.push(slot);
        operation.expect("a request is used with the communicator that made it")
    }

    /// All operations in the table.
    #[cfg(feature = "mpi")]
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots
            .iter_mut()
            .filter_map(|(_, operation)| operation.as_mut())
    }

    /// Removes all operations and returns them.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        let slots = self.slots.iter_mut();
        slots.filter_map(|(_, operation)| operation.take())
    }
}
