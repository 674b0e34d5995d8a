! Exact sums in Fortran: values that only an exact sum gives, sums of integers between large numbers that cancel, and errors.
!
!     gfortran treefold.F90 exact.f90 -ltreefold && ./a.out
program exact
   use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_nearest, ieee_quiet_nan, ieee_set_rounding_mode, &
      ieee_support_rounding, ieee_up, ieee_value
   use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
   use treefold
   implicit none

   integer, parameter :: LENGTHS(9) = [1, 2, 3, 7, 8, 9, 1000, 4097, 100000]
   integer :: length, cases, faults

   cases = 0
   faults = 0
   call special_f64()
   call special_f32()
   do length = 1, size(LENGTHS)
      call integers_f64(LENGTHS(length))
      call integers_f32(LENGTHS(length))
   end do
   call sections()
   call environment()
   call errors()
   if (faults > 0) then
      write (error_unit, '(i0, a, i0, a)') faults, ' of ', cases, ' checks failed'
      error stop
   end if
   print '(i0, a)', cases, ' checks of exact sums passed'

contains

   subroutine special_f64()
      real(real64) :: nothing(0), nan, large

      nan = ieee_value(nan, ieee_quiet_nan)
      large = huge(large)
      call same('sum', treefold_exact_sum([1e300_real64, 1.0_real64, -1e300_real64]), 1.0_real64)
      call same('par sum', treefold_par_exact_sum([1e300_real64, 1.0_real64, -1e300_real64]), 1.0_real64)
      call same('beyond the range on the way', treefold_exact_sum([large, large, -large]), large)
      call same('par: beyond the range on the way', treefold_par_exact_sum([large, large, -large]), large)
      call same('negative zeros', treefold_exact_sum([-0.0_real64, -0.0_real64]), -0.0_real64)
      call same('par negative zeros', treefold_par_exact_sum([-0.0_real64, -0.0_real64]), -0.0_real64)
      call same('zeros', treefold_exact_sum([-0.0_real64, 0.0_real64]), 0.0_real64)
      call same('nothing', treefold_exact_sum(nothing), 0.0_real64)
      call same('par nothing', treefold_par_exact_sum(nothing), 0.0_real64)
      call check('NaN', ieee_is_nan(treefold_exact_sum([1.0_real64, nan])))
      call check('par NaN', ieee_is_nan(treefold_par_exact_sum([1.0_real64, nan])))
      call same('dot', treefold_exact_dot([1e200_real64, 3.0_real64, 1e200_real64], &
         [1e200_real64, 4.0_real64, -1e200_real64]), 12.0_real64)
      call same('par dot', treefold_par_exact_dot([1e200_real64, 3.0_real64, 1e200_real64], &
         [1e200_real64, 4.0_real64, -1e200_real64]), 12.0_real64)
      call same('dot of nothing', treefold_exact_dot(nothing, nothing), 0.0_real64)
      call same('norm', treefold_exact_norm(scale([3.0_real64, 4.0_real64], 700)), scale(5.0_real64, 700))
      call same('par norm', treefold_par_exact_norm(scale([3.0_real64, 4.0_real64], 700)), scale(5.0_real64, 700))
      call same('norm of the greatest', treefold_exact_norm([-large]), large)
      call same('norm of nothing', treefold_exact_norm(nothing), 0.0_real64)
      call same('first column', sum_of_column(1), 5.0_real64)
      call same('second column', sum_of_column(2), 6.0_real64)
   end subroutine special_f64

   function sum_of_column(column) result(total)
      integer, intent(in) :: column
      real(real64) :: total, rows(2, 3), row(2)

      rows = reshape([1e300_real64, 1.0_real64, 5.0_real64, 2.0_real64, -1e300_real64, 3.0_real64], [2, 3])
      row = treefold_exact_sum_rows(rows)
      total = row(column)
   end function sum_of_column

   subroutine special_f32()
      real(real32) :: nothing(0), large, row(2)

      large = huge(large)
      call same_f32('sum f32', treefold_exact_sum([1e30_real32, 1.0_real32, -1e30_real32]), 1.0_real32)
      call same_f32('par sum f32', treefold_par_exact_sum([1e30_real32, 1.0_real32, -1e30_real32]), 1.0_real32)
      call same_f32('f32 beyond the range on the way', treefold_exact_sum([large, large, -large]), large)
      call same_f32('negative zeros f32', treefold_exact_sum([-0.0_real32, -0.0_real32]), -0.0_real32)
      call same_f32('nothing f32', treefold_par_exact_sum(nothing), 0.0_real32)
      call same_f32('dot f32', treefold_exact_dot([1e30_real32, 3.0_real32, 1e30_real32], &
         [1e30_real32, 4.0_real32, -1e30_real32]), 12.0_real32)
      call same_f32('par dot f32', treefold_par_exact_dot([1e30_real32, 3.0_real32, 1e30_real32], &
         [1e30_real32, 4.0_real32, -1e30_real32]), 12.0_real32)
      call same_f32('norm f32', treefold_exact_norm(scale([3.0_real32, 4.0_real32], 100)), scale(5.0_real32, 100))
      call same_f32('par norm f32', treefold_par_exact_norm(scale([3.0_real32, 4.0_real32], 100)), scale(5.0_real32, 100))
      row = treefold_exact_sum_rows(reshape([large, 1.0_real32, large, 2.0_real32, -large, 3.0_real32], [2, 3]))
      call same_f32('first column f32', row(1), large)
      call same_f32('second column f32', row(2), 6.0_real32)
   end subroutine special_f32

   ! Integers of up to 30 bits, each between two large numbers that cancel: the sums are those of integers, and so are those of the
   ! products by 1, 2, 3, and the norms of few bits.
   subroutine integers_f64(n)
      integer, intent(in) :: n
      integer(int64) :: whole(n), total, columns(3)
      real(real64) :: x(3 * n), y(3 * n), row(3)
      integer :: i

      do i = 1, n
         whole(i) = mod(1103515245_int64 * i + 12345 * int(n, int64), 2147483648_int64) - 1073741824
         x(3 * i - 2:3 * i) = [2.0_real64**(mod(i, 900) + 60), real(whole(i), real64), -2.0_real64**(mod(i, 900) + 60)]
         y(3 * i - 2:3 * i) = 1 + mod(i, 3)
      end do
      total = sum(whole)
      call same('integers', treefold_exact_sum(x), real(total, real64))
      call same('par integers', treefold_par_exact_sum(x), real(total, real64))
      call same('integers backwards', treefold_exact_sum(x(size(x):1:-1)), real(total, real64))
      total = sum([(whole(i) * (1 + mod(i, 3)), i = 1, n)])
      call same('products', treefold_exact_dot(x, y), real(total, real64))
      call same('par products', treefold_par_exact_dot(x, y), real(total, real64))
      total = sum(mod(whole, 1000_int64)**2)
      call same('squares', treefold_exact_norm(real(mod(whole, 1000_int64), real64)), sqrt(real(total, real64)))
      call same('par squares', treefold_par_exact_norm(real(mod(whole, 1000_int64), real64)), sqrt(real(total, real64)))
      ! Rows of three: column 2 has the integers, and what the other two have cancels between them.
      row = treefold_exact_sum_rows(reshape(x, [3, n]))
      columns = [0_int64, sum(whole), 0_int64]
      call same('column of integers', row(2), real(columns(2), real64))
      call same('columns that cancel', row(1), -row(3))
   end subroutine integers_f64

   subroutine integers_f32(n)
      integer, intent(in) :: n
      integer(int64) :: whole(n)
      real(real32) :: x(3 * n), row(3)
      integer :: i

      do i = 1, n
         whole(i) = mod(1103515245_int64 * i + 12345 * int(n, int64), 16777216_int64) - 8388608
         x(3 * i - 2:3 * i) = [2.0_real32**(mod(i, 90) + 30), real(whole(i), real32), -2.0_real32**(mod(i, 90) + 30)]
      end do
      call same_f32('integers f32', treefold_exact_sum(x), real(sum(whole), real32))
      call same_f32('par integers f32', treefold_par_exact_sum(x), real(sum(whole), real32))
      call same_f32('products f32', treefold_exact_dot(x, [(1.0_real32, i = 1, 3 * n)]), real(sum(whole), real32))
      row = treefold_exact_sum_rows(reshape(x, [3, n]))
      call same_f32('column of integers f32', row(2), real(sum(whole), real32))
   end subroutine integers_f32

   ! What is not contiguous arrives as it is.
   subroutine sections()
      real(real64) :: x(1000), r(6, 100), row(3)
      integer :: i

      x = [(1.0_real64 / i, i = 1, 1000)]
      call same('every third', treefold_exact_sum(x(::3)), treefold_exact_sum([(x(i), i = 1, 1000, 3)]))
      r = reshape(x(:600), shape(r))
      row = treefold_exact_sum_rows(r(2:6:2, ::2))
      do i = 1, 3
         call same('a row of the array', row(i), treefold_exact_sum(r(2 * i, ::2)))
      end do
   end subroutine sections

   ! Sums are right where the processor rounds otherwise.
   subroutine environment()
      real(real64) :: x(1000), upward(3), expected(3)
      integer :: i, ierr(3)

      if (.not. ieee_support_rounding(ieee_up)) return
      x = [((-1)**i / real(i, real64), i = 1, 1000)]
      expected = [treefold_exact_sum(x), treefold_exact_dot(x, x(1000:1:-1)), treefold_exact_norm(x)]
      call ieee_set_rounding_mode(ieee_up)
      upward(1) = treefold_exact_sum(x, ierr(1))
      upward(2) = treefold_par_exact_dot(x, x(1000:1:-1), ierr(2))
      upward(3) = treefold_exact_norm(x, ierr(3))
      call ieee_set_rounding_mode(ieee_nearest)
      call check('no error where sums round upwards', all(ierr == TREEFOLD_OK))
      do i = 1, 3
         call same('rounding upwards', upward(i), expected(i))
      end do
   end subroutine environment

   subroutine errors()
      real(real64) :: x(4), total, no_columns(0, 4), nothing(0)
      integer :: ierr

      x = [0.1_real64, 0.2_real64, 0.3_real64, 0.4_real64]
      total = treefold_exact_sum(x, ierr)
      call fails('no error', ierr, TREEFOLD_OK)
      total = treefold_exact_dot(x, x(:3), ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH)
      total = treefold_par_exact_dot(x(:0), x, ierr)
      call fails('par: factors of two lengths', ierr, TREEFOLD_LENGTH)
      nothing = treefold_exact_sum_rows(no_columns, ierr)
      call fails('rows of nothing', ierr, TREEFOLD_LENGTH)
      total = treefold_par_exact_norm(x, ierr)
      call fails('no error in a norm', ierr, TREEFOLD_OK)
   end subroutine errors

   subroutine fails(what, ierr, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= TREEFOLD_OK) call check(what // ' says nothing', len(treefold_error_message()) > 0)
   end subroutine fails

   subroutine same(what, found, expected)
      character(len=*), intent(in) :: what
      real(real64), intent(in) :: found, expected

      cases = cases + 1
      if (transfer(found, 0_int64) == transfer(expected, 0_int64)) return
      faults = faults + 1
      write (error_unit, '(2a, 2(2x, es24.16e3))') what, ': found, expected', found, expected
   end subroutine same

   subroutine same_f32(what, found, expected)
      character(len=*), intent(in) :: what
      real(real32), intent(in) :: found, expected

      cases = cases + 1
      if (transfer(found, 0_int32) == transfer(expected, 0_int32)) return
      faults = faults + 1
      write (error_unit, '(2a, 2(2x, es16.8e3))') what, ': found, expected', found, expected
   end subroutine same_f32

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      cases = cases + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a)') what
   end subroutine check
end program exact
