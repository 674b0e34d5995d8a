//! Two ranks; the other one sends arbitrary bytes.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use comm::{Communicator, Error, Request, RequestId, Requests, Tag, Traffic};

/// Rank 0 of two. Every message from rank 1 has the requested length, and consists of the next given bytes. When these are used up, rank 1
/// has left.
#[derive(Debug)]
pub(crate) struct Foreign {
    said: Vec<u8>,
    position: Cell<usize>,
    messages: RefCell<Requests<Option<Vec<u8>>>>,
    traffic: Cell<Traffic>,
}

impl Foreign {
    pub(crate) fn new(said: Vec<u8>) -> Self {
        Self {
            said,
            position: Cell::new(0),
            messages: RefCell::default(),
            traffic: Cell::default(),
        }
    }

    fn gone() -> Error {
        Error::Left {
            rank: 1,
            awaited_by: 0,
        }
    }
}

impl Communicator for Foreign {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        2
    }

    fn start_send(
        &self,
        _to: usize,
        _tag: Tag,
        message: Vec<u8>,
        _capacity_bytes: usize,
    ) -> Result<Request, Error> {
        Traffic::count(&self.traffic, &message);
        Ok(self.messages.borrow_mut().insert(Some(message)))
    }

    fn start_receive(
        &self,
        _from: usize,
        _tag: Tag,
        mut buffer: Vec<u8>,
    ) -> Result<Request, Error> {
        let begin = self.position.get();
        let said = self.said.get(begin..begin + buffer.len());
        self.position.set(begin + buffer.len());
        let message = said.map(|said| {
            buffer.copy_from_slice(said);
            buffer
        });
        Ok(self.messages.borrow_mut().insert(message))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        let mut messages = self.messages.borrow_mut();
        match messages.get_mut(request.id()) {
            Some(_) => Ok(true),
            None => Err(Self::gone()),
        }
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let message = self.messages.borrow_mut().remove(request);
        message.ok_or_else(Self::gone)
    }

    fn wait_any(&self, requests: &[RequestId], _timeout: Option<Duration>) -> Result<bool, Error> {
        let mut messages = self.messages.borrow_mut();
        let mut is_there = |request| messages.get_mut(request).is_some();
        if requests.iter().any(|&request| is_there(request)) {
            Ok(true)
        } else {
            Err(Self::gone())
        }
    }

    fn cancel(&self, request: Request) {
        self.messages.borrow_mut().remove(request);
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}
