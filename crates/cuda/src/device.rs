//! Represents a device, with its context, its kernels and the memory that the kernels need.

use std::fmt;
use std::ptr::NonNull;
use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute};
use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, DriverError, result};
use cudarc::nvrtc::Ptx;
use reduce::{Operator, Sum};

use crate::driver::{self, Kept};
use crate::error::{During, Error};
use crate::items::{Buffer, Element, Items};

/// The kernels as PTX. `kernels.py` has compiled them, and the driver translates them for the GPU.
pub(crate) const KERNELS: &str = include_str!("kernels/kernels.ptx");

/// The threads of a block, as in `kernels.cu`.
pub(crate) const THREADS: u32 = 256;

/// Enough words for the limbs and counters of any exact sum.
const LIMBS: usize = 128;

/// Memory that a device keeps between calls. Calls on one device that need this memory wait for each other.
pub(crate) struct Scratch {
    /// Partial sums of any type, stored as words.
    pub(crate) partials: [Buffer<u64>; 2],
    /// How many blocks of the current launch have ended; 0 between launches.
    pub(crate) arrived: Buffer<u32>,
    /// The limbs and counters of the current exact sum; 0 between launches.
    pub(crate) limbs: Buffer<i64>,
    /// Results, which kernels write to the host's memory.
    pub(crate) results: Pinned,
}

/// The kernels for one type of items.
pub(crate) struct Kernels {
    pub(crate) sum_runs: CudaFunction,
    pub(crate) sum_row_runs: CudaFunction,
    pub(crate) exact_sum: CudaFunction,
    /// The number of blocks of `exact_sum` that run at the same time.
    pub(crate) exact_blocks: u64,
}

/// A GPU.
///
/// A device works in the GPU's primary context, as other libraries do, and on the context's default stream: items are read after all earlier work on
/// that stream, and on other streams that synchronise with it. A call returns when its result is complete. Threads may share a device.
pub struct Device {
    pub(crate) stream: Arc<CudaStream>,
    kernels: [Kernels; 2],
    pub(crate) scratch: Mutex<Scratch>,
    context: Arc<CudaContext>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("ordinal", &self.context.ordinal())
            .finish_non_exhaustive()
    }
}

impl Device {
    /// The GPU with this number, counted from 0 as in `CUDA_VISIBLE_DEVICES`.
    ///
    /// The first use on a machine translates the kernels for the GPU, which takes a second. The driver caches the result.
    ///
    /// # Errors
    /// There is no driver or no such GPU, the GPU is older than Volta, or the driver fails.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        driver::check()?;
        let count = match result::init().and_then(|()| CudaContext::device_count()) {
            Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) => 0,
            count => count.during("counting devices")?,
        };
        let count = usize::try_from(count).unwrap_or(0);
        if ordinal >= count {
            return Err(Error::NoDevice { ordinal, count });
        }
        let _kept = Kept::current()?;
        let context = CudaContext::new(ordinal).during("opening the device")?;
        let (major, minor) = context
            .compute_capability()
            .during("asking for the compute capability")?;
        if major < 7 {
            return Err(Error::TooOld {
                ordinal,
                major,
                minor,
            });
        }
        let count = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let multiprocessors = context
            .attribute(count)
            .during("counting multiprocessors")?;
        let module = context
            .load_module(Ptx::from_src(KERNELS))
            .during("loading the kernels")?;
        let stream = context.default_stream();
        let room = || Buffer::with_room(&stream, 1 << 14);
        let scratch = Scratch {
            partials: [room()?, room()?],
            arrived: Buffer::copy_of(&stream, &[0])?,
            limbs: Buffer::copy_of(&stream, &[0; LIMBS])?,
            results: Pinned::new(&context, 1 << 10)?,
        };
        Ok(Self {
            kernels: [
                kernels::<f32>(&module, multiprocessors)?,
                kernels::<f64>(&module, multiprocessors)?,
            ],
            scratch: Mutex::new(scratch),
            stream,
            context,
        })
    }

    /// Like [`new`](Device::new), but all callers of this function share one device for each GPU. These devices live as long as the
    /// process.
    ///
    /// # Errors
    /// Those of [`new`](Device::new).
    pub fn shared(ordinal: usize) -> Result<&'static Self, Error> {
        static DEVICES: Mutex<Vec<&'static Device>> = Mutex::new(Vec::new());
        let mut devices = DEVICES.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |device: &&&Self| device.context.ordinal() == ordinal;
        if let Some(device) = devices.iter().find(is_it) {
            return Ok(device);
        }
        let device: &'static Self = Box::leak(Box::new(Self::new(ordinal)?));
        devices.push(device);
        Ok(device)
    }

    /// The name of the GPU.
    ///
    /// # Errors
    /// The driver fails.
    pub fn name(&self) -> Result<String, Error> {
        self.context.name().during("asking for the name")
    }

    /// The device's stream, from which other libraries also get the context.
    #[must_use]
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// Copies items to this device's memory.
    ///
    /// # Errors
    /// There is not enough memory, or the driver fails.
    pub fn copy<T: Element>(&self, items: &[T]) -> Result<Buffer<T>, Error>
    where
        Sum: Operator<T>,
    {
        let _bound = self.bind()?;
        Buffer::copy_of(&self.stream, items)
    }

    /// Describes `length` items that another library has in this device's memory, or in managed memory, beginning at `pointer`.
    ///
    /// # Errors
    /// The pointer is not aligned for the items, or does not point to memory that this device can read.
    ///
    /// # Safety
    /// `pointer` must point to `length` items. Nothing may write or free the items while they are used as [`Items`].
    #[expect(unsafe_code, reason = "the caller owns the memory")]
    pub unsafe fn items<T: Element>(
        &self,
        pointer: u64,
        length: usize,
    ) -> Result<Items<'_, T>, Error>
    where
        Sum: Operator<T>,
    {
        let wrong = |reason: &str| Error::Pointer {
            pointer,
            reason: reason.to_owned(),
        };
        if length == 0 {
            return Ok(Items::new(pointer, 0));
        }
        if !pointer.is_multiple_of(size_of::<T>() as u64) {
            return Err(wrong("the pointer is not aligned for its type"));
        }
        let (ordinal, own) = (driver::owner_of(pointer)?, self.context.ordinal());
        if ordinal != own {
            return Err(wrong(&format!(
                "the memory belongs to GPU {ordinal}, but this is GPU {own}"
            )));
        }
        if !driver::is_of_context(pointer, self.context.cu_ctx()) {
            return Err(wrong(
                "the memory belongs to another context, but sums run in the GPU's primary context",
            ));
        }
        Ok(Items::new(pointer, length))
    }

    /// Fills `into` with bytes from this device's memory.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// At least `into.len()` bytes must be readable at `pointer`.
    #[expect(unsafe_code, reason = "a copy from a pointer")]
    pub unsafe fn copy_from(&self, pointer: u64, into: &mut [u8]) -> Result<(), Error> {
        let _bound = self.bind()?;
        // SAFETY: the caller guarantees that the bytes can be read.
        unsafe { result::memcpy_dtoh_async(into, pointer, self.stream.cu_stream()) }
            .during("copying from the device")?;
        self.wait()
    }

    /// Copies bytes to this device's memory.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// There must be room for the bytes at `pointer`, and nothing else may use this memory.
    #[expect(unsafe_code, reason = "a copy to a pointer")]
    pub unsafe fn copy_into(&self, bytes: &[u8], pointer: u64) -> Result<(), Error> {
        let _bound = self.bind()?;
        // SAFETY: the caller guarantees the room; this function waits until the device has copied `bytes`.
        unsafe { result::memcpy_htod_async(pointer, bytes, self.stream.cu_stream()) }
            .during("copying to the device")?;
        self.wait()
    }

    /// The number of the GPU whose memory a pointer points to.
    ///
    /// # Errors
    /// There is no driver, or the driver does not know the memory.
    pub fn ordinal_of(pointer: u64) -> Result<usize, Error> {
        driver::check()?;
        result::init().during("starting the driver")?;
        driver::owner_of(pointer)
    }

    /// Waits for all earlier work on another stream. The number 1 is the default stream, and 2 is this thread's default stream.
    ///
    /// # Errors
    /// The driver fails.
    ///
    /// # Safety
    /// `stream` must be the address of a stream of this device, or 1 or 2.
    #[expect(unsafe_code, reason = "a stream by its address")]
    pub unsafe fn wait_for_stream(&self, stream: usize) -> Result<(), Error> {
        let _bound = self.bind()?;
        // SAFETY: the caller promises that `stream` is a stream of this device, or 1 or 2.
        unsafe { result::stream::synchronize(stream as sys::CUstream) }
            .during("waiting for a stream")
    }

    pub(crate) fn kernels<T: Element>(&self) -> &Kernels
    where
        Sum: Operator<T>,
    {
        &self.kernels[T::INDEX]
    }

    /// Makes the device current for this thread's calls, until the result is dropped.
    pub(crate) fn bind(&self) -> Result<Kept, Error> {
        driver::bind(&self.context)
    }

    pub(crate) fn wait(&self) -> Result<(), Error> {
        self.stream.synchronize().during("waiting for the device")
    }

    pub(crate) fn with_scratch<R>(
        &self,
        task: impl FnOnce(&mut Scratch) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let _bound = self.bind()?;
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        task(&mut scratch)
    }
}

fn kernels<T: Element>(module: &Arc<CudaModule>, multiprocessors: i32) -> Result<Kernels, Error>
where
    Sum: Operator<T>,
{
    let kernel = |name: &str| {
        let name = format!("{name}_{}", T::SUFFIX);
        module.load_function(&name).during("finding a kernel")
    };
    let exact_sum = kernel("exact_sum")?;
    let blocks = exact_sum
        .occupancy_max_active_blocks_per_multiprocessor(THREADS, 0, None)
        .during("counting the blocks of a multiprocessor")?;
    Ok(Kernels {
        sum_runs: kernel("sum_runs")?,
        sum_row_runs: kernel("sum_row_runs")?,
        exact_sum,
        exact_blocks: u64::from(blocks.max(1)) * u64::from(multiprocessors.unsigned_abs()),
    })
}

impl Scratch {
    /// The address of a buffer for partial sums, with room for `words` words.
    pub(crate) fn partials(
        &mut self,
        which: usize,
        words: usize,
        stream: &Arc<CudaStream>,
    ) -> Result<u64, Error> {
        let buffer = &mut self.partials[which];
        if buffer.len() < words {
            *buffer = Buffer::with_room(stream, words.next_power_of_two())?;
        }
        Ok(buffer.pointer())
    }
}

/// Host memory, in 8-byte words, to which kernels write.
pub(crate) struct Pinned {
    memory: NonNull<u64>,
    words: usize,
    context: Arc<CudaContext>,
}

// SAFETY: only this value uses the memory.
#[expect(unsafe_code, reason = "a pointer that is owned")]
unsafe impl Send for Pinned {}

#[expect(unsafe_code, reason = "memory that the driver allocates")]
impl Pinned {
    fn new(context: &Arc<CudaContext>, words: usize) -> Result<Self, Error> {
        let bytes = words * size_of::<u64>();
        // SAFETY: the context is current on this thread, and any flags are allowed.
        let memory = unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_DEVICEMAP) }
            .during("allocating host memory")?;
        let memory = NonNull::new(memory.cast::<u64>()).expect("memory is not null");
        // SAFETY: the driver has allocated room for `words` words.
        unsafe { memory.write_bytes(0, words) };
        Ok(Self {
            memory,
            words,
            context: Arc::clone(context),
        })
    }

    /// Makes room for at least `words` words. The old contents may be lost.
    pub(crate) fn reserve(&mut self, words: usize) -> Result<(), Error> {
        if self.words < words {
            *self = Self::new(&self.context, words.next_power_of_two())?;
        }
        Ok(())
    }

    /// The memory's address for kernels. Addresses of pinned memory are the same on the host and on the device.
    pub(crate) fn pointer(&self) -> u64 {
        self.memory.as_ptr() as u64
    }

    /// The words. No work that writes to them may be in progress on the device.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: there are `self.words` words; `new` has written all of them, and callers have waited for the device.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.words) }
    }
}

#[expect(unsafe_code, reason = "memory that the driver allocated")]
impl Drop for Pinned {
    fn drop(&mut self) {
        let _bound = driver::bind(&self.context);
        // SAFETY: the memory came from `malloc_host`, and every call waits for its kernels. At the end of the process the driver may be gone; the
        // error then does not matter.
        let _ = unsafe { result::free_host(self.memory.as_ptr().cast()) };
    }
}
