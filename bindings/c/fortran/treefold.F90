! treefold: reductions whose bits depend on the items, their order and the operator, and on nothing else.
!
!     use treefold
!     s = treefold_sum(x)
!
! Module treefold reduces the items of one process. Module treefold_mpi reduces over the ranks of MPI, and gives the same bits.
! Start with docs/tutorial-fortran.md. docs/order.md specifies the order, and treefold.h says more about each call. The pages are
! installed in share/treefold/docs.
!
! A sum, a product, a minimum, a maximum, a dot product and a norm are functions, as the intrinsic sum is. All other procedures are
! subroutines with the result as an argument. The last argument, ierr, is optional. With it, a call sets ierr to TREEFOLD_OK or to
! an error code; after an error, do not use the result. Without it, a call prints an error on error_unit and ends the program by
! error stop. Several threads may call the procedures of this file at once.
!
! Arrays may have any type that treefold reduces, any rank and any stride. An array of rank 2 counts as all its elements, in array
! element order; procedures for rows have their own names. Sections such as x(::2) are read in blocks, not copied as a whole, except
! by treefold_fold_user, _sum_lanes, _sum_and_absolute_sum and _rolling. Types are checked at run time: a wrong type is
! TREEFOLD_ARGUMENT, and so is an assumed-size array. An unallocated array is TREEFOLD_NULL, where that can be detected.
!
! Keys are integers of any kind and count from 0, as do items in error messages: declare sums(0:groups - 1).
!
! This file needs Fortran 2018 and a preprocessor. Compile treefold_descriptor.c and this file with your own files, and link with
! libtreefold. If treefold is installed in $P, then $F is $P/share/treefold/fortran:
!
!     gfortran -I$P/include $F/treefold_descriptor.c $F/treefold.F90 program.f90 -L$P/lib -ltreefold
!
! The functions are in one module for each type. These modules share the text below, which this file includes from itself.
#ifdef TREEFOLD_TYPE
! ---- The text of the modules for one type --------------------------------------------------------------------------------------
   use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
   use treefold_any
   implicit none
   private

   public :: treefold_sum, treefold_product
   interface treefold_sum; procedure sum_of; end interface
   interface treefold_product; procedure product_of; end interface
#ifndef TREEFOLD_COMPLEX
   public :: treefold_min, treefold_max
   interface treefold_min; procedure min_of; end interface
   interface treefold_max; procedure max_of; end interface
#endif
#ifndef TREEFOLD_INTEGER
   public :: treefold_exact_sum, treefold_exact_dot
   interface treefold_exact_sum; procedure exact_sum_of; end interface
   interface treefold_exact_dot; procedure exact_dot_of; end interface
#ifndef TREEFOLD_COMPLEX
   public :: treefold_dot, treefold_squared_norm, treefold_exact_norm
   interface treefold_dot; procedure dot_of; end interface
   interface treefold_squared_norm; procedure squared_norm_of; end interface
   interface treefold_exact_norm; procedure exact_norm_of; end interface
#endif
#endif

contains

   function sum_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_SUM, x, value, ierr)
   end function sum_of

   function product_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_PRODUCT, x, value, ierr)
   end function product_of

#ifndef TREEFOLD_COMPLEX
   function min_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_MIN, x, value, ierr)
   end function min_of

   function max_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_MAX, x, value, ierr)
   end function max_of
#endif

#ifndef TREEFOLD_INTEGER
   function exact_sum_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_exact(TREEFOLD_STATISTIC_SUM, x, value, ierr=ierr)
   end function exact_sum_of

   function exact_dot_of(x, y, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..), y(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_exact(TREEFOLD_STATISTIC_DOT, x, value, y, ierr=ierr)
   end function exact_dot_of

#ifndef TREEFOLD_COMPLEX
   function dot_of(x, y, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..), y(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_dot_into(x, y, value, ierr)
   end function dot_of

   ! The sum of the squares, each square rounded once.
   function squared_norm_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_dot_into(x, x, value, ierr)
   end function squared_norm_of

   function exact_norm_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_exact(TREEFOLD_STATISTIC_NORM, x, value, ierr=ierr)
   end function exact_norm_of
#endif
#endif
#undef TREEFOLD_TYPE
#else
! ---- For every type -------------------------------------------------------------------------------------------------------------

module treefold_any
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funloc, c_funptr, c_int, c_int32_t, &
      c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64, real64
   implicit none
   private

   public :: treefold_combine, treefold_team, treefold_part, treefold_view_of, treefold_view_read, treefold_view_write, &
      treefold_version, treefold_error_message, treefold_error_rank, treefold_status_name, &
      treefold_threads, treefold_thread_count, treefold_fold, treefold_fold_rows, treefold_fold_on, treefold_dot_on, &
      treefold_dot_into, treefold_fold_user, treefold_sum_lanes, treefold_sum_and_absolute_sum, treefold_exact, &
      treefold_exact_rows, treefold_by_key, treefold_by_key_rows, treefold_rolling, treefold_accumulator_create, &
      treefold_accumulator_copy, treefold_accumulator_destroy, treefold_accumulator_clear, treefold_accumulator_add, &
      treefold_accumulator_remove, treefold_accumulator_add_pairs, treefold_accumulator_remove_pairs, &
      treefold_accumulator_merge, treefold_accumulator_unmerge, treefold_accumulator_value, treefold_accumulator_equal, &
      treefold_accumulator_to_bytes, treefold_accumulator_of_bytes, treefold_keyed_create, treefold_keyed_create_rows, &
      treefold_keyed_create_hashed, treefold_keyed_copy, treefold_keyed_destroy, treefold_keyed_clear, treefold_keyed_add, &
      treefold_keyed_remove, treefold_keyed_add_pairs, treefold_keyed_remove_pairs, treefold_keyed_merge, &
      treefold_keyed_unmerge, treefold_keyed_groups, treefold_keyed_keys, treefold_keyed_values, treefold_keyed_equal, &
      treefold_keyed_to_bytes, treefold_keyed_of_bytes, treefold_refuse, treefold_end_call, &
      treefold_text_of, treefold_keyed_handle

   ! The version of this file, in the form of treefold_version().
   integer, parameter, public :: TREEFOLD_SOURCE_VERSION = 100

   ! The values of ierr. treefold.h says more about each.
   integer, parameter, public :: TREEFOLD_OK = 0
   integer, parameter, public :: TREEFOLD_NULL = 1          ! A handle was not created, or was destroyed; an array is not allocated.
   integer, parameter, public :: TREEFOLD_ARGUMENT = 2      ! An argument has an invalid value or type.
   integer, parameter, public :: TREEFOLD_LENGTH = 3        ! An array has the wrong length.
   integer, parameter, public :: TREEFOLD_DISAGREE = 4      ! The ranks disagree, or their items are not 0 to N - 1, each once.
   integer, parameter, public :: TREEFOLD_EMPTY = 5         ! There are no items, and the operator has no value for that case.
   integer, parameter, public :: TREEFOLD_ENVIRONMENT = 6   ! The processor does not round to nearest, or flushes subnormal numbers.
   integer, parameter, public :: TREEFOLD_RANK_FAILED = 7   ! Another rank failed: treefold_error_rank() says which.
   integer, parameter, public :: TREEFOLD_SPENT = 8         ! An earlier run of the plan failed: build a new plan.
   integer, parameter, public :: TREEFOLD_UNDER_WAY = 9     ! An earlier run of the plan is still in progress: wait for it first.
   integer, parameter, public :: TREEFOLD_TIMED_OUT = 10    ! The time limit has passed. The run continues.
   integer, parameter, public :: TREEFOLD_MPI_FAILED = 11   ! The MPI library failed. TREEFOLD_MPI in C; here that is a module.
   integer, parameter, public :: TREEFOLD_UNSUPPORTED = 12  ! The call does not support this type, operator or algorithm.
   integer, parameter, public :: TREEFOLD_PANIC = 13        ! A bug in treefold: please report it.
   integer, parameter, public :: TREEFOLD_MISMATCHED = 14   ! The ranks made different calls on a plan.
   integer, parameter, public :: TREEFOLD_MEMORY = 15       ! There is not enough memory.
   integer, parameter, public :: TREEFOLD_OPERATOR = 16     ! The user-defined operator returned an error.
   integer, parameter, public :: TREEFOLD_INTERRUPTED = 17  ! The program's callback ended a wait: see treefold_comm_interruption.

   ! Types of elements. Fortran has no unsigned integers: where C takes an unsigned type, pass the signed one of its size.
   integer(c_int32_t), parameter, public :: TREEFOLD_F32 = 1, TREEFOLD_F64 = 2, TREEFOLD_C32 = 3, TREEFOLD_C64 = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_I8 = 5, TREEFOLD_I16 = 6, TREEFOLD_I32 = 7, TREEFOLD_I64 = 8
   integer(c_int32_t), parameter, public :: TREEFOLD_U8 = 9, TREEFOLD_U16 = 10, TREEFOLD_U32 = 11, TREEFOLD_U64 = 12

   ! Operators and exact statistics. C calls them TREEFOLD_SUM, TREEFOLD_EXACT_SUM and so on. Those names are procedures here,
   ! because Fortran ignores case.
   integer(c_int32_t), parameter, public :: TREEFOLD_OP_SUM = 1, TREEFOLD_OP_PRODUCT = 2, TREEFOLD_OP_MIN = 3, TREEFOLD_OP_MAX = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_STATISTIC_COUNT = 0, TREEFOLD_STATISTIC_SUM = 1, TREEFOLD_STATISTIC_MEAN = 2, &
      TREEFOLD_STATISTIC_VARIANCE = 3, TREEFOLD_STATISTIC_STD = 4, TREEFOLD_STATISTIC_MIN = 5, TREEFOLD_STATISTIC_MAX = 6, &
      TREEFOLD_STATISTIC_NORM = 7, TREEFOLD_STATISTIC_DOT = 8, TREEFOLD_STATISTIC_WEIGHTED_MEAN = 9, &
      TREEFOLD_STATISTIC_COVARIANCE = 10, TREEFOLD_STATISTIC_CORRELATION = 11, TREEFOLD_STATISTIC_SLOPE = 12, &
      TREEFOLD_STATISTIC_INTERCEPT = 13, TREEFOLD_STATISTIC_SKEWNESS = 14, TREEFOLD_STATISTIC_KURTOSIS = 15, &
      TREEFOLD_STATISTIC_VDOT = 16

   ! Where the window of item i lies: it ends at i, begins at i, is centred on i, or has all items up to i.
   integer(c_int32_t), parameter, public :: TREEFOLD_TRAILING = 0, TREEFOLD_FORWARD = 1, TREEFOLD_CENTRED = 2, &
      TREEFOLD_EXPANDING = 3

   ! A moving window, for treefold_rolling: treefold_window(items=20). Without items, an index defines the windows.
   type, public :: treefold_window
      integer(int64) :: items = 0
      integer :: placement = TREEFOLD_TRAILING
      integer(int64) :: least_items = 0  ! A window of fewer items has the value NaN.
      logical :: skip_nan = .false.      ! Skip items that are NaN.
   end type treefold_window

   ! What the next two types contain: treefold_descriptor.c has a struct of the same layout.
   type, bind(c) :: state_of_c
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = 0, is_keyed = 0
      integer(c_int64_t) :: width = 1
   end type state_of_c

   ! Exact sums that a program keeps between calls, and their statistics. They are freed when the variable goes out of scope, or by
   ! treefold_accumulator_destroy. Variables of the main program do not go out of scope. Assignment makes a copy.
   type, public :: treefold_accumulator
      private
      type(state_of_c) :: state
   contains
      procedure, private :: assign_accumulator
      generic :: assignment(=) => assign_accumulator
      final :: finalise_accumulator
   end type treefold_accumulator

   ! Exact sums for each key, and their statistics, kept between calls.
   type, public :: treefold_keyed
      private
      type(state_of_c) :: state = state_of_c(is_keyed=1)
   contains
      procedure, private :: assign_keyed
      generic :: assignment(=) => assign_keyed
      final :: finalise_keyed
   end type treefold_keyed

   ! The maximum size of an item of a user-defined operator, in bytes.
   integer, parameter, public :: TREEFOLD_ITEM_BYTES_MAX = 512

   abstract interface
      ! A user-defined operator. It writes the combination of `left` and `right` to `out`, and returns 0; any other result ends the
      ! reduction with TREEFOLD_OPERATOR. `left` holds the items with the lower numbers. All three pointers are aligned to 8 bytes;
      ! convert them to variables with c_f_pointer. The operator must give the same bits for the same operands on every rank, and
      ! must not communicate. `context` is the pointer that the caller passed with the operator.
      function treefold_combine(context, left, right, out) bind(c) result(status)
         import :: c_int, c_ptr
         type(c_ptr), value :: context, left, right, out
         integer(c_int) :: status
      end function treefold_combine

      ! A callback that runs work on the caller's own threads, such as OpenMP's. It calls part(job, i) once for each i from 0 to
      ! parts - 1, in any order and on any threads, and returns when all these calls have returned. c_f_procpointer converts `part`
      ! to a procedure(treefold_part).
      subroutine treefold_team(context, parts, part, job) bind(c)
         import :: c_funptr, c_ptr, c_size_t
         type(c_ptr), value :: context, job
         integer(c_size_t), value :: parts
         type(c_funptr), value :: part
      end subroutine treefold_team

      subroutine treefold_part(job, part) bind(c)
         import :: c_ptr, c_size_t
         type(c_ptr), value :: job
         integer(c_size_t), value :: part
      end subroutine treefold_part
   end interface

   ! The description of an array by treefold_descriptor.c. This type, and the procedures treefold_view_..., are for module
   ! treefold_mpi and for treefold's own tests.
   type, bind(c), public :: treefold_view
      type(c_ptr) :: address = c_null_ptr
      integer(c_int64_t) :: elements = 0, bytes = 0
      integer(c_int32_t) :: type = 0, rank = 0, is_contiguous = 1, state = 0
   end type treefold_view

   interface
      subroutine treefold_view_of(array, view) bind(c)
         import :: treefold_view
         type(*), dimension(..), intent(in) :: array
         type(treefold_view), intent(inout) :: view
      end subroutine treefold_view_of

      subroutine treefold_view_read(array, begin, count, into) bind(c)
         import :: c_int64_t, c_ptr
         type(*), dimension(..), intent(in) :: array
         integer(c_int64_t), value :: begin, count
         type(c_ptr), value :: into
      end subroutine treefold_view_read

      subroutine treefold_view_write(array, from) bind(c)
         import :: c_ptr
         type(*), dimension(..), intent(inout) :: array
         type(c_ptr), value :: from
      end subroutine treefold_view_write

      ! Functions of treefold_descriptor.c and treefold.h. An absent optional argument is absent in C, too: a null pointer.
      integer(c_int32_t) function c_reduce(op, by_rows, x, result, y, team, context) bind(c, name='treefold_f_reduce')
         import
         integer(c_int32_t), value :: op, by_rows
         type(*), dimension(..), intent(in) :: x
         type(*), dimension(..), intent(inout) :: result
         type(*), dimension(..), intent(in) :: y
         type(c_funptr), intent(in), optional :: team
         type(c_ptr), intent(in), optional :: context
      end function
      integer(c_int32_t) function c_fold_user(items, combine, result, context, empty) bind(c, name='treefold_f_fold_user')
         import
         type(*), dimension(..), intent(in) :: items
         type(c_funptr), value :: combine
         type(*), dimension(..), intent(inout) :: result
         type(c_ptr), intent(in), optional :: context
         type(*), dimension(..), intent(in), optional :: empty
      end function
      integer(c_int32_t) function c_sum_lanes(x, lanes, result) bind(c, name='treefold_f_sum_lanes')
         import
         type(*), dimension(..), intent(in) :: x
         integer(c_int64_t), value :: lanes
         type(*), dimension(..), intent(inout) :: result
      end function
      integer(c_int32_t) function c_sum_and_absolute_sum(x, sum, absolute_sum) bind(c, name='treefold_f_sum_and_absolute_sum')
         import
         type(*), dimension(..), intent(in) :: x
         type(*), dimension(..), intent(inout) :: sum, absolute_sum
      end function
      integer(c_int32_t) function c_exact(statistic, parts, x, result, keys, y, ddof) bind(c, name='treefold_f_exact')
         import
         integer(c_int32_t), value :: statistic, parts
         type(*), dimension(..), intent(in) :: x, keys
         type(*), dimension(..), intent(inout) :: result
         type(*), dimension(..), intent(in), optional :: y
         real(c_double), intent(in), optional :: ddof
      end function
      integer(c_int32_t) function c_rolling(statistic, items, placement, least_items, skip_nan, x, result, y, ddof, index, width) &
         bind(c, name='treefold_f_rolling')
         import
         integer(c_int32_t), value :: statistic, placement, skip_nan
         integer(c_int64_t), value :: items, least_items
         type(*), dimension(..), intent(in) :: x
         type(*), dimension(..), intent(inout) :: result
         type(*), dimension(..), intent(in), optional :: y, index, width
         real(c_double), intent(in), optional :: ddof
      end function
      integer(c_int32_t) function c_create(state, type, statistic, keys, width) bind(c, name='treefold_f_create')
         import
         type(state_of_c), intent(inout) :: state
         integer(c_int32_t), value :: type, statistic
         integer(c_int), intent(in), optional :: keys, width
      end function
      integer(c_int32_t) function c_change(state, parts, x, y, keys) bind(c, name='treefold_f_change')
         import
         type(state_of_c), intent(inout) :: state
         integer(c_int32_t), value :: parts
         type(*), dimension(..), intent(in) :: x, y, keys
      end function
      integer(c_int32_t) function c_value(state, statistic, result, ddof) bind(c, name='treefold_f_value')
         import
         type(state_of_c), intent(in) :: state
         integer(c_int32_t), value :: statistic
         type(*), dimension(..), intent(inout) :: result
         real(c_double), intent(in), optional :: ddof
      end function
      integer(c_int32_t) function c_keys(state, result) bind(c, name='treefold_f_keys')
         import
         type(state_of_c), intent(in) :: state
         type(*), dimension(..), intent(inout) :: result
      end function
      integer(c_int32_t) function c_of_bytes(state, bytes) bind(c, name='treefold_f_of_bytes')
         import
         type(state_of_c), intent(in) :: state
         type(*), dimension(..), intent(in) :: bytes
      end function
      integer(c_int32_t) function c_destroy(state) bind(c, name='treefold_f_destroy')
         import; type(state_of_c), intent(inout) :: state
      end function
      integer(c_int32_t) function treefold_report(status, message) bind(c)
         import
         integer(c_int32_t), value :: status
         character(kind=c_char), intent(in) :: message(*)
      end function
      integer(c_int32_t) function c_threads(n) bind(c, name='treefold_threads')
         import; integer(c_int), value :: n
      end function
      integer(c_int32_t) function c_groups(handle, result) bind(c, name='treefold_keyed_groups')
         import
         type(c_ptr), value :: handle
         integer(c_size_t), intent(inout) :: result
      end function
      type(c_ptr) function c_status_name(status) bind(c, name='treefold_status_name')
         import; integer(c_int32_t), value :: status
      end function
      type(c_ptr) function c_last_error() bind(c, name='treefold_last_error')
         import
      end function
      integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
         import; type(c_ptr), value :: text
      end function
   end interface

   abstract interface
      integer(c_int32_t) function c_number() bind(c)
         import
      end function
      integer(c_int32_t) function c_copy(from, to) bind(c)
         import
         type(state_of_c), intent(in) :: from
         type(state_of_c), intent(inout) :: to
      end function
      integer(c_int32_t) function c_one(handle) bind(c)
         import; type(c_ptr), value :: handle
      end function
      integer(c_int32_t) function c_two(handle, other) bind(c)
         import; type(c_ptr), value :: handle, other
      end function
      integer(c_int32_t) function c_compare(handle, other, result) bind(c)
         import
         type(c_ptr), value :: handle, other
         integer(c_int), intent(inout) :: result
      end function
      integer(c_int32_t) function c_to_bytes(handle, bytes, capacity, needed) bind(c)
         import
         type(c_ptr), value :: handle, bytes
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
      end function
   end interface

   procedure(c_number), bind(c, name='treefold_version') :: c_version
   procedure(c_number), bind(c, name='treefold_last_error_rank') :: c_last_error_rank
   procedure(c_number), bind(c, name='treefold_thread_count') :: c_thread_count
   procedure(c_copy), bind(c, name='treefold_f_copy') :: c_copy_state
   procedure(c_copy), bind(c, name='treefold_f_assign') :: c_assign
   procedure(c_one), bind(c, name='treefold_accumulator_clear') :: c_accumulator_clear
   procedure(c_one), bind(c, name='treefold_keyed_clear') :: c_keyed_clear
   procedure(c_two), bind(c, name='treefold_accumulator_merge') :: c_accumulator_merge
   procedure(c_two), bind(c, name='treefold_accumulator_unmerge') :: c_accumulator_unmerge
   procedure(c_two), bind(c, name='treefold_keyed_merge') :: c_keyed_merge
   procedure(c_two), bind(c, name='treefold_keyed_unmerge') :: c_keyed_unmerge
   procedure(c_compare), bind(c, name='treefold_accumulator_equal') :: c_accumulator_equal
   procedure(c_compare), bind(c, name='treefold_keyed_equal') :: c_keyed_equal
   procedure(c_to_bytes), bind(c, name='treefold_accumulator_to_bytes') :: c_accumulator_to_bytes
   procedure(c_to_bytes), bind(c, name='treefold_keyed_to_bytes') :: c_keyed_to_bytes

   ! Passed in place of an operator: the dot product of two arrays.
   integer(c_int32_t), parameter :: DOT_OF_TWO = -1

   ! Flags that describe a call; add them up. For an array that a call does not need, pass any other array: C cannot distinguish an
   ! absent optional argument from an unallocated one.
   integer(c_int32_t), parameter :: BY_ROWS = 1, BY_KEY = 2, PAIRS = 4, REMOVAL = 8

contains

   ! ---- Versions, errors, threads ----

   ! The version of the library: 10000 times the major number, plus 100 times the minor one, plus the patch. Before version 1.0,
   ! these sources and the library must have the same minor version.
   function treefold_version() result(version)
      integer :: version
      version = c_version()
   end function treefold_version

   ! The message of this thread's last failed call.
   function treefold_error_message() result(text)
      character(len=:), allocatable :: text
      text = treefold_text_of(c_last_error())
   end function treefold_error_message

   ! The rank that this thread's last error concerns, counted from 0; -1 if it concerns no rank.
   function treefold_error_rank() result(rank)
      integer :: rank
      rank = c_last_error_rank()
   end function treefold_error_rank

   ! The name of a code as in C, such as TREEFOLD_LENGTH; "unknown" for any other number.
   function treefold_status_name(status) result(text)
      integer, intent(in) :: status
      character(len=:), allocatable :: text
      text = treefold_text_of(c_status_name(int(status, c_int32_t)))
   end function treefold_status_name

   ! Sets how many threads later calls of this thread may use. 1, the default, is the calling thread alone; 0 is one thread per
   ! core. The number of threads changes no bit.
   subroutine treefold_threads(n, ierr)
      integer, intent(in) :: n
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_threads(int(n, c_int)), ierr)
   end subroutine treefold_threads

   function treefold_thread_count() result(n)
      integer :: n
      n = c_thread_count()
   end function treefold_thread_count

   ! ---- In tree order ----

   ! Reduces all elements of x with an operator, such as TREEFOLD_OP_SUM.
   subroutine treefold_fold(op, x, result, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(op, 0, x, result, x), ierr)
   end subroutine treefold_fold

   ! Reduces rows, element by element: x(:, i) is row i, and result(c) becomes the reduction of x(c, :).
   subroutine treefold_fold_rows(op, x, result, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(op, BY_ROWS, x, result, x), ierr)
   end subroutine treefold_fold_rows

   ! As treefold_fold, on the caller's threads. TREEFOLD_ARGUMENT if `team` skips a part.
   subroutine treefold_fold_on(op, x, result, team, context, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team) :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(op, 0, x, result, x, c_funloc(team), context), ierr)
   end subroutine treefold_fold_on

   ! The sum of the products x(i) * y(i), each product rounded once: the value of the function treefold_dot.
   subroutine treefold_dot_into(x, y, result, ierr)
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(DOT_OF_TWO, 0, x, result, y), ierr)
   end subroutine treefold_dot_into

   subroutine treefold_dot_on(x, y, result, team, context, ierr)
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team) :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(DOT_OF_TWO, 0, x, result, y, c_funloc(team), context), ierr)
   end subroutine treefold_dot_on

   ! Reduces items of any type, such as a derived type, with a user-defined operator. `result` is one item. So is `empty`, the
   ! result for no items. An item is an element, or an array that has the first dimensions of `items`.
   subroutine treefold_fold_user(items, combine, result, context, empty, ierr)
      type(*), dimension(..), intent(in) :: items
      procedure(treefold_combine) :: combine
      type(*), dimension(..), intent(inout) :: result
      type(c_ptr), intent(in), optional :: context
      type(*), dimension(..), intent(in), optional :: empty
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_fold_user(items, c_funloc(combine), result, context, empty), ierr)
   end subroutine treefold_fold_user

   ! The sum in lanes. x(i) belongs to lane mod(i - 1, lanes); each lane is summed in tree order, and then the lane sums are added
   ! in tree order.
   subroutine treefold_sum_lanes(x, lanes, result, ierr)
      type(*), dimension(..), intent(in) :: x
      integer, intent(in) :: lanes
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_sum_lanes(x, int(lanes, c_int64_t), result), ierr)
   end subroutine treefold_sum_lanes

   ! The sum of the numbers, and the sum of their absolute values, which bounds the error of `sum`.
   subroutine treefold_sum_and_absolute_sum(x, sum, absolute_sum, ierr)
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: sum, absolute_sum
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_sum_and_absolute_sum(x, sum, absolute_sum), ierr)
   end subroutine treefold_sum_and_absolute_sum

   ! ---- Exact ----

   ! A statistic of all elements of x, or of the pairs x(i), y(i). A count is an integer(int64).
   subroutine treefold_exact(statistic, x, result, y, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: y
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_exact(statistic, 0, x, result, x, y, ddof), ierr)
   end subroutine treefold_exact

   ! A statistic of each column of the rows x(:, i): result(c) becomes the statistic of x(c, :).
   subroutine treefold_exact_rows(statistic, x, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_exact(statistic, BY_ROWS, x, result, x, ddof=ddof), ierr)
   end subroutine treefold_exact_rows

   ! A statistic for each key: element g of the result, counted from 0, becomes the statistic of the items whose key is g. Keys are
   ! 0 to size(result) - 1.
   subroutine treefold_by_key(statistic, keys, x, result, y, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: keys, x
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: y
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_exact(statistic, BY_KEY, x, result, keys, y, ddof), ierr)
   end subroutine treefold_by_key

   ! A statistic for each column of each key's rows: x(:, i) is a row with key keys(i), and result has a row for each key.
   subroutine treefold_by_key_rows(statistic, keys, x, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: keys, x
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_exact(statistic, BY_ROWS + BY_KEY, x, result, keys, ddof=ddof), ierr)
   end subroutine treefold_by_key_rows

   ! ---- Moving windows ----

   ! A statistic of the window of each item: result has as many numbers as x, of the same type. Windows are defined by window%items,
   ! or by an ascending index, such as a time. The index has a real or integer number for each item, and `width` is one number of
   ! its type.
   subroutine treefold_rolling(statistic, x, result, window, y, ddof, index, width, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      type(treefold_window), intent(in) :: window
      type(*), dimension(..), intent(in), optional :: y, index, width
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_rolling(statistic, window%items, window%placement, window%least_items, &
         merge(1, 0, window%skip_nan), x, result, y, ddof, index, width), ierr)
   end subroutine treefold_rolling

   ! ---- Accumulators ----

   ! Creates an empty accumulator, of a real or complex type, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT.
   subroutine treefold_accumulator_create(type, statistic, accumulator, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create(accumulator%state, type, statistic), ierr)
   end subroutine treefold_accumulator_create

   ! Makes `copy` a copy of the accumulator.
   subroutine treefold_accumulator_copy(accumulator, copy, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      type(treefold_accumulator), intent(inout) :: copy
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_copy_state(accumulator%state, copy%state), ierr)
   end subroutine treefold_accumulator_copy

   ! Destroys an accumulator. Does nothing if it was destroyed already, or never created.
   subroutine treefold_accumulator_destroy(accumulator, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_destroy(accumulator%state), ierr)
   end subroutine treefold_accumulator_destroy

   ! Removes all items.
   subroutine treefold_accumulator_clear(accumulator, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_accumulator_clear(accumulator%state%handle), ierr)
   end subroutine treefold_accumulator_clear

   ! Adds items, or removes items that were added. DOT and VDOT take pairs.
   subroutine treefold_accumulator_add(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(accumulator%state, 0, x, x, x), ierr)
   end subroutine treefold_accumulator_add

   subroutine treefold_accumulator_remove(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(accumulator%state, REMOVAL, x, x, x), ierr)
   end subroutine treefold_accumulator_remove

   subroutine treefold_accumulator_add_pairs(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x, y
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(accumulator%state, PAIRS, x, y, x), ierr)
   end subroutine treefold_accumulator_add_pairs

   subroutine treefold_accumulator_remove_pairs(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x, y
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(accumulator%state, PAIRS + REMOVAL, x, y, x), ierr)
   end subroutine treefold_accumulator_remove_pairs

   ! Adds the items of another accumulator, or removes them. Both must have the same type and sums; they may be the same
   ! accumulator.
   subroutine treefold_accumulator_merge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_accumulator_merge(accumulator%state%handle, other%state%handle), ierr)
   end subroutine treefold_accumulator_merge

   subroutine treefold_accumulator_unmerge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_accumulator_unmerge(accumulator%state%handle, other%state%handle), ierr)
   end subroutine treefold_accumulator_unmerge

   ! A statistic of the items. A count is an integer(int64); a variance and a standard deviation of complex numbers are real.
   subroutine treefold_accumulator_value(accumulator, statistic, result, ddof, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_value(accumulator%state, statistic, result, ddof), ierr)
   end subroutine treefold_accumulator_value

   ! Whether both have the same sum and the same counts of items, NaNs, infinities of each sign and negative zeros.
   function treefold_accumulator_equal(accumulator, other, ierr) result(is_equal)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      is_equal = are_equal(c_accumulator_equal, accumulator%state%handle, other%state%handle, ierr)
   end function treefold_accumulator_equal

   ! Writes an accumulator as bytes, for files and other programs. Equal accumulators have the same bytes.
   subroutine treefold_accumulator_to_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(int8), intent(out), allocatable :: bytes(:)
      integer, intent(out), optional :: ierr
      call write_bytes(c_accumulator_to_bytes, accumulator%state%handle, bytes, ierr)
   end subroutine treefold_accumulator_to_bytes

   ! Replaces the contents of an accumulator with those of another one, given as bytes, of the same type and with the same sums.
   subroutine treefold_accumulator_of_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_of_bytes(accumulator%state, bytes), ierr)
   end subroutine treefold_accumulator_of_bytes

   ! ---- Sums by key, between calls ----

   ! Creates an empty state for the keys 0 to keys - 1: of real numbers, or of integers for COUNT, SUM, MEAN, VARIANCE and STD.
   subroutine treefold_keyed_create(type, statistic, keys, keyed, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      integer, intent(in) :: keys
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create(keyed%state, type, statistic, keys), ierr)
   end subroutine treefold_keyed_create

   ! Creates an empty state of rows of `width` items. treefold_keyed_add takes x(:, i) with keys(i); treefold_keyed_values writes a
   ! row for each key.
   subroutine treefold_keyed_create_rows(type, statistic, keys, width, keyed, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      integer, intent(in) :: keys, width
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create(keyed%state, type, statistic, keys, width), ierr)
   end subroutine treefold_keyed_create_rows

   ! Creates an empty hashed state: sums for any integers as keys. A key gets a sum when its first item is added.
   subroutine treefold_keyed_create_hashed(type, keyed, ierr)
      integer(c_int32_t), intent(in) :: type
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create(keyed%state, type, TREEFOLD_STATISTIC_SUM), ierr)
   end subroutine treefold_keyed_create_hashed

   ! Unless a comment says otherwise, the following procedures work as those for accumulators.
   subroutine treefold_keyed_copy(keyed, copy, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(treefold_keyed), intent(inout) :: copy
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_copy_state(keyed%state, copy%state), ierr)
   end subroutine treefold_keyed_copy

   subroutine treefold_keyed_destroy(keyed, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_destroy(keyed%state), ierr)
   end subroutine treefold_keyed_destroy

   subroutine treefold_keyed_clear(keyed, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_keyed_clear(keyed%state%handle), ierr)
   end subroutine treefold_keyed_clear

   ! Adds items to the sums of their keys, or removes items that were added. States of two arrays take pairs. For NORM, pass x
   ! twice.
   subroutine treefold_keyed_add(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(keyed%state, 0, x, x, keys), ierr)
   end subroutine treefold_keyed_add

   subroutine treefold_keyed_remove(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(keyed%state, REMOVAL, x, x, keys), ierr)
   end subroutine treefold_keyed_remove

   subroutine treefold_keyed_add_pairs(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x, y
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(keyed%state, PAIRS, x, y, keys), ierr)
   end subroutine treefold_keyed_add_pairs

   subroutine treefold_keyed_remove_pairs(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x, y
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(keyed%state, PAIRS + REMOVAL, x, y, keys), ierr)
   end subroutine treefold_keyed_remove_pairs

   subroutine treefold_keyed_merge(keyed, other, ierr)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_keyed_merge(keyed%state%handle, other%state%handle), ierr)
   end subroutine treefold_keyed_merge

   subroutine treefold_keyed_unmerge(keyed, other, ierr)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_keyed_unmerge(keyed%state%handle, other%state%handle), ierr)
   end subroutine treefold_keyed_unmerge

   ! The number of keys.
   function treefold_keyed_groups(keyed, ierr) result(groups)
      type(treefold_keyed), intent(in) :: keyed
      integer, intent(out), optional :: ierr
      integer(int64) :: groups

      groups = 0
      call treefold_end_call(c_groups(keyed%state%handle, groups), ierr)
   end function treefold_keyed_groups

   ! The keys of a hashed state, ascending, as integer(int64).
   subroutine treefold_keyed_keys(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_keys(keyed%state, result), ierr)
   end subroutine treefold_keyed_keys

   ! A statistic for each key. Counts and sums of integers are integer(int64); other statistics of integers are real(real64). All
   ! others have the type of the items.
   subroutine treefold_keyed_values(keyed, statistic, result, ddof, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_value(keyed%state, statistic, result, ddof), ierr)
   end subroutine treefold_keyed_values

   ! Whether the two have the same keys, and for each key the same sum and number of items.
   function treefold_keyed_equal(keyed, other, ierr) result(is_equal)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      is_equal = are_equal(c_keyed_equal, keyed%state%handle, other%state%handle, ierr)
   end function treefold_keyed_equal

   subroutine treefold_keyed_to_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int8), intent(out), allocatable :: bytes(:)
      integer, intent(out), optional :: ierr
      call write_bytes(c_keyed_to_bytes, keyed%state%handle, bytes, ierr)
   end subroutine treefold_keyed_to_bytes

   ! The state gets the number of keys that the bytes have.
   subroutine treefold_keyed_of_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_of_bytes(keyed%state, bytes), ierr)
   end subroutine treefold_keyed_of_bytes

   ! The C handle of a state, for module treefold_mpi.
   pure function treefold_keyed_handle(keyed) result(handle)
      type(treefold_keyed), intent(in) :: keyed
      type(c_ptr) :: handle
      handle = keyed%state%handle
   end function treefold_keyed_handle

   function are_equal(compare, state, other, ierr) result(is_equal)
      procedure(c_compare) :: compare
      type(c_ptr), intent(in) :: state, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      integer(c_int) :: found

      found = 0
      call treefold_end_call(compare(state, other, found), ierr)
      is_equal = found == 1
   end function are_equal

   subroutine write_bytes(to_bytes, state, bytes, ierr)
      procedure(c_to_bytes) :: to_bytes
      type(c_ptr), intent(in) :: state
      integer(int8), intent(out), allocatable, target :: bytes(:)
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      needed = 0
      status = to_bytes(state, c_null_ptr, 0_c_size_t, needed)
      allocate (bytes(needed))
      if (status == TREEFOLD_OK) status = to_bytes(state, c_loc(bytes), size(bytes, kind=c_size_t), needed)
      call treefold_end_call(status, ierr)
   end subroutine write_bytes

   ! A finaliser has no caller to report an error to. It ignores a state that was destroyed or never created.
   impure elemental subroutine finalise_accumulator(accumulator)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer(c_int32_t) :: ignored
      ignored = c_destroy(accumulator%state)
   end subroutine finalise_accumulator

   impure elemental subroutine finalise_keyed(keyed)
      type(treefold_keyed), intent(inout) :: keyed
      integer(c_int32_t) :: ignored
      ignored = c_destroy(keyed%state)
   end subroutine finalise_keyed

   impure elemental subroutine assign_accumulator(to, from)
      class(treefold_accumulator), intent(inout) :: to
      type(treefold_accumulator), intent(in) :: from
      call treefold_end_call(c_assign(from%state, to%state))
   end subroutine assign_accumulator

   impure elemental subroutine assign_keyed(to, from)
      class(treefold_keyed), intent(inout) :: to
      type(treefold_keyed), intent(in) :: from
      call treefold_end_call(c_assign(from%state, to%state))
   end subroutine assign_keyed

   ! ---- Errors and texts ----

   ! Ends a call with an error that was found in Fortran.
   subroutine treefold_refuse(status, message, ierr)
      integer, intent(in) :: status
      character(len=*), intent(in) :: message
      integer, intent(out), optional :: ierr
      call treefold_end_call(treefold_report(int(status, c_int32_t), message // c_null_char), ierr)
   end subroutine treefold_refuse

   ! Ends every call: returns its status, or ends the program.
   subroutine treefold_end_call(status, ierr)
      integer(c_int32_t), intent(in) :: status
      integer, intent(out), optional :: ierr

      if (present(ierr)) then
         ierr = status
      else if (status /= TREEFOLD_OK) then
         write (error_unit, '(4a)') 'treefold: ', treefold_status_name(int(status)), ': ', treefold_error_message()
         flush (error_unit)
         error stop
      end if
   end subroutine treefold_end_call

   ! Converts a C string to a Fortran string.
   function treefold_text_of(string) result(text)
      type(c_ptr), intent(in) :: string
      character(len=:), allocatable :: text
      character(kind=c_char), pointer :: characters(:)
      integer :: length, i

      length = 0
      if (c_associated(string)) length = int(c_strlen(string))
      allocate (character(len=length) :: text)
      if (length == 0) return
      call c_f_pointer(string, characters, [length])
      do i = 1, length
         text(i:i) = characters(i)
      end do
   end function treefold_text_of
end module treefold_any

! ---- One module for each type ---------------------------------------------------------------------------------------------------

module treefold_real32
#define TREEFOLD_TYPE real(real32)
#include "treefold.F90"
end module treefold_real32

module treefold_real64
#define TREEFOLD_TYPE real(real64)
#include "treefold.F90"
end module treefold_real64

#define TREEFOLD_COMPLEX
module treefold_complex32
#define TREEFOLD_TYPE complex(real32)
#include "treefold.F90"
end module treefold_complex32

module treefold_complex64
#define TREEFOLD_TYPE complex(real64)
#include "treefold.F90"
end module treefold_complex64
#undef TREEFOLD_COMPLEX

#define TREEFOLD_INTEGER
module treefold_int8
#define TREEFOLD_TYPE integer(int8)
#include "treefold.F90"
end module treefold_int8

module treefold_int16
#define TREEFOLD_TYPE integer(int16)
#include "treefold.F90"
end module treefold_int16

module treefold_int32
#define TREEFOLD_TYPE integer(int32)
#include "treefold.F90"
end module treefold_int32

module treefold_int64
#define TREEFOLD_TYPE integer(int64)
#include "treefold.F90"
end module treefold_int64

! ---- The public module ----------------------------------------------------------------------------------------------------------

module treefold
   use treefold_any
   use treefold_real32
   use treefold_real64
   use treefold_complex32
   use treefold_complex64
   use treefold_int8
   use treefold_int16
   use treefold_int32
   use treefold_int64
   implicit none
   public
end module treefold
#endif
