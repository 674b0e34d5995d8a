//! The threads of reductions. Their number changes no bit.
//!
//! One lock guards the shared state. Only a thread that holds the GIL takes the lock, so that no other thread holds it when Python forks.

use std::env;
use std::mem;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, Thread};
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rayon::{ThreadPool, ThreadPoolBuilder};
use simd_kernels::Level;
use treefold::environment::{self, Subnormals};

use crate::error::raised;

/// The maximum number of threads.
const MOST: usize = 1024;

/// Reductions of up to this number of elements run on one thread, because `treefold::par` does not divide them.
pub(crate) const DIVIDED_ELEMENTS: usize = 1 << 17;

/// Threads end after being idle for this long, and are started again when needed.
const IDLE: Duration = Duration::from_secs(1);

/// The number of threads that was set, and the pool, if it has been started.
#[derive(Debug)]
struct Threads {
    count: usize,
    pool: Option<Pool>,
}

static THREADS: Mutex<Threads> = Mutex::new(Threads {
    count: 1,
    pool: None,
});

/// Threads that work together until they are idle.
#[derive(Debug)]
struct Pool {
    /// The process that started the threads; a forked child does not have them.
    owner: u32,
    threads: Weak<ThreadPool>,
    /// The number of times that the threads have been used.
    uses: Arc<AtomicU64>,
    /// The thread that ends the others when they are idle.
    keeper: Thread,
}

impl Pool {
    fn start(count: usize) -> PyResult<(Self, Arc<ThreadPool>)> {
        let builder = ThreadPoolBuilder::new().num_threads(count);
        let built = builder
            .thread_name(|number| format!("treefold {number}"))
            .build();
        let failed =
            |error: &dyn std::fmt::Display| PyRuntimeError::new_err(format!("threads: {error}"));
        let threads = Arc::new(built.map_err(|error| failed(&error))?);
        let uses = Arc::new(AtomicU64::new(0));
        let kept = (Arc::clone(&threads), Arc::clone(&uses));
        let keeper = thread::Builder::new().name("treefold keeper".to_owned());
        let keeper = keeper.spawn(move || keep(kept.0, &kept.1));
        let keeper = keeper.map_err(|error| failed(&error))?;
        let pool = Self {
            owner: process::id(),
            threads: Arc::downgrade(&threads),
            uses,
            keeper: keeper.thread().clone(),
        };
        Ok((pool, threads))
    }

    /// The threads, if they are still running in this process.
    fn threads(&self) -> Option<Arc<ThreadPool>> {
        if self.owner != process::id() {
            return None;
        }
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.threads.upgrade()
    }

    /// Lets the threads end when their work is done.
    fn end(self) {
        if self.owner == process::id() {
            self.uses.store(ENDED, Ordering::Relaxed);
            self.keeper.unpark();
        }
    }
}

/// The value of `uses` when the threads will not be used again.
const ENDED: u64 = u64::MAX;

/// Keeps the threads alive until they have been idle for [`IDLE`].
fn keep(threads: Arc<ThreadPool>, uses: &AtomicU64) {
    let mut seen = None;
    loop {
        let now = uses.load(Ordering::Relaxed);
        let in_use = Arc::strong_count(&threads) > 1;
        if now == ENDED || seen == Some(now) && !in_use {
            return;
        }
        seen = Some(now);
        thread::park_timeout(IDLE);
    }
}

/// The threads of a reduction. While this value lives, this thread and the pool's threads, which inherit its setting, do not flush subnormal
/// numbers to zero.
#[derive(Debug)]
pub(crate) struct Workers {
    pool: Option<Arc<ThreadPool>>,
    _subnormals: Subnormals,
}

impl Workers {
    /// Returns the threads for a reduction of `elements` elements, and stops the caller's thread from flushing subnormal numbers.
    ///
    /// # Errors
    /// The caller's thread does not round to nearest; a pool's threads are checked separately.
    pub(crate) fn of(elements: usize) -> PyResult<Self> {
        let subnormals = Subnormals::kept();
        environment::check().map_err(|error| raised(error.into()))?;
        Ok(Self {
            pool: pool_for(elements)?,
            _subnormals: subnormals,
        })
    }

    /// The pool of threads; `None` if the caller's thread works alone.
    pub(crate) fn pool(&self) -> Option<&ThreadPool> {
        self.pool.as_deref()
    }
}

fn pool_for(elements: usize) -> PyResult<Option<Arc<ThreadPool>>> {
    if elements <= DIVIDED_ELEMENTS {
        return Ok(None);
    }
    let mut threads = THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if threads.count == 1 {
        return Ok(None);
    }
    if let Some(pool) = threads.pool.as_ref().and_then(Pool::threads) {
        return Ok(Some(pool));
    }
    let (pool, started) = Pool::start(threads.count)?;
    threads.pool = Some(pool);
    Ok(Some(started))
}

/// Stops this thread from flushing subnormal numbers between `__enter__` and `__exit__`, while a call does arithmetic in Python.
#[pyclass(module = "treefold._native", name = "Subnormals")]
#[derive(Debug, Default)]
pub(crate) struct KeptInPython(Option<Subnormals>);

#[pymethods]
impl KeptInPython {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn __enter__(&mut self) {
        self.0 = Some(Subnormals::kept());
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&mut self, _error: &Bound<'_, PyTuple>) {
        self.0 = None;
    }
}

/// The name of the instruction set that kernels use.
#[pyfunction]
pub(crate) fn level() -> &'static str {
    Level::best().name()
}

/// The environment variable with the initial number of threads.
const THREADS_VARIABLE: &str = "TREEFOLD_THREADS";

/// Sets the number of threads from the environment variable, if it is set.
#[pyfunction]
pub(crate) fn threads_by_environment() -> PyResult<()> {
    let text = env::var_os(THREADS_VARIABLE).unwrap_or_default();
    if text.is_empty() {
        return Ok(());
    }
    let text = text.to_string_lossy();
    let count = text.parse::<usize>().ok();
    let count = count.filter(|count| (1..=MOST).contains(count));
    let message = || format!("{THREADS_VARIABLE}: '{text}' is not a number from 1 to {MOST}");
    let count = count.ok_or_else(|| PyValueError::new_err(message()))?;
    THREADS.lock().unwrap_or_else(PoisonError::into_inner).count = count;
    Ok(())
}

/// Sets the number of threads of a reduction, and returns the old number.
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
            ended.end();
        }
    }
    Ok(before)
}
