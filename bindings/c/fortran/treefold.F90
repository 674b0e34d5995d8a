! treefold: reductions whose bits depend on the items, their order and the operator, and on nothing else.
!
!     use treefold
!     s = treefold_sum(x)
!
! Module treefold reduces the items of one process; module treefold_mpi has the reductions over the ranks of MPI, which give the
! same bits. docs/tutorial-fortran.md is the page to begin with, docs/order.md specifies the order. Pages are installed in
! share/treefold/docs.
!
! A reduction to one value or one row is a function, as the intrinsic sum is; one with two results, or by an operator of the
! caller, is a subroutine. The last argument, ierr, is optional: with it, a call leaves TREEFOLD_OK or the code of an error there,
! and after an error the result is not to be used. Without it, an error is printed on error_unit and ends the program by error
! stop. All procedures of this file may be called by several threads at once.
!
! Arrays are contiguous; of any other section the compiler makes a copy. A compiler that follows Fortran 2008 and a preprocessor
! are needed, nothing else: link with libtreefold.
!
! Exact sums that are held between calls are variables of types treefold_accumulator and treefold_keyed, with a finaliser: they end
! where they go out of scope, which variables of the main program do not, or by treefold_..._destroy. They cannot be copied: an
! assignment of one that is in use ends the program. Their results are the last argument of subroutines, before ierr. Keys are
! integers of 4 or 8 bytes that count from 0, and so do items in the text of an error: declare sums(0:groups - 1).
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

#ifdef TREEFOLD_FLOATING
   public :: treefold_accumulator_add, treefold_accumulator_remove, treefold_accumulator_add_dot, &
      treefold_accumulator_remove_dot, treefold_accumulator_value, treefold_accumulator_mean

   interface treefold_accumulator_add
      module procedure accumulator_add_items, accumulator_add_one
   end interface
   interface treefold_accumulator_remove
      module procedure accumulator_remove_items, accumulator_remove_one
   end interface
   interface treefold_accumulator_add_dot
      module procedure accumulator_add_dot_items
   end interface
   interface treefold_accumulator_remove_dot
      module procedure accumulator_remove_dot_items
   end interface
   interface treefold_accumulator_value
      module procedure accumulator_value_one
   end interface
   interface treefold_accumulator_mean
      module procedure accumulator_mean_one
   end interface
#endif

#ifdef TREEFOLD_INTEGER
   public :: treefold_exact_integer_sum_by_key

   interface treefold_exact_integer_sum_by_key
      module procedure exact_integer_sum_by_key_int32, exact_integer_sum_by_key_int64
   end interface

   public :: treefold_keyed_add, treefold_keyed_remove

   interface treefold_keyed_add
      module procedure keyed_add_int32, keyed_add_int64
   end interface
   interface treefold_keyed_remove
      module procedure keyed_remove_int32, keyed_remove_int64
   end interface
#endif

#ifdef TREEFOLD_REAL
   public :: treefold_sum_lanes, treefold_par_sum_lanes, treefold_dot, treefold_par_dot, treefold_squared_norm, &
      treefold_par_squared_norm, treefold_sum_and_absolute_sum, treefold_par_sum_and_absolute_sum, treefold_exact_sum, &
      treefold_par_exact_sum, treefold_exact_dot, treefold_par_exact_dot, treefold_exact_norm, treefold_par_exact_norm, &
      treefold_exact_sum_rows, treefold_exact_sum_by_key, treefold_par_exact_sum_by_key, treefold_exact_mean_by_key, &
      treefold_exact_min_by_key, treefold_exact_max_by_key, treefold_exact_variance_by_key, &
      treefold_exact_standard_deviation_by_key, treefold_exact_dot_by_key, treefold_exact_weighted_mean_by_key, &
      treefold_exact_sum_rows_by_key, treefold_exact_rolling_sum, treefold_exact_rolling_mean, &
      treefold_exact_rolling_sum_by_range, treefold_exact_rolling_mean_by_range

   interface treefold_sum_lanes
      module procedure sum_lanes_items
   end interface
   interface treefold_par_sum_lanes
      module procedure par_sum_lanes_items
   end interface
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
   interface treefold_exact_sum_by_key
      module procedure exact_sum_by_key_int32, exact_sum_by_key_int64
   end interface
   interface treefold_par_exact_sum_by_key
      module procedure par_exact_sum_by_key_int32, par_exact_sum_by_key_int64
   end interface
   interface treefold_exact_mean_by_key
      module procedure exact_mean_by_key_int32, exact_mean_by_key_int64
   end interface
   interface treefold_exact_min_by_key
      module procedure exact_min_by_key_int32, exact_min_by_key_int64
   end interface
   interface treefold_exact_max_by_key
      module procedure exact_max_by_key_int32, exact_max_by_key_int64
   end interface
   interface treefold_exact_variance_by_key
      module procedure exact_variance_by_key_int32, exact_variance_by_key_int64
   end interface
   interface treefold_exact_standard_deviation_by_key
      module procedure exact_standard_deviation_by_key_int32, exact_standard_deviation_by_key_int64
   end interface
   interface treefold_exact_dot_by_key
      module procedure exact_dot_by_key_int32, exact_dot_by_key_int64
   end interface
   interface treefold_exact_weighted_mean_by_key
      module procedure exact_weighted_mean_by_key_int32, exact_weighted_mean_by_key_int64
   end interface
   interface treefold_exact_sum_rows_by_key
      module procedure exact_sum_rows_by_key_int32, exact_sum_rows_by_key_int64
   end interface
   interface treefold_exact_rolling_sum
      module procedure exact_rolling_sum_items
   end interface
   interface treefold_exact_rolling_mean
      module procedure exact_rolling_mean_items
   end interface
   interface treefold_exact_rolling_sum_by_range
      module procedure exact_rolling_sum_by_range_int32, exact_rolling_sum_by_range_int64, exact_rolling_sum_by_range_real64
   end interface
   interface treefold_exact_rolling_mean_by_range
      module procedure exact_rolling_mean_by_range_int32, exact_rolling_mean_by_range_int64, exact_rolling_mean_by_range_real64
   end interface

   public :: treefold_accumulator_variance, treefold_accumulator_standard_deviation, treefold_keyed_add, treefold_keyed_remove, &
      treefold_keyed_add_dot, treefold_keyed_remove_dot, treefold_keyed_sums, treefold_keyed_means, treefold_keyed_minima, &
      treefold_keyed_maxima, treefold_keyed_variances, treefold_keyed_standard_deviations

   interface treefold_accumulator_variance
      module procedure accumulator_variance_one
   end interface
   interface treefold_accumulator_standard_deviation
      module procedure accumulator_standard_deviation_one
   end interface
   interface treefold_keyed_add
      module procedure keyed_add_int32, keyed_add_int64, keyed_add_rows_int32, keyed_add_rows_int64
   end interface
   interface treefold_keyed_remove
      module procedure keyed_remove_int32, keyed_remove_int64, keyed_remove_rows_int32, keyed_remove_rows_int64
   end interface
   interface treefold_keyed_add_dot
      module procedure keyed_add_dot_int32, keyed_add_dot_int64
   end interface
   interface treefold_keyed_remove_dot
      module procedure keyed_remove_dot_int32, keyed_remove_dot_int64
   end interface
   interface treefold_keyed_sums
      module procedure keyed_sums_items, keyed_sums_rows
   end interface
   interface treefold_keyed_means
      module procedure keyed_means_items
   end interface
   interface treefold_keyed_minima
      module procedure keyed_minima_items
   end interface
   interface treefold_keyed_maxima
      module procedure keyed_maxima_items
   end interface
   interface treefold_keyed_variances
      module procedure keyed_variances_items
   end interface
   interface treefold_keyed_standard_deviations
      module procedure keyed_standard_deviations_items
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

#ifdef TREEFOLD_FLOATING
   subroutine accumulator_add_items(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_add(handle, address(x), size(x, kind=c_size_t)), ierr)
   end subroutine accumulator_add_items

   subroutine accumulator_add_one(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), target :: x
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_add(handle, c_loc(x), 1_c_size_t), ierr)
   end subroutine accumulator_add_one

   subroutine accumulator_remove_items(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_remove(handle, address(x), size(x, kind=c_size_t)), ierr)
   end subroutine accumulator_remove_items

   subroutine accumulator_remove_one(accumulator, x, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), target :: x
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_remove(handle, c_loc(x), 1_c_size_t), ierr)
   end subroutine accumulator_remove_one

   subroutine accumulator_add_dot_items(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_add_dot(handle, address(x), size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine accumulator_add_dot_items

   subroutine accumulator_remove_dot_items(accumulator, x, y, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_remove_dot(handle, address(x), size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine accumulator_remove_dot_items

   subroutine accumulator_value_one(accumulator, result, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_value(handle, c_loc(result)), ierr)
   end subroutine accumulator_value_one

   subroutine accumulator_mean_one(accumulator, result, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_accumulator(accumulator, element, handle, ierr)) return
      call report(c_accumulator_mean(handle, c_loc(result)), ierr)
   end subroutine accumulator_mean_one
#endif

#ifdef TREEFOLD_INTEGER
   function exact_integer_sum_by_key_int32(keys, x, groups, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      integer(int64), target :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_integer_sum_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), element, &
         address(x), size(x, kind=c_size_t), address_of(totals), size(totals, kind=c_size_t)), ierr)
   end function exact_integer_sum_by_key_int32

   function exact_integer_sum_by_key_int64(keys, x, groups, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      integer(int64), target :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_integer_sum_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), element, &
         address(x), size(x, kind=c_size_t), address_of(totals), size(totals, kind=c_size_t)), ierr)
   end function exact_integer_sum_by_key_int64

   subroutine keyed_add_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_int32

   subroutine keyed_add_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_int64

   subroutine keyed_remove_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_int32

   subroutine keyed_remove_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_int64
#endif

#ifdef TREEFOLD_REAL
   function sum_lanes_items(x, lanes, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: lanes
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      if (negative('lanes', int(lanes, int64), ierr)) return
      call report(c_sum_lanes(x, size(x, kind=c_size_t), int(lanes, c_size_t), total), ierr)
   end function sum_lanes_items

   function par_sum_lanes_items(x, lanes, ierr) result(total)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: lanes
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: total

      total = 0
      if (negative('lanes', int(lanes, int64), ierr)) return
      call report(c_par_sum_lanes(x, size(x, kind=c_size_t), int(lanes, c_size_t), total), ierr)
   end function par_sum_lanes_items

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

   function exact_sum_by_key_int32(keys, x, groups, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_sum_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_sum_by_key_int32

   function exact_sum_by_key_int64(keys, x, groups, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_sum_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_sum_by_key_int64

   function par_exact_sum_by_key_int32(keys, x, groups, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_par_exact_sum_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function par_exact_sum_by_key_int32

   function par_exact_sum_by_key_int64(keys, x, groups, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_par_exact_sum_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function par_exact_sum_by_key_int64

   function exact_mean_by_key_int32(keys, x, groups, ierr) result(means)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(groups)

      means = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_mean_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), means, size(means, kind=c_size_t)), ierr)
   end function exact_mean_by_key_int32

   function exact_mean_by_key_int64(keys, x, groups, ierr) result(means)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(groups)

      means = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_mean_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), means, size(means, kind=c_size_t)), ierr)
   end function exact_mean_by_key_int64

   function exact_min_by_key_int32(keys, x, groups, ierr) result(minima)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: minima(groups)

      minima = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_min_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), minima, size(minima, kind=c_size_t)), ierr)
   end function exact_min_by_key_int32

   function exact_min_by_key_int64(keys, x, groups, ierr) result(minima)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: minima(groups)

      minima = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_min_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), minima, size(minima, kind=c_size_t)), ierr)
   end function exact_min_by_key_int64

   function exact_max_by_key_int32(keys, x, groups, ierr) result(maxima)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: maxima(groups)

      maxima = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_max_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), maxima, size(maxima, kind=c_size_t)), ierr)
   end function exact_max_by_key_int32

   function exact_max_by_key_int64(keys, x, groups, ierr) result(maxima)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: maxima(groups)

      maxima = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_max_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), maxima, size(maxima, kind=c_size_t)), ierr)
   end function exact_max_by_key_int64

   function exact_variance_by_key_int32(keys, x, groups, ddof, ierr) result(variances)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      real(real64), intent(in) :: ddof
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: variances(groups)

      variances = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_variance_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), ddof, variances, size(variances, kind=c_size_t)), ierr)
   end function exact_variance_by_key_int32

   function exact_variance_by_key_int64(keys, x, groups, ddof, ierr) result(variances)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      real(real64), intent(in) :: ddof
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: variances(groups)

      variances = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_variance_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), ddof, variances, size(variances, kind=c_size_t)), ierr)
   end function exact_variance_by_key_int64

   function exact_standard_deviation_by_key_int32(keys, x, groups, ddof, ierr) result(deviations)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      real(real64), intent(in) :: ddof
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: deviations(groups)

      deviations = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_standard_deviation_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), ddof, deviations, size(deviations, kind=c_size_t)), ierr)
   end function exact_standard_deviation_by_key_int32

   function exact_standard_deviation_by_key_int64(keys, x, groups, ddof, ierr) result(deviations)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
      real(real64), intent(in) :: ddof
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: deviations(groups)

      deviations = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_standard_deviation_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), ddof, deviations, size(deviations, kind=c_size_t)), ierr)
   end function exact_standard_deviation_by_key_int64

   function exact_dot_by_key_int32(keys, x, y, groups, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_dot_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), y, size(y, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_dot_by_key_int32

   function exact_dot_by_key_int64(keys, x, y, groups, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_dot_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), y, size(y, kind=c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_dot_by_key_int64

   function exact_weighted_mean_by_key_int32(keys, x, y, groups, ierr) result(means)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(groups)

      means = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_weighted_mean_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), y, size(y, kind=c_size_t), means, size(means, kind=c_size_t)), ierr)
   end function exact_weighted_mean_by_key_int32

   function exact_weighted_mean_by_key_int64(keys, x, y, groups, ierr) result(means)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(groups)

      means = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_weighted_mean_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), y, size(y, kind=c_size_t), means, size(means, kind=c_size_t)), ierr)
   end function exact_weighted_mean_by_key_int64

   function exact_sum_rows_by_key_int32(keys, rows, groups, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: rows(:, :)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(rows, 1), groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_sum_rows_by_key(OF_INT32, address_of(keys), size(keys, kind=c_size_t), rows, &
         size(rows, kind=c_size_t), size(rows, 1, c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_sum_rows_by_key_int32

   function exact_sum_rows_by_key_int64(keys, rows, groups, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: rows(:, :)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(rows, 1), groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_exact_sum_rows_by_key(OF_INT64, address_of(keys), size(keys, kind=c_size_t), rows, &
         size(rows, kind=c_size_t), size(rows, 1, c_size_t), totals, size(totals, kind=c_size_t)), ierr)
   end function exact_sum_rows_by_key_int64

   function exact_rolling_sum_items(x, window, least_items, ierr) result(totals)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: window
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(x))
      integer(int64) :: least

      totals = 0
      least = window
      if (present(least_items)) least = least_items
      if (negative('window', int(window, int64), ierr)) return
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_sum(x, size(x, kind=c_size_t), int(window, c_size_t), least, totals, &
         size(totals, kind=c_size_t)), ierr)
   end function exact_rolling_sum_items

   function exact_rolling_mean_items(x, window, least_items, ierr) result(means)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: window
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(size(x))
      integer(int64) :: least

      means = 0
      least = window
      if (present(least_items)) least = least_items
      if (negative('window', int(window, int64), ierr)) return
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_mean(x, size(x, kind=c_size_t), int(window, c_size_t), least, means, &
         size(means, kind=c_size_t)), ierr)
   end function exact_rolling_mean_items

   function exact_rolling_sum_by_range_int32(index, x, width, least_items, ierr) result(totals)
      integer(int32), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer(int32), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(x))
      integer(int64) :: least

      totals = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_sum_by_range(OF_INT32, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, totals, size(totals, kind=c_size_t)), ierr)
   end function exact_rolling_sum_by_range_int32

   function exact_rolling_sum_by_range_int64(index, x, width, least_items, ierr) result(totals)
      integer(int64), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer(int64), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(x))
      integer(int64) :: least

      totals = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_sum_by_range(OF_INT64, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, totals, size(totals, kind=c_size_t)), ierr)
   end function exact_rolling_sum_by_range_int64

   function exact_rolling_sum_by_range_real64(index, x, width, least_items, ierr) result(totals)
      real(real64), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      real(real64), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: totals(size(x))
      integer(int64) :: least

      totals = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_sum_by_range(OF_REAL64, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, totals, size(totals, kind=c_size_t)), ierr)
   end function exact_rolling_sum_by_range_real64

   function exact_rolling_mean_by_range_int32(index, x, width, least_items, ierr) result(means)
      integer(int32), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer(int32), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(size(x))
      integer(int64) :: least

      means = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_mean_by_range(OF_INT32, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, means, size(means, kind=c_size_t)), ierr)
   end function exact_rolling_mean_by_range_int32

   function exact_rolling_mean_by_range_int64(index, x, width, least_items, ierr) result(means)
      integer(int64), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer(int64), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(size(x))
      integer(int64) :: least

      means = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_mean_by_range(OF_INT64, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, means, size(means, kind=c_size_t)), ierr)
   end function exact_rolling_mean_by_range_int64

   function exact_rolling_mean_by_range_real64(index, x, width, least_items, ierr) result(means)
      real(real64), intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      real(real64), intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: means(size(x))
      integer(int64) :: least

      means = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_exact_rolling_mean_by_range(OF_REAL64, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, means, size(means, kind=c_size_t)), ierr)
   end function exact_rolling_mean_by_range_real64

   subroutine accumulator_variance_one(accumulator, ddof, result, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      real(real64), intent(in) :: ddof
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_part(accumulator, element, handle, ierr)) return
      call report(c_accumulator_variance(handle, ddof, c_loc(result)), ierr)
   end subroutine accumulator_variance_one

   subroutine accumulator_standard_deviation_one(accumulator, ddof, result, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      real(real64), intent(in) :: ddof
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_part(accumulator, element, handle, ierr)) return
      call report(c_accumulator_standard_deviation(handle, ddof, c_loc(result)), ierr)
   end subroutine accumulator_standard_deviation_one

   subroutine keyed_add_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_int32

   subroutine keyed_add_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_int64

   subroutine keyed_add_rows_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      if (other_row('x', size(x, 1, int64), keyed, ierr)) return
      call report(c_keyed_add(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_rows_int32

   subroutine keyed_add_rows_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      if (other_row('x', size(x, 1, int64), keyed, ierr)) return
      call report(c_keyed_add(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_add_rows_int64

   subroutine keyed_remove_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_int32

   subroutine keyed_remove_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_int64

   subroutine keyed_remove_rows_int32(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      if (other_row('x', size(x, 1, int64), keyed, ierr)) return
      call report(c_keyed_remove(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_rows_int32

   subroutine keyed_remove_rows_int64(keyed, keys, x, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      if (other_row('x', size(x, 1, int64), keyed, ierr)) return
      call report(c_keyed_remove(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t)), ierr)
   end subroutine keyed_remove_rows_int64

   subroutine keyed_add_dot_int32(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add_dot(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine keyed_add_dot_int32

   subroutine keyed_add_dot_int64(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_add_dot(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine keyed_add_dot_int64

   subroutine keyed_remove_dot_int32(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove_dot(handle, OF_INT32, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine keyed_remove_dot_int32

   subroutine keyed_remove_dot_int64(keyed, keys, x, y, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_remove_dot(handle, OF_INT64, address_of(keys), size(keys, kind=c_size_t), address(x), &
         size(x, kind=c_size_t), address(y), size(y, kind=c_size_t)), ierr)
   end subroutine keyed_remove_dot_int64

   subroutine keyed_sums_items(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_sums(handle, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_sums_items

   subroutine keyed_sums_rows(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:, :)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      if (other_row('result', size(result, 1, int64), keyed, ierr)) return
      call report(c_keyed_sums(handle, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_sums_rows

   subroutine keyed_means_items(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_mean(keyed, element, handle, ierr)) return
      call report(c_keyed_means(handle, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_means_items

   subroutine keyed_minima_items(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_minima(handle, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_minima_items

   subroutine keyed_maxima_items(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_maxima(handle, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_maxima_items

   subroutine keyed_variances_items(keyed, ddof, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      real(real64), intent(in) :: ddof
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_variances(handle, ddof, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_variances_items

   subroutine keyed_standard_deviations_items(keyed, ddof, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      real(real64), intent(in) :: ddof
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle

      if (other_keyed(keyed, element, handle, ierr)) return
      call report(c_keyed_standard_deviations(handle, ddof, address(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_standard_deviations_items
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

   ! Types of keys and indices, where the module of a type knows its own by another name.
   integer(c_int32_t), parameter :: OF_INT32 = TREEFOLD_I32, OF_INT64 = TREEFOLD_I64, OF_REAL64 = TREEFOLD_F64

   ! What exact plans and accumulators make of the items: their sum; the square root of the sum of their squares; the sum of products
   ! x(i) * y(i); the same with the complex conjugate of x(i); their sum, variance and standard deviation, which plans do not have. In C
   ! these are TREEFOLD_EXACT_SUM and so on, which here is a procedure's name.
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_SUM = 1
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_NORM = 2
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_DOT = 3
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_VDOT = 4
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_MOMENTS = 5
   ! Of keyed states alone: the mean of items x(i) with weights y(i); the least and the greatest item.
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_WEIGHTED_MEAN = 6
   integer(c_int32_t), parameter :: TREEFOLD_FIGURE_EXTREMA = 7

   ! An exact sum that is held between calls.
   type :: treefold_accumulator
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = 0  ! The type of the elements.
   contains
      procedure, private :: assign_accumulator
      generic :: assignment(=) => assign_accumulator
      final :: finalise_accumulator
   end type treefold_accumulator

   ! Exact sums, or what follows from them, of the items of each key.
   type :: treefold_keyed
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

      function c_sum_lanes_f32(x, n, lanes, result) bind(c, name='treefold_sum_lanes_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n, lanes
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_sum_lanes_f32

      function c_sum_lanes_f64(x, n, lanes, result) bind(c, name='treefold_sum_lanes_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n, lanes
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_sum_lanes_f64

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

      function c_exact_sum_by_key_f32(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_sum_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_by_key_f32

      function c_exact_sum_by_key_f64(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_sum_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_by_key_f64

      function c_exact_mean_by_key_f32(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_mean_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_mean_by_key_f32

      function c_exact_mean_by_key_f64(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_mean_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_mean_by_key_f64

      function c_exact_variance_by_key_f32(key_type, keys, k, items, n, ddof, result, m) &
         bind(c, name='treefold_exact_variance_by_key_f32') result(returned)
         import :: c_double, c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_double), value :: ddof
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_variance_by_key_f32

      function c_exact_variance_by_key_f64(key_type, keys, k, items, n, ddof, result, m) &
         bind(c, name='treefold_exact_variance_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), value :: ddof
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_variance_by_key_f64

      function c_exact_standard_deviation_by_key_f32(key_type, keys, k, items, n, ddof, result, m) &
         bind(c, name='treefold_exact_standard_deviation_by_key_f32') result(returned)
         import :: c_double, c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_double), value :: ddof
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_standard_deviation_by_key_f32

      function c_exact_standard_deviation_by_key_f64(key_type, keys, k, items, n, ddof, result, m) &
         bind(c, name='treefold_exact_standard_deviation_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), value :: ddof
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_standard_deviation_by_key_f64

      function c_exact_dot_by_key_f32(key_type, keys, k, x, n, y, l, result, m) &
         bind(c, name='treefold_exact_dot_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, l, m
         real(c_float), intent(in) :: x(*), y(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_dot_by_key_f32

      function c_exact_dot_by_key_f64(key_type, keys, k, x, n, y, l, result, m) &
         bind(c, name='treefold_exact_dot_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, l, m
         real(c_double), intent(in) :: x(*), y(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_dot_by_key_f64

      function c_exact_weighted_mean_by_key_f32(key_type, keys, k, x, n, y, l, result, m) &
         bind(c, name='treefold_exact_weighted_mean_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, l, m
         real(c_float), intent(in) :: x(*), y(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_weighted_mean_by_key_f32

      function c_exact_weighted_mean_by_key_f64(key_type, keys, k, x, n, y, l, result, m) &
         bind(c, name='treefold_exact_weighted_mean_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, l, m
         real(c_double), intent(in) :: x(*), y(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_weighted_mean_by_key_f64

      function c_exact_min_by_key_f32(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_min_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_min_by_key_f32

      function c_exact_min_by_key_f64(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_min_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_min_by_key_f64

      function c_exact_max_by_key_f32(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_max_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_max_by_key_f32

      function c_exact_max_by_key_f64(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_exact_max_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_max_by_key_f64

      function c_exact_sum_rows_by_key_f32(key_type, keys, k, items, n, width, result, m) &
         bind(c, name='treefold_exact_sum_rows_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, width, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_rows_by_key_f32

      function c_exact_sum_rows_by_key_f64(key_type, keys, k, items, n, width, result, m) &
         bind(c, name='treefold_exact_sum_rows_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, width, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_sum_rows_by_key_f64

      function c_exact_integer_sum_by_key(key_type, keys, k, type, items, n, result, m) &
         bind(c, name='treefold_exact_integer_sum_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type, type
         type(c_ptr), value :: keys, items, result
         integer(c_size_t), value :: k, n, m
         integer(c_int32_t) :: returned
      end function c_exact_integer_sum_by_key

      function c_exact_rolling_sum_f32(items, n, window, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_sum_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: items(*)
         integer(c_size_t), value :: n, window, least_items, m
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_sum_f32

      function c_exact_rolling_sum_f64(items, n, window, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_sum_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: items(*)
         integer(c_size_t), value :: n, window, least_items, m
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_sum_f64

      function c_exact_rolling_mean_f32(items, n, window, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_mean_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: items(*)
         integer(c_size_t), value :: n, window, least_items, m
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_mean_f32

      function c_exact_rolling_mean_f64(items, n, window, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_mean_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: items(*)
         integer(c_size_t), value :: n, window, least_items, m
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_mean_f64

      function c_exact_rolling_sum_by_range_f32(index_type, index, k, items, n, width, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_sum_by_range_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: index_type
         type(c_ptr), value :: index, width
         integer(c_size_t), value :: k, n, least_items, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_sum_by_range_f32

      function c_exact_rolling_sum_by_range_f64(index_type, index, k, items, n, width, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_sum_by_range_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: index_type
         type(c_ptr), value :: index, width
         integer(c_size_t), value :: k, n, least_items, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_sum_by_range_f64

      function c_exact_rolling_mean_by_range_f32(index_type, index, k, items, n, width, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_mean_by_range_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: index_type
         type(c_ptr), value :: index, width
         integer(c_size_t), value :: k, n, least_items, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_mean_by_range_f32

      function c_exact_rolling_mean_by_range_f64(index_type, index, k, items, n, width, least_items, result, m) &
         bind(c, name='treefold_exact_rolling_mean_by_range_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: index_type
         type(c_ptr), value :: index, width
         integer(c_size_t), value :: k, n, least_items, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_exact_rolling_mean_by_range_f64

      function c_accumulator_create(type, figure, result) bind(c, name='treefold_accumulator_create') result(returned)
         import :: c_int32_t, c_ptr
         integer(c_int32_t), value :: type, figure
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_accumulator_create

      function c_accumulator_destroy(accumulator) bind(c, name='treefold_accumulator_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: accumulator
         integer(c_int32_t) :: returned
      end function c_accumulator_destroy

      function c_accumulator_add(accumulator, items, n) bind(c, name='treefold_accumulator_add') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, items
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_accumulator_add

      function c_accumulator_remove(accumulator, items, n) bind(c, name='treefold_accumulator_remove') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, items
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_accumulator_remove

      function c_accumulator_add_dot(accumulator, x, n, y, m) bind(c, name='treefold_accumulator_add_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, x, y
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_accumulator_add_dot

      function c_accumulator_remove_dot(accumulator, x, n, y, m) bind(c, name='treefold_accumulator_remove_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, x, y
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_accumulator_remove_dot

      function c_accumulator_merge(accumulator, other) bind(c, name='treefold_accumulator_merge') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, other
         integer(c_int32_t) :: returned
      end function c_accumulator_merge

      function c_accumulator_unmerge(accumulator, other) bind(c, name='treefold_accumulator_unmerge') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, other
         integer(c_int32_t) :: returned
      end function c_accumulator_unmerge

      function c_accumulator_count(accumulator, result) bind(c, name='treefold_accumulator_count') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr
         type(c_ptr), value :: accumulator
         integer(c_int64_t), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_accumulator_count

      function c_accumulator_value(accumulator, result) bind(c, name='treefold_accumulator_value') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, result
         integer(c_int32_t) :: returned
      end function c_accumulator_value

      function c_accumulator_mean(accumulator, result) bind(c, name='treefold_accumulator_mean') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, result
         integer(c_int32_t) :: returned
      end function c_accumulator_mean

      function c_accumulator_variance(accumulator, ddof, result) bind(c, name='treefold_accumulator_variance') result(returned)
         import :: c_double, c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, result
         real(c_double), value :: ddof
         integer(c_int32_t) :: returned
      end function c_accumulator_variance

      function c_accumulator_standard_deviation(accumulator, ddof, result) &
         bind(c, name='treefold_accumulator_standard_deviation') result(returned)
         import :: c_double, c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, result
         real(c_double), value :: ddof
         integer(c_int32_t) :: returned
      end function c_accumulator_standard_deviation

      function c_accumulator_equal(accumulator, other, result) bind(c, name='treefold_accumulator_equal') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: accumulator, other
         integer(c_int), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_accumulator_equal

      function c_accumulator_to_bytes(accumulator, bytes, capacity, needed) &
         bind(c, name='treefold_accumulator_to_bytes') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, bytes
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
         integer(c_int32_t) :: returned
      end function c_accumulator_to_bytes

      function c_accumulator_of_bytes(accumulator, bytes, n) bind(c, name='treefold_accumulator_of_bytes') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: accumulator, bytes
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_accumulator_of_bytes

      function c_keyed_create(type, figure, keys, result) bind(c, name='treefold_keyed_create') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type, figure
         integer(c_size_t), value :: keys
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_keyed_create

      function c_keyed_create_rows(type, keys, width, result) bind(c, name='treefold_keyed_create_rows') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: type
         integer(c_size_t), value :: keys, width
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_keyed_create_rows

      function c_keyed_create_hashed(type, key_type, result) bind(c, name='treefold_keyed_create_hashed') result(returned)
         import :: c_int32_t, c_ptr
         integer(c_int32_t), value :: type, key_type
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_keyed_create_hashed

      function c_keyed_destroy(keyed) bind(c, name='treefold_keyed_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: keyed
         integer(c_int32_t) :: returned
      end function c_keyed_destroy

      function c_keyed_add(keyed, key_type, keys, k, items, n) bind(c, name='treefold_keyed_add') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, keys, items
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n
         integer(c_int32_t) :: returned
      end function c_keyed_add

      function c_keyed_remove(keyed, key_type, keys, k, items, n) bind(c, name='treefold_keyed_remove') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, keys, items
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n
         integer(c_int32_t) :: returned
      end function c_keyed_remove

      function c_keyed_add_dot(keyed, key_type, keys, k, x, n, y, l) bind(c, name='treefold_keyed_add_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, keys, x, y
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, l
         integer(c_int32_t) :: returned
      end function c_keyed_add_dot

      function c_keyed_remove_dot(keyed, key_type, keys, k, x, n, y, l) bind(c, name='treefold_keyed_remove_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, keys, x, y
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, l
         integer(c_int32_t) :: returned
      end function c_keyed_remove_dot

      function c_keyed_merge(keyed, other) bind(c, name='treefold_keyed_merge') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: keyed, other
         integer(c_int32_t) :: returned
      end function c_keyed_merge

      function c_keyed_groups(keyed, result) bind(c, name='treefold_keyed_groups') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed
         integer(c_size_t), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_keyed_groups

      function c_keyed_keys(keyed, result, m) bind(c, name='treefold_keyed_keys') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_keys

      function c_keyed_sums(keyed, result, m) bind(c, name='treefold_keyed_sums') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_sums

      function c_keyed_counts(keyed, result, m) bind(c, name='treefold_keyed_counts') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed
         integer(c_int64_t), intent(inout) :: result(*)
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_counts

      function c_keyed_means(keyed, result, m) bind(c, name='treefold_keyed_means') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_means

      function c_keyed_minima(keyed, result, m) bind(c, name='treefold_keyed_minima') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_minima

      function c_keyed_maxima(keyed, result, m) bind(c, name='treefold_keyed_maxima') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_maxima

      function c_keyed_variances(keyed, ddof, result, m) bind(c, name='treefold_keyed_variances') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         real(c_double), value :: ddof
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_variances

      function c_keyed_standard_deviations(keyed, ddof, result, m) &
         bind(c, name='treefold_keyed_standard_deviations') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         real(c_double), value :: ddof
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_standard_deviations

      function c_keyed_statistics(keyed, statistic, ddof, bias, result, m) &
         bind(c, name='treefold_keyed_statistics') result(returned)
         import :: c_double, c_int, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, result
         integer(c_int32_t), value :: statistic
         real(c_double), value :: ddof
         integer(c_int), value :: bias
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_keyed_statistics

      function c_keyed_equal(keyed, other, result) bind(c, name='treefold_keyed_equal') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: keyed, other
         integer(c_int), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_keyed_equal

      function c_keyed_to_bytes(keyed, bytes, capacity, needed) bind(c, name='treefold_keyed_to_bytes') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, bytes
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
         integer(c_int32_t) :: returned
      end function c_keyed_to_bytes

      function c_keyed_of_bytes(keyed, bytes, n) bind(c, name='treefold_keyed_of_bytes') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: keyed, bytes
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_keyed_of_bytes

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

      function c_par_sum_lanes_f32(x, n, lanes, result) bind(c, name='treefold_par_sum_lanes_f32') result(returned)
         import :: c_float, c_int32_t, c_size_t
         real(c_float), intent(in) :: x(*)
         integer(c_size_t), value :: n, lanes
         real(c_float), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_sum_lanes_f32

      function c_par_sum_lanes_f64(x, n, lanes, result) bind(c, name='treefold_par_sum_lanes_f64') result(returned)
         import :: c_double, c_int32_t, c_size_t
         real(c_double), intent(in) :: x(*)
         integer(c_size_t), value :: n, lanes
         real(c_double), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_par_sum_lanes_f64

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

      function c_par_exact_sum_by_key_f32(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_par_exact_sum_by_key_f32') result(returned)
         import :: c_float, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_float), intent(in) :: items(*)
         real(c_float), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_par_exact_sum_by_key_f32

      function c_par_exact_sum_by_key_f64(key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_par_exact_sum_by_key_f64') result(returned)
         import :: c_double, c_int32_t, c_ptr, c_size_t
         integer(c_int32_t), value :: key_type
         type(c_ptr), value :: keys
         integer(c_size_t), value :: k, n, m
         real(c_double), intent(in) :: items(*)
         real(c_double), intent(inout) :: result(*)
         integer(c_int32_t) :: returned
      end function c_par_exact_sum_by_key_f64
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

   interface treefold_keyed_sums
      module procedure keyed_integer_sums
   end interface
   private :: keyed_integer_sums

   interface address_of
      module procedure address_of_int8, address_of_int32, address_of_int64, address_of_real64
   end interface

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

   ! An accumulator of no items: a type of real or complex numbers, and what is made of them, such as TREEFOLD_FIGURE_MOMENTS.
   subroutine treefold_accumulator_create(type, figure, accumulator, ierr)
      integer(c_int32_t), intent(in) :: type, figure
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: status

      call finalise_accumulator(accumulator)
      status = c_accumulator_create(type, figure, accumulator%handle)
      accumulator%element = type
      call report(status, ierr)
   end subroutine treefold_accumulator_create

   ! Ends an accumulator; no error if it has ended, or was never made.
   subroutine treefold_accumulator_destroy(accumulator, ierr)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer, intent(out), optional :: ierr

      call report(c_accumulator_destroy(accumulator%handle), ierr)
   end subroutine treefold_accumulator_destroy

   ! Adds what another accumulator of the same type and figure was given, which may be this one.
   subroutine treefold_accumulator_merge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr

      call report(c_accumulator_merge(accumulator%handle, other%handle), ierr)
   end subroutine treefold_accumulator_merge

   ! Takes it back.
   subroutine treefold_accumulator_unmerge(accumulator, other, ierr)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr

      call report(c_accumulator_unmerge(accumulator%handle, other%handle), ierr)
   end subroutine treefold_accumulator_unmerge

   ! The number of items, or of products.
   function treefold_accumulator_count(accumulator, ierr) result(count)
      type(treefold_accumulator), intent(in) :: accumulator
      integer, intent(out), optional :: ierr
      integer(int64) :: count

      count = 0
      call report(c_accumulator_count(accumulator%handle, count), ierr)
   end function treefold_accumulator_count

   ! Whether two hold the same sum of as many items, of each kind of those that are not numbers, infinite or -0.
   function treefold_accumulator_equal(accumulator, other, ierr) result(is_equal)
      type(treefold_accumulator), intent(in) :: accumulator, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      integer(c_int) :: found

      found = 0
      call report(c_accumulator_equal(accumulator%handle, other%handle, found), ierr)
      is_equal = found == 1
   end function treefold_accumulator_equal

   ! An accumulator as bytes, for files and other programs. Equal ones have the same.
   subroutine treefold_accumulator_to_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(int8), intent(out), allocatable, target :: bytes(:)
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      needed = 0
      status = c_accumulator_to_bytes(accumulator%handle, c_null_ptr, 0_c_size_t, needed)
      allocate (bytes(needed))
      if (status == TREEFOLD_OK) &
         status = c_accumulator_to_bytes(accumulator%handle, address_of(bytes), size(bytes, kind=c_size_t), needed)
      call report(status, ierr)
   end subroutine treefold_accumulator_to_bytes

   ! Makes an accumulator what bytes stand for. They are those of one of its type and figure.
   subroutine treefold_accumulator_of_bytes(accumulator, bytes, ierr)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(int8), intent(in), contiguous, target :: bytes(:)
      integer, intent(out), optional :: ierr

      call report(c_accumulator_of_bytes(accumulator%handle, address_of(bytes), size(bytes, kind=c_size_t)), ierr)
   end subroutine treefold_accumulator_of_bytes

   ! A state of no items for the keys 0 to keys - 1: a type of real numbers, and a figure but TREEFOLD_FIGURE_NORM and _VDOT; or a type of
   ! integers, and TREEFOLD_FIGURE_SUM. treefold.h says which results each has.
   subroutine treefold_keyed_create(type, figure, keys, keyed, ierr)
      integer(c_int32_t), intent(in) :: type, figure
      integer, intent(in) :: keys
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: status

      call finalise_keyed(keyed)
      if (negative('keys', int(keys, int64), ierr)) return
      status = c_keyed_create(type, figure, int(keys, c_size_t), keyed%handle)
      keyed%element = type
      keyed%width = 1
      call report(status, ierr)
   end subroutine treefold_keyed_create

   ! Sums of rows of `width` items: treefold_keyed_add takes x(:, i) with keys(i), and treefold_keyed_sums leaves result(:, key + 1).
   subroutine treefold_keyed_create_rows(type, keys, width, keyed, ierr)
      integer(c_int32_t), intent(in) :: type
      integer, intent(in) :: keys, width
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: status

      call finalise_keyed(keyed)
      if (negative('keys', int(keys, int64), ierr)) return
      if (negative('width', int(width, int64), ierr)) return
      status = c_keyed_create_rows(type, int(keys, c_size_t), int(width, c_size_t), keyed%handle)
      keyed%element = type
      keyed%width = width
      call report(status, ierr)
   end subroutine treefold_keyed_create_rows

   ! Sums of the keys that have items, which may be any integers.
   subroutine treefold_keyed_create_hashed(type, keyed, ierr)
      integer(c_int32_t), intent(in) :: type
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: status

      call finalise_keyed(keyed)
      status = c_keyed_create_hashed(type, TREEFOLD_I64, keyed%handle)
      keyed%element = type
      keyed%width = 1
      call report(status, ierr)
   end subroutine treefold_keyed_create_hashed

   ! Ends a keyed state; no error if it has ended, or was never made.
   subroutine treefold_keyed_destroy(keyed, ierr)
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call report(c_keyed_destroy(keyed%handle), ierr)
   end subroutine treefold_keyed_destroy

   ! Adds what another one of the same type, figure and number of keys was given, which may be this one.
   subroutine treefold_keyed_merge(keyed, other, ierr)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr

      call report(c_keyed_merge(keyed%handle, other%handle), ierr)
   end subroutine treefold_keyed_merge

   ! The number of items of each key.
   subroutine treefold_keyed_counts(keyed, counts, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int64), intent(inout), contiguous :: counts(:)
      integer, intent(out), optional :: ierr

      call report(c_keyed_counts(keyed%handle, counts, size(counts, kind=c_size_t)), ierr)
   end subroutine treefold_keyed_counts

   ! The sum of each key's integers, of whatever type.
   subroutine keyed_integer_sums(keyed, result, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int64), intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      if (other_type('keyed', keyed%handle, keyed%element < TREEFOLD_I8, ierr)) return
      call report(c_keyed_sums(keyed%handle, address_of(result), size(result, kind=c_size_t)), ierr)
   end subroutine keyed_integer_sums

   ! The number of keys.
   function treefold_keyed_groups(keyed, ierr) result(groups)
      type(treefold_keyed), intent(in) :: keyed
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: groups

      groups = 0
      call report(c_keyed_groups(keyed%handle, groups), ierr)
   end function treefold_keyed_groups

   ! The keys of a state of any keys, in ascending order.
   subroutine treefold_keyed_keys(keyed, keys, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int64), intent(inout), contiguous, target :: keys(:)
      integer, intent(out), optional :: ierr

      call report(c_keyed_keys(keyed%handle, address_of(keys), size(keys, kind=c_size_t)), ierr)
   end subroutine treefold_keyed_keys

   ! Whether two have the same keys with the same sums, as those of accumulators.
   function treefold_keyed_equal(keyed, other, ierr) result(is_equal)
      type(treefold_keyed), intent(in) :: keyed, other
      integer, intent(out), optional :: ierr
      logical :: is_equal
      integer(c_int) :: found

      found = 0
      call report(c_keyed_equal(keyed%handle, other%handle, found), ierr)
      is_equal = found == 1
   end function treefold_keyed_equal

   ! Sums or moments by key as bytes, for files and other programs. Equal ones have the same.
   subroutine treefold_keyed_to_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int8), intent(out), allocatable, target :: bytes(:)
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      needed = 0
      status = c_keyed_to_bytes(keyed%handle, c_null_ptr, 0_c_size_t, needed)
      allocate (bytes(needed))
      if (status == TREEFOLD_OK) &
         status = c_keyed_to_bytes(keyed%handle, address_of(bytes), size(bytes, kind=c_size_t), needed)
      call report(status, ierr)
   end subroutine treefold_keyed_to_bytes

   ! Makes a keyed state what bytes stand for, with as many keys. They are those of one of its type and figure.
   subroutine treefold_keyed_of_bytes(keyed, bytes, ierr)
      type(treefold_keyed), intent(in) :: keyed
      integer(int8), intent(in), contiguous, target :: bytes(:)
      integer, intent(out), optional :: ierr

      call report(c_keyed_of_bytes(keyed%handle, address_of(bytes), size(bytes, kind=c_size_t)), ierr)
   end subroutine treefold_keyed_of_bytes

   ! <table: handles>
   ! Nobody is left to hear of an error in a finaliser. It has no effect on what has ended already, nor on what was never made.

   impure elemental subroutine finalise_accumulator(accumulator)
      type(treefold_accumulator), intent(inout) :: accumulator
      integer(c_int32_t) :: status

      if (c_associated(accumulator%handle)) status = c_accumulator_destroy(accumulator%handle)
      accumulator%handle = c_null_ptr
   end subroutine finalise_accumulator

   impure elemental subroutine finalise_keyed(keyed)
      type(treefold_keyed), intent(inout) :: keyed
      integer(c_int32_t) :: status

      if (c_associated(keyed%handle)) status = c_keyed_destroy(keyed%handle)
      keyed%handle = c_null_ptr
   end subroutine finalise_keyed

   ! Assignments: of what has not been made, such as treefold_plan(), it ends the old value; of anything else the program.

   impure elemental subroutine assign_accumulator(to, from)
      class(treefold_accumulator), intent(inout) :: to
      type(treefold_accumulator), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_accumulator')
      call finalise_accumulator(to)
   end subroutine assign_accumulator

   impure elemental subroutine assign_keyed(to, from)
      class(treefold_keyed), intent(inout) :: to
      type(treefold_keyed), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_keyed')
      call finalise_keyed(to)
   end subroutine assign_keyed
   ! </table>

   subroutine no_copy(type)
      character(len=*), intent(in) :: type

      write (error_unit, '(3a)') 'treefold: a ', type, ' that is in use cannot be copied; use it where it is, or move_alloc'
      flush (error_unit)
      error stop
   end subroutine no_copy

   ! Reports that elements are not of an accumulator's type; else fetches its handle.
   function other_accumulator(accumulator, element, handle, ierr) result(is)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(out) :: handle
      integer, intent(out), optional :: ierr
      logical :: is

      handle = accumulator%handle
      is = other_type('accumulator', handle, element /= accumulator%element, ierr)
   end function other_accumulator

   ! The same for the real parts of elements.
   function other_part(accumulator, element, handle, ierr) result(is)
      type(treefold_accumulator), intent(in) :: accumulator
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(out) :: handle
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: part
      logical :: is

      handle = accumulator%handle
      part = accumulator%element
      if (part == TREEFOLD_C32) part = TREEFOLD_F32
      if (part == TREEFOLD_C64) part = TREEFOLD_F64
      is = other_type('accumulator', handle, element /= part, ierr)
   end function other_part

   ! The same for items of a keyed state.
   function other_keyed(keyed, element, handle, ierr) result(is)
      type(treefold_keyed), intent(in) :: keyed
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(out) :: handle
      integer, intent(out), optional :: ierr
      logical :: is

      handle = keyed%handle
      is = other_type('keyed', handle, element /= keyed%element, ierr)
   end function other_keyed

   ! The same for means, which of integers are real64.
   function other_mean(keyed, element, handle, ierr) result(is)
      type(treefold_keyed), intent(in) :: keyed
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(out) :: handle
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: of_means
      logical :: is

      handle = keyed%handle
      of_means = keyed%element
      if (of_means >= TREEFOLD_I8) of_means = TREEFOLD_F64
      is = other_type('keyed', handle, element /= of_means, ierr)
   end function other_mean

   ! Reports rows of another length than a state's, which C takes for others as long as there are enough.
   function other_row(name, length, keyed, ierr) result(is)
      character(len=*), intent(in) :: name
      integer(int64), intent(in) :: length
      type(treefold_keyed), intent(in) :: keyed
      integer, intent(out), optional :: ierr
      logical :: is

      is = other_length('a row of ' // name, length, keyed%width, ierr)
   end function other_row

   ! C says what is wrong with a handle that has not been made.
   function other_type(name, handle, is_other, ierr) result(is)
      character(len=*), intent(in) :: name
      type(c_ptr), intent(in) :: handle
      logical, intent(in) :: is_other
      integer, intent(out), optional :: ierr
      logical :: is

      is = is_other .and. c_associated(handle)
      if (is) call report_own(TREEFOLD_ARGUMENT, name // ' is not of the type of the array', ierr)
   end function other_type

   ! As address() of the modules for one type.
   function address_of_int8(x) result(address)
      integer(int8), target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address_of_int8

   function address_of_int32(x) result(address)
      integer(int32), target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address_of_int32

   function address_of_int64(x) result(address)
      integer(int64), target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address_of_int64

   function address_of_real64(x) result(address)
      real(real64), target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address_of_real64

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
   use treefold_support, element => TREEFOLD_F32, c_sum_lanes => c_sum_lanes_f32, c_par_sum_lanes => c_par_sum_lanes_f32, &
      c_dot => c_dot_f32, c_par_dot => c_par_dot_f32, c_squared_norm => c_squared_norm_f32, &
      c_par_squared_norm => c_par_squared_norm_f32, c_sum_and_absolute_sum => c_sum_and_absolute_sum_f32, &
      c_par_sum_and_absolute_sum => c_par_sum_and_absolute_sum_f32, c_exact_sum => c_exact_sum_f32, &
      c_par_exact_sum => c_par_exact_sum_f32, c_exact_dot => c_exact_dot_f32, c_par_exact_dot => c_par_exact_dot_f32, &
      c_exact_norm => c_exact_norm_f32, c_par_exact_norm => c_par_exact_norm_f32, c_exact_sum_rows => c_exact_sum_rows_f32, &
      c_exact_sum_by_key => c_exact_sum_by_key_f32, c_par_exact_sum_by_key => c_par_exact_sum_by_key_f32, &
      c_exact_mean_by_key => c_exact_mean_by_key_f32, c_exact_min_by_key => c_exact_min_by_key_f32, &
      c_exact_max_by_key => c_exact_max_by_key_f32, c_exact_variance_by_key => c_exact_variance_by_key_f32, &
      c_exact_standard_deviation_by_key => c_exact_standard_deviation_by_key_f32, c_exact_dot_by_key => c_exact_dot_by_key_f32, &
      c_exact_weighted_mean_by_key => c_exact_weighted_mean_by_key_f32, c_exact_sum_rows_by_key => c_exact_sum_rows_by_key_f32, &
      c_exact_rolling_sum => c_exact_rolling_sum_f32, c_exact_rolling_mean => c_exact_rolling_mean_f32, &
      c_exact_rolling_sum_by_range => c_exact_rolling_sum_by_range_f32, &
      c_exact_rolling_mean_by_range => c_exact_rolling_mean_by_range_f32
   ! </table>
#define TREEFOLD_TYPE real(real32)
#define TREEFOLD_ORDERED
#define TREEFOLD_FLOATING
#define TREEFOLD_REAL
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_FLOATING
#undef TREEFOLD_REAL
end module treefold_real32

module treefold_real64
   ! <table: real64>
   use treefold_support, element => TREEFOLD_F64, c_sum_lanes => c_sum_lanes_f64, c_par_sum_lanes => c_par_sum_lanes_f64, &
      c_dot => c_dot_f64, c_par_dot => c_par_dot_f64, c_squared_norm => c_squared_norm_f64, &
      c_par_squared_norm => c_par_squared_norm_f64, c_sum_and_absolute_sum => c_sum_and_absolute_sum_f64, &
      c_par_sum_and_absolute_sum => c_par_sum_and_absolute_sum_f64, c_exact_sum => c_exact_sum_f64, &
      c_par_exact_sum => c_par_exact_sum_f64, c_exact_dot => c_exact_dot_f64, c_par_exact_dot => c_par_exact_dot_f64, &
      c_exact_norm => c_exact_norm_f64, c_par_exact_norm => c_par_exact_norm_f64, c_exact_sum_rows => c_exact_sum_rows_f64, &
      c_exact_sum_by_key => c_exact_sum_by_key_f64, c_par_exact_sum_by_key => c_par_exact_sum_by_key_f64, &
      c_exact_mean_by_key => c_exact_mean_by_key_f64, c_exact_min_by_key => c_exact_min_by_key_f64, &
      c_exact_max_by_key => c_exact_max_by_key_f64, c_exact_variance_by_key => c_exact_variance_by_key_f64, &
      c_exact_standard_deviation_by_key => c_exact_standard_deviation_by_key_f64, c_exact_dot_by_key => c_exact_dot_by_key_f64, &
      c_exact_weighted_mean_by_key => c_exact_weighted_mean_by_key_f64, c_exact_sum_rows_by_key => c_exact_sum_rows_by_key_f64, &
      c_exact_rolling_sum => c_exact_rolling_sum_f64, c_exact_rolling_mean => c_exact_rolling_mean_f64, &
      c_exact_rolling_sum_by_range => c_exact_rolling_sum_by_range_f64, &
      c_exact_rolling_mean_by_range => c_exact_rolling_mean_by_range_f64
   ! </table>
#define TREEFOLD_TYPE real(real64)
#define TREEFOLD_ORDERED
#define TREEFOLD_FLOATING
#define TREEFOLD_REAL
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_FLOATING
#undef TREEFOLD_REAL
end module treefold_real64

module treefold_complex32
   use treefold_support, element => TREEFOLD_C32
#define TREEFOLD_TYPE complex(real32)
#define TREEFOLD_FLOATING
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
end module treefold_complex32

module treefold_complex64
   use treefold_support, element => TREEFOLD_C64
#define TREEFOLD_TYPE complex(real64)
#define TREEFOLD_FLOATING
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
end module treefold_complex64

module treefold_int8
   use treefold_support, element => TREEFOLD_I8
#define TREEFOLD_TYPE integer(int8)
#define TREEFOLD_ORDERED
#define TREEFOLD_INTEGER
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_INTEGER
end module treefold_int8

module treefold_int16
   use treefold_support, element => TREEFOLD_I16
#define TREEFOLD_TYPE integer(int16)
#define TREEFOLD_ORDERED
#define TREEFOLD_INTEGER
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_INTEGER
end module treefold_int16

module treefold_int32
   use treefold_support, element => TREEFOLD_I32
#define TREEFOLD_TYPE integer(int32)
#define TREEFOLD_ORDERED
#define TREEFOLD_INTEGER
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_INTEGER
end module treefold_int32

module treefold_int64
   use treefold_support, element => TREEFOLD_I64
#define TREEFOLD_TYPE integer(int64)
#define TREEFOLD_ORDERED
#define TREEFOLD_INTEGER
#include "treefold.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_ORDERED
#undef TREEFOLD_INTEGER
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
      treefold_combine, TREEFOLD_ITEM_BYTES_MAX, treefold_fold, treefold_par_fold, &
      TREEFOLD_FIGURE_SUM, TREEFOLD_FIGURE_NORM, TREEFOLD_FIGURE_DOT, TREEFOLD_FIGURE_VDOT, TREEFOLD_FIGURE_MOMENTS, &
      TREEFOLD_FIGURE_WEIGHTED_MEAN, TREEFOLD_FIGURE_EXTREMA, &
      treefold_accumulator, treefold_accumulator_create, treefold_accumulator_destroy, treefold_accumulator_merge, &
      treefold_accumulator_unmerge, treefold_accumulator_count, treefold_accumulator_equal, treefold_accumulator_to_bytes, &
      treefold_accumulator_of_bytes, &
      treefold_keyed, treefold_keyed_create, treefold_keyed_create_rows, treefold_keyed_create_hashed, treefold_keyed_destroy, &
      treefold_keyed_merge, treefold_keyed_sums, treefold_keyed_counts, treefold_keyed_groups, treefold_keyed_keys, &
      treefold_keyed_equal, treefold_keyed_to_bytes, treefold_keyed_of_bytes
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
