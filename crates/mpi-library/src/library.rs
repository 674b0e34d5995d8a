//! The table of a library's functions.

#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::mem;
use std::ptr::NonNull;

use crate::choice::{Choice, Names, Options, Reason};
use crate::constants::{Constants, MAX_LIBRARY_VERSION_STRING};
use crate::error::Error;
use crate::family::Family;
use crate::functions::{Functions, Signature};
use crate::handle::{Comm, Datatype, Handle, Op, Passed, Request};
use crate::launcher::Launcher;
use crate::object::Object;
use crate::predefined::Handles;
use crate::search;
use crate::text::one_line;

/// The functions, handles and constants of one MPI library. Methods with MPI's names are MPI's functions.
pub struct Library {
    pub(crate) functions: Functions,
    /// The constants of the library's family.
    pub constants: &'static Constants,
    /// The handles of predefined objects.
    pub handles: Handles,
    family: Family,
    names: Names,
    version: String,
    choice: Choice,
    object: Object,
}

impl fmt::Debug for Library {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Library");
        shown.field("choice", &self.choice);
        shown.field("names", &self.names).finish_non_exhaustive()
    }
}

impl Library {
    /// Finds the library, and fills a table, which is never freed: choose once, and keep the result. MPI need not be initialised, and this
    /// call does not initialise it.
    ///
    /// # Errors
    /// There is no library, or the named file is not an MPI library; the library's family is unknown, or differs from the launcher's; or
    /// the library lacks a function that every MPI library has.
    pub fn choose(options: &Options<'_>) -> Result<&'static Self, Error> {
        let launcher = if options.heeds_launcher {
            Launcher::of_process()
        } else {
            None
        };
        let (object, reason) = search::find(options, launcher)?;
        let path = object.path().to_owned();
        let lacks = |name| Error::Lacks {
            path: path.clone(),
            name,
        };
        let version = version_of(&object).ok_or_else(|| lacks("MPI_Get_library_version"))?;
        let shown = first_words(&version);
        let family = family_of(&object, &version).ok_or_else(|| Error::UnknownFamily {
            path: path.clone(),
            version: shown.clone(),
        })?;
        let is_opened = !matches!(reason, Reason::Caller | Reason::Loaded);
        if is_opened
            && let Some(launcher) = launcher
            && !launcher.starts(family)
        {
            return Err(Error::OtherLauncher {
                path,
                family,
                launcher,
            });
        }
        let find = |[mpi, pmpi]: [&'static CStr; 2]| match options.names {
            Names::Mpi => object.function_as_called(mpi),
            Names::Pmpi => object.function(pmpi),
        };
        // SAFETY: the object defines PMPI_Init, so it is an MPI library, or leads to one. MPI reserves these names for its functions (MPI
        // 4.1, 2.6); a tool's functions of these names replace the library's, so they have the same parameters (15.2).
        let functions = unsafe { Functions::fill(find) }.map_err(lacks)?;
        let handles = Handles::of(family, &object).map_err(lacks)?;
        let choice = Choice {
            path,
            family,
            version: shown,
            reason,
        };
        Ok(Box::leak(Box::new(Self {
            functions,
            constants: family.constants(),
            handles,
            family,
            names: options.names,
            version,
            choice,
            object,
        })))
    }

    /// The library that was chosen, and why.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// The library's family.
    #[inline]
    pub fn family(&self) -> Family {
        self.family
    }

    /// The names by which the library's functions are called.
    #[inline]
    pub fn names(&self) -> Names {
        self.names
    }

    /// The library's version text, usually several lines.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Checks that an MPI function, as a program calls it, belongs to this library. If it does, so do the program's communicators.
    ///
    /// # Errors
    /// The function belongs to another library, or to none.
    pub fn check_function(&self, function: *const c_void) -> Result<(), Error> {
        let other = Object::of_address(function).ok_or(Error::NotMpiAddress)?;
        if other.is(&self.object) {
            Ok(())
        } else {
            Err(Error::OtherLibrary {
                other: other.path().to_owned(),
                choice: self.choice.clone(),
            })
        }
    }

    /// The address of the library's own function of this name, not a tool's.
    pub fn function(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.object.function(name)
    }

    /// The address of the first function of this name in all objects that this process has loaded, except the object that contains the
    /// address `except`. MPI libraries have Fortran's functions in separate files.
    pub fn any_function(name: &CStr, except: *const c_void) -> Option<NonNull<c_void>> {
        Object::any_function(name, except)
    }

    /// The address of the library's variable of this name, or of the copy that the linker has made in the program.
    pub fn variable(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.object.variable(name)
    }

    /// All addresses at which [`variable`](Self::variable) may be. There are several only if the library is visible only to the object that
    /// loaded it. That object, or another that was loaded with it, may then have a copy of the variable.
    pub fn variables(&self, name: &CStr) -> Vec<NonNull<c_void>> {
        self.object.variables(name)
    }

    /// The names and types of all functions.
    pub fn signatures() -> &'static [Signature] {
        Functions::SIGNATURES
    }

    /// `MPI_Comm_c2f`: the number that a communicator has in Fortran. `None` if the library has no such function.
    ///
    /// # Safety
    /// The communicator is live and belongs to this library, or is `MPI_COMM_NULL`.
    pub unsafe fn comm_to_fortran(&self, comm: Comm) -> Option<c_int> {
        let convert = [self.MPI_Comm_c2f(), self.MPI_Comm_toint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_handle(comm, convert) }
    }

    /// `MPI_Comm_f2c`: the communicator with this number in Fortran.
    ///
    /// # Safety
    /// MPI is initialised, and the number names a communicator in Fortran.
    pub unsafe fn comm_from_fortran(&self, number: c_int) -> Option<Comm> {
        let convert = [self.MPI_Comm_f2c(), self.MPI_Comm_fromint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_number(number, convert) }
    }

    /// `MPI_Type_f2c`: the datatype with this number in Fortran.
    ///
    /// # Safety
    /// MPI is initialised, and the number names a datatype in Fortran.
    pub unsafe fn type_from_fortran(&self, number: c_int) -> Option<Datatype> {
        let convert = [self.MPI_Type_f2c(), self.MPI_Type_fromint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_number(number, convert) }
    }

    /// `MPI_Op_f2c`: the operator with this number in Fortran.
    ///
    /// # Safety
    /// MPI is initialised, and the number names an operator in Fortran.
    pub unsafe fn op_from_fortran(&self, number: c_int) -> Option<Op> {
        let convert = [self.MPI_Op_f2c(), self.MPI_Op_fromint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_number(number, convert) }
    }

    /// `MPI_Request_f2c`: the request with this number in Fortran.
    ///
    /// # Safety
    /// MPI is initialised, and the number names a request in Fortran.
    pub unsafe fn request_from_fortran(&self, number: c_int) -> Option<Request> {
        let convert = [self.MPI_Request_f2c(), self.MPI_Request_fromint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_number(number, convert) }
    }

    /// `MPI_Request_c2f`: the number that a request has in Fortran. `None` if the library has no such function.
    ///
    /// # Safety
    /// The request is live and belongs to this library, or is `MPI_REQUEST_NULL`.
    pub unsafe fn request_to_fortran(&self, request: Request) -> Option<c_int> {
        let convert = [self.MPI_Request_c2f(), self.MPI_Request_toint()];
        // SAFETY: the caller promises what the callee requires.
        unsafe { self.convert_handle(request, convert) }
    }

    /// Converts a handle by Open MPI's function or by the standard ABI's; in the MPICH family, the handle is the number.
    ///
    /// # Safety
    /// The functions are those of Open MPI and of the standard ABI, and accept this handle.
    unsafe fn convert_handle<H: Handle>(
        &self,
        handle: H,
        [open_mpi, abi]: [Option<ToFortran<H>>; 2],
    ) -> Option<c_int> {
        let convert = match self.family {
            Family::Mpich => return Some(as_int(handle)),
            Family::OpenMpi => open_mpi,
            Family::Abi => abi,
        };
        // SAFETY: the caller promises that the function accepts this handle.
        convert.map(|convert| unsafe { convert(handle) })
    }

    /// Converts a number to a handle, like [`convert_handle`](Self::convert_handle) in reverse.
    ///
    /// # Safety
    /// The functions are those of Open MPI and of the standard ABI, and accept this number.
    unsafe fn convert_number<H: Handle>(
        &self,
        number: c_int,
        [open_mpi, abi]: [Option<FromFortran<H>>; 2],
    ) -> Option<H> {
        let convert = match self.family {
            // `mpi.h`: `#define MPI_Comm_f2c(comm) (MPI_Comm)(comm)`, and likewise for the other types.
            Family::Mpich => return Some(H::from_word(number.cast_unsigned() as usize)),
            Family::OpenMpi => open_mpi,
            Family::Abi => abi,
        };
        // SAFETY: the caller promises that the function accepts this number.
        convert.map(|convert| self.family.take(unsafe { convert(number) }))
    }
}

type ToFortran<H> = unsafe extern "C-unwind" fn(H) -> c_int;
type FromFortran<H> = unsafe extern "C-unwind" fn(c_int) -> Passed<H>;

/// The `int` that is a handle of the MPICH family.
#[expect(
    clippy::cast_possible_truncation,
    reason = "in the MPICH family, a handle has 32 bits"
)]
fn as_int<H: Handle>(handle: H) -> c_int {
    (handle.word() as u32).cast_signed()
}

/// The version text of a library.
fn version_of(object: &Object) -> Option<String> {
    let address = object.function(c"PMPI_Get_library_version")?;
    // SAFETY: every MPI library's function of this name has these parameters (MPI 4.1, 9.1.1); both types are addresses of one size.
    let get = unsafe {
        mem::transmute::<
            NonNull<c_void>,
            unsafe extern "C-unwind" fn(*mut c_char, *mut c_int) -> c_int,
        >(address)
    };
    let mut text = vec![0_u8; MAX_LIBRARY_VERSION_STRING + 1];
    let mut length = 0;
    // SAFETY: the function may be called before MPI is initialised. The text has more room than any library needs
    // (MPI_MAX_LIBRARY_VERSION_STRING); `length` is a live int.
    unsafe { get(text.as_mut_ptr().cast(), &raw mut length) };
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default();
    Some(text.to_string_lossy().into_owned())
}

/// The first line of a version text up to its first comma: the library's name and a number.
fn first_words(version: &str) -> String {
    let line = version.lines().next().unwrap_or_default();
    let name = line.split(',').next().unwrap_or_default();
    let words: Vec<&str> = name.split_whitespace().collect();
    one_line(&words.join(" "))
}

/// The family of a library, by its functions and its version text; never by the name of its file.
fn family_of(object: &Object, version: &str) -> Option<Family> {
    if is_standard_abi(object) {
        return Some(Family::Abi);
    }
    if object.has(c"ompi_mpi_comm_world") {
        return Some(Family::OpenMpi);
    }
    is_of_mpich(version).then_some(Family::Mpich)
}

/// Whether the library has the standard ABI. Libraries with another ABI return the version -1.
fn is_standard_abi(object: &Object) -> bool {
    let Some(address) = object.function(c"PMPI_Abi_get_version") else {
        return false;
    };
    // SAFETY: a function of this name has these parameters (MPI 5.0, chapter 20); both types are addresses of one size.
    let get = unsafe {
        mem::transmute::<
            NonNull<c_void>,
            unsafe extern "C-unwind" fn(*mut c_int, *mut c_int) -> c_int,
        >(address)
    };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: the function may be called before MPI is initialised (MPI 5.0, chapter 20), and writes two ints.
    unsafe { get(&raw mut major, &raw mut minor) };
    major >= 1
}

/// Whether a version text is that of a library of the MPICH ABI Compatibility Initiative.
fn is_of_mpich(version: &str) -> bool {
    let line = version.lines().next().unwrap_or_default();
    ["MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"]
        .iter()
        .any(|name| line.contains(name))
}

#[cfg(test)]
mod tests {
    use super::{first_words, is_of_mpich};

    #[test]
    fn versions() {
        for (version, words, is_mpich) in [
            (
                "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4",
                "Open MPI v4.1.4",
                false,
            ),
            (
                "MPICH Version:\t4.0.2\nMPICH Release date:\tThu Apr  7",
                "MPICH Version: 4.0.2",
                true,
            ),
            (
                "Intel(R) MPI Library 2021.16 for Linux* OS\n",
                "Intel(R) MPI Library 2021.16 for Linux* OS",
                true,
            ),
            (
                "MVAPICH Version      :\t4.0\n",
                "MVAPICH Version : 4.0",
                true,
            ),
            (
                "MPI VERSION    : CRAY MPICH version 8.1.25 (ANL base 3.4a2)\n",
                "MPI VERSION : CRAY MPICH version 8.1.25 (ANL base 3.4a2)",
                true,
            ),
            (
                "MPItrampoline 5.3.1, using MPIwrapper 2.10.4, wrapping:\nMPICH Version: 4.0",
                "MPItrampoline 5.3.1",
                false,
            ),
            ("", "", false),
        ] {
            assert_eq!(first_words(version), words);
            assert_eq!(is_of_mpich(version), is_mpich, "{version}");
        }
    }
}
