//! Host copies of arrays in GPU memory.

use std::ffi::c_void;

use treefold::Operation;
use treefold::cuda::{Device, device_of};
use treefold_c::failure::{Code, Failure};

use crate::boundary::arrays::{Input, Output};
use crate::gpu::Floats;
use crate::plan::Shaped;
use crate::plan::device::{OnDevice, of_cuda};

fn device(ordinal: usize) -> Result<&'static Device, Failure> {
    Device::shared(ordinal).map_err(|error| of_cuda(&error))
}

/// A host copy of an array on a GPU, aligned for every type.
struct Copied {
    words: Vec<u64>,
    /// The number of bytes of the array.
    count: usize,
    /// The GPU, and the address of the program's array there.
    device: &'static Device,
    pointer: u64,
}

impl Copied {
    /// A buffer for a program's array of `count` bytes.
    fn room(ordinal: usize, pointer: *const c_void, count: usize) -> Result<Self, Failure> {
        let mut words = Vec::new();
        let length = count.div_ceil(size_of::<u64>());
        let room = words.try_reserve_exact(length);
        room.map_err(|_| {
            let message = format!("there is no memory for {count} bytes of an array on a GPU");
            Failure::new(Code::Memory, message)
        })?;
        words.resize(length, 0);
        Ok(Self {
            words,
            count,
            device: device(ordinal)?,
            pointer: pointer.addr() as u64,
        })
    }

    /// Makes a buffer with a copy of the program's array.
    ///
    /// # Safety
    /// The program's array has `count` bytes.
    unsafe fn of(ordinal: usize, pointer: *const c_void, count: usize) -> Result<Self, Failure> {
        let mut copied = Self::room(ordinal, pointer, count)?;
        // SAFETY: the caller promises what the callee requires.
        unsafe { copied.read() }?;
        Ok(copied)
    }

    /// Copies the program's array to the buffer.
    ///
    /// # Safety
    /// The program's array has as many bytes as the buffer.
    unsafe fn read(&mut self) -> Result<(), Failure> {
        if self.count == 0 {
            return Ok(());
        }
        let into = &mut bytemuck::cast_slice_mut(&mut self.words)[..self.count];
        // SAFETY: the caller promises that the array has this number of bytes.
        let read = unsafe { self.device.copy_from(self.pointer, into) };
        read.map_err(|error| of_cuda(&error))
    }

    /// Copies the buffer to the program's array.
    ///
    /// # Safety
    /// Only this call uses the program's array.
    unsafe fn write_back(&self) -> Result<(), Failure> {
        if self.count == 0 {
            return Ok(());
        }
        let bytes = &bytemuck::cast_slice(&self.words)[..self.count];
        // SAFETY: the array has the same number of bytes, and the caller promises that only this call uses it.
        let written = unsafe { self.device.copy_into(bytes, self.pointer) };
        written.map_err(|error| of_cuda(&error))
    }

    fn start(&mut self) -> *mut c_void {
        self.words.as_mut_ptr().cast()
    }
}

/// An input array: the program's own in host memory, or a copy of an array on a GPU.
pub(super) struct Source {
    array: Input,
    copied: Option<Copied>,
}

impl Source {
    /// # Safety
    /// The array has n elements of `element_bytes` bytes.
    pub(super) unsafe fn of(array: Input, element_bytes: usize) -> Result<Self, Failure> {
        let (pointer, n) = array;
        // SAFETY: the caller promises that the arrays have these lengths.
        let read = |ordinal| unsafe { Copied::of(ordinal, pointer, n * element_bytes) };
        let copied = device_of(pointer).map(read).transpose()?;
        Ok(Self { array, copied })
    }

    pub(super) fn input(&mut self) -> Input {
        let (pointer, n) = self.array;
        let copied = self.copied.as_mut();
        (
            copied.map_or(pointer, |copied| copied.start().cast_const()),
            n,
        )
    }
}

/// An output array: the program's own in host memory, or a buffer for an array on a GPU.
pub(super) struct Target {
    array: Output,
    room: Option<Copied>,
}

impl Target {
    /// An output array of m elements of `element_bytes` bytes.
    pub(super) fn of(array: Output, element_bytes: usize) -> Result<Self, Failure> {
        let (pointer, m) = array;
        let room = |ordinal| Copied::room(ordinal, pointer, m * element_bytes);
        let room = device_of(pointer).map(room).transpose()?;
        Ok(Self { array, room })
    }

    pub(super) fn output(&mut self) -> Output {
        let (pointer, m) = self.array;
        (self.room.as_mut().map_or(pointer, Copied::start), m)
    }

    /// Copies the array on the GPU to the buffer.
    ///
    /// # Safety
    /// The array has m elements.
    pub(super) unsafe fn fill(&mut self) -> Result<(), Failure> {
        match &mut self.room {
            // SAFETY: the caller promises what the callee requires.
            Some(room) => unsafe { room.read() },
            None => Ok(()),
        }
    }

    /// Copies the buffer to the program's array, if there is a buffer and this rank gets a result.
    ///
    /// # Safety
    /// Only this call uses the array.
    pub(super) unsafe fn deliver(&self, is_mine: bool) -> Result<(), Failure> {
        match &self.room {
            // SAFETY: the caller promises what the callee requires.
            Some(room) if is_mine => unsafe { room.write_back() },
            _ => Ok(()),
        }
    }
}

/// This rank's items, if the GPU that holds them can fold them for the plan.
///
/// # Safety
/// The array has n elements, which no thread writes or frees during the call.
pub(super) unsafe fn folded(
    plan: &Shaped,
    operation: Operation,
    (pointer, n): Input,
) -> Result<Option<OnDevice>, Failure> {
    let ordinal = device_of(pointer);
    let (Some(ordinal), Some(floats)) = (ordinal, plan.folded_floats(operation, n)) else {
        return Ok(None);
    };
    let (device, bytes) = (device(ordinal)?, n * plan.items.bytes);
    let pointer = pointer.addr() as u64;
    let items = match floats {
        Floats::F32 => {
            // SAFETY: the caller promises that there are n elements, each of which consists of one or two of these floats.
            let items = unsafe { device.items(pointer, bytes / size_of::<f32>()) };
            items.map(|items| OnDevice::F32(device, items))
        }
        Floats::F64 => {
            // SAFETY: as above.
            let items = unsafe { device.items(pointer, bytes / size_of::<f64>()) };
            items.map(|items| OnDevice::F64(device, items))
        }
    };
    items.map(Some).map_err(|error| of_cuda(&error))
}
