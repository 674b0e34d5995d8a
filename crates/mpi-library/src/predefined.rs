//! The handles of predefined objects, by family.

use std::ffi::CStr;

use crate::family::Family;
use crate::handle::{Comm, Datatype, Errhandler, Group, Handle, Info, Message, Op, Request, Win};
use crate::object::Object;

/// Takes, for each type, the null handle and then the other handles. Each line is a name, Open MPI's object (`mpi.h`), and the numbers in
/// the MPICH family (`mpi.h`) and in the standard ABI (MPI 5.0, chapter 20).
macro_rules! predefined {
    ($(
        $type:ident {
            $null:ident: $null_object:literal, $null_mpich:literal, $null_abi:literal;
            $($name:ident: $object:literal, $mpich:literal, $abi:literal;)*
        }
    )+) => {
        /// The handles of predefined objects. If a library lacks an object, the object's handle is the null handle of the type. Every
        /// library has the null handles.
        #[allow(non_snake_case, reason = "MPI's names")]
        #[derive(Clone, Copy, Debug)]
        pub struct Handles {
            $(
                #[doc = concat!("`", stringify!($null), "`.")]
                pub $null: $type,
                $(
                    #[doc = concat!("`", stringify!($name), "`.")]
                    pub $name: $type,
                )*
            )+
        }

        impl Handles {
            const MPICH: Self = Self {
                $($null: $type::new($null_mpich), $($name: $type::new($mpich),)*)+
            };

            const ABI: Self = Self {
                $($null: $type::new($null_abi), $($name: $type::new($abi),)*)+
            };

            /// The handles of an Open MPI library, which are the addresses of its objects. The error is the name of a missing null handle.
            #[allow(non_snake_case, reason = "MPI's names")]
            fn of_open_mpi(object: &Object) -> Result<Self, &'static str> {
                $(
                    let $null: $type = place(object, $null_object).ok_or(stringify!($null))?;
                    $(let $name = place(object, $object).unwrap_or($null);)*
                )+
                Ok(Self { $($null, $($name,)*)+ })
            }

            /// The name and the word of each handle.
            pub fn words(&self) -> Vec<(&'static str, usize)> {
                vec![$(
                    (stringify!($null), self.$null.word()),
                    $((stringify!($name), self.$name.word()),)*
                )+]
            }

            /// The name of each handle, and of its object in Open MPI.
            pub fn objects_of_open_mpi() -> Vec<(&'static str, &'static CStr)> {
                vec![$(
                    (stringify!($null), $null_object),
                    $((stringify!($name), $object),)*
                )+]
            }
        }
    };
}

predefined! {
    Comm {
        MPI_COMM_NULL: c"ompi_mpi_comm_null", 0x0400_0000, 0x100;
        MPI_COMM_WORLD: c"ompi_mpi_comm_world", 0x4400_0000, 0x101;
        MPI_COMM_SELF: c"ompi_mpi_comm_self", 0x4400_0001, 0x102;
    }
    Group {
        MPI_GROUP_NULL: c"ompi_mpi_group_null", 0x0800_0000, 0x108;
        MPI_GROUP_EMPTY: c"ompi_mpi_group_empty", 0x4800_0000, 0x109;
    }
    Win {
        MPI_WIN_NULL: c"ompi_mpi_win_null", 0x2000_0000, 0x110;
    }
    Info {
        MPI_INFO_NULL: c"ompi_mpi_info_null", 0x1c00_0000, 0x130;
        MPI_INFO_ENV: c"ompi_mpi_info_env", 0x5c00_0001, 0x131;
    }
    Errhandler {
        MPI_ERRHANDLER_NULL: c"ompi_mpi_errhandler_null", 0x1400_0000, 0x140;
        MPI_ERRORS_ARE_FATAL: c"ompi_mpi_errors_are_fatal", 0x5400_0000, 0x141;
        MPI_ERRORS_RETURN: c"ompi_mpi_errors_return", 0x5400_0001, 0x143;
    }
    Request {
        MPI_REQUEST_NULL: c"ompi_request_null", 0x2c00_0000, 0x180;
    }
    Message {
        MPI_MESSAGE_NULL: c"ompi_message_null", 0x2c00_0000, 0x128;
        MPI_MESSAGE_NO_PROC: c"ompi_message_no_proc", 0x6c00_0000, 0x129;
    }
    Op {
        MPI_OP_NULL: c"ompi_mpi_op_null", 0x1800_0000, 0x20;
        MPI_SUM: c"ompi_mpi_op_sum", 0x5800_0003, 0x21;
        MPI_PROD: c"ompi_mpi_op_prod", 0x5800_0004, 0x24;
        MPI_MIN: c"ompi_mpi_op_min", 0x5800_0002, 0x22;
        MPI_MAX: c"ompi_mpi_op_max", 0x5800_0001, 0x23;
        MPI_LAND: c"ompi_mpi_op_land", 0x5800_0005, 0x30;
        MPI_LOR: c"ompi_mpi_op_lor", 0x5800_0007, 0x31;
        MPI_LXOR: c"ompi_mpi_op_lxor", 0x5800_0009, 0x32;
        MPI_BAND: c"ompi_mpi_op_band", 0x5800_0006, 0x28;
        MPI_BOR: c"ompi_mpi_op_bor", 0x5800_0008, 0x29;
        MPI_BXOR: c"ompi_mpi_op_bxor", 0x5800_000a, 0x2a;
        MPI_MINLOC: c"ompi_mpi_op_minloc", 0x5800_000b, 0x38;
        MPI_MAXLOC: c"ompi_mpi_op_maxloc", 0x5800_000c, 0x39;
        MPI_REPLACE: c"ompi_mpi_op_replace", 0x5800_000d, 0x3c;
        MPI_NO_OP: c"ompi_mpi_op_no_op", 0x5800_000e, 0x3d;
    }
    Datatype {
        MPI_DATATYPE_NULL: c"ompi_mpi_datatype_null", 0x0c00_0000, 0x200;
        MPI_BYTE: c"ompi_mpi_byte", 0x4c00_010d, 0x247;
        MPI_PACKED: c"ompi_mpi_packed", 0x4c00_010f, 0x207;
        MPI_CHAR: c"ompi_mpi_char", 0x4c00_0101, 0x243;
        MPI_SIGNED_CHAR: c"ompi_mpi_signed_char", 0x4c00_0118, 0x244;
        MPI_UNSIGNED_CHAR: c"ompi_mpi_unsigned_char", 0x4c00_0102, 0x245;
        MPI_WCHAR: c"ompi_mpi_wchar", 0x4c00_040e, 0x23c;
        MPI_SHORT: c"ompi_mpi_short", 0x4c00_0203, 0x208;
        MPI_UNSIGNED_SHORT: c"ompi_mpi_unsigned_short", 0x4c00_0204, 0x20c;
        MPI_INT: c"ompi_mpi_int", 0x4c00_0405, 0x209;
        MPI_UNSIGNED: c"ompi_mpi_unsigned", 0x4c00_0406, 0x20d;
        MPI_LONG: c"ompi_mpi_long", 0x4c00_0807, 0x20a;
        MPI_UNSIGNED_LONG: c"ompi_mpi_unsigned_long", 0x4c00_0808, 0x20e;
        MPI_LONG_LONG: c"ompi_mpi_long_long_int", 0x4c00_0809, 0x20b;
        MPI_UNSIGNED_LONG_LONG: c"ompi_mpi_unsigned_long_long", 0x4c00_0819, 0x20f;
        MPI_INT8_T: c"ompi_mpi_int8_t", 0x4c00_0137, 0x240;
        MPI_INT16_T: c"ompi_mpi_int16_t", 0x4c00_0238, 0x248;
        MPI_INT32_T: c"ompi_mpi_int32_t", 0x4c00_0439, 0x250;
        MPI_INT64_T: c"ompi_mpi_int64_t", 0x4c00_083a, 0x258;
        MPI_UINT8_T: c"ompi_mpi_uint8_t", 0x4c00_013b, 0x241;
        MPI_UINT16_T: c"ompi_mpi_uint16_t", 0x4c00_023c, 0x249;
        MPI_UINT32_T: c"ompi_mpi_uint32_t", 0x4c00_043d, 0x251;
        MPI_UINT64_T: c"ompi_mpi_uint64_t", 0x4c00_083e, 0x259;
        MPI_AINT: c"ompi_mpi_aint", 0x4c00_0843, 0x201;
        MPI_COUNT: c"ompi_mpi_count", 0x4c00_0845, 0x202;
        MPI_OFFSET: c"ompi_mpi_offset", 0x4c00_0844, 0x203;
        MPI_C_BOOL: c"ompi_mpi_c_bool", 0x4c00_013f, 0x238;
        MPI_FLOAT: c"ompi_mpi_float", 0x4c00_040a, 0x210;
        MPI_DOUBLE: c"ompi_mpi_double", 0x4c00_080b, 0x214;
        MPI_LONG_DOUBLE: c"ompi_mpi_long_double", 0x4c00_100c, 0x220;
        MPI_C_COMPLEX: c"ompi_mpi_c_float_complex", 0x4c00_0840, 0x212;
        MPI_C_FLOAT_COMPLEX: c"ompi_mpi_c_float_complex", 0x4c00_0840, 0x212;
        MPI_C_DOUBLE_COMPLEX: c"ompi_mpi_c_double_complex", 0x4c00_1041, 0x216;
        MPI_C_LONG_DOUBLE_COMPLEX: c"ompi_mpi_c_long_double_complex", 0x4c00_2042, 0x224;
        MPI_CXX_BOOL: c"ompi_mpi_cxx_bool", 0x4c00_0133, 0x239;
        MPI_CXX_FLOAT_COMPLEX: c"ompi_mpi_cxx_cplex", 0x4c00_0834, 0x213;
        MPI_CXX_DOUBLE_COMPLEX: c"ompi_mpi_cxx_dblcplex", 0x4c00_1035, 0x217;
        MPI_CXX_LONG_DOUBLE_COMPLEX: c"ompi_mpi_cxx_ldblcplex", 0x4c00_2036, 0x225;
        MPI_FLOAT_INT: c"ompi_mpi_float_int", 0x8c00_0000, 0x228;
        MPI_DOUBLE_INT: c"ompi_mpi_double_int", 0x8c00_0001, 0x229;
        MPI_LONG_DOUBLE_INT: c"ompi_mpi_longdbl_int", 0x8c00_0004, 0x22d;
        MPI_SHORT_INT: c"ompi_mpi_short_int", 0x8c00_0003, 0x22c;
        MPI_2INT: c"ompi_mpi_2int", 0x4c00_0816, 0x22b;
        MPI_LONG_INT: c"ompi_mpi_long_int", 0x8c00_0002, 0x22a;
        MPI_LOGICAL: c"ompi_mpi_logical", 0x4c00_041d, 0x218;
        MPI_CHARACTER: c"ompi_mpi_character", 0x4c00_011a, 0x21e;
        MPI_INTEGER: c"ompi_mpi_integer", 0x4c00_041b, 0x219;
        MPI_REAL: c"ompi_mpi_real", 0x4c00_041c, 0x21a;
        MPI_DOUBLE_PRECISION: c"ompi_mpi_dblprec", 0x4c00_081f, 0x21c;
        MPI_COMPLEX: c"ompi_mpi_cplex", 0x4c00_081e, 0x21b;
        MPI_DOUBLE_COMPLEX: c"ompi_mpi_dblcplex", 0x4c00_1022, 0x21d;
        MPI_INTEGER1: c"ompi_mpi_integer1", 0x4c00_012d, 0x2c1;
        MPI_INTEGER2: c"ompi_mpi_integer2", 0x4c00_022f, 0x2c9;
        MPI_INTEGER4: c"ompi_mpi_integer4", 0x4c00_0430, 0x2d1;
        MPI_INTEGER8: c"ompi_mpi_integer8", 0x4c00_0831, 0x2d9;
        MPI_REAL4: c"ompi_mpi_real4", 0x4c00_0427, 0x2d2;
        MPI_REAL8: c"ompi_mpi_real8", 0x4c00_0829, 0x2da;
        MPI_REAL16: c"ompi_mpi_real16", 0x4c00_102b, 0x2e2;
        MPI_COMPLEX8: c"ompi_mpi_complex8", 0x4c00_0828, 0x2db;
        MPI_COMPLEX16: c"ompi_mpi_complex16", 0x4c00_102a, 0x2e3;
        MPI_COMPLEX32: c"ompi_mpi_complex32", 0x4c00_202c, 0x2eb;
        MPI_2REAL: c"ompi_mpi_2real", 0x4c00_0821, 0x230;
        MPI_2DOUBLE_PRECISION: c"ompi_mpi_2dblprec", 0x4c00_1023, 0x231;
        MPI_2INTEGER: c"ompi_mpi_2integer", 0x4c00_0820, 0x232;
    }
}

impl Handles {
    /// The handles of a library of this family. The error is the name of a missing null handle.
    pub(crate) fn of(family: Family, object: &Object) -> Result<Self, &'static str> {
        match family {
            Family::OpenMpi => Self::of_open_mpi(object),
            Family::Mpich => Ok(Self::MPICH),
            Family::Abi => Ok(Self::ABI),
        }
    }

    /// The handles of a family whose handles are numbers; `None` for Open MPI, whose handles are addresses.
    pub fn numbers(family: Family) -> Option<&'static Self> {
        match family {
            Family::OpenMpi => None,
            Family::Mpich => Some(&Self::MPICH),
            Family::Abi => Some(&Self::ABI),
        }
    }
}

/// The handle of an object of Open MPI: its address.
fn place<H: Handle>(object: &Object, name: &CStr) -> Option<H> {
    let address = object.variable(name)?;
    Some(H::from_word(address.as_ptr().addr()))
}
