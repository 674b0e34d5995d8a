//! Finds the next functions: the functions that the program would call if this library were not loaded.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use comm::text::printable;
use treefold::mpi::mpi_library::{Comm, Library};

use crate::boundary::library::loaded::{Communicator, Mpi};
use crate::boundary::library::said::say;

/// The function that the dynamic linker would have found without this library, under the same name: another tool's or the MPI library's.
#[derive(Debug)]
pub(crate) struct Next {
    /// The function's name, and the name of the MPI library's own function (PMPI_).
    names: [&'static CStr; 2],
    address: AtomicPtr<c_void>,
    is_told: AtomicBool,
}

/// The error code of calls if no known MPI library is found. MPI_SUCCESS is 0 in every library, so 1 is an error.
const UNKNOWN_CODE: c_int = 1;

impl Next {
    pub(crate) const fn new(name: &'static CStr, own_name: &'static CStr) -> Self {
        Self {
            names: [name, own_name],
            address: AtomicPtr::new(ptr::null_mut()),
            is_told: AtomicBool::new(false),
        }
    }

    /// The function's address, looked up once; NULL if this process has no such function.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let address = self.address.load(Ordering::Relaxed);
        if address.is_null() {
            self.find()
        } else {
            address
        }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let after_this = |name: &CStr| {
            // SAFETY: the name ends with a null character. This library is in the linker's list.
            let address = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
            ptr::NonNull::new(address)
        };
        let names = || self.names.iter().copied();
        // A program may have loaded its MPI library with RTLD_LOCAL. Then the linker's list lacks this library, whose functions are found
        // only by its handle. The Fortran functions are in a separate file.
        let of_library = |name| match Mpi::find() {
            Some(mpi) if self.is_of_c() => mpi.library.function(name),
            // Searches all loaded files, except this library, for the name.
            _ => Library::any_function(name, name.as_ptr().cast()),
        };
        let found = names().find_map(after_this);
        let found = found.or_else(|| names().find_map(of_library));
        let address = found.map_or(ptr::null_mut(), ptr::NonNull::as_ptr);
        self.address.store(address, Ordering::Relaxed);
        address
    }

    /// Whether this is a C function: the names of C functions mix capitals and small letters; the names of Fortran functions do not.
    fn is_of_c(&self) -> bool {
        let name = self.names[0].to_bytes();
        name.iter().any(u8::is_ascii_lowercase) && name.iter().any(u8::is_ascii_uppercase)
    }

    /// The error code of a call to a function that this process lacks: MPI_ERR_UNSUPPORTED_OPERATION. The code is first passed to the error
    /// handler of the call's communicator, if there is one. The first call prints the names of the function and the library.
    #[cold]
    pub(crate) fn code(&self, comm: &dyn Fn(&Mpi) -> Option<Comm>) -> c_int {
        let name = self.names[0].to_string_lossy();
        let mpi = Mpi::find();
        if !self.is_told.swap(true, Ordering::Relaxed) {
            let library = mpi.map_or_else(
                || "no MPI library of this process has this function".to_owned(),
                |mpi| {
                    let choice = mpi.library.choice();
                    let path = choice.path.to_string_lossy();
                    format!("{} ({}) lacks it", printable(&path), choice.version)
                },
            );
            say(&format!(
                "treefold-pmpi: the program calls {name}, but {library}\n"
            ));
        }
        let Some(mpi) = mpi else {
            return UNKNOWN_CODE;
        };
        let code = mpi.library.constants.MPI_ERR_UNSUPPORTED_OPERATION;
        if mpi.can_be_called()
            && let Some(comm) = comm(mpi).filter(|&comm| !mpi.is_null(comm))
        {
            Communicator(comm).call_error_handler(code);
        }
        code
    }
}

/// The next function with this name, or else the MPI library's own: `the_next!("MPI_Scan", "PMPI_Scan")`.
macro_rules! the_next {
    ($name:expr, $own:expr) => {{
        static NEXT: $crate::boundary::library::next::Next =
            $crate::boundary::library::next::Next::new(
                $crate::boundary::library::next::name(concat!($name, "\0")),
                $crate::boundary::library::next::name(concat!($own, "\0")),
            );
        &NEXT
    }};
}

/// Converts the address to a function of this type, which must be the real type. `Err` with the `Next` if this process lacks the function.
macro_rules! typed {
    ($next:expr; $type:ty) => {{
        let next: &'static $crate::boundary::library::next::Next = $next;
        let address = next.address();
        if address.is_null() {
            Err(next)
        } else {
            // SAFETY: the function with this name has this type by the MPI standard or, in Fortran, by the library's convention. A handle
            // is passed as a word; a function that expects an int uses only half of the word (see crate `mpi_library`).
            Ok(unsafe { ::std::mem::transmute::<*mut ::std::ffi::c_void, $type>(address) })
        }
    }};
}

/// The next C function with this name, or else the MPI library's own, as a function of this type: `next!("MPI_Wtime"; fn() -> f64)`.
macro_rules! next {
    ($name:expr; $type:ty) => {
        $crate::boundary::library::next::typed!(
            $crate::boundary::library::next::the_next!($name, concat!("P", $name));
            $type
        )
    };
}

pub(crate) use {next, the_next, typed};

/// Defines an exported function in C, from its name, its parameters and an expression for its error code. In this expression, `library`
/// calls the next function with this name, passing the program's arguments, and `next` looks up that function. The last expression is the
/// error code if this process lacks the function.
macro_rules! export_c {
    ($name:ident $parameters:tt, |$library:ident| $code:expr) => {
        $crate::boundary::library::next::export_c!(
            stringify!($name), $parameters, |_next, $library| $code, |missing| missing.code(&|_| None)
        );
    };
    (
        $name:expr, ($($parameter:ident: $type:ty),+ $(,)?),
        |$next:ident, $library:ident| $code:expr, |$missing:ident| $instead:expr
    ) => {
        #[cfg_attr(test, allow(dead_code, reason = "tests export nothing"))]
        const _: () = {
            /// # Safety
            /// As the MPI standard requires.
            #[cfg_attr(not(test), unsafe(export_name = $name))]
            #[allow(clippy::too_many_arguments, reason = "MPI's")]
            unsafe extern "C-unwind" fn exported($($parameter: $type),+) -> ::std::ffi::c_int {
                let $next = move || {
                    $crate::boundary::library::next::next!(
                        $name;
                        unsafe extern "C-unwind" fn($($type),+) -> ::std::ffi::c_int
                    )
                };
                let $library = move || match $next() {
                    // SAFETY: the program makes this call.
                    Ok(next) => unsafe { next($($parameter),+) },
                    Err($missing) => $instead,
                };
                $code
            }
        };
    };
}

pub(crate) use export_c;

/// Defines an exported function in Fortran, from its name in small letters and in capitals, its parameters, which are all addresses, and an
/// expression for its error code, as in C. The last expression is the communicator whose error handler is called if this process lacks the
/// function.
///
/// The function has five names, which share one body: four that compilers use for `mpif.h` and `use mpi`, and the name in `mpi_f08`. In
/// `mpi_f08`, the address of the error code is NULL if the program omits this argument.
macro_rules! export_fortran {
    ($small:expr, $capitals:expr, $parameters:tt, |$library:ident| $code:expr) => {
        $crate::boundary::library::next::export_fortran!(
            $small, $capitals, $parameters, |_next, $library| $code, |_| None
        );
    };
    (
        $small:expr, $capitals:expr, $parameters:tt, |$next:ident, $library:ident| $code:expr, $comm:expr
    ) => {
        #[cfg_attr(test, allow(dead_code, reason = "tests export nothing"))]
        const _: () = {
            use $crate::boundary::library::next::export_fortran;
            export_fortran!(@body $parameters, $next, $library, $code, $comm);
            export_fortran!(@name underscore, concat!($small, "_"), $parameters);
            export_fortran!(@name underscores, concat!($small, "__"), $parameters);
            export_fortran!(@name small, $small, $parameters);
            export_fortran!(@name capitals, $capitals, $parameters);
            export_fortran!(@name f08, concat!($small, "_f08_"), $parameters);
        };
    };
    (@body ($($parameter:ident),* $(,)?), $next:ident, $library:ident, $code:expr, $comm:expr) => {
        /// # Safety
        /// As the MPI standard requires.
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        unsafe fn body(
            next: &'static $crate::boundary::library::next::Next,
            $($parameter: *mut ::std::ffi::c_int,)*
            ierr: *mut ::std::ffi::c_int,
        ) {
            let $next = move || {
                $crate::boundary::library::next::typed!(
                    next;
                    unsafe extern "C-unwind" fn(
                        $($crate::boundary::library::next::address!($parameter),)*
                        *mut ::std::ffi::c_int,
                    )
                )
            };
            let $library = move || match $next() {
                Ok(next) => {
                    let mut code = $crate::boundary::library::loaded::SUCCESS;
                    // SAFETY: the program makes this call; only the address of the error code differs.
                    unsafe { next($($parameter,)* &raw mut code) };
                    code
                }
                Err(missing) => missing.code(&$comm),
            };
            let code = $code;
            // SAFETY: the address points to an INTEGER, or is NULL.
            unsafe { $crate::boundary::library::fortran::leave(ierr, code) };
        }
    };
    (@name $function:ident, $name:expr, ($($parameter:ident),* $(,)?)) => {
        /// # Safety
        /// As the MPI standard requires.
        #[cfg_attr(not(test), unsafe(export_name = $name))]
        #[allow(clippy::too_many_arguments, reason = "MPI's")]
        unsafe extern "C-unwind" fn $function(
            $($parameter: *mut ::std::ffi::c_int,)*
            ierr: *mut ::std::ffi::c_int,
        ) {
            let next = $crate::boundary::library::next::the_next!($name, concat!("p", $name));
            // SAFETY: the callee requires what MPI requires of the caller.
            unsafe { body(next, $($parameter,)* ierr) };
        }
    };
}

pub(crate) use export_fortran;

/// The type of a Fortran parameter.
macro_rules! address {
    ($parameter:ident) => {
        *mut ::std::ffi::c_int
    };
}

pub(crate) use address;

/// Converts a text, which must end with its only null character, to a name.
pub(crate) const fn name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => panic!("a name must have one null character, at its end"),
    }
}
