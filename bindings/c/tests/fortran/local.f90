! Calls the reductions of module treefold in tree order, for arrays of every type, rank and stride, with right and with wrong
! arguments, and compares the bits with a tree written here.

include 'checks.inc'

! The definition of docs/order.md, section 1, on bits: item i of an array of any type is words(:, i), the bits of its real and its
! imaginary part, or an integer and 0; both sign-extended to 64 bits.
module reference
   use, intrinsic :: iso_c_binding, only: c_f_pointer
   use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
   use checks
   implicit none
   public

   integer, parameter :: C32 = TREEFOLD_C32, C64 = TREEFOLD_C64, I8 = TREEFOLD_I8
   integer, parameter :: SUM_OF = TREEFOLD_OP_SUM, PRODUCT_OF = TREEFOLD_OP_PRODUCT, MIN_OF = TREEFOLD_OP_MIN
   integer, parameter :: BITS(8) = [32, 64, 32, 64, 8, 16, 32, 64]
   integer(int64), parameter :: NAN_32 = int(z'7FC00000', int64), NAN_64 = int(z'7FF8000000000000', int64)

contains

   ! The reduction of all items.
   function tree(type, op, words) result(word)
      integer, intent(in) :: type, op
      integer(int64), intent(in) :: words(:, 0:)
      integer(int64) :: word(2)
      integer :: height

      height = 0
      do while (2**height < size(words, 2))
         height = height + 1
      end do
      if (size(words, 2) > 0) then
         word = value(type, op, words, 0, height)
      else
         word = 0
         if (op == PRODUCT_OF .and. type >= I8) then
            word(1) = 1
         else if (op == PRODUCT_OF) then
            word(1) = merge(int(z'3F800000', int64), int(z'3FF0000000000000', int64), BITS(type) == 32)
         end if
      end if
      word = [canonical(type, word(1)), canonical(type, word(2))]
   end function tree

   ! The reduction of each column of rows of `width` elements.
   function tree_of_rows(type, op, width, words) result(row)
      integer, intent(in) :: type, op, width
      integer(int64), intent(in) :: words(:, :)
      integer(int64) :: row(2, width)
      integer :: column

      do column = 1, width
         row(:, column) = tree(type, op, words(:, column::width))
      end do
   end function tree_of_rows

   ! Node (x, y).
   recursive function value(type, op, words, x, y) result(word)
      integer, intent(in) :: type, op, x, y
      integer(int64), intent(in) :: words(:, 0:)
      integer(int64) :: word(2)
      integer :: right

      if (y == 0) then
         word = words(:, x)
         return
      end if
      word = value(type, op, words, x, y - 1)
      right = x + 2**(y - 1)
      if (right < size(words, 2)) word = combine(type, op, word, value(type, op, words, right, y - 1))
   end function value

   function combine(type, op, left, right) result(word)
      integer, intent(in) :: type, op
      integer(int64), intent(in) :: left(2), right(2)
      integer(int64) :: word(2)

      word = 0
      select case (type)
      case (TREEFOLD_F32, TREEFOLD_F64)
         word(1) = of_floats(type, op, left(1), right(1))
      case (C32, C64)
         if (op == SUM_OF) then
            word(1) = of_floats(type, op, left(1), right(1))
            word(2) = of_floats(type, op, left(2), right(2))
         else
            word(1) = of_floats(type, SUM_OF, of_floats(type, op, left(1), right(1)), &
               minus(type, of_floats(type, op, left(2), right(2))))
            word(2) = of_floats(type, SUM_OF, of_floats(type, op, left(1), right(2)), of_floats(type, op, left(2), right(1)))
         end if
      case default
         word(1) = of_integers(BITS(type), op, left(1), right(1))
      end select
   end function combine

   ! The results go through variables in memory, so that the compiler neither fuses operations nor computes in a wider type.
   function of_floats(type, op, left, right) result(word)
      integer, intent(in) :: type, op
      integer(int64), intent(in) :: left, right
      integer(int64) :: word
      real(real32), volatile :: a, b, c
      real(real64), volatile :: d, e, f

      if (op >= MIN_OF .and. (canonical(type, left) == nan_of(type) .or. canonical(type, right) == nan_of(type))) then
         word = nan_of(type)
      else if (op >= MIN_OF) then
         word = merge(left, right, (order(type, left) < order(type, right)) .eqv. op == MIN_OF)
      else if (BITS(type) == 32) then
         a = transfer(int(left, int32), a)
         b = transfer(int(right, int32), b)
         if (op == SUM_OF) c = a + b
         if (op == PRODUCT_OF) c = a * b
         word = transfer(c, 0_int32)
      else
         d = transfer(left, d)
         e = transfer(right, e)
         if (op == SUM_OF) f = d + e
         if (op == PRODUCT_OF) f = d * e
         word = transfer(f, 0_int64)
      end if
   end function of_floats

   ! An integer with the same order as the floats: the bits of floats are in order, except that those of negative floats are in
   ! reverse order.
   function order(type, word) result(number)
      integer, intent(in) :: type
      integer(int64), intent(in) :: word
      integer(int64) :: number

      number = word
      if (word < 0) number = ieor(word, maskr(BITS(type) - 1, int64))
   end function order

   function minus(type, word) result(negated)
      integer, intent(in) :: type
      integer(int64), intent(in) :: word
      integer(int64) :: negated

      negated = extended(BITS(type), ieor(word, shiftl(1_int64, BITS(type) - 1)))
   end function minus

   ! Integers wrap around, which Fortran does not guarantee.
   function of_integers(bits_of_type, op, left, right) result(word)
      integer, intent(in) :: bits_of_type, op
      integer(int64), intent(in) :: left, right
      integer(int64) :: word
      integer :: i, j

      select case (op)
      case (SUM_OF)
         word = wrapping_sum(left, right)
      case (PRODUCT_OF)
         word = 0
         do i = 0, 3
            do j = 0, 3 - i
               word = wrapping_sum(word, shiftl(ibits(left, 16 * i, 16) * ibits(right, 16 * j, 16), 16 * (i + j)))
            end do
         end do
      case (MIN_OF)
         word = min(left, right)
      case default
         word = max(left, right)
      end select
      word = extended(bits_of_type, word)
   end function of_integers

   function wrapping_sum(left, right) result(total)
      integer(int64), intent(in) :: left, right
      integer(int64) :: total, low, high

      low = ibits(left, 0, 32) + ibits(right, 0, 32)
      high = ibits(left, 32, 32) + ibits(right, 32, 32) + shiftr(low, 32)
      total = ior(shiftl(high, 32), ibits(low, 0, 32))
   end function wrapping_sum

   ! The lowest bits of a word, as a signed integer.
   function extended(bits_of_type, word) result(number)
      integer, intent(in) :: bits_of_type
      integer(int64), intent(in) :: word
      integer(int64) :: number

      number = shifta(shiftl(word, 64 - bits_of_type), 64 - bits_of_type)
   end function extended

   function canonical(type, word) result(same)
      integer, intent(in) :: type
      integer(int64), intent(in) :: word
      integer(int64) :: same

      same = word
      if (type >= I8) return
      if (BITS(type) == 32 .and. ibits(word, 0, 31) > int(z'7F800000', int64)) same = NAN_32
      if (BITS(type) == 64 .and. ibits(word, 0, 63) > int(z'7FF0000000000000', int64)) same = NAN_64
   end function canonical

   function nan_of(type) result(word)
      integer, intent(in) :: type
      integer(int64) :: word

      word = merge(NAN_32, NAN_64, BITS(type) == 32)
   end function nan_of

   ! Items of a type, always the same ones: integers of all bits, floats of either sign that fill their fractions, and sometimes a
   ! zero of either sign, a subnormal number, or, if requested, an infinity or a NaN.
   function items_of(type, n, wild) result(words)
      integer, intent(in) :: type, n
      logical, intent(in) :: wild
      integer(int64) :: words(2, n), seed
      integer :: i, part

      seed = int(z'1234567890ABCDEF', int64) + type
      words = 0
      do i = 1, n
         do part = 1, merge(2, 1, type == C32 .or. type == C64)
            seed = ieor(seed, shiftl(seed, 13))
            seed = ieor(seed, shiftr(seed, 7))
            seed = ieor(seed, shiftl(seed, 17))
            words(part, i) = extended(BITS(type), seed)
            if (type < I8) words(part, i) = tamed(type, seed, wild)
         end do
      end do
   end function items_of

   ! A float from random bits, usually of magnitude 1/8 to 16.
   function tamed(type, seed, wild) result(word)
      integer, intent(in) :: type
      integer(int64), intent(in) :: seed
      logical, intent(in) :: wild
      integer(int64) :: word
      integer :: fraction

      fraction = merge(23, 52, BITS(type) == 32)
      word = ibits(seed, 0, fraction)
      select case (int(ibits(seed, 56, 6)))
      case (0)
         word = 0
      case (1)
         continue
      case (2)
         if (wild) word = shiftl(maskr(merge(8, 11, BITS(type) == 32), int64), fraction)
         if (wild .and. btest(seed, 55)) word = ior(word, ibits(seed, 0, 20))
      case default
         word = ior(word, shiftl(merge(124_int64, 1020_int64, BITS(type) == 32) + ibits(seed, 53, 3), fraction))
      end select
      if (btest(seed, 63)) word = minus(type, word)
      word = extended(BITS(type), word)
   end function tamed

   ! Stores items in an array without gaps.
   subroutine put(words, x)
      integer(int64), intent(in) :: words(:, :)
      type(*), dimension(..), intent(inout) :: x
      type(treefold_view) :: view
      integer(int8), pointer :: bytes(:, :)
      integer :: part

      call treefold_view_of(x, view)
      if (view%elements == 0) return
      part = int(view%bytes) / merge(2, 1, any(view%type == [C32, C64]))
      call c_f_pointer(view%address, bytes, [int(view%bytes), int(view%elements)])
      call copy(1)
      if (part < view%bytes) call copy(2)

   contains

      subroutine copy(which)
         integer, intent(in) :: which
         integer :: i

         do i = 1, size(words, 2)
            bytes((which - 1) * part + 1:which * part, i) = first(transfer(words(which, i), [0_int8]))
         end do
      end subroutine copy

      function first(all_bytes)
         integer(int8), intent(in) :: all_bytes(:)
         integer(int8) :: first(part)

         first = all_bytes(:part)
      end function first
   end subroutine put

   ! The bits of the elements of an array without gaps.
   function bits_of(x) result(words)
      type(*), dimension(..), intent(in) :: x
      integer(int64), allocatable :: words(:, :)
      type(treefold_view) :: view
      integer(int8), pointer :: bytes(:, :)
      integer(int8) :: word(8)
      integer :: part, i, j

      call treefold_view_of(x, view)
      allocate (words(2, view%elements), source=0_int64)
      if (view%elements == 0) return
      part = int(view%bytes) / merge(2, 1, any(view%type == [C32, C64]))
      call c_f_pointer(view%address, bytes, [int(view%bytes), int(view%elements)])
      do i = 1, size(words, 2)
         do j = 1, int(view%bytes) / part
            word = 0
            word(:part) = bytes((j - 1) * part + 1:j * part, i)
            words(j, i) = extended(8 * part, transfer(word, 0_int64))
         end do
      end do
   end function bits_of
end module reference

! Operators are procedures of a module: for internal procedures of a program, compilers generate code on the stack.
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

   ! The caller's threads: OpenMP's if this file is compiled with OpenMP. With a context, the last part is skipped.
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
   use, intrinsic :: iso_c_binding, only: c_loc
   use, intrinsic :: iso_fortran_env, only: int16
   use, intrinsic :: ieee_arithmetic, only: ieee_nearest, ieee_set_rounding_mode, ieee_support_rounding, ieee_up
   use reference
   use operators_of_test
   implicit none

   integer, parameter :: LENGTHS(*) = [0, 1, 2, 3, 4, 5, 7, 8, 31, 100, 1023, 4097, 8192, 8193, 20001]
   integer :: length
   character(len=20) :: argument

   ! With an argument, this is the process that `errors` starts to check how it ends.
   call get_command_argument(1, argument)
   if (argument == 'stop') then
      print *, treefold_min([real(real64) ::])
      ! Not reached, since treefold_min ends the process: `stop` would look like success.
      stop
   end if
   do length = 1, size(LENGTHS)
      call walk(LENGTHS(length), .false.)
      call walk(LENGTHS(length), .true.)
   end do
   call shapes()
   call operators()
   call types()
   call errors()
   call finish('module treefold')

contains

   ! Checks every type, by the same source text.
   subroutine walk(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild

      block
         integer, parameter :: CODE = TREEFOLD_F32
         real(real32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
         include 'walk_real.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_F64
         real(real64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
         include 'walk_real.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_C32
         complex(real32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_C64
         complex(real64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I8
         integer(int8), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I16
         integer(int16), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I32
         integer(int32), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
      block
         integer, parameter :: CODE = TREEFOLD_I64
         integer(int64), allocatable :: x(:), gaps(:), rows(:, :), wide(:, :), total, row(:), others(:, :)
         include 'walk.inc'
         include 'walk_ordered.inc'
      end block
   end subroutine walk

   ! Ranks and strides that the walk does not have: components, vector subscripts, rank 3, scalars.
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
      call same('terms of 1/i', bits_of(treefold_sum(x)), reshape([int(z'401DF11F45F4E619', int64), 0_int64], [2, 1]))
      points%x = x
      points%y = -1
      points%number = [(i, i = 1, N)]
      z = cmplx(x, 0, real64)
      order = [(1 + mod(7 * i, N), i = 1, N)]
      cube = reshape(x, shape(cube))
      wide = 0
      wide(:, :, :, 2) = cube
      deep = reshape(x(:24), shape(deep))
      call same('components', bits_of(treefold_sum(points%x)), bits_of(treefold_sum(x)))
      call check('components that are integers', treefold_sum(points(::2)%number) == N * N / 4)
      call same('real parts', bits_of(treefold_sum(z%re)), bits_of(treefold_sum(x)))
      call same('a vector subscript', bits_of(treefold_sum(x(order))), bits_of(treefold_sum([(x(order(i)), i = 1, N)])))
      call same('a scalar', bits_of(treefold_sum(x(7))), bits_of(x(7)))
      call same('an expression', bits_of(treefold_sum(2 * x)), bits_of(2 * treefold_sum(x)))
      call same('rank 3', bits_of(treefold_sum(cube)), bits_of(treefold_sum(x)))
      call same('rank 4', bits_of(treefold_sum(wide(:, :, :, 2))), bits_of(treefold_sum(x)))
      call same('a section of rank 3', bits_of(treefold_sum(cube(4:2:-1, ::3, 2::5))), &
         bits_of(treefold_sum([cube(4:2:-1, ::3, 2::5)])))
      call treefold_fold_rows(TREEFOLD_OP_SUM, deep, row)
      call same('rows of rank 3', bits_of(row), bits_of([treefold_sum(deep(1, :, :)), treefold_sum(deep(2, :, :))]))
      ! Rows of more elements than a block, and blocks for several threads.
      long = 1 / (1 + spread([(real(i, real64), i = 1, size(long, 1))], 2, 5))
      call treefold_fold_rows(TREEFOLD_OP_SUM, long(::2, 5:1:-1), short)
      call treefold_fold_rows(TREEFOLD_OP_SUM, reshape(long(::2, 5:1:-1), [size(long, 1) / 2, 5]), expected)
      call same('long rows', short, expected)
      call treefold_threads(2)
      call same('many items', treefold_sum(long(::2, :)), treefold_sum(reshape(long(::2, :), [size(long) / 2])))
      call treefold_threads(1)
      call same('negative strides of a dot product', bits_of(treefold_dot(x(N:1:-1), x(N:1:-1))), &
         bits_of(treefold_squared_norm([x(N:1:-1)])))
   end subroutine shapes

   ! User-defined operators: addition with a weight, on one element; and the composition of the maps y -> a y + b, which is not
   ! commutative, on columns and on variables of a derived type.
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
         call same('operator', bits_of(total), bits_of(treefold_sum(x)))
         call treefold_fold_user(maps, composed, map)
         call same('columns by an operator', bits_of(map), bits_of(expected))
      end do
      call treefold_threads(1)
      call treefold_fold_user(maps(2:1:-1, N:1:-1), composed, map)
      call same('columns backwards', bits_of(map), bits_of(composition(maps(2:1:-1, N:1:-1))))
      call treefold_fold_user(lines, composed, both)
      call same('a derived type', bits_of([both%a, both%b]), bits_of(expected))
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

   ! What the compiler does not check: types, arrays of assumed size, arrays that are not allocated.
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
      call treefold_fold(TREEFOLD_OP_SUM, x, small, ierr)
      call fails('a small result', ierr, TREEFOLD_ARGUMENT, '`result` is real(real32) instead of real(real64)')
      call treefold_fold_rows(TREEFOLD_OP_SUM, x, whole, ierr)
      call fails('a whole result', ierr, TREEFOLD_ARGUMENT, '`result` is integer(int64) instead of real(real64)')
      call treefold_fold(TREEFOLD_OP_SUM, truth, total, ierr)
      call fails('logical items', ierr, TREEFOLD_ARGUMENT, '`x` has elements of another type')
      call treefold_fold(TREEFOLD_OP_SUM, points, total, ierr)
      call fails('a derived type', ierr, TREEFOLD_ARGUMENT, '`x` has elements of another type')
      call treefold_fold(TREEFOLD_OP_SUM, [real(selected_real_kind(30)) :: 1], total, ierr)
      call fails('quadruple precision', ierr, TREEFOLD_ARGUMENT, '`x` has elements of another type')
      total = treefold_sum(none, ierr)
      call fails('an array that is not allocated', ierr, TREEFOLD_NULL, '`x` is not allocated')
      total = treefold_dot(x, nowhere, ierr)
      call fails('a null pointer', ierr, TREEFOLD_NULL, '`y` is not allocated, or a pointer')
      call treefold_fold(TREEFOLD_OP_SUM, x, none, ierr)
      call fails('a result that is not allocated', ierr, TREEFOLD_NULL, '`result`')
      call assumed_size(x)
      call treefold_fold(TREEFOLD_OP_SUM, x, x, ierr)
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
      call fails('an array of assumed size', ierr, TREEFOLD_ARGUMENT, '`x` is an array of assumed size: give a section')
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
      call treefold_fold(9, x, total, ierr)
      call fails('no operator', ierr, TREEFOLD_ARGUMENT, '9')
      call treefold_fold(TREEFOLD_OP_MIN, [(1.0_real64, 2.0_real64)], absolute, ierr)
      call fails('a real result of complex numbers', ierr, TREEFOLD_ARGUMENT, 'complex(real64)')
      call treefold_fold_on(TREEFOLD_OP_SUM, many, total, team, c_loc(marker), ierr)
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
