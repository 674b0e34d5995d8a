! Exact sums in Fortran that are held between calls, by key and of windows: values that only an exact sum gives, and errors.
!
!     gfortran treefold.F90 states.f90 -ltreefold && ./a.out
program states
   use, intrinsic :: ieee_arithmetic, only: ieee_is_finite, ieee_is_nan
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int32, int64, real32, real64
   use treefold
   implicit none

   integer, parameter :: ITEMS = 6000, GROUPS = 11
   integer :: cases, faults

   cases = 0
   faults = 0
   call sums_of_integers()
   call figures()
   call complex_numbers()
   call bytes_and_equality()
   call by_key()
   call windows()
   call errors()
   if (faults > 0) then
      write (error_unit, '(i0, a, i0, a)') faults, ' of ', cases, ' checks failed'
      error stop
   end if
   print '(i0, a)', cases, ' checks of accumulators and keyed states passed'

contains

   ! Integers of up to 30 bits among large numbers, which are taken back: the sums are those of integers.
   subroutine sums_of_integers()
      type(treefold_accumulator) :: total, part, small
      integer(int64) :: whole(ITEMS)
      real(real64) :: x(ITEMS), large(ITEMS), found
      real(real32) :: found_f32
      integer :: i

      do i = 1, ITEMS
         whole(i) = mod(1103515245_int64 * i, 2147483648_int64) - 1073741824
         large(i) = 2.0_real64**(mod(i, 900) + 60)
      end do
      x = real(whole, real64)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, total)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, part)
      call treefold_accumulator_add(total, x(1::2))
      call treefold_accumulator_add(total, large)
      do i = 2, ITEMS, 2
         call treefold_accumulator_add(part, x(i))
      end do
      call treefold_accumulator_remove(total, large(ITEMS:1:-1))
      call treefold_accumulator_merge(total, part)
      call treefold_accumulator_value(total, found)
      call same('integers', found, real(sum(whole), real64))
      call check('count', treefold_accumulator_count(total) == ITEMS)
      call treefold_accumulator_mean(total, found)
      call check('mean', abs(found - real(sum(whole), real64) / ITEMS) <= spacing(found))
      call treefold_accumulator_unmerge(total, part)
      call treefold_accumulator_value(total, found)
      call same('what is left', found, real(sum(whole(1::2)), real64))
      call treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_FIGURE_SUM, small)
      call treefold_accumulator_add(small, [1e30_real32, 1.0_real32])
      call treefold_accumulator_add(small, -1e30_real32)
      call treefold_accumulator_value(small, found_f32)
      call same('floats', real(found_f32, real64), 1.0_real64)
   end subroutine sums_of_integers

   subroutine figures()
      type(treefold_accumulator) :: dot, norm, moments
      real(real64) :: found
      real(real32) :: found_f32

      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_DOT, dot)
      call treefold_accumulator_add_dot(dot, [1e200_real64, 3.0_real64, 1e200_real64], [1e200_real64, 4.0_real64, -1e200_real64])
      call treefold_accumulator_add_dot(dot, [5.0_real64], [7.0_real64])
      call treefold_accumulator_remove_dot(dot, [5.0_real64], [7.0_real64])
      call treefold_accumulator_value(dot, found)
      call same('dot', found, 12.0_real64)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_NORM, norm)
      call treefold_accumulator_add(norm, scale([3.0_real64, 4.0_real64], 700))
      call treefold_accumulator_value(norm, found)
      call same('norm', found, scale(5.0_real64, 700))
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, moments)
      call treefold_accumulator_add(moments, 1e8_real64 + [4, 7, 13, 16])
      call treefold_accumulator_mean(moments, found)
      call same('mean', found, 1e8_real64 + 10)
      call treefold_accumulator_variance(moments, 1.0_real64, found)
      call same('variance', found, 30.0_real64)
      call treefold_accumulator_standard_deviation(moments, 1.0_real64, found)
      call same('standard deviation', found, sqrt(30.0_real64))
      call treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_FIGURE_MOMENTS, moments)
      call treefold_accumulator_add(moments, [1.0_real32, 2.0_real32, 6.0_real32])
      call treefold_accumulator_variance(moments, 1.0_real64, found_f32)
      call same('variance of floats', real(found_f32, real64), 7.0_real64)
   end subroutine figures

   subroutine complex_numbers()
      type(treefold_accumulator) :: total, dot, conjugate, moments
      complex(real64) :: found
      complex(real32) :: found_f32
      real(real64) :: variance

      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_FIGURE_SUM, total)
      call treefold_accumulator_add(total, [(1e300_real64, 1.0_real64), (2.0_real64, 1e-300_real64), (-1e300_real64, -1.0_real64)])
      call treefold_accumulator_value(total, found)
      call same_complex('complex sum', found, (2.0_real64, 1e-300_real64))
      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_FIGURE_DOT, dot)
      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_FIGURE_VDOT, conjugate)
      call treefold_accumulator_add_dot(dot, [(1.0_real64, 2.0_real64)], [(3.0_real64, 4.0_real64)])
      call treefold_accumulator_add_dot(conjugate, [(1.0_real64, 2.0_real64)], [(3.0_real64, 4.0_real64)])
      call treefold_accumulator_value(dot, found)
      call same_complex('complex dot', found, (-5.0_real64, 10.0_real64))
      call treefold_accumulator_value(conjugate, found)
      call same_complex('conjugate dot', found, (11.0_real64, -2.0_real64))
      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_FIGURE_MOMENTS, moments)
      call treefold_accumulator_add(moments, [(1.0_real64, 1.0_real64), (2.0_real64, 3.0_real64)])
      call treefold_accumulator_variance(moments, 0.0_real64, variance)
      call same('complex variance', variance, 1.25_real64)
      call treefold_accumulator_create(TREEFOLD_C32, TREEFOLD_FIGURE_SUM, total)
      call treefold_accumulator_add(total, (1.0_real32, 2.0_real32))
      call treefold_accumulator_add(total, [(1.0_real32, 4.0_real32)])
      call treefold_accumulator_remove(total, (1.0_real32, 2.0_real32))
      call treefold_accumulator_mean(total, found_f32)
      call same_complex('complex floats', cmplx(found_f32, kind=real64), (1.0_real64, 4.0_real64))
   end subroutine complex_numbers

   subroutine bytes_and_equality()
      type(treefold_accumulator) :: one, other, floats
      integer(int8), allocatable :: bytes(:), again(:)
      integer :: ierr

      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, one)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, other)
      call treefold_accumulator_add(one, [1e300_real64, 0.1_real64, -0.0_real64])
      call treefold_accumulator_add(other, [0.1_real64, -0.0_real64])
      call check('not equal', .not. treefold_accumulator_equal(one, other))
      call treefold_accumulator_add(other, 1e300_real64)
      call check('equal', treefold_accumulator_equal(one, other))
      call treefold_accumulator_to_bytes(one, bytes)
      call treefold_accumulator_to_bytes(other, again)
      call check('bytes', size(bytes) == size(again) .and. all(bytes == again))
      call treefold_accumulator_add(other, 3.0_real64)
      call treefold_accumulator_of_bytes(other, bytes)
      call check('equal again', treefold_accumulator_equal(one, other))
      call treefold_accumulator_of_bytes(other, bytes(:size(bytes) - 1), ierr)
      call fails('bytes that end early', ierr, TREEFOLD_LENGTH, 'too early')
      call treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_FIGURE_SUM, floats)
      call treefold_accumulator_of_bytes(floats, bytes, ierr)
      call fails('bytes of doubles', ierr, TREEFOLD_ARGUMENT, 'not a sum of f32')
      call check('equal still', treefold_accumulator_equal(one, other))
   end subroutine bytes_and_equality

   subroutine by_key()
      type(treefold_keyed) :: sums, parts, moments, floats
      type(treefold_accumulator) :: alone
      integer(int32) :: keys(ITEMS)
      real(real64) :: x(ITEMS), totals(0:GROUPS - 1), again(0:GROUPS - 1), means(0:GROUPS - 1), found
      real(real32) :: of_floats(0:GROUPS - 1)
      integer(int64) :: counts(0:GROUPS - 1)
      integer :: i, key

      ! The last key has no items.
      keys = [(mod(7 * i, GROUPS - 1), i = 1, ITEMS)]
      x = [((-1)**i * 1.1_real64**mod(i, 300) / i, i = 1, ITEMS)]
      totals = treefold_exact_sum_by_key(keys, x, GROUPS)
      again = treefold_par_exact_sum_by_key(int(keys, int64), x, GROUPS)
      call same_all('by all threads', again, totals)
      do key = 0, GROUPS - 1
         call same('sum of a key', totals(key), treefold_exact_sum(pack(x, keys == key)))
      end do
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, GROUPS, sums)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, GROUPS, parts)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, GROUPS, moments)
      call treefold_keyed_add(sums, keys(1::2), x(1::2))
      call treefold_keyed_add(parts, int(keys, int64), x)
      call treefold_keyed_remove(parts, keys(1::2), x(1::2))
      call treefold_keyed_merge(sums, parts)
      call treefold_keyed_sums(sums, again)
      call same_all('parts', again, totals)
      call treefold_keyed_add(moments, keys, x)
      call treefold_keyed_add(moments, keys(::3), x(2::3))
      call treefold_keyed_remove(moments, int(keys(::3), int64), x(2::3))
      call treefold_keyed_counts(moments, counts)
      call treefold_keyed_means(moments, again)
      means = treefold_exact_mean_by_key(keys, x, GROUPS)
      do key = 0, GROUPS - 2
         call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, alone)
         call treefold_accumulator_add(alone, pack(x, keys == key))
         call check('count of a key', counts(key) == treefold_accumulator_count(alone))
         call treefold_accumulator_mean(alone, found)
         call same('mean of a key', means(key), found)
         call same('mean of a key, held', again(key), found)
      end do
      call check('mean of nothing', ieee_is_nan(means(GROUPS - 1)) .and. counts(GROUPS - 1) == 0)
      call treefold_keyed_variances(moments, 1.0_real64, again)
      means = treefold_exact_variance_by_key(keys, x, GROUPS, 1.0_real64)
      call same_all('variances', again(:GROUPS - 2), means(:GROUPS - 2))
      call treefold_accumulator_variance(alone, 1.0_real64, found)
      call same('variance of a key', again(GROUPS - 2), found)
      call treefold_keyed_standard_deviations(moments, 0.0_real64, again)
      means = treefold_exact_standard_deviation_by_key(int(keys, int64), x, GROUPS, 0.0_real64)
      call same_all('standard deviations', again(:GROUPS - 2), means(:GROUPS - 2))
      call treefold_keyed_create(TREEFOLD_F32, TREEFOLD_FIGURE_SUM, 2, floats)
      call treefold_keyed_add(floats, [0, 1, 0], [1e30_real32, 2.0_real32, -1e30_real32])
      call treefold_keyed_sums(floats, of_floats(:1))
      call same_all('floats by key', real(of_floats(:1), real64), [0.0_real64, 2.0_real64])
      of_floats(:1) = treefold_exact_sum_by_key([0, 1, 0], [1e30_real32, 2.0_real32, -1e30_real32], 2)
      call same_all('floats by key at once', real(of_floats(:1), real64), [0.0_real64, 2.0_real64])
   end subroutine by_key

   subroutine windows()
      real(real64) :: x(5), totals(5)
      real(real32) :: means(3)

      x = [1.0_real64, 1e300_real64, 0.25_real64, 2.0_real64, 3.0_real64]
      totals = treefold_exact_rolling_sum(x, 2)
      call check('no window', ieee_is_nan(totals(1)))
      call same('a window', totals(4), 2.25_real64)
      totals = treefold_exact_rolling_sum(x, 2, 1)
      call same('a short window', totals(1), 1.0_real64)
      totals = treefold_exact_rolling_mean(x, 3, least_items=2)
      call same('a mean', totals(5), 1.75_real64)
      call check('a short mean', ieee_is_finite(totals(2)) .and. ieee_is_nan(totals(1)))
      means = treefold_exact_rolling_mean([1.0_real32, 2.0_real32, 4.0_real32], 2, 1)
      call same_all('means of floats', real(means, real64), [1.0_real64, 1.5_real64, 3.0_real64])
   end subroutine windows

   subroutine errors()
      type(treefold_accumulator) :: none, total, dot
      type(treefold_keyed) :: sums
      real(real64) :: found(3)
      real(real32) :: found_f32
      integer :: ierr

      call treefold_accumulator_add(none, [1.0_real64], ierr)
      call fails('an accumulator that was not made', ierr, TREEFOLD_NULL, 'accumulator')
      call treefold_accumulator_create(TREEFOLD_I32, TREEFOLD_FIGURE_SUM, none, ierr)
      call fails('an accumulator of integers', ierr, TREEFOLD_UNSUPPORTED, 'integers')
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, total)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_FIGURE_DOT, dot)
      call treefold_accumulator_add(total, [1.0_real32], ierr)
      call fails('floats among doubles', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_accumulator_variance(total, 1.0_real64, found_f32, ierr)
      call fails('a float for a double', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_accumulator_remove(total, 1.0_real64, ierr)
      call fails('more than was added', ierr, TREEFOLD_ARGUMENT, '1 items cannot be removed of 0')
      call treefold_accumulator_merge(total, dot, ierr)
      call fails('another figure', ierr, TREEFOLD_ARGUMENT, 'dot product')
      call treefold_accumulator_variance(total, 1.0_real64, found(1), ierr)
      call fails('no variance', ierr, TREEFOLD_UNSUPPORTED, 'variance')
      call treefold_accumulator_destroy(total)
      call treefold_accumulator_destroy(total, ierr)
      call fails('ended twice', ierr, TREEFOLD_OK, '')
      found = treefold_exact_sum_by_key([0, 1, -1], [1.0_real64, 2.0_real64, 3.0_real64], 3, ierr)
      call fails('a negative key', ierr, TREEFOLD_ARGUMENT, 'item 2 has key -1')
      found = treefold_exact_mean_by_key([0, 1], [1.0_real64, 2.0_real64, 3.0_real64], 3, ierr)
      call fails('too few keys', ierr, TREEFOLD_LENGTH, 'keys')
      found = treefold_exact_rolling_sum([1.0_real64, 2.0_real64, 3.0_real64], -1, ierr=ierr)
      call fails('a negative window', ierr, TREEFOLD_ARGUMENT, 'window')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, -3, sums, ierr)
      call fails('a negative number of keys', ierr, TREEFOLD_ARGUMENT, 'keys')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 3, sums)
      call treefold_keyed_add(sums, [0, 3], [1.0_real64, 2.0_real64], ierr)
      call fails('a key that is too large', ierr, TREEFOLD_ARGUMENT, 'item 1 has key 3, and keys are 0 to 2')
      call treefold_keyed_add(sums, [0, 1], [1.0_real32, 2.0_real32], ierr)
      call fails('floats by key', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_keyed_sums(sums, found(:2), ierr)
      call fails('too few results', ierr, TREEFOLD_LENGTH, '3 keys')
      call treefold_keyed_sums(sums, found)
      call same_all('no sum has changed', found, [0.0_real64, 0.0_real64, 0.0_real64])
      call treefold_keyed_destroy(sums)
      call treefold_keyed_sums(sums, found, ierr)
      call fails('a keyed state that has ended', ierr, TREEFOLD_NULL, 'keyed')
   end subroutine errors

   subroutine fails(what, ierr, expected, words)
      character(len=*), intent(in) :: what, words
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= TREEFOLD_OK) call check(what // ' says ' // treefold_error_message(), index(treefold_error_message(), words) > 0)
   end subroutine fails

   subroutine same(what, found, expected)
      character(len=*), intent(in) :: what
      real(real64), intent(in) :: found, expected

      cases = cases + 1
      if (transfer(found, 0_int64) == transfer(expected, 0_int64)) return
      faults = faults + 1
      write (error_unit, '(2a, 2(2x, es24.16e3))') what, ': found, expected', found, expected
   end subroutine same

   subroutine same_all(what, found, expected)
      character(len=*), intent(in) :: what
      real(real64), intent(in) :: found(:), expected(:)
      integer :: i

      do i = 1, max(size(found), size(expected))
         call same(what, found(i), expected(i))
      end do
   end subroutine same_all

   subroutine same_complex(what, found, expected)
      character(len=*), intent(in) :: what
      complex(real64), intent(in) :: found, expected

      call same(what // ', real part', real(found), real(expected))
      call same(what // ', imaginary part', aimag(found), aimag(expected))
   end subroutine same_complex

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      cases = cases + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a)') what
   end subroutine check
end program states
