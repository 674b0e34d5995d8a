//! The MPI library in this process: its constants, and what it says of communicators.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::sync::OnceLock;

use mpi::ffi;
use mpi::raw::AsRaw;

use crate::task::{Element, Op};

pub(super) const SUCCESS: c_int = ffi::MPI_SUCCESS.cast_signed();

/// The family of the library that this was built for.
pub(super) const FAMILY: &str = match cfg!(open_mpi) {
    true => "Open MPI",
    false => "MPICH",
};

unsafe extern "C" {
    fn treefold_pmpi_type(index: usize, datatype: *mut ffi::MPI_Datatype) -> c_int;
    fn treefold_pmpi_f90_type(datatype: ffi::MPI_Datatype, bytes: *mut c_int) -> c_int;
    fn treefold_pmpi_describe_type(datatype: ffi::MPI_Datatype, name: *mut c_char) -> c_int;
    fn treefold_pmpi_op(index: usize) -> ffi::MPI_Op;
    safe fn treefold_pmpi_in_place() -> *const c_void;
}

/// MPI_IN_PLACE.
#[cfg(open_mpi)]
pub(super) fn in_place() -> *const c_void {
    treefold_pmpi_in_place()
}

/// A communicator of the program's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Communicator(pub(super) ffi::MPI_Comm);

// SAFETY: the program promises that it is a communicator of its library; `intercept` has looked whether it is MPI_COMM_NULL.
unsafe impl AsRaw for Communicator {
    type Raw = ffi::MPI_Comm;

    fn as_raw(&self) -> Self::Raw {
        self.0
    }
}

/// The handles that mean what treefold reduces.
#[derive(Debug)]
pub(super) struct Handles {
    types: Vec<(ffi::MPI_Datatype, Element)>,
    ops: [ffi::MPI_Op; Op::ALL.len()],
    in_place: *const c_void,
    null: ffi::MPI_Comm,
}

// SAFETY: handles and the address of MPI_IN_PLACE are compared, and never followed.
unsafe impl Send for Handles {}
// SAFETY: as above.
unsafe impl Sync for Handles {}

impl Handles {
    /// Those of the library; MPI is initialised.
    #[inline]
    pub(super) fn get() -> &'static Self {
        static HANDLES: OnceLock<Handles> = OnceLock::new();
        HANDLES.get_or_init(Self::find)
    }

    #[cold]
    fn find() -> Self {
        let mut types = Vec::new();
        for index in 0.. {
            // SAFETY: a constant of the library, initialised before main.
            let mut datatype = unsafe { ffi::RSMPI_DATATYPE_NULL };
            // SAFETY: a constant, as above.
            let null = unsafe { ffi::RSMPI_DATATYPE_NULL };
            // SAFETY: any index may be asked for, and the place is a live handle.
            let parts = unsafe { treefold_pmpi_type(index, &raw mut datatype) };
            let Ok(parts @ 1..) = usize::try_from(parts) else {
                break;
            };
            let mut bytes = 0;
            // A library without Fortran has no bytes for its types.
            if datatype == null
                // SAFETY: the datatype is predefined, and `bytes` is a live int.
                || unsafe { ffi::PMPI_Type_size(datatype, &raw mut bytes) } != SUCCESS
            {
                continue;
            }
            let bytes = usize::try_from(bytes).unwrap_or(0);
            if let Some(element) = Element::of(parts, bytes) {
                types.push((datatype, element));
            }
        }
        Self {
            types,
            // SAFETY: any index may be asked for.
            ops: [0, 1, 2, 3].map(|index| unsafe { treefold_pmpi_op(index) }),
            in_place: treefold_pmpi_in_place(),
            // SAFETY: a constant of the library, initialised before main.
            null: unsafe { ffi::RSMPI_COMM_NULL },
        }
    }

    /// What the elements of a datatype are, if treefold reduces such.
    #[inline]
    pub(super) fn element(&self, datatype: ffi::MPI_Datatype) -> Option<Element> {
        let mut types = self.types.iter();
        let found = types.find(|(handle, _)| *handle == datatype);
        found.map_or_else(|| f90_element(datatype), |(_, element)| Some(*element))
    }

    /// Whether the datatype is one of the library's constants.
    pub(super) fn has_type(&self, datatype: ffi::MPI_Datatype) -> bool {
        self.types.iter().any(|(handle, _)| *handle == datatype)
    }

    #[inline]
    pub(super) fn op(&self, op: ffi::MPI_Op) -> Option<Op> {
        let place = self.ops.iter().position(|handle| *handle == op);
        place.map(|place| Op::ALL[place])
    }

    #[inline]
    pub(super) fn is_in_place(&self, address: *const c_void) -> bool {
        address == self.in_place
    }

    #[inline]
    pub(super) fn is_null(&self, comm: ffi::MPI_Comm) -> bool {
        comm == self.null
    }
}

/// The same for a datatype of Fortran's `select_real_kind`. The library is asked each time, which takes some 10 ns: a handle that was
/// remembered might be that of another datatype later.
#[cold]
fn f90_element(datatype: ffi::MPI_Datatype) -> Option<Element> {
    let mut bytes = 0;
    // SAFETY: the program promises a handle, and `bytes` is a live int.
    let parts = unsafe { treefold_pmpi_f90_type(datatype, &raw mut bytes) };
    Element::of(usize::try_from(parts).ok()?, usize::try_from(bytes).ok()?)
}

/// The name of a datatype that treefold does not reduce, and the bytes of an element; `derived` of one that the program has made.
pub(super) fn describe_type(datatype: ffi::MPI_Datatype) -> (String, u64) {
    let mut name: [c_char; ffi::MPI_MAX_OBJECT_NAME as usize] =
        [0; ffi::MPI_MAX_OBJECT_NAME as usize];
    // SAFETY: the program promises a handle, and the name has the room that the standard asks for.
    let bytes = unsafe { treefold_pmpi_describe_type(datatype, name.as_mut_ptr()) };
    // SAFETY: the name was full of zeros, and the library ends what it writes with one.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    let name = match name.to_string_lossy().into_owned() {
        name if name.is_empty() => "derived".to_owned(),
        // As the lines of a report between ranks need it.
        name => name.replace(char::is_whitespace, " "),
    };
    (name, u64::try_from(bytes).unwrap_or(0))
}

/// Whether MPI can be called: it is initialised, and not finalised.
pub(super) fn can_be_called() -> bool {
    let (mut is_initialised, mut is_finalised): (c_int, c_int) = (0, 0);
    // SAFETY: it may be called at any time, and writes one int (MPI 4.1, 11.4.1).
    unsafe { ffi::PMPI_Initialized(&raw mut is_initialised) };
    // SAFETY: as above.
    unsafe { ffi::PMPI_Finalized(&raw mut is_finalised) };
    is_initialised != 0 && is_finalised == 0
}

/// All processes of the program, while MPI can be called.
pub(super) fn world() -> Communicator {
    // SAFETY: a constant of the library, initialised before main.
    Communicator(unsafe { ffi::RSMPI_COMM_WORLD })
}

/// The first line of what the library says that it is.
pub(super) fn version() -> String {
    let mut text: [c_char; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize] =
        [0; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the text has the room that the standard asks for; `length` is a live int.
    unsafe { ffi::PMPI_Get_library_version(text.as_mut_ptr(), &raw mut length) };
    // SAFETY: the text was full of zeros, and the library ends what it writes with one.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    let text = text.to_string_lossy();
    let line = text.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    words.join(" ")
}

/// Whether the library in this process is of the family that this was built for. Checked once.
pub(super) fn is_of_this_family() -> bool {
    static IS_OURS: OnceLock<bool> = OnceLock::new();
    *IS_OURS.get_or_init(|| {
        let version = version();
        let is_ours = version.starts_with("Open MPI") == cfg!(open_mpi);
        if !is_ours {
            eprintln!(
                "treefold-pmpi: built for {FAMILY}, but this program runs with {version}: its reductions are passed on"
            );
        }
        is_ours
    })
}

impl Communicator {
    /// This process's rank, or that of a process of the other group; 0 if the library fails.
    pub(super) fn rank(self) -> usize {
        let mut rank = 0;
        // SAFETY: the handle is a communicator, and `rank` a live int.
        unsafe { ffi::PMPI_Comm_rank(self.0, &raw mut rank) };
        usize::try_from(rank).unwrap_or(0)
    }

    /// The number of ranks, for intercommunicators those of this group; 0 if the library fails.
    pub(super) fn size(self) -> usize {
        let mut size = 0;
        // SAFETY: as for the rank.
        unsafe { ffi::PMPI_Comm_size(self.0, &raw mut size) };
        usize::try_from(size).unwrap_or(0)
    }

    /// Whether it has the processes of another one.
    pub(super) fn has_processes_of(self, other: Self) -> bool {
        let mut result = 0;
        // SAFETY: both handles are communicators, and `result` is a live int.
        let code = unsafe { ffi::PMPI_Comm_compare(self.0, other.0, &raw mut result) };
        // SAFETY: a constant of the library, initialised before main.
        code == SUCCESS && result != unsafe { ffi::RSMPI_UNEQUAL }
    }

    /// Whether it has two groups.
    pub(super) fn is_inter(self) -> bool {
        let mut flag = 0;
        // SAFETY: as for the rank.
        unsafe { ffi::PMPI_Comm_test_inter(self.0, &raw mut flag) };
        flag != 0
    }

    /// Calls its error handler with an error of treefold's, and returns the error's code.
    #[cold]
    pub(super) fn raise(self, message: &str) -> c_int {
        let code = error_code();
        let message = CString::new(format!("treefold: {}", message.replace('\0', " ")));
        let mut bytes = message.unwrap_or_default().into_bytes();
        bytes.truncate(ffi::MPI_MAX_ERROR_STRING as usize - 1);
        let message = CString::new(bytes).unwrap_or_default();
        // SAFETY: the code is one that `error_code` has added, and the text ends with a null character and is short enough.
        unsafe { ffi::PMPI_Add_error_string(code, message.as_ptr().cast_mut()) };
        // SAFETY: the handle is a communicator; any code may be passed.
        unsafe { ffi::PMPI_Comm_call_errhandler(self.0, code) };
        code
    }
}

/// The code of treefold's errors, of a class of its own.
fn error_code() -> c_int {
    static CODE: OnceLock<c_int> = OnceLock::new();
    *CODE.get_or_init(|| {
        let (mut class, mut code) = (0, ffi::MPI_ERR_OTHER.cast_signed());
        // SAFETY: it writes one int.
        if unsafe { ffi::PMPI_Add_error_class(&raw mut class) } == SUCCESS {
            // SAFETY: the class was just added, and the call writes one int.
            unsafe { ffi::PMPI_Add_error_code(class, &raw mut code) };
        }
        code
    })
}
