//! The MPI library of this process: its family, its constants, and queries about communicators.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::OnceLock;

use treefold::mpi::mpi_library::{
    self, Comm, Datatype, Family, Handle, Library, MAX_OBJECT_NAME, MPI_SUCCESS, Passed,
};

use crate::boundary::library::said::{is_first_rank, say};
use crate::task::{Element, Op};

pub(crate) const SUCCESS: c_int = MPI_SUCCESS;

/// The MPI library, and its handles for the types and operators that treefold reduces.
#[derive(Debug)]
pub(crate) struct Mpi {
    pub(crate) library: &'static Library,
    family: Family,
    types: Vec<Type>,
    ops: [mpi_library::Op; Op::ALL.len()],
    in_place: *const c_void,
    null: Comm,
    fortran: Fortran,
}

// SAFETY: the pointers are handles and addresses of constants, which are only compared.
unsafe impl Send for Mpi {}
// SAFETY: as above.
unsafe impl Sync for Mpi {}

/// A datatype of one or two floating-point numbers.
#[derive(Debug)]
struct Type {
    handle: Datatype,
    parts: usize,
    /// `None` if treefold reduces no type of the size that the library reports. Fortran compilers have options for the size of a REAL, so
    /// the library is queried, but only when a program uses the type: a library that lacks the type would report an error.
    element: OnceLock<Option<Element>>,
}

/// The possible addresses of MPI_IN_PLACE and of MPI_BOTTOM in Open MPI's Fortran; none in other families.
#[derive(Debug)]
struct Fortran {
    in_place: Vec<*const c_void>,
    bottom: Vec<*const c_void>,
}

static MPI: OnceLock<Option<Mpi>> = OnceLock::new();

impl Mpi {
    /// The MPI library, if it is of a known family. The first call finds it, or prints why there is none.
    #[inline]
    pub(crate) fn find() -> Option<&'static Self> {
        MPI.get_or_init(|| match treefold::mpi::library_beneath() {
            Ok(library) => Some(Self::of(library)),
            Err(error) => {
                if is_first_rank() {
                    say(&format!(
                        "treefold-pmpi: {error}. The program's reductions do not run with treefold\n"
                    ));
                }
                None
            }
        })
        .as_ref()
    }

    /// The MPI library, which must have been found before.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        let found = MPI.get().and_then(Option::as_ref);
        found.expect("the library was found before this call")
    }

    #[cold]
    fn of(library: &'static Library) -> Self {
        let handles = &library.handles;
        let null = handles.MPI_DATATYPE_NULL;
        let of = |element, handle| Type {
            handle,
            parts: 0,
            element: OnceLock::from(Some(element)),
        };
        let of_parts = |parts, handle| Type {
            handle,
            parts,
            element: OnceLock::new(),
        };
        // The most frequently used types come first.
        let types = [
            of(Element::F64, handles.MPI_DOUBLE),
            of(Element::F32, handles.MPI_FLOAT),
            of_parts(1, handles.MPI_DOUBLE_PRECISION),
            of_parts(1, handles.MPI_REAL),
            of(Element::C64, handles.MPI_C_DOUBLE_COMPLEX),
            of(Element::C32, handles.MPI_C_FLOAT_COMPLEX),
            of(Element::C32, handles.MPI_C_COMPLEX),
            of_parts(2, handles.MPI_DOUBLE_COMPLEX),
            of_parts(2, handles.MPI_COMPLEX),
            of(Element::F32, handles.MPI_REAL4),
            of(Element::F64, handles.MPI_REAL8),
            of(Element::C32, handles.MPI_COMPLEX8),
            of(Element::C64, handles.MPI_COMPLEX16),
            of(Element::C32, handles.MPI_CXX_FLOAT_COMPLEX),
            of(Element::C64, handles.MPI_CXX_DOUBLE_COMPLEX),
        ];
        Self {
            library,
            family: library.family(),
            // The handles of types that the library lacks are null.
            types: types
                .into_iter()
                .filter(|known| known.handle != null)
                .collect(),
            // In the order of `Op::ALL`.
            ops: [
                handles.MPI_SUM,
                handles.MPI_PROD,
                handles.MPI_MIN,
                handles.MPI_MAX,
            ],
            in_place: library.constants.in_place(),
            null: handles.MPI_COMM_NULL,
            fortran: Fortran {
                in_place: fortran_places(library, c"mpi_fortran_in_place_"),
                bottom: fortran_places(library, c"mpi_fortran_bottom_"),
            },
        }
    }

    /// Whether Fortran calls bypass this library's C functions: Open MPI's Fortran functions call its `PMPI_` functions; those of other
    /// families call `MPI_` functions.
    #[inline]
    pub(crate) fn hides_fortran(&self) -> bool {
        self.family == Family::OpenMpi
    }

    /// The handle that a program passed.
    #[inline]
    pub(crate) fn take<H: Handle>(&self, passed: Passed<H>) -> H {
        self.family.take(passed)
    }

    /// The element type of a datatype, if treefold reduces it.
    #[inline]
    pub(crate) fn element(&self, datatype: Datatype) -> Option<Element> {
        let mut types = self.types.iter();
        match types.find(|known| known.handle == datatype) {
            Some(known) => *known
                .element
                .get_or_init(|| Element::of(known.parts, self.size_bytes(datatype)?)),
            None => self.f90_element(datatype),
        }
    }

    /// The element type of a datatype of Fortran's `select_real_kind`, if treefold reduces it. Such a datatype is predefined, with a handle
    /// for each precision and range (MPI 4.1, 19.1.5). The library is queried each time (about 10 ns), since a remembered handle might
    /// belong to another datatype later.
    #[cold]
    fn f90_element(&self, datatype: Datatype) -> Option<Element> {
        let combiner = self.combiner(datatype)?;
        let constants = self.library.constants;
        let parts = match combiner {
            _ if combiner == constants.MPI_COMBINER_F90_REAL => 1,
            _ if combiner == constants.MPI_COMBINER_F90_COMPLEX => 2,
            _ => return None,
        };
        Element::of(parts, self.size_bytes(datatype)?)
    }

    /// Whether the datatype is one of the MPI library's constants.
    pub(crate) fn has_type(&self, datatype: Datatype) -> bool {
        self.types.iter().any(|known| known.handle == datatype)
    }

    #[inline]
    pub(crate) fn op(&self, op: mpi_library::Op) -> Option<Op> {
        let place = self.ops.iter().position(|handle| *handle == op);
        place.map(|place| Op::ALL[place])
    }

    /// Whether the order can change the bits of a reduction, as with a sum or product that rounds, or with a user-defined operator.
    pub(crate) fn depends_on_order(&self, datatype: Datatype, op: mpi_library::Op) -> bool {
        let handles = &self.library.handles;
        let exact = [
            handles.MPI_MIN,
            handles.MPI_MAX,
            handles.MPI_LAND,
            handles.MPI_LOR,
            handles.MPI_LXOR,
            handles.MPI_BAND,
            handles.MPI_BOR,
            handles.MPI_BXOR,
            handles.MPI_MINLOC,
            handles.MPI_MAXLOC,
            handles.MPI_REPLACE,
            handles.MPI_NO_OP,
        ];
        let longer = [
            handles.MPI_LONG_DOUBLE,
            handles.MPI_C_LONG_DOUBLE_COMPLEX,
            handles.MPI_CXX_LONG_DOUBLE_COMPLEX,
            handles.MPI_REAL16,
            handles.MPI_COMPLEX32,
        ];
        let rounds = || self.element(datatype).is_some() || longer.contains(&datatype);
        !exact.contains(&op) && (self.op(op).is_none() || rounds())
    }

    #[inline]
    pub(crate) fn is_in_place(&self, address: *const c_void) -> bool {
        address == self.in_place
    }

    #[inline]
    pub(crate) fn is_null(&self, comm: Comm) -> bool {
        comm == self.null
    }

    /// Converts a buffer's address from Open MPI's Fortran to C.
    #[inline]
    pub(crate) fn buffer_of_fortran(&self, address: *mut c_void) -> *mut c_void {
        if self.fortran.in_place.contains(&address.cast_const()) {
            self.in_place.cast_mut()
        } else if self.fortran.bottom.contains(&address.cast_const()) {
            // MPI_BOTTOM in C.
            ptr::null_mut()
        } else {
            address
        }
    }

    /// The combiner of a datatype, which says how the datatype was constructed.
    fn combiner(&self, datatype: Datatype) -> Option<c_int> {
        let (mut integers, mut addresses, mut types, mut combiner) = (0, 0, 0, 0);
        if datatype == self.library.handles.MPI_DATATYPE_NULL {
            return None;
        }
        // SAFETY: the program promises a handle, which is not the null handle; the other arguments are live ints.
        let code = unsafe {
            self.library.MPI_Type_get_envelope(
                datatype,
                &raw mut integers,
                &raw mut addresses,
                &raw mut types,
                &raw mut combiner,
            )
        };
        (code == SUCCESS).then_some(combiner)
    }

    /// The size of an element, in bytes.
    fn size_bytes(&self, datatype: Datatype) -> Option<usize> {
        let mut bytes = 0;
        // SAFETY: the program promises a handle, and `bytes` is a live int.
        let code = unsafe { self.library.MPI_Type_size(datatype, &raw mut bytes) };
        usize::try_from(bytes).ok().filter(|_| code == SUCCESS)
    }

    /// The name of a datatype that treefold does not reduce, and the size of an element in bytes. The name of user-defined datatypes is
    /// `derived`.
    pub(crate) fn describe_type(&self, datatype: Datatype) -> (String, u64) {
        let mut name: [c_char; MAX_OBJECT_NAME] = [0; MAX_OBJECT_NAME];
        let combiner = self.combiner(datatype);
        let bytes = combiner.and_then(|_| self.size_bytes(datatype));
        let is_named = combiner == Some(self.library.constants.MPI_COMBINER_NAMED);
        if is_named && bytes.is_some() {
            let mut length = 0;
            // SAFETY: the handle is a datatype, the name has the room that any library may need, and `length` is a live int.
            let code = unsafe {
                self.library
                    .MPI_Type_get_name(datatype, name.as_mut_ptr(), &raw mut length)
            };
            if code != SUCCESS {
                name[0] = 0;
            }
        }
        // SAFETY: the name was full of zeros, and the library ends its text with a zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) };
        let name = match name.to_string_lossy().into_owned() {
            name if name.is_empty() => "derived".to_owned(),
            // Line breaks would break the report's tables.
            name => name.replace(char::is_whitespace, " "),
        };
        (name, bytes.unwrap_or(0) as u64)
    }

    /// Whether MPI can be called: it is initialised, and not finalised.
    pub(crate) fn can_be_called(&self) -> bool {
        let (mut is_initialised, mut is_finalised): (c_int, c_int) = (0, 0);
        // SAFETY: the function may be called at any time, and writes one int (MPI 4.1, 11.4.1).
        unsafe { self.library.MPI_Initialized(&raw mut is_initialised) };
        // SAFETY: as above.
        unsafe { self.library.MPI_Finalized(&raw mut is_finalised) };
        is_initialised != 0 && is_finalised == 0
    }

    /// The first line of the library's version text.
    pub(crate) fn version(&self) -> String {
        let line = self.library.version().lines().next().unwrap_or_default();
        let words: Vec<&str> = line.split_whitespace().collect();
        words.join(" ")
    }
}

/// The possible addresses of a variable that Open MPI's Fortran functions recognise by its address.
fn fortran_places(library: &Library, name: &CStr) -> Vec<*const c_void> {
    let places = match library.family() {
        Family::OpenMpi => library.variables(name),
        Family::Mpich | Family::Abi => Vec::new(),
    };
    let places = places.into_iter();
    places.map(|place| place.as_ptr().cast_const()).collect()
}

/// The MPI library, through which its functions are called.
#[inline]
pub(crate) fn mpi() -> &'static Library {
    Mpi::get().library
}

/// MPI_COMM_WORLD, while MPI can be called.
pub(crate) fn world() -> Communicator {
    Communicator(mpi().handles.MPI_COMM_WORLD)
}

/// A communicator of the program. The program promises that the handle is valid; `prepare` has checked that it is not MPI_COMM_NULL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Communicator(pub(crate) Comm);

impl Communicator {
    /// This process's rank; 0 if the library fails.
    pub(crate) fn rank(self) -> usize {
        let mut rank = 0;
        // SAFETY: the handle is a communicator, and `rank` a live int.
        unsafe { mpi().MPI_Comm_rank(self.0, &raw mut rank) };
        usize::try_from(rank).unwrap_or(0)
    }

    /// The number of ranks (for an intercommunicator, in the local group); 0 if the library fails.
    pub(crate) fn size(self) -> usize {
        let mut size = 0;
        // SAFETY: as for the rank.
        unsafe { mpi().MPI_Comm_size(self.0, &raw mut size) };
        usize::try_from(size).unwrap_or(0)
    }

    /// Whether both communicators have the same processes, in any order.
    pub(crate) fn has_processes_of(self, other: Self) -> bool {
        let mut result = 0;
        // SAFETY: both handles are communicators, and `result` is a live int.
        let code = unsafe { mpi().MPI_Comm_compare(self.0, other.0, &raw mut result) };
        code == SUCCESS && result != mpi().constants.MPI_UNEQUAL
    }

    pub(crate) fn is_inter(self) -> bool {
        let mut flag = 0;
        // SAFETY: as for the rank.
        unsafe { mpi().MPI_Comm_test_inter(self.0, &raw mut flag) };
        flag != 0
    }

    /// Calls the communicator's error handler with a treefold error, and returns the error's code.
    #[cold]
    pub(crate) fn raise(self, message: &str) -> c_int {
        let code = error_code();
        let message = CString::new(format!("treefold: {}", message.replace('\0', " ")));
        let mut bytes = message.unwrap_or_default().into_bytes();
        let room = usize::try_from(mpi().constants.MPI_MAX_ERROR_STRING).unwrap_or(1);
        bytes.truncate(room - 1);
        let message = CString::new(bytes).unwrap_or_default();
        // SAFETY: the code is one that `error_code` has added, and the text ends with a null character and is short enough.
        unsafe { mpi().MPI_Add_error_string(code, message.as_ptr()) };
        self.call_error_handler(code);
        code
    }

    /// Calls the communicator's error handler.
    #[cold]
    pub(crate) fn call_error_handler(self, code: c_int) {
        // SAFETY: the handle is a communicator; any code may be passed.
        unsafe { mpi().MPI_Comm_call_errhandler(self.0, code) };
    }
}

/// The code of treefold's errors, in an error class of its own.
fn error_code() -> c_int {
    static CODE: OnceLock<c_int> = OnceLock::new();
    *CODE.get_or_init(|| {
        let (mut class, mut code) = (0, mpi().constants.MPI_ERR_OTHER);
        // SAFETY: it writes one int.
        if unsafe { mpi().MPI_Add_error_class(&raw mut class) } == SUCCESS {
            // SAFETY: the class was just added, and the call writes one int.
            unsafe { mpi().MPI_Add_error_code(class, &raw mut code) };
        }
        code
    })
}
