! Tests states in Fortran, of all items and by key. Adds items in several calls, from arrays with gaps, and removes items. The
! results must be those of one call with all items. Also tests copies, bytes and errors.

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
      call walk(statistic, is_keyed=.false.)
      call walk(statistic, is_keyed=.true.)
   end do
   call types()
   call rows()
   call integers()
   call any_keys()
   call bytes()
   call errors()
   call keyed_errors()
   call finish('states')

contains

   ! Adds half of the items to one state and half to another. Adds more items to the latter, removes them, and merges the states.
   subroutine walk(statistic, is_keyed)
      integer, intent(in) :: statistic
      logical, intent(in) :: is_keyed
      type(treefold_state) :: total, part, copy
      real(real64) :: found(GROUPS), expected(GROUPS), scattered(2, GROUPS)
      integer(int64) :: counts(GROUPS), of_keys(GROUPS)
      integer :: values, ierr
      logical :: has_pairs, is_extremum

      has_pairs = any(statistic == PAIRS) .or. is_keyed .and. statistic == TREEFOLD_STATISTIC_NORM
      is_extremum = any(statistic == [TREEFOLD_STATISTIC_MIN, TREEFOLD_STATISTIC_MAX])
      values = merge(GROUPS, 1, is_keyed)
      call create(statistic, is_keyed, total, ierr)
      if (.not. is_keyed .and. all(statistic /= [TREEFOLD_STATISTIC_COUNT, TREEFOLD_STATISTIC_SUM, TREEFOLD_STATISTIC_MEAN, &
         TREEFOLD_STATISTIC_VARIANCE, TREEFOLD_STATISTIC_STD, TREEFOLD_STATISTIC_NORM, TREEFOLD_STATISTIC_DOT, &
         TREEFOLD_STATISTIC_VDOT])) then
         call check('an accumulator that there is not', ierr /= TREEFOLD_OK)
         return
      end if
      call create(statistic, is_keyed, part, ierr)
      call fails('a state', ierr, TREEFOLD_OK, '')
      if (statistic == TREEFOLD_STATISTIC_COUNT) then
         counts(1) = N
         if (is_keyed) call treefold_by_key(statistic, keys, x, counts)
      else if (.not. is_keyed) then
         if (has_pairs) call treefold_exact(statistic, x, expected(1), y)
         if (.not. has_pairs) call treefold_exact(statistic, x, expected(1), ddof=1.0_real64)
      else if (has_pairs .and. statistic /= TREEFOLD_STATISTIC_NORM) then
         call treefold_by_key(statistic, keys, x, expected, y, 1.0_real64)
      else
         call treefold_by_key(statistic, keys, x, expected, ddof=1.0_real64)
      end if

      call change(total, statistic, is_keyed, .false., 1, 2)
      call change(part, statistic, is_keyed, .false., N, -2)
      if (.not. is_extremum) then
         call change(part, statistic, is_keyed, .false., 1, 1)
         call change(part, statistic, is_keyed, .false., 7, N)
         call change(part, statistic, is_keyed, .true., N, -1)
         call change(part, statistic, is_keyed, .true., 7, N)
      end if
      copy = total
      call treefold_state_merge(total, part)
      call check('not equal', .not. treefold_state_equal(total, copy))
      if (is_keyed) call check('groups', treefold_state_groups(total) == GROUPS)
      if (statistic == TREEFOLD_STATISTIC_COUNT) then
         call treefold_state_values(total, statistic, of_keys(:values))
         call same('counts that are held', of_keys(:values), counts(:values))
      else
         call treefold_state_values(total, statistic, found(:values), 1.0_real64)
         call same('statistics that are held', found(:values), expected(:values))
         call treefold_state_values(total, statistic, scattered(2, :values), 1.0_real64)
         call same('statistics into gaps', [scattered(2, :values)], expected(:values))
      end if
      if (.not. is_extremum) then
         call treefold_state_unmerge(total, part)
         call check('unmerged', treefold_state_equal(total, copy))
      end if
      call treefold_state_copy(part, copy)
      call check('copied', treefold_state_equal(part, copy))
      call treefold_state_clear(copy)
      call treefold_state_clear(part)
      call check('cleared', treefold_state_equal(part, copy))
      call treefold_state_merge(part, total)
      call check('merged into nothing', treefold_state_equal(part, total))
      part = treefold_state()
      call treefold_state_add(part, x, ierr=ierr)
      call fails('a state that was assigned none', ierr, TREEFOLD_NULL, '`state` was not created')
   end subroutine walk

   ! Adds the items that a statistic needs to a state, or removes them. The calls pass keys of several types.
   subroutine change(state, statistic, is_keyed, is_removal, first, step)
      type(treefold_state), intent(inout) :: state
      integer, intent(in) :: statistic, first, step
      logical, intent(in) :: is_keyed, is_removal
      real(real64) :: second(N)
      logical :: has_pairs
      integer :: last

      has_pairs = any(statistic == PAIRS) .or. is_keyed .and. statistic == TREEFOLD_STATISTIC_NORM
      second = merge(x, y, statistic == TREEFOLD_STATISTIC_NORM)
      last = merge(1, N, step < 0)
      associate (a => x(first:last:step), b => second(first:last:step), k => keys(first:last:step))
         if (is_keyed .and. has_pairs .and. is_removal) then
            call treefold_state_remove(state, a, b, k)
         else if (is_keyed .and. has_pairs) then
            call treefold_state_add(state, a, b, int(k, int8))
         else if (is_keyed .and. is_removal) then
            call treefold_state_remove(state, a, keys=int(k, int64))
         else if (is_keyed) then
            call treefold_state_add(state, a, keys=int(k, int16))
         else if (has_pairs .and. is_removal) then
            call treefold_state_remove(state, a, b)
         else if (has_pairs) then
            call treefold_state_add(state, a, b)
         else if (is_removal) then
            call treefold_state_remove(state, a)
         else
            call treefold_state_add(state, a)
         end if
      end associate
   end subroutine change

   subroutine create(statistic, is_keyed, state, ierr)
      integer, intent(in) :: statistic
      logical, intent(in) :: is_keyed
      type(treefold_state), intent(inout) :: state
      integer, intent(out) :: ierr

      if (is_keyed) call treefold_state_create(TREEFOLD_F64, statistic, state, GROUPS, ierr=ierr)
      if (.not. is_keyed) call treefold_state_create(TREEFOLD_F64, statistic, state, ierr=ierr)
   end subroutine create

   ! Tests states of floats and of complex numbers.
   subroutine types()
      type(treefold_state) :: small, total
      type(treefold_state) :: floats
      real(real32) :: found, of_floats(0:1)
      complex(real32) :: mean
      complex(real64) :: dot
      real(real64) :: variance

      call treefold_state_create(TREEFOLD_F32, TREEFOLD_STATISTIC_VARIANCE, small)
      call treefold_state_add(small, [1.0_real32, 2.0_real32])
      call treefold_state_add(small, 6.0_real32)
      call treefold_state_values(small, TREEFOLD_STATISTIC_VARIANCE, found, 1.0_real64)
      call same('variance of floats', found, 7.0_real32)
      call treefold_state_create(TREEFOLD_C32, TREEFOLD_STATISTIC_SUM, total)
      call treefold_state_add(total, [(1.0_real32, 2.0_real32), (1.0_real32, 4.0_real32)])
      call treefold_state_remove(total, (1.0_real32, 2.0_real32))
      call treefold_state_values(total, TREEFOLD_STATISTIC_MEAN, mean)
      call same('complex floats', mean, (1.0_real32, 4.0_real32))
      call treefold_state_create(TREEFOLD_C64, TREEFOLD_STATISTIC_VDOT, total)
      call treefold_state_add(total, [(1.0_real64, 2.0_real64)], [(3.0_real64, 4.0_real64)])
      call treefold_state_values(total, TREEFOLD_STATISTIC_VDOT, dot)
      call same('conjugate dot', dot, (11.0_real64, -2.0_real64))
      call treefold_state_create(TREEFOLD_C64, TREEFOLD_STATISTIC_STD, total)
      call treefold_state_add(total, [(1.0_real64, 1.0_real64), (2.0_real64, 3.0_real64)])
      call treefold_state_values(total, TREEFOLD_STATISTIC_VARIANCE, variance)
      call same('complex variance', variance, 1.25_real64)
      call treefold_state_create(TREEFOLD_F32, TREEFOLD_STATISTIC_SUM, floats, 2)
      call treefold_state_add(floats, [1e30_real32, 2.0_real32, -1e30_real32], keys=[0, 1, 0])
      call treefold_state_values(floats, TREEFOLD_STATISTIC_SUM, of_floats)
      call same('floats by key', of_floats, [0.0_real32, 2.0_real32])
   end subroutine types

   subroutine rows()
      type(treefold_state) :: sums
      real(real64) :: columns(3, N / 3), found(3, 0:GROUPS - 1), expected(3, 0:GROUPS - 1), flat(3 * GROUPS)
      integer :: ierr

      columns = reshape(x, shape(columns))
      call treefold_by_key_rows(TREEFOLD_STATISTIC_SUM, keys(:N / 3), columns, expected)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, sums, GROUPS, 3)
      call treefold_state_add(sums, columns(:, ::2), keys=keys(1:N / 3:2))
      call treefold_state_add(sums, columns(:, 2::2), keys=keys(2:N / 3:2))
      call treefold_state_add(sums, columns(:, 9:9), keys=keys(:1))
      call treefold_state_remove(sums, columns(:, 9), keys=int(keys(:1), int64))
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('rows', found, expected)
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, flat)
      call same('rows as an array', flat, expected)
      call treefold_state_add(sums, columns(:2, :3), keys=[0, 1, 2], ierr=ierr)
      call fails('rows that are too short', ierr, TREEFOLD_LENGTH, 'a row of x` has 2 elements instead of 3')
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, columns(:2, :GROUPS), ierr=ierr)
      call fails('rows of results that are too short', ierr, TREEFOLD_LENGTH, 'a row of result')
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, sums, GROUPS, -1, ierr)
      call fails('a negative width', ierr, TREEFOLD_ARGUMENT, 'width')
   end subroutine rows

   subroutine integers()
      type(treefold_state) :: sums
      integer(int64) :: found(0:GROUPS - 1)
      real(real64) :: means(0:GROUPS - 1)
      integer :: key, ierr

      call treefold_state_create(TREEFOLD_I64, TREEFOLD_STATISTIC_SUM, sums, GROUPS)
      call treefold_state_add(sums, whole, keys=int(keys, int64))
      call treefold_state_add(sums, 2 * whole, keys=keys)
      call treefold_state_remove(sums, 2 * whole(N:1:-1), keys=keys(N:1:-1))
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('integers', found, [(sum(whole, keys == key), key = 0, GROUPS - 1)])
      call treefold_state_values(sums, TREEFOLD_STATISTIC_MEAN, means)
      call check('means', all(abs(means - found / real([(count(keys == key), key = 0, GROUPS - 1)], real64)) <= spacing(means)))
      call treefold_state_values(sums, TREEFOLD_STATISTIC_MEAN, found, ierr=ierr)
      call fails('an integer for a mean of integers', ierr, TREEFOLD_ARGUMENT, 'integer(int64) instead of real(real64)')
      call treefold_state_add(sums, int(whole, int32), keys=keys, ierr=ierr)
      call fails('shorter integers', ierr, TREEFOLD_ARGUMENT, 'integer(int32) instead of integer(int64)')
      call treefold_state_add(sums, [huge(1_int64)], keys=[4])
      call treefold_state_add(sums, [huge(1_int64)], keys=[4])
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a sum of more than 64 bits', ierr, TREEFOLD_ARGUMENT, 'key 4')
   end subroutine integers

   subroutine any_keys()
      type(treefold_state) :: sums, other
      integer(int64) :: large(N), distinct(GROUPS), scattered(2, GROUPS)
      real(real64) :: found(GROUPS)
      integer :: ierr

      ! The greater the small key, the smaller the large key that is computed from it.
      large = 5 - keys * 1000000000000_int64
      call treefold_state_create_hashed(TREEFOLD_F64, sums)
      call treefold_state_create_hashed(TREEFOLD_F64, other)
      call treefold_state_add(sums, x, keys=large)
      call treefold_state_add(other, x(N:1:-1), keys=large(N:1:-1))
      call check('any keys are equal', treefold_state_equal(sums, other))
      call check('any keys', treefold_state_groups(sums) == GROUPS)
      call treefold_state_keys(sums, distinct)
      call treefold_state_keys(sums, scattered(1, :))
      call same('keys', distinct, [(5 - (GROUPS - i) * 1000000000000_int64, i = 1, GROUPS)])
      call same('keys into gaps', [scattered(1, :)], distinct)
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('sums', found, [(real(sum(whole, large == distinct(i)), real64), i = 1, GROUPS)])
      call treefold_state_merge(other, sums)
      call treefold_state_add(other, [1.0_real64], keys=[-7])
      call check('any keys are not equal', .not. treefold_state_equal(sums, other))
      call treefold_state_keys(other, distinct, ierr)
      call fails('too few keys', ierr, TREEFOLD_LENGTH, '12')
      call treefold_state_keys(other, found, ierr)
      call fails('keys that are real', ierr, TREEFOLD_ARGUMENT, '`result`')
      call treefold_state_remove(sums, [1.0_real64], keys=[17], ierr=ierr)
      call fails('a key without items', ierr, TREEFOLD_ARGUMENT, 'has no items')
   end subroutine any_keys

   subroutine bytes()
      type(treefold_state) :: one, other, floats
      type(treefold_state) :: sums, more, moments
      integer(int8), allocatable :: first(:), second(:)
      integer :: ierr

      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, one)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, other)
      call treefold_state_add(one, x)
      call treefold_state_to_bytes(one, first)
      call treefold_state_of_bytes(other, first)
      call check('equal', treefold_state_equal(one, other))
      call treefold_state_to_bytes(other, second)
      call same('bytes', second, first)
      call treefold_state_of_bytes(other, first(:size(first) - 1), ierr)
      call fails('bytes that end early', ierr, TREEFOLD_LENGTH, 'too early')
      call treefold_state_create(TREEFOLD_F32, TREEFOLD_STATISTIC_SUM, floats)
      call treefold_state_of_bytes(floats, first, ierr)
      call fails('bytes of doubles', ierr, TREEFOLD_ARGUMENT, 'f32')
      call treefold_state_of_bytes(floats, x, ierr)
      call fails('bytes that are real', ierr, TREEFOLD_ARGUMENT, '`bytes` is real(real64) instead of integer(int8)')
      call check('equal still', treefold_state_equal(one, other))

      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, sums, GROUPS)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, more, 0)
      call treefold_state_add(sums, x, keys=keys)
      call treefold_state_to_bytes(sums, first)
      call treefold_state_of_bytes(more, first)
      call check('as many keys as the bytes', treefold_state_groups(more) == GROUPS .and. treefold_state_equal(sums, more))
      call treefold_state_to_bytes(more, second)
      call same('bytes by key', second, first)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_VARIANCE, moments, GROUPS)
      call treefold_state_of_bytes(moments, first, ierr)
      call fails('bytes of sums', ierr, TREEFOLD_ARGUMENT, '')
   end subroutine bytes

   subroutine errors()
      type(treefold_state) :: none, total, dot
      real(real64) :: found
      real(real32) :: small
      integer :: ierr

      call treefold_state_add(none, [1.0_real64], ierr=ierr)
      call fails('an accumulator that was not created', ierr, TREEFOLD_NULL, '`state` was not created')
      call treefold_state_values(none, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a value of none', ierr, TREEFOLD_NULL, '`state` was not created')
      call treefold_state_copy(none, total, ierr)
      call fails('a copy of none', ierr, TREEFOLD_NULL, '`state` was not created')
      call treefold_state_create(TREEFOLD_I32, TREEFOLD_STATISTIC_SUM, none, ierr=ierr)
      call fails('an accumulator of integers', ierr, TREEFOLD_UNSUPPORTED, '')
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, total)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, dot)
      call treefold_state_add(total, [1.0_real32], ierr=ierr)
      call fails('floats among doubles', ierr, TREEFOLD_ARGUMENT, '`x` is real(real32) instead of real(real64)')
      call treefold_state_values(total, TREEFOLD_STATISTIC_SUM, small, ierr=ierr)
      call fails('a float for a double', ierr, TREEFOLD_ARGUMENT, '`result` is real(real32) instead of real(real64)')
      call treefold_state_remove(total, 1.0_real64, ierr=ierr)
      call fails('more than was added', ierr, TREEFOLD_ARGUMENT, 'cannot remove 1 item')
      call treefold_state_add(total, x(:100))
      call treefold_state_remove(total, x(::2), ierr=ierr)
      call fails('more with gaps than was added', ierr, TREEFOLD_ARGUMENT, 'cannot remove')
      call treefold_state_values(total, TREEFOLD_STATISTIC_SUM, found)
      call same('a failed call changes nothing', found, treefold_exact_sum(x(:100)))
      call treefold_state_add(dot, x(:2), ierr=ierr)
      call fails('items of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'two arrays')
      call treefold_state_add(dot, x, y(:2), ierr=ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH, '`y` has 2 elements instead of 30000')
      call treefold_state_merge(total, dot, ierr)
      call fails('another statistic', ierr, TREEFOLD_ARGUMENT, 'dot')
      call treefold_state_values(total, TREEFOLD_STATISTIC_VARIANCE, found, ierr=ierr)
      call fails('no variance', ierr, TREEFOLD_UNSUPPORTED, 'VARIANCE')
      call treefold_state_destroy(total)
      call treefold_state_destroy(total, ierr)
      call fails('ended twice', ierr, TREEFOLD_OK, '')
   end subroutine errors

   subroutine keyed_errors()
      type(treefold_state) :: sums, dots, none
      real(real64) :: found(3)
      integer :: ierr

      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, sums, -3, ierr=ierr)
      call fails('a negative number of keys', ierr, TREEFOLD_ARGUMENT, '`keys` must not be negative: it is -3')
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, sums, 3)
      call treefold_state_add(sums, [1.0_real64, 2.0_real64], keys=[0, 3], ierr=ierr)
      call fails('a key that is too large', ierr, TREEFOLD_ARGUMENT, 'item 1 has key 3; keys must be 0 to 2')
      call treefold_state_add(sums, x(::2), keys=[(merge(3, 0, i > 12000), i = 1, N / 2)], ierr=ierr)
      call fails('a key that is too large, with gaps', ierr, TREEFOLD_ARGUMENT, 'from item 8192: `keys`: item 3808 has key 3')
      call treefold_state_add(sums, [1.0_real32, 2.0_real32], keys=[0, 1], ierr=ierr)
      call fails('floats by key', ierr, TREEFOLD_ARGUMENT, '`x` is real(real32)')
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found(:2), ierr=ierr)
      call fails('too few results', ierr, TREEFOLD_LENGTH, '3')
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found)
      call same('no sum has changed', found, [0.0_real64, 0.0_real64, 0.0_real64])
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, dots, 3)
      call treefold_state_add(dots, [1.0_real64], keys=[0], ierr=ierr)
      call fails('items of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'take two arrays')
      call treefold_state_values(dots, TREEFOLD_STATISTIC_MIN, found, ierr=ierr)
      call fails('minima of a dot product', ierr, TREEFOLD_UNSUPPORTED, 'MIN')
      call treefold_state_destroy(sums)
      call treefold_state_values(sums, TREEFOLD_STATISTIC_SUM, found, ierr=ierr)
      call fails('a keyed state that has ended', ierr, TREEFOLD_NULL, '`state` was not created')
      call check('groups of none', treefold_state_groups(none, ierr) == 0)
      call fails('a state that was not created', ierr, TREEFOLD_NULL, '`state` was not created')
      call treefold_state_add(dots, found, found, ierr=ierr)
      call fails('a state by key without keys', ierr, TREEFOLD_NULL, '`keys` is absent')
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, none, width=2, ierr=ierr)
      call fails('rows without keys', ierr, TREEFOLD_ARGUMENT, '`width`')
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, none)
      call treefold_state_add(none, found, found, [0, 1, 2], ierr)
      call fails('keys for all items', ierr, TREEFOLD_ARGUMENT, '`keys`')
      call check('groups of all items', treefold_state_groups(none, ierr) == 0)
      call fails('the groups of all items', ierr, TREEFOLD_UNSUPPORTED, '`state` has no keys')
      call treefold_state_merge(none, dots, ierr)
      call fails('a state with keys for one without', ierr, TREEFOLD_ARGUMENT, '`other`')
      call check('with and without keys', .not. treefold_state_equal(dots, none, ierr))
      call fails('a state without keys for one with keys', ierr, TREEFOLD_ARGUMENT, '`other`')
   end subroutine keyed_errors
end program states
