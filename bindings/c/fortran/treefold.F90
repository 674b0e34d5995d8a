! treefold: reductions whose bits depend on the items, their order and the operator, and on nothing else.
!
!     use treefold
!     s = treefold_sum(x)
!
! Module treefold reduces the items of one process; module treefold_mpi has the reductions over the ranks of MPI, which give the
! same bits. docs/tutorial-fortran.md is the page to begin with, docs/order.md specifies the order, and treefold.h says more of each
! call. Pages are installed in share/treefold/docs.
!
! A sum, a product, a minimum, a maximum, a dot product and a norm are functions, as the intrinsic sum is. All others are
! subroutines with the result as an argument. The last argument, ierr, is optional: with it, a call leaves TREEFOLD_OK or the
! code of an error there, and after an error the result is not to be used. Without it, an error is printed on error_unit and
! ends the program by error stop. All procedures of this file may be called by several threads at once.
!
! Arrays have any type that treefold reduces, any rank and any stride: an array of rank 2 is all its elements, in array element
! order; rows have names of their own. Sections such as x(::2) are read in blocks, not copied as a whole, except by
! treefold_fold_user, _sum_lanes, _sum_and_absolute_sum and _rolling. Types are compared when a call is made: a wrong one is the
! error TREEFOLD_ARGUMENT, and so is an array of assumed size; one that is not allocated is TREEFOLD_NULL.
!
! Keys are integers of any kind that count from 0, and so do items in the text of an error: declare sums(0:groups - 1).
!
! Fortran 2018 and a preprocessor are needed. Compile treefold_descriptor.c and this file with your own files, and link with
! libtreefold:
!
!     gfortran -I$P/include $F/treefold_descriptor.c $F/treefold.F90 program.f90 -L$P/lib -ltreefold
!
! The functions have one module for each type. They share the text that follows next, which this file includes from itself.
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

   ! The sum of the squares, each of which is rounded.
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
! ---- What serves every type -----------------------------------------------------------------------------------------------------

module treefold_any
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_funloc, c_funptr, c_int, c_int32_t, &
      c_int64_t, c_loc, c_null_char, c_null_funptr, c_null_ptr, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int64, real64
   implicit none
   private

   public :: treefold_combine, treefold_team, treefold_part, treefold_view_of, treefold_view_read, treefold_view_write, &
      treefold_view_extent, treefold_version, treefold_error_message, treefold_error_rank, treefold_status_name, &
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
      treefold_keyed_to_bytes, treefold_keyed_of_bytes, treefold_unusable, treefold_refused, treefold_end_call, &
      treefold_text_of, treefold_keyed_handle, treefold_type_name

   ! The version of this file, in the form of treefold_version().
   integer, parameter, public :: TREEFOLD_SOURCE_VERSION = 100

   ! What ierr becomes. treefold.h says more of each.
   integer, parameter, public :: TREEFOLD_OK = 0
   integer, parameter, public :: TREEFOLD_NULL = 1          ! A handle was not created, or was destroyed; an array is not allocated.
   integer, parameter, public :: TREEFOLD_ARGUMENT = 2      ! An argument has a value or a type that it cannot have.
   integer, parameter, public :: TREEFOLD_LENGTH = 3        ! An array has another length than it must have.
   integer, parameter, public :: TREEFOLD_DISAGREE = 4      ! The ranks do not agree, or their items are not 0 to N - 1, each once.
   integer, parameter, public :: TREEFOLD_EMPTY = 5         ! There are no items, and the operator has no value for nothing.
   integer, parameter, public :: TREEFOLD_ENVIRONMENT = 6   ! The processor does not round to nearest, or flushes subnormal numbers.
   integer, parameter, public :: TREEFOLD_RANK_FAILED = 7   ! Another rank failed: treefold_error_rank() says which.
   integer, parameter, public :: TREEFOLD_SPENT = 8         ! An earlier run of the plan failed: build another.
   integer, parameter, public :: TREEFOLD_UNDER_WAY = 9     ! A run of the plan is under way: wait for it first. It goes on.
   integer, parameter, public :: TREEFOLD_TIMED_OUT = 10    ! The time is over. The run goes on.
   integer, parameter, public :: TREEFOLD_MPI_FAILED = 11   ! TREEFOLD_MPI in C, which is a module here. The MPI library failed.
   integer, parameter, public :: TREEFOLD_UNSUPPORTED = 12  ! The call does not exist for this type, operator or algorithm.
   integer, parameter, public :: TREEFOLD_PANIC = 13        ! An error in treefold itself; please report it.
   integer, parameter, public :: TREEFOLD_MISMATCHED = 14   ! The ranks make different calls on a plan.
   integer, parameter, public :: TREEFOLD_MEMORY = 15       ! There is not enough memory.
   integer, parameter, public :: TREEFOLD_OPERATOR = 16     ! The caller's operator returned an error.
   integer, parameter, public :: TREEFOLD_INTERRUPTED = 17  ! The program has ended a wait, by treefold_comm_interruption of C.

   ! Types of elements. There are no unsigned integers in Fortran: what has an unsigned type in C takes the signed one of its size.
   integer(c_int32_t), parameter, public :: TREEFOLD_F32 = 1, TREEFOLD_F64 = 2, TREEFOLD_C32 = 3, TREEFOLD_C64 = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_I8 = 5, TREEFOLD_I16 = 6, TREEFOLD_I32 = 7, TREEFOLD_I64 = 8
   integer(c_int32_t), parameter, public :: TREEFOLD_U8 = 9, TREEFOLD_U16 = 10, TREEFOLD_U32 = 11, TREEFOLD_U64 = 12

   ! Operators and exact statistics. In C they are TREEFOLD_SUM, TREEFOLD_EXACT_SUM and so on, which are procedures here: Fortran
   ! does not tell cases apart.
   integer(c_int32_t), parameter, public :: TREEFOLD_OP_SUM = 1, TREEFOLD_OP_PRODUCT = 2, TREEFOLD_OP_MIN = 3, TREEFOLD_OP_MAX = 4
   integer(c_int32_t), parameter, public :: TREEFOLD_STATISTIC_COUNT = 0, TREEFOLD_STATISTIC_SUM = 1, TREEFOLD_STATISTIC_MEAN = 2, &
      TREEFOLD_STATISTIC_VARIANCE = 3, TREEFOLD_STATISTIC_STD = 4, TREEFOLD_STATISTIC_MIN = 5, TREEFOLD_STATISTIC_MAX = 6, &
      TREEFOLD_STATISTIC_NORM = 7, TREEFOLD_STATISTIC_DOT = 8, TREEFOLD_STATISTIC_WEIGHTED_MEAN = 9, &
      TREEFOLD_STATISTIC_COVARIANCE = 10, TREEFOLD_STATISTIC_CORRELATION = 11, TREEFOLD_STATISTIC_SLOPE = 12, &
      TREEFOLD_STATISTIC_INTERCEPT = 13, TREEFOLD_STATISTIC_SKEWNESS = 14, TREEFOLD_STATISTIC_KURTOSIS = 15, &
      TREEFOLD_STATISTIC_VDOT = 16

   ! Which items are in the window of item i: those up to i, from i on, around i, or all up to i.
   integer(c_int32_t), parameter, public :: TREEFOLD_TRAILING = 0, TREEFOLD_FORWARD = 1, TREEFOLD_CENTRED = 2, &
      TREEFOLD_EXPANDING = 3

   ! Windows, for treefold_rolling: treefold_window(items=20). Without items, windows go by an index.
   type, public :: treefold_window
      integer(int64) :: items = 0
      integer :: placement = TREEFOLD_TRAILING
      integer(int64) :: least_items = 0  ! A window of fewer items has the value NaN.
      logical :: skip_nan = .false.      ! Items that are NaN do not count.
   end type treefold_window

   ! An exact sum that is held between calls, or what follows from it. It ends where it goes out of scope, which variables of the
   ! main program do not, or by treefold_accumulator_destroy. An assignment copies it.
   type, public :: treefold_accumulator
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = 0  ! The type of the items.
   contains
      procedure, private :: assign_accumulator
      generic :: assignment(=) => assign_accumulator
      final :: finalise_accumulator
   end type treefold_accumulator

   ! The same of the items of each key.
   type, public :: treefold_keyed
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = 0  ! The type of the items.
      integer(int64) :: width = 1        ! The items of a row.
   contains
      procedure, private :: assign_keyed
      generic :: assignment(=) => assign_keyed
      final :: finalise_keyed
   end type treefold_keyed

   ! The longest item of an operator of the caller, in bytes.
   integer, parameter, public :: TREEFOLD_ITEM_BYTES_MAX = 512

   abstract interface
      ! An operator of the caller: leaves the combination of two items in `out`, `left` having the lower numbers, and returns 0. Any
      ! other number ends the reduction with TREEFOLD_OPERATOR. The items are aligned to 8 bytes; c_f_pointer makes variables of
      ! them. The operator must give the same bits for the same operands on every rank, and must not communicate. `context` is what
      ! the caller gave with it.
      function treefold_combine(context, left, right, out) bind(c) result(status)
         import :: c_int, c_ptr
         type(c_ptr), value :: context, left, right, out
         integer(c_int) :: status
      end function treefold_combine

      ! Threads of the caller's own, such as OpenMP's: calls part(job, i) once for each i from 0 to parts - 1, in any order and by
      ! any threads, and returns when all these calls have returned. c_f_procpointer makes a procedure(treefold_part) of `part`.
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

   ! What an array is, as treefold_descriptor.c finds it. This and the procedures that take it are for module treefold_mpi.
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

      function treefold_view_extent(array, dimension) bind(c) result(extent)
         import :: c_int, c_size_t
         type(*), dimension(..), intent(in) :: array
         integer(c_int), value :: dimension
         integer(c_size_t) :: extent
      end function treefold_view_extent
   end interface

   ! ---- The functions of treefold.h ----

   interface
      type(c_ptr) function c_status_name(status) bind(c, name='treefold_status_name')
         import; integer(c_int32_t), value :: status
      end function
      type(c_ptr) function c_last_error() bind(c, name='treefold_last_error')
         import
      end function
      integer(c_int32_t) function treefold_report(status, message) bind(c)
         import; integer(c_int32_t), value :: status; character(kind=c_char), intent(in) :: message(*)
      end function
      integer(c_int32_t) function c_threads(n) bind(c, name='treefold_threads')
         import; integer(c_int), value :: n
      end function
      integer(c_int32_t) function c_fold(type, op, items, n, result) bind(c, name='treefold_fold')
         import; integer(c_int32_t), value :: type, op; type(c_ptr), value :: items, result; integer(c_size_t), value :: n
      end function
      integer(c_int32_t) function c_fold_rows(type, op, items, n, width, result, m) bind(c, name='treefold_fold_rows')
         import; integer(c_int32_t), value :: type, op; type(c_ptr), value :: items, result
         integer(c_size_t), value :: n, width, m
      end function
      integer(c_int32_t) function c_fold_on(type, op, items, n, team, context, result) bind(c, name='treefold_fold_on')
         import; integer(c_int32_t), value :: type, op; type(c_ptr), value :: items, context, result
         integer(c_size_t), value :: n; type(c_funptr), value :: team
      end function
      integer(c_int32_t) function c_fold_user(items, n, item_bytes, combine, context, empty, result) &
         bind(c, name='treefold_fold_user')
         import; type(c_ptr), value :: items, context, empty, result; integer(c_size_t), value :: n, item_bytes
         type(c_funptr), value :: combine
      end function
      integer(c_int32_t) function c_dot(type, x, n, y, m, result) bind(c, name='treefold_dot')
         import; integer(c_int32_t), value :: type; type(c_ptr), value :: x, y, result; integer(c_size_t), value :: n, m
      end function
      integer(c_int32_t) function c_dot_on(type, x, n, y, m, team, context, result) bind(c, name='treefold_dot_on')
         import; integer(c_int32_t), value :: type; type(c_ptr), value :: x, y, context, result
         integer(c_size_t), value :: n, m; type(c_funptr), value :: team
      end function
      integer(c_int32_t) function c_sum_lanes(type, x, n, lanes, result) bind(c, name='treefold_sum_lanes')
         import; integer(c_int32_t), value :: type; type(c_ptr), value :: x, result; integer(c_size_t), value :: n, lanes
      end function
      integer(c_int32_t) function c_sum_and_absolute_sum(type, x, n, sum, absolute_sum) &
         bind(c, name='treefold_sum_and_absolute_sum')
         import; integer(c_int32_t), value :: type; type(c_ptr), value :: x, sum, absolute_sum; integer(c_size_t), value :: n
      end function
      integer(c_int32_t) function c_exact(type, statistic, ddof, x, n, y, m, result) bind(c, name='treefold_exact')
         import; integer(c_int32_t), value :: type, statistic; real(c_double), value :: ddof; type(c_ptr), value :: x, y, result
         integer(c_size_t), value :: n, m
      end function
      integer(c_int32_t) function c_by_key(type, statistic, ddof, key_type, keys, k, x, n, y, l, result, m) &
         bind(c, name='treefold_by_key')
         import; integer(c_int32_t), value :: type, statistic, key_type; real(c_double), value :: ddof
         type(c_ptr), value :: keys, x, y, result; integer(c_size_t), value :: k, n, l, m
      end function
      integer(c_int32_t) function c_by_key_rows(type, statistic, ddof, width, key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_by_key_rows')
         import; integer(c_int32_t), value :: type, statistic, key_type; real(c_double), value :: ddof
         type(c_ptr), value :: keys, items, result; integer(c_size_t), value :: width, k, n, m
      end function
   end interface

   type, bind(c) :: c_window
      integer(c_size_t) :: items
      type(c_ptr) :: index, width
      integer(c_int32_t) :: index_type, placement
      integer(c_size_t) :: least_items
      integer(c_int32_t) :: skip_nan
   end type c_window

   interface
      integer(c_int32_t) function c_rolling(type, statistic, ddof, window, x, n, y, l, result, m) bind(c, name='treefold_rolling')
         import; integer(c_int32_t), value :: type, statistic; real(c_double), value :: ddof
         type(c_window), intent(in) :: window; type(c_ptr), value :: x, y, result; integer(c_size_t), value :: n, l, m
      end function
      integer(c_int32_t) function c_accumulator_create(type, statistic, result) bind(c, name='treefold_accumulator_create')
         import; integer(c_int32_t), value :: type, statistic; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_keyed_create_rows(type, statistic, keys, width, result) &
         bind(c, name='treefold_keyed_create_rows')
         import; integer(c_int32_t), value :: type, statistic; integer(c_size_t), value :: keys, width
         type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_keyed_create(type, statistic, keys, result) bind(c, name='treefold_keyed_create')
         import; integer(c_int32_t), value :: type, statistic; integer(c_size_t), value :: keys
         type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_accumulator_value(state, statistic, ddof, result) bind(c, name='treefold_accumulator_value')
         import; type(c_ptr), value :: state, result; integer(c_int32_t), value :: statistic; real(c_double), value :: ddof
      end function
      integer(c_int32_t) function c_accumulator_copy(state, result) bind(c, name='treefold_accumulator_copy')
         import; type(c_ptr), value :: state; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_keyed_copy(state, result) bind(c, name='treefold_keyed_copy')
         import; type(c_ptr), value :: state; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_keyed_values(state, statistic, ddof, result, m) bind(c, name='treefold_keyed_values')
         import; type(c_ptr), value :: state, result; integer(c_int32_t), value :: statistic; real(c_double), value :: ddof
         integer(c_size_t), value :: m
      end function
      integer(c_int32_t) function c_keyed_groups(state, result) bind(c, name='treefold_keyed_groups')
         import; type(c_ptr), value :: state; integer(c_size_t), intent(inout) :: result
      end function
   end interface

   ! Functions that have the same arguments as others.
   abstract interface
      integer(c_int32_t) function c_number() bind(c)
         import
      end function
      integer(c_int32_t) function c_one(state) bind(c)
         import; type(c_ptr), value :: state
      end function
      integer(c_int32_t) function c_end(state) bind(c)
         import; type(c_ptr), intent(inout) :: state
      end function
      integer(c_int32_t) function c_two(state, other) bind(c)
         import; type(c_ptr), value :: state, other
      end function
      integer(c_int32_t) function c_typed_into(type, key_type, result) bind(c)
         import; integer(c_int32_t), value :: type, key_type; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_compare(state, other, result) bind(c)
         import; type(c_ptr), value :: state, other; integer(c_int), intent(inout) :: result
      end function
      integer(c_int32_t) function c_array(state, items, n) bind(c)
         import; type(c_ptr), value :: state, items; integer(c_size_t), value :: n
      end function
      integer(c_int32_t) function c_to_bytes(state, bytes, capacity, needed) bind(c)
         import; type(c_ptr), value :: state, bytes; integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
      end function
      integer(c_int32_t) function c_arrays(state, x, n, y, m) bind(c)
         import; type(c_ptr), value :: state, x, y; integer(c_size_t), value :: n, m
      end function
      integer(c_int32_t) function c_keyed_array(state, key_type, keys, k, x, n) bind(c)
         import; type(c_ptr), value :: state, keys, x; integer(c_int32_t), value :: key_type; integer(c_size_t), value :: k, n
      end function
      integer(c_int32_t) function c_keyed_arrays(state, key_type, keys, k, x, n, y, l) bind(c)
         import; type(c_ptr), value :: state, keys, x, y; integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, l
      end function
      integer(c_size_t) function c_length(text) bind(c)
         import; type(c_ptr), value :: text
      end function
   end interface

   procedure(c_length), bind(c, name='strlen') :: c_strlen
   procedure(c_number), bind(c, name='treefold_version') :: c_version
   procedure(c_number), bind(c, name='treefold_last_error_rank') :: c_last_error_rank
   procedure(c_number), bind(c, name='treefold_thread_count') :: c_thread_count
   procedure(c_end), bind(c, name='treefold_accumulator_destroy') :: c_accumulator_destroy
   procedure(c_end), bind(c, name='treefold_keyed_destroy') :: c_keyed_destroy
   procedure(c_one), bind(c, name='treefold_accumulator_clear') :: c_accumulator_clear
   procedure(c_one), bind(c, name='treefold_keyed_clear') :: c_keyed_clear
   procedure(c_array), bind(c, name='treefold_accumulator_add') :: c_accumulator_add
   procedure(c_array), bind(c, name='treefold_accumulator_remove') :: c_accumulator_remove
   procedure(c_arrays), bind(c, name='treefold_accumulator_add_pairs') :: c_accumulator_add_pairs
   procedure(c_arrays), bind(c, name='treefold_accumulator_remove_pairs') :: c_accumulator_remove_pairs
   procedure(c_keyed_array), bind(c, name='treefold_keyed_add') :: c_keyed_add
   procedure(c_keyed_array), bind(c, name='treefold_keyed_remove') :: c_keyed_remove
   procedure(c_keyed_arrays), bind(c, name='treefold_keyed_add_pairs') :: c_keyed_add_pairs
   procedure(c_keyed_arrays), bind(c, name='treefold_keyed_remove_pairs') :: c_keyed_remove_pairs
   procedure(c_two), bind(c, name='treefold_accumulator_merge') :: c_accumulator_merge
   procedure(c_two), bind(c, name='treefold_accumulator_unmerge') :: c_accumulator_unmerge
   procedure(c_two), bind(c, name='treefold_keyed_merge') :: c_keyed_merge
   procedure(c_two), bind(c, name='treefold_keyed_unmerge') :: c_keyed_unmerge
   procedure(c_compare), bind(c, name='treefold_accumulator_equal') :: c_accumulator_equal
   procedure(c_compare), bind(c, name='treefold_keyed_equal') :: c_keyed_equal
   procedure(c_to_bytes), bind(c, name='treefold_accumulator_to_bytes') :: c_accumulator_to_bytes
   procedure(c_to_bytes), bind(c, name='treefold_keyed_to_bytes') :: c_keyed_to_bytes
   procedure(c_array), bind(c, name='treefold_accumulator_of_bytes') :: c_accumulator_of_bytes
   procedure(c_array), bind(c, name='treefold_keyed_of_bytes') :: c_keyed_of_bytes
   procedure(c_array), bind(c, name='treefold_keyed_keys') :: c_keyed_keys
   procedure(c_typed_into), bind(c, name='treefold_keyed_create_hashed') :: c_keyed_create_hashed

   ! In place of an operator: the sum of the products of two arrays.
   integer(c_int32_t), parameter :: DOT_OF_TWO = -1

   ! How many elements of an array with strides are copied at once, by one thread and by several; a power of 2.
   integer(int64), parameter :: BLOCK_ELEMENTS = 2_int64**13, BLOCK_OF_THREADS = 2_int64**20

contains

   ! ---- Versions, errors, threads ----

   ! The version of the library: 10000 times the major number, plus 100 times the minor one, plus the patch. While the major
   ! number is 0, sources and library must agree in the minor one.
   function treefold_version() result(version)
      integer :: version

      version = c_version()
   end function treefold_version

   ! What went wrong in this thread's last call that failed.
   function treefold_error_message() result(text)
      character(len=:), allocatable :: text

      text = treefold_text_of(c_last_error())
   end function treefold_error_message

   ! The rank that the last error of this thread is about, from 0 on; -1 if it is about none.
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

   ! How many threads the later calls of this thread may use: 1, the default, is the calling thread alone; 0 is one thread a core.
   ! No number of threads changes a bit.
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

   ! The reduction of all elements of x by TREEFOLD_OP_SUM and so on.
   subroutine treefold_fold(op, x, result, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr

      call reduce(op, .false., x, x, result, ierr=ierr)
   end subroutine treefold_fold

   ! The reduction of rows, element by element: x(:, i) is row i, and result(c) becomes the reduction of x(c, :).
   subroutine treefold_fold_rows(op, x, result, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr

      call reduce(op, .true., x, x, result, ierr=ierr)
   end subroutine treefold_fold_rows

   ! The reduction by the caller's threads. A part that `team` has left out is TREEFOLD_ARGUMENT.
   subroutine treefold_fold_on(op, x, result, team, context, ierr)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team) :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr

      call reduce(op, .false., x, x, result, c_funloc(team), context, ierr)
   end subroutine treefold_fold_on

   ! The sum of the products x(i) * y(i), each of which rounds once: what the function treefold_dot returns.
   subroutine treefold_dot_into(x, y, result, ierr)
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr

      call reduce(DOT_OF_TWO, .false., x, y, result, ierr=ierr)
   end subroutine treefold_dot_into

   subroutine treefold_dot_on(x, y, result, team, context, ierr)
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      procedure(treefold_team) :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr

      call reduce(DOT_OF_TWO, .false., x, y, result, c_funloc(team), context, ierr)
   end subroutine treefold_dot_on

   ! The reduction of items of any type, such as a derived one, by the caller's operator. `result` is an item, and so is `empty`,
   ! the reduction of nothing: an element, or an array that has the first dimensions of `items`.
   subroutine treefold_fold_user(items, combine, result, context, empty, ierr)
      type(*), dimension(..), intent(in) :: items
      procedure(treefold_combine) :: combine
      type(*), dimension(..), intent(inout) :: result
      type(c_ptr), intent(in), optional :: context
      type(*), dimension(..), intent(in), optional :: empty
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_items, of_result, of_empty
      integer(int8), allocatable, target :: copy_of_items(:), copy_of_result(:), copy_of_empty(:)
      type(c_ptr) :: place
      integer(c_int32_t) :: status
      integer :: i

      if (treefold_unusable('items', items, of_items, -1, ierr)) return
      if (treefold_unusable('result', result, of_result, -1, ierr)) return
      if (other_type('result', of_result, of_items, ierr)) return
      do i = 1, of_result%rank
         if (other_length('dimension ' // decimal(int(i, int64)) // ' of result', treefold_view_extent(result, i), &
            treefold_view_extent(items, i), ierr)) return
      end do
      if (present(empty)) then
         if (treefold_unusable('empty', empty, of_empty, -1, ierr)) return
         if (other_type('empty', of_empty, of_items, ierr)) return
         if (other_length('empty', of_empty%elements, of_result%elements, ierr)) return
         of_empty%address = gathered(empty, of_empty, copy_of_empty)
      end if
      place = place_of(of_result, copy_of_result)
      status = c_fold_user(gathered(items, of_items, copy_of_items), of_items%elements / max(1_int64, of_result%elements), &
         of_result%elements * of_result%bytes, c_funloc(combine), pointer_or_null(context), of_empty%address, place)
      call end_call(status, result, of_result, place, ierr)
   end subroutine treefold_fold_user

   ! The sum in lanes: x(i) belongs to lane mod(i - 1, lanes), each lane is summed in tree order, and then their sums.
   subroutine treefold_sum_lanes(x, lanes, result, ierr)
      type(*), dimension(..), intent(in) :: x
      integer, intent(in) :: lanes
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_result
      integer(int8), allocatable, target :: copy_of_x(:)

      if (treefold_unusable('x', x, of_x, 0, ierr)) return
      if (treefold_unusable('result', result, of_result, of_x%type, ierr)) return
      if (other_length('result', of_result%elements, 1_int64, ierr)) return
      if (negative('lanes', int(lanes, int64), ierr)) return
      call treefold_end_call(c_sum_lanes(of_x%type, gathered(x, of_x, copy_of_x), of_x%elements, int(lanes, c_size_t), &
         of_result%address), ierr)
   end subroutine treefold_sum_lanes

   ! The sum of the numbers, and that of their absolute values, which bounds the error of the first.
   subroutine treefold_sum_and_absolute_sum(x, sum, absolute_sum, ierr)
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: sum, absolute_sum
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_sum, of_absolute
      integer(int8), allocatable, target :: copy_of_x(:)

      if (treefold_unusable('x', x, of_x, 0, ierr)) return
      if (treefold_unusable('sum', sum, of_sum, of_x%type, ierr)) return
      if (treefold_unusable('absolute_sum', absolute_sum, of_absolute, of_x%type, ierr)) return
      if (other_length('sum', of_sum%elements, 1_int64, ierr)) return
      if (other_length('absolute_sum', of_absolute%elements, 1_int64, ierr)) return
      call treefold_end_call(c_sum_and_absolute_sum(of_x%type, gathered(x, of_x, copy_of_x), of_x%elements, of_sum%address, &
         of_absolute%address), ierr)
   end subroutine treefold_sum_and_absolute_sum

   ! Reduces all elements of x, or its rows, or, for DOT_OF_TWO, its products with y, by the threads of `team` if there is one.
   subroutine reduce(op, by_rows, x, y, result, team, context, ierr)
      integer(c_int32_t), intent(in) :: op
      logical, intent(in) :: by_rows
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: result
      type(c_funptr), intent(in), optional :: team
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_y, of_result
      integer(int8), allocatable, target :: copy_of_result(:)
      type(c_ptr) :: place
      integer(c_int32_t) :: status
      integer(int64) :: width

      if (treefold_unusable('x', x, of_x, 0, ierr)) return
      if (treefold_unusable('result', result, of_result, of_x%type, ierr)) return
      width = 1
      if (by_rows) width = treefold_view_extent(x, 1)
      if (other_length('result', of_result%elements, width, ierr)) return
      if (op == DOT_OF_TWO) then
         if (treefold_unusable('y', y, of_y, of_x%type, ierr)) return
         if (other_length('y', of_y%elements, of_x%elements, ierr)) return
      end if
      place = place_of(of_result, copy_of_result)
      if (of_x%is_contiguous /= 0 .and. of_y%is_contiguous /= 0) then
         status = folded(op, of_x%type, of_x%address, of_x%elements, by_rows, width, of_y%address, team, context, place)
      else
         status = folded_by_blocks(op, x, of_x, y, by_rows, width, team, context, place)
      end if
      call end_call(status, result, of_result, place, ierr)
   end subroutine reduce

   ! The reduction of n elements that follow each other.
   function folded(op, type, x, n, by_rows, width, y, team, context, result) result(status)
      integer(c_int32_t), intent(in) :: op, type
      type(c_ptr), intent(in) :: x, y, result
      integer(int64), intent(in) :: n, width
      logical, intent(in) :: by_rows
      type(c_funptr), intent(in), optional :: team
      type(c_ptr), intent(in), optional :: context
      integer(c_int32_t) :: status

      if (op == DOT_OF_TWO .and. present(team)) then
         status = c_dot_on(type, x, n, y, n, team, pointer_or_null(context), result)
      else if (op == DOT_OF_TWO) then
         status = c_dot(type, x, n, y, n, result)
      else if (present(team)) then
         status = c_fold_on(type, op, x, n, team, pointer_or_null(context), result)
      else if (by_rows) then
         status = c_fold_rows(type, op, x, n, width, result, width)
      else
         status = c_fold(type, op, x, n, result)
      end if
   end function folded

   ! The reduction of elements with gaps between them: blocks of 2^k rows are copied and reduced. Every block but the last is a
   ! complete subtree, so that the values of blocks combine as in a binary counter, and what is left from right to left.
   function folded_by_blocks(op, x, of_x, y, by_rows, width, team, context, result) result(status)
      integer(c_int32_t), intent(in) :: op
      type(*), dimension(..), intent(in) :: x, y
      type(treefold_view), intent(in) :: of_x
      logical, intent(in) :: by_rows
      integer(int64), intent(in) :: width
      type(c_funptr), intent(in), optional :: team
      type(c_ptr), intent(in), optional :: context
      type(c_ptr), intent(in) :: result
      integer(c_int32_t) :: status
      integer(int8), allocatable, target :: x_block(:), y_block(:), values(:, :), joined(:)
      integer(int8), pointer :: row(:)
      integer(int64) :: rows, block, row_bytes, begin, count, limit, i
      integer :: level, levels

      limit = BLOCK_ELEMENTS
      if (present(team)) limit = BLOCK_OF_THREADS
      if (c_thread_count() /= 1) limit = BLOCK_OF_THREADS
      rows = of_x%elements / width
      block = 1
      do while (2 * block * width <= limit .and. block < rows)
         block = 2 * block
      end do
      row_bytes = width * of_x%bytes
      levels = 66 - leadz(rows / block)
      allocate (x_block(block * row_bytes), y_block(merge(block * row_bytes, 1_int64, op == DOT_OF_TWO)))
      allocate (values(row_bytes, levels), joined(row_bytes))
      level = 0
      do begin = 0, rows - 1, block
         count = min(block, rows - begin) * width
         call treefold_view_read(x, begin * width, count, c_loc(x_block))
         if (op == DOT_OF_TWO) call treefold_view_read(y, begin, count, c_loc(y_block))
         level = level + 1
         status = folded(op, of_x%type, c_loc(x_block), count, by_rows, width, c_loc(y_block), team, context, &
            c_loc(values(1, level)))
         if (status /= TREEFOLD_OK) return
         do i = 1, trailz(begin / block + 1)
            call join()
            if (status /= TREEFOLD_OK) return
         end do
      end do
      do while (level > 1)
         call join()
         if (status /= TREEFOLD_OK) return
      end do
      call c_f_pointer(result, row, [row_bytes])
      row = values(:, 1)

   contains

      ! Combines the two uppermost values.
      subroutine join()
         level = level - 1
         status = c_fold_rows(of_x%type, merge(TREEFOLD_OP_SUM, op, op == DOT_OF_TWO), c_loc(values(1, level)), 2 * width, &
            width, c_loc(joined), width)
         values(:, level) = joined
      end subroutine join
   end function folded_by_blocks

   ! ---- Exact ----

   ! A statistic of all elements of x, or of the pairs x(i), y(i). A count is an integer(int64).
   subroutine treefold_exact(statistic, x, result, y, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: y
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr

      if (present(y)) then
         call compute(statistic, 1_int64, .false., x, .true., y, .false., x, result, ddof, ierr)
      else
         call compute(statistic, 1_int64, .false., x, .false., x, .false., x, result, ddof, ierr)
      end if
   end subroutine treefold_exact

   ! A statistic of each row's element c, for every c: result(c) becomes that of x(c, :).
   subroutine treefold_exact_rows(statistic, x, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr

      call compute(statistic, treefold_view_extent(x, 1), .true., x, .false., x, .false., x, result, ddof, ierr)
   end subroutine treefold_exact_rows

   ! A statistic of each key's items: element g of the result, counted from 0, becomes that of the items whose key is g. Keys are
   ! 0 to size(result) - 1.
   subroutine treefold_by_key(statistic, keys, x, result, y, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: keys, x
      type(*), dimension(..), intent(inout) :: result
      type(*), dimension(..), intent(in), optional :: y
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr

      if (present(y)) then
         call compute(statistic, 1_int64, .false., x, .true., y, .true., keys, result, ddof, ierr)
      else
         call compute(statistic, 1_int64, .false., x, .false., x, .true., keys, result, ddof, ierr)
      end if
   end subroutine treefold_by_key

   ! The same for the columns of each key's rows: x(:, i) is a row with key keys(i), and result has a row for each key.
   subroutine treefold_by_key_rows(statistic, keys, x, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: keys, x
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr

      call compute(statistic, treefold_view_extent(x, 1), .true., x, .false., x, .true., keys, result, ddof, ierr)
   end subroutine treefold_by_key_rows

   subroutine compute(statistic, width, by_rows, x, has_y, y, has_keys, keys, result, ddof, ierr)
      integer(c_int32_t), intent(in) :: statistic
      integer(int64), intent(in) :: width
      logical, intent(in) :: by_rows, has_y, has_keys
      type(*), dimension(..), intent(in) :: x, y, keys
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_y, of_keys, of_result
      integer(int8), allocatable, target :: copy_of_result(:)
      type(c_ptr) :: place
      integer(c_int32_t) :: status
      integer(int64) :: m

      if (unusable_items(x, of_x, 0, width, has_y, y, of_y, has_keys, keys, of_keys, ierr)) return
      if (treefold_unusable('result', result, of_result, type_of_result(statistic, of_x%type), ierr)) return
      if (.not. has_keys) then
         if (other_length('result', of_result%elements, width, ierr)) return
      else if (by_rows .and. of_result%rank > 1) then
         if (other_length('a row of result', treefold_view_extent(result, 1), width, ierr)) return
      end if
      m = of_result%elements
      place = place_of(of_result, copy_of_result)
      if (of_x%is_contiguous == 0 .or. of_y%is_contiguous == 0 .or. of_keys%is_contiguous == 0) then
         status = computed_by_blocks()
      else if (by_rows) then
         status = c_by_key_rows(of_x%type, statistic, or_zero(ddof), width, of_keys%type, of_keys%address, of_keys%elements, &
            of_x%address, of_x%elements, place, m)
      else if (has_keys) then
         status = c_by_key(of_x%type, statistic, or_zero(ddof), of_keys%type, of_keys%address, of_keys%elements, of_x%address, &
            of_x%elements, of_y%address, of_y%elements, place, m)
      else
         status = c_exact(of_x%type, statistic, or_zero(ddof), of_x%address, of_x%elements, of_y%address, of_y%elements, place)
      end if
      call end_call(status, result, of_result, place, ierr)

   contains

      ! The same by a state that takes block after block: an accumulator, or sums by key, which have more statistics.
      function computed_by_blocks() result(status)
         integer(c_int32_t) :: status, ignored
         type(c_ptr) :: state
         logical :: is_keyed

         state = c_null_ptr
         is_keyed = by_rows .or. has_keys .or. all(statistic /= [TREEFOLD_STATISTIC_COUNT, TREEFOLD_STATISTIC_SUM, &
            TREEFOLD_STATISTIC_MEAN, TREEFOLD_STATISTIC_VARIANCE, TREEFOLD_STATISTIC_STD, TREEFOLD_STATISTIC_NORM, &
            TREEFOLD_STATISTIC_DOT, TREEFOLD_STATISTIC_VDOT])
         if (.not. is_keyed) then
            status = c_accumulator_create(of_x%type, statistic, state)
         else if (by_rows) then
            status = c_keyed_create_rows(of_x%type, statistic, m / width, width, state)
         else
            status = c_keyed_create(of_x%type, statistic, m, state)
         end if
         if (status /= TREEFOLD_OK) return
         if (is_keyed .and. statistic == TREEFOLD_STATISTIC_NORM) then
            status = added_by_blocks(state, is_keyed, .false., width, x, of_x, .true., x, of_x, has_keys, keys, of_keys)
         else
            status = added_by_blocks(state, is_keyed, .false., width, x, of_x, has_y, y, of_y, has_keys, keys, of_keys)
         end if
         if (status == TREEFOLD_OK .and. is_keyed) status = c_keyed_values(state, statistic, or_zero(ddof), place, m)
         if (status == TREEFOLD_OK .and. .not. is_keyed) status = c_accumulator_value(state, statistic, or_zero(ddof), place)
         if (is_keyed) ignored = c_keyed_destroy(state)
         if (.not. is_keyed) ignored = c_accumulator_destroy(state)
      end function computed_by_blocks
   end subroutine compute

   ! Looks at the items of a statistic; true after an error.
   function unusable_items(x, of_x, type, width, has_y, y, of_y, has_keys, keys, of_keys, ierr) result(is)
      type(*), dimension(..), intent(in) :: x, y, keys
      type(treefold_view), intent(inout) :: of_x, of_y, of_keys
      logical, intent(in) :: has_y, has_keys
      integer(c_int32_t), intent(in) :: type
      integer(int64), intent(in) :: width
      integer, intent(out), optional :: ierr
      logical :: is

      is = .true.
      if (treefold_unusable('x', x, of_x, type, ierr)) return
      if (width > 1 .and. of_x%rank > 1) then
         if (other_length('a row of x', treefold_view_extent(x, 1), width, ierr)) return
      end if
      if (has_y) then
         if (treefold_unusable('y', y, of_y, of_x%type, ierr)) return
         if (other_length('y', of_y%elements, of_x%elements, ierr)) return
      end if
      if (has_keys) then
         if (treefold_unusable('keys', keys, of_keys, 0, ierr)) return
         if (of_keys%type < TREEFOLD_I8) then
            is = treefold_refused(TREEFOLD_ARGUMENT, '`keys`: ' // treefold_type_name(of_keys%type) // ' instead of integers', ierr)
            return
         end if
         if (other_length('x', of_x%elements, of_keys%elements * width, ierr)) return
      end if
      is = .false.
   end function unusable_items

   ! Adds items to a state, or takes them back, by blocks of rows; as one block where none has gaps. A state that a later block
   ! leaves in error has the earlier ones.
   function added_by_blocks(state, is_keyed, is_removal, width, x, of_x, has_y, y, of_y, has_keys, keys, of_keys) result(status)
      type(c_ptr), intent(in) :: state
      logical, intent(in) :: is_keyed, is_removal, has_y, has_keys
      integer(int64), intent(in) :: width
      type(*), dimension(..), intent(in) :: x, y, keys
      type(treefold_view), intent(in) :: of_x, of_y, of_keys
      integer(c_int32_t) :: status
      integer(int8), allocatable, target :: x_block(:), y_block(:), key_block(:)
      type(c_ptr) :: x_items, y_items, key_items
      integer(int64) :: rows, block, begin, count, n
      integer(c_int32_t) :: key_type

      rows = of_x%elements / max(1_int64, width)
      block = max(1_int64, BLOCK_ELEMENTS / max(1_int64, width))
      if (of_x%is_contiguous /= 0 .and. of_y%is_contiguous /= 0 .and. of_keys%is_contiguous /= 0) block = max(1_int64, rows)
      key_type = merge(of_keys%type, TREEFOLD_I8, has_keys)
      if (is_keyed .and. .not. has_keys) then
         allocate (key_block(min(block, rows)))
         key_block = 0
      end if
      begin = 0
      do
         count = min(block, rows - begin)
         n = count * width
         if (rows == 0) n = of_x%elements
         x_items = part_of(x, of_x, begin * width, n, x_block)
         y_items = c_null_ptr
         if (has_y) y_items = part_of(y, of_y, begin * width, n, y_block)
         if (has_keys) then
            key_items = part_of(keys, of_keys, begin, count, key_block)
         else if (is_keyed) then
            key_items = c_loc(key_block)
         end if
         status = added()
         if (status /= TREEFOLD_OK .and. begin > 0) status = treefold_report(status, 'numbers of items count from item ' // &
            decimal(begin) // ' here: ' // treefold_error_message() // c_null_char)
         begin = begin + block
         if (begin >= rows .or. status /= TREEFOLD_OK) return
      end do

   contains

      function added() result(status)
         integer(c_int32_t) :: status
         procedure(c_array), pointer :: take
         procedure(c_arrays), pointer :: take_pairs
         procedure(c_keyed_array), pointer :: take_keyed
         procedure(c_keyed_arrays), pointer :: take_keyed_pairs

         if (is_keyed .and. has_y) then
            take_keyed_pairs => c_keyed_add_pairs
            if (is_removal) take_keyed_pairs => c_keyed_remove_pairs
            status = take_keyed_pairs(state, key_type, key_items, count, x_items, n, y_items, n)
         else if (is_keyed) then
            take_keyed => c_keyed_add
            if (is_removal) take_keyed => c_keyed_remove
            status = take_keyed(state, key_type, key_items, count, x_items, n)
         else if (has_y) then
            take_pairs => c_accumulator_add_pairs
            if (is_removal) take_pairs => c_accumulator_remove_pairs
            status = take_pairs(state, x_items, n, y_items, n)
         else
            take => c_accumulator_add
            if (is_removal) take => c_accumulator_remove
            status = take(state, x_items, n)
         end if
      end function added
   end function added_by_blocks

   ! Adds to a state of the caller's, or takes back. Several blocks go to a copy first, since a failed call changes nothing.
   subroutine change(state, is_keyed, is_removal, element, width, x, has_pairs, y, keys, ierr)
      type(c_ptr), intent(inout) :: state
      logical, intent(in) :: is_keyed, is_removal, has_pairs
      integer(c_int32_t), intent(in) :: element
      integer(int64), intent(in) :: width
      type(*), dimension(..), intent(in) :: x, y, keys
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_y, of_keys
      type(c_ptr) :: old, copy
      integer(c_int32_t) :: status, ignored

      if (unusable_items(x, of_x, merge(element, 0_c_int32_t, c_associated(state)), width, &
         has_pairs, y, of_y, is_keyed, keys, of_keys, ierr)) return
      if (of_x%elements <= BLOCK_ELEMENTS .or. &
         (of_x%is_contiguous /= 0 .and. of_y%is_contiguous /= 0 .and. of_keys%is_contiguous /= 0)) then
         status = added_by_blocks(state, is_keyed, is_removal, width, x, of_x, has_pairs, y, of_y, is_keyed, keys, of_keys)
      else
         old = state
         copy = c_null_ptr
         if (is_keyed) status = c_keyed_copy(old, copy)
         if (.not. is_keyed) status = c_accumulator_copy(old, copy)
         if (status == TREEFOLD_OK) status = added_by_blocks(copy, is_keyed, is_removal, width, x, of_x, has_pairs, y, of_y, &
            is_keyed, keys, of_keys)
         if (status == TREEFOLD_OK) then
            state = copy
            copy = old
         end if
         if (is_keyed) ignored = c_keyed_destroy(copy)
         if (.not. is_keyed) ignored = c_accumulator_destroy(copy)
      end if
      call treefold_end_call(status, ierr)
   end subroutine change

   ! The type of a statistic of items of a type.
   pure function type_of_result(statistic, element) result(type)
      integer(c_int32_t), intent(in) :: statistic, element
      integer(c_int32_t) :: type

      type = element
      if (statistic == TREEFOLD_STATISTIC_COUNT) then
         type = TREEFOLD_I64
      else if (any(statistic == [TREEFOLD_STATISTIC_VARIANCE, TREEFOLD_STATISTIC_STD]) .and. &
         any(element == [TREEFOLD_C32, TREEFOLD_C64])) then
         type = merge(TREEFOLD_F32, TREEFOLD_F64, element == TREEFOLD_C32)
      else if (element >= TREEFOLD_I8) then
         type = merge(TREEFOLD_I64, TREEFOLD_F64, statistic == TREEFOLD_STATISTIC_SUM)
      end if
   end function type_of_result

   ! ---- Moving windows ----

   ! A statistic of the window of each item: result has as many numbers as x, of its type. Windows go by window%items, or by an
   ! index, such as a time, which ascends: a real or an integer for each item, and `width`, one of these.
   subroutine treefold_rolling(statistic, x, result, window, y, ddof, index, width, ierr)
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x
      type(*), dimension(..), intent(inout) :: result
      type(treefold_window), intent(in) :: window
      type(*), dimension(..), intent(in), optional :: y, index, width
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_x, of_y, of_index, of_width, of_result
      integer(int8), allocatable, target :: copy_of_x(:), copy_of_y(:), copy_of_index(:), copy_of_result(:)
      type(c_window) :: windows
      type(c_ptr) :: place, y_items
      integer(c_int32_t) :: status

      if (treefold_unusable('x', x, of_x, 0, ierr)) return
      if (treefold_unusable('result', result, of_result, of_x%type, ierr)) return
      y_items = c_null_ptr
      if (present(y)) then
         if (treefold_unusable('y', y, of_y, of_x%type, ierr)) return
         y_items = gathered(y, of_y, copy_of_y)
      end if
      if (negative('window%items', window%items, ierr)) return
      if (negative('window%least_items', window%least_items, ierr)) return
      windows = c_window(window%items, c_null_ptr, c_null_ptr, 0, int(window%placement, c_int32_t), window%least_items, &
         merge(1, 0, window%skip_nan))
      if (present(index)) then
         if (treefold_unusable('index', index, of_index, 0, ierr)) return
         if (other_length('index', of_index%elements, of_x%elements, ierr)) return
         windows%index = gathered(index, of_index, copy_of_index)
         windows%index_type = of_index%type
      end if
      if (present(width)) then
         if (treefold_unusable('width', width, of_width, of_index%type, ierr)) return
         if (other_length('width', of_width%elements, 1_int64, ierr)) return
         windows%width = of_width%address
      end if
      place = place_of(of_result, copy_of_result)
      status = c_rolling(of_x%type, statistic, or_zero(ddof), windows, gathered(x, of_x, copy_of_x), of_x%elements, y_items, &
         of_y%elements, place, of_result%elements)
      call end_call(status, result, of_result, place, ierr)
   end subroutine treefold_rolling

   ! ---- Accumulators ----

   ! An accumulator of no items: of a type of real or complex numbers, for COUNT, SUM, MEAN, VARIANCE, STD, NORM, DOT or VDOT.
   subroutine treefold_accumulator_create(type, statistic, accumulator, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr

      call finalise_accumulator(accumulator)
      accumulator%element = type
      call treefold_end_call(c_accumulator_create(type, statistic, accumulator%handle), ierr)
   end subroutine treefold_accumulator_create

   ! Makes `copy` another accumulator of the same items.
   subroutine treefold_accumulator_copy(accumulator, copy, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      type(treefold_accumulator), intent(inout) :: copy
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle
      integer(c_int32_t) :: status

      handle = c_null_ptr
      status = c_accumulator_copy(accumulator%handle, handle)
      if (status == TREEFOLD_OK) then
         call finalise_accumulator(copy)
         copy%handle = handle
         copy%element = accumulator%element
      end if
      call treefold_end_call(status, ierr)
   end subroutine treefold_accumulator_copy

   ! Ends an accumulator; no error if it has ended, or was never created.
   subroutine treefold_accumulator_destroy(accumulator, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_accumulator_destroy(accumulator%handle), ierr)
   end subroutine treefold_accumulator_destroy

   ! Forgets all items.
   subroutine treefold_accumulator_clear(accumulator, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_accumulator_clear(accumulator%handle), ierr)
   end subroutine treefold_accumulator_clear

   ! Adds items, or takes back items that were added; DOT and VDOT take pairs.
   subroutine treefold_accumulator_add(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x
      integer, intent(out), optional :: ierr

      call change(accumulator%handle, .false., .false., accumulator%element, 1_int64, x, .false., x, x, ierr)
   end subroutine treefold_accumulator_add

   subroutine treefold_accumulator_remove(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x
      integer, intent(out), optional :: ierr

      call change(accumulator%handle, .false., .true., accumulator%element, 1_int64, x, .false., x, x, ierr)
   end subroutine treefold_accumulator_remove

   subroutine treefold_accumulator_add_pairs(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x, y
      integer, intent(out), optional :: ierr

      call change(accumulator%handle, .false., .false., accumulator%element, 1_int64, x, .true., y, x, ierr)
   end subroutine treefold_accumulator_add_pairs

   subroutine treefold_accumulator_remove_pairs(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      type(*), dimension(..), intent(in) :: x, y
      integer, intent(out), optional :: ierr

      call change(accumulator%handle, .false., .true., accumulator%element, 1_int64, x, .true., y, x, ierr)
   end subroutine treefold_accumulator_remove_pairs

   ! Adds what another accumulator of the same type and sums was given, which may be this one, or takes it back.
   subroutine treefold_accumulator_merge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_accumulator_merge(accumulator%handle, other%handle), ierr)
   end subroutine treefold_accumulator_merge

   subroutine treefold_accumulator_unmerge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_accumulator_unmerge(accumulator%handle, other%handle), ierr)
   end subroutine treefold_accumulator_unmerge

   ! A statistic of the items. A count is an integer(int64); a variance and a standard deviation of complex numbers are real.
   subroutine treefold_accumulator_value(accumulator, statistic, result, ddof, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_result

      if (treefold_unusable('result', result, of_result, merge(type_of_result(statistic, accumulator%element), &
         0_c_int32_t, c_associated(accumulator%handle)), ierr)) return
      if (other_length('result', of_result%elements, 1_int64, ierr)) return
      call treefold_end_call(c_accumulator_value(accumulator%handle, statistic, or_zero(ddof), of_result%address), ierr)
   end subroutine treefold_accumulator_value

   ! Whether two hold the same sum of as many items, of each kind of those that are NaN, infinite or -0.
   function treefold_accumulator_equal(accumulator, other, ierr) result(is_equal)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr
      logical :: is_equal

      is_equal = are_equal(c_accumulator_equal, accumulator%handle, other%handle, ierr)
   end function treefold_accumulator_equal

   ! An accumulator as bytes, for files and other programs. Equal ones have the same.
   subroutine treefold_accumulator_to_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(int8), intent(out), allocatable :: bytes(:)
      integer, intent(out), optional :: ierr

      call write_bytes(c_accumulator_to_bytes, accumulator%handle, bytes, ierr)
   end subroutine treefold_accumulator_to_bytes

   ! Makes an accumulator what bytes stand for. They are those of one of its type that holds the same.
   subroutine treefold_accumulator_of_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr

      call read_bytes(c_accumulator_of_bytes, accumulator%handle, bytes, ierr)
   end subroutine treefold_accumulator_of_bytes

   ! ---- Sums by key that are held ----

   ! A state of no items for the keys 0 to keys - 1: of real numbers, or of integers for COUNT, SUM, MEAN, VARIANCE and STD.
   subroutine treefold_keyed_create(type, statistic, keys, keyed, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      integer, intent(in) :: keys
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call finalise_keyed(keyed)
      if (negative('keys', int(keys, int64), ierr)) return
      keyed%element = type
      keyed%width = 1
      call treefold_end_call(c_keyed_create(type, statistic, int(keys, c_size_t), keyed%handle), ierr)
   end subroutine treefold_keyed_create

   ! A state of rows of `width` items: treefold_keyed_add takes x(:, i) with keys(i), _values writes a row for each key.
   subroutine treefold_keyed_create_rows(type, statistic, keys, width, keyed, ierr)
      integer(c_int32_t), intent(in) :: type, statistic
      integer, intent(in) :: keys, width
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call finalise_keyed(keyed)
      if (negative('keys', int(keys, int64), ierr)) return
      if (negative('width', int(width, int64), ierr)) return
      keyed%element = type
      keyed%width = width
      call treefold_end_call(c_keyed_create_rows(type, statistic, int(keys, c_size_t), int(width, c_size_t), keyed%handle), ierr)
   end subroutine treefold_keyed_create_rows

   ! Sums of the keys that have items, which may be any integers.
   subroutine treefold_keyed_create_hashed(type, keyed, ierr)
      integer(c_int32_t), intent(in) :: type
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call finalise_keyed(keyed)
      keyed%element = type
      keyed%width = 1
      call treefold_end_call(c_keyed_create_hashed(type, TREEFOLD_I64, keyed%handle), ierr)
   end subroutine treefold_keyed_create_hashed

   ! The next ones are as those of accumulators.
   subroutine treefold_keyed_copy(keyed, copy, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(treefold_keyed), intent(inout) :: copy
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle
      integer(c_int32_t) :: status

      handle = c_null_ptr
      status = c_keyed_copy(keyed%handle, handle)
      if (status == TREEFOLD_OK) then
         call finalise_keyed(copy)
         copy%handle = handle
         copy%element = keyed%element
         copy%width = keyed%width
      end if
      call treefold_end_call(status, ierr)
   end subroutine treefold_keyed_copy

   subroutine treefold_keyed_destroy(keyed, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_keyed_destroy(keyed%handle), ierr)
   end subroutine treefold_keyed_destroy

   subroutine treefold_keyed_clear(keyed, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_keyed_clear(keyed%handle), ierr)
   end subroutine treefold_keyed_clear

   ! Adds items to those of their keys, or takes back what was added. States of two arrays take pairs; NORM is one, of x and x.
   subroutine treefold_keyed_add(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x
      integer, intent(out), optional :: ierr

      call change(keyed%handle, .true., .false., keyed%element, keyed%width, x, .false., x, keys, ierr)
   end subroutine treefold_keyed_add

   subroutine treefold_keyed_remove(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x
      integer, intent(out), optional :: ierr

      call change(keyed%handle, .true., .true., keyed%element, keyed%width, x, .false., x, keys, ierr)
   end subroutine treefold_keyed_remove

   subroutine treefold_keyed_add_pairs(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x, y
      integer, intent(out), optional :: ierr

      call change(keyed%handle, .true., .false., keyed%element, keyed%width, x, .true., y, keys, ierr)
   end subroutine treefold_keyed_add_pairs

   subroutine treefold_keyed_remove_pairs(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      type(*), dimension(..), intent(in) :: keys, x, y
      integer, intent(out), optional :: ierr

      call change(keyed%handle, .true., .true., keyed%element, keyed%width, x, .true., y, keys, ierr)
   end subroutine treefold_keyed_remove_pairs

   subroutine treefold_keyed_merge(keyed, other, ierr)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_keyed_merge(keyed%handle, other%handle), ierr)
   end subroutine treefold_keyed_merge

   subroutine treefold_keyed_unmerge(keyed, other, ierr)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr

      call treefold_end_call(c_keyed_unmerge(keyed%handle, other%handle), ierr)
   end subroutine treefold_keyed_unmerge

   ! The number of keys.
   function treefold_keyed_groups(keyed, ierr) result(groups)
      type(treefold_keyed), intent(in) :: keyed
      integer, intent(out), optional :: ierr
      integer(int64) :: groups

      groups = 0
      call treefold_end_call(c_keyed_groups(keyed%handle, groups), ierr)
   end function treefold_keyed_groups

   ! The keys of a state of any keys, ascending, as integer(int64).
   subroutine treefold_keyed_keys(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_result
      integer(int8), allocatable, target :: copy_of_result(:)
      type(c_ptr) :: place
      integer(c_int32_t) :: status

      if (treefold_unusable('result', result, of_result, TREEFOLD_I64, ierr)) return
      place = place_of(of_result, copy_of_result)
      status = c_keyed_keys(keyed%handle, place, of_result%elements)
      call end_call(status, result, of_result, place, ierr)
   end subroutine treefold_keyed_keys

   ! A statistic of each key: integer(int64) for a count and for sums of integers, real(real64) for other statistics of integers,
   ! else the type of the items.
   subroutine treefold_keyed_values(keyed, statistic, result, ddof, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(c_int32_t), intent(in) :: statistic
      type(*), dimension(..), intent(inout) :: result
      real(real64), intent(in), optional :: ddof
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_result
      integer(int8), allocatable, target :: copy_of_result(:)
      type(c_ptr) :: place
      integer(c_int32_t) :: status

      if (treefold_unusable('result', result, of_result, merge(type_of_result(statistic, keyed%element), 0_c_int32_t, &
         c_associated(keyed%handle)), ierr)) return
      if (keyed%width > 1 .and. of_result%rank > 1) then
         if (other_length('a row of result', treefold_view_extent(result, 1), keyed%width, ierr)) return
      end if
      place = place_of(of_result, copy_of_result)
      status = c_keyed_values(keyed%handle, statistic, or_zero(ddof), place, of_result%elements)
      call end_call(status, result, of_result, place, ierr)
   end subroutine treefold_keyed_values

   ! Whether two have the same keys, each with the same sum of as many items.
   function treefold_keyed_equal(keyed, other, ierr) result(is_equal)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr
      logical :: is_equal

      is_equal = are_equal(c_keyed_equal, keyed%handle, other%handle, ierr)
   end function treefold_keyed_equal

   subroutine treefold_keyed_to_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int8), intent(out), allocatable :: bytes(:)
      integer, intent(out), optional :: ierr

      call write_bytes(c_keyed_to_bytes, keyed%handle, bytes, ierr)
   end subroutine treefold_keyed_to_bytes

   ! The state has as many keys then as the bytes have.
   subroutine treefold_keyed_of_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr

      call read_bytes(c_keyed_of_bytes, keyed%handle, bytes, ierr)
   end subroutine treefold_keyed_of_bytes

   ! The name that C has for a state: for module treefold_mpi.
   pure function treefold_keyed_handle(keyed) result(handle)
      type(treefold_keyed), intent(in) :: keyed
      type(c_ptr) :: handle

      handle = keyed%handle
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

   subroutine read_bytes(of_bytes, state, bytes, ierr)
      procedure(c_array) :: of_bytes
      type(c_ptr), intent(in) :: state
      type(*), dimension(..), intent(in) :: bytes
      integer, intent(out), optional :: ierr
      type(treefold_view) :: of_array
      integer(int8), allocatable, target :: copy(:)

      if (treefold_unusable('bytes', bytes, of_array, TREEFOLD_I8, ierr)) return
      call treefold_end_call(of_bytes(state, gathered(bytes, of_array, copy), of_array%elements), ierr)
   end subroutine read_bytes

   ! Nobody is left to hear of an error in a finaliser. It has no effect on what has ended already, nor on what was never created.
   impure elemental subroutine finalise_accumulator(accumulator)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer(c_int32_t) :: ignored

      if (c_associated(accumulator%handle)) ignored = c_accumulator_destroy(accumulator%handle)
      accumulator%handle = c_null_ptr
   end subroutine finalise_accumulator

   impure elemental subroutine finalise_keyed(keyed)
      type(treefold_keyed), intent(inout) :: keyed
      integer(c_int32_t) :: ignored

      if (c_associated(keyed%handle)) ignored = c_keyed_destroy(keyed%handle)
      keyed%handle = c_null_ptr
   end subroutine finalise_keyed

   impure elemental subroutine assign_accumulator(to, from)
      class(treefold_accumulator), intent(inout) :: to
      type(treefold_accumulator), intent(in) :: from

      if (c_associated(from%handle)) then
         call treefold_accumulator_copy(from, to)
      else
         call finalise_accumulator(to)
      end if
   end subroutine assign_accumulator

   impure elemental subroutine assign_keyed(to, from)
      class(treefold_keyed), intent(inout) :: to
      type(treefold_keyed), intent(in) :: from

      if (c_associated(from%handle)) then
         call treefold_keyed_copy(from, to)
      else
         call finalise_keyed(to)
      end if
   end subroutine assign_keyed

   ! ---- Arguments ----

   ! Looks at an array; true after an error that names it. `type` is what its elements must be: 0 for any type that treefold
   ! reduces, -1 for any at all.
   function treefold_unusable(name, array, view, type, ierr) result(is)
      character(len=*), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      type(treefold_view), intent(inout) :: view
      integer, intent(in) :: type
      integer, intent(out), optional :: ierr
      logical :: is

      is = .false.
      call treefold_view_of(array, view)
      if (view%state == 1) then
         is = treefold_refused(TREEFOLD_ARGUMENT, '`' // name // '` is an array of assumed size: give a section ' // &
            'of it, such as ' // name // '(:n)', ierr)
      else if (view%state == 2) then
         is = treefold_refused(TREEFOLD_NULL, '`' // name // '` is not allocated, or a pointer without a target', ierr)
      else if (type >= 0 .and. view%type == 0) then
         is = treefold_refused(TREEFOLD_ARGUMENT, '`' // name // '` has elements of another type than integers ' // &
            'of 1, 2, 4 or 8 bytes, real32, real64 and complex numbers of these', ierr)
      else if (type > 0 .and. view%type /= type) then
         is = treefold_refused(TREEFOLD_ARGUMENT, '`' // name // '` is ' // treefold_type_name(view%type) // ' instead of ' // &
            treefold_type_name(int(type, c_int32_t)), ierr)
      end if
   end function treefold_unusable

   ! The type of a code in Fortran.
   pure function treefold_type_name(type) result(name)
      integer(c_int32_t), intent(in) :: type
      character(len=:), allocatable :: name
      character(len=15), parameter :: NAMES(8) = [character(len=15) :: 'real(real32)', 'real(real64)', 'complex(real32)', &
         'complex(real64)', 'integer(int8)', 'integer(int16)', 'integer(int32)', 'integer(int64)']

      name = 'of another type'
      if (type >= TREEFOLD_F32 .and. type <= TREEFOLD_I64) name = trim(NAMES(type))
   end function treefold_type_name

   ! Reports items of the caller's operator that are not alike.
   function other_type(name, view, expected, ierr) result(is)
      character(len=*), intent(in) :: name
      type(treefold_view), intent(in) :: view, expected
      integer, intent(out), optional :: ierr
      logical :: is

      is = view%type /= expected%type .or. view%bytes /= expected%bytes
      if (is) is = treefold_refused(TREEFOLD_ARGUMENT, '`' // name // '` does not have elements of the type of `items`', ierr)
   end function other_type

   ! Reports the length of an array.
   function other_length(name, length, expected, ierr) result(is)
      character(len=*), intent(in) :: name
      integer(int64), intent(in) :: length, expected
      integer, intent(out), optional :: ierr
      logical :: is

      is = length /= expected
      if (is) is = treefold_refused(TREEFOLD_LENGTH, &
         '`' // name // '` has ' // decimal(length) // ' elements instead of ' // decimal(expected), ierr)
   end function other_length

   ! Reports a number that C would take for a huge one.
   function negative(name, number, ierr) result(is)
      character(len=*), intent(in) :: name
      integer(int64), intent(in) :: number
      integer, intent(out), optional :: ierr
      logical :: is

      is = number < 0
      if (is) is = treefold_refused(TREEFOLD_ARGUMENT, '`' // name // '` must not be negative: it is ' // decimal(number), ierr)
   end function negative

   ! Reports an error that is found here; always true.
   function treefold_refused(status, message, ierr) result(is)
      integer, intent(in) :: status
      character(len=*), intent(in) :: message
      integer, intent(out), optional :: ierr
      logical :: is

      is = .true.
      call treefold_end_call(treefold_report(int(status, c_int32_t), message // c_null_char), ierr)
   end function treefold_refused

   ! Ends every call: hands on its status, or ends the program.
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

   ! The same for a call that has written a result to a place for it.
   subroutine end_call(status, result, of_result, place, ierr)
      integer(c_int32_t), intent(in) :: status
      type(*), dimension(..), intent(inout) :: result
      type(treefold_view), intent(in) :: of_result
      type(c_ptr), intent(in) :: place
      integer, intent(out), optional :: ierr

      if (of_result%is_contiguous == 0 .and. status == TREEFOLD_OK) call treefold_view_write(result, place)
      call treefold_end_call(status, ierr)
   end subroutine end_call

   ! Where the elements of an array follow each other: in the array, or in a copy.
   function gathered(array, view, copy) result(address)
      type(*), dimension(..), intent(in) :: array
      type(treefold_view), intent(in) :: view
      integer(int8), allocatable, target, intent(inout) :: copy(:)
      type(c_ptr) :: address

      address = part_of(array, view, 0_int64, view%elements, copy)
   end function gathered

   ! The same for `count` elements; of an array without gaps there are all.
   function part_of(array, view, begin, count, copy) result(address)
      type(*), dimension(..), intent(in) :: array
      type(treefold_view), intent(in) :: view
      integer(int64), intent(in) :: begin, count
      integer(int8), allocatable, target, intent(inout) :: copy(:)
      type(c_ptr) :: address

      address = view%address
      if (view%is_contiguous /= 0 .and. count == view%elements) return
      if (.not. allocated(copy)) allocate (copy(count * view%bytes))
      call treefold_view_read(array, begin, count, c_loc(copy))
      address = c_loc(copy)
   end function part_of

   ! Where a result is to be written: into the array, or, if that has gaps, into a copy.
   function place_of(view, copy) result(address)
      type(treefold_view), intent(in) :: view
      integer(int8), allocatable, target, intent(inout) :: copy(:)
      type(c_ptr) :: address

      address = view%address
      if (view%is_contiguous /= 0) return
      allocate (copy(view%elements * view%bytes))
      address = c_loc(copy)
   end function place_of

   pure function or_zero(ddof) result(degrees)
      real(real64), intent(in), optional :: ddof
      real(real64) :: degrees

      degrees = 0
      if (present(ddof)) degrees = ddof
   end function or_zero

   function pointer_or_null(pointer) result(found)
      type(c_ptr), intent(in), optional :: pointer
      type(c_ptr) :: found

      found = c_null_ptr
      if (present(pointer)) found = pointer
   end function pointer_or_null

   function decimal(number) result(text)
      integer(int64), intent(in) :: number
      character(len=:), allocatable :: text
      character(len=20) :: digits

      write (digits, '(i0)') number
      text = trim(digits)
   end function decimal

   ! The text of a string of C.
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

! ---- What programs use ----------------------------------------------------------------------------------------------------------

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
