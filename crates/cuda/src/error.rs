use cudarc::driver::DriverError;
use reduce::{FoldError, RunError};

/// Why there is no device, or no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// CUDA's driver is not installed.
    #[error("no GPU: libcuda.so.1, the driver of NVIDIA GPUs, could not be loaded")]
    NoDriver,
    /// There is no GPU with this number.
    #[error("there is no GPU {ordinal}: GPUs are counted from 0, and there are {count}")]
    NoDevice {
        /// The requested number.
        ordinal: usize,
        /// The number of GPUs.
        count: usize,
    },
    /// The GPU is too old for the kernels.
    #[error("GPU {ordinal} has compute capability {major}.{minor}, but at least 7.0 is needed")]
    TooOld {
        /// The GPU's number.
        ordinal: usize,
        /// The major number of its compute capability.
        major: i32,
        /// The minor number of its compute capability.
        minor: i32,
    },
    /// A pointer does not point to elements in this device's memory.
    #[error("items at {pointer:#x}: {reason}")]
    Pointer {
        /// The pointer.
        pointer: u64,
        /// What is wrong with the pointer.
        reason: String,
    },
    /// The lengths of runs, or of the result, do not fit the items.
    #[error("{0}")]
    Lengths(String),
    /// The driver reports an error.
    #[error("CUDA failed while {call}: {source}")]
    Driver {
        /// The purpose of the call.
        call: &'static str,
        /// The driver's error.
        source: DriverError,
    },
    /// The values are not whole rows, or the result is not as long as a row.
    #[error(transparent)]
    Fold(#[from] FoldError),
    /// A run of a plan failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Adds the purpose of the call to an error of the driver.
pub(crate) trait During<T> {
    fn during(self, call: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, call: &'static str) -> Result<T, Error> {
        self.map_err(|source| Error::Driver { call, source })
    }
}
