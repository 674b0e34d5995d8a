//! Finds MPI libraries and their symbols among the shared objects of this process.

#![expect(unsafe_code, reason = "the dynamic linker has a C interface")]

use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{self, NonNull};

/// An object that defines this function is an MPI library. Tools define `MPI_Init`, but not this function, which they call.
const DEFINED: &CStr = c"PMPI_Init";

/// An MPI library: a shared object that defines MPI's functions, or the program, if it defines them.
#[derive(Debug)]
pub(crate) struct Object {
    /// The dynamic linker's handle, which is never closed.
    handle: NonNull<c_void>,
    path: PathBuf,
    /// The address of the object's `PMPI_Init`.
    defined: NonNull<c_void>,
    /// Whether the program's references to MPI are bound to this object, the first MPI library in the linker's global scope.
    is_global: bool,
}

// SAFETY: the handle is the dynamic linker's name for an object, and the other pointer is only compared; the linker's functions may be called
// by all threads (POSIX.1-2024, 2.9.1).
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

/// Why a file is not an MPI library.
#[derive(Debug)]
pub(crate) enum CannotOpen {
    /// The linker's message.
    Linker(String),
    NotMpi,
}

impl Object {
    /// Opens a file, or the library that the linker finds by this name, for the whole process and forever.
    pub(crate) fn open(path: &OsStr) -> Result<Self, CannotOpen> {
        let name = CString::new(path.as_bytes())
            .map_err(|_| CannotOpen::Linker("a name with a null character".to_owned()))?;
        let handle = open(Some(&name), libc::RTLD_NOW | libc::RTLD_GLOBAL);
        let handle = handle.ok_or_else(|| CannotOpen::Linker(error()))?;
        Self::beneath(handle).ok_or(CannotOpen::NotMpi)
    }

    /// The MPI library that the process has loaded, if any: the one that the program's references are bound to, or else the first one
    /// loaded. A layer that translates calls is loaded before the library to which it translates.
    pub(crate) fn loaded() -> Option<Self> {
        Self::of_program().or_else(|| {
            let names = loaded_names();
            names.iter().find_map(|name| Self::beneath(reopen(name)?))
        })
    }

    /// The MPI library behind a function that the program calls: the library's own function, or that of a tool that intercepts it.
    pub(crate) fn of_address(address: *const c_void) -> Option<Self> {
        let name = object_name(address)?;
        let own = reopen(name).and_then(Self::beneath);
        // The address may be that of a stub in the program, which leads to the library.
        own.or_else(Self::of_program)
    }

    /// The MPI library that the program's references are bound to.
    fn of_program() -> Option<Self> {
        Self::defining(find(libc::RTLD_DEFAULT, DEFINED)?)
    }

    /// The MPI library among the object with this handle and its dependencies.
    fn beneath(handle: NonNull<c_void>) -> Option<Self> {
        Self::defining(find(handle.as_ptr(), DEFINED)?)
    }

    fn defining(defined: NonNull<c_void>) -> Option<Self> {
        let name = object_name(defined.as_ptr())?;
        Some(Self {
            // The program is opened without a name.
            handle: reopen(name).or_else(|| open(None, libc::RTLD_NOW))?,
            path: Path::new(OsStr::from_bytes(name.to_bytes())).to_owned(),
            defined,
            is_global: find(libc::RTLD_DEFAULT, DEFINED) == Some(defined),
        })
    }

    /// The object's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether both are the same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.defined == other.defined
    }

    /// Whether the object has a symbol of this name.
    pub(crate) fn has(&self, name: &CStr) -> bool {
        self.function(name).is_some()
    }

    /// The address of the object's own function of this name.
    pub(crate) fn function(&self, name: &CStr) -> Option<NonNull<c_void>> {
        find(self.handle.as_ptr(), name)
    }

    /// The address of the function of this name that a program calls: a tool's, if a tool intercepts the library's.
    pub(crate) fn function_as_called(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let called = self
            .is_global
            .then(|| find(libc::RTLD_DEFAULT, name))
            .flatten();
        called.or_else(|| self.function(name))
    }

    /// The address of the first function of this name in all objects of the process, except the object that contains `except`.
    pub(crate) fn any_function(name: &CStr, except: *const c_void) -> Option<NonNull<c_void>> {
        let except = object_base(except);
        let is_other = |address: &NonNull<c_void>| object_base(address.as_ptr()) != except;
        let names = loaded_names();
        let mut handles = names.iter().filter_map(|object| reopen(object));
        handles.find_map(|handle| find(handle.as_ptr(), name).filter(is_other))
    }

    /// The address of the object's variable of this name.
    ///
    /// A program that is linked to the library may have a copy of the variable, which the library then uses, too (by the relocation
    /// `R_X86_64_COPY` or `R_AARCH64_COPY`). The copy is the first symbol of this name in the global scope.
    pub(crate) fn variable(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.function_as_called(name)
    }

    /// The addresses at which the object's variable of this name may be. If the library is visible only to the object that loaded it, an
    /// object that was loaded with it may have a copy of the variable, and the linker does not say which.
    pub(crate) fn variables(&self, name: &CStr) -> Vec<NonNull<c_void>> {
        if self.is_global {
            return Vec::from_iter(self.variable(name));
        }
        let names = loaded_names();
        let handles = names.iter().filter_map(|object| reopen(object));
        let places = handles.filter_map(|handle| find(handle.as_ptr(), name));
        Vec::from_iter(BTreeSet::from_iter(places))
    }
}

/// The dynamic linker's handle of a file, or of the program.
fn open(name: Option<&CStr>, flags: c_int) -> Option<NonNull<c_void>> {
    let name = name.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the name is a C string or NULL. Initialisers may run: callers open only MPI libraries, or objects that are loaded already.
    NonNull::new(unsafe { libc::dlopen(name, flags) })
}

/// The dynamic linker's handle of an object that is loaded already.
fn reopen(name: &CStr) -> Option<NonNull<c_void>> {
    if name.is_empty() {
        None
    } else {
        open(Some(name), libc::RTLD_NOW | libc::RTLD_NOLOAD)
    }
}

/// The linker's message about the last failure.
fn error() -> String {
    // SAFETY: `dlerror` has no preconditions.
    let words = unsafe { libc::dlerror() };
    if words.is_null() {
        return "the dynamic linker gives no reason".to_owned();
    }
    // SAFETY: the text is not NULL, so it is a C string, which lives until this thread calls the linker again (POSIX.1-2024, dlerror).
    unsafe { CStr::from_ptr(words) }
        .to_string_lossy()
        .into_owned()
}

fn find(handle: *mut c_void, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the handle is that of an object that is never closed, or a special handle of the linker; the name is a C string.
    NonNull::new(unsafe { libc::dlsym(handle, name.as_ptr()) })
}

/// The name of the object that contains an address.
fn object_name(address: *const c_void) -> Option<&'static CStr> {
    let info = object_info(address)?;
    if info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the object's name is a C string that lives as long as the object; callers ask about objects that are not closed.
    Some(unsafe { CStr::from_ptr(info.dli_fname) })
}

/// The base address of the object that contains an address.
fn object_base(address: *const c_void) -> Option<usize> {
    object_info(address).map(|info| info.dli_fbase.addr())
}

/// What the dynamic linker knows about the object that contains an address.
fn object_info(address: *const c_void) -> Option<libc::Dl_info> {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: the function accepts any address; `info` has room for the answer.
    let is_found = unsafe { libc::dladdr(address, info.as_mut_ptr()) } != 0;
    // SAFETY: the call has succeeded, so it has written the answer.
    is_found.then(|| unsafe { info.assume_init() })
}

/// The names of all objects of the process, in the order in which they were loaded. The program has no name.
#[cfg(not(target_vendor = "apple"))]
fn loaded_names() -> Vec<CString> {
    unsafe extern "C" fn add(
        info: *mut libc::dl_phdr_info,
        _bytes: usize,
        names: *mut c_void,
    ) -> c_int {
        // SAFETY: the linker passes an object's description.
        let name = unsafe { (*info).dlpi_name };
        if !name.is_null() {
            // SAFETY: the object's name is a C string, and lives as long as the object, which lives during this call.
            let name = unsafe { CStr::from_ptr(name) };
            // SAFETY: `names` is the list below, which nothing else uses meanwhile.
            let names = unsafe { &mut *names.cast::<Vec<CString>>() };
            names.push(name.to_owned());
        }
        0
    }
    let mut names = Vec::<CString>::new();
    // SAFETY: the function has the required signature, and expects this list.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut names).cast()) };
    names
}

/// The names of all images of the process, in the order in which they were loaded.
#[cfg(target_vendor = "apple")]
fn loaded_names() -> Vec<CString> {
    // SAFETY: the function has no preconditions.
    let count = unsafe { libc::_dyld_image_count() };
    let name_of = |index| {
        // SAFETY: any index is allowed; the name is NULL if another thread has unloaded the image.
        let name = unsafe { libc::_dyld_get_image_name(index) };
        // SAFETY: the name is a C string that lives as long as its image.
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_owned())
    };
    (0..count).filter_map(name_of).collect()
}

/// Whether an object that contains pointers may begin at an address, which must be aligned and in memory of this process.
pub(crate) fn is_place_of_object(address: usize) -> bool {
    if address == 0 || !address.is_multiple_of(align_of::<usize>()) {
        return false;
    }
    // SAFETY: `sysconf` has no preconditions.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page_bytes = usize::try_from(page_bytes).unwrap_or(4096);
    let page = ptr::without_provenance_mut(address - address % page_bytes);
    let mut is_resident = 0_u8;
    // SAFETY: the address is that of a page, and the call fails if the page is not mapped. It writes one byte for one page.
    unsafe { libc::mincore(page, page_bytes, (&raw mut is_resident).cast()) == 0 }
}

#[cfg(test)]
mod tests {
    use super::{CannotOpen, Object, is_place_of_object, loaded_names, object_base, object_name};
    use std::ffi::{CStr, OsStr};
    use std::ptr;

    #[test]
    fn this_process_has_objects() {
        let names = loaded_names();
        let has_libc = |name: &CStr| name.to_string_lossy().contains("libc.");
        assert!(names.iter().any(|name| has_libc(name)), "{names:?}");
        let own: fn() = this_process_has_objects;
        assert!(object_name(own as *const _).is_some());
        assert!(object_name(ptr::null()).is_none());
    }

    #[test]
    fn a_function_of_another_object() {
        let own: fn() = a_function_of_another_object;
        let found = Object::any_function(c"dlsym", own as *const _).expect("libc has it");
        let of_it = found.as_ptr().cast_const();
        assert!(object_base(of_it).is_some());
        assert_ne!(object_base(of_it), object_base(own as *const _));
        // The next object that defines the function, if there is one.
        assert_ne!(Object::any_function(c"dlsym", of_it), Some(found));
        assert!(Object::any_function(c"treefold_nowhere", ptr::null()).is_none());
    }

    #[test]
    fn what_is_not_there_is_told_in_the_linkers_words() {
        let error =
            Object::open(OsStr::new("/nowhere/libmpi.so")).expect_err("there is no such file");
        assert!(matches!(error, CannotOpen::Linker(words) if words.contains("/nowhere/libmpi.so")));
    }

    #[test]
    fn memory_of_this_process() {
        let object = Box::new(7_u64);
        assert!(is_place_of_object((&raw const *object).addr()));
        for nothing in [0, 8, 0x101, 0x4400_0000, 1 << 62] {
            assert!(!is_place_of_object(nothing), "{nothing:#x}");
        }
    }
}
