! Keyed states of every figure in Fortran, and windows by an index: against sums of integers and of each key's items alone, and errors.
!
!     gfortran treefold.F90 keyed.f90 -ltreefold && ./a.out
program keyed
   use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
   use treefold
   implicit none

   integer, parameter :: ITEMS = 3000, GROUPS = 11
   integer :: cases, faults
   integer(int32) :: keys(ITEMS)
   integer(int64) :: whole(ITEMS), weights(ITEMS)
   real(real64) :: x(ITEMS), y(ITEMS)

   cases = 0
   faults = 0
   call draw()
   call products()
   call extrema()
   call rows()
   call integers()
   call any_keys()
   call bytes_and_equality()
   call ranges()
   call errors()
   if (faults > 0) then
      write (error_unit, '(i0, a, i0, a)') faults, ' of ', cases, ' checks failed'
      error stop
   end if
   print '(i0, a)', cases, ' checks of keyed states passed'

contains

   ! The last key has no items.
   subroutine draw()
      integer :: i

      keys = [(mod(7 * i, GROUPS - 1), i = 1, ITEMS)]
      whole = [(mod(1103515245_int64 * i, 2147483648_int64) - 1073741824, i = 1, ITEMS)]
      weights = [(1 + mod(i * 37_int64, 1024_int64), i = 1, ITEMS)]
      x = real(whole, real64)
      y = real(weights, real64)
   end subroutine draw

   subroutine products()
      type(treefold_keyed) :: dots, means, other
      real(real64) :: found(0:GROUPS - 1), again(0:GROUPS - 1), quotient
      real(real32) :: of_floats(0:1)
      integer :: key

      found = treefold_exact_dot_by_key(keys, x, y, GROUPS)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_DOT, GROUPS, dots)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_DOT, GROUPS, other)
      call treefold_keyed_add_dot(dots, keys(::2), x(::2), y(::2))
      call treefold_keyed_add_dot(other, int(keys, int64), x, y)
      call treefold_keyed_remove_dot(other, keys(::2), y(::2), x(::2))
      call treefold_keyed_merge(dots, other)
      call treefold_keyed_sums(dots, again)
      call same_all('dot products held', again, found)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_WEIGHTED_MEAN, GROUPS, means)
      call treefold_keyed_add_dot(means, keys, x, y)
      call treefold_keyed_means(means, again)
      do key = 0, GROUPS - 2
         call same('dot product', found(key), real(sum(whole * weights, keys == key), real64))
         quotient = found(key) / real(sum(weights, keys == key), real64)
         call check('weighted mean', abs(again(key) - quotient) <= spacing(quotient))
      end do
      found = treefold_exact_weighted_mean_by_key(int(keys, int64), x, y, GROUPS)
      call same_all('weighted means', found(:GROUPS - 2), again(:GROUPS - 2))
      call check('weighted mean of nothing', ieee_is_nan(found(GROUPS - 1)) .and. ieee_is_nan(again(GROUPS - 1)))
      of_floats = treefold_exact_dot_by_key([0, 1, 0], [1e30_real32, 2.0_real32, 1e30_real32], &
         [1e8_real32, 3.0_real32, -1e8_real32], 2)
      call same_all('dot products of floats', real(of_floats, real64), [0.0_real64, 6.0_real64])
   end subroutine products

   subroutine extrema()
      type(treefold_keyed) :: bounds
      real(real64) :: least(0:GROUPS - 1), greatest(0:GROUPS - 1), found(0:GROUPS - 1)
      integer :: key

      least = treefold_exact_min_by_key(keys, x, GROUPS)
      greatest = treefold_exact_max_by_key(int(keys, int64), x, GROUPS)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_EXTREMA, GROUPS, bounds)
      call treefold_keyed_add(bounds, keys, x)
      call treefold_keyed_minima(bounds, found)
      do key = 0, GROUPS - 2
         call same('minimum', least(key), minval(x, keys == key))
         call same('maximum', greatest(key), maxval(x, keys == key))
         call same('minimum held', found(key), least(key))
      end do
      call check('minimum of nothing', ieee_is_nan(least(GROUPS - 1)))
      call treefold_keyed_maxima(bounds, found)
      call same_all('maxima held', found(:GROUPS - 2), greatest(:GROUPS - 2))
   end subroutine extrema

   subroutine rows()
      type(treefold_keyed) :: sums
      real(real64) :: found(3, 0:GROUPS - 1), again(3, 0:GROUPS - 1), flat(3 * GROUPS)
      integer(int64) :: columns(3, ITEMS / 3)
      integer :: key, column, ierr

      columns = reshape(whole, shape(columns))
      found = treefold_exact_sum_rows_by_key(keys(:ITEMS / 3), real(columns, real64), GROUPS)
      call treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, 3, sums)
      call treefold_keyed_add(sums, keys(:ITEMS / 3), real(columns, real64))
      call treefold_keyed_add(sums, keys(:1), real(columns(:, 9:9), real64))
      call treefold_keyed_remove(sums, int(keys(:1), int64), real(columns(:, 9:9), real64))
      call treefold_keyed_sums(sums, again)
      do key = 0, GROUPS - 1
         do column = 1, 3
            call same('a column', found(column, key), real(sum(columns(column, :), keys(:ITEMS / 3) == key), real64))
            call same('a column, held', again(column, key), found(column, key))
         end do
      end do
      call treefold_keyed_add(sums, keys(:1), [1.0_real64, 2.0_real64, 3.0_real64])
      call treefold_keyed_sums(sums, flat)
      call same('a row as an array', flat(3 * keys(1) + 2), again(2, keys(1)) + 2)
      call treefold_keyed_add(sums, [0, 1, 2], reshape([1.0_real64], [2, 3], pad=[1.0_real64]), ierr)
      call fails('rows that are too short', ierr, TREEFOLD_LENGTH, 'a row of x has 2 elements instead of 3')
      call treefold_keyed_create_rows(TREEFOLD_F64, GROUPS, -1, sums, ierr)
      call fails('a negative width', ierr, TREEFOLD_ARGUMENT, 'width')
   end subroutine rows

   subroutine integers()
      type(treefold_keyed) :: sums
      integer(int64) :: found(0:GROUPS - 1), counts(0:GROUPS - 1)
      integer(int16) :: short(ITEMS)
      real(real64) :: means(0:GROUPS - 1)
      real(real32) :: of_floats(0:GROUPS - 1)
      integer :: key, ierr

      short = int(mod(whole, 32768_int64), int16)
      found = treefold_exact_integer_sum_by_key(keys, short, GROUPS)
      do key = 0, GROUPS - 1
         call check('short integers', found(key) == sum(int(short, int64), keys == key))
      end do
      call treefold_keyed_create(TREEFOLD_I64, TREEFOLD_FIGURE_SUM, GROUPS, sums)
      call treefold_keyed_add(sums, int(keys, int64), whole)
      call treefold_keyed_add(sums, keys, weights)
      call treefold_keyed_remove(sums, keys, weights)
      call treefold_keyed_sums(sums, found)
      call treefold_keyed_counts(sums, counts)
      call treefold_keyed_means(sums, means)
      do key = 0, GROUPS - 2
         call check('long integers', found(key) == sum(whole, keys == key) .and. counts(key) == count(keys == key))
         call check('mean of integers', abs(means(key) - real(found(key), real64) / counts(key)) <= spacing(means(key)))
      end do
      call check('mean of no integers', ieee_is_nan(means(GROUPS - 1)))
      call treefold_keyed_means(sums, of_floats, ierr)
      call fails('a float for a mean of integers', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_keyed_add(sums, keys, short, ierr)
      call fails('short integers among long ones', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_keyed_add(sums, [4], [huge(1_int64)])
      call treefold_keyed_add(sums, [4], [huge(1_int64)])
      call treefold_keyed_sums(sums, found, ierr)
      call fails('a sum of more than 64 bits', ierr, TREEFOLD_ARGUMENT, 'the sum of key 4 is ')
      found(:1) = treefold_exact_integer_sum_by_key([0, 1, 1], [1_int8, -100_int8, -100_int8], 2)
      call check('bytes of integers', found(0) == 1 .and. found(1) == -200)
   end subroutine integers

   subroutine any_keys()
      type(treefold_keyed) :: sums, other
      integer(int64) :: large(ITEMS)
      integer(int64), allocatable :: distinct(:)
      real(real64), allocatable :: found(:)
      integer :: i, ierr

      ! Keys descend where the numbers that they are made of ascend.
      large = 5_int64 - keys * 1000000000000_int64
      call treefold_keyed_create_hashed(TREEFOLD_F64, sums)
      call treefold_keyed_create_hashed(TREEFOLD_F64, other)
      call treefold_keyed_add(sums, large, x)
      call treefold_keyed_add(other, large(ITEMS:1:-1), x(ITEMS:1:-1))
      call check('any keys are equal', treefold_keyed_equal(sums, other))
      call check('any keys', treefold_keyed_groups(sums) == GROUPS - 1)
      allocate (distinct(treefold_keyed_groups(sums)), found(treefold_keyed_groups(sums)))
      call treefold_keyed_keys(sums, distinct)
      call treefold_keyed_sums(sums, found)
      do i = 1, size(distinct)
         call check('a key', distinct(i) == 5_int64 - (GROUPS - 1 - i) * 1000000000000_int64)
         call same('the sum of a key', found(i), real(sum(whole, large == distinct(i)), real64))
      end do
      call treefold_keyed_merge(other, sums)
      call treefold_keyed_add(other, [-7], [1.0_real64])
      call check('any keys are not equal', .not. treefold_keyed_equal(sums, other))
      call treefold_keyed_keys(other, distinct, ierr)
      call fails('too few keys', ierr, TREEFOLD_LENGTH, '11 keys')
      call treefold_keyed_add(sums, large, x)
      call treefold_keyed_remove(sums, large, x)
      call treefold_keyed_remove(other, [-7], [1.0_real64])
      call treefold_keyed_remove(sums, [17], [1.0_real64], ierr)
      call fails('a key without items', ierr, TREEFOLD_ARGUMENT, 'has no items')
   end subroutine any_keys

   subroutine bytes_and_equality()
      type(treefold_keyed) :: one, other, moments
      integer(int8), allocatable :: bytes(:), again(:)
      integer :: ierr

      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, GROUPS, one)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 0, other)
      call treefold_keyed_add(one, keys, x)
      call check('not equal', .not. treefold_keyed_equal(one, other))
      call treefold_keyed_to_bytes(one, bytes)
      call treefold_keyed_of_bytes(other, bytes)
      call check('equal', treefold_keyed_equal(one, other))
      call check('as many keys as the bytes', treefold_keyed_groups(other) == GROUPS)
      call treefold_keyed_to_bytes(other, again)
      call check('bytes', size(bytes) == size(again) .and. all(bytes == again))
      call treefold_keyed_of_bytes(other, bytes(:size(bytes) - 1), ierr)
      call fails('bytes that end early', ierr, TREEFOLD_LENGTH, 'too early')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, GROUPS, moments)
      call treefold_keyed_of_bytes(moments, bytes, ierr)
      call fails('bytes of sums', ierr, TREEFOLD_ARGUMENT, 'not moments by key of f64')
      call check('equal still', treefold_keyed_equal(one, other))
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_EXTREMA, GROUPS, moments)
      call treefold_keyed_to_bytes(moments, bytes)
      call treefold_keyed_of_bytes(other, bytes, ierr)
      call fails('bytes of extrema', ierr, TREEFOLD_ARGUMENT, 'extrema by key of f64, not sums')
   end subroutine bytes_and_equality

   subroutine ranges()
      real(real64) :: few(5), found(5), times(5)
      real(real32) :: of_floats(3)
      integer :: days(5)

      few = [1.0_real64, 1e300_real64, 2.0_real64, 3.0_real64, 5.0_real64]
      days = [-3, 0, 2, 2, 9]
      times = [0.5_real64, 1.0_real64, 2.0_real64, 2.25_real64, 3.0_real64]
      found = treefold_exact_rolling_sum_by_range(days, few, 2)
      call same_all('by days', found, [1.0_real64, 1e300_real64, 2.0_real64, 5.0_real64, 5.0_real64])
      found = treefold_exact_rolling_sum_by_range(int(days, int64), few, 3_int64)
      call same_all('by long integers', found, [1.0_real64, 1e300_real64, 1e300_real64, 1e300_real64, 5.0_real64])
      found = treefold_exact_rolling_mean_by_range(times, few, 1.0_real64, 2)
      call check('a short window', ieee_is_nan(found(1)) .and. ieee_is_nan(found(3)))
      call same_all('by times', found(4:), [2.5_real64, 4.0_real64])
      of_floats = treefold_exact_rolling_mean_by_range([1, 2, 4], [1.0_real32, 2.0_real32, 4.0_real32], 2)
      call same_all('floats by days', real(of_floats, real64), [1.0_real64, 1.5_real64, 4.0_real64])
   end subroutine ranges

   subroutine errors()
      type(treefold_keyed) :: dots, none
      real(real64) :: found(3), three(3)
      integer :: ierr

      three = [1.0_real64, 2.0_real64, 3.0_real64]
      found = treefold_exact_dot_by_key([0, 1, 2], three, three(:2), 3, ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH, 'has 3 elements')
      found = treefold_exact_max_by_key([0, 1, 3], three, 3, ierr)
      call fails('a key that is too large', ierr, TREEFOLD_ARGUMENT, 'item 2 has key 3')
      found = treefold_exact_rolling_sum_by_range([1, 0, 2], three, 1, ierr=ierr)
      call fails('an index that falls', ierr, TREEFOLD_ARGUMENT, 'index 1 is not')
      found = treefold_exact_rolling_sum_by_range([1, 2, 3], three, 0, ierr=ierr)
      call fails('no width', ierr, TREEFOLD_ARGUMENT, 'width')
      found = treefold_exact_rolling_sum_by_range([1, 2], three, 1, ierr=ierr)
      call fails('too few indices', ierr, TREEFOLD_LENGTH, 'index')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 3, dots)
      call treefold_keyed_add(dots, [0], [1.0_real64], ierr)
      call fails('items of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'take products')
      call treefold_keyed_minima(dots, found, ierr)
      call fails('minima of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'minimum')
      call treefold_keyed_add_dot(dots, [0], [1.0_real32], [1.0_real32], ierr)
      call fails('floats among doubles', ierr, TREEFOLD_ARGUMENT, 'type')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_VDOT, 3, none, ierr)
      call fails('a figure that states by key lack', ierr, TREEFOLD_ARGUMENT, 'figures 4')
      call check('groups of none', treefold_keyed_groups(none, ierr) == 0)
      call fails('a state that was not made', ierr, TREEFOLD_NULL, 'keyed')
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

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      cases = cases + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a)') what
   end subroutine check
end program keyed
