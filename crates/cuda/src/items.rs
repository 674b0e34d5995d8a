//! Describes items in a device's memory, and owns such memory.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr};
use exact_sum::Float;
use reduce::{Operator, Sum};

use crate::driver;
use crate::error::{During, Error};

/// A type of items: `f32` or `f64`.
pub trait Element: Float + Pod + DeviceRepr + sealed::Sealed
where
    Sum: Operator<Self>,
{
}

impl Element for f32 {}
impl Element for f64 {}

pub(crate) mod sealed {
    /// What the kernels need to know about a type.
    pub trait Sealed {
        /// The suffix of the kernels' names.
        const SUFFIX: &str;
        /// The index of the kernels among the device's kernels.
        const INDEX: usize;
        /// The number of limbs of an exact sum. The limbs precede the counters.
        const LIMBS: usize;
    }

    impl Sealed for f32 {
        const SUFFIX: &str = "f32";
        const INDEX: usize = 0;
        const LIMBS: usize = 12;
    }

    impl Sealed for f64 {
        const SUFFIX: &str = "f64";
        const INDEX: usize = 1;
        const LIMBS: usize = 69;
    }
}

/// Contiguous items in the memory of a device: a pointer and a length.
#[derive(Clone, Copy)]
pub struct Items<'d, T> {
    pub(crate) pointer: u64,
    pub(crate) length: usize,
    memory: PhantomData<&'d [T]>,
}

impl<T> Items<'_, T> {
    pub(crate) fn new(pointer: u64, length: usize) -> Self {
        Self {
            pointer,
            length,
            memory: PhantomData,
        }
    }

    /// The address of the first item on the device.
    #[must_use]
    pub fn as_ptr(self) -> u64 {
        self.pointer
    }

    /// The number of items.
    #[must_use]
    pub fn len(self) -> usize {
        self.length
    }

    /// Whether there are no items.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.length == 0
    }
}

impl<T> fmt::Debug for Items<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("pointer", &format_args!("{:#x}", self.pointer))
            .field("length", &self.length)
            .finish()
    }
}

/// Memory of a device. Dropping this value frees the memory.
#[derive(Debug)]
pub struct Buffer<T> {
    /// `None` only while the buffer is being dropped.
    memory: Option<CudaSlice<T>>,
    stream: Arc<CudaStream>,
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        // The memory is freed in its context, which need not be current on this thread.
        let _bound = driver::bind(self.stream.context());
        self.memory = None;
    }
}

impl<T: DeviceRepr> Buffer<T> {
    pub(crate) fn copy_of(stream: &Arc<CudaStream>, items: &[T]) -> Result<Self, Error>
    where
        T: Clone,
    {
        let memory = match items {
            // The driver does not allocate zero bytes.
            [] => stream.null(),
            items => stream.clone_htod(items),
        }
        .during("copying to the device")?;
        Ok(Self {
            memory: Some(memory),
            stream: Arc::clone(stream),
        })
    }

    #[expect(unsafe_code, reason = "the memory is not initialised")]
    pub(crate) fn with_room(stream: &Arc<CudaStream>, length: usize) -> Result<Self, Error> {
        // SAFETY: T is a number, so any bits are a value; kernels write before they read.
        let memory = unsafe { stream.alloc::<T>(length) }.during("allocating device memory")?;
        Ok(Self {
            memory: Some(memory),
            stream: Arc::clone(stream),
        })
    }

    fn memory(&self) -> &CudaSlice<T> {
        self.memory.as_ref().expect("the buffer is not dropped yet")
    }

    pub(crate) fn len(&self) -> usize {
        self.memory().len()
    }

    pub(crate) fn pointer(&self) -> u64 {
        self.memory().device_ptr(&self.stream).0
    }

    pub(crate) fn copy_to(&self, host: &mut [T]) -> Result<(), Error> {
        let view = self.memory().slice(..host.len());
        self.stream
            .memcpy_dtoh(&view, host)
            .during("copying from the device")
    }
}

impl<T: DeviceRepr> Buffer<T> {
    /// The items.
    #[must_use]
    pub fn items(&self) -> Items<'_, T> {
        Items::new(self.pointer(), self.len())
    }
}
