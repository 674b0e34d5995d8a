use cudarc::driver::DriverError;
use reduce::{FoldError, RunError};

/// Why there is no device, or no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CUDA's driver is not installed.
    #[error("no GPU: the driver of NVIDIA GPUs, libcuda.so.1, cannot be loaded")]
    NoDriver,
    /// There is no GPU of this number.
    #[error("no GPU {ordinal}: the driver knows {count}, counted from 0")]
    NoDevice {
        /// The requested number.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// The GPU is older than the kernels.
    #[error("GPU {ordinal} has compute capability {major}.{minor}, and 7.0 is the least")]
    TooOld {
        /// Its number.
        ordinal: usize,
        /// The first part of its capability.
        major: i32,
        /// The second part.
        minor: i32,
    },
    /// A pointer does not point to elements in this device's memory.
    #[error("items at {pointer:#x}: {reason}")]
    Pointer {
        /// The pointer.
        pointer: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The lengths of runs, or of the result, do not fit the items.
    #[error("{0}")]
    Lengths(String),
    /// The driver reports an error.
    #[error("CUDA, {call}: {source}")]
    Driver {
        /// The call.
        call: &'static str,
        /// Its error.
        source: DriverError,
    },
    /// The values are not whole rows, or the result is not as long as one.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A run of a plan failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Names the call in an error of the driver.
pub(crate) trait During<T> {
    fn during(self, call: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Driver { call, source })
    }
}
