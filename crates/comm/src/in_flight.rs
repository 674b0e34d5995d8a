//! Who else is under way on a communicator.
//!
//! A reduction in several rounds moves only while its rank looks after it. A rank that waits for one of
//! several must look after all of them, or two ranks that wait in different orders wait for ever; so whatever is
//! in flight is entered here, and whoever waits drives the whole list.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use crate::communicator::{Communicator, RequestId};

/// Something in flight that goes on when messages come.
pub trait Progress {
    /// Goes on as far as it can without waiting. Errors are kept until its owner asks.
    fn progress(&self, comm: &dyn Communicator);

    /// Adds what it waits for.
    fn awaited(&self, requests: &mut Vec<RequestId>);
}

/// What is in flight on one rank of a communicator.
#[derive(Default)]
pub struct InFlight {
    running: RefCell<Vec<Rc<dyn Progress>>>,
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InFlight({})", self.running.borrow().len())
    }
}

impl InFlight {
    /// Whether there is nothing, or this alone.
    pub fn is_only(&self, one: *const ()) -> bool {
        let is_it = |running: &Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() == one;
        self.running.borrow().iter().all(is_it)
    }

    /// Adds one.
    pub fn enter(&self, running: Rc<dyn Progress>) {
        self.running.borrow_mut().push(running);
    }

    /// Removes one; it need not be there.
    pub fn leave(&self, left: *const ()) {
        let is_other = |running: &Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() != left;
        self.running.borrow_mut().retain(is_other);
    }

    /// Lets all go on as far as they can.
    pub fn progress(&self, comm: &dyn Communicator) {
        for running in self.running.borrow().iter() {
            running.progress(comm);
        }
    }

    /// Adds what all wait for.
    pub fn awaited(&self, requests: &mut Vec<RequestId>) {
        for running in self.running.borrow().iter() {
            running.awaited(requests);
        }
    }
}
