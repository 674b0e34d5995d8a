! treefold: reductions whose bits depend on the items, their order and the operator, and on nothing else.
!
!     use treefold
!     s = treefold_sum(x)
!
! Module treefold reduces the items of one process; module treefold_mpi has the reductions over the ranks of MPI, which give the
! same bits. docs/tutorial-fortran.md is the page to begin with, docs/order.md specifies the order.
!
! A reduction to one value or one row is a function, as the intrinsic sum is; one with two results, or by an operator of the
! caller, is a subroutine. The last argument, ierr, is optional: with it, a call leaves TREEFOLD_OK or the code of an error there,
! and after an error the result is not to be used. Without it, an error is printed on error_unit and ends the program by error
! stop. All procedures of this file may be called by several threads at once.
!
! Arrays are contiguous; of any other section the compiler makes a copy. A compiler that follows Fortran 2008 and a preprocessor
! are needed, nothing else: link with libtreefold.
!
! The file has one module for each type of element. They share the text that follows next, which this file includes from itself,
! so that it can be installed and compiled alone. Generic names with several specific procedures join where module treefold uses
! all of them.
#ifdef TREEFOLD_TYPE
! ---- The text of the modules for one type: TREEFOLD_TYPE, whose code is `element` ----------------------------------------------
   implicit none
   private

   public :: treefold_fold, treefold_par_fold

   interface treefold_fold
      module procedure fold_items, fold_columns
   end interface
   interface treefold_par_fold
      module procedure par_fold_items, par_fold_columns
   end interface

   ! <table: names of one type>
   public :: treefold_sum, treefold_sum_rows, treefold_par_sum, treefold_par_sum_rows, treefold_product, treefold_product_rows, &
      treefold_par_product, treefold_par_product_rows

   interface treefold_sum
      module procedure sum_items
   end interface
   interface treefold_sum_rows
      module procedure sum_rows
   end interface
   interface treefold_par_sum
      module procedure par_sum_items
   end interface
   interface treefold_par_sum_rows
      module procedure par_sum_rows
   end interface
   interface treefold_product
      module procedure product_items
   end interface
   interface treefold_product_rows
      module procedure product_rows
   end interface
   interface treefold_par_product
      module procedure par_product_items
   end interface
   interface treefold_par_product_rows
      module procedure par_product_rows
   end interface

#ifdef TREEFOLD_ORDERED
   public :: treefold_min, treefold_min_rows, treefold_par_min, treefold_par_min_rows, treefold_max, treefold_max_rows, &
      treefold_par_max, treefold_par_max_rows

   interface treefold_min
      module procedure min_items
   end interface
   interface treefold_min_rows
      module procedure min_rows
   end interface
   interface treefold_par_min
      module procedure par_min_items
   end interface
   interface treefold_par_min_rows
      module procedure par_min_rows
   end interface
   interface treefold_max
      module procedure max_items
   end interface
   interface treefold_max_rows
      module procedure max_rows
   end interface
   interface treefold_par_max
      module procedure par_max_items
   end interface
   interface treefold_par_max_rows
      module procedure par_max_rows
   end interface
#endif

#ifdef TREEFOLD_REAL
   public :: treefold_dot, treefold_par_dot, treefold_squared_norm, treefold_par_squared_norm, treefold_sum_and_absolute_sum, &
      treefold_par_sum_and_absolute_sum, treefold_exact_sum, treefold_par_exact_sum, treefold_exact_dot, treefold_par_exact_dot, &
      treefold_exact_norm, treefold_par_exact_norm, treefold_exact_sum_rows

   interface treefold_dot
      module procedure dot_items
   end interface
   interface treefold_par_dot
      module procedure par_dot_items
   end interface
   interface treefold_squared_norm
      module procedure squared_norm_items
   end interface
   interface treefold_par_squared_norm
      module procedure par_squared_norm_items
   end interface
   interface treefold_sum_and_absolute_sum
      module procedure sum_and_absolute_sum_items
   end interface
   interface treefold_par_sum_and_absolute_sum
      module procedure par_sum_and_absolute_sum_items
   end interface
   interface treefold_exact_sum
      module procedure exact_sum_items
   end interface
   interface treefold_par_exact_sum
      module procedure par_exact_sum_items
   end interface
   interface treefold_exact_dot
      module procedure exact_dot_items
   end interface
   interface treefold_par_exact_dot
      module procedure par_exact_dot_items
   end interface
   interface treefold_exact_norm
      module procedure exact_norm_items
   end interface
   interface treefold_par_exact_norm
      module procedure par_exact_norm_items
   end interface
   interface treefold_exact_sum_rows
      module procedure exact_sum_rows
   end interface
#endif
   ! </table>

contains

   ! <table: procedures of one type>
   function sum_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total

      total = 0
      call report(c_fold(element, TREEFOLD_OP_SUM, address(x), size(x, kind=c_size_t), c_loc(total)), ierr)
   end function sum_items

   function par_sum_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total

      total = 0
      call report(c_par_fold(element, TREEFOLD_OP_SUM, address(x), size(x, kind=c_size_t), c_loc(total)), ierr)
   end function par_sum_items

   function sum_rows(rows, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total(size(rows, 1))

      total = 0
      call report(c_fold_rows(element, TREEFOLD_OP_SUM, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(total), size(total, kind=c_size_t)), ierr)
   end function sum_rows

   function par_sum_rows(rows, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total(size(rows, 1))

      total = 0
      call report(c_par_fold_rows(element, TREEFOLD_OP_SUM, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(total), size(total, kind=c_size_t)), ierr)
   end function par_sum_rows

   function product_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total

      total = 0
      call report(c_fold(element, TREEFOLD_OP_PRODUCT, address(x), size(x, kind=c_size_t), c_loc(total)), ierr)
   end function product_items

   function par_product_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total

      total = 0
      call report(c_par_fold(element, TREEFOLD_OP_PRODUCT, address(x), size(x, kind=c_size_t), c_loc(total)), ierr)
   end function par_product_items

   function product_rows(rows, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total(size(rows, 1))

      total = 0
      call report(c_fold_rows(element, TREEFOLD_OP_PRODUCT, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(total), size(total, kind=c_size_t)), ierr)
   end function product_rows

   function par_product_rows(rows, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: total(size(rows, 1))

      total = 0
      call report(c_par_fold_rows(element, TREEFOLD_OP_PRODUCT, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(total), size(total, kind=c_size_t)), ierr)
   end function par_product_rows

#ifdef TREEFOLD_ORDERED
   function min_items(x, ierr) result(least)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: least

      least = 0
      call report(c_fold(element, TREEFOLD_OP_MIN, address(x), size(x, kind=c_size_t), c_loc(least)), ierr)
   end function min_items

   function par_min_items(x, ierr) result(least)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: least

      least = 0
      call report(c_par_fold(element, TREEFOLD_OP_MIN, address(x), size(x, kind=c_size_t), c_loc(least)), ierr)
   end function par_min_items

   function min_rows(rows, ierr) result(least)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: least(size(rows, 1))

      least = 0
      call report(c_fold_rows(element, TREEFOLD_OP_MIN, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(least), size(least, kind=c_size_t)), ierr)
   end function min_rows

   function par_min_rows(rows, ierr) result(least)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: least(size(rows, 1))

      least = 0
      call report(c_par_fold_rows(element, TREEFOLD_OP_MIN, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(least), size(least, kind=c_size_t)), ierr)
   end function par_min_rows

   function max_items(x, ierr) result(greatest)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: greatest

      greatest = 0
      call report(c_fold(element, TREEFOLD_OP_MAX, address(x), size(x, kind=c_size_t), c_loc(greatest)), ierr)
   end function max_items

   function par_max_items(x, ierr) result(greatest)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: greatest

      greatest = 0
      call report(c_par_fold(element, TREEFOLD_OP_MAX, address(x), size(x, kind=c_size_t), c_loc(greatest)), ierr)
   end function par_max_items

   function max_rows(rows, ierr) result(greatest)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: greatest(size(rows, 1))

      greatest = 0
      call report(c_fold_rows(element, TREEFOLD_OP_MAX, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(greatest), size(greatest, kind=c_size_t)), ierr)
   end function max_rows

   function par_max_rows(rows, ierr) result(greatest)
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: greatest(size(rows, 1))

      greatest = 0
      call report(c_par_fold_rows(element, TREEFOLD_OP_MAX, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address(greatest), size(greatest, kind=c_size_t)), ierr)
   end function par_max_rows
#endif

#ifdef TREEFOLD_REAL
   function dot_items(x, y, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_dot(x, size(x, kind=c_size_t), y, size(y, kind=c_size_t), total), ierr)
   end function dot_items

   function par_dot_items(x, y, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_par_dot(x, size(x, kind=c_size_t), y, size(y, kind=c_size_t), total), ierr)
   end function par_dot_items

   function squared_norm_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_squared_norm(x, size(x, kind=c_size_t), total), ierr)
   end function squared_norm_items

   function par_squared_norm_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_par_squared_norm(x, size(x, kind=c_size_t), total), ierr)
   end function par_squared_norm_items

   subroutine sum_and_absolute_sum_items(x, total, absolute_total, ierr)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      TREEFOLD_TYPE, intent(out) :: total, absolute_total
      integer, intent(out), optional :: ierr

      total = 0
      absolute_total = 0
      call report(c_sum_and_absolute_sum(x, size(x, kind=c_size_t), total, absolute_total), ierr)
   end subroutine sum_and_absolute_sum_items

   subroutine par_sum_and_absolute_sum_items(x, total, absolute_total, ierr)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      TREEFOLD_TYPE, intent(out) :: total, absolute_total
      integer, intent(out), optional :: ierr

      total = 0
      absolute_total = 0
      call report(c_par_sum_and_absolute_sum(x, size(x, kind=c_size_t), total, absolute_total), ierr)
   end subroutine par_sum_and_absolute_sum_items

   function exact_sum_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_exact_sum(x, size(x, kind=c_size_t), total), ierr)
   end function exact_sum_items

   function par_exact_sum_items(x, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_par_exact_sum(x, size(x, kind=c_size_t), total), ierr)
   end function par_exact_sum_items

   function exact_dot_items(x, y, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_exact_dot(x, size(x, kind=c_size_t), y, size(y, kind=c_size_t), total), ierr)
   end function exact_dot_items

   function par_exact_dot_items(x, y, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      call report(c_par_exact_dot(x, size(x, kind=c_size_t), y, size(y, kind=c_size_t), total), ierr)
   end function par_exact_dot_items

   function exact_norm_items(x, ierr) result(norm)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: norm

      norm = 0
      call report(c_exact_norm(x, size(x, kind=c_size_t), norm), ierr)
   end function exact_norm_items

   function par_exact_norm_items(x, ierr) result(norm)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: norm

      norm = 0
      call report(c_par_exact_norm(x, size(x, kind=c_size_t), norm), ierr)
   end function par_exact_norm_items

   function exact_sum_rows(rows, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total(size(rows, 1))

      total = 0
      call report(c_exact_sum_rows(rows, size(rows, kind=c_size_t), size(rows, 1, c_size_t), total, &
         size(total, kind=c_size_t)), ierr)
   end function exact_sum_rows
#endif
   ! </table>

   subroutine fold_items(items, combine, result, context, empty, ierr)
      TREEFOLD_TYPE, intent(in), contiguous, target :: items(:)
      procedure(treefold_combine) :: combine
      TREEFOLD_TYPE, intent(inout), target :: result
      type(c_ptr), intent(in), optional :: context
      TREEFOLD_TYPE, intent(in), target, optional :: empty
      integer, intent(out), optional :: ierr
      type(c_ptr) :: nothing

      nothing = c_null_ptr
      if (present(empty)) nothing = c_loc(empty)
      call report(c_fold_user(address(items), size(items, kind=c_size_t), storage_size(items, c_size_t) / 8, &
         c_funloc(combine), pointer_or_null(context), nothing, c_loc(result)), ierr)
   end subroutine fold_items

   subroutine par_fold_items(items, combine, result, context, empty, ierr)
      TREEFOLD_TYPE, intent(in), contiguous, target :: items(:)
      procedure(treefold_combine) :: combine
      TREEFOLD_TYPE, intent(inout), target :: result
      type(c_ptr), intent(in), optional :: context
      TREEFOLD_TYPE, intent(in), target, optional :: empty
      integer, intent(out), optional :: ierr
      type(c_ptr) :: nothing

      nothing = c_null_ptr
      if (present(empty)) nothing = c_loc(empty)
      call report(c_par_fold_user(address(items), size(items, kind=c_size_t), storage_size(items, c_size_t) / 8, &
         c_funloc(combine), pointer_or_null(context), nothing, c_loc(result)), ierr)
   end subroutine par_fold_items

   subroutine fold_columns(items, combine, result, context, empty, ierr)
      TREEFOLD_TYPE, intent(in), contiguous, target :: items(:, :)
      procedure(treefold_combine) :: combine
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      type(c_ptr), intent(in), optional :: context
      TREEFOLD_TYPE, intent(in), contiguous, target, optional :: empty(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: nothing

      nothing = c_null_ptr
      if (present(empty)) nothing = address(empty)
      if (other_length('result', size(result, kind=int64), size(items, 1, int64), ierr)) return
      if (present(empty)) then
         if (other_length('empty', size(empty, kind=int64), size(items, 1, int64), ierr)) return
      end if
      call report(c_fold_user(address(items), size(items, 2, c_size_t), &
         size(items, 1, c_size_t) * storage_size(items, c_size_t) / 8, c_funloc(combine), pointer_or_null(context), &
         nothing, address(result)), ierr)
   end subroutine fold_columns

   subroutine par_fold_columns(items, combine, result, context, empty, ierr)
      TREEFOLD_TYPE, intent(in), contiguous, target :: items(:, :)
      procedure(treefold_combine) :: combine
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      type(c_ptr), intent(in), optional :: context
      TREEFOLD_TYPE, intent(in), contiguous, target, optional :: empty(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: nothing

      nothing = c_null_ptr
      if (present(empty)) nothing = address(empty)
      if (other_length('result', size(result, kind=int64), size(items, 1, int64), ierr)) return
      if (present(empty)) then
         if (other_length('empty', size(empty, kind=int64), size(items, 1, int64), ierr)) return
      end if
      call report(c_par_fold_user(address(items), size(items, 2, c_size_t), &
         size(items, 1, c_size_t) * storage_size(items, c_size_t) / 8, c_funloc(combine), pointer_or_null(context), &
         nothing, address(result)), ierr)
   end subroutine par_fold_columns

   ! Fortran 2008 has no c_loc of an assumed-shape array, nor of one without elements; this is both. There is no intent, since
   ! results go through here, too.
   function address(x)
      TREEFOLD_TYPE, target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address
#else
! ---- What all modules share: codes, errors, and the functions of C --------------------------------------------------------------

! Programs use module treefold, which passes on the names that begin with treefold_.
module treefold_support
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_f_pointer, c_float, c_funloc, c_funptr, c_int, &
      c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
   implicit none
   public

   ! The version of this file, in the form of treefold_version().
   integer, parameter :: TREEFOLD_SOURCE_VERSION = 100

   ! What ierr becomes. treefold.h says more of each.
   integer, parameter :: TREEFOLD_OK = 0
   integer, parameter :: TREEFOLD_NULL = 1          ! A handle has not been made, or has been destroyed; a c_ptr is null.
   integer, parameter :: TREEFOLD_ARGUMENT = 2      ! An argument has a value or a type that it cannot have.
   integer, parameter :: TREEFOLD_LENGTH = 3        ! An array has another length than it must have.
   integer, parameter :: TREEFOLD_DISAGREE = 4      ! The ranks do not agree, or their items are not 0 to N - 1, each once.
   integer, parameter :: TREEFOLD_EMPTY = 5         ! There are no items, and the operator has no value for nothing.
   integer, parameter :: TREEFOLD_ENVIRONMENT = 6   ! The processor does not round to nearest, or takes subnormal numbers for zero.
   integer, parameter :: TREEFOLD_RANK_FAILED = 7   ! Another rank failed: treefold_error_rank() says which.
   integer, parameter :: TREEFOLD_SPENT = 8         ! An earlier run of the plan failed: build another.
   integer, parameter :: TREEFOLD_UNDER_WAY = 9     ! A run of the plan is under way: wait for it first. It goes on.
   integer, parameter :: TREEFOLD_TIMED_OUT = 10    ! The time is over. The run goes on.
   integer, parameter :: TREEFOLD_MPI_FAILED = 11   ! TREEFOLD_MPI in C, which is a module here. The MPI library failed.
   integer, parameter :: TREEFOLD_UNSUPPORTED = 12  ! There is no such function for this type, operator or algorithm.
   integer, parameter :: TREEFOLD_PANIC = 13        ! An error in treefold itself; please report it.
   integer, parameter :: TREEFOLD_MISMATCHED = 14   ! The ranks make different calls on a plan.
   integer, parameter :: TREEFOLD_MEMORY = 15       ! There is not enough memory.
   integer, parameter :: TREEFOLD_OPERATOR = 16     ! The operator of the caller returned an error, or communicated.
   integer, parameter :: TREEFOLD_INTERRUPTED = 17  ! The program has ended a wait, by treefold_comm_interruption of C.

   ! Types of elements, and operators, whose names in C would be those of procedures here: Fortran does not tell cases apart. There
   ! are no unsigned integers in Fortran; plans for them take the signed ones of their size.
   integer(c_int32_t), parameter :: TREEFOLD_F32 = 1, TREEFOLD_F64 = 2, TREEFOLD_C32 = 3, TREEFOLD_C64 = 4
   integer(c_int32_t), parameter :: TREEFOLD_I8 = 5, TREEFOLD_I16 = 6, TREEFOLD_I32 = 7, TREEFOLD_I64 = 8
   integer(c_int32_t), parameter :: TREEFOLD_U8 = 9, TREEFOLD_U16 = 10, TREEFOLD_U32 = 11, TREEFOLD_U64 = 12
   integer(c_int32_t), parameter :: TREEFOLD_OP_SUM = 1, TREEFOLD_OP_PRODUCT = 2, TREEFOLD_OP_MIN = 3, TREEFOLD_OP_MAX = 4

   ! The longest item of an operator of the caller, in bytes.
   integer, parameter :: TREEFOLD_ITEM_BYTES_MAX = 512

   ! An operator of the caller: leaves the combination of two items in `out`, `left` having the lower numbers, and returns 0. Any
   ! other number ends the reduction with TREEFOLD_OPERATOR. The items are aligned to 8 bytes; c_f_pointer makes variables of
   ! them. The operator must give the same bits for the same operands on every rank, and must not communicate. `context` is what
   ! the caller gave with it.
   abstract interface
      function treefold_combine(context, left, right, out) bind(c) result(status)
         import :: c_int, c_ptr
         type(c_ptr), value :: context, left, right, out
         integer(c_int) :: status
      end function treefold_combine
   end interface

   ! What the last call that failed has to say if it failed here, before C; blank if it failed in C, which keeps its own text. One
   ! for each thread if this file is compiled for OpenMP; else threads that fail at once may exchange texts, but not codes.
   character(len=200), save, private :: own_message = ''
   !$omp threadprivate(own_message)

   ! <table: functions of treefold.h>
   interface
      function c_version() bind(c, name='treefold_version') result(returned)
         import :: c_int32_t
         integer(c_int32_t) :: returned
      end function c_version

      function c_last_error() bind(c, name='treefold_last_error') result(returned)
         import :: c_ptr
         type(c_ptr) :: returned
      end function c_last_error

      function c_last_error_rank() bind(c, name='treefold_last_error_rank') result(returned)
         import :: c_int32_t
         integer(c_int32_t) :: returned
      end function c_last_error_rank

      function c_status_name(status) bind(c, name='treefold_status_name') result(returned)
         import :: c_int32_t, c_ptr
         integer(c_int32_t), value :: status
         type(c_ptr) :: returned
      end function c_status_name

      function c_sum_f32(x, n, result) bind(c, name='treefold_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_sum_f32

      function c_sum_f64(x, n, result) bind(c, name='treefold_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_sum_f64

      function c_sum_c32(x, n, result) bind(c, name='treefold_sum_c32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_sum_c32

      function c_sum_c64(x, n, result) bind(c, name='treefold_sum_c64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_sum_c64

      function c_dot_f32(x, n, y, m, result) bind(c, name='treefold_dot_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_dot_f32

      function c_dot_f64(x, n, y, m, result) bind(c, name='treefold_dot_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_dot_f64

      function c_squared_norm_f32(x, n, result) bind(c, name='treefold_squared_norm_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_squared_norm_f32

      function c_squared_norm_f64(x, n, result) bind(c, name='treefold_squared_norm_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_squared_norm_f64

      function c_sum_and_absolute_sum_f32(x, n, sum, absolute_sum) &
         bind(c, name='treefold_sum_and_absolute_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: sum, absolute_sum
         integer(c_int32_t) :: returned
      end function c_sum_and_absolute_sum_f32

      function c_sum_and_absolute_sum_f64(x, n, sum, absolute_sum) &
         bind(c, name='treefold_sum_and_absolute_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: sum, absolute_sum
         integer(c_int32_t) :: returned
      end function c_sum_and_absolute_sum_f64

      function c_fold(type, op, items, n, result) bind(c, name='treefold_fold') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: items, result
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_fold

      function c_fold_rows(type, op, items, n, width, result, m) bind(c, name='treefold_fold_rows') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: items, result
         integer(c_size_t), value :: n, width, m
         integer(c_int32_t) :: returned
      end function c_fold_rows

      function c_fields(type, op, fields, count, n, result) bind(c, name='treefold_fields') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: fields, result
         integer(c_size_t), value :: count, n
         integer(c_int32_t) :: returned
      end function c_fields

      function c_fold_user(items, n, item_bytes, combine, context, empty, result) &
         bind(c, name='treefold_fold_user') result(returned)
         import :: c_funptr, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: items, context, empty, result
         integer(c_size_t), value :: n, item_bytes
         type(c_funptr), value :: combine
         integer(c_int32_t) :: returned
      end function c_fold_user

      function c_exact_sum_f32(x, n, result) bind(c, name='treefold_exact_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_sum_f32

      function c_exact_sum_f64(x, n, result) bind(c, name='treefold_exact_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_sum_f64

      function c_exact_dot_f32(x, n, y, m, result) bind(c, name='treefold_exact_dot_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_dot_f32

      function c_exact_dot_f64(x, n, y, m, result) bind(c, name='treefold_exact_dot_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_dot_f64

      function c_exact_norm_f32(x, n, result) bind(c, name='treefold_exact_norm_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_norm_f32

      function c_exact_norm_f64(x, n, result) bind(c, name='treefold_exact_norm_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_exact_norm_f64

      function c_exact_sum_rows_f32(items, n, width, result, m) bind(c, name='treefold_exact_sum_rows_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: items(*)
         integer(c_size_t), value :: n, width, m
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_rows_f32

      function c_exact_sum_rows_f64(items, n, width, result, m) bind(c, name='treefold_exact_sum_rows_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: items(*)
         integer(c_size_t), value :: n, width, m
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_rows_f64

      function c_par_sum_f32(x, n, result) bind(c, name='treefold_par_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_sum_f32

      function c_par_sum_f64(x, n, result) bind(c, name='treefold_par_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_sum_f64

      function c_par_sum_c32(x, n, result) bind(c, name='treefold_par_sum_c32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_par_sum_c32

      function c_par_sum_c64(x, n, result) bind(c, name='treefold_par_sum_c64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_par_sum_c64

      function c_par_dot_f32(x, n, y, m, result) bind(c, name='treefold_par_dot_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_dot_f32

      function c_par_dot_f64(x, n, y, m, result) bind(c, name='treefold_par_dot_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_dot_f64

      function c_par_squared_norm_f32(x, n, result) bind(c, name='treefold_par_squared_norm_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_squared_norm_f32

      function c_par_squared_norm_f64(x, n, result) bind(c, name='treefold_par_squared_norm_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_squared_norm_f64

      function c_par_sum_and_absolute_sum_f32(x, n, sum, absolute_sum) &
         bind(c, name='treefold_par_sum_and_absolute_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: sum, absolute_sum
         integer(c_int32_t) :: returned
      end function c_par_sum_and_absolute_sum_f32

      function c_par_sum_and_absolute_sum_f64(x, n, sum, absolute_sum) &
         bind(c, name='treefold_par_sum_and_absolute_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: sum, absolute_sum
         integer(c_int32_t) :: returned
      end function c_par_sum_and_absolute_sum_f64

      function c_par_fold(type, op, items, n, result) bind(c, name='treefold_par_fold') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: items, result
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_par_fold

      function c_par_fold_rows(type, op, items, n, width, result, m) bind(c, name='treefold_par_fold_rows') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: items, result
         integer(c_size_t), value :: n, width, m
         integer(c_int32_t) :: returned
      end function c_par_fold_rows

      function c_par_fields(type, op, fields, count, n, result) bind(c, name='treefold_par_fields') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, op
         type(c_ptr), value :: fields, result
         integer(c_size_t), value :: count, n
         integer(c_int32_t) :: returned
      end function c_par_fields

      function c_par_fold_user(items, n, item_bytes, combine, context, empty, result) &
         bind(c, name='treefold_par_fold_user') result(returned)
         import :: c_funptr, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: items, context, empty, result
         integer(c_size_t), value :: n, item_bytes
         type(c_funptr), value :: combine
         integer(c_int32_t) :: returned
      end function c_par_fold_user

      function c_par_exact_sum_f32(x, n, result) bind(c, name='treefold_par_exact_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_sum_f32

      function c_par_exact_sum_f64(x, n, result) bind(c, name='treefold_par_exact_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_sum_f64

      function c_par_exact_dot_f32(x, n, y, m, result) bind(c, name='treefold_par_exact_dot_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_dot_f32

      function c_par_exact_dot_f64(x, n, y, m, result) bind(c, name='treefold_par_exact_dot_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_dot_f64

      function c_par_exact_norm_f32(x, n, result) bind(c, name='treefold_par_exact_norm_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_norm_f32

      function c_par_exact_norm_f64(x, n, result) bind(c, name='treefold_par_exact_norm_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_exact_norm_f64
   end interface
   ! </table>

   interface
      function c_strlen(text) bind(c, name='strlen') result(length)
         import :: c_ptr, c_size_t
         type(c_ptr), value :: text
         integer(c_size_t) :: length
      end function c_strlen
   end interface

   interface treefold_fold
      module procedure fold_pointer
   end interface
   interface treefold_par_fold
      module procedure par_fold_pointer
   end interface
   private :: fold_pointer, par_fold_pointer

contains

   ! The version of the library: 10000 times the major number, plus 100 times the minor one, plus the patch. While the major
   ! number is 0, sources and library must agree in the minor one.
   function treefold_version() result(version)
      integer :: version

      version = c_version()
   end function treefold_version

   ! What went wrong in this thread's last call that failed.
   function treefold_error_message() result(text)
      character(len=:), allocatable :: text

      if (own_message /= '') then
         text = trim(own_message)
      else
         text = text_of(c_last_error())
      end if
   end function treefold_error_message

   ! The rank that the last error of this thread is about, from 0 on; -1 if it is about none.
   function treefold_error_rank() result(rank)
      integer :: rank

      rank = -1
      if (own_message == '') rank = c_last_error_rank()
   end function treefold_error_rank

   ! The name of a code as in C, such as TREEFOLD_LENGTH; "unknown" for any other number.
   function treefold_status_name(status) result(text)
      integer, intent(in) :: status
      character(len=:), allocatable :: text

      text = text_of(c_status_name(int(status, c_int32_t)))
   end function treefold_status_name

   ! The reduction of n items of item_bytes bytes at `items`, such as variables of a derived type, by an operator of the caller.
   ! `result` has room for one item; `empty`, the reduction of nothing, is one.
   subroutine fold_pointer(items, n, item_bytes, combine, result, context, empty, ierr)
      type(c_ptr), intent(in) :: items
      integer(int64), intent(in) :: n, item_bytes
      procedure(treefold_combine) :: combine
      type(c_ptr), intent(in) :: result
      type(c_ptr), intent(in), optional :: context, empty
      integer, intent(out), optional :: ierr

      if (negative('n', n, ierr)) return
      if (negative('item_bytes', item_bytes, ierr)) return
      call report(c_fold_user(items, n, item_bytes, c_funloc(combine), pointer_or_null(context), pointer_or_null(empty), &
         result), ierr)
   end subroutine fold_pointer

   ! The same by several threads, which call `combine` at once.
   subroutine par_fold_pointer(items, n, item_bytes, combine, result, context, empty, ierr)
      type(c_ptr), intent(in) :: items
      integer(int64), intent(in) :: n, item_bytes
      procedure(treefold_combine) :: combine
      type(c_ptr), intent(in) :: result
      type(c_ptr), intent(in), optional :: context, empty
      integer, intent(out), optional :: ierr

      if (negative('n', n, ierr)) return
      if (negative('item_bytes', item_bytes, ierr)) return
      call report(c_par_fold_user(items, n, item_bytes, c_funloc(combine), pointer_or_null(context), pointer_or_null(empty), &
         result), ierr)
   end subroutine par_fold_pointer

   ! Ends every call that has been to C: hands on its status, or ends the program.
   subroutine report(status, ierr)
      integer(c_int32_t), intent(in) :: status
      integer, intent(out), optional :: ierr

      if (status /= TREEFOLD_OK) own_message = ''
      call hand_on(int(status), ierr)
   end subroutine report

   ! The same for an error that is found before C is called, which C keeps no text of.
   subroutine report_own(status, message, ierr)
      integer, intent(in) :: status
      character(len=*), intent(in) :: message
      integer, intent(out), optional :: ierr

      own_message = message
      call hand_on(status, ierr)
   end subroutine report_own

   subroutine hand_on(status, ierr)
      integer, intent(in) :: status
      integer, intent(out), optional :: ierr

      if (present(ierr)) then
         ierr = status
      else if (status /= TREEFOLD_OK) then
         write (error_unit, '(4a)') 'treefold: ', treefold_status_name(status), ': ', treefold_error_message()
         flush (error_unit)
         error stop
      end if
   end subroutine hand_on

   ! Reports a number that C would take for a huge one.
   function negative(name, number, ierr) result(is)
      character(len=*), intent(in) :: name
      integer(int64), intent(in) :: number
      integer, intent(out), optional :: ierr
      logical :: is

      is = number < 0
      if (is) call report_own(TREEFOLD_ARGUMENT, name // ' is negative: ' // decimal(number), ierr)
   end function negative

   ! Reports the length of an array that C takes on trust.
   function other_length(name, length, expected, ierr) result(is)
      character(len=*), intent(in) :: name
      integer(int64), intent(in) :: length, expected
      integer, intent(out), optional :: ierr
      logical :: is

      is = length /= expected
      if (is) call report_own(TREEFOLD_LENGTH, &
         name // ' has ' // decimal(length) // ' elements instead of ' // decimal(expected), ierr)
   end function other_length

   function decimal(number) result(text)
      integer(int64), intent(in) :: number
      character(len=:), allocatable :: text
      character(len=20) :: digits

      write (digits, '(i0)') number
      text = trim(digits)
   end function decimal

   function pointer_or_null(pointer) result(found)
      type(c_ptr), intent(in), optional :: pointer
      type(c_ptr) :: found

      found = c_null_ptr
      if (present(pointer)) found = pointer
   end function pointer_or_null

   ! The text of a string of C.
   function text_of(string) result(text)
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
   end function text_of
end module treefold_support

! ---- One module for each type ---------------------------------------------------------------------------------------------------

module treefold_real32
   ! <table: real32>
   use treefold_support, element => TREEFOLD_F32, c_dot => c_dot_f32, c_par_dot => c_par_dot_f32, &
      c_squared_norm => c_squared_norm_f32, c_par_squared_norm => c_par_squared_norm_f32, &
      c_sum_and_absolute_sum => c_sum_and_absolute_sum_f32, c_par_sum_and_absolute_sum => c_par_sum_and_absolute_sum_f32, &
      c_exact_sum => c_exact_sum_f32, c_par_exact_sum => c_par_exact_sum_f32, c_exact_dot => c_exact_dot_f32, &
      c_par_exact_dot => c_par_exact_dot_f32, c_exact_norm => c_exact_norm_f32, c_par_exact_norm => c_par_exact_norm_f32, &
      c_exact_sum_rows => c_exact_sum_rows_f32
   ! </table>
#define TREEFOLD_TYPE real(real32)
#define TREEFOLD_ORDERED
#define TREEFOLD_REAL
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_REAL
end module treefold_real32

module treefold_real64
   ! <table: real64>
   use treefold_support, element => TREEFOLD_F64, c_dot => c_dot_f64, c_par_dot => c_par_dot_f64, &
      c_squared_norm => c_squared_norm_f64, c_par_squared_norm => c_par_squared_norm_f64, &
      c_sum_and_absolute_sum => c_sum_and_absolute_sum_f64, c_par_sum_and_absolute_sum => c_par_sum_and_absolute_sum_f64, &
      c_exact_sum => c_exact_sum_f64, c_par_exact_sum => c_par_exact_sum_f64, c_exact_dot => c_exact_dot_f64, &
      c_par_exact_dot => c_par_exact_dot_f64, c_exact_norm => c_exact_norm_f64, c_par_exact_norm => c_par_exact_norm_f64, &
      c_exact_sum_rows => c_exact_sum_rows_f64
   ! </table>
#define TREEFOLD_TYPE real(real64)
#define TREEFOLD_ORDERED
#define TREEFOLD_REAL
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_REAL
end module treefold_real64

module treefold_complex32
   use treefold_support, element => TREEFOLD_C32
#define TREEFOLD_TYPE complex(real32)
#include "treefold.F90"
#undef TREEFOLD_TYPE
end module treefold_complex32

module treefold_complex64
   use treefold_support, element => TREEFOLD_C64
#define TREEFOLD_TYPE complex(real64)
#include "treefold.F90"
#undef TREEFOLD_TYPE
end module treefold_complex64

module treefold_int8
   use treefold_support, element => TREEFOLD_I8
#define TREEFOLD_TYPE integer(int8)
#define TREEFOLD_ORDERED
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
end module treefold_int8

module treefold_int16
   use treefold_support, element => TREEFOLD_I16
#define TREEFOLD_TYPE integer(int16)
#define TREEFOLD_ORDERED
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
end module treefold_int16

module treefold_int32
   use treefold_support, element => TREEFOLD_I32
#define TREEFOLD_TYPE integer(int32)
#define TREEFOLD_ORDERED
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
end module treefold_int32

module treefold_int64
   use treefold_support, element => TREEFOLD_I64
#define TREEFOLD_TYPE integer(int64)
#define TREEFOLD_ORDERED
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
end module treefold_int64

! ---- What programs use ----------------------------------------------------------------------------------------------------------

module treefold
   use treefold_support, only: TREEFOLD_SOURCE_VERSION, treefold_version, &
      TREEFOLD_OK, TREEFOLD_NULL, TREEFOLD_ARGUMENT, TREEFOLD_LENGTH, TREEFOLD_DISAGREE, TREEFOLD_EMPTY, TREEFOLD_ENVIRONMENT, &
      TREEFOLD_RANK_FAILED, TREEFOLD_SPENT, TREEFOLD_UNDER_WAY, TREEFOLD_TIMED_OUT, TREEFOLD_MPI_FAILED, TREEFOLD_UNSUPPORTED, &
      TREEFOLD_PANIC, TREEFOLD_MISMATCHED, TREEFOLD_MEMORY, TREEFOLD_OPERATOR, TREEFOLD_INTERRUPTED, &
      treefold_error_message, treefold_error_rank, treefold_status_name, &
      TREEFOLD_F32, TREEFOLD_F64, TREEFOLD_C32, TREEFOLD_C64, TREEFOLD_I8, TREEFOLD_I16, TREEFOLD_I32, TREEFOLD_I64, &
      TREEFOLD_U8, TREEFOLD_U16, TREEFOLD_U32, TREEFOLD_U64, &
      TREEFOLD_OP_SUM, TREEFOLD_OP_PRODUCT, TREEFOLD_OP_MIN, TREEFOLD_OP_MAX, &
      treefold_combine, TREEFOLD_ITEM_BYTES_MAX, treefold_fold, treefold_par_fold
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
