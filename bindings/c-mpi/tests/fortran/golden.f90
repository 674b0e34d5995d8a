! Checks the cases of a text file, given as the first argument, against module treefold and against a plan over the ranks of
! MPI_COMM_WORLD. Ends with an error if any bits differ.
!
!     mpifort treefold_descriptor.c treefold.F90 treefold_mpi.F90 golden.f90 -ltreefold && mpirun -n 3 ./a.out cases.txt
!
! Cases are lines as xtask/lab/gate/src/c/golden.rs has them. Unsigned integers, which Fortran does not have, are reduced by ranks only.

include 'checks.inc'

program golden
   use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc, c_ptr
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, iostat_end, real32, real64
   use checks
   implicit none

   ! Names, in the order of the codes.
   character(len=3), parameter :: TYPES(12) = ['f32', 'f64', 'c32', 'c64', 'i8 ', 'i16', 'i32', 'i64', 'u8 ', 'u16', 'u32', 'u64']
   character(len=7), parameter :: OPERATORS(4) = ['sum    ', 'product', 'min    ', 'max    ']
   integer, parameter :: PART_BYTES(12) = [4, 8, 4, 8, 1, 2, 4, 8, 1, 2, 4, 8]
   integer(int64), parameter :: LOW_HALF = 4294967295_int64
   integer(int8), parameter :: BYTE(1) = [0_int8]
   integer :: checked, faults, number

   call begin_program()
   checked = 0
   faults = 0
   call check_file()
   call MPI_Allreduce(MPI_IN_PLACE, faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   if (faults == 0 .and. rank == 0) print '(i0, a, i0, a)', checked, ' golden cases checked locally and by ', ranks, ' ranks'
   call MPI_Finalize()
   if (faults > 0) error stop 'golden cases have other bits'

contains

   subroutine check_file()
      type(treefold_comm) :: comm
      character(len=1000) :: path
      character(len=20) :: type, operator, operation
      integer(int64), allocatable :: items(:, :), others(:, :), result(:, :)
      integer :: unit, status, width, n, k, m

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
         if (status /= 0 .or. width < 1 .or. all(TYPES /= type)) call broken()
         allocate (items(2, n), others(2, k), result(2, m))
         call read_words(unit, type, items)
         call read_words(unit, type, others)
         call read_words(unit, type, result)
         if (operation == 'p4016') then
            n = int(items(1, 1))
            deallocate (items)
            allocate (items(2, n))
            call make_p4016(items)
            operation = 'reduce'
         end if
         if (mod(n, width) /= 0 .or. operation == 'reduce' .and. m /= width) call broken()
         call check_case(comm, findloc(TYPES, type, 1), operator, operation, width, items, others, result)
         checked = checked + 1
         deallocate (items, others, result)
      end do
      close (unit)
   end subroutine check_file

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

   ! The sum modulo 2^64, by halves: Fortran does not define integer overflow.
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

   ! Checks a case on arrays made from the words, rows of items, others and room for the result, and on this rank's share of each.
   subroutine check_case(comm, type, operator, operation, width, items, others, expected)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, width
      character(len=*), intent(in) :: operator, operation
      integer(int64), intent(in) :: items(:, :), others(:, :), expected(:, :)
      integer(int8), allocatable, target :: memory(:)
      integer(int8), allocatable :: bytes(:)
      real(real32), pointer :: f32(:, :)
      real(real64), pointer :: f64(:, :)
      complex(real32), pointer :: c32(:, :)
      complex(real64), pointer :: c64(:, :)
      integer(int8), pointer :: i8(:, :)
      integer(int16), pointer :: i16(:, :)
      integer(int32), pointer :: i32(:, :)
      integer(int64), pointer :: i64(:, :)
      type(c_ptr) :: place
      integer :: n, k, m, a, b, at_z, shape(2)

      n = size(items, 2) / width
      k = size(others, 2)
      m = size(expected, 2) / width
      a = n * rank / ranks
      b = n * (rank + 1) / ranks
      at_z = n + k + 1
      allocate (bytes, source=bytes_of(type, expected))
      allocate (memory, source=[bytes_of(type, items), bytes_of(type, others), 0_int8 * bytes])
      place = c_loc(memory)
      shape = [width, n + k + m]
      select case (type)
      case (TREEFOLD_F32)
         call c_f_pointer(place, f32, shape)
         if (operator == 'sum' .and. operation == 'dot') f32(:, at_z) = treefold_dot(f32(:, :n), f32(:, n + 1:n + k))
         if (operation == 'squared_norm') f32(:, at_z) = treefold_squared_norm(f32(:, :n))
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, f32(:, :n), f32(:, a + 1:b), f32(:, n + 1:n + k), &
            f32(:, n + a + 1:n + min(b, k)), f32(:, at_z:), f32(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_F64)
         call c_f_pointer(place, f64, shape)
         if (operator == 'sum' .and. operation == 'dot') f64(:, at_z) = treefold_dot(f64(:, :n), f64(:, n + 1:n + k))
         if (operation == 'squared_norm') f64(:, at_z) = treefold_squared_norm(f64(:, :n))
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, f64(:, :n), f64(:, a + 1:b), f64(:, n + 1:n + k), &
            f64(:, n + a + 1:n + min(b, k)), f64(:, at_z:), f64(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_C32)
         call c_f_pointer(place, c32, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, c32(:, :n), c32(:, a + 1:b), c32(:, n + 1:n + k), &
            c32(:, n + a + 1:n + min(b, k)), c32(:, at_z:), c32(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_C64)
         call c_f_pointer(place, c64, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, c64(:, :n), c64(:, a + 1:b), c64(:, n + 1:n + k), &
            c64(:, n + a + 1:n + min(b, k)), c64(:, at_z:), c64(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_I8, TREEFOLD_U8)
         call c_f_pointer(place, i8, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, i8(:, :n), i8(:, a + 1:b), i8(:, n + 1:n + k), &
            i8(:, n + a + 1:n + min(b, k)), i8(:, at_z:), i8(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_I16, TREEFOLD_U16)
         call c_f_pointer(place, i16, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, i16(:, :n), i16(:, a + 1:b), i16(:, n + 1:n + k), &
            i16(:, n + a + 1:n + min(b, k)), i16(:, at_z:), i16(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_I32, TREEFOLD_U32)
         call c_f_pointer(place, i32, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, i32(:, :n), i32(:, a + 1:b), i32(:, n + 1:n + k), &
            i32(:, n + a + 1:n + min(b, k)), i32(:, at_z:), i32(:, at_z + a:at_z + min(b, m) - 1), a)
      case (TREEFOLD_I64, TREEFOLD_U64)
         call c_f_pointer(place, i64, shape)
         call check_arrays(comm, type, operator, operation, width, b - a, bytes, i64(:, :n), i64(:, a + 1:b), i64(:, n + 1:n + k), &
            i64(:, n + a + 1:n + min(b, k)), i64(:, at_z:), i64(:, at_z + a:at_z + min(b, m) - 1), a)
      end select
   end subroutine check_case

   subroutine check_arrays(comm, type, operator, operation, width, own, bytes, x, my_x, y, my_y, z, my_z, below)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, width, own, below
      character(len=*), intent(in) :: operator, operation
      integer(int8), intent(in) :: bytes(:)
      type(*), dimension(..), intent(in) :: x, my_x, y, my_y
      type(*), dimension(..), intent(inout) :: z, my_z
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      integer(int8), target :: nothing(size(bytes))
      integer :: statistic, each

      ! Exact statistics and folds in one process, then the same by a plan. Only plans have prefixes.
      if (operator == 'exact') then
         select case (operation)
         case ('sum'); statistic = TREEFOLD_STATISTIC_SUM
         case ('norm'); statistic = TREEFOLD_STATISTIC_NORM
         case ('dot'); statistic = TREEFOLD_STATISTIC_DOT
         case ('conjugate_dot'); statistic = TREEFOLD_STATISTIC_VDOT
         case default; call broken()
         end select
         if (statistic == TREEFOLD_STATISTIC_SUM .or. statistic == TREEFOLD_STATISTIC_NORM) call treefold_exact(statistic, x, z)
         if (statistic == TREEFOLD_STATISTIC_DOT .or. statistic == TREEFOLD_STATISTIC_VDOT) call treefold_exact(statistic, x, z, y)
         call treefold_builder_create_exact(comm, type, statistic, builder)
      else
         if (all(OPERATORS /= operator)) call broken()
         if (operation == 'reduce') call treefold_fold_rows(findloc(OPERATORS, operator, 1), x, z)
         call treefold_builder_create(comm, type, findloc(OPERATORS, operator, 1), builder)
         call treefold_builder_local_items(builder, own)
         call treefold_builder_width(builder, width)
      end if
      if (operation /= 'scan' .and. operation /= 'exscan' .and. type < TREEFOLD_U8) call compare('locally', z, bytes)

      nothing = 0
      call treefold_view_write(z, c_loc(nothing))
      call treefold_plan_build(builder, plan)
      each = size(bytes_in(my_z)) / max(1, own)
      select case (operation)
      case ('scan')
         call treefold_scan(plan, my_x, my_z)
         call compare('by ranks', my_z, bytes(below * each + 1:(below + own) * each))
      case ('exscan')
         call treefold_exscan(plan, my_x, my_z)
         call compare('by ranks', my_z, bytes(below * each + 1:(below + own) * each))
      case ('dot', 'conjugate_dot')
         call treefold_run_dot(plan, TREEFOLD_CALL_ALLREDUCE, my_x, my_y, z)
         call compare('by ranks', z, bytes)
      case ('squared_norm')
         call treefold_run_dot(plan, TREEFOLD_CALL_ALLREDUCE, my_x, my_x, z)
         call compare('by ranks', z, bytes)
      case default
         call treefold_allreduce(plan, my_x, z)
         call compare('by ranks', z, bytes)
      end select
   end subroutine check_arrays

   subroutine compare(how, found, expected)
      character(len=*), intent(in) :: how
      type(*), dimension(..), intent(in) :: found
      integer(int8), intent(in) :: expected(:)

      if (size(bytes_in(found)) == size(expected)) then
         if (all(bytes_in(found) == expected)) return
      end if
      faults = faults + 1
      write (error_unit, '(a, i0, a, i0, 3a)') 'rank ', rank, ': golden case ', number, ' has other bits ', how, ': found, expected'
      write (error_unit, '(2x, *(z2.2))') bytes_in(found)
      write (error_unit, '(2x, *(z2.2))') expected
   end subroutine compare

   ! Each word is one part of a complex number, or a number.
   function bytes_of(type, words) result(bytes)
      integer, intent(in) :: type
      integer(int64), intent(in) :: words(:, :)
      integer(int8), allocatable :: bytes(:)
      integer(int64), allocatable :: parts(:)

      parts = pack(words(:merge(2, 1, TYPES(type)(1:1) == 'c'), :), .true.)
      select case (PART_BYTES(type))
      case (1); bytes = int(parts, int8)
      case (2); bytes = transfer(int(parts, int16), BYTE)
      case (4); bytes = transfer(int(parts, int32), BYTE)
      case default; bytes = transfer(parts, BYTE)
      end select
   end function bytes_of

   ! One line for each element: one word, or two for a complex number. Every word is sign-extended to 64 bits.
   subroutine read_words(unit, type, words)
      integer, intent(in) :: unit
      character(len=*), intent(in) :: type
      integer(int64), intent(out) :: words(:, :)
      character(len=100) :: line
      integer :: element, blank, status

      words = 0
      do element = 1, size(words, 2)
         read (unit, '(a)', iostat=status) line
         if (status /= 0) call broken()
         line = adjustl(line)
         blank = index(line, ' ')
         words(1, element) = word_of(line(:blank))
         if (type(1:1) == 'c') words(2, element) = word_of(line(blank + 1:))
      end do
   end subroutine read_words

   ! Converts a number of 2, 4, 8 or 16 hexadecimal digits.
   function word_of(text) result(word)
      character(len=*), intent(in) :: text
      integer(int64) :: word
      character(len=len(text)) :: digits
      integer :: i, bits, digit

      digits = adjustl(text)
      bits = 4 * len_trim(digits)
      if (bits == 0 .or. bits > 64) call broken()
      word = 0
      do i = 1, len_trim(digits)
         digit = index('0123456789ABCDEF0123456789abcdef', digits(i:i)) - 1
         if (digit < 0) call broken()
         word = ior(shiftl(word, 4), int(mod(digit, 16), int64))
      end do
      word = shifta(shiftl(word, 64 - bits), 64 - bits)
   end function word_of

   subroutine broken()
      write (error_unit, '(a, i0, a)') 'golden: case ', number, ' of the file cannot be read'
      error stop
   end subroutine broken
end program golden
