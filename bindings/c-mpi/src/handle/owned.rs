//! A cell whose object belongs to the thread that stored it.
//!
//! The table of such cells belongs to the process, not to the thread. To find a table in a thread-local variable, a shared library would
//! call the dynamic linker, and a short reduction that follows other work would wait for three more pages of memory.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A cell for an object of one thread. To other threads it looks empty.
pub(crate) struct Owned<O: ?Sized> {
    /// The [thread pointer](thread_pointer) of the object's thread; 0 if the cell is empty.
    thread: AtomicUsize,
    /// The object's handle. A handle that a program passes is valid if it is equal to this one.
    name: AtomicUsize,
    /// How often the cell was filled.
    uses: AtomicU64,
    /// `Some` only while `thread` is not 0.
    object: RefCell<Option<Rc<O>>>,
}

// SAFETY: only the thread whose pointer is in `thread` accesses `object`. `thread` is set from 0 by one atomic exchange, and reset to 0 only
// when `object` is empty and not borrowed. A cell with an object cannot move to another thread, because `fill` requires that it never moves.
// A thread empties its cells when it ends. If a cell stays filled nevertheless, because a destructor of the thread's pthread keys filled it,
// or because a fork did not copy the thread, then only a thread that began later can have the same pointer, so that accesses never overlap.
#[expect(unsafe_code, reason = "see above")]
unsafe impl<O: ?Sized> Sync for Owned<O> {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "see above")]
unsafe impl<O: ?Sized> Send for Owned<O> {}

impl<O: ?Sized> Default for Owned<O> {
    fn default() -> Self {
        Self {
            thread: AtomicUsize::new(0),
            name: AtomicUsize::new(0),
            uses: AtomicU64::new(0),
            object: RefCell::new(None),
        }
    }
}

impl<O: ?Sized> Owned<O> {
    /// Stores an object of this thread, and returns its handle, which `name` computes from the number of earlier uses. Returns `None` if
    /// the cell is not empty.
    pub(super) fn fill<H>(
        &'static self,
        object: Rc<O>,
        name: impl FnOnce(u64) -> *mut H,
    ) -> Option<*mut H> {
        let (empty, own) = (0, thread_pointer());
        let (taken, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let filled = self.thread.compare_exchange(empty, own, taken, failed);
        filled.ok()?;
        let handle = name(self.uses.fetch_add(1, Ordering::Relaxed));
        self.name.store(handle.addr(), Ordering::Relaxed);
        *self.object.borrow_mut() = Some(object);
        Some(handle)
    }

    /// Calls `body` with the object of `handle`. Returns `None` if this thread has stored no such object here.
    #[inline(always)]
    pub(super) fn look<H, R>(&self, handle: *const H, body: impl FnOnce(&Rc<O>) -> R) -> Option<R> {
        let is_there = self.thread.load(Ordering::Relaxed) == thread_pointer()
            && self.name.load(Ordering::Relaxed) == handle.addr();
        if !is_there {
            return None;
        }
        self.object.try_borrow().ok()?.as_ref().map(body)
    }

    /// Removes and returns the object of `handle`. Returns `None` if this thread stored no such object, or during a [`look`](Self::look).
    pub(super) fn empty<H>(&self, handle: *const H) -> Option<Rc<O>> {
        self.look(handle, |_| ())?;
        let object = self.object.try_borrow_mut().ok()?.take();
        self.thread.store(0, Ordering::Release);
        object
    }
}

/// A nonzero number that is unique among living threads.
#[inline(always)]
fn thread_pointer() -> usize {
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    {
        let pointer;
        // SAFETY: by the ABI, this word or register holds the thread pointer, which is constant for the life of a thread.
        #[expect(unsafe_code, reason = "see above")]
        unsafe {
            #[cfg(target_arch = "x86_64")]
            std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(pure, readonly, nostack, preserves_flags));
            #[cfg(target_arch = "aarch64")]
            std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(pure, nomem, nostack, preserves_flags));
        }
        pointer
    }
    #[cfg(not(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    )))]
    {
        thread_local! {
            static BYTE: u8 = const { 0 };
        }
        BYTE.with(|byte| std::ptr::from_ref(byte).addr())
    }
}
