! Checks the cases of a text file, given as the first argument, against module treefold and against a plan over the ranks of
! MPI_COMM_WORLD. Ends with an error if any bits differ.
!
!     mpifort treefold.F90 treefold_mpi.F90 golden.f90 -ltreefold && mpirun -n 3 ./a.out cases.txt
!
! Cases are lines as xtask/lab/gate/src/c/golden.rs has them. The type is one of f32, f64, c32, c64, i8, i16, i32 and i64; cases of other
! types, as of unsigned integers, which Fortran does not have, are counted only.
program golden
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, iostat_end, real32, real64
   use mpi_f08
   use treefold_mpi
   implicit none

   integer(int64), parameter :: LOW_HALF = 4294967295_int64
   integer :: rank, ranks, checked, skipped, faults

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   checked = 0
   skipped = 0
   faults = 0
   call check_file()
   call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (faults == 0 .and. rank == 0) print '(i0, a, i0, a, i0, a)', checked, ' golden cases checked locally and by ', ranks, &
      ' ranks, ', skipped, ' skipped'
   call MPI_Finalize()
   if (faults > 0) error stop 'golden cases have other bits'

contains

   subroutine check_file()
      type(treefold_comm) :: comm
      character(len=1000) :: path
      character(len=20) :: type, operator, operation
      integer(int64), allocatable :: items(:, :), others(:, :), result(:, :)
      integer :: unit, status, width, n, k, m, number

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call get_command_argument(1, path)
      if (path == '') error stop 'golden: the name of a file is missing'
      open (newunit=unit, file=trim(path), action='read', status='old', iostat=status)
      if (status /= 0) error stop 'golden: the file cannot be read'

      number = 0
      do
         read (unit, *, iostat=status) type, operator, operation, width, n, k, m
         if (status == iostat_end) exit
         number = number + 1
         if (status /= 0) call broken(number)
         allocate (items(2, n), others(2, k), result(2, m))
         call read_words(unit, type, number, items)
         call read_words(unit, type, number, others)
         call read_words(unit, type, number, result)
         if (width < 1) call broken(number)
         checked = checked + 1
         select case (operation)
         case ('p4016')
            n = int(items(1, 1))
            deallocate (items)
            allocate (items(2, n))
            call make_p4016(items)
            call check_f64(comm, number, operator, width, items, result)
         case ('reduce')
            if (m /= width .or. mod(n, width) /= 0) call broken(number)
            call check_reduction(comm, number, type, operator, width, items, result)
         case ('scan', 'exscan')
            if (m /= n .or. operator /= 'sum' .and. operator /= 'product' .and. operator /= 'max') call broken(number)
            call check_prefixes(comm, number, type, operator, operation, items, result)
         case default
            if (m /= 1) call broken(number)
            call check_figure(comm, number, type, operator, operation, items, others, result)
         end select
         deallocate (items, others, result)
      end do
      close (unit)
   end subroutine check_file

   ! A type that there is no program for.
   subroutine skip()
      checked = checked - 1
      skipped = skipped + 1
   end subroutine skip

   ! The items of ISO C++ paper P4016.
   subroutine make_p4016(items)
      integer(int64), intent(out) :: items(:, :)
      integer(int64) :: state
      integer :: i

      items = 0
      state = int(z'243F6A8885A308D3', int64)
      do i = 1, size(items, 2)
         state = sum_of(product_of(state, 6364136223846793005_int64), 1442695040888963407_int64)
         items(1, i) = transfer(real(shiftr(state, 11) - 2_int64**52, real64) / 2.0_real64**52, 0_int64)
      end do
   end subroutine make_p4016

   ! The sum modulo 2^64, by halves: Fortran does not say what an overflow is.
   pure function sum_of(a, b) result(total)
      integer(int64), intent(in) :: a, b
      integer(int64) :: total, low, high

      low = iand(a, LOW_HALF) + iand(b, LOW_HALF)
      high = shiftr(a, 32) + shiftr(b, 32) + shiftr(low, 32)
      total = ior(shiftl(high, 32), iand(low, LOW_HALF))
   end function sum_of

   ! The product modulo 2^64, by quarters.
   pure function product_of(a, b) result(total)
      integer(int64), intent(in) :: a, b
      integer(int64) :: total
      integer :: i, j

      total = 0
      do i = 0, 3
         do j = 0, 3 - i
            total = sum_of(total, shiftl(iand(shiftr(a, 16 * i), 65535_int64) * iand(shiftr(b, 16 * j), 65535_int64), 16 * (i + j)))
         end do
      end do
   end function product_of

   subroutine check_reduction(comm, number, type, operator, width, items, result)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: type, operator
      integer(int64), intent(in) :: items(:, :), result(:, :)

      select case (type)
      case ('f32')
         call check_f32(comm, number, operator, width, items, result)
      case ('f64')
         call check_f64(comm, number, operator, width, items, result)
      case ('c32')
         call check_c32(comm, number, operator, width, items, result)
      case ('c64')
         call check_c64(comm, number, operator, width, items, result)
      case ('i8')
         call check_i8(comm, number, operator, width, items, result)
      case ('i16')
         call check_i16(comm, number, operator, width, items, result)
      case ('i32')
         call check_i32(comm, number, operator, width, items, result)
      case ('i64')
         call check_i64(comm, number, operator, width, items, result)
      case default
         call skip()
      end select
   end subroutine check_reduction

   ! Prefixes, which plans have alone.
   subroutine check_prefixes(comm, number, type, operator, operation, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: type, operator, operation
      integer(int64), intent(in) :: items(:, :), expected(:, :)

      select case (type)
      case ('f32')
         call prefixes_f32(comm, number, operator, operation, items, expected)
      case ('f64')
         call prefixes_f64(comm, number, operator, operation, items, expected)
      case ('c64')
         call prefixes_c64(comm, number, operator, operation, items, expected)
      case ('i32')
         call prefixes_i32(comm, number, operator, operation, items, expected)
      case default
         call skip()
      end select
   end subroutine check_prefixes

   ! Dot products and squared norms in the order of the tree, and all exact sums.
   subroutine check_figure(comm, number, type, operator, operation, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: type, operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)

      select case (type)
      case ('f32')
         call figure_f32(comm, number, operator, operation, items, others, expected)
      case ('f64')
         call figure_f64(comm, number, operator, operation, items, others, expected)
      case ('c32')
         call figure_c32(comm, number, operator, operation, items, others, expected)
      case ('c64')
         call figure_c64(comm, number, operator, operation, items, others, expected)
      case default
         call broken(number)
      end select
   end subroutine check_figure

   ! The plan of an exact case, and which items this rank has: first + 1 to last.
   subroutine build_exact(comm, type, operation, items, plan, first, last)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, items
      character(len=*), intent(in) :: operation
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out) :: first, last
      type(treefold_builder) :: builder
      integer :: figure

      select case (operation)
      case ('sum')
         figure = TREEFOLD_FIGURE_SUM
      case ('norm')
         figure = TREEFOLD_FIGURE_NORM
      case ('dot')
         figure = TREEFOLD_FIGURE_DOT
      case default
         figure = TREEFOLD_FIGURE_VDOT
      end select
      first = items * rank / ranks
      last = items * (rank + 1) / ranks
      call treefold_builder_create_exact(comm, type, figure, builder)
      call treefold_plan_build(builder, plan)
   end subroutine build_exact

   ! One line for each element: one word, or two for a complex number. Every word is extended by its sign to 64 bits.
   subroutine read_words(unit, type, number, words)
      integer, intent(in) :: unit, number
      character(len=*), intent(in) :: type
      integer(int64), intent(out) :: words(:, :)
      character(len=100) :: line
      integer :: element, blank, status

      words = 0
      do element = 1, size(words, 2)
         read (unit, '(a)', iostat=status) line
         if (status /= 0) call broken(number)
         line = adjustl(line)
         blank = index(line, ' ')
         words(1, element) = word_of(line(:blank), number)
         if (type(1:1) == 'c') words(2, element) = word_of(line(blank + 1:), number)
      end do
   end subroutine read_words

   ! The number of 2, 4, 8 or 16 digits.
   function word_of(text, number) result(word)
      character(len=*), intent(in) :: text
      integer, intent(in) :: number
      integer(int64) :: word
      character(len=len(text)) :: digits
      integer :: i, bits, digit

      digits = adjustl(text)
      bits = 4 * len_trim(digits)
      if (bits == 0 .or. bits > 64) call broken(number)
      word = 0
      do i = 1, len_trim(digits)
         digit = index('0123456789ABCDEF0123456789abcdef', digits(i:i)) - 1
         if (digit < 0) call broken(number)
         word = ior(shiftl(word, 4), int(mod(digit, 16), int64))
      end do
      word = shifta(shiftl(word, 64 - bits), 64 - bits)
   end function word_of

   subroutine broken(number)
      integer, intent(in) :: number

      write (error_unit, '(a, i0, a)') 'golden: case ', number, ' of the file cannot be read'
      error stop
   end subroutine broken

   ! The plan of a case, and which rows of it this rank has: first + 1 to last.
   subroutine build(comm, type, operator, width, items, plan, first, last)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, width, items
      character(len=*), intent(in) :: operator
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out) :: first, last
      type(treefold_builder) :: builder
      integer :: op

      select case (operator)
      case ('sum')
         op = TREEFOLD_OP_SUM
      case ('product')
         op = TREEFOLD_OP_PRODUCT
      case ('min')
         op = TREEFOLD_OP_MIN
      case default
         op = TREEFOLD_OP_MAX
      end select
      first = items * rank / ranks
      last = items * (rank + 1) / ranks
      call treefold_builder_create(comm, type, op, builder)
      call treefold_builder_local_items(builder, last - first)
      call treefold_builder_width(builder, width)
      call treefold_plan_build(builder, plan)
   end subroutine build

   subroutine check_f32(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real32) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(transfer(int(items(1, :), int32), [0.0_real32]), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_f32(result), expected)

      call build(comm, TREEFOLD_F32, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_f32(result), expected)
   end subroutine check_f32

   function words_of_f32(row) result(words)
      real(real32), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = transfer(row, [0_int32])
   end function words_of_f32

   subroutine check_f64(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real64) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(transfer(items(1, :), [0.0_real64]), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_f64(result), expected)

      call build(comm, TREEFOLD_F64, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_f64(result), expected)
   end subroutine check_f64

   function words_of_f64(row) result(words)
      real(real64), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = transfer(row, [0_int64])
   end function words_of_f64

   subroutine check_c32(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      complex(real32) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(transfer(int(reshape(items, [size(items)]), int32), [(0.0_real32, 0.0_real32)]), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_c32(result), expected)

      call build(comm, TREEFOLD_C32, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_c32(result), expected)
   end subroutine check_c32

   function words_of_c32(row) result(words)
      complex(real32), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = transfer(real(row, real32), [0_int32])
      words(2, :) = transfer(aimag(row), [0_int32])
   end function words_of_c32

   subroutine check_c64(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      complex(real64) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(transfer(reshape(items, [size(items)]), [(0.0_real64, 0.0_real64)]), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_c64(result), expected)

      call build(comm, TREEFOLD_C64, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_c64(result), expected)
   end subroutine check_c64

   function words_of_c64(row) result(words)
      complex(real64), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = transfer(real(row, real64), [0_int64])
      words(2, :) = transfer(aimag(row), [0_int64])
   end function words_of_c64

   subroutine check_i8(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      integer(int8) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(int(items(1, :), int8), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_i8(result), expected)

      call build(comm, TREEFOLD_I8, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_i8(result), expected)
   end subroutine check_i8

   function words_of_i8(row) result(words)
      integer(int8), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = row
   end function words_of_i8

   subroutine check_i16(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      integer(int16) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(int(items(1, :), int16), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_i16(result), expected)

      call build(comm, TREEFOLD_I16, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_i16(result), expected)
   end subroutine check_i16

   function words_of_i16(row) result(words)
      integer(int16), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = row
   end function words_of_i16

   subroutine check_i32(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      integer(int32) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(int(items(1, :), int32), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_i32(result), expected)

      call build(comm, TREEFOLD_I32, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_i32(result), expected)
   end subroutine check_i32

   function words_of_i32(row) result(words)
      integer(int32), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = row
   end function words_of_i32

   subroutine check_i64(comm, number, operator, width, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number, width
      character(len=*), intent(in) :: operator
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      integer(int64) :: rows(width, size(items, 2) / width), result(width)
      integer :: first, last

      rows = reshape(int(items(1, :), int64), shape(rows))
      select case (operator)
      case ('sum')
         result = treefold_sum_rows(rows)
      case ('product')
         result = treefold_product_rows(rows)
      case ('min')
         result = treefold_min_rows(rows)
      case ('max')
         result = treefold_max_rows(rows)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_i64(result), expected)

      call build(comm, TREEFOLD_I64, operator, width, size(rows, 2), plan, first, last)
      result = 0
      call treefold_allreduce(plan, rows(:, first + 1:last), result)
      call compare(number, 'by ranks', words_of_i64(result), expected)
   end subroutine check_i64

   function words_of_i64(row) result(words)
      integer(int64), intent(in) :: row(:)
      integer(int64) :: words(2, size(row))

      words = 0
      words(1, :) = row
   end function words_of_i64

   subroutine prefixes_f32(comm, number, operator, operation, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real32) :: x(size(items, 2)), prefixes(size(items, 2))
      integer :: first, last

      x = transfer(int(items(1, :), int32), [0.0_real32])
      call build(comm, TREEFOLD_F32, operator, 1, size(x), plan, first, last)
      if (operation == 'scan') then
         call treefold_scan(plan, x(first + 1:last), prefixes(first + 1:last))
      else
         call treefold_exscan(plan, x(first + 1:last), prefixes(first + 1:last))
      end if
      call compare(number, 'by ranks', words_of_f32(prefixes(first + 1:last)), expected(:, first + 1:last))
   end subroutine prefixes_f32

   subroutine prefixes_f64(comm, number, operator, operation, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real64) :: x(size(items, 2)), prefixes(size(items, 2))
      integer :: first, last

      x = transfer(items(1, :), [0.0_real64])
      call build(comm, TREEFOLD_F64, operator, 1, size(x), plan, first, last)
      if (operation == 'scan') then
         call treefold_scan(plan, x(first + 1:last), prefixes(first + 1:last))
      else
         call treefold_exscan(plan, x(first + 1:last), prefixes(first + 1:last))
      end if
      call compare(number, 'by ranks', words_of_f64(prefixes(first + 1:last)), expected(:, first + 1:last))
   end subroutine prefixes_f64

   subroutine prefixes_c64(comm, number, operator, operation, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      complex(real64) :: x(size(items, 2)), prefixes(size(items, 2))
      integer :: first, last

      x = transfer(reshape(items, [size(items)]), [(0.0_real64, 0.0_real64)])
      call build(comm, TREEFOLD_C64, operator, 1, size(x), plan, first, last)
      if (operation == 'scan') then
         call treefold_scan(plan, x(first + 1:last), prefixes(first + 1:last))
      else
         call treefold_exscan(plan, x(first + 1:last), prefixes(first + 1:last))
      end if
      call compare(number, 'by ranks', words_of_c64(prefixes(first + 1:last)), expected(:, first + 1:last))
   end subroutine prefixes_c64

   subroutine prefixes_i32(comm, number, operator, operation, items, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), expected(:, :)
      type(treefold_plan) :: plan
      integer(int32) :: x(size(items, 2)), prefixes(size(items, 2))
      integer :: first, last

      x = int(items(1, :), int32)
      call build(comm, TREEFOLD_I32, operator, 1, size(x), plan, first, last)
      if (operation == 'scan') then
         call treefold_scan(plan, x(first + 1:last), prefixes(first + 1:last))
      else
         call treefold_exscan(plan, x(first + 1:last), prefixes(first + 1:last))
      end if
      call compare(number, 'by ranks', words_of_i32(prefixes(first + 1:last)), expected(:, first + 1:last))
   end subroutine prefixes_i32

   subroutine figure_f32(comm, number, operator, operation, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real32) :: x(size(items, 2)), y(size(others, 2)), result
      integer :: first, last

      x = transfer(int(items(1, :), int32), [0.0_real32])
      y = transfer(int(others(1, :), int32), [0.0_real32])
      select case (trim(operator)//' '//operation)
      case ('exact sum')
         result = treefold_exact_sum(x)
      case ('exact norm')
         result = treefold_exact_norm(x)
      case ('exact dot')
         result = treefold_exact_dot(x, y)
      case ('sum dot')
         result = treefold_dot(x, y)
      case ('sum squared_norm')
         result = treefold_squared_norm(x)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_f32([result]), expected)
      if (operator /= 'exact') return

      call build_exact(comm, TREEFOLD_F32, operation, size(x), plan, first, last)
      result = 0
      if (operation == 'sum' .or. operation == 'norm') then
         call treefold_allreduce(plan, x(first + 1:last), result)
      else
         call treefold_allreduce_dot(plan, x(first + 1:last), y(first + 1:last), result)
      end if
      call compare(number, 'by ranks', words_of_f32([result]), expected)
   end subroutine figure_f32

   subroutine figure_f64(comm, number, operator, operation, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)
      type(treefold_plan) :: plan
      real(real64) :: x(size(items, 2)), y(size(others, 2)), result
      integer :: first, last

      x = transfer(items(1, :), [0.0_real64])
      y = transfer(others(1, :), [0.0_real64])
      select case (trim(operator)//' '//operation)
      case ('exact sum')
         result = treefold_exact_sum(x)
      case ('exact norm')
         result = treefold_exact_norm(x)
      case ('exact dot')
         result = treefold_exact_dot(x, y)
      case ('sum dot')
         result = treefold_dot(x, y)
      case ('sum squared_norm')
         result = treefold_squared_norm(x)
      case default
         call broken(number)
      end select
      call compare(number, 'locally', words_of_f64([result]), expected)
      if (operator /= 'exact') return

      call build_exact(comm, TREEFOLD_F64, operation, size(x), plan, first, last)
      result = 0
      if (operation == 'sum' .or. operation == 'norm') then
         call treefold_allreduce(plan, x(first + 1:last), result)
      else
         call treefold_allreduce_dot(plan, x(first + 1:last), y(first + 1:last), result)
      end if
      call compare(number, 'by ranks', words_of_f64([result]), expected)
   end subroutine figure_f64

   subroutine figure_c32(comm, number, operator, operation, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)
      type(treefold_plan) :: plan
      complex(real32) :: x(size(items, 2)), y(size(others, 2)), result
      integer :: first, last

      x = transfer(int(reshape(items, [size(items)]), int32), [(0.0_real32, 0.0_real32)])
      y = transfer(int(reshape(others, [size(others)]), int32), [(0.0_real32, 0.0_real32)])
      if (operator /= 'exact') call broken(number)
      call build_exact(comm, TREEFOLD_C32, operation, size(x), plan, first, last)
      result = 0
      if (operation == 'sum' .or. operation == 'norm') then
         call treefold_allreduce(plan, x(first + 1:last), result)
      else
         call treefold_allreduce_dot(plan, x(first + 1:last), y(first + 1:last), result)
      end if
      call compare(number, 'by ranks', words_of_c32([result]), expected)
   end subroutine figure_c32

   subroutine figure_c64(comm, number, operator, operation, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: number
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)
      type(treefold_plan) :: plan
      complex(real64) :: x(size(items, 2)), y(size(others, 2)), result
      integer :: first, last

      x = transfer(reshape(items, [size(items)]), [(0.0_real64, 0.0_real64)])
      y = transfer(reshape(others, [size(others)]), [(0.0_real64, 0.0_real64)])
      if (operator /= 'exact') call broken(number)
      call build_exact(comm, TREEFOLD_C64, operation, size(x), plan, first, last)
      result = 0
      if (operation == 'sum' .or. operation == 'norm') then
         call treefold_allreduce(plan, x(first + 1:last), result)
      else
         call treefold_allreduce_dot(plan, x(first + 1:last), y(first + 1:last), result)
      end if
      call compare(number, 'by ranks', words_of_c64([result]), expected)
   end subroutine figure_c64

   subroutine compare(number, how, found, expected)
      integer, intent(in) :: number
      character(len=*), intent(in) :: how
      integer(int64), intent(in) :: found(:, :), expected(:, :)
      integer :: element

      if (all(found == expected)) return
      faults = faults + 1
      write (error_unit, '(a, i0, a, i0, 3a)') 'rank ', rank, ': golden case ', number, ' has other bits ', how, ': found, expected'
      do element = 1, size(found, 2)
         write (error_unit, '(2(2x, 2z17.16))') found(:, element), expected(:, element)
      end do
   end subroutine compare
end program golden
