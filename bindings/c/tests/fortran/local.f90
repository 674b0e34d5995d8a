! Walks the procedures of module treefold, with right and with wrong arguments, and compares bits with a tree written here.
!
!     gfortran treefold.F90 local.f90 -ltreefold && ./a.out

! The definition of docs/order.md, section 1, on bits: item i of an array of any type is words(:, i), the bits of its real and its
! imaginary part, or an integer and 0; both extended by their sign to 64 bits.
module reference
   use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
   implicit none
   public

   integer, parameter :: F32 = 1, F64 = 2, C32 = 3, C64 = 4, I8 = 5, I16 = 6, I32 = 7, I64 = 8
   integer, parameter :: SUM_OF = 1, PRODUCT_OF = 2, MIN_OF = 3, MAX_OF = 4
   integer, parameter :: BITS(8) = [32, 64, 32, 64, 8, 16, 32, 64]
   integer(int64), parameter :: NAN_32 = int(z'7FC00000', int64), NAN_64 = int(z'7FF8000000000000', int64)

   interface words_of
      module procedure words_of_f32, words_of_f64, words_of_c32, words_of_c64
      module procedure words_of_i8, words_of_i16, words_of_i32, words_of_i64
   end interface

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

   ! The same for every element of rows of `width` elements.
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
      case (F32, F64)
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

   ! The bits are those of variables in memory: nothing is fused, and nothing is wider.
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

   ! A number that increases with a float: bits are in order but for negative ones, which are in the opposite one.
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

   ! Integers wrap, which Fortran does not say of its own.
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

   ! The lowest bits of a word, as an integer of so many bits.
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

   ! Items of a type, always the same ones: integers of all bits, floats of either sign that fill their fractions, and now and then
   ! a zero of either sign, a subnormal number, or, where asked for, an infinity or a NaN.
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

   ! A float from random bits, of magnitude 1/8 to 16 in general.
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

   function words_of_f32(x) result(words)
      real(real32), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = transfer(x, [0_int32])
   end function words_of_f32

   function words_of_f64(x) result(words)
      real(real64), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = transfer(x, [0_int64])
   end function words_of_f64

   function words_of_c32(x) result(words)
      complex(real32), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = transfer(real(x, real32), [0_int32])
      words(2, :) = transfer(aimag(x), [0_int32])
   end function words_of_c32

   function words_of_c64(x) result(words)
      complex(real64), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = transfer(real(x, real64), [0_int64])
      words(2, :) = transfer(aimag(x), [0_int64])
   end function words_of_c64

   function words_of_i8(x) result(words)
      integer(int8), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = x
   end function words_of_i8

   function words_of_i16(x) result(words)
      integer(int16), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = x
   end function words_of_i16

   function words_of_i32(x) result(words)
      integer(int32), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = x
   end function words_of_i32

   function words_of_i64(x) result(words)
      integer(int64), intent(in) :: x(:)
      integer(int64) :: words(2, size(x))

      words = 0
      words(1, :) = x
   end function words_of_i64

end module reference

! Operators are procedures of a module: compilers make code on the stack for those of a program.
module operators_of_test
   use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_ptr
   use, intrinsic :: iso_fortran_env, only: real32, real64
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

   function pairs(context, left, right, out) bind(c) result(status)
      type(c_ptr), value :: context, left, right, out
      integer(c_int) :: status
      real(real32), pointer :: first(:), second(:), both(:)

      call c_f_pointer(left, first, [2])
      call c_f_pointer(right, second, [2])
      call c_f_pointer(out, both, [2])
      both = first + second
      status = merge(9, 0, c_associated(context))
   end function pairs
end module operators_of_test

program local
   use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr
   use, intrinsic :: iso_fortran_env, only: error_unit
   use, intrinsic :: ieee_arithmetic, only: ieee_nearest, ieee_set_rounding_mode, ieee_support_rounding, ieee_up
   use reference
   use operators_of_test
   use treefold
   implicit none

   integer :: lengths(13), length, cases, faults
   character(len=20) :: argument

   ! With an argument, this is the process that `errors` starts to see it end.
   call get_command_argument(1, argument)
   if (argument == 'stop') call end_by_an_error()

   cases = 0
   faults = 0
   lengths = [0, 1, 2, 3, 4, 5, 7, 8, 31, 100, 1023, 4097, 200000]
   do length = 1, size(lengths)

      call walk_f32(lengths(length), .false.)
      call walk_f64(lengths(length), .false.)
      call walk_c32(lengths(length), .false.)
      call walk_c64(lengths(length), .false.)
      call walk_i8(lengths(length), .false.)
      call walk_i16(lengths(length), .false.)
      call walk_i32(lengths(length), .false.)
      call walk_i64(lengths(length), .false.)
      call walk_f32(lengths(length), .true.)
      call walk_f64(lengths(length), .true.)
      call walk_c32(lengths(length), .true.)
      call walk_c64(lengths(length), .true.)
   end do
   call sections()
   call operators()
   call errors()
   if (faults > 0) then
      write (error_unit, '(i0, a, i0, a)') faults, ' of ', cases, ' checks failed'
      error stop
   end if
   print '(i0, a)', cases, ' checks of module treefold passed'

contains

   subroutine walk_f32(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      real(real32) :: x(n), r(WIDTH, n / WIDTH)
      real(real32) :: total, absolute, products(n)
      integer :: j

      words = items_of(F32, n, wild)
      rows = words(:, :size(rows, 2))
      x = transfer(int(words(1, :), int32), x, n)
      r = reshape(x(:size(r)), shape(r))
      call same('sum f32', n, words_of([treefold_sum(x)]), reshape(tree(F32, SUM_OF, words), [2, 1]))
      call same('par_sum f32', n, words_of([treefold_par_sum(x)]), reshape(tree(F32, SUM_OF, words), [2, 1]))
      call same('product f32', n, words_of([treefold_product(x)]), reshape(tree(F32, PRODUCT_OF, words), [2, 1]))
      call same('par_product f32', n, words_of([treefold_par_product(x)]), reshape(tree(F32, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows f32', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(F32, SUM_OF, WIDTH, rows))
      call same('par_sum_rows f32', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(F32, SUM_OF, WIDTH, rows))
      call same('product_rows f32', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(F32, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows f32', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(F32, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min f32', n, words_of([treefold_min(x)]), reshape(tree(F32, MIN_OF, words), [2, 1]))
         call same('par_min f32', n, words_of([treefold_par_min(x)]), reshape(tree(F32, MIN_OF, words), [2, 1]))
         call same('max f32', n, words_of([treefold_max(x)]), reshape(tree(F32, MAX_OF, words), [2, 1]))
         call same('par_max f32', n, words_of([treefold_par_max(x)]), reshape(tree(F32, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows f32', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(F32, MIN_OF, WIDTH, rows))
         call same('par_min_rows f32', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(F32, MIN_OF, WIDTH, rows))
         call same('max_rows f32', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(F32, MAX_OF, WIDTH, rows))
         call same('par_max_rows f32', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(F32, MAX_OF, WIDTH, rows))
      end if
      do j = 1, n
         products(j) = rounded_f32(x(j), x(n + 1 - j))
      end do
      call same('dot f32', n, words_of([treefold_dot(x, x(n:1:-1))]), reshape(tree(F32, SUM_OF, words_of(products)), [2, 1]))
      call same('par_dot f32', n, words_of([treefold_par_dot(x, x(n:1:-1))]), words_of([treefold_dot(x, x(n:1:-1))]))
      call same('sum_lanes f32', n, words_of([treefold_sum_lanes(x, 16)]), &
         words_of([treefold_sum([(treefold_sum(x(j::16)), j = 1, min(n, 16))])]))
      call same('par_sum_lanes f32', n, words_of([treefold_par_sum_lanes(x, 3)]), &
         words_of([treefold_sum([(treefold_sum(x(j::3)), j = 1, min(n, 3))])]))
      call same('squared_norm f32', n, words_of([treefold_squared_norm(x)]), words_of([treefold_dot(x, x)]))
      call same('par_squared_norm f32', n, words_of([treefold_par_squared_norm(x)]), words_of([treefold_dot(x, x)]))
      call treefold_sum_and_absolute_sum(x, total, absolute)
      call same('sum f32 of both', n, words_of([total]), words_of([treefold_sum(x)]))
      call same('absolute sum f32', n, words_of([absolute]), words_of([treefold_sum(abs(x))]))
      call treefold_par_sum_and_absolute_sum(x, total, absolute)
      call same('par sum f32 of both', n, words_of([total]), words_of([treefold_sum(x)]))
      call same('par absolute sum f32', n, words_of([absolute]), words_of([treefold_sum(abs(x))]))
   end subroutine walk_f32

   subroutine walk_f64(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      real(real64) :: x(n), r(WIDTH, n / WIDTH)
      real(real64) :: total, absolute, products(n)
      integer :: j

      words = items_of(F64, n, wild)
      rows = words(:, :size(rows, 2))
      x = transfer(words(1, :), x, n)
      r = reshape(x(:size(r)), shape(r))
      call same('sum f64', n, words_of([treefold_sum(x)]), reshape(tree(F64, SUM_OF, words), [2, 1]))
      call same('par_sum f64', n, words_of([treefold_par_sum(x)]), reshape(tree(F64, SUM_OF, words), [2, 1]))
      call same('product f64', n, words_of([treefold_product(x)]), reshape(tree(F64, PRODUCT_OF, words), [2, 1]))
      call same('par_product f64', n, words_of([treefold_par_product(x)]), reshape(tree(F64, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows f64', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(F64, SUM_OF, WIDTH, rows))
      call same('par_sum_rows f64', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(F64, SUM_OF, WIDTH, rows))
      call same('product_rows f64', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(F64, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows f64', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(F64, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min f64', n, words_of([treefold_min(x)]), reshape(tree(F64, MIN_OF, words), [2, 1]))
         call same('par_min f64', n, words_of([treefold_par_min(x)]), reshape(tree(F64, MIN_OF, words), [2, 1]))
         call same('max f64', n, words_of([treefold_max(x)]), reshape(tree(F64, MAX_OF, words), [2, 1]))
         call same('par_max f64', n, words_of([treefold_par_max(x)]), reshape(tree(F64, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows f64', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(F64, MIN_OF, WIDTH, rows))
         call same('par_min_rows f64', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(F64, MIN_OF, WIDTH, rows))
         call same('max_rows f64', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(F64, MAX_OF, WIDTH, rows))
         call same('par_max_rows f64', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(F64, MAX_OF, WIDTH, rows))
      end if
      do j = 1, n
         products(j) = rounded_f64(x(j), x(n + 1 - j))
      end do
      call same('dot f64', n, words_of([treefold_dot(x, x(n:1:-1))]), reshape(tree(F64, SUM_OF, words_of(products)), [2, 1]))
      call same('par_dot f64', n, words_of([treefold_par_dot(x, x(n:1:-1))]), words_of([treefold_dot(x, x(n:1:-1))]))
      call same('sum_lanes f64', n, words_of([treefold_sum_lanes(x, 16)]), &
         words_of([treefold_sum([(treefold_sum(x(j::16)), j = 1, min(n, 16))])]))
      call same('par_sum_lanes f64', n, words_of([treefold_par_sum_lanes(x, 3)]), &
         words_of([treefold_sum([(treefold_sum(x(j::3)), j = 1, min(n, 3))])]))
      call same('squared_norm f64', n, words_of([treefold_squared_norm(x)]), words_of([treefold_dot(x, x)]))
      call same('par_squared_norm f64', n, words_of([treefold_par_squared_norm(x)]), words_of([treefold_dot(x, x)]))
      call treefold_sum_and_absolute_sum(x, total, absolute)
      call same('sum f64 of both', n, words_of([total]), words_of([treefold_sum(x)]))
      call same('absolute sum f64', n, words_of([absolute]), words_of([treefold_sum(abs(x))]))
      call treefold_par_sum_and_absolute_sum(x, total, absolute)
      call same('par sum f64 of both', n, words_of([total]), words_of([treefold_sum(x)]))
      call same('par absolute sum f64', n, words_of([absolute]), words_of([treefold_sum(abs(x))]))
   end subroutine walk_f64

   subroutine walk_c32(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      complex(real32) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(C32, n, wild)
      rows = words(:, :size(rows, 2))
      x = transfer(int(reshape(words, [2 * n]), int32), x, n)
      r = reshape(x(:size(r)), shape(r))
      call same('sum c32', n, words_of([treefold_sum(x)]), reshape(tree(C32, SUM_OF, words), [2, 1]))
      call same('par_sum c32', n, words_of([treefold_par_sum(x)]), reshape(tree(C32, SUM_OF, words), [2, 1]))
      call same('product c32', n, words_of([treefold_product(x)]), reshape(tree(C32, PRODUCT_OF, words), [2, 1]))
      call same('par_product c32', n, words_of([treefold_par_product(x)]), reshape(tree(C32, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows c32', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(C32, SUM_OF, WIDTH, rows))
      call same('par_sum_rows c32', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(C32, SUM_OF, WIDTH, rows))
      call same('product_rows c32', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(C32, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows c32', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(C32, PRODUCT_OF, WIDTH, rows))
   end subroutine walk_c32

   subroutine walk_c64(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      complex(real64) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(C64, n, wild)
      rows = words(:, :size(rows, 2))
      x = transfer(reshape(words, [2 * n]), x, n)
      r = reshape(x(:size(r)), shape(r))
      call same('sum c64', n, words_of([treefold_sum(x)]), reshape(tree(C64, SUM_OF, words), [2, 1]))
      call same('par_sum c64', n, words_of([treefold_par_sum(x)]), reshape(tree(C64, SUM_OF, words), [2, 1]))
      call same('product c64', n, words_of([treefold_product(x)]), reshape(tree(C64, PRODUCT_OF, words), [2, 1]))
      call same('par_product c64', n, words_of([treefold_par_product(x)]), reshape(tree(C64, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows c64', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(C64, SUM_OF, WIDTH, rows))
      call same('par_sum_rows c64', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(C64, SUM_OF, WIDTH, rows))
      call same('product_rows c64', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(C64, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows c64', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(C64, PRODUCT_OF, WIDTH, rows))
   end subroutine walk_c64

   subroutine walk_i8(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      integer(int8) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(I8, n, wild)
      rows = words(:, :size(rows, 2))
      x = int(words(1, :), int8)
      r = reshape(x(:size(r)), shape(r))
      call same('sum i8', n, words_of([treefold_sum(x)]), reshape(tree(I8, SUM_OF, words), [2, 1]))
      call same('par_sum i8', n, words_of([treefold_par_sum(x)]), reshape(tree(I8, SUM_OF, words), [2, 1]))
      call same('product i8', n, words_of([treefold_product(x)]), reshape(tree(I8, PRODUCT_OF, words), [2, 1]))
      call same('par_product i8', n, words_of([treefold_par_product(x)]), reshape(tree(I8, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows i8', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(I8, SUM_OF, WIDTH, rows))
      call same('par_sum_rows i8', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(I8, SUM_OF, WIDTH, rows))
      call same('product_rows i8', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(I8, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows i8', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(I8, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min i8', n, words_of([treefold_min(x)]), reshape(tree(I8, MIN_OF, words), [2, 1]))
         call same('par_min i8', n, words_of([treefold_par_min(x)]), reshape(tree(I8, MIN_OF, words), [2, 1]))
         call same('max i8', n, words_of([treefold_max(x)]), reshape(tree(I8, MAX_OF, words), [2, 1]))
         call same('par_max i8', n, words_of([treefold_par_max(x)]), reshape(tree(I8, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows i8', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(I8, MIN_OF, WIDTH, rows))
         call same('par_min_rows i8', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(I8, MIN_OF, WIDTH, rows))
         call same('max_rows i8', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(I8, MAX_OF, WIDTH, rows))
         call same('par_max_rows i8', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(I8, MAX_OF, WIDTH, rows))
      end if
   end subroutine walk_i8

   subroutine walk_i16(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      integer(int16) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(I16, n, wild)
      rows = words(:, :size(rows, 2))
      x = int(words(1, :), int16)
      r = reshape(x(:size(r)), shape(r))
      call same('sum i16', n, words_of([treefold_sum(x)]), reshape(tree(I16, SUM_OF, words), [2, 1]))
      call same('par_sum i16', n, words_of([treefold_par_sum(x)]), reshape(tree(I16, SUM_OF, words), [2, 1]))
      call same('product i16', n, words_of([treefold_product(x)]), reshape(tree(I16, PRODUCT_OF, words), [2, 1]))
      call same('par_product i16', n, words_of([treefold_par_product(x)]), reshape(tree(I16, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows i16', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(I16, SUM_OF, WIDTH, rows))
      call same('par_sum_rows i16', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(I16, SUM_OF, WIDTH, rows))
      call same('product_rows i16', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(I16, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows i16', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(I16, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min i16', n, words_of([treefold_min(x)]), reshape(tree(I16, MIN_OF, words), [2, 1]))
         call same('par_min i16', n, words_of([treefold_par_min(x)]), reshape(tree(I16, MIN_OF, words), [2, 1]))
         call same('max i16', n, words_of([treefold_max(x)]), reshape(tree(I16, MAX_OF, words), [2, 1]))
         call same('par_max i16', n, words_of([treefold_par_max(x)]), reshape(tree(I16, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows i16', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(I16, MIN_OF, WIDTH, rows))
         call same('par_min_rows i16', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(I16, MIN_OF, WIDTH, rows))
         call same('max_rows i16', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(I16, MAX_OF, WIDTH, rows))
         call same('par_max_rows i16', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(I16, MAX_OF, WIDTH, rows))
      end if
   end subroutine walk_i16

   subroutine walk_i32(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      integer(int32) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(I32, n, wild)
      rows = words(:, :size(rows, 2))
      x = int(words(1, :), int32)
      r = reshape(x(:size(r)), shape(r))
      call same('sum i32', n, words_of([treefold_sum(x)]), reshape(tree(I32, SUM_OF, words), [2, 1]))
      call same('par_sum i32', n, words_of([treefold_par_sum(x)]), reshape(tree(I32, SUM_OF, words), [2, 1]))
      call same('product i32', n, words_of([treefold_product(x)]), reshape(tree(I32, PRODUCT_OF, words), [2, 1]))
      call same('par_product i32', n, words_of([treefold_par_product(x)]), reshape(tree(I32, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows i32', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(I32, SUM_OF, WIDTH, rows))
      call same('par_sum_rows i32', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(I32, SUM_OF, WIDTH, rows))
      call same('product_rows i32', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(I32, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows i32', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(I32, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min i32', n, words_of([treefold_min(x)]), reshape(tree(I32, MIN_OF, words), [2, 1]))
         call same('par_min i32', n, words_of([treefold_par_min(x)]), reshape(tree(I32, MIN_OF, words), [2, 1]))
         call same('max i32', n, words_of([treefold_max(x)]), reshape(tree(I32, MAX_OF, words), [2, 1]))
         call same('par_max i32', n, words_of([treefold_par_max(x)]), reshape(tree(I32, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows i32', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(I32, MIN_OF, WIDTH, rows))
         call same('par_min_rows i32', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(I32, MIN_OF, WIDTH, rows))
         call same('max_rows i32', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(I32, MAX_OF, WIDTH, rows))
         call same('par_max_rows i32', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(I32, MAX_OF, WIDTH, rows))
      end if
   end subroutine walk_i32

   subroutine walk_i64(n, wild)
      integer, intent(in) :: n
      logical, intent(in) :: wild
      integer, parameter :: WIDTH = 3
      integer(int64) :: words(2, n), rows(2, n - mod(n, WIDTH))
      integer(int64) :: x(n), r(WIDTH, n / WIDTH)

      words = items_of(I64, n, wild)
      rows = words(:, :size(rows, 2))
      x = int(words(1, :), int64)
      r = reshape(x(:size(r)), shape(r))
      call same('sum i64', n, words_of([treefold_sum(x)]), reshape(tree(I64, SUM_OF, words), [2, 1]))
      call same('par_sum i64', n, words_of([treefold_par_sum(x)]), reshape(tree(I64, SUM_OF, words), [2, 1]))
      call same('product i64', n, words_of([treefold_product(x)]), reshape(tree(I64, PRODUCT_OF, words), [2, 1]))
      call same('par_product i64', n, words_of([treefold_par_product(x)]), reshape(tree(I64, PRODUCT_OF, words), [2, 1]))
      call same('sum_rows i64', n, words_of(treefold_sum_rows(r)), &
         tree_of_rows(I64, SUM_OF, WIDTH, rows))
      call same('par_sum_rows i64', n, words_of(treefold_par_sum_rows(r)), &
         tree_of_rows(I64, SUM_OF, WIDTH, rows))
      call same('product_rows i64', n, words_of(treefold_product_rows(r)), &
         tree_of_rows(I64, PRODUCT_OF, WIDTH, rows))
      call same('par_product_rows i64', n, words_of(treefold_par_product_rows(r)), &
         tree_of_rows(I64, PRODUCT_OF, WIDTH, rows))
      if (n > 0) then
         call same('min i64', n, words_of([treefold_min(x)]), reshape(tree(I64, MIN_OF, words), [2, 1]))
         call same('par_min i64', n, words_of([treefold_par_min(x)]), reshape(tree(I64, MIN_OF, words), [2, 1]))
         call same('max i64', n, words_of([treefold_max(x)]), reshape(tree(I64, MAX_OF, words), [2, 1]))
         call same('par_max i64', n, words_of([treefold_par_max(x)]), reshape(tree(I64, MAX_OF, words), [2, 1]))
      end if
      if (n >= WIDTH) then
         call same('min_rows i64', n, words_of(treefold_min_rows(r)), &
            tree_of_rows(I64, MIN_OF, WIDTH, rows))
         call same('par_min_rows i64', n, words_of(treefold_par_min_rows(r)), &
            tree_of_rows(I64, MIN_OF, WIDTH, rows))
         call same('max_rows i64', n, words_of(treefold_max_rows(r)), &
            tree_of_rows(I64, MAX_OF, WIDTH, rows))
         call same('par_max_rows i64', n, words_of(treefold_par_max_rows(r)), &
            tree_of_rows(I64, MAX_OF, WIDTH, rows))
      end if
   end subroutine walk_i64

   ! A product that is rounded, not the half of a fused operation.
   function rounded_f32(x, y) result(rounded)
      real(real32), intent(in) :: x, y
      real(real32) :: rounded
      real(real32), volatile :: product

      product = x * y
      rounded = product
   end function rounded_f32

   ! A product that is rounded, not the half of a fused operation.
   function rounded_f64(x, y) result(rounded)
      real(real64), intent(in) :: x, y
      real(real64) :: rounded
      real(real64), volatile :: product

      product = x * y
      rounded = product
   end function rounded_f64

   ! What is not contiguous arrives as it is.
   subroutine sections()
      real(real64) :: x(1000), r(6, 100)
      integer :: i

      x = [(1.0_real64 / i, i = 1, 1000)]
      call same('terms of 1/i', 1000, words_of([treefold_sum(x)]), reshape([int(z'401DF11F45F4E619', int64), 0_int64], [2, 1]))
      call same('every third', 1000, words_of([treefold_sum(x(::3))]), reshape(tree(F64, SUM_OF, words_of(x(::3))), [2, 1]))
      call same('backwards', 1000, words_of([treefold_sum(x(1000:1:-1))]), &
         reshape(tree(F64, SUM_OF, words_of(x(1000:1:-1))), [2, 1]))
      r = reshape(x(:600), shape(r))
      call same('a row of the array', 100, words_of([treefold_sum(r(2, :))]), &
         reshape(tree(F64, SUM_OF, words_of(r(2, :))), [2, 1]))
      call same('columns', 100, words_of(treefold_sum_rows(r(2:6:2, ::2))), &
         tree_of_rows(F64, SUM_OF, 3, words_of(reshape(r(2:6:2, ::2), [150]))))
      ! A field of its own for every quantity: the other way to store rows.
      call same('fields', 100, words_of([(treefold_sum(r(i, :)), i = 1, 6)]), words_of(treefold_sum_rows(r)))
   end subroutine sections

   ! Operators of the caller: addition with a weight, on one element; and the composition of the maps y -> a y + b, which is not
   ! commutative, on columns and on addresses.
   subroutine operators()
      integer, parameter :: N = 1000
      real(real64), target :: x(N), maps(2, N), total, map(2), expected(2), weight, one(2)
      real(real32) :: small(2, 5), small_map(2)
      integer(int8) :: byte
      integer :: i, ierr

      x = [(1.0_real64 / i, i = 1, N)]
      maps(1, :) = 1 - x
      maps(2, :) = x
      weight = 1
      one = [1, 0]
      expected = composition(maps)

      call treefold_fold(x, weighted, total, c_loc(weight))
      call same('operator', N, words_of([total]), words_of([treefold_sum(x)]))
      call treefold_par_fold(x, weighted, total, c_loc(weight))
      call same('par operator', N, words_of([total]), words_of([treefold_sum(x)]))
      call treefold_fold(x(:0), weighted, total, c_loc(weight), 4.0_real64)
      call same('operator of nothing', 0, words_of([total]), words_of([4.0_real64]))
      call treefold_par_fold(x(:0), weighted, total, c_loc(weight), 4.0_real64)
      call same('par operator of nothing', 0, words_of([total]), words_of([4.0_real64]))

      call treefold_fold(maps, composed, map)
      call same('columns by an operator', N, words_of(map), words_of(expected))
      call treefold_par_fold(maps, composed, map)
      call same('par columns by an operator', N, words_of(map), words_of(expected))
      call treefold_fold(maps(:, :0), composed, map, empty=one)
      call same('no columns', 0, words_of(map), words_of(one))
      call treefold_par_fold(maps(:, :0), composed, map, empty=one)
      call same('par no columns', 0, words_of(map), words_of(one))

      call treefold_fold(c_loc(maps), int(N, int64), 16_int64, composed, c_loc(map))
      call same('addresses by an operator', N, words_of(map), words_of(expected))
      call treefold_par_fold(c_loc(maps), int(N, int64), 16_int64, composed, c_loc(map))
      call same('par addresses by an operator', N, words_of(map), words_of(expected))
      call treefold_fold(c_null_ptr, 0_int64, 16_int64, composed, c_loc(map), empty=c_loc(one))
      call same('no addresses', 0, words_of(map), words_of(one))

      ! Items of 8 bytes that are aligned to 4 only.
      small = reshape([(real(i, real32), i = 1, 10)], [2, 5])
      call treefold_fold(small, pairs, small_map)
      call same('items of two small floats', 5, words_of(small_map), words_of([25.0_real32, 30.0_real32]))

      call treefold_fold(x, weighted, total, ierr=ierr)
      call fails('an operator without its context', ierr, TREEFOLD_OPERATOR)
      call treefold_par_fold(x, weighted, total, ierr=ierr)
      call fails('par: an operator without its context', ierr, TREEFOLD_OPERATOR)
      call treefold_fold(x(:0), weighted, total, c_loc(weight), ierr=ierr)
      call fails('an operator of nothing', ierr, TREEFOLD_EMPTY)
      call treefold_par_fold(x(:0), weighted, total, c_loc(weight), ierr=ierr)
      call fails('par: an operator of nothing', ierr, TREEFOLD_EMPTY)
      call treefold_fold(maps, composed, x, ierr=ierr)
      call fails('a result of another length', ierr, TREEFOLD_LENGTH)
      call treefold_par_fold(maps, composed, x, ierr=ierr)
      call fails('par: a result of another length', ierr, TREEFOLD_LENGTH)
      call treefold_fold(maps, composed, map, empty=x, ierr=ierr)
      call fails('a value for nothing of another length', ierr, TREEFOLD_LENGTH)
      call treefold_par_fold(maps, composed, map, empty=x, ierr=ierr)
      call fails('par: a value for nothing of another length', ierr, TREEFOLD_LENGTH)
      call treefold_fold([1_int8, 2_int8, 3_int8], pairs, byte, ierr=ierr)
      call fails('items of a byte', ierr, TREEFOLD_ARGUMENT)
      call treefold_par_fold([1_int8, 2_int8, 3_int8], pairs, byte, ierr=ierr)
      call fails('par: items of a byte', ierr, TREEFOLD_ARGUMENT)
      call treefold_fold(reshape(x, [100, 10]), composed, x(:100), ierr=ierr)
      call fails('items of 800 bytes', ierr, TREEFOLD_ARGUMENT)
      call treefold_fold(c_loc(maps), -1_int64, 16_int64, composed, c_loc(map), ierr=ierr)
      call fails('a negative number', ierr, TREEFOLD_ARGUMENT)
      call treefold_par_fold(c_loc(maps), 1_int64, -16_int64, composed, c_loc(map), ierr=ierr)
      call fails('par: a negative number of bytes', ierr, TREEFOLD_ARGUMENT)
      call treefold_fold(c_null_ptr, 1_int64, 16_int64, composed, c_loc(map), ierr=ierr)
      call fails('items at a null address', ierr, TREEFOLD_NULL)
      call treefold_fold(c_loc(maps), 1_int64, 16_int64, composed, c_null_ptr, ierr=ierr)
      call fails('a result at a null address', ierr, TREEFOLD_NULL)
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

   subroutine errors()
      real(real64) :: x(4), total, absolute
      real(real64) :: nothing(0), no_columns(0, 4)
      integer :: ierr, command_status
      character(len=500) :: command

      x = [0.1_real64, 0.2_real64, 0.3_real64, 0.4_real64]
      total = treefold_sum(x, ierr)
      call fails('no error', ierr, TREEFOLD_OK)
      total = treefold_dot(x, x(:3), ierr)
      call fails('factors of two lengths', ierr, TREEFOLD_LENGTH)
      total = treefold_par_dot(x(:0), x, ierr)
      call fails('par: factors of two lengths', ierr, TREEFOLD_LENGTH)
      total = treefold_min(nothing, ierr)
      call fails('the least of nothing', ierr, TREEFOLD_EMPTY)
      total = treefold_par_max(nothing, ierr)
      call fails('par: the greatest of nothing', ierr, TREEFOLD_EMPTY)
      x = treefold_max_rows(reshape(nothing, [4, 0]), ierr)
      call fails('the greatest of no rows', ierr, TREEFOLD_EMPTY)
      x = treefold_par_min_rows(reshape(nothing, [4, 0]), ierr)
      call fails('par: the least of no rows', ierr, TREEFOLD_EMPTY)
      nothing = treefold_sum_rows(no_columns, ierr)
      call fails('rows of nothing', ierr, TREEFOLD_LENGTH)

      if (ieee_support_rounding(ieee_up)) then
         call ieee_set_rounding_mode(ieee_up)
         total = treefold_sum(x, ierr)
         call treefold_sum_and_absolute_sum(x, total, absolute, command_status)
         call ieee_set_rounding_mode(ieee_nearest)
         call fails('rounding upwards', ierr, TREEFOLD_ENVIRONMENT)
         call fails('rounding upwards, two results', command_status, TREEFOLD_ENVIRONMENT)
      end if

      call check('the name of a code', treefold_status_name(TREEFOLD_LENGTH) == 'TREEFOLD_LENGTH')
      call check('the name of another number', treefold_status_name(-5) == 'unknown')
      call check('no rank is to blame', treefold_error_rank() == -1)
      call check('version', treefold_version() / 100 == TREEFOLD_SOURCE_VERSION / 100)

      ! What is found in Fortran and what is found in C leave their texts in turn.
      call treefold_fold(reshape(x, [2, 2]), composed, x, ierr=ierr)
      call check('a text from Fortran', index(treefold_error_message(), 'result has 4 elements instead of 2') == 1)
      total = treefold_min(nothing, ierr)
      call check('a text from C', index(treefold_error_message(), 'result has') == 0)

      call get_command_argument(0, command)
      call execute_command_line(trim(command) // ' stop 2>/dev/null', exitstat=command_status)
      call check('an error without ierr ends the program', command_status /= 0)
   end subroutine errors

   subroutine end_by_an_error()
      real(real64) :: nothing(0)

      print *, treefold_min(nothing)
      ! Not reached: this would look like success.
      stop
   end subroutine end_by_an_error

   subroutine fails(what, ierr, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= TREEFOLD_OK) call check(what // ' says nothing', len(treefold_error_message()) > 0)
   end subroutine fails

   subroutine same(what, n, found, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: n
      integer(int64), intent(in) :: found(:, :), expected(:, :)
      integer :: column

      cases = cases + 1
      if (size(found) == size(expected)) then
         if (all(found == expected)) return
      end if
      faults = faults + 1
      write (error_unit, '(2a, i0, a)') what, ' of ', n, ' items: found, expected'
      do column = 1, min(size(found, 2), size(expected, 2))
         write (error_unit, '(2(2x, 2z17))') found(:, column), expected(:, column)
      end do
   end subroutine same

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      cases = cases + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a)') what
   end subroutine check
end program local
