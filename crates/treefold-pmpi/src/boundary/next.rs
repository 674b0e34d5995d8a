//! The functions that this library stands before.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A function of the same name that the dynamic linker would have found without this library: another tool's or the MPI library's.
#[derive(Debug)]
pub(super) struct Next {
    /// Its name, and that of the MPI library's own.
    names: [&'static CStr; 2],
    address: AtomicPtr<c_void>,
}

impl Next {
    pub(super) const fn new(name: &'static CStr, own_name: &'static CStr) -> Self {
        Self {
            names: [name, own_name],
            address: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// Its address, which is looked for once.
    #[inline]
    pub(super) fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        match address.is_null() {
            false => address,
            true => self.find(),
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        for name in self.names {
            // SAFETY: the name ends with a null character. This library is in the linker's list, so there is a next one.
            let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            if !address.is_null() {
                self.address.store(address, Ordering::Relaxed);
                return address;
            }
        }
        eprintln!(
            "treefold-pmpi: no MPI library of this program has {}",
            self.names[0].to_string_lossy()
        );
        std::process::abort();
    }
}

/// The next function of a name, or else that of the library's own: `next!("MPI_Scan", "PMPI_Scan"; fn(c_int) -> c_int)`. The type must be
/// theirs.
macro_rules! next {
    ($name:expr, $own:expr; $type:ty) => {{
        static NEXT: $crate::boundary::next::Next = $crate::boundary::next::Next::new(
            $crate::boundary::next::name(concat!($name, "\0")),
            $crate::boundary::next::name(concat!($own, "\0")),
        );
        // SAFETY: the function of this name has this type by MPI's standard, or for Fortran by the library's convention.
        unsafe { ::std::mem::transmute::<*mut ::std::ffi::c_void, $type>(NEXT.address()) }
    }};
}

pub(super) use next;

/// A name that ends with a null character.
pub(super) const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name has one null character, at its end"),
    }
}
