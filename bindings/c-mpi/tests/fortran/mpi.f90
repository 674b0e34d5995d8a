! Calls the procedures of module treefold_mpi on any number of ranks, with valid and with invalid arguments. Compares the results
! with those of integer arithmetic, and with sums in tree order that this program computes itself.
!
!     mpifort treefold_descriptor.c treefold.F90 treefold_mpi.F90 mpi.f90 -ltreefold && mpirun -n 3 ./a.out

include 'checks.inc'

! The operators are in a module because, for the address of an internal procedure, compilers put code on the stack.
module operators_of_test
   use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_ptr
   use, intrinsic :: iso_fortran_env, only: real64
   implicit none
   public

contains

   ! Composes maps y -> a y + b; the left map is applied first.
   function composed(context, left, right, out) bind(c) result(status)
      type(c_ptr), value :: context, left, right, out
      integer(c_int) :: status
      real(real64), pointer :: first(:), second(:), both(:)

      call c_f_pointer(left, first, [2])
      call c_f_pointer(right, second, [2])
      call c_f_pointer(out, both, [2])
      both = [second(1) * first(1), second(1) * first(2) + second(2)]
      status = merge(9, 0, c_associated(context))
   end function composed

   function failing(context, left, right, out) bind(c) result(status)
      type(c_ptr), value :: context, left, right, out
      integer(c_int) :: status

      status = merge(9, 7, c_associated(context) .or. c_associated(left, right) .or. c_associated(left, out))
   end function failing

   ! A callback that ends every long wait and counts its own calls.
   function ending(context) bind(c) result(is)
      type(c_ptr), value :: context
      integer(c_int) :: is
      integer(c_int), pointer :: asked

      call c_f_pointer(context, asked)
      asked = asked + 1
      is = 1
   end function ending
end module operators_of_test

program mpi_walk
   use, intrinsic :: iso_c_binding, only: c_f_pointer, c_int, c_int32_t, c_loc, c_null_ptr, c_ptr
   use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
   use checks
   use operators_of_test
   implicit none

   ! These C functions check that finalisers have destroyed the handles.
   interface
      integer(c_int32_t) function c_comm_destroy(handle) bind(c, name='treefold_comm_destroy')
         import; type(c_ptr), intent(inout) :: handle
      end function
      integer(c_int32_t) function c_builder_destroy(handle) bind(c, name='treefold_builder_destroy')
         import; type(c_ptr), intent(inout) :: handle
      end function
      integer(c_int32_t) function c_plan_destroy(handle) bind(c, name='treefold_plan_destroy')
         import; type(c_ptr), intent(inout) :: handle
      end function
      integer(c_int32_t) function c_cancel(handle) bind(c, name='treefold_cancel')
         import; type(c_ptr), intent(inout) :: handle
      end function
   end interface

   ! A derived type with plans as components.
   type :: solver
      type(treefold_plan) :: plan
      type(treefold_plan), allocatable :: others(:)
      integer :: steps = 0
   end type solver

   integer, parameter :: WIDTH = 3, N = 50, BLOCK = 4
   integer :: first, last
   real(real64) :: x(N)

   call begin_program()
   ! This rank has items first + 1 to last. Higher ranks have more items.
   first = N * rank * (rank + 1) / (ranks * (ranks + 1))
   last = N * (rank + 1) * (rank + 2) / (ranks * (ranks + 1))
   call walk()
   call end_program('module treefold_mpi')

contains

   subroutine walk()
      type(treefold_comm) :: comm
      integer :: i

      x = [(1.0_real64 / i, i = 1, N)]
      call communicators(comm)
      call builders(comm)
      call plans(comm)
      call all_types(comm)
      call arrays(comm)
      call operators(comm)
      call split_phase(comm)
      call interruptions()
      call local_errors(comm)
      call errors_of_ranks(comm)
      call handles_end(comm)
   end subroutine walk

   ! Sums x in tree order (docs/order.md, section 1). The left child of a node has the greatest power of two below the node's size.
   recursive function tree(x) result(total)
      real(real64), intent(in) :: x(:)
      real(real64) :: total
      integer :: half

      total = 0
      if (size(x) > 0) total = x(1)
      if (size(x) < 2) return
      half = 1
      do while (2 * half < size(x))
         half = 2 * half
      end do
      total = tree(x(:half)) + tree(x(half + 1:))
   end function tree

   ! ---- Communicators ---------------------------------------------------------------------------------------------------------

   subroutine communicators(comm)
      type(treefold_comm), intent(inout) :: comm
      type(treefold_comm) :: other
      type(MPI_Comm) :: half
      character(len=:), allocatable :: text
      integer :: found, ierr

      call treefold_mpi_library(text)
      call check('the library: ' // text, len(text) > 10)
      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call treefold_comm_rank(comm, found)
      call check('rank', found == rank)
      call treefold_comm_size(comm, found)
      call check('size', found == ranks)
      call treefold_comm_silence_limit(comm, 60.0_real64)
      call treefold_comm_measure_link(comm)

      ! Duplicates a communicator that is given as an integer. The next duplicate replaces it, which destroys the old handle.
      call treefold_comm_duplicate(MPI_COMM_WORLD%MPI_VAL, other)
      call treefold_comm_size(other, found)
      call check('size by an integer', found == ranks)
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half)
      call treefold_comm_duplicate(half, other)
      call MPI_Comm_free(half)
      call treefold_comm_rank(other, found)
      call check('rank in a half', found == rank / 2)

      call treefold_comm_destroy(other)
      call treefold_comm_destroy(other, ierr); call fails('a second destroy', ierr, TREEFOLD_OK)
      call treefold_comm_rank(other, found, ierr); call fails('the rank after destroy', ierr, TREEFOLD_NULL)
      call treefold_comm_size(other, found, ierr); call fails('the size after destroy', ierr, TREEFOLD_NULL)
      call treefold_comm_silence_limit(other, 1.0_real64, ierr); call fails('a limit after destroy', ierr, TREEFOLD_NULL)
      call treefold_comm_silence_limit(comm, -1.0_real64, ierr); call fails('a negative limit', ierr, TREEFOLD_ARGUMENT)
      call treefold_comm_measure_link(other, ierr); call fails('measure_link after destroy', ierr, TREEFOLD_NULL)
      call treefold_comm_interruption(other, ierr=ierr); call fails('interruption after destroy', ierr, TREEFOLD_NULL)
      call treefold_comm_duplicate(MPI_COMM_NULL, other, ierr); call fails('no communicator', ierr, TREEFOLD_ARGUMENT)

      call treefold_comm_duplicate(MPI_COMM_WORLD, other)
      call treefold_comm_free(other)
      call treefold_comm_rank(other, found, ierr); call fails('the rank after free', ierr, TREEFOLD_NULL)
      call treefold_comm_free(other, ierr); call fails('a second free', ierr, TREEFOLD_OK)
   end subroutine communicators

   ! ---- Builders --------------------------------------------------------------------------------------------------------------

   ! Checks every setting that determines which items a rank has.
   subroutine builders(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      integer(int64), allocatable :: ranges(:, :)
      real(real64), allocatable :: mine(:)
      real(real64) :: total
      integer :: i, ierr, begin, end

      call new(comm, builder)
      call treefold_builder_set(builder, local_items=last - first, items=N)
      call total_by('local_items', builder, x(first + 1:last))
      call treefold_builder_set(builder, local_items=int(last - first, int64), items=int(N, int64), width=1_int64)
      call total_by('local_items of 64 bits', builder, x(first + 1:last))

      ! This rank has each item whose number, modulo the number of ranks, is its own rank. The items descend.
      allocate (ranges(2, 0), mine(0))
      do i = N - 1, 0, -1
         if (mod(i, ranks) /= rank) cycle
         ranges = reshape([ranges, int([i, i + 1], int64)], [2, size(ranges, 2) + 1])
         mine = [mine, x(i + 1)]
      end do
      call new(comm, builder)
      call treefold_builder_set(builder, extents=ranges)
      call total_by('extents', builder, mine)
      ! All items are on the last rank.
      call new(comm, builder)
      call treefold_builder_set(builder, extents=reshape([0_int64, int(N, int64)], [2, merge(1, 0, rank == ranks - 1)]))
      call total_by('extents of one rank', builder, x(:merge(N, 0, rank == ranks - 1)))

      begin = (N / ranks) * rank + min(rank, mod(N, ranks))
      end = (N / ranks) * (rank + 1) + min(rank + 1, mod(N, ranks))
      call new(comm, builder)
      call treefold_builder_set(builder, even=N)
      call total_by('even', builder, x(begin + 1:end))
      call new(comm, builder)
      call treefold_builder_set(builder, even=int(N, int64), agreed=.true.)
      call total_by('even, agreed', builder, x(begin + 1:end))

      call new(comm, builder)
      call treefold_builder_set(builder, block_cyclic=[N, BLOCK])
      call total_by('block_cyclic', builder, [(x(i + 1:min(i + BLOCK, N)), i = BLOCK * rank, N - 1, BLOCK * ranks)])

      ! Three lanes. The sums of the lanes are added in tree order.
      call new(comm, builder)
      call treefold_builder_set(builder, lanes=3, local_items=merge(N, 0, rank == 0))
      call total_by('lanes', builder, x(:merge(N, 0, rank == 0)), tree([tree(x(1::3)), tree(x(2::3)), tree(x(3::3))]))

      call wrong_settings(comm)
      call new(comm, builder)
      call treefold_plan_build(builder, plan, ierr); call fails('no items', ierr, TREEFOLD_ARGUMENT)
      call treefold_allreduce(plan, x, total, ierr); call fails('a plan that was not built', ierr, TREEFOLD_NULL)

      call treefold_builder_destroy(builder)
      call treefold_builder_destroy(builder, ierr); call fails('a second destroy of a builder', ierr, TREEFOLD_OK)
      call treefold_builder_set(builder, root=0, ierr=ierr); call fails('a root after destroy', ierr, TREEFOLD_NULL)
      call treefold_builder_set(builder, agreed=.true., ierr=ierr); call fails('agreed after destroy', ierr, TREEFOLD_NULL)
   end subroutine builders

   ! Checks that treefold_builder_set itself returns the error if a setting is invalid.
   subroutine wrong_settings(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      integer :: i, ierr

      call new(comm, builder)
      call treefold_builder_set(builder, local_items=-1, ierr=ierr); call fails('negative local_items', ierr, TREEFOLD_ARGUMENT)
      call says('`local_items` must be an integer of 32 or 64 bits that is at least 0: it is -1')
      call check('its rank', treefold_error_rank() == -1)
      call treefold_builder_set(builder, local_items=1.0, ierr=ierr); call fails('a real number of items', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, even=-1_int64, ierr=ierr); call fails('negative even', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, items=-1, ierr=ierr); call fails('negative items', ierr, TREEFOLD_ARGUMENT)
      do i = -1, 0
         call treefold_builder_set(builder, block_cyclic=[9, i], ierr=ierr); call fails('empty blocks', ierr, TREEFOLD_ARGUMENT)
         call treefold_builder_set(builder, width=i, ierr=ierr); call fails('no width', ierr, TREEFOLD_ARGUMENT)
         call treefold_builder_set(builder, lanes=i, ierr=ierr); call fails('no lanes', ierr, TREEFOLD_ARGUMENT)
      end do
      call treefold_builder_set(builder, blocks=-1, ierr=ierr); call fails('negative blocks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, blocks=0_int64, ierr=ierr); call fails('no blocks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, ports=0, ierr=ierr); call fails('no ports', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, node_ranks=0, ierr=ierr); call fails('no ranks per node', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, message_limit=0, ierr=ierr); call fails('no messages', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, width=2, root=-1, lanes=0, ierr=ierr)
      call fails('the third of three settings', ierr, TREEFOLD_ARGUMENT)
      call says('`lanes`')
      call treefold_builder_set(builder, extents=reshape([-1_int64, 3_int64], [2, 1]), ierr=ierr)
      call fails('a negative range', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_set(builder, extents=reshape([0_int64, 1_int64, 2_int64], [3, 1]), ierr=ierr)
      call fails('ranges of three numbers', ierr, TREEFOLD_LENGTH)
      call treefold_builder_set(builder, algorithm='none', ierr=ierr); call fails('an unknown algorithm', ierr, TREEFOLD_ARGUMENT)
      do i = -1, ranks, ranks + 1
         call treefold_builder_set(builder, root=i, ierr=ierr); call fails('a root that is no rank', ierr, TREEFOLD_ARGUMENT)
      end do
      call treefold_builder_create(comm, 99, TREEFOLD_OP_SUM, builder, ierr); call fails('an unknown type', ierr, TREEFOLD_ARGUMENT)
   end subroutine wrong_settings

   subroutine new(comm, builder)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder), intent(inout) :: builder
      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
   end subroutine new

   subroutine total_by(what, builder, mine, expected)
      character(len=*), intent(in) :: what
      type(treefold_builder), intent(in) :: builder
      real(real64), intent(in) :: mine(:)
      real(real64), intent(in), optional :: expected
      type(treefold_plan) :: plan
      real(real64) :: total
      integer :: ierr

      call treefold_plan_build(builder, plan, ierr); call fails(what // ', build', ierr, TREEFOLD_OK)
      call treefold_allreduce(plan, mine, total, ierr); call fails(what, ierr, TREEFOLD_OK)
      if (present(expected)) then
         call same(what, total, expected)
      else
         call same(what, total, tree(x))
      end if
   end subroutine total_by

   ! ---- Plans -----------------------------------------------------------------------------------------------------------------

   ! Checks that every algorithm and every parameter gives the same bits, and that plans name their algorithms.
   subroutine plans(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      character(len=:), allocatable :: name, text
      integer(int64) :: begin_column, end_column
      integer :: algorithm, i, ierr
      logical :: is_so
      character(len=12), parameter :: BY(4) = [character(len=12) :: '', 'bruck', 'hierarchical', '']

      call check('no algorithm 0', treefold_algorithm_name(0) == '')
      algorithm = 1
      do while (treefold_algorithm_name(algorithm) /= '')
         name = treefold_algorithm_name(algorithm)
         call rows_by(comm, name, 0, plan)
         call treefold_plan_algorithm(plan, TREEFOLD_CALL_ALLREDUCE, text)
         call check('an algorithm for allreduce by ' // name, len(text) > 0)
         call treefold_plan_print(plan, text)
         call check('a text for ' // name, len(text) > 20 .and. index(text, achar(0)) == 0)
         algorithm = algorithm + 1
      end do
      call check('some algorithms', algorithm > 4)
      do i = 1, size(BY)
         call rows_by(comm, trim(BY(i)), i, plan)
      end do

      call treefold_plan_algorithm(plan, 77, text, ierr); call fails('an operation that does not exist', ierr, TREEFOLD_ARGUMENT)
      call treefold_plan_destroy(plan)
      call treefold_plan_destroy(plan, ierr); call fails('a second destroy of a plan', ierr, TREEFOLD_OK)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_SCAN, text, ierr)
      call fails('the algorithm after destroy', ierr, TREEFOLD_NULL)
      call treefold_plan_print(plan, text, ierr); call fails('the text after destroy', ierr, TREEFOLD_NULL)
      call treefold_plan_pending(plan, is_so, ierr); call fails('pending after destroy', ierr, TREEFOLD_NULL)
      call treefold_plan_scattered_columns(plan, begin_column, end_column, ierr)
      call fails('the columns after destroy', ierr, TREEFOLD_NULL)
   end subroutine plans

   ! Reduces rows. Unless `name` is empty, it is the algorithm. Unless `parameter` is 0, sets the parameter of this number to 2.
   subroutine rows_by(comm, name, parameter, plan)
      type(treefold_comm), intent(in) :: comm
      character(len=*), intent(in) :: name
      integer, intent(in) :: parameter
      type(treefold_plan), intent(inout) :: plan
      type(treefold_builder) :: builder
      real(real64) :: all(WIDTH, N), row(WIDTH)
      integer :: columns, i, ierr

      all = reshape([(1.0_real64 / i, i = 1, size(all))], shape(all))
      call new(comm, builder)
      call treefold_builder_set(builder, local_items=last - first, width=WIDTH)
      if (name /= '') call treefold_builder_set(builder, algorithm=name)
      select case (parameter)
      case (1); call treefold_builder_set(builder, blocks=2)
      case (2); call treefold_builder_set(builder, ports=2)
      case (3); call treefold_builder_set(builder, node_ranks=2)
      case (4); call treefold_builder_set(builder, message_limit=2)
      end select
      columns = WIDTH
      call treefold_plan_build(builder, plan, ierr)
      if (ierr == TREEFOLD_UNSUPPORTED) then
         ! This algorithm reduces only rows of one element.
         columns = 1
         call treefold_builder_set(builder, width=1)
         call treefold_plan_build(builder, plan, ierr)
      end if
      call fails('a plan by ' // name, ierr, TREEFOLD_OK)
      call treefold_allreduce(plan, all(:columns, first + 1:last), row(:columns), ierr)
      call fails('rows by ' // name, ierr, TREEFOLD_OK)
      call same('rows by ' // name, row(:columns), [(tree(all(i, :)), i = 1, columns)])
   end subroutine rows_by

   ! ---- Every call with every type --------------------------------------------------------------------------------------------

   ! Checks every type and operator. The third index of an array is a slot. Slot 1 holds the items; each result has its own slot.
   subroutine all_types(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: wide, narrow
      real(real32) :: f32(WIDTH, N, 6)
      real(real64) :: f64(WIDTH, N, 6)
      complex(real32) :: c32(WIDTH, N, 6)
      complex(real64) :: c64(WIDTH, N, 6)
      integer(int8) :: i8(WIDTH, N, 6)
      integer(int16) :: i16(WIDTH, N, 6)
      integer(int32) :: i32(WIDTH, N, 6)
      integer(int64) :: i64(WIDTH, N, 6), items(WIDTH, N), upto(WIDTH, 0:N)
      integer(int64) :: a, b
      integer :: type, op, i, ierr

      do type = TREEFOLD_F32, TREEFOLD_U64
         do op = TREEFOLD_OP_SUM, TREEFOLD_OP_MAX
            call treefold_builder_create(comm, type, op, builder, ierr)
            if (op >= TREEFOLD_OP_MIN .and. (type == TREEFOLD_C32 .or. type == TREEFOLD_C64)) then
               call fails('a minimum of complex numbers', ierr, TREEFOLD_UNSUPPORTED)
               cycle
            end if
            call fails('a builder', ierr, TREEFOLD_OK)
            call treefold_builder_set(builder, local_items=last - first, root=ranks - 1)
            call treefold_plan_build(builder, narrow)
            call treefold_builder_set(builder, width=WIDTH)
            call treefold_plan_build(builder, wide)
            call treefold_plan_scattered_columns(wide, a, b)
            a = a + 1

            ! The items are small integers. If the type is signed, they have both signs.
            items = reshape([(int(mod(7 * i, 5) - 2, int64), i = 1, size(items))], shape(items))
            if (type >= TREEFOLD_U8) items = abs(items)
            if (op == TREEFOLD_OP_PRODUCT) items = merge(2, 1, items == 2 .and. spread([(i, i = 1, N)], 1, WIDTH) < 10)
            if (op == TREEFOLD_OP_PRODUCT .and. (type == TREEFOLD_C32 .or. type == TREEFOLD_C64)) cycle
            upto(:, 0) = merge(1, 0, op == TREEFOLD_OP_PRODUCT)
            do i = 1, N
               select case (op)
               case (TREEFOLD_OP_SUM); upto(:, i) = upto(:, i - 1) + items(:, i)
               case (TREEFOLD_OP_PRODUCT); upto(:, i) = upto(:, i - 1) * items(:, i)
               case (TREEFOLD_OP_MIN); upto(:, i) = minval(items(:, :i), 2)
               case (TREEFOLD_OP_MAX); upto(:, i) = maxval(items(:, :i), 2)
               end select
            end do
            select case (type)
            case (TREEFOLD_F32)
               call put(type, pack(items, .true.), f32(:, :, 1))
               call calls(wide, narrow, type, op, upto, f32(:, first + 1:last, 1), f32(:, 1, 2), f32(a:b, 1, 3), &
                  f32(:, first + 1:last, 4), f32(1, first + 1:last, 1), f32(1, 1, 5), f32(1, first + 1:last, 6))
            case (TREEFOLD_F64)
               call put(type, pack(items, .true.), f64(:, :, 1))
               call calls(wide, narrow, type, op, upto, f64(:, first + 1:last, 1), f64(:, 1, 2), f64(a:b, 1, 3), &
                  f64(:, first + 1:last, 4), f64(1, first + 1:last, 1), f64(1, 1, 5), f64(1, first + 1:last, 6))
            case (TREEFOLD_C32)
               call put(type, pack(items, .true.), c32(:, :, 1))
               call calls(wide, narrow, type, op, upto, c32(:, first + 1:last, 1), c32(:, 1, 2), c32(a:b, 1, 3), &
                  c32(:, first + 1:last, 4), c32(1, first + 1:last, 1), c32(1, 1, 5), c32(1, first + 1:last, 6))
            case (TREEFOLD_C64)
               call put(type, pack(items, .true.), c64(:, :, 1))
               call calls(wide, narrow, type, op, upto, c64(:, first + 1:last, 1), c64(:, 1, 2), c64(a:b, 1, 3), &
                  c64(:, first + 1:last, 4), c64(1, first + 1:last, 1), c64(1, 1, 5), c64(1, first + 1:last, 6))
            case (TREEFOLD_I8, TREEFOLD_U8)
               call put(type, pack(items, .true.), i8(:, :, 1))
               call calls(wide, narrow, type, op, upto, i8(:, first + 1:last, 1), i8(:, 1, 2), i8(a:b, 1, 3), &
                  i8(:, first + 1:last, 4), i8(1, first + 1:last, 1), i8(1, 1, 5), i8(1, first + 1:last, 6))
            case (TREEFOLD_I16, TREEFOLD_U16)
               call put(type, pack(items, .true.), i16(:, :, 1))
               call calls(wide, narrow, type, op, upto, i16(:, first + 1:last, 1), i16(:, 1, 2), i16(a:b, 1, 3), &
                  i16(:, first + 1:last, 4), i16(1, first + 1:last, 1), i16(1, 1, 5), i16(1, first + 1:last, 6))
            case (TREEFOLD_I32, TREEFOLD_U32)
               call put(type, pack(items, .true.), i32(:, :, 1))
               call calls(wide, narrow, type, op, upto, i32(:, first + 1:last, 1), i32(:, 1, 2), i32(a:b, 1, 3), &
                  i32(:, first + 1:last, 4), i32(1, first + 1:last, 1), i32(1, 1, 5), i32(1, first + 1:last, 6))
            case default
               call put(type, pack(items, .true.), i64(:, :, 1))
               call calls(wide, narrow, type, op, upto, i64(:, first + 1:last, 1), i64(:, 1, 2), i64(a:b, 1, 3), &
                  i64(:, first + 1:last, 4), i64(1, first + 1:last, 1), i64(1, 1, 5), i64(1, first + 1:last, 6))
            end select
         end do
      end do
   end subroutine all_types

   ! Checks every operation: sums with every kind of call, and the other operators with blocking calls.
   subroutine calls(wide, narrow, type, op, upto, mine, row, part, room, column, one, room_column)
      type(treefold_plan), intent(in) :: wide, narrow
      integer, intent(in) :: type, op
      integer(int64), intent(in) :: upto(WIDTH, 0:N)
      type(*), dimension(..), intent(in) :: mine, column
      type(*), dimension(..), intent(inout) :: row, part, room, one, room_column
      integer(int64) :: begin, end, total(WIDTH)
      integer :: way, operation, from
      character(len=:), allocatable :: what

      total = upto(:, N)
      call treefold_plan_scattered_columns(wide, begin, end)
      do operation = TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_EXSCAN
         ! Minima and maxima have no value for no items.
         if (operation == TREEFOLD_CALL_EXSCAN .and. op >= TREEFOLD_OP_MIN) cycle
         do way = 1, merge(4, 1, op == TREEFOLD_OP_SUM)
            what = 'type ' // achar(64 + type) // ', operator ' // achar(48 + op)
            from = first + merge(1, 0, operation == TREEFOLD_CALL_SCAN)
            select case (operation)
            case (TREEFOLD_CALL_REDUCE_SCATTER)
               call gives(what, way, wide, operation, mine, part, of_type(type, total(begin + 1:end)))
            case (TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE)
               call gives(what, way, wide, operation, mine, row, of_type(type, total))
               call gives(what // ', column', way, narrow, operation, column, one, of_type(type, total(:1)))
            case default
               call gives(what, way, wide, operation, mine, room, &
                  of_type(type, pack(upto(:, from:from + last - first - 1), .true.)))
               if (way < 3) call gives(what // ', column', way, narrow, operation, column, room_column, &
                  of_type(type, upto(1, from:from + last - first - 1)))
            end select
         end do
      end do
      call put(type, total * merge(1, 0, rank == ranks - 1), row)
      call treefold_broadcast(wide, row)
      call same('broadcast', row, of_type(type, total))
      call put(type, total(:1) * merge(1, 0, rank == ranks - 1), one)
      call treefold_broadcast(narrow, one)
      call same('broadcast of one', one, of_type(type, total(:1)))
   end subroutine calls

   ! ---- Arrays of every kind --------------------------------------------------------------------------------------------------

   ! Passes arrays with strides of both signs, vector subscripts, components and addresses, and arguments that only Fortran has.
   subroutine arrays(comm)
      type(treefold_comm), intent(in) :: comm
      type :: point
         real(real64) :: x, y
      end type point
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan, rows
      type(treefold_run) :: run
      type(point) :: points(N)
      real(real64), target :: wide(2 * N), total, grid(2, N, 2)
      real(real64), allocatable :: never(:)
      real(real64), pointer :: nowhere(:), there(:)
      logical :: truth(2)
      integer :: numbers(N), i, ierr

      call new(comm, builder)
      call treefold_builder_set(builder, local_items=last - first)
      call treefold_plan_build(builder, plan)
      wide(::2) = x
      wide(2::2) = -1
      points%x = x
      points%y = 0
      numbers = [(N + 1 - i, i = 1, N)]
      call treefold_allreduce(plan, wide(2 * first + 1:2 * last:2), total)
      call same('every other one', total, tree(x))
      wide(:N) = x(N:1:-1)
      call treefold_allreduce(plan, wide(N - first:N - last + 1:-1), total)
      call same('a negative stride', total, tree(x))
      call treefold_allreduce(plan, wide(numbers(first + 1:last)), total)
      call same('a vector subscript', total, tree(x))
      call treefold_allreduce(plan, points(first + 1:last)%x, total)
      call same('components', total, tree(x))
      call treefold_allreduce(plan, x(first + 1:last) + 0.0_real64, total)
      call same('an expression', total, tree(x))
      call c_f_pointer(c_loc(wide), there, [N])
      there = x
      call treefold_allreduce(plan, there(first + 1:last), total)
      call same('an array at an address', total, tree(x))
      call of_assumed_size(builder, x)

      ! A blocking call can write its result to a row that is not contiguous. A run that was started cannot.
      call treefold_builder_set(builder, width=2)
      call treefold_plan_build(builder, rows)
      grid(1, :, 1) = x
      grid(2, :, 1) = 2 * x
      grid(:, :, 2) = 5
      call treefold_allreduce(rows, grid(:, first + 1:last, 1), grid(2, 1:2, 2))
      call same('a strided row', grid(2, 1:2, 2), tree(x) * [1, 2])
      call same('the row beside it', grid(1, :, 2), 0 * x + 5)
      call treefold_start(rows, TREEFOLD_CALL_ALLREDUCE, grid(:, first + 1:last, 1), run, ierr, grid(2, 1:2, 2))
      call fails('a strided row of a start', ierr, TREEFOLD_ARGUMENT)
      call says('`result` is not contiguous')

      allocate (never(2))
      deallocate (never)
      call treefold_plan_build(builder, rows)
      call treefold_allreduce(rows, never, grid(:, 1, 2), ierr); call fails('an array without memory', ierr, TREEFOLD_NULL)
      call says('`local` is not allocated')
      nowhere => wide(:2)
      nullify (nowhere)
      call treefold_plan_build(builder, rows)
      call treefold_allreduce(rows, grid(:, first + 1:last, 1), nowhere, ierr)
      call fails('a result at no address', ierr, TREEFOLD_NULL)
      call says('`result` is not allocated, or is a pointer without a target')
      call treefold_plan_build(builder, rows)
      call treefold_allreduce(rows, grid(:, first + 1:last, 1), truth, ierr)
      call fails('a logical result', ierr, TREEFOLD_ARGUMENT)
      call treefold_plan_build(builder, rows)
      call treefold_allreduce(rows, points(first + 1:last), grid(:, 1, 2), ierr)
      call fails('items of a derived type', ierr, TREEFOLD_ARGUMENT)
      call treefold_plan_build(builder, plan)
      call treefold_broadcast(plan, truth, ierr); call fails('a logical row', ierr, TREEFOLD_ARGUMENT)
   end subroutine arrays

   subroutine of_assumed_size(builder, array)
      type(treefold_builder), intent(inout) :: builder
      real(real64), intent(in) :: array(*)
      type(treefold_plan) :: plan
      real(real64) :: total
      integer :: ierr

      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, array(first + 1:last), total)
      call same('a section of assumed size', total, tree(x))
      call treefold_allreduce(plan, array, total, ierr); call fails('an array of assumed size', ierr, TREEFOLD_ARGUMENT)
      call says('`local` is an array of assumed size')
   end subroutine of_assumed_size

   ! ---- Operators of the caller -----------------------------------------------------------------------------------------------

   subroutine operators(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64), target :: maps(2, N), one(2)
      real(real64) :: expected(2, 0:N), map(2), scanned(2, N)
      integer(c_int) :: status
      integer :: i, ierr
      logical :: is_mine

      ! The maps have integer coefficients, so that the arithmetic is exact.
      maps = reshape([(real(merge(-1, 1, mod(i, 3) == 0), real64), real(mod(7 * i, 9), real64), i = 1, N)], shape(maps))
      one = [1, 0]
      expected(:, 0) = one
      do i = 1, N
         expected(:, i) = [maps(1, i) * expected(1, i - 1), maps(1, i) * expected(2, i - 1) + maps(2, i)]
      end do
      status = composed(c_null_ptr, c_loc(maps), c_loc(maps(1, 2)), c_loc(one))
      call check('the operator', status == 0 .and. all(nint(one - expected(:, 2)) == 0))
      one = [1, 0]

      call treefold_builder_create_user(comm, 'composition', 16_int64, composed, builder, empty=c_loc(one))
      call treefold_builder_set(builder, local_items=last - first)
      call treefold_plan_build(builder, plan)
      associate (mine => maps(:, first + 1:last))
         call treefold_allreduce(plan, mine, map)
         call same('maps', map, expected(:, N))
         map = 0
         call treefold_reduce(plan, mine, map, is_mine)
         call check('the root by default', is_mine .eqv. rank == 0)
         call same('reduce of maps', map, merge(expected(:, N), 0 * map, is_mine))
         call treefold_broadcast(plan, map)
         call same('broadcast of a map', map, expected(:, N))
         call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
         call treefold_wait(run, map)
         call same('started maps', map, expected(:, N))
         call treefold_scan(plan, mine, scanned(:, :last - first))
         call same('scan of maps', scanned(:, :last - first), expected(:, first + 1:last))
         call treefold_exscan(plan, mine, scanned(:, :last - first))
         call same('exscan of maps', scanned(:, :last - first), expected(:, first:last - 1))

         ! On every rank, the size of the result is not a multiple of the item size.
         call treefold_allreduce(plan, mine, map(:1), ierr); call fails('half a map', ierr, TREEFOLD_LENGTH)
         call says('`result` has 8 bytes, but the size of an item is 16')
         call treefold_allreduce(plan, mine, map, ierr); call fails('a plan whose run failed', ierr, TREEFOLD_SPENT)
      end associate

      call treefold_builder_create_user(comm, 'failing', 16, failing, builder)
      call treefold_builder_set(builder, even=N * ranks)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, maps, map, ierr); call fails('an operator that fails', ierr, TREEFOLD_OPERATOR)
      call treefold_builder_create_user(comm, 'negative', -16, composed, builder, ierr=ierr)
      call fails('a negative item size', ierr, TREEFOLD_ARGUMENT)
   end subroutine operators

   ! ---- Split phase -----------------------------------------------------------------------------------------------------------

   subroutine split_phase(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan, other
      type(treefold_run) :: run, second, runs(3)
      real(real64) :: total, scanned(N)
      real(real64), asynchronous :: totals(2)
      real(real64), allocatable :: mine(:)
      integer :: ierr
      logical :: is_done, is_so
      character(len=:), allocatable :: name, planned

      call new(comm, builder)
      call treefold_builder_set(builder, local_items=last - first)
      call treefold_plan_build(builder, plan)
      call treefold_plan_build(builder, other)

      ! Two runs at once. The array may change after the start. Odd ranks wait for the runs in the opposite order.
      allocate (mine, source=x(first + 1:last))
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
      mine = 0
      call treefold_start(other, TREEFOLD_CALL_ALLREDUCE, mine, second)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run, ierr)
      call fails('a run that is under way', ierr, TREEFOLD_ARGUMENT)
      if (mod(rank, 2) == 0) call treefold_wait(run, total)
      call treefold_wait(second, scanned(1))
      if (mod(rank, 2) /= 0) call treefold_wait(run, total)
      call same('the first of two', total, tree(x))
      call same('the second of two', scanned(1), 0.0_real64)

      ! Waits for both runs with one call. The array also has an element without a run.
      mine = x(first + 1:last)
      totals = 0
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, runs(1), result=totals(1))
      call treefold_start(other, TREEFOLD_CALL_ALLREDUCE, 2 * mine, runs(3), result=totals(2:2))
      call treefold_wait_all(runs)
      call same('two that are waited for at once', totals, tree(x) * [1, 2])
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, runs(1))
      call treefold_wait_all(runs, ierr); call fails('a run without a place', ierr, TREEFOLD_LENGTH)

      ! Queries about a plan and its run.
      call treefold_plan_pending(plan, is_so)
      call check('a plan without a run', .not. is_so)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
      call treefold_plan_pending(plan, is_so)
      call check('a plan with a run', is_so)
      call treefold_run_of_plan(run, plan, is_so)
      call check('a run of this plan', is_so)
      call treefold_run_of_plan(run, other, is_so)
      call check('a run of another plan', .not. is_so)
      call treefold_run_algorithm(run, name)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_ALLREDUCE, planned)
      call check('the algorithm of a run', len(name) > 0 .and. name == planned)
      call treefold_wait(run, total)
      call same('the first run continued', total, tree(x))
      call treefold_run_algorithm(run, name, ierr); call fails('the algorithm of no run', ierr, TREEFOLD_NULL)
      call treefold_run_of_plan(run, plan, is_so, ierr); call fails('the plan of no run', ierr, TREEFOLD_NULL)

      ! A wait times out because the last rank, which always has items, starts late. A single rank would have nothing to wait for.
      if (ranks > 1) then
         if (rank /= ranks - 1) then
            call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
            call treefold_wait_timeout(run, 0.0_real64, ierr); call fails('a time limit of 0', ierr, TREEFOLD_TIMED_OUT)
         end if
         call MPI_Barrier(MPI_COMM_WORLD)
         if (rank == ranks - 1) call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
         is_done = .false.
         do while (.not. is_done)
            call treefold_test(run, is_done)
         end do
         call treefold_wait(run, total)
         call same('after the time limit', total, tree(x))
      end if

      ! If the result has another length or type, the run still completes.
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
      call treefold_wait(run, scanned, ierr=ierr); call fails('a result that is too long', ierr, TREEFOLD_LENGTH)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
      call treefold_wait(run, ierr, ierr=ierr); call fails('a result of another type', ierr, TREEFOLD_ARGUMENT)
      call says('`result` is integer(int32), but the plan is for real(real64)')
      call treefold_allreduce(plan, mine, total, ierr); call fails('the plan after these errors', ierr, TREEFOLD_OK)

      ! Calls on a variable without a run.
      call treefold_test(second, is_done, ierr); call fails('a test of nothing', ierr, TREEFOLD_NULL)
      call treefold_wait_timeout(second, 1.0_real64, ierr); call fails('a timed wait for nothing', ierr, TREEFOLD_NULL)
      call treefold_wait(second, total, ierr=ierr); call fails('a wait for nothing', ierr, TREEFOLD_NULL)
      call treefold_wait_all(runs, ierr); call fails('a wait for no runs', ierr, TREEFOLD_OK)
      call treefold_cancel(second, ierr); call fails('cancelling nothing', ierr, TREEFOLD_OK)

      ! Every rank cancels its run, which spends the plan.
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, mine, run)
      call treefold_cancel(run)
      call treefold_allreduce(plan, mine, total, ierr)
      call check('a plan whose run was cancelled', ierr == TREEFOLD_SPENT .or. ierr == TREEFOLD_RANK_FAILED)
   end subroutine split_phase

   ! Checks that a long wait calls the callback, and that the callback ends the wait.
   subroutine interruptions()
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      integer(c_int), target :: asked
      real(real64) :: total
      integer :: ierr

      asked = 0
      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call treefold_comm_interruption(comm, ending, c_loc(asked))
      call new(comm, builder)
      call treefold_builder_set(builder, even=ranks)
      call treefold_plan_build(builder, plan, ierr)
      if (ranks > 1 .and. ierr == TREEFOLD_OK) then
         if (rank == 0) call treefold_allreduce(plan, [1.0_real64], total, ierr)
         if (rank == 0) call fails('an interrupted wait', ierr, TREEFOLD_INTERRUPTED)
         if (rank == 0) call check('the callback was called', asked > 0)
         call MPI_Barrier(MPI_COMM_WORLD)
         if (rank /= 0) call treefold_allreduce(plan, [1.0_real64], total, ierr)
         ! The call succeeds if rank 0 had already sent its contribution.
         if (rank /= 0) call check('a plan interrupted on rank 0', ierr == TREEFOLD_OK .or. ierr == TREEFOLD_RANK_FAILED .or. &
            ierr == TREEFOLD_INTERRUPTED)
      end if
      call treefold_comm_interruption(comm)
   end subroutine interruptions

   ! ---- Errors ----------------------------------------------------------------------------------------------------------------

   ! Checks mistakes that all ranks make in the same call.
   subroutine local_errors(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: total
      real(real32) :: small_total
      complex(real64) :: square
      integer(int64) :: word
      integer :: ierr

      call new(comm, builder)
      call treefold_builder_set(builder, local_items=2)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, [1.0_real32, 2.0_real32], small_total, ierr)
      call fails('arrays of another type', ierr, TREEFOLD_ARGUMENT)
      call says('`local` is real(real32), but the plan is for real(real64)')
      call treefold_allreduce(plan, x(:2), total, ierr); call fails('a plan after that', ierr, TREEFOLD_SPENT)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x(:1), total, ierr); call fails('an array of another length', ierr, TREEFOLD_LENGTH)

      ! The start returns the error, and the variable has no run.
      call treefold_plan_build(builder, plan)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, [1.0_real32, 2.0_real32], run, ierr)
      call fails('the start with another type', ierr, TREEFOLD_ARGUMENT)
      call treefold_wait(run, total, ierr=ierr); call fails('a wait after that', ierr, TREEFOLD_NULL)
      call treefold_plan_build(builder, plan)
      call treefold_start(plan, 99, x(:2), run, ierr); call fails('the start of an unknown operation', ierr, TREEFOLD_ARGUMENT)
      call treefold_start(plan, TREEFOLD_CALL_BROADCAST, x(:2), run, ierr)
      call check('the start of a broadcast', ierr /= TREEFOLD_OK)

      call treefold_builder_create(comm, TREEFOLD_C64, TREEFOLD_OP_PRODUCT, builder)
      call treefold_builder_set(builder, local_items=2)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, [(0.0_real64, 1.0_real64), (0.0_real64, 1.0_real64)], square)
      call check('the product of complex numbers', nint(square%re) == (-1)**ranks .and. nint(square%im) == 0)

      ! Unsigned integers are passed as signed integers of the same size.
      call treefold_builder_create(comm, TREEFOLD_U64, TREEFOLD_OP_MAX, builder)
      call treefold_builder_set(builder, local_items=2)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, [-1_int64, 5_int64], word)
      call check('the greatest unsigned number', word == -1)
      call treefold_allreduce(plan, [-1_int32, 5_int32], ierr, ierr=ierr)
      call fails('unsigned numbers of another size', ierr, TREEFOLD_ARGUMENT)
   end subroutine local_errors

   ! Checks that a mistake of rank 1 causes errors on the other ranks.
   subroutine errors_of_ranks(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: total
      real(real32) :: small(2), small_total
      integer :: ierr, heard

      if (ranks == 1) return
      small = [1, 2]
      heard = merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 1)
      call new(comm, builder)
      call treefold_builder_set(builder, local_items=2)

      call treefold_plan_build(builder, plan)
      if (rank == 1) call treefold_allreduce(plan, small, small_total, ierr)
      if (rank /= 1) call treefold_allreduce(plan, x(:2), total, ierr)
      call fails('another type on rank 1', ierr, heard)
      if (rank /= 1) call check('it is rank 1', treefold_error_rank() == 1)
      call treefold_plan_build(builder, plan)
      if (rank == 1) call treefold_allreduce(plan, x(:2), small_total, ierr)
      if (rank /= 1) call treefold_allreduce(plan, x(:2), total, ierr)
      call fails('a result of another type on rank 1', ierr, heard)

      call treefold_plan_build(builder, plan)
      if (rank == 1) then
         call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, small, run, ierr)
      else
         call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, x(:2), run)
         call treefold_wait(run, total, ierr=ierr)
      end if
      call fails('a start with another type on rank 1', ierr, heard)

      ! The communicator can still be used.
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, [1.0_real64, 2.0_real64], total)
      call check('after the errors', nint(total) == 3 * ranks)
   end subroutine errors_of_ranks

   ! ---- Handles ---------------------------------------------------------------------------------------------------------------

   ! Checks that objects are destroyed when they go out of scope or are replaced. Their C handles are then invalid.
   subroutine handles_end(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan), allocatable :: moved, target_of_move
      type(treefold_plan) :: plan
      type(solver) :: one
      type(c_ptr) :: handles(4)
      real(real64) :: total
      integer :: ierr

      call leave_four(handles)
      call check('a communicator has ended', c_comm_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call check('a builder has ended', c_builder_destroy(handles(2)) == TREEFOLD_ARGUMENT)
      call check('a plan has ended', c_plan_destroy(handles(3)) == TREEFOLD_ARGUMENT)
      call check('a run has ended', c_cancel(handles(4)) == TREEFOLD_ARGUMENT)

      ! Plans that are components or elements of an array, and a plan that replaces another one.
      call new(comm, builder)
      call treefold_builder_set(builder, even=ranks)
      allocate (one%others(2))
      call treefold_plan_build(builder, one%plan)
      handles(1) = transfer(one%plan, c_null_ptr)
      call treefold_plan_build(builder, one%plan)
      call check('a plan ends when it is replaced', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call treefold_plan_build(builder, one%others(1))
      call treefold_plan_build(builder, one%others(2))
      handles(1) = transfer(one%others(1), c_null_ptr)
      handles(2) = transfer(one%others(2), c_null_ptr)
      call treefold_allreduce(one%plan, [1.0_real64], total)
      call treefold_allreduce(one%others(2), [1.0_real64], total)
      deallocate (one%others)
      call check('the first of an array has ended', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call check('the second of an array has ended', c_plan_destroy(handles(2)) == TREEFOLD_ARGUMENT)

      ! Handles are moved, not copied.
      allocate (moved)
      call treefold_plan_build(builder, moved)
      handles(1) = transfer(moved, c_null_ptr)
      call move_alloc(moved, target_of_move)
      call treefold_allreduce(target_of_move, [1.0_real64], total, ierr); call fails('a plan that was moved', ierr, TREEFOLD_OK)
      deallocate (target_of_move)
      call check('the moved plan has ended', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)

      ! Assigning an empty plan to the variable destroys the plan that it holds.
      call treefold_plan_build(builder, plan)
      handles(1) = transfer(plan, c_null_ptr)
      plan = treefold_plan()
      call check('a plan that was overwritten', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call treefold_allreduce(plan, [1.0_real64], total, ierr); call fails('a plan after that', ierr, TREEFOLD_NULL)
   end subroutine handles_end

   subroutine leave_four(handles)
      type(c_ptr), intent(out) :: handles(4)
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call new(comm, builder)
      call treefold_builder_set(builder, local_items=1)
      call treefold_plan_build(builder, plan)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, [1.0_real64], run)
      handles(1) = transfer(comm, c_null_ptr)
      handles(2) = transfer(builder, c_null_ptr)
      handles(3) = transfer(plan, c_null_ptr)
      handles(4) = transfer(run, c_null_ptr)
   end subroutine leave_four
end program mpi_walk
