! treefold: reductions whose bits depend on the items, their order and the operator, and on nothing else.
!
!     use treefold
!     s = treefold_sum(x)
!
! Module treefold reduces the items of one process. Module treefold_mpi reduces over the ranks of MPI, and gives the same bits.
! Start with docs/tutorial-fortran.md. docs/order.md specifies the order, and treefold.h describes each call in full. These pages
! are installed in share/treefold/docs.
!
! Sums, products, minima, maxima, dot products and norms are functions, as the intrinsic sum is. All other reductions are
! subroutines with the result as an argument. The last argument, ierr, is optional. With ierr, a call sets ierr to TREEFOLD_OK or
! to an error code; after an error, do not use the result. Without ierr, a failed call prints the error on error_unit and ends the
! program by error stop. Several threads may call the procedures of this file at once.
!
! Arrays may have any type that treefold reduces, any rank and any stride. An array of rank 2 is treated as a list of its elements,
! in array element order; procedures for rows have their own names. Sections such as x(::2) are read in blocks, not copied as a
! whole, except by treefold_fold_user, _sum_lanes, _sum_and_absolute_sum and _rolling. Types are checked at run time. The error is
! TREEFOLD_ARGUMENT for a wrong type or an assumed-size array, and TREEFOLD_NULL for an unallocated array, if it can be detected.
!
! Keys are integers of any kind, counted from 0: declare sums(0:groups - 1). Error messages count items from 0, too.
!
! This file needs Fortran 2018 and a preprocessor. Compile treefold_descriptor.c and this file with your own files, and link with
! libtreefold. If treefold is installed in $P, then $F is $P/share/treefold/fortran:
!
!     gfortran -I$P/include $F/treefold_descriptor.c $F/treefold.F90 program.f90 -L$P/lib -ltreefold
!
! Each type has a module with its functions. The modules share the text below, since this file includes itself once for each type.
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
   public :: treefold_dot, treefold_exact_norm
   interface treefold_dot; procedure dot_of; end interface
   interface treefold_exact_norm; procedure exact_norm_of; end interface
#endif
#endif

contains

   function sum_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_SUM, x, value, ierr=ierr)
   end function sum_of

   function product_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_PRODUCT, x, value, ierr=ierr)
   end function product_of

#ifndef TREEFOLD_COMPLEX
   function min_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_MIN, x, value, ierr=ierr)
   end function min_of

   function max_of(x, ierr) result(value)
      TREEFOLD_TYPE, intent(in) :: x(..)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: value

      value = 0
      call treefold_fold(TREEFOLD_OP_MAX, x, value, ierr=ierr)
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
      call treefold_dot_into(x, y, value, ierr=ierr)
   end function dot_of

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
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funptr, c_int, c_int32_t, &
      c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64, real64
   implicit none
   private

   public :: treefold_combine, treefold_team, treefold_part, treefold_view_of, treefold_view_read, treefold_view_write, &
      treefold_version, treefold_error_message, treefold_error_rank, treefold_status_name, treefold_threads, &
      treefold_thread_count, treefold_fold, treefold_fold_rows, treefold_dot_into, treefold_fold_user, treefold_sum_lanes, &
      treefold_sum_and_absolute_sum, treefold_exact, treefold_exact_rows, treefold_by_key, treefold_by_key_rows, &
      treefold_rolling, treefold_state_create, treefold_state_create_hashed, treefold_state_copy, treefold_state_destroy, &
      treefold_state_clear, treefold_state_add, treefold_state_remove, treefold_state_merge, treefold_state_unmerge, &
      treefold_state_groups, treefold_state_keys, treefold_state_values, treefold_state_equal, treefold_state_to_bytes, &
      treefold_state_of_bytes, treefold_report, treefold_end_call, treefold_text_of, treefold_keyed_handle

   ! The version of this file, in the form of treefold_version().
   integer, parameter, public :: TREEFOLD_SOURCE_VERSION = 100

   ! The values of ierr. treefold.h describes them in full.
   integer, parameter, public :: TREEFOLD_OK = 0
   integer, parameter, public :: TREEFOLD_NULL = 1          ! A handle was not created, or was destroyed; an array is not allocated.
   integer, parameter, public :: TREEFOLD_ARGUMENT = 2      ! An argument has an invalid value or type.
   integer, parameter, public :: TREEFOLD_LENGTH = 3        ! An array has the wrong length.
   integer, parameter, public :: TREEFOLD_DISAGREE = 4      ! The ranks disagree, or do not have each item 0 to N - 1 exactly once.
   integer, parameter, public :: TREEFOLD_EMPTY = 5         ! There are no items, and the operator has no value for that case.
   integer, parameter, public :: TREEFOLD_ENVIRONMENT = 6   ! The processor does not round to nearest, or flushes subnormal numbers.
   integer, parameter, public :: TREEFOLD_RANK_FAILED = 7   ! Another rank failed. treefold_error_rank() returns its number.
   integer, parameter, public :: TREEFOLD_SPENT = 8         ! An earlier run of the plan failed. Build a new plan.
   integer, parameter, public :: TREEFOLD_UNDER_WAY = 9     ! An earlier run of the plan is still in progress. Wait for it first.
   integer, parameter, public :: TREEFOLD_TIMED_OUT = 10    ! The time limit has passed. The run continues.
   integer, parameter, public :: TREEFOLD_MPI_FAILED = 11   ! The MPI library failed. (C's name, TREEFOLD_MPI, is a module here.)
   integer, parameter, public :: TREEFOLD_UNSUPPORTED = 12  ! The call does not support this type, operator or algorithm.
   integer, parameter, public :: TREEFOLD_PANIC = 13        ! treefold has a bug; please report it.
   integer, parameter, public :: TREEFOLD_MISMATCHED = 14   ! The ranks made different calls on a plan.
   integer, parameter, public :: TREEFOLD_MEMORY = 15       ! There is not enough memory.
   integer, parameter, public :: TREEFOLD_OPERATOR = 16     ! The user-defined operator returned an error.
   integer, parameter, public :: TREEFOLD_INTERRUPTED = 17  ! The callback of treefold_comm_interruption ended a wait.

   ! Types of elements. Fortran has no unsigned integers. Where C takes an unsigned type, pass the signed type of the same size.
   integer(c_int32_t), parameter, public :: TREEFOLD_F32 = 1, TREEFOLD_F64 = 2, TREEFOLD_C32 = 3, TREEFOLD_C64 = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_I8 = 5, TREEFOLD_I16 = 6, TREEFOLD_I32 = 7, TREEFOLD_I64 = 8
   integer(c_int32_t), parameter, public :: TREEFOLD_U8 = 9, TREEFOLD_U16 = 10, TREEFOLD_U32 = 11, TREEFOLD_U64 = 12

   ! Operators and exact statistics. C calls them TREEFOLD_SUM, TREEFOLD_EXACT_SUM and so on. These C names are procedures here,
   ! because Fortran ignores case.
   integer(c_int32_t), parameter, public :: TREEFOLD_OP_SUM = 1, TREEFOLD_OP_PRODUCT = 2, TREEFOLD_OP_MIN = 3, TREEFOLD_OP_MAX = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_STATISTIC_COUNT = 0, TREEFOLD_STATISTIC_SUM = 1, TREEFOLD_STATISTIC_MEAN = 2, &
      TREEFOLD_STATISTIC_VARIANCE = 3, TREEFOLD_STATISTIC_STD = 4, TREEFOLD_STATISTIC_MIN = 5, TREEFOLD_STATISTIC_MAX = 6, &
      TREEFOLD_STATISTIC_NORM = 7, TREEFOLD_STATISTIC_DOT = 8, TREEFOLD_STATISTIC_WEIGHTED_MEAN = 9, &
      TREEFOLD_STATISTIC_COVARIANCE = 10, TREEFOLD_STATISTIC_CORRELATION = 11, TREEFOLD_STATISTIC_SLOPE = 12, &
      TREEFOLD_STATISTIC_INTERCEPT = 13, TREEFOLD_STATISTIC_SKEWNESS = 14, TREEFOLD_STATISTIC_KURTOSIS = 15, &
      TREEFOLD_STATISTIC_VDOT = 16

   ! The window of item i ends at i (TRAILING), begins at i (FORWARD), is centred on i, or has all items up to i (EXPANDING).
   integer(c_int32_t), parameter, public :: TREEFOLD_TRAILING = 0, TREEFOLD_FORWARD = 1, TREEFOLD_CENTRED = 2, &
      TREEFOLD_EXPANDING = 3

   ! A moving window, for treefold_rolling: treefold_window(items=20). Without items, an index defines the windows.
   type, public :: treefold_window
      integer(int64) :: items = 0
      integer :: placement = TREEFOLD_TRAILING
      integer(int64) :: least_items = 0  ! The result is NaN for a window of fewer items.
      logical :: skip_nan = .false.      ! Whether to skip items that are NaN.
   end type treefold_window

   ! The contents of a state. treefold_descriptor.c has a struct with the same layout.
   type, bind(c) :: state_of_c
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = 0, is_keyed = 0
      integer(c_int64_t) :: width = 1
   end type state_of_c

   ! Exact sums that a program keeps between calls, and their statistics: an accumulator of all items, or a keyed state. The state
   ! is freed when the variable goes out of scope, or by treefold_state_destroy. Variables of the main program do not go out of
   ! scope. An assignment copies the state.
   type, public :: treefold_state
      private
      type(state_of_c) :: c
   contains
      procedure, private :: assign
      generic :: assignment(=) => assign
      final :: finalise
   end type treefold_state

   ! The maximum size of an item for a user-defined operator, in bytes.
   integer, parameter, public :: TREEFOLD_ITEM_BYTES_MAX = 512

   abstract interface
      ! A user-defined operator. It writes the combination of `left` and `right` to `out`, and returns 0; any other result ends the
      ! reduction with TREEFOLD_OPERATOR. `left` comes from items with lower numbers than `right`. All three pointers are aligned
      ! to 8 bytes; convert them to variables with c_f_pointer. For the same operands, the operator must give the same bits on
      ! every rank. It must not communicate. `context` is the pointer that the caller passed with the operator.
      function treefold_combine(context, left, right, out) bind(c) result(status)
         import :: c_int, c_ptr
         type(c_ptr), value :: context, left, right, out
         integer(c_int) :: status
      end function treefold_combine

      ! A callback that runs work on the caller's own threads, such as the threads of OpenMP. It calls part(job, i) once for each i
      ! from 0 to parts - 1, in any order and on any threads, and returns when all these calls have returned. c_f_procpointer
      ! converts `part` to a procedure(treefold_part).
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

   ! The description that treefold_descriptor.c makes of an array. Only module treefold_mpi and treefold's own tests use this type
   ! and the procedures whose names begin with treefold_view_.
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

      ! Functions of treefold_descriptor.c and treefold.h. An absent optional argument is a null pointer in C.
      integer(c_int32_t) function c_reduce(op, by_rows, x, result, y, team, context) bind(c, name='treefold_f_reduce')
         import
         integer(c_int32_t), value :: op, by_rows
         type(*), dimension(..), intent(in) :: x
         type(*), dimension(..), intent(inout) :: result
         type(*), dimension(..), intent(in) :: y
         procedure(treefold_team), optional :: team
         type(c_ptr), intent(in), optional :: context
      end function
      integer(c_int32_t) function c_fold_user(items, combine, result, context, empty) bind(c, name='treefold_f_fold_user')
         import
         type(*), dimension(..), intent(in) :: items
         procedure(treefold_combine) :: combine
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
      integer(c_int32_t) function c_create_hashed(state, type) bind(c, name='treefold_f_create_hashed')
         import
         type(state_of_c), intent(inout) :: state
         integer(c_int32_t), value :: type
      end function
      integer(c_int32_t) function c_change(state, is_removal, x, y, keys) bind(c, name='treefold_f_change')
         import
         type(state_of_c), intent(inout) :: state
         integer(c_int32_t), value :: is_removal
         type(*), dimension(..), intent(in) :: x
         type(*), dimension(..), intent(in), optional :: y, keys
      end function
      integer(c_int32_t) function c_merge(state, is_removal, other) bind(c, name='treefold_f_merge')
         import
         type(state_of_c), intent(in) :: state, other
         integer(c_int32_t), value :: is_removal
      end function
      integer(c_int32_t) function c_groups(state, result) bind(c, name='treefold_f_groups')
         import
         type(state_of_c), intent(in) :: state
         integer(c_size_t), intent(inout) :: result
      end function
      integer(c_int32_t) function c_keys(state, result) bind(c, name='treefold_f_keys')
         import
         type(state_of_c), intent(in) :: state
         type(*), dimension(..), intent(inout) :: result
      end function
      integer(c_int32_t) function c_values(state, statistic, result, ddof) bind(c, name='treefold_f_values')
         import
         type(state_of_c), intent(in) :: state
         integer(c_int32_t), value :: statistic
         type(*), dimension(..), intent(inout) :: result
         real(c_double), intent(in), optional :: ddof
      end function
      integer(c_int32_t) function c_equal(state, other, result) bind(c, name='treefold_f_equal')
         import
         type(state_of_c), intent(in) :: state, other
         integer(c_int), intent(inout) :: result
      end function
      integer(c_int32_t) function c_to_bytes(state, bytes, capacity, needed) bind(c, name='treefold_f_to_bytes')
         import
         type(state_of_c), intent(in) :: state
         type(c_ptr), value :: bytes
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
      end function
      integer(c_int32_t) function c_of_bytes(state, bytes) bind(c, name='treefold_f_of_bytes')
         import
         type(state_of_c), intent(in) :: state
         type(*), dimension(..), intent(in) :: bytes
      end function
      integer(c_int32_t) function treefold_report(status, message) bind(c)
         import
         integer(c_int32_t), value :: status
         character(kind=c_char), intent(in) :: message(*)
      end function
      integer(c_int32_t) function c_threads(n) bind(c, name='treefold_threads')
         import; integer(c_int), value :: n
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
      integer(c_int32_t) function c_one(state) bind(c)
         import; type(state_of_c), intent(inout) :: state
      end function
   end interface

   procedure(c_number), bind(c, name='treefold_version') :: c_version
   procedure(c_number), bind(c, name='treefold_last_error_rank') :: c_last_error_rank
   procedure(c_number), bind(c, name='treefold_thread_count') :: c_thread_count
   procedure(c_copy), bind(c, name='treefold_f_copy') :: c_copy_state
   procedure(c_copy), bind(c, name='treefold_f_assign') :: c_assign
   procedure(c_one), bind(c, name='treefold_f_clear') :: c_clear
   procedure(c_one), bind(c, name='treefold_f_destroy') :: c_destroy

   ! In place of an operator, this number means the dot product of two arrays.
   integer(c_int32_t), parameter :: DOT_OF_TWO = -1

   ! Flags that describe a call; add them up. For an array that a call does not need, pass any other array, since C cannot
   ! distinguish an absent optional argument from an unallocated array.
   integer(c_int32_t), parameter :: BY_ROWS = 1, BY_KEY = 2

contains

   ! ---- Versions, errors, threads ----

   ! The version of the library: 10000 * major + 100 * minor + patch. Before version 1.0, these sources and the library must have
   ! the same minor version.
   function treefold_version() result(version)
      integer :: version
      version = c_version()
   end function treefold_version

   ! The message of this thread's last failed call.
   function treefold_error_message() result(text)
      character(len=:), allocatable :: text
      text = treefold_text_of(c_last_error())
   end function treefold_error_message

   ! The rank that this thread's last error concerns, counted from 0, or -1 if that error concerns no rank.
   function treefold_error_rank() result(rank)
      integer :: rank
      rank = c_last_error_rank()
   end function treefold_error_rank

   ! The name of a status in C, such as TREEFOLD_LENGTH. The name of a number that is not a status is "unknown".
   function treefold_status_name(status) result(text)
      integer, intent(in) :: status
      character(len=:), allocatable :: text
      text = treefold_text_of(c_status_name(int(status, c_int32_t)))
   end function treefold_status_name

   ! Sets how many threads later calls of this thread may use. The default, 1, is the calling thread alone; 0 means one thread per
   ! core. The number of threads changes no bit of a result.
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

   ! Reduces all elements of x with an operator, such as TREEFOLD_OP_SUM. With `team`, the caller's own threads do the work;
   ! the error is TREEFOLD_ARGUMENT if `team` skips a part.
   subroutine treefold_fold(op, x, result, team, context, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team), optional :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(op, 0, x, result, x, team, context), ierr)
   end subroutine treefold_fold

   ! Reduces rows, element by element: x(:, i) is row i, and result(c) becomes the reduction of x(c, :).
   subroutine treefold_fold_rows(op, x, result, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(op, BY_ROWS, x, result, x), ierr)
   end subroutine treefold_fold_rows

   ! The sum of the products x(i) * y(i), each product rounded once. The function treefold_dot returns the same value. `team` is as
   ! in treefold_fold.
   subroutine treefold_dot_into(x, y, result, team, context, ierr)
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team), optional :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_reduce(DOT_OF_TWO, 0, x, result, y, team, context), ierr)
   end subroutine treefold_dot_into

   ! Reduces items of any type, such as a derived type, with a user-defined operator. `result` is one item, and so is `empty`, the
   ! result for no items. An item is an element, or an array that has the first dimensions of `items`.
   subroutine treefold_fold_user(items, combine, result, context, empty, ierr)
      type(*), dimension(..), intent(in) :: items
      procedure(treefold_combine) :: combine
      type(*), dimension(..), intent(inout) :: result
      type(c_ptr), intent(in), optional :: context
      type(*), dimension(..), intent(in), optional :: empty
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_fold_user(items, combine, result, context, empty), ierr)
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

   ! The sum of x, and the sum of the absolute values of x, which bounds the error of `sum`.
   subroutine treefold_sum_and_absolute_sum(x, sum, absolute_sum, ierr)
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: sum, absolute_sum
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_sum_and_absolute_sum(x, sum, absolute_sum), ierr)
   end subroutine treefold_sum_and_absolute_sum

   ! ---- Exact ----

   ! A statistic of all elements of x, or of all pairs (x(i), y(i)). A count is an integer(int64).
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

   ! A statistic for each column of each key's rows: x(:, i) is a row with the key keys(i), and `result` has one row for each key.
   subroutine treefold_by_key_rows(statistic, keys, x, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: keys, x
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_exact(statistic, BY_ROWS + BY_KEY, x, result, keys, ddof=ddof), ierr)
   end subroutine treefold_by_key_rows

   ! ---- Moving windows ----

   ! A statistic of the window of each item: `result` has the length and type of x. Windows are defined by window%items, or by
   ! `index`, which is ascending, such as a time. `index` has a real or integer number for each item, and `width` is one number of
   ! the same type.
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

   ! ---- States ----

   ! Creates an empty state.
   !
   ! Without `keys`, the state is an accumulator of a real or complex type, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT.
   ! With `keys`, it is a keyed state of real numbers, or of integers for COUNT, SUM, MEAN, VARIANCE and STD, with the keys 0 to
   ! keys - 1. With `keys` and `width`, it is a keyed state of rows of `width` items: treefold_state_add takes the row x(:, i) for
   ! keys(i), and treefold_state_values writes one row for each key.
   subroutine treefold_state_create(type, statistic, state, keys, width, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      type(treefold_state), intent(inout) :: state
      integer, intent(in), optional :: keys, width
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create(state%c, type, statistic, keys, width), ierr)
   end subroutine treefold_state_create

   ! Creates an empty hashed state, which holds sums for any integers as keys. A key gets a sum when its first item is added.
   subroutine treefold_state_create_hashed(type, state, ierr)
      integer(c_int32_t), intent(in) :: type
      type(treefold_state), intent(inout) :: state
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_create_hashed(state%c, type), ierr)
   end subroutine treefold_state_create_hashed

   subroutine treefold_state_copy(state, copy, ierr)
      type(treefold_state), intent(in) :: state
      type(treefold_state), intent(inout) :: copy
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_copy_state(state%c, copy%c), ierr)
   end subroutine treefold_state_copy

   ! Destroys a state. Does nothing if the state was destroyed already, or never created.
   subroutine treefold_state_destroy(state, ierr)
      type(treefold_state), intent(inout) :: state
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_destroy(state%c), ierr)
   end subroutine treefold_state_destroy

   ! Removes all items.
   subroutine treefold_state_clear(state, ierr)
      type(treefold_state), intent(inout) :: state
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_clear(state%c), ierr)
   end subroutine treefold_state_clear

   ! Adds items, or removes items that were added before. For a state of pairs, pass x and y; for a keyed state of NORM, pass the
   ! same array as x and y. For every keyed state, pass keys.
   subroutine treefold_state_add(state, x, y, keys, ierr)
      type(treefold_state), intent(inout) :: state
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(in), optional :: y, keys
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(state%c, 0, x, y, keys), ierr)
   end subroutine treefold_state_add

   subroutine treefold_state_remove(state, x, y, keys, ierr)
      type(treefold_state), intent(inout) :: state
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(in), optional :: y, keys
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_change(state%c, 1, x, y, keys), ierr)
   end subroutine treefold_state_remove

   ! Adds the items of `other`, or removes them. Both states must have the same type and sums. `other` may be `state` itself.
   subroutine treefold_state_merge(state, other, ierr)
      type(treefold_state), intent(in) :: state, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_merge(state%c, 0, other%c), ierr)
   end subroutine treefold_state_merge

   subroutine treefold_state_unmerge(state, other, ierr)
      type(treefold_state), intent(in) :: state, other
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_merge(state%c, 1, other%c), ierr)
   end subroutine treefold_state_unmerge

   ! The number of keys of a keyed state.
   function treefold_state_groups(state, ierr) result(groups)
      type(treefold_state), intent(in) :: state
      integer, intent(out), optional :: ierr
      integer(int64) :: groups

      groups = 0
      call treefold_end_call(c_groups(state%c, groups), ierr)
   end function treefold_state_groups

   ! The keys of a hashed state in ascending order, as integer(int64).
   subroutine treefold_state_keys(state, result, ierr)
      type(treefold_state), intent(in) :: state
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_keys(state%c, result), ierr)
   end subroutine treefold_state_keys

   ! A statistic of all items, or for each key. A count is an integer(int64), as is a sum of integers; other statistics of integers
   ! are real(real64). A variance or a standard deviation of complex numbers is real. All other results have the type of the items.
   subroutine treefold_state_values(state, statistic, result, ddof, ierr)
      type(treefold_state), intent(in) :: state
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_values(state%c, statistic, result, ddof), ierr)
   end subroutine treefold_state_values

   ! Whether both states have the same keys, if any, and the same sums and counts of items, NaNs, infinities of each sign and
   ! negative zeros. The comment of treefold_keyed_equal in treefold.h says what keyed states count.
   function treefold_state_equal(state, other, ierr) result(is_equal)
      type(treefold_state), intent(in) :: state, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      integer(c_int) :: found

      found = 0
      call treefold_end_call(c_equal(state%c, other%c, found), ierr)
      is_equal = found == 1
   end function treefold_state_equal

   ! Writes a state as bytes, for files and other programs. Equal accumulators have the same bytes.
   subroutine treefold_state_to_bytes(state, bytes, ierr)
      type(treefold_state), intent(in) :: state
      integer(int8), intent(out), allocatable, target :: bytes(:)
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      needed = 0
      status = c_to_bytes(state%c, c_null_ptr, 0_c_size_t, needed)
      allocate (bytes(needed))
      if (status == TREEFOLD_OK) status = c_to_bytes(state%c, c_loc(bytes), size(bytes, kind=c_size_t), needed)
      call treefold_end_call(status, ierr)
   end subroutine treefold_state_to_bytes

   ! Replaces the contents of a state with those of another state, given as bytes. Both states must have the same type and hold the
   ! same sums. A keyed state gets the number of keys that the bytes have.
   subroutine treefold_state_of_bytes(state, bytes, ierr)
      type(treefold_state), intent(in) :: state
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_of_bytes(state%c, bytes), ierr)
   end subroutine treefold_state_of_bytes

   ! The C handle of a keyed state, for module treefold_mpi. For an accumulator, this is a null pointer.
   pure function treefold_keyed_handle(state) result(handle)
      type(treefold_state), intent(in) :: state
      type(c_ptr) :: handle

      handle = c_null_ptr
      if (state%c%is_keyed == 1) handle = state%c%handle
   end function treefold_keyed_handle

   ! Destroys a state that goes out of scope, if it still exists. Ignores errors, since there is no caller to return them to.
   impure elemental subroutine finalise(state)
      type(treefold_state), intent(inout) :: state
      integer(c_int32_t) :: ignored
      ignored = c_destroy(state%c)
   end subroutine finalise

   impure elemental subroutine assign(to, from)
      class(treefold_state), intent(inout) :: to
      type(treefold_state), intent(in) :: from
      call treefold_end_call(c_assign(from%c, to%c))
   end subroutine assign

   ! ---- Errors and texts ----

   ! Ends every call. Returns the call's status in ierr. If ierr is absent, an error ends the program.
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
