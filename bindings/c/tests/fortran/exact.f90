! Tests the exact statistics in Fortran: sums that only exact summation computes correctly, and every statistic of all items, of
! each key's items and of windows. Arrays with and without gaps must give the same results.

include 'checks.inc'

program exact
   use, intrinsic :: ieee_arithmetic, only: ieee_is_nan, ieee_nearest, ieee_quiet_nan, ieee_set_rounding_mode, &
      ieee_support_rounding, ieee_up, ieee_value
   use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
   use checks
   implicit none

   integer, parameter :: N = 20000, GROUPS = 11
   integer :: i, threads
   integer(int64) :: whole(N), weights(N)
   integer(int32) :: keys(N)
   real(real64) :: x(N), y(N), large(N), gaps(2, N), between(3 * N), ones(3 * N)

   whole = [(mod(1103515245_int64 * i, 2147483648_int64) - 1073741824, i = 1, N)]
   weights = [(1 + mod(i * 37_int64, 1024_int64), i = 1, N)]
   ! No item has the last key.
   keys = [(mod(7 * i, GROUPS - 1), i = 1, N)]
   x = real(whole, real64)
   y = real(weights, real64)
   gaps(1, :) = x
   gaps(2, :) = y
   large = [(2.0_real64**(mod(i, 900) + 60), i = 1, N)]
   ! Each integer is between two large numbers that cancel.
   between = reshape(transpose(reshape([large, x, -large], [N, 3])), [3 * N])
   ones = 1
   do threads = 1, 2
      call treefold_threads(threads)
      call of_real64()
      call of_real32()
      call sums()
      call by_key()
   end do
   call treefold_threads(1)
   call complex_numbers()
   call integers()
   call known()
   call rows()
   call windows()
   call environment()
   call errors()
   call finish('exact statistics')

contains

   subroutine of_real64()
      integer, parameter :: KIND = real64, EXPONENT = 1000
      include 'exact.inc'
   end subroutine of_real64

   subroutine of_real32()
      integer, parameter :: KIND = real32, EXPONENT = 120
      include 'exact.inc'
   end subroutine of_real32

   subroutine sums()
      real(real64) :: total

      total = real(sum(whole), real64)
      call same('integers', treefold_exact_sum(between), total)
      call same('integers backwards', treefold_exact_sum(between(3 * N:1:-1)), total)
      call same('integers in two columns', treefold_exact_sum(gaps(:1, :)), total)
      call same('products', treefold_exact_dot(gaps(1, :), y), real(sum(whole * weights), real64))
      call same('products with 1', treefold_exact_dot(ones, between), total)
      call same('squares', treefold_exact_norm(gaps(2, :)), sqrt(real(sum(weights**2), real64)))
   end subroutine sums

   subroutine complex_numbers()
      complex(real64) :: z(3), found
      real(real64) :: part
      complex(real32) :: small

      z = [(1e300_real64, 1.0_real64), (2.0_real64, 1e-300_real64), (-1e300_real64, -1.0_real64)]
      call same('complex sum', treefold_exact_sum(z), (2.0_real64, 1e-300_real64))
      call same('complex sum backwards', treefold_exact_sum(z(3:1:-1)), (2.0_real64, 1e-300_real64))
      call same('complex dot', treefold_exact_dot([(1.0_real64, 2.0_real64)], [(3.0_real64, 4.0_real64)]), &
         (-5.0_real64, 10.0_real64))
      call treefold_exact(TREEFOLD_STATISTIC_VDOT, [(1.0_real64, 2.0_real64)], found, [(3.0_real64, 4.0_real64)])
      call same('conjugate dot', found, (11.0_real64, -2.0_real64))
      call treefold_exact(TREEFOLD_STATISTIC_VARIANCE, [(1.0_real64, 1.0_real64), (2.0_real64, 3.0_real64)], part)
      call same('complex variance', part, 1.25_real64)
      call treefold_exact(TREEFOLD_STATISTIC_MEAN, [(1.0_real32, 2.0_real32), (1.0_real32, 4.0_real32)], small)
      call same('complex mean', small, (1.0_real32, 3.0_real32))
   end subroutine complex_numbers

   ! Tests statistics by key, with keys and items of every integer kind.
   subroutine integers()
      integer(int64) :: totals(0:GROUPS - 1), found(0:GROUPS - 1)
      real(real64) :: means(0:GROUPS - 1)
      integer(int16) :: short(N), wide(2, N)
      integer :: key

      short = int(mod(whole, 32768_int64), int16)
      wide = 0
      wide(2, :) = short
      do key = 0, GROUPS - 1
         totals(key) = sum(int(short, int64), keys == key)
      end do
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, int(keys, int8), short, found)
      call same('int16 by int8', found, totals)
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, int(keys, int16), wide(2, :), found)
      call same('int16 with gaps by int16', found, totals)
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, keys, int(short, int32), found)
      call same('int32 by int32', found, totals)
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, int(keys, int64), int(short, int64), found)
      call same('int64 by int64', found, totals)
      call treefold_by_key(TREEFOLD_STATISTIC_COUNT, keys, short, found)
      call same('counts', found, [(count(keys == key, kind=int64), key = 0, GROUPS - 1)])
      call treefold_by_key(TREEFOLD_STATISTIC_MEAN, keys, short, means)
      call check('means', all(abs(means(:GROUPS - 2) * found(:GROUPS - 2) - totals(:GROUPS - 2)) < 1e-6) .and. &
         ieee_is_nan(means(GROUPS - 1)))
   end subroutine integers

   ! Checks statistics 1 to 16 of the items 4, 7, 13 and 16; if a statistic takes pairs, the second array is 9, 15, 27 and 33.
   subroutine known()
      real(real64), parameter :: EXPECTED(*) = [40.0_real64, 10.0_real64, 30.0_real64, sqrt(30.0_real64), 4.0_real64, 16.0_real64, &
         sqrt(490.0_real64), 1020.0_real64, 1020.0_real64 / 84, 60.0_real64, 1.0_real64, 2.0_real64, 1.0_real64, 0.0_real64, &
         -1.64_real64, 1020.0_real64]
      real(real64) :: few(4), found
      integer(int64) :: count
      integer :: s

      few = [4, 7, 13, 16]
      do s = 1, size(EXPECTED)
         call of_all(s, few, 2 * few + 1, found, merge(0.0_real64, 1.0_real64, s == TREEFOLD_STATISTIC_KURTOSIS))
         call same('statistic ' // name(s), found, EXPECTED(s))
      end do
      call treefold_exact(TREEFOLD_STATISTIC_COUNT, few(::2), count)
      call same('count', count, 2_int64)
      call treefold_exact(TREEFOLD_STATISTIC_VARIANCE, few, found)
      call same('variance of a population', found, 22.5_real64)
   end subroutine known

   ! Computes a statistic of x, or of x and y if the statistic takes two arrays.
   subroutine of_all(statistic, x, y, found, ddof)
      integer, intent(in) :: statistic
      type(*), dimension(..), intent(in) :: x, y
      type(*), dimension(..), intent(inout) :: found
      real(real64), intent(in) :: ddof

      if (any(statistic == PAIRS)) then
         call treefold_exact(statistic, x, found, y, ddof)
      else
         call treefold_exact(statistic, x, found, ddof=ddof)
      end if
   end subroutine of_all

   ! Checks every statistic of arrays with gaps and by key. By key, the result must be the statistic of the key's items alone.
   subroutine by_key()
      real(real64) :: found(0:GROUPS - 1), again(0:GROUPS - 1), scattered(2, 0:GROUPS - 1), alone, of_gaps
      integer :: s, key

      do s = 1, TREEFOLD_STATISTIC_VDOT
         call of_all(s, x, y, alone, 1.0_real64)
         call of_all(s, gaps(1, :), gaps(2, :), of_gaps, 1.0_real64)
         call same('with gaps: statistic ' // name(s), of_gaps, alone)
         if (any(s == PAIRS)) then
            call treefold_by_key(s, keys, x, found, y, 1.0_real64)
            call treefold_by_key(s, int(keys, int8), gaps(1, :), scattered(2, :), y, 1.0_real64)
         else
            call treefold_by_key(s, keys, x, found, ddof=1.0_real64)
            call treefold_by_key(s, int(keys, int8), gaps(1, :), scattered(2, :), ddof=1.0_real64)
         end if
         again = scattered(2, :)
         call same('by key with gaps: statistic ' // name(s), again, found)
         do key = 0, GROUPS - 1, 5
            call of_all(s, pack(x, keys == key), pack(y, keys == key), alone, 1.0_real64)
            call same('of a key: statistic ' // name(s), found(key), alone)
         end do
      end do
   end subroutine by_key

   subroutine rows()
      real(real64) :: columns(3, N / 3), wide(3, 2 * (N / 3)), row(3), scattered(2, 3), alone
      real(real64) :: found(3, 0:GROUPS - 1), again(3, 0:GROUPS - 1)
      integer :: s, column, key

      columns = reshape(x, shape(columns))
      wide = 0
      wide(:, ::2) = columns
      do s = 1, TREEFOLD_STATISTIC_KURTOSIS
         if (any(s == PAIRS) .or. s == TREEFOLD_STATISTIC_NORM) cycle
         call treefold_exact_rows(s, columns, row, 1.0_real64)
         do column = 1, 3
            call treefold_exact(s, columns(column, :), alone, ddof=1.0_real64)
            call same('a column: statistic ' // name(s), row(column), alone)
         end do
         call treefold_exact_rows(s, wide(3:1:-1, ::2), scattered(2, :), 1.0_real64)
         call same('columns with gaps: statistic ' // name(s), [scattered(2, 3:1:-1)], row)
         call treefold_by_key_rows(s, keys(:N / 3), columns, found, 1.0_real64)
         call treefold_by_key_rows(s, keys(:N / 3), wide(:, ::2), again, 1.0_real64)
         call same('rows with gaps: statistic ' // name(s), again, found)
         do key = 0, GROUPS - 2, 3
            call treefold_exact(s, pack(columns(2, :), keys(:N / 3) == key), alone, ddof=1.0_real64)
            call same('rows of a key: statistic ' // name(s), found(2, key), alone)
         end do
      end do
   end subroutine rows

   ! Checks that the result of each window with at least 4 items is the statistic of the window's items alone.
   subroutine windows()
      integer, parameter :: M = 40, SPAN = 6
      real(real64) :: a(M), b(M), found(M), scattered(2, M), alone
      real(real32) :: means(3)
      type(treefold_window) :: window
      integer :: s, placement, i, first, last, days(5)
      real(real64) :: few(5), times(5), of_few(5)

      a = x(:M)
      b = y(:M)
      do s = 1, TREEFOLD_STATISTIC_KURTOSIS
         do placement = TREEFOLD_TRAILING, TREEFOLD_EXPANDING
            window = treefold_window(merge(0, SPAN, placement == TREEFOLD_EXPANDING), placement, 4)
            if (any(s == PAIRS)) then
               call treefold_rolling(s, a, found, window, b)
               call treefold_rolling(s, gaps(1, :M), scattered(1, :), window, gaps(2, :M))
            else
               call treefold_rolling(s, a, found, window)
               call treefold_rolling(s, gaps(1, :M), scattered(1, :), window)
            end if
            call same('windows with gaps', [scattered(1, :)], found)
            do i = 1, M
               first = i
               last = i
               if (placement == TREEFOLD_TRAILING) first = max(1, i - SPAN + 1)
               if (placement == TREEFOLD_FORWARD) last = min(M, i + SPAN - 1)
               if (placement == TREEFOLD_CENTRED) first = max(1, i - SPAN / 2)
               if (placement == TREEFOLD_CENTRED) last = min(M, i + (SPAN - 1) / 2)
               if (placement == TREEFOLD_EXPANDING) first = 1
               alone = ieee_value(alone, ieee_quiet_nan)
               if (last - first >= 3) call of_all(s, a(first:last), b(first:last), alone, 0.0_real64)
               call same('a window: statistic ' // name(s), found(i), alone)
            end do
         end do
      end do

      few = [1.0_real64, 1e300_real64, 2.0_real64, 3.0_real64, 5.0_real64]
      days = [-3, 0, 2, 2, 9]
      times = [0.5_real64, 1.0_real64, 2.0_real64, 2.25_real64, 3.0_real64]
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few, of_few, treefold_window(), index=days, width=2)
      call same('by days', of_few, [1.0_real64, 1e300_real64, 2.0_real64, 5.0_real64, 5.0_real64])
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few, of_few, treefold_window(), index=int(days, int64), width=3_int64)
      call same('by long integers', of_few, [1.0_real64, 1e300_real64, 1e300_real64, 1e300_real64, 5.0_real64])
      call treefold_rolling(TREEFOLD_STATISTIC_MEAN, few, of_few, treefold_window(least_items=2), index=times, width=1.0_real64)
      call check('a short window', ieee_is_nan(of_few(1)) .and. ieee_is_nan(of_few(3)))
      call same('by times', of_few(4:), [2.5_real64, 4.0_real64])
      few(2) = ieee_value(few(2), ieee_quiet_nan)
      call treefold_rolling(TREEFOLD_STATISTIC_COUNT, few, of_few, treefold_window(3, skip_nan=.true.))
      call same('counts without NaN', of_few, [1.0_real64, 1.0_real64, 2.0_real64, 2.0_real64, 3.0_real64])
      call treefold_rolling(TREEFOLD_STATISTIC_MEAN, [1.0_real32, 2.0_real32, 4.0_real32], means, treefold_window(2, least_items=1))
      call same('means of floats', means, [1.0_real32, 1.5_real32, 3.0_real32])
   end subroutine windows

   ! Tests that exact sums are right even if the processor does not round to nearest.
   subroutine environment()
      real(real64) :: upward(3), expected(3)
      integer :: ierr(3)

      if (.not. ieee_support_rounding(ieee_up)) return
      expected = [treefold_exact_sum(1 / x), treefold_exact_dot(1 / x, y), treefold_exact_norm(1 / x)]
      between(:N) = 1 / x
      call ieee_set_rounding_mode(ieee_up)
      upward(1) = treefold_exact_sum(between(:N), ierr(1))
      upward(2) = treefold_exact_dot(between(:N), y, ierr(2))
      upward(3) = treefold_exact_norm(between(N:1:-1), ierr(3))
      call ieee_set_rounding_mode(ieee_nearest)
      call check('no error where sums round upwards', all(ierr == TREEFOLD_OK))
      call same('rounding upwards', upward, expected)
   end subroutine environment

   subroutine errors()
      real(real64) :: few(4), total, found(3), nothing(0, 4)
      real(real64), allocatable :: none(:)
      integer :: ierr, i, keys(8)

      few = [4, 7, 13, 16]
      keys = 0
      allocate (none(4))
      deallocate (none)
      total = treefold_exact_dot(few, few(:3), ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH, '`y` has 3 elements instead of 4')
      total = treefold_exact_dot(few, none, ierr)
      call fails('a factor that is not allocated', ierr, TREEFOLD_LENGTH, '`y`')
      call treefold_exact(TREEFOLD_STATISTIC_COUNT, few, total, ierr=ierr)
      call fails('a count in a real', ierr, TREEFOLD_ARGUMENT, 'instead of integer(int64)')
      call treefold_exact(99, few, total, ierr=ierr)
      call fails('no statistic', ierr, TREEFOLD_ARGUMENT, '99')
      call treefold_exact(TREEFOLD_STATISTIC_SUM, [1, 2], whole(1), ierr=ierr)
      call fails('an exact sum of integers', ierr, TREEFOLD_UNSUPPORTED, '')
      call treefold_exact_rows(TREEFOLD_STATISTIC_SUM, nothing, found(:0), ierr=ierr)
      call fails('rows of nothing', ierr, TREEFOLD_LENGTH, '')
      call treefold_exact_rows(TREEFOLD_STATISTIC_SUM, reshape(few, [2, 2]), found, ierr=ierr)
      call fails('a long row', ierr, TREEFOLD_LENGTH, '`result` has 3 elements instead of 2')
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, [0, 1, -1], few(:3), found, ierr=ierr)
      call fails('a negative key', ierr, TREEFOLD_ARGUMENT, 'item 2 has key -1')
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, [(merge(3, 0, i == N - 5), i = 0, N - 1)], gaps(1, :), found, ierr=ierr)
      call fails('a large key among items with gaps', ierr, TREEFOLD_ARGUMENT, 'from item 16384: `keys`: item 3611 has key 3')
      call treefold_by_key(TREEFOLD_STATISTIC_SUM, none, few, found, ierr=ierr)
      call fails('keys that are not allocated', ierr, TREEFOLD_NULL, '`keys` is not allocated')
      call treefold_by_key_rows(TREEFOLD_STATISTIC_SUM, keys(::2), nothing, found, ierr=ierr)
      call fails('rows of no columns, with gaps between their keys', ierr, TREEFOLD_ARGUMENT, '`width`')
      call treefold_by_key(TREEFOLD_STATISTIC_MAX, [0, 1], few, found, ierr=ierr)
      call fails('too few keys', ierr, TREEFOLD_LENGTH, '`x` has 4 elements instead of 2')
      call treefold_by_key(TREEFOLD_STATISTIC_MAX, few, few, found, ierr=ierr)
      call fails('keys that are real', ierr, TREEFOLD_ARGUMENT, '`keys` must be integers, not real(real64)')
      call treefold_by_key_rows(TREEFOLD_STATISTIC_SUM, [0, 1], reshape(few, [2, 2]), gaps(:1, :4), ierr=ierr)
      call fails('short rows of results', ierr, TREEFOLD_LENGTH, 'a row of result')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few, found, treefold_window(2), ierr=ierr)
      call fails('too few results', ierr, TREEFOLD_LENGTH, 'result')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(-1), ierr=ierr)
      call fails('a negative window', ierr, TREEFOLD_ARGUMENT, '`window%items` must not be negative: it is -1')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(), ierr=ierr)
      call fails('no window', ierr, TREEFOLD_ARGUMENT, 'window')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(), index=[1, 0, 2], width=1, ierr=ierr)
      call fails('an index that falls', ierr, TREEFOLD_ARGUMENT, 'index 1')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(), index=[1, 2, 3], width=0, ierr=ierr)
      call fails('no width', ierr, TREEFOLD_ARGUMENT, 'width')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(), index=[1, 2], width=1, ierr=ierr)
      call fails('too few indices', ierr, TREEFOLD_LENGTH, '`index` has 2 elements instead of 3')
      call treefold_rolling(TREEFOLD_STATISTIC_SUM, few(:3), found, treefold_window(), index=[1, 2, 3], width=1.0, ierr=ierr)
      call fails('a real width of integers', ierr, TREEFOLD_ARGUMENT, '`width` is real(real32) instead of integer(int32)')
   end subroutine errors

   function name(number) result(text)
      integer, intent(in) :: number
      character(len=2) :: text

      write (text, '(i0)') number
   end function name
end program exact
