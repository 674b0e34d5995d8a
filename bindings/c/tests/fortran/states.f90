! Accumulators and keyed states in Fortran: items that are added in several calls, with gaps between them, and removed, compared
! with one call with all items; copies, bytes and errors.

include 'checks.inc'

program states
   use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
   use checks
   implicit none

   integer, parameter :: N = 30000, GROUPS = 11
   integer :: i, statistic
   integer(int32) :: keys(N)
   integer(int64) :: whole(N)
   real(real64) :: x(N), y(N)

   whole = [(mod(1103515245_int64 * i, 2147483648_int64) - 1073741824, i = 1, N)]
   keys = [(mod(7 * i, GROUPS), i = 1, N)]
   x = real(whole, real64)
   y = [(1.1_real64**mod(i, 300) / i, i = 1, N)]
   do statistic = TREEFOLD_STATISTIC_COUNT, TREEFOLD_STATISTIC_VDOT
      call accumulate(statistic)
      call accumulate_by_key(statistic)
   end do
   call types()
   call rows()
   call integers()
   call any_keys()
   call bytes()
   call errors()
   call keyed_errors()
   call finish('accumulators and keyed states')

contains

   ! Adds every second item, then the other items, then more items, which are removed again.
   subroutine accumulate(statistic)
      integer, intent(in) :: statistic
      type(treefold_accumulator) :: total, part, copy
      real(real64) :: found, expected
      integer(int64) :: counts(2)
      integer :: ierr
      logical :: has_pairs

      has_pairs = any(statistic == [TREEFOLD_STATISTIC_DOT, TREEFOLD_STATISTIC_VDOT])
      call treefold_accumulator_create(TREEFOLD_F64, statistic, total, ierr)
      if (all(statistic /= [TREEFOLD_STATISTIC_COUNT, TREEFOLD_STATISTIC_SUM, TREEFOLD_STATISTIC_MEAN, &
         TREEFOLD_STATISTIC_VARIANCE, TREEFOLD_STATISTIC_STD, TREEFOLD_STATISTIC_NORM]) .and. .not. has_pairs) then
         call check('an accumulator that there is not', ierr /= TREEFOLD_OK)
         return
      end if
      call treefold_accumulator_create(TREEFOLD_F64, statistic, part)
      if (has_pairs) then
         call treefold_exact(statistic, x, expected, y)
         call treefold_accumulator_add_pairs(total, x(::2), y(::2))
         call treefold_accumulator_add_pairs(part, x(N:2:-2), y(N:2:-2))
         call treefold_accumulator_add_pairs(part, y, x)
         call treefold_accumulator_remove_pairs(part, y(::1), x)
      else
         if (statistic > 0) call treefold_exact(statistic, x, expected, ddof=1.0_real64)
         call treefold_accumulator_add(total, x(::2))
         call treefold_accumulator_add(part, x(N:2:-2))
         call treefold_accumulator_add(part, y)
         call treefold_accumulator_add(part, y(7))
         call treefold_accumulator_remove(part, y(N:1:-1))
         call treefold_accumulator_remove(part, [y(7)])
      end if
      copy = total
      call treefold_accumulator_merge(total, part)
      call check('not equal', .not. treefold_accumulator_equal(total, copy))
      if (statistic == TREEFOLD_STATISTIC_COUNT) then
         call treefold_accumulator_value(total, statistic, counts(2))
         call same('a count that is held', counts(2), int(N, int64))
      else
         call treefold_accumulator_value(total, statistic, found, 1.0_real64)
         call same('a statistic that is held', found, expected)
      end if
      call treefold_accumulator_unmerge(total, part)
      call check('unmerged', treefold_accumulator_equal(total, copy))
      call treefold_accumulator_copy(part, copy)
      call check('copied', treefold_accumulator_equal(part, copy))
      call treefold_accumulator_clear(copy)
      call treefold_accumulator_clear(part)
      call check('cleared', treefold_accumulator_equal(part, copy))
      call treefold_accumulator_merge(part, total)
      call check('merged into nothing', treefold_accumulator_equal(part, total))
      part = treefold_accumulator()
      call treefold_accumulator_add(part, x, ierr)
      call fails('an accumulator that was assigned none', ierr, TREEFOLD_NULL, 'accumulator')
   end subroutine accumulate

   subroutine accumulate_by_key(statistic)
      integer, intent(in) :: statistic
      type(treefold_keyed) :: total, part, copy
      real(real64) :: found(0:GROUPS - 1), expected(0:GROUPS - 1), scattered(2, 0:GROUPS - 1)
      integer(int64) :: counts(0:GROUPS - 1), of_keys(0:GROUPS - 1)
      logical :: has_pairs, is_extremum

      has_pairs = any(statistic == [PAIRS, TREEFOLD_STATISTIC_NORM])
      is_extremum = any(statistic == [TREEFOLD_STATISTIC_MIN, TREEFOLD_STATISTIC_MAX])
      call treefold_keyed_create(TREEFOLD_F64, statistic, GROUPS, total)
      call treefold_keyed_create(TREEFOLD_F64, statistic, GROUPS, part)
      if (statistic == TREEFOLD_STATISTIC_NORM) then
         call treefold_by_key(statistic, keys, x, expected)
         call treefold_keyed_add_pairs(total, keys(::2), x(::2), x(::2))
         call treefold_keyed_add_pairs(part, keys(2::2), x(2::2), x(2::2))
      else if (has_pairs) then
         call treefold_by_key(statistic, keys, x, expected, y, 1.0_real64)
         call treefold_keyed_add_pairs(total, keys(::2), x(::2), y(::2))
         call treefold_keyed_add_pairs(part, int(keys, int8), x, y)
         call treefold_keyed_remove_pairs(part, keys(::2), x(::2), y(::2))
      else
         if (statistic == TREEFOLD_STATISTIC_COUNT) call treefold_by_key(statistic, keys, x, counts)
         if (statistic > 0) call treefold_by_key(statistic, keys, x, expected, ddof=1.0_real64)
         call treefold_keyed_add(total, keys(::2), x(::2))
         call treefold_keyed_add(part, int(keys, int16), x)
         if (.not. is_extremum) call treefold_keyed_remove(part, keys(::2), x(::2))
      end if
      copy = total
      call treefold_keyed_merge(total, part)
      call check('not equal', .not. treefold_keyed_equal(total, copy))
      call check('groups', treefold_keyed_groups(total) == GROUPS)
      if (statistic == TREEFOLD_STATISTIC_COUNT) then
         call treefold_keyed_values(total, statistic, of_keys)
         call same('counts that are held', of_keys, counts)
      else
         call treefold_keyed_values(total, statistic, found, 1.0_real64)
         call same('statistics that are held', found, expected)
         call treefold_keyed_values(total, statistic, scattered(2, :), 1.0_real64)
         call same('statistics into gaps', [scattered(2, :)], expected)
      end if
      if (.not. is_extremum) then
         call treefold_keyed_unmerge(total, part)
         call check('unmerged', treefold_keyed_equal(total, copy))
      end if
      call treefold_keyed_copy(part, copy)
      call check('copied', treefold_keyed_equal(part, copy))
      call treefold_keyed_clear(copy)
      call treefold_keyed_clear(part)
      call check('cleared', treefold_keyed_equal(part, copy))
   end subroutine accumulate_by_key

   ! Floats and complex numbers.
   subroutine types()
      type(treefold_accumulator) :: small, total
      type(treefold_keyed) :: floats
      real(real32) :: found, of_floats(0:1)
      complex(real32) :: mean
      complex(real64) :: dot
      real(real64) :: variance

      call treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_STATISTIC_VARIANCE, small)
      call treefold_accumulator_add(small, [1.0_real32, 2.0_real32])
      call treefold_accumulator_add(small, 6.0_real32)
      call treefold_accumulator_value(small, TREEFOLD_STATISTIC_VARIANCE, found, 1.0_real64)
      call same('variance of floats', found, 7.0_real32)
      call treefold_accumulator_create(TREEFOLD_C32, TREEFOLD_STATISTIC_SUM, total)
      call treefold_accumulator_add(total, [(1.0_real32, 2.0_real32), (1.0_real32, 4.0_real32)])
      call treefold_accumulator_remove(total, (1.0_real32, 2.0_real32))
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_MEAN, mean)
      call same('complex floats', mean, (1.0_real32, 4.0_real32))
      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_STATISTIC_VDOT, total)
      call treefold_accumulator_add_pairs(total, [(1.0_real64, 2.0_real64)], [(3.0_real64, 4.0_real64)])
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_VDOT, dot)
      call same('conjugate dot', dot, (11.0_real64, -2.0_real64))
      call treefold_accumulator_create(TREEFOLD_C64, TREEFOLD_STATISTIC_STD, total)
      call treefold_accumulator_add(total, [(1.0_real64, 1.0_real64), (2.0_real64, 3.0_real64)])
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_VARIANCE, variance)
      call same('complex variance', variance, 1.25_real64)
      call treefold_keyed_create(TREEFOLD_F32, TREEFOLD_STATISTIC_SUM, 2, floats)
      call treefold_keyed_add(floats, [0, 1, 0], [1e30_real32, 2.0_real32, -1e30_real32])
      call treefold_keyed_values(floats, TREEFOLD_STATISTIC_SUM, of_floats)
      call same('floats by key', of_floats, [0.0_real32, 2.0_real32])
   end subroutine types

   subroutine rows()
      type(treefold_keyed) :: sums
      real(real64) :: columns(3, N / 3), found(3, 0:GROUPS - 1), expected(3, 0:GROUPS - 1), flat(3 * GROUPS)
      integer :: ierr

      columns = reshape(x, shape(columns))
      call treefold_by_key_rows(TREEFOLD_STATISTIC_SUM, keys(:N / 3), columns, expected)
      call treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, GROUPS, 3, sums)
      call treefold_keyed_add(sums, keys(1:N / 3:2), columns(:, ::2))
      call treefold_keyed_add(sums, keys(2:N / 3:2), columns(:, 2::2))
      call treefold_keyed_add(sums, keys(:1), columns(:, 9:9))
      call treefold_keyed_remove(sums, int(keys(:1), int64), columns(:, 9))
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('rows', found, expected)
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, flat)
      call same('rows as an array', flat, expected)
      call treefold_keyed_add(sums, [0, 1, 2], columns(:2, :3), ierr)
      call fails('rows that are too short', ierr, TREEFOLD_LENGTH, 'a row of x` has 2 elements instead of 3')
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, columns(:2, :GROUPS), ierr=ierr)
      call fails('rows of results that are too short', ierr, TREEFOLD_LENGTH, 'a row of result')
      call treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, GROUPS, -1, sums, ierr)
      call fails('a negative width', ierr, TREEFOLD_ARGUMENT, 'width')
   end subroutine rows

   subroutine integers()
      type(treefold_keyed) :: sums
      integer(int64) :: found(0:GROUPS - 1)
      real(real64) :: means(0:GROUPS - 1)
      integer :: key, ierr

      call treefold_keyed_create(TREEFOLD_I64, TREEFOLD_STATISTIC_SUM, GROUPS, sums)
      call treefold_keyed_add(sums, int(keys, int64), whole)
      call treefold_keyed_add(sums, keys, 2 * whole)
      call treefold_keyed_remove(sums, keys(N:1:-1), 2 * whole(N:1:-1))
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('integers', found, [(sum(whole, keys == key), key = 0, GROUPS - 1)])
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_MEAN, means)
      call check('means', all(abs(means - found / real([(count(keys == key), key = 0, GROUPS - 1)], real64)) <= spacing(means)))
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_MEAN, found, ierr=ierr)
      call fails('an integer for a mean of integers', ierr, TREEFOLD_ARGUMENT, 'integer(int64) instead of real(real64)')
      call treefold_keyed_add(sums, keys, int(whole, int32), ierr)
      call fails('shorter integers', ierr, TREEFOLD_ARGUMENT, 'integer(int32) instead of integer(int64)')
      call treefold_keyed_add(sums, [4], [huge(1_int64)])
      call treefold_keyed_add(sums, [4], [huge(1_int64)])
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a sum of more than 64 bits', ierr, TREEFOLD_ARGUMENT, 'key 4')
   end subroutine integers

   subroutine any_keys()
      type(treefold_keyed) :: sums, other
      integer(int64) :: large(N), distinct(GROUPS), scattered(2, GROUPS)
      real(real64) :: found(GROUPS)
      integer :: ierr

      ! The keys descend as the numbers from which they are computed ascend.
      large = 5 - keys * 1000000000000_int64
      call treefold_keyed_create_hashed(TREEFOLD_F64, sums)
      call treefold_keyed_create_hashed(TREEFOLD_F64, other)
      call treefold_keyed_add(sums, large, x)
      call treefold_keyed_add(other, large(N:1:-1), x(N:1:-1))
      call check('any keys are equal', treefold_keyed_equal(sums, other))
      call check('any keys', treefold_keyed_groups(sums) == GROUPS)
      call treefold_keyed_keys(sums, distinct)
      call treefold_keyed_keys(sums, scattered(1, :))
      call same('keys', distinct, [(5 - (GROUPS - i) * 1000000000000_int64, i = 1, GROUPS)])
      call same('keys into gaps', [scattered(1, :)], distinct)
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('sums', found, [(real(sum(whole, large == distinct(i)), real64), i = 1, GROUPS)])
      call treefold_keyed_merge(other, sums)
      call treefold_keyed_add(other, [-7], [1.0_real64])
      call check('any keys are not equal', .not. treefold_keyed_equal(sums, other))
      call treefold_keyed_keys(other, distinct, ierr)
      call fails('too few keys', ierr, TREEFOLD_LENGTH, '12')
      call treefold_keyed_keys(other, found, ierr)
      call fails('keys that are real', ierr, TREEFOLD_ARGUMENT, '`result`')
      call treefold_keyed_remove(sums, [17], [1.0_real64], ierr)
      call fails('a key without items', ierr, TREEFOLD_ARGUMENT, 'has no items')
   end subroutine any_keys

   subroutine bytes()
      type(treefold_accumulator) :: one, other, floats
      type(treefold_keyed) :: sums, more, moments
      integer(int8), allocatable :: first(:), second(:)
      integer :: ierr

      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, one)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, other)
      call treefold_accumulator_add(one, x)
      call treefold_accumulator_to_bytes(one, first)
      call treefold_accumulator_of_bytes(other, first)
      call check('equal', treefold_accumulator_equal(one, other))
      call treefold_accumulator_to_bytes(other, second)
      call same('bytes', second, first)
      call treefold_accumulator_of_bytes(other, first(:size(first) - 1), ierr)
      call fails('bytes that end early', ierr, TREEFOLD_LENGTH, 'too early')
      call treefold_accumulator_create(TREEFOLD_F32, TREEFOLD_STATISTIC_SUM, floats)
      call treefold_accumulator_of_bytes(floats, first, ierr)
      call fails('bytes of doubles', ierr, TREEFOLD_ARGUMENT, 'f32')
      call treefold_accumulator_of_bytes(floats, x, ierr)
      call fails('bytes that are real', ierr, TREEFOLD_ARGUMENT, '`bytes` is real(real64) instead of integer(int8)')
      call check('equal still', treefold_accumulator_equal(one, other))

      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, GROUPS, sums)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 0, more)
      call treefold_keyed_add(sums, keys, x)
      call treefold_keyed_to_bytes(sums, first)
      call treefold_keyed_of_bytes(more, first)
      call check('as many keys as the bytes', treefold_keyed_groups(more) == GROUPS .and. treefold_keyed_equal(sums, more))
      call treefold_keyed_to_bytes(more, second)
      call same('bytes by key', second, first)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_VARIANCE, GROUPS, moments)
      call treefold_keyed_of_bytes(moments, first, ierr)
      call fails('bytes of sums', ierr, TREEFOLD_ARGUMENT, '')
   end subroutine bytes

   subroutine errors()
      type(treefold_accumulator) :: none, total, dot
      real(real64) :: found
      real(real32) :: small
      integer :: ierr

      call treefold_accumulator_add(none, [1.0_real64], ierr)
      call fails('an accumulator that was not created', ierr, TREEFOLD_NULL, 'accumulator')
      call treefold_accumulator_value(none, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a value of none', ierr, TREEFOLD_NULL, 'accumulator')
      call treefold_accumulator_copy(none, total, ierr)
      call fails('a copy of none', ierr, TREEFOLD_NULL, 'accumulator')
      call treefold_accumulator_create(TREEFOLD_I32, TREEFOLD_STATISTIC_SUM, none, ierr)
      call fails('an accumulator of integers', ierr, TREEFOLD_UNSUPPORTED, '')
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, total)
      call treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, dot)
      call treefold_accumulator_add(total, [1.0_real32], ierr)
      call fails('floats among doubles', ierr, TREEFOLD_ARGUMENT, '`x` is real(real32) instead of real(real64)')
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_SUM, small, ierr=ierr)
      call fails('a float for a double', ierr, TREEFOLD_ARGUMENT, '`result` is real(real32) instead of real(real64)')
      call treefold_accumulator_remove(total, 1.0_real64, ierr)
      call fails('more than was added', ierr, TREEFOLD_ARGUMENT, 'cannot remove 1 item')
      call treefold_accumulator_add(total, x(:100))
      call treefold_accumulator_remove(total, x(::2), ierr)
      call fails('more with gaps than was added', ierr, TREEFOLD_ARGUMENT, 'cannot remove')
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_SUM, found)
      call same('a failed call changes nothing', found, treefold_exact_sum(x(:100)))
      call treefold_accumulator_add(dot, x(:2), ierr)
      call fails('items of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'two arrays')
      call treefold_accumulator_add_pairs(dot, x, y(:2), ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH, '`y` has 2 elements instead of 30000')
      call treefold_accumulator_merge(total, dot, ierr)
      call fails('another statistic', ierr, TREEFOLD_ARGUMENT, 'dot')
      call treefold_accumulator_value(total, TREEFOLD_STATISTIC_VARIANCE, found, ierr=ierr)
      call fails('no variance', ierr, TREEFOLD_UNSUPPORTED, 'VARIANCE')
      call treefold_accumulator_destroy(total)
      call treefold_accumulator_destroy(total, ierr)
      call fails('ended twice', ierr, TREEFOLD_OK, '')
   end subroutine errors

   subroutine keyed_errors()
      type(treefold_keyed) :: sums, dots, none
      real(real64) :: found(3)
      integer :: ierr

      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, -3, sums, ierr)
      call fails('a negative number of keys', ierr, TREEFOLD_ARGUMENT, '`keys` must not be negative: it is -3')
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 3, sums)
      call treefold_keyed_add(sums, [0, 3], [1.0_real64, 2.0_real64], ierr)
      call fails('a key that is too large', ierr, TREEFOLD_ARGUMENT, 'item 1 has key 3, and keys are 0 to 2')
      call treefold_keyed_add(sums, [(merge(3, 0, i > 12000), i = 1, N / 2)], x(::2), ierr)
      call fails('a key that is too large, with gaps', ierr, TREEFOLD_ARGUMENT, 'from item 8192 here: `keys`: item 3808 has key 3')
      call treefold_keyed_add(sums, [0, 1], [1.0_real32, 2.0_real32], ierr)
      call fails('floats by key', ierr, TREEFOLD_ARGUMENT, '`x` is real(real32)')
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found(:2), ierr=ierr)
      call fails('too few results', ierr, TREEFOLD_LENGTH, '3')
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('no sum has changed', found, [0.0_real64, 0.0_real64, 0.0_real64])
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 3, dots)
      call treefold_keyed_add(dots, [0], [1.0_real64], ierr)
      call fails('items of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'take two arrays')
      call treefold_keyed_values(dots, TREEFOLD_STATISTIC_MIN, found, ierr=ierr)
      call fails('minima of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'MIN')
      call treefold_keyed_destroy(sums)
      call treefold_keyed_values(sums, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a keyed state that has ended', ierr, TREEFOLD_NULL, 'keyed')
      call check('groups of none', treefold_keyed_groups(none, ierr) == 0)
      call fails('a state that was not created', ierr, TREEFOLD_NULL, 'keyed')
   end subroutine keyed_errors
end program states
