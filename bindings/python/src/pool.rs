//! How many threads take part in a reduction. No bit depends on it.

use std::mem;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use treefold::environment;

use crate::error::raised;

/// The most threads.
const MOST: usize = 1024;

/// Reductions of fewer elements are done by one thread: `treefold::par` divides no less.
pub(crate) const DIVIDED_ELEMENTS: usize = 1 << 17;

/// The number that was asked for, and the threads, if they have been needed.
#[derive(Debug)]
struct Threads {
    count: usize,
    /// They belong to the process that started them: a child of it has none of them.
    pool: Option<(u32, Arc<ThreadPool>)>,
}

static THREADS: Mutex<Threads> = Mutex::new(Threads {
    count: 1,
    pool: None,
});

/// Who does the work.
#[derive(Debug)]
pub(crate) struct Workers(Option<Arc<ThreadPool>>);

impl Workers {
    /// Those for a reduction of so many elements.
    ///
    /// # Errors
    /// The caller's thread does not compute as IEEE 754 does by default: the threads of a pool are checked by themselves.
    pub(crate) fn of(elements: usize) -> PyResult<Self> {
        environment::check().map_err(|error| raised(error.into()))?;
        if elements <= DIVIDED_ELEMENTS {
            return Ok(Self(None));
        }
        let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.count == 1 {
            return Ok(Self(None));
        }
        let process = process::id();
        if let Some((owner, pool)) = &threads.pool
            && *owner == process
        {
            return Ok(Self(Some(Arc::clone(pool))));
        }
        let builder = ThreadPoolBuilder::new().num_threads(threads.count);
        let built = builder
            .thread_name(|number| format!("treefold {number}"))
            .build();
        let failed = |error| PyRuntimeError::new_err(format!("threads: {error}"));
        let pool = Arc::new(built.map_err(failed)?);
        let before = threads.pool.replace((process, Arc::clone(&pool)));
        if let Some(before) = before {
            forget_if_foreign(before);
        }
        Ok(Self(Some(pool)))
    }

    /// The pool of threads that work together, unless the caller's thread works alone.
    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        self.0.as_deref()
    }
}

/// Lets go of a pool. One of the process that this one was forked from has no threads here that could be ended.
fn forget_if_foreign((owner, pool): (u32, Arc<ThreadPool>)) {
    if owner != process::id() {
        mem::forget(pool);
    }
}

/// Sets how many threads take part in a reduction, and returns the number before.
#[pyfunction]
#[pyo3(signature = (n=None, /))]
pub(crate) fn threads(n: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let count = match n {
        None => None,
        Some(n) => {
            let count = n.extract::<usize>().ok();
            let count = count.filter(|count| (1..=MOST).contains(count));
            let message = || PyValueError::new_err(format!("n: {n} is not from 1 to {MOST}"));
            Some(count.ok_or_else(message)?)
        }
    };
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = threads.count;
    if let Some(count) = count.filter(|&count| count != before) {
        let ended = mem::replace(&mut *threads, Threads { count, pool: None });
        if let Some(ended) = ended.pool {
            forget_if_foreign(ended);
        }
    }
    Ok(before)
}
