//! Asks whether the process has loaded CUDA's driver, what the driver knows about a pointer, and which context is current.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use cudarc::driver::sys::{self, CUmemorytype, CUpointer_attribute};
use cudarc::driver::{CudaContext, DriverError, result};

use crate::error::{During, Error};

/// Whether the process is known to have loaded the driver, which is never unloaded.
static IS_LOADED: AtomicBool = AtomicBool::new(false);

/// The number of reasons to check whether a pointer points to GPU memory: one if the driver has been seen, and one for each [`Lookout`].
static REASONS: AtomicUsize = AtomicUsize::new(0);

/// Whether the driver has been seen, or some [`Lookout`] still has to look for it. If false, no array is in GPU memory. The call costs one
/// load.
#[inline]
#[must_use]
pub fn may_have_arrays() -> bool {
    REASONS.load(Ordering::Relaxed) != 0
}

/// Whether the process is known to have loaded the driver.
#[inline]
#[must_use]
pub fn is_driver_seen() -> bool {
    IS_LOADED.load(Ordering::Relaxed)
}

/// Stands for a caller that still has to look for the driver.
#[derive(Debug)]
pub struct Lookout(());

impl Lookout {
    /// Makes [`may_have_arrays`] true until the value is dropped.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a default value would not say that creating it has an effect"
    )]
    pub fn new() -> Self {
        REASONS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }

    /// Checks whether the process has loaded the driver. Loads nothing, and takes a few microseconds.
    pub fn look(self) {
        if !is_driver_seen() && is_object_loaded(b"libcuda.so") {
            set_seen();
        }
    }
}

impl Drop for Lookout {
    fn drop(&mut self) {
        REASONS.fetch_sub(1, Ordering::Relaxed);
    }
}

fn set_seen() {
    if !IS_LOADED.swap(true, Ordering::Relaxed) {
        REASONS.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of the GPU whose memory a pointer points to; `None` for all other memory, and if the driver was not seen. Managed memory counts as GPU
/// memory.
#[must_use]
pub fn device_of(pointer: *const c_void) -> Option<usize> {
    let pointer = pointer.addr() as u64;
    if !is_driver_seen() || pointer == 0 {
        return None;
    }
    // Until the program initialises the driver, this call returns an error, and there is no GPU memory yet.
    let kind = CUpointer_attribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
    let kind = attribute::<u32>(kind, pointer).ok()?;
    if kind == CUmemorytype::CU_MEMORYTYPE_DEVICE as u32 {
        owner_of(pointer).ok()
    } else {
        None
    }
}

/// Checks that there is a driver, because `cudarc` panics if it needs a driver and there is none.
#[expect(unsafe_code, reason = "asks whether a library can be loaded")]
pub(crate) fn check() -> Result<(), Error> {
    // SAFETY: loading the driver runs its initialisers, as in any program that uses a GPU.
    if is_driver_seen() || unsafe { sys::is_culib_present() } {
        set_seen();
        Ok(())
    } else {
        Err(Error::NoDriver)
    }
}

/// The number of the GPU that owns the memory at a pointer. The driver must be initialised.
pub(crate) fn owner_of(pointer: u64) -> Result<usize, Error> {
    let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    let ordinal = attribute::<i32>(asked, pointer).ok();
    let ordinal = ordinal.and_then(|ordinal| usize::try_from(ordinal).ok());
    ordinal.ok_or_else(|| Error::Pointer {
        pointer,
        reason: "the driver does not know this memory".to_owned(),
    })
}

/// Whether memory belongs to this context, as far as the driver knows.
pub(crate) fn is_of_context(pointer: u64, context: sys::CUcontext) -> bool {
    let asked = CUpointer_attribute::CU_POINTER_ATTRIBUTE_CONTEXT;
    match attribute::<usize>(asked, pointer) {
        Ok(found) => found == 0 || found == context.addr(),
        // Memory of a pool belongs to no context.
        Err(_) => true,
    }
}

/// Asks the driver for an attribute of a pointer.
#[expect(unsafe_code, reason = "the driver writes a number")]
fn attribute<N: Number>(asked: CUpointer_attribute, pointer: u64) -> Result<N, DriverError> {
    let mut found = N::default();
    let into = (&raw mut found).cast::<c_void>();
    // SAFETY: for the attributes that are requested here, the driver writes a number of this size, whatever the pointer is, or returns an error.
    unsafe { sys::cuPointerGetAttribute(into, asked, pointer) }.result()?;
    Ok(found)
}

/// The type of an attribute's value.
trait Number: Default {}
impl Number for u32 {}
impl Number for i32 {}
impl Number for usize {}

/// Remembers the context that the program had chosen for this thread. When dropped, makes that context current again.
pub(crate) struct Kept {
    /// `None` if the context did not change.
    context: Option<sys::CUcontext>,
    /// Keeps this value on its thread, because the current context belongs to the thread.
    thread: PhantomData<*const ()>,
}

impl Kept {
    /// Remembers the current context, or that there is none. The driver must be loaded.
    pub(crate) fn current() -> Result<Self, Error> {
        Self::unless(ptr::null_mut())
    }

    /// Remembers the current context unless it is `own`.
    fn unless(own: sys::CUcontext) -> Result<Self, Error> {
        let context = result::ctx::get_current().during("asking for the context")?;
        let context = context.unwrap_or(ptr::null_mut());
        Ok(Self {
            context: (own.is_null() || context != own).then_some(context),
            thread: PhantomData,
        })
    }
}

/// Makes a context current for this thread's calls, until the result is dropped.
pub(crate) fn bind(context: &CudaContext) -> Result<Kept, Error> {
    let kept = Kept::unless(context.cu_ctx())?;
    context.bind_to_thread().during("choosing the device")?;
    Ok(kept)
}

#[expect(unsafe_code, reason = "a context of the program")]
impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(context) = self.context {
            // SAFETY: the context was current on this thread a moment ago, or is NULL, which stands for no context. An error can occur only
            // when the program is ending.
            let _ = unsafe { result::ctx::set_current(context) };
        }
    }
}

/// Whether the process has loaded an object whose file name begins with `name`.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the dynamic linker's list of objects")]
fn is_object_loaded(name: &'static [u8]) -> bool {
    unsafe extern "C" fn is_it(
        info: *mut libc::dl_phdr_info,
        _bytes: usize,
        name: *mut c_void,
    ) -> c_int {
        // SAFETY: the linker passes a pointer to an object's description.
        let path = unsafe { (*info).dlpi_name };
        if path.is_null() {
            return 0;
        }
        // SAFETY: the object's name is a C string, and lives during this call because the object does.
        let path = unsafe { CStr::from_ptr(path) }.to_bytes();
        // SAFETY: the pointer is the address of `name` in the enclosing function.
        let name = unsafe { *name.cast::<&'static [u8]>() };
        let file = path.rsplit(|&byte| byte == b'/').next();
        c_int::from(file.is_some_and(|file| file.starts_with(name)))
    }
    let mut name = name;
    // SAFETY: `is_it` has the required signature, and gets the address of `name`. It neither loads nor unloads anything.
    let found = unsafe { libc::dl_iterate_phdr(Some(is_it), (&raw mut name).cast()) };
    found != 0
}

/// Returns false, since other systems have no NVIDIA GPUs, or no list of loaded objects.
#[cfg(not(target_os = "linux"))]
fn is_object_loaded(_name: &'static [u8]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::{Lookout, device_of, is_driver_seen, is_object_loaded, may_have_arrays};

    #[test]
    #[cfg(target_os = "linux")]
    fn loaded_objects_are_found_by_their_names() {
        assert!(is_object_loaded(b"libc."));
        assert!(!is_object_loaded(b"libnowhere."));
    }

    #[test]
    fn somebody_is_still_to_look() {
        let lookout = Lookout::new();
        assert!(may_have_arrays());
        lookout.look();
        // No test here loads the driver.
        assert!(!may_have_arrays() && !is_driver_seen());
        let item = 1.0_f64;
        assert_eq!(device_of((&raw const item).cast()), None);
    }
}
