! Tests the reductions of module treefold in tree order: arrays of every type, of several ranks and strides, and wrong arguments.
! The bits must be those that the functions of treefold.h compute from arrays without gaps; tests in C check these functions.

include 'checks.inc'

module reference
   use, intrinsic :: iso_c_binding, only: c_int32_t, c_loc, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
   use checks
   implicit none
   public

   integer(c_int32_t), parameter :: SUM_OF = TREEFOLD_OP_SUM, PRODUCT_OF = TREEFOLD_OP_PRODUCT

   interface
      integer(c_int32_t) function c_fold(type, op, items, n, result) bind(c, name='treefold_fold')
         import
         integer(c_int32_t), value :: type, op
         type(*), intent(in) :: items(*)
         integer(c_size_t), value :: n
         type(*), intent(inout) :: result
      end function
      integer(c_int32_t) function c_dot(type, x, n, y, m, result) bind(c, name='treefold_dot')
         import
         integer(c_int32_t), value :: type
         type(*), intent(in) :: x(*), y(*)
         integer(c_size_t), value :: n, m
         type(*), intent(inout) :: result
      end function
   end interface

   ! Whether `fill` also stores special numbers: a negative zero, a subnormal number, an infinity and a NaN.
   logical :: is_wild = .false.
   integer(int32), parameter :: WILD_32(*) = [ishft(1_int32, 31), 5_int32, ishft(255_int32, 23), ishft(511_int32, 22)]
   integer(int64), parameter :: WILD_64(*) = [shiftl(1_int64, 63), 5_int64, shiftl(2047_int64, 52), shiftl(4095_int64, 51)]

contains

   ! Fills x with the same items at each call: any integers, or floats of magnitude 1/8 to 16; if is_wild, also special numbers.
   subroutine fill(x)
      type(*), dimension(..), intent(inout) :: x
      type(treefold_view) :: view
      integer(int32), allocatable, target :: floats(:)
      integer(int64), allocatable, target :: words(:)
      integer(int64) :: seed
      integer :: i

      call treefold_view_of(x, view)
      allocate (words(view%elements * view%bytes / 8 + 1))
      seed = int(z'1234567890ABCDEF', int64) + view%type
      do i = 1, size(words)
         seed = ieor(seed, shiftl(seed, 13))
         seed = ieor(seed, shiftr(seed, 7))
         seed = ieor(seed, shiftl(seed, 17))
         words(i) = seed
      end do
      select case (view%type)
      case (TREEFOLD_F32, TREEFOLD_C32)
         floats = transfer(words, [0_int32])
         floats = ior(iand(floats, not(ishft(255, 23))), ishft(124 + ibits(floats, 20, 3), 23))
         do i = 3, merge(size(floats), 0, is_wild), 13
            floats(i) = WILD_32(1 + mod(i / 13, 4))
         end do
         call treefold_view_write(x, c_loc(floats))
         return
      case (TREEFOLD_F64, TREEFOLD_C64)
         words = ior(iand(words, not(shiftl(2047_int64, 52))), shiftl(1020 + ibits(words, 49, 3), 52))
         do i = 3, merge(size(words), 0, is_wild), 13
            words(i) = WILD_64(1 + mod(i / 13, 4))
         end do
      end select
      call treefold_view_write(x, c_loc(words))
   end subroutine fill
end module reference

! The operators are in a module, since for a pointer to an internal procedure of a program, compilers put code on the stack.
module operators_of_test
   use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_f_procpointer, c_funptr, c_int, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: real64
   use treefold, only: treefold_part
   implicit none
   public

contains

   function composed(context, left, right, out) bind(c) result(status)
      type(c_ptr), value :: context, left, right, out
      integer(c_int) :: status
      real(real64), pointer :: first(:), second(:), both(:)
      real(real64), volatile :: scaled

      call c_f_pointer(left, first, [2])
      call c_f_pointer(right, second, [2])
      call c_f_pointer(out, both, [2])
      scaled = second(1) * first(2)
      both = [second(1) * first(1), scaled + second(2)]
      status = merge(9, 0, c_associated(context))
   end function composed

   function weighted(context, left, right, out) bind(c) result(status)
      type(c_ptr), value :: context, left, right, out
      integer(c_int) :: status
      real(real64), pointer :: weight, first, second, both

      status = 7
      if (.not. c_associated(context)) return
      call c_f_pointer(context, weight)
      call c_f_pointer(left, first)
      call c_f_pointer(right, second)
      call c_f_pointer(out, both)
      both = weight * (first + second)
      status = 0
   end function weighted

   ! Runs the parts on the caller's threads (OpenMP's, if compiled with OpenMP). Wrongly skips the last part if there is a context.
   subroutine team(context, parts, part, job) bind(c)
      type(c_ptr), value :: context, job
      integer(c_size_t), value :: parts
      type(c_funptr), value :: part
      procedure(treefold_part), pointer :: run
      integer(c_size_t) :: i

      call c_f_procpointer(part, run)
      !$omp parallel do
      do i = 0, parts - merge(2, 1, c_associated(context))
         call run(job, i)
      end do
   end subroutine team
end module operators_of_test

program local
   use, intrinsic :: iso_fortran_env, only: int16
   use, intrinsic :: ieee_arithmetic, only: ieee_nearest, ieee_set_rounding_mode, ieee_support_rounding, ieee_up
   use reference
   use operators_of_test
   implicit none

   integer, parameter :: LENGTHS(*) = [0, 1, 2, 3, 4, 5, 7, 8, 31, 100, 1023, 4097, 8192, 8193, 20001]
   integer :: length
   character(len=20) :: argument

   ! `errors` starts this program again with the argument `stop`, to check that an error without `ierr` ends the process.
   call get_command_argument(1, argument)
   if (argument == 'stop') then
      print *, treefold_min([real(real64) ::])
      ! Not reached if treefold_min ends the process with an error. If it does not, `stop` reports success, and `errors` fails.
      stop
   end if
   do length = 1, size(LENGTHS)
      is_wild = .false.
      call walk(LENGTHS(length))
      is_wild = .true.
      call walk(LENGTHS(length))
   end do
   is_wild = .false.
   call shapes()
   call operators()
   call types()
   call errors()
   call finish('module treefold')

contains

   ! Makes the same checks for every type, from the same source files.
   subroutine walk(n)
      integer, intent(in) :: n

      block
         integer, parameter :: CODE = TREEFOLD_F32
         real(real32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
         include 'walk_real.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_F64
         real(real64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
         include 'walk_real.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_C32
         complex(real32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_C64
         complex(real64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I8
         integer(int8), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I16
         integer(int16), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I32
         integer(int32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I64
         integer(int64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), row(:), others(:, :), total, expected
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
   end subroutine walk

   ! Checks arrays of the kinds that `walk` does not check: components, vector subscripts, ranks 3 and 4, scalars.
   subroutine shapes()
      type :: point
         real(real64) :: x, y
         integer :: number
      end type point
      integer, parameter :: N = 1000
      type(point) :: points(N)
      real(real64) :: x(N), cube(5, 10, 20), wide(5, 10, 20, 2), deep(2, 3, 4), row(2)
      complex(real64) :: z(N)
      real(real64), allocatable :: long(:, :), short(:), expected(:)
      integer :: i, order(N)

      allocate (long(1000000, 5), short(500000), expected(500000))
      x = [(1.0_real64 / i, i = 1, N)]
      call same('terms of 1/i', treefold_sum(x), transfer(int(z'401DF11F45F4E619', int64), x(1)))
      points%x = x
      points%y = -1
      points%number = [(i, i = 1, N)]
      z = cmplx(x, 0, real64)
      order = [(1 + mod(7 * i, N), i = 1, N)]
      cube = reshape(x, shape(cube))
      wide = 0
      wide(:, :, :, 2) = cube
      deep = reshape(x(:24), shape(deep))
      call same('components', treefold_sum(points%x), treefold_sum(x))
      call check('components that are integers', treefold_sum(points(::2)%number) == N * N / 4)
      call same('real parts', treefold_sum(z%re), treefold_sum(x))
      call same('a vector subscript', treefold_sum(x(order)), treefold_sum([(x(order(i)), i = 1, N)]))
      call same('a scalar', treefold_sum(x(7)), x(7))
      call same('an expression', treefold_sum(2 * x), 2 * treefold_sum(x))
      call same('rank 3', treefold_sum(cube), treefold_sum(x))
      call same('rank 4', treefold_sum(wide(:, :, :, 2)), treefold_sum(x))
      call same('a section of rank 3', treefold_sum(cube(4:2:-1, ::3, 2::5)), &
         treefold_sum([cube(4:2:-1, ::3, 2::5)]))
      call treefold_fold_rows(TREEFOLD_OP_SUM, deep, row)
      call same('rows of rank 3', row, [treefold_sum(deep(1, :, :)), treefold_sum(deep(2, :, :))])
      ! Rows with more elements than one block holds, and items that several threads reduce.
      long = 1 / (1 + spread([(real(i, real64), i = 1, size(long, 1))], 2, 5))
      call treefold_fold_rows(TREEFOLD_OP_SUM, long(::2, 5:1:-1), short)
      call treefold_fold_rows(TREEFOLD_OP_SUM, reshape(long(::2, 5:1:-1), [size(long, 1) / 2, 5]), expected)
      call same('long rows', short, expected)
      call treefold_threads(2)
      call same('many items', treefold_sum(long(::2, :)), treefold_sum(reshape(long(::2, :), [size(long) / 2])))
      call treefold_threads(1)
      call same('negative strides of a dot product', treefold_dot(x(N:1:-1), x(N:1:-1)), &
         treefold_dot([x(N:1:-1)], [x(N:1:-1)]))
   end subroutine shapes

   ! Checks two user-defined operators: weighted addition, whose items are elements; and composition of maps y -> a y + b, which is
   ! not commutative and whose items are columns or variables of a derived type.
   subroutine operators()
      type :: line
         real(real64) :: a, b
      end type line
      integer, parameter :: N = 1000
      real(real64), target :: weight
      real(real64) :: x(N), maps(2, N), total, map(2), expected(2)
      type(line) :: lines(N), both
      integer(int8) :: byte
      integer :: i, ierr

      x = [(1.0_real64 / i, i = 1, N)]
      maps(1, :) = 1 - x
      maps(2, :) = x
      lines = [(line(1 - x(i), x(i)), i = 1, N)]
      weight = 1
      expected = composition(maps)
      do i = 1, 2
         call treefold_threads(i)
         call treefold_fold_user(x, weighted, total, c_loc(weight))
         call same('operator', total, treefold_sum(x))
         call treefold_fold_user(maps, composed, map)
         call same('columns by an operator', map, expected)
      end do
      call treefold_threads(1)
      call treefold_fold_user(maps(2:1:-1, N:1:-1), composed, map)
      call same('columns backwards', map, composition(maps(2:1:-1, N:1:-1)))
      call treefold_fold_user(lines, composed, both)
      call same('a derived type', [both%a, both%b], expected)
      call treefold_fold_user(x(:0), weighted, total, c_loc(weight), 4.0_real64)
      call check('operator of nothing', total == 4)
      call treefold_fold_user(maps(:, :0), composed, map, empty=[1.0_real64, 0.0_real64])
      call check('no columns', all(map == [1, 0]))

      call treefold_fold_user(x, weighted, total, ierr=ierr)
      call fails('an operator without its context', ierr, TREEFOLD_OPERATOR, '7')
      call treefold_fold_user(x(:0), weighted, total, c_loc(weight), ierr=ierr)
      call fails('an operator of nothing', ierr, TREEFOLD_EMPTY, 'no items')
      call treefold_fold_user(maps, composed, x, ierr=ierr)
      call fails('a result of another length', ierr, TREEFOLD_LENGTH, '`dimension 1 of result` has 1000 elements instead of 2')
      call treefold_fold_user(maps, composed, map, empty=x, ierr=ierr)
      call fails('a value for nothing of another length', ierr, TREEFOLD_LENGTH, '`empty` has 1000 elements instead of 2')
      call treefold_fold_user(maps, composed, both, ierr=ierr)
      call fails('a result of another type', ierr, TREEFOLD_ARGUMENT, 'result')
      call treefold_fold_user([1_int8, 2_int8], composed, byte, ierr=ierr)
      call fails('items of a byte', ierr, TREEFOLD_ARGUMENT, 'multiple of 4')
      call treefold_fold_user(reshape(x, [100, 10]), composed, x(:100), ierr=ierr)
      call fails('items of 800 bytes', ierr, TREEFOLD_ARGUMENT, '512')
   end subroutine operators

   recursive function composition(maps) result(map)
      real(real64), intent(in) :: maps(:, :)
      real(real64) :: map(2), left(2), right(2)
      real(real64), volatile :: scaled
      integer :: half

      map = maps(:, 1)
      if (size(maps, 2) == 1) return
      half = 1
      do while (2 * half < size(maps, 2))
         half = 2 * half
      end do
      left = composition(maps(:, :half))
      right = composition(maps(:, half + 1:))
      scaled = right(1) * left(2)
      map = [right(1) * left(1), scaled + right(2)]
   end function composition

   ! Checks errors that the compiler does not report: wrong types, arrays of assumed size, arrays that are not allocated.
   subroutine types()
      type :: point
         real(real64) :: x
      end type point
      real(real64) :: x(4), total
      real(real32) :: small
      integer(int64) :: whole
      logical :: truth(3)
      type(point) :: points(2)
      real(real64), allocatable :: none(:)
      real(real64), pointer :: nowhere(:)
      integer :: ierr

      x = 1
      truth = .true.
      points = point(1.0_real64)
      allocate (none(4))
      deallocate (none)
      nowhere => null()
      call treefold_fold(TREEFOLD_OP_SUM, x, small, ierr=ierr)
      call fails('a small result', ierr, TREEFOLD_ARGUMENT, '`result` is real(real32) instead of real(real64)')
      call treefold_fold_rows(TREEFOLD_OP_SUM, x, whole, ierr)
      call fails('a whole result', ierr, TREEFOLD_ARGUMENT, '`result` is integer(int64) instead of real(real64)')
      call treefold_fold(TREEFOLD_OP_SUM, truth, total, ierr=ierr)
      call fails('logical items', ierr, TREEFOLD_ARGUMENT, '`x` has elements of an unsupported type')
      call treefold_fold(TREEFOLD_OP_SUM, points, total, ierr=ierr)
      call fails('a derived type', ierr, TREEFOLD_ARGUMENT, '`x` has elements of an unsupported type')
      call treefold_fold(TREEFOLD_OP_SUM, [real(selected_real_kind(30)) :: 1], total, ierr=ierr)
      call fails('quadruple precision', ierr, TREEFOLD_ARGUMENT, '`x` has elements of an unsupported type')
      total = treefold_sum(none, ierr)
      call fails('an array that is not allocated', ierr, TREEFOLD_NULL, '`x` is not allocated')
      total = treefold_dot(x, nowhere, ierr)
      call fails('a null pointer', ierr, TREEFOLD_NULL, '`y` is not allocated, or is a pointer')
      call treefold_fold(TREEFOLD_OP_SUM, x, none, ierr=ierr)
      call fails('a result that is not allocated', ierr, TREEFOLD_NULL, '`result`')
      call assumed_size(x)
      call treefold_fold(TREEFOLD_OP_SUM, x, x, ierr=ierr)
      call fails('a long result', ierr, TREEFOLD_LENGTH, '`result` has 4 elements instead of 1')
      call treefold_sum_and_absolute_sum(x, total, small, ierr)
      call fails('a small absolute sum', ierr, TREEFOLD_ARGUMENT, 'absolute_sum')
      call treefold_sum_lanes([1, 2], 2, ierr, ierr)
      call fails('lanes of integers', ierr, TREEFOLD_UNSUPPORTED, '')
   end subroutine types

   subroutine assumed_size(x)
      real(real64), intent(inout) :: x(*)
      real(real64) :: total
      integer :: ierr

      total = treefold_sum(x, ierr)
      call fails('an array of assumed size', ierr, TREEFOLD_ARGUMENT, '`x` is an array of assumed size: pass a section')
      total = treefold_sum(x(:4), ierr)
      call check('a section of it', ierr == TREEFOLD_OK .and. total == 4)
   end subroutine assumed_size

   subroutine errors()
      real(real64) :: x(4), total, absolute, rows(4, 0)
      real(real64), allocatable :: many(:)
      integer :: ierr, other
      integer, target :: marker
      character(len=500) :: command

      x = [0.1_real64, 0.2_real64, 0.3_real64, 0.4_real64]
      allocate (many(400000), source=0.5_real64)
      total = treefold_sum(x, ierr)
      call fails('no error', ierr, TREEFOLD_OK, '')
      total = treefold_dot(x, x(:3), ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH, '`y` has 3 elements instead of 4')
      total = treefold_dot(x(:2), x(::3), ierr)
      call check('factors with and without gaps', ierr == TREEFOLD_OK .and. total == x(1) * x(1) + x(2) * x(4))
      call treefold_fold_rows(TREEFOLD_OP_MAX, rows, x, ierr)
      call fails('the greatest of no rows', ierr, TREEFOLD_EMPTY, '')
      call treefold_fold_rows(TREEFOLD_OP_SUM, reshape(x, [2, 2]), x, ierr)
      call fails('a long row', ierr, TREEFOLD_LENGTH, '`result` has 4 elements instead of 2')
      call treefold_fold(9, x, total, ierr=ierr)
      call fails('no operator', ierr, TREEFOLD_ARGUMENT, '9')
      call treefold_fold(TREEFOLD_OP_MIN, [(1.0_real64, 2.0_real64)], absolute, ierr=ierr)
      call fails('a real result of complex numbers', ierr, TREEFOLD_ARGUMENT, 'complex(real64)')
      call treefold_fold(TREEFOLD_OP_SUM, many, total, team, c_loc(marker), ierr)
      call fails('a part that is left out', ierr, TREEFOLD_ARGUMENT, '')
      call treefold_sum_lanes(x, 0, total, ierr)
      call fails('no lanes', ierr, TREEFOLD_ARGUMENT, 'lanes')
      call treefold_sum_lanes(x, -1, total, ierr)
      call fails('fewer lanes than none', ierr, TREEFOLD_ARGUMENT, '`lanes` must not be negative: it is -1')
      call treefold_threads(-1, ierr)
      call fails('fewer threads than none', ierr, TREEFOLD_ARGUMENT, '-1')
      call treefold_threads(3)
      call check('the number of threads', treefold_thread_count() == 3)
      call treefold_threads(1)

      if (ieee_support_rounding(ieee_up)) then
         call ieee_set_rounding_mode(ieee_up)
         total = treefold_sum(x(::2), ierr)
         call treefold_sum_and_absolute_sum(x, total, absolute, other)
         call ieee_set_rounding_mode(ieee_nearest)
         call fails('rounding upwards', ierr, TREEFOLD_ENVIRONMENT, '')
         call fails('rounding upwards, two results', other, TREEFOLD_ENVIRONMENT, '')
      end if
      call check('the name of a code', treefold_status_name(TREEFOLD_LENGTH) == 'TREEFOLD_LENGTH')
      call check('the name of another number', treefold_status_name(-5) == 'unknown')
      call check('no rank is to blame', treefold_error_rank() == -1)
      call check('version', treefold_version() / 100 == TREEFOLD_SOURCE_VERSION / 100)

      call get_command_argument(0, command)
      call execute_command_line(trim(command) // ' stop 2>/dev/null', exitstat=other)
      call check('an error without ierr ends the program', other /= 0)
   end subroutine errors
end program local
