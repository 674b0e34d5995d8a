//! Detects buffers in GPU memory, which this library cannot read, by asking the drivers that the program has loaded.

use std::ffi::{CStr, c_int, c_uint, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// For each driver, the names under which programs load its library, and the name of its function that describes a pointer.
const CUDA: (&[&CStr], &CStr) = (&[c"libcuda.so.1"], c"cuPointerGetAttribute");
const HIP: (&[&CStr], &CStr) = (
    &[
        c"libamdhip64.so.7",
        c"libamdhip64.so.6",
        c"libamdhip64.so.5",
        c"libamdhip64.so",
    ],
    c"hipPointerGetAttributes",
);

static CUDA_FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static HIP_FUNCTION: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
static HAS_DRIVER: AtomicBool = AtomicBool::new(false);

/// The number of calls of [`look`]. After the first [`LOOKS_EACH`] calls, only every `LOOKS_EACH`-th call searches.
static LOOKS: AtomicU32 = AtomicU32::new(0);
const LOOKS_EACH: u32 = 64;

/// The number of library loads at the last search for drivers.
static LOADS_SEEN: AtomicU64 = AtomicU64::new(0);

/// Values of `CUpointer_attribute`, which query where a pointer's memory is and whether the CPU can also read it.
const MEMORY_TYPE: c_int = 2;
const IS_MANAGED: c_int = 8;

/// The value of `CUmemorytype` for GPU memory.
const DEVICE: c_uint = 2;

/// `CUresult cuPointerGetAttribute(void *data, CUpointer_attribute, CUdeviceptr)`.
type CudaAttribute = unsafe extern "C" fn(*mut c_void, c_int, usize) -> c_int;

/// `hipError_t hipPointerGetAttributes(hipPointerAttribute_t *, const void *)`.
type HipAttributes = unsafe extern "C" fn(*mut Hip, *const c_void) -> c_int;

/// `hipPointerAttribute_t`, with more room than any version of this struct needs. The meaning of `kind` changed with HIP 6.
#[repr(C)]
#[derive(Default)]
struct Hip {
    kind: c_int,
    device: c_int,
    device_address: usize,
    host_address: usize,
    is_managed: c_int,
    others: [c_int; 11],
}

/// Whether a search has found a driver.
#[inline]
pub(crate) fn has_driver() -> bool {
    HAS_DRIVER.load(Ordering::Acquire)
}

/// Searches for drivers if the process has loaded libraries since the last search. Most calls do nothing.
pub(crate) fn look() {
    if has_driver() {
        return;
    }
    let looks = LOOKS.load(Ordering::Relaxed);
    // An increment by another thread may be lost, which is harmless.
    LOOKS.store(looks.wrapping_add(1), Ordering::Relaxed);
    if looks >= LOOKS_EACH && !looks.is_multiple_of(LOOKS_EACH) {
        return;
    }
    // Looking up a library that is not loaded is slow: the loader searches for its file.
    let loads = loads();
    if LOADS_SEEN.swap(loads, Ordering::Relaxed) != loads {
        let cuda = find(CUDA, &CUDA_FUNCTION);
        if find(HIP, &HIP_FUNCTION) || cuda {
            HAS_DRIVER.store(true, Ordering::Release);
        }
    }
}

/// The number of libraries that this process has ever loaded.
fn loads() -> u64 {
    unsafe extern "C" fn read(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        loads: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description of an object.
        let adds = unsafe { (*info).dlpi_adds };
        // SAFETY: the loader passes on the address of `loads`, which outlives the calls.
        unsafe { loads.cast::<u64>().write(adds) };
        1
    }
    let mut loads = 0_u64;
    // SAFETY: the function has the type that the loader calls, and uses only the two addresses that it gets.
    unsafe { libc::dl_iterate_phdr(Some(read), (&raw mut loads).cast()) };
    loads
}

/// Stores the address of a driver's function, if the program has loaded the driver. Returns whether the function was found.
#[cold]
fn find((libraries, function): (&[&CStr], &CStr), place: &AtomicPtr<c_void>) -> bool {
    for library in libraries {
        // SAFETY: the name ends with a null character; RTLD_NOLOAD loads nothing.
        let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOLOAD | libc::RTLD_LAZY) };
        if handle.is_null() {
            continue;
        }
        // SAFETY: the handle belongs to a loaded library; the name ends with a null character.
        let address = unsafe { libc::dlsym(handle, function.as_ptr()) };
        if !address.is_null() {
            place.store(address, Ordering::Release);
            return true;
        }
    }
    false
}

/// Whether an address is in GPU memory that the CPU cannot read.
pub(crate) fn has(address: *const c_void) -> bool {
    has_driver() && !address.is_null() && (is_of_cuda(address) || is_of_hip(address))
}

#[cold]
fn is_of_cuda(address: *const c_void) -> bool {
    let function = CUDA_FUNCTION.load(Ordering::Acquire);
    if function.is_null() {
        return false;
    }
    // SAFETY: CUDA's function of this name has this type.
    let ask = unsafe { mem::transmute::<*mut c_void, CudaAttribute>(function) };
    let (mut kind, mut is_managed): (c_uint, c_uint) = (0, 0);
    // SAFETY: any address may be queried; the attribute is an int.
    let code = unsafe { ask((&raw mut kind).cast(), MEMORY_TYPE, address.addr()) };
    if code != 0 || kind != DEVICE {
        return false;
    }
    // SAFETY: as above.
    let code = unsafe { ask((&raw mut is_managed).cast(), IS_MANAGED, address.addr()) };
    // The driver writes either one byte of the flag or all four.
    code != 0 || is_managed & 0xff == 0
}

#[cold]
fn is_of_hip(address: *const c_void) -> bool {
    let function = HIP_FUNCTION.load(Ordering::Acquire);
    if function.is_null() {
        return false;
    }
    // SAFETY: HIP's function of this name has this type.
    let ask = unsafe { mem::transmute::<*mut c_void, HipAttributes>(function) };
    let mut found = Hip::default();
    // SAFETY: any address may be queried, and there is room for the answer.
    let code = unsafe { ask(&raw mut found, address) };
    code == 0 && found.device_address != 0 && found.host_address == 0 && found.is_managed == 0
}
