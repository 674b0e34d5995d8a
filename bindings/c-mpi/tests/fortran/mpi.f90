! Walks the procedures of module treefold_mpi, with right and with wrong arguments, on any number of ranks, and compares bits with a
! tree that is written here, and with module treefold.
!
!     mpifort treefold.F90 treefold_mpi.F90 mpi.f90 -ltreefold && mpirun -n 3 ./a.out
!
! With the argument `copy` it copies a plan instead, and must end with an error.

! Operators are procedures of a module: compilers make code on the stack for those of a program.
module operators_of_test
   use, intrinsic :: iso_c_binding, only: c_associated, c_f_pointer, c_int, c_ptr
   use, intrinsic :: iso_fortran_env, only: real64
   implicit none
   public

contains

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
end module operators_of_test

program mpi_walk
   use, intrinsic :: iso_c_binding, only: c_int32_t, c_loc, c_null_ptr, c_ptr
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
   use mpi_f08
   use operators_of_test
   use treefold_mpi
   implicit none

   ! Handles as C has them, to see what finalisers have done.
   interface
      function c_comm_destroy(comm) bind(c, name='treefold_comm_destroy') result(status)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: comm
         integer(c_int32_t) :: status
      end function c_comm_destroy

      function c_builder_destroy(builder) bind(c, name='treefold_builder_destroy') result(status)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: builder
         integer(c_int32_t) :: status
      end function c_builder_destroy

      function c_plan_destroy(plan) bind(c, name='treefold_plan_destroy') result(status)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: plan
         integer(c_int32_t) :: status
      end function c_plan_destroy

      function c_cancel(run) bind(c, name='treefold_cancel') result(status)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: status
      end function c_cancel
   end interface

   ! What a program has that keeps its plans.
   type :: solver
      type(treefold_plan) :: plan
      type(treefold_plan), allocatable :: others(:)
      integer :: steps = 0
   end type solver

   integer, parameter :: WIDTH = 3, N = 50
   integer(int8), parameter :: BYTES(1) = [0_int8]
   integer :: rank, ranks, faults, all_faults, checks
   character(len=20) :: argument

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   checks = 0
   faults = 0
   call get_command_argument(1, argument)

   if (argument == 'copy') then
      call copy_a_plan()
   else
      call walk()
   end if

   call MPI_Allreduce(faults, all_faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   call MPI_Finalize()
   if (all_faults > 0) error stop 'checks of module treefold_mpi failed'
   if (rank == 0) print '(i0, a, i0, a)', checks, ' checks of module treefold_mpi passed on each of ', ranks, ' ranks'

contains

   subroutine walk()
      type(treefold_comm) :: comm

      call communicators(comm)
      call builders(comm)
      call plans(comm)

      call walk_f32(comm)
      call walk_f64(comm)
      call walk_c32(comm)
      call walk_c64(comm)
      call walk_i8(comm)
      call walk_i16(comm)
      call walk_i32(comm)
      call walk_i64(comm)
      call operators(comm)
      call split_phase(comm)
      call local_errors(comm)
      call errors_of_ranks(comm)
      call handles_end(comm)
   end subroutine walk

   ! The definition of docs/order.md, section 1: the left half of a node is the greatest power of two that is less than it.
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

   ! This rank's stretch of n items, so that all stretches differ: items first + 1 to last.
   subroutine stretch(n, first, last)
      integer, intent(in) :: n
      integer, intent(out) :: first, last

      first = n * rank * (rank + 1) / (ranks * (ranks + 1))
      last = n * (rank + 1) * (rank + 2) / (ranks * (ranks + 1))
   end subroutine stretch

   ! ---- Communicators ---------------------------------------------------------------------------------------------------------

   subroutine communicators(comm)
      type(treefold_comm), intent(inout) :: comm
      type(treefold_comm) :: other
      type(MPI_Comm) :: half
      integer :: found, ierr

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call treefold_comm_rank(comm, found)
      call check('rank', found == rank)
      call treefold_comm_size(comm, found)
      call check('size', found == ranks)
      call treefold_comm_silence_limit(comm, 60.0_real64)
      call treefold_comm_measure_link(comm)

      ! By an integer; and into a variable that is in use, whose handle ends.
      call treefold_comm_duplicate(MPI_COMM_WORLD%MPI_VAL, other)
      call treefold_comm_size(other, found)
      call check('size by an integer', found == ranks)
      call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), 0, half)
      call treefold_comm_duplicate(half, other)
      call MPI_Comm_free(half)
      call treefold_comm_rank(other, found)
      call check('rank in a half', found == rank / 2)

      call treefold_comm_destroy(other)
      call treefold_comm_destroy(other, ierr)
      call fails('the end of what has ended', ierr, TREEFOLD_OK)
      call treefold_comm_rank(other, found, ierr)
      call fails('the rank in what has ended', ierr, TREEFOLD_NULL)
      call treefold_comm_size(other, found, ierr)
      call fails('the size of what has ended', ierr, TREEFOLD_NULL)
      call treefold_comm_silence_limit(other, 1.0_real64, ierr)
      call fails('a limit for what has ended', ierr, TREEFOLD_NULL)
      call treefold_comm_silence_limit(comm, -1.0_real64, ierr)
      call fails('a negative limit', ierr, TREEFOLD_ARGUMENT)
      call treefold_comm_measure_link(other, ierr)
      call fails('a link that has ended', ierr, TREEFOLD_NULL)
      call treefold_comm_duplicate(MPI_COMM_NULL, other, ierr)
      call fails('no communicator', ierr, TREEFOLD_ARGUMENT)

      call treefold_comm_duplicate(MPI_COMM_WORLD, other)
      call treefold_comm_free(other)
      call treefold_comm_rank(other, found, ierr)
      call fails('the rank in what was freed', ierr, TREEFOLD_NULL)
      call treefold_comm_free(other, ierr)
      call fails('the freeing of nothing', ierr, TREEFOLD_OK)
   end subroutine communicators

   ! ---- Builders --------------------------------------------------------------------------------------------------------------

   ! Every way to say which items a rank has.
   subroutine builders(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      real(real64) :: x(N)
      integer(int64), allocatable :: ranges(:, :)
      real(real64), allocatable :: mine(:)
      integer :: first, last, i, ierr
      integer, parameter :: BLOCK = 4

      x = [(1.0_real64 / i, i = 1, N)]
      call stretch(N, first, last)

      call begin(comm, builder)
      call treefold_builder_local_items(builder, last - first)
      call treefold_builder_items(builder, N)
      call total_by('local_items', builder, x(first + 1:last), x)
      call treefold_builder_local_items(builder, int(last - first, int64))
      call treefold_builder_items(builder, int(N, int64))
      call treefold_builder_width(builder, 1_int64)
      call total_by('local_items of 64 bits', builder, x(first + 1:last), x)

      ! Every item whose number is this rank, modulo their number; the later half first.
      allocate (ranges(2, 0), mine(0))
      do i = N - 1, 0, -1
         if (mod(i, ranks) /= rank) cycle
         ranges = reshape([ranges, int([i, i + 1], int64)], [2, size(ranges, 2) + 1])
         mine = [mine, x(i + 1)]
      end do
      call begin(comm, builder)
      call treefold_builder_extents(builder, ranges)
      call total_by('extents', builder, mine, x)
      ! All of the items on the last rank, none elsewhere.
      call begin(comm, builder)
      if (rank == ranks - 1) then
         call treefold_builder_extents(builder, reshape([0_int64, int(N, int64)], [2, 1]))
         call total_by('extents of one rank', builder, x, x)
      else
         call treefold_builder_extents(builder, ranges(:, :0))
         call total_by('no extents', builder, x(:0), x)
      end if

      first = (N / ranks) * rank + min(rank, mod(N, ranks))
      last = (N / ranks) * (rank + 1) + min(rank + 1, mod(N, ranks))
      call begin(comm, builder)
      call treefold_builder_even(builder, N)
      call total_by('even', builder, x(first + 1:last), x)
      call begin(comm, builder)
      call treefold_builder_even(builder, int(N, int64))
      call treefold_builder_agreed(builder)
      call total_by('even, agreed', builder, x(first + 1:last), x)

      mine = [(x(i + 1:min(i + BLOCK, N)), i = BLOCK * rank, N - 1, BLOCK * ranks)]
      call begin(comm, builder)
      call treefold_builder_block_cyclic(builder, N, BLOCK)
      call total_by('block_cyclic', builder, mine, x)
      call begin(comm, builder)
      call treefold_builder_block_cyclic(builder, int(N, int64), int(BLOCK, int64))
      call total_by('block_cyclic of 64 bits', builder, mine, x)

      ! What cannot be is said at once, or by the build.
      call treefold_builder_local_items(builder, -1, ierr)
      call fails('negative local_items', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'items is negative: -1')
      call check('its rank', treefold_error_rank() == -1)
      call treefold_builder_even(builder, -1_int64, ierr)
      call fails('negative even', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_block_cyclic(builder, -1, 4, ierr)
      call fails('negative block_cyclic', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_block_cyclic(builder, 4, -1, ierr)
      call fails('negative block', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_items(builder, -1, ierr)
      call fails('negative items', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_width(builder, -1, ierr)
      call fails('negative width', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_message_limit(builder, -1, ierr)
      call fails('negative message_limit', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_blocks(builder, -1, ierr)
      call fails('negative blocks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_ports(builder, -1, ierr)
      call fails('negative ports', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_node_ranks(builder, -1, ierr)
      call fails('negative node_ranks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_extents(builder, reshape([-1_int64, 3_int64], [2, 1]), ierr)
      call fails('a negative range', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_extents(builder, reshape([0_int64, 1_int64, 2_int64], [3, 1]), ierr)
      call fails('ranges of three numbers', ierr, TREEFOLD_LENGTH)
      call treefold_builder_algorithm(builder, 'nonsense', ierr)
      call fails('an unknown algorithm', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_extents(builder, reshape([5_int64, 3_int64], [2, 1]), ierr)
      call fails('a range that ends before it begins', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_extents(builder, reshape([0_int64, 2_int64, 1_int64, 3_int64], [2, 2]), ierr)
      call fails('an item in two ranges', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_block_cyclic(builder, 4, 0, ierr)
      call fails('blocks of no items', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_width(builder, 0, ierr)
      call fails('a width of 0', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_root(builder, -1, ierr)
      call fails('a negative root', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_root(builder, ranks, ierr)
      call fails('a root that is no rank', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_blocks(builder, 0, ierr)
      call fails('no blocks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_ports(builder, 0, ierr)
      call fails('no ports', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_node_ranks(builder, 0, ierr)
      call fails('nodes of no ranks', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_message_limit(builder, 0, ierr)
      call fails('messages of nothing', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create(comm, 99, TREEFOLD_OP_SUM, builder, ierr)
      call fails('an unknown type', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create(comm, TREEFOLD_F64, 99, builder, ierr)
      call fails('an unknown operator', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create(comm, TREEFOLD_C64, TREEFOLD_OP_MIN, builder, ierr)
      call fails('the least complex number', ierr, TREEFOLD_UNSUPPORTED)

      call begin(comm, builder)
      call build_fails('no items', builder, TREEFOLD_ARGUMENT)
      call treefold_builder_local_items(builder, 1)
      call treefold_builder_items(builder, ranks + 1)
      call build_fails('another number of items', builder, TREEFOLD_DISAGREE)

      call treefold_builder_destroy(builder)
      call treefold_builder_destroy(builder, ierr)
      call fails('the end of a builder that has ended', ierr, TREEFOLD_OK)
      call treefold_builder_root(builder, 0, ierr)
      call fails('a root for what has ended', ierr, TREEFOLD_NULL)
      call treefold_builder_agreed(builder, ierr)
      call fails('what has ended is agreed', ierr, TREEFOLD_NULL)
   end subroutine builders

   subroutine begin(comm, builder)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder), intent(inout) :: builder

      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
   end subroutine begin

   subroutine total_by(what, builder, mine, all)
      character(len=*), intent(in) :: what
      type(treefold_builder), intent(in) :: builder
      real(real64), intent(in) :: mine(:), all(:)
      type(treefold_plan) :: plan
      real(real64) :: total
      integer :: ierr

      call treefold_plan_build(builder, plan, ierr)
      call fails(what // ', build', ierr, TREEFOLD_OK)
      if (ierr /= TREEFOLD_OK) return
      call treefold_allreduce(plan, mine, total, ierr)
      call fails(what, ierr, TREEFOLD_OK)
      call same(what, transfer(total, BYTES), transfer(tree(all), BYTES))
   end subroutine total_by

   subroutine build_fails(what, builder, expected)
      character(len=*), intent(in) :: what
      type(treefold_builder), intent(in) :: builder
      integer, intent(in) :: expected
      type(treefold_plan) :: plan
      real(real64) :: total
      integer :: ierr

      call treefold_plan_build(builder, plan, ierr)
      call fails(what, ierr, expected)
      call treefold_allreduce(plan, [1.0_real64], total, ierr)
      call fails(what // ', a call of the plan', ierr, TREEFOLD_NULL)
   end subroutine build_fails

   ! ---- Plans -----------------------------------------------------------------------------------------------------------------

   ! Every algorithm, with its parameters, gives the same bits, and says who it is.
   subroutine plans(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      character(len=:), allocatable :: name, text
      real(real64) :: x(WIDTH, N), row(WIDTH)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i, columns, algorithm, ierr

      x = reshape([(1.0_real64 / i, i = 1, size(x))], shape(x))
      call stretch(N, first, last)
      call check('some algorithms', treefold_algorithm_count() > 3)
      call check('no algorithm 0', treefold_algorithm_name(0) == '')
      call check('none beyond the last', treefold_algorithm_name(treefold_algorithm_count() + 1) == '')

      do algorithm = 1, treefold_algorithm_count()
         name = treefold_algorithm_name(algorithm)
         call begin(comm, builder)
         call treefold_builder_local_items(builder, last - first)
         call treefold_builder_width(builder, WIDTH)
         call treefold_builder_algorithm(builder, name)
         columns = WIDTH
         call treefold_plan_build(builder, plan, ierr)
         if (ierr == TREEFOLD_UNSUPPORTED) then
            ! Algorithms of single values.
            columns = 1
            call treefold_builder_width(builder, 1)
            call treefold_plan_build(builder, plan, ierr)
         end if
         call fails('a plan by ' // name, ierr, TREEFOLD_OK)
         call treefold_plan_algorithm(plan, TREEFOLD_CALL_ALLREDUCE, text)
         call check('an algorithm for allreduce by ' // name, len(text) > 0)
         call treefold_plan_print(plan, text)
         call check('a text for ' // name, len(text) > 20)
         row = 0
         call treefold_allreduce(plan, x(:columns, first + 1:last), row(:columns), ierr)
         call fails(name, ierr, TREEFOLD_OK)
         do i = 1, columns
            call same(name, transfer(row(i), BYTES), transfer(tree(x(i, :)), BYTES))
         end do
      end do

      call parameter_changes_no_bit(comm, 'blocks')
      call parameter_changes_no_bit(comm, 'ports')
      call parameter_changes_no_bit(comm, 'node_ranks')
      call parameter_changes_no_bit(comm, 'message_limit')

      call treefold_plan_algorithm(plan, 77, text, ierr)
      call fails('an operation that does not exist', ierr, TREEFOLD_ARGUMENT)
      call treefold_plan_destroy(plan)
      call treefold_plan_destroy(plan, ierr)
      call fails('the end of a plan that has ended', ierr, TREEFOLD_OK)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_SCAN, text, ierr)
      call fails('the algorithm of what has ended', ierr, TREEFOLD_NULL)
      call treefold_plan_print(plan, text, ierr)
      call fails('the text of what has ended', ierr, TREEFOLD_NULL)
      call treefold_plan_scattered_columns(plan, begin_column, end_column, ierr)
      call fails('the columns of what has ended', ierr, TREEFOLD_NULL)
   end subroutine plans

   subroutine parameter_changes_no_bit(comm, parameter)
      type(treefold_comm), intent(in) :: comm
      character(len=*), intent(in) :: parameter
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      real(real64) :: x(WIDTH, N), row(WIDTH)
      integer :: first, last, i, ierr

      x = reshape([(1.0_real64 / i, i = 1, size(x))], shape(x))
      call stretch(N, first, last)
      call begin(comm, builder)
      call treefold_builder_local_items(builder, last - first)
      call treefold_builder_width(builder, WIDTH)
      select case (parameter)
      case ('blocks')
         call treefold_builder_blocks(builder, 2)
      case ('ports')
         call treefold_builder_algorithm(builder, 'bruck')
         call treefold_builder_ports(builder, 2)
      case ('node_ranks')
         call treefold_builder_algorithm(builder, 'hierarchical')
         call treefold_builder_node_ranks(builder, 2)
      case ('message_limit')
         call treefold_builder_message_limit(builder, 2)
         call treefold_builder_message_limit(builder, 2_int64)
      end select
      call treefold_plan_build(builder, plan, ierr)
      call fails(parameter // ', build', ierr, TREEFOLD_OK)
      if (ierr /= TREEFOLD_OK) return
      call treefold_allreduce(plan, x(:, first + 1:last), row, ierr)
      call fails(parameter, ierr, TREEFOLD_OK)
      do i = 1, WIDTH
         call same(parameter, transfer(row(i), BYTES), transfer(tree(x(i, :)), BYTES))
      end do
   end subroutine parameter_changes_no_bit

   ! ---- Every call with every type --------------------------------------------------------------------------------------------

   subroutine walk_f32(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      real(real32) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      real(real32), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([((-1)**i / real(i, real32), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_F32, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce f32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column f32', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root f32', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce f32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column f32', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast f32', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter f32', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan f32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan f32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan f32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan f32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns f32', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns f32', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_f32

   subroutine walk_f64(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      real(real64) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      real(real64), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([((-1)**i / real(i, real64), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_F64, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce f64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column f64', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root f64', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce f64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column f64', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast f64', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter f64', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan f64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan f64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan f64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan f64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns f64', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns f64', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_f64

   subroutine walk_c32(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      complex(real32) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      complex(real32), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(cmplx(1.0_real32 / i, (-1)**i * sqrt(real(i, real32)), real32), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_C32, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce c32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column c32', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root c32', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce c32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column c32', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast c32', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter c32', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan c32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan c32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan c32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan c32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns c32', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns c32', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_c32

   subroutine walk_c64(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      complex(real64) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      complex(real64), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(cmplx(1.0_real64 / i, (-1)**i * sqrt(real(i, real64)), real64), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_C64, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce c64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column c64', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root c64', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce c64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column c64', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast c64', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter c64', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan c64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan c64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan c64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan c64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns c64', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns c64', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_c64

   subroutine walk_i8(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      integer(int8) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      integer(int8), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(int(modulo(7919 * i * i, 251) - 125, int8), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_I8, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce i8', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column i8', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root i8', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce i8', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column i8', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast i8', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter i8', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan i8', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan i8', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan i8', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan i8', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns i8', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns i8', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_i8

   subroutine walk_i16(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      integer(int16) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      integer(int16), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(int(modulo(7919 * i * i, 251) - 125, int16), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_I16, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce i16', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column i16', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root i16', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce i16', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column i16', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast i16', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter i16', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan i16', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan i16', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan i16', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan i16', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns i16', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns i16', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_i16

   subroutine walk_i32(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      integer(int32) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      integer(int32), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(int(modulo(7919 * i * i, 251) - 125, int32), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_I32, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce i32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column i32', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root i32', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce i32', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column i32', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast i32', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter i32', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan i32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan i32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan i32', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan i32', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns i32', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns i32', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_i32

   subroutine walk_i64(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide, narrow
      type(treefold_run) :: run
      integer(int64) :: all(WIDTH, N), total(WIDTH), rows(WIDTH, 4), s(4)
      integer(int64), allocatable :: mine(:, :), flat(:), up_to(:, :), before(:, :), scanned(:, :), parts(:, :)
      integer(int64) :: begin_column, end_column
      integer :: first, last, i
      logical :: is_mine(4), is_done

      all = reshape([(int(modulo(7919 * i * i, 251) - 125, int64), i = 1, size(all))], shape(all))
      total = treefold_sum_rows(all)
      call stretch(N, first, last)
      allocate (mine(WIDTH, last - first), up_to(WIDTH, last - first), before(WIDTH, last - first))
      allocate (scanned(WIDTH, last - first), flat(WIDTH * (last - first)))
      mine = all(:, first + 1:last)
      flat = reshape(mine, [size(mine)])
      do i = first + 1, last
         up_to(:, i - first) = treefold_sum_rows(all(:, :i))
         before(:, i - first) = treefold_sum_rows(all(:, :i - 1))
      end do
      call build_two(comm, TREEFOLD_I64, last - first, narrow, wide)

      rows = 0
      call treefold_allreduce(wide, mine, rows(:, 1))
      call treefold_allreduce(wide, flat, rows(:, 2))
      call treefold_start_allreduce(wide, mine, run)
      call treefold_test(run, is_done)
      call treefold_wait_timeout(run, 60.0_real64)
      call treefold_wait(run, rows(:, 3))
      call treefold_start_allreduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4), is_mine(1))
      call same('allreduce i64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      s = 0
      call treefold_allreduce(narrow, mine(1, :), s(1))
      call treefold_allreduce(narrow, mine(1, :), s(2:2))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(3))
      call treefold_start_allreduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(4:4))
      call same('allreduce of a column i64', transfer(s, BYTES), transfer(spread(total(1), 1, 4), BYTES))

      rows = 0
      call treefold_reduce(wide, mine, rows(:, 1), is_mine(1))
      call treefold_reduce(wide, flat, rows(:, 2))
      call treefold_start_reduce(wide, mine, run)
      call treefold_wait(run, rows(:, 3), is_mine(2))
      call treefold_start_reduce(wide, flat, run)
      call treefold_wait(run, rows(:, 4))
      s = 0
      call treefold_reduce(narrow, mine(1, :), s(1), is_mine(3))
      call treefold_start_reduce(narrow, mine(1, :), run)
      call treefold_wait(run, s(2), is_mine(4))
      call check('who is the root i64', all_are(is_mine, rank == ranks - 1))
      if (rank /= ranks - 1) total = 0
      call same('reduce i64', transfer(rows, BYTES), transfer(spread(total, 2, 4), BYTES))
      call same('reduce of a column i64', transfer(s(:2), BYTES), transfer(spread(total(1), 1, 2), BYTES))

      ! Which row total still is on the root only.
      rows = spread(total, 2, 4)
      call treefold_broadcast(wide, rows(:, 1))
      call treefold_broadcast(narrow, rows(1, 2))
      total = treefold_sum_rows(all)
      call same('broadcast i64', transfer([rows(:, 1), rows(1, 2)], BYTES), transfer([total, total(1)], BYTES))

      call treefold_plan_scattered_columns(wide, begin_column, end_column)
      allocate (parts(end_column - begin_column, 4))
      call treefold_reduce_scatter(wide, mine, parts(:, 1))
      call treefold_reduce_scatter(wide, flat, parts(:, 2))
      call treefold_start_reduce_scatter(wide, mine, run)
      call treefold_wait(run, parts(:, 3))
      call treefold_start_reduce_scatter(wide, flat, run)
      call treefold_wait(run, parts(:, 4))
      call same('reduce_scatter i64', transfer(parts, BYTES), transfer(spread(total(begin_column + 1:end_column), 2, 4), BYTES))

      call treefold_scan(wide, mine, scanned)
      call same('scan i64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(wide, mine, scanned)
      call same('exscan i64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan i64', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(wide, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan i64', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_scan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('scan of columns i64', transfer(scanned(:2, :), BYTES), transfer(up_to(:2, :), BYTES))
      call treefold_exscan(narrow, mine(1, :), scanned(1, :))
      call treefold_start_exscan(narrow, mine(2, :), run)
      call treefold_wait(run, scanned(2, :))
      call same('exscan of columns i64', transfer(scanned(:2, :), BYTES), transfer(before(:2, :), BYTES))
   end subroutine walk_i64

   ! A plan for numbers, and one for rows, of a type.
   subroutine build_two(comm, type, items, narrow, wide)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, items
      type(treefold_plan), intent(inout) :: narrow, wide
      type(treefold_builder) :: builder

      call treefold_builder_create(comm, type, TREEFOLD_OP_SUM, builder)
      call treefold_builder_local_items(builder, items)
      call treefold_builder_root(builder, ranks - 1)
      call treefold_plan_build(builder, narrow)
      call treefold_builder_width(builder, WIDTH)
      call treefold_plan_build(builder, wide)
   end subroutine build_two

   function all_are(values, expected) result(are)
      logical, intent(in) :: values(:), expected
      logical :: are

      are = all(values .eqv. expected)
   end function all_are

   ! ---- Operators of the caller -----------------------------------------------------------------------------------------------

   ! Maps y -> a y + b, which are composed: as columns of numbers, and by their addresses.
   subroutine operators(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64), target :: maps(2, N), expected(2), map(2), one(2)
      real(real64), allocatable, target :: mine(:, :), scanned(:, :), before(:, :)
      integer(int64) :: count
      integer :: first, last, i, ierr
      logical :: is_mine

      maps = reshape([(1 - 1.0_real64 / (i + 1), 1.0_real64 / i, i = 1, N)], shape(maps))
      one = [1, 0]
      call stretch(N, first, last)
      allocate (mine(2, last - first), scanned(2, last - first), before(2, last - first))
      mine = maps(:, first + 1:last)
      count = last - first
      call treefold_fold(maps, composed, expected)
      do i = first + 1, last
         call treefold_fold(maps(:, :i - 1), composed, before(:, i - first), empty=one)
      end do

      call treefold_builder_create_user(comm, 'composition', 16, composed, builder, empty=c_loc(one))
      call treefold_builder_local_items(builder, count)
      call treefold_plan_build(builder, plan)

      call treefold_allreduce(plan, mine, map)
      call same('maps', transfer(map, BYTES), transfer(expected, BYTES))
      map = 0
      call treefold_start_allreduce(plan, mine, run)
      call treefold_wait(run, map)
      call same('started maps', transfer(map, BYTES), transfer(expected, BYTES))
      call treefold_exscan(plan, mine, scanned)
      call same('exscan of maps', transfer(scanned, BYTES), transfer(before, BYTES))

      map = 0
      call treefold_allreduce(plan, c_loc(mine), count, c_loc(map), 1_int64)
      call same('maps by address', transfer(map, BYTES), transfer(expected, BYTES))
      map = 0
      call treefold_reduce(plan, c_loc(mine), count, c_loc(map), 1_int64, is_mine)
      call same('reduce of maps', transfer(map, BYTES), transfer(merge(expected, 0 * expected, is_mine), BYTES))
      call check('the root by default', is_mine .eqv. rank == 0)
      map = merge(expected, 0 * expected, is_mine)
      call treefold_broadcast(plan, c_loc(map), 1_int64)
      call same('broadcast of a map', transfer(map, BYTES), transfer(expected, BYTES))
      map = expected
      call treefold_reduce_scatter(plan, c_loc(mine), count, c_loc(map), int(merge(1, 0, rank == 0), int64))
      call same('reduce_scatter of maps', transfer(map, BYTES), transfer(expected, BYTES))
      scanned = 0
      call treefold_exscan(plan, c_loc(mine), count, c_loc(scanned), count)
      call same('exscan by address', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_scan(plan, c_loc(mine), count, c_loc(scanned), count)
      if (rank == ranks - 1) call same('scan by address', transfer(scanned(:, count), BYTES), transfer(expected, BYTES))

      call treefold_start_allreduce(plan, c_loc(mine), count, run)
      call treefold_wait(run, c_loc(map), 1_int64)
      call same('started maps by address', transfer(map, BYTES), transfer(expected, BYTES))
      map = expected
      call treefold_start_reduce(plan, c_loc(mine), count, run)
      call treefold_wait(run, c_loc(map), 1_int64, is_mine)
      call same('started reduce by address', transfer(map, BYTES), transfer(expected, BYTES))
      call treefold_start_reduce_scatter(plan, c_loc(mine), count, run)
      call treefold_wait(run, c_loc(map), int(merge(1, 0, rank == 0), int64))
      call same('started reduce_scatter by address', transfer(map, BYTES), transfer(expected, BYTES))
      scanned = 0
      call treefold_start_exscan(plan, c_loc(mine), count, run)
      call treefold_wait(run, c_loc(scanned), count)
      call same('started exscan by address', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(plan, c_loc(mine), count, run)
      call treefold_wait(run, c_loc(scanned), count)
      if (rank == ranks - 1) call same('started scan by address', transfer(scanned(:, count), BYTES), transfer(expected, BYTES))

      ! Bytes that are no whole items, on every rank.
      call treefold_allreduce(plan, mine, map(:1), ierr)
      call fails('half a map', ierr, TREEFOLD_LENGTH)
      call check('its text', index(treefold_error_message(), 'result has 8 bytes') == 1)
      call treefold_allreduce(plan, mine, map, ierr)
      call fails('a plan whose run failed', ierr, TREEFOLD_SPENT)

      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, c_loc(mine), -1_int64, c_loc(map), 1_int64, ierr)
      call fails('a negative number of maps', ierr, TREEFOLD_ARGUMENT)

      call treefold_builder_create_user(comm, 'no value for nothing', 16, composed, builder)
      call treefold_builder_local_items(builder, 0)
      call treefold_plan_build(builder, plan, ierr)
      if (ierr == TREEFOLD_OK) call treefold_allreduce(plan, mine(:, :0), map, ierr)
      call fails('no maps', ierr, TREEFOLD_EMPTY)

      call treefold_builder_create_user(comm, 'failing', 16, failing, builder)
      call treefold_builder_even(builder, 64 * ranks)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, reshape([(1.0_real64, i = 1, 128)], [2, 64]), map, ierr)
      call fails('an operator that fails', ierr, TREEFOLD_OPERATOR)

      call treefold_builder_create_user(comm, 'odd', 3, composed, builder, ierr=ierr)
      call fails('items of three bytes', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create_user(comm, 'negative', -16, composed, builder, ierr=ierr)
      call fails('items of less than no bytes', ierr, TREEFOLD_ARGUMENT)
   end subroutine operators

   ! ---- Split phase -----------------------------------------------------------------------------------------------------------

   subroutine split_phase(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan, other
      type(treefold_run) :: run, second
      real(real64) :: x(N), total
      real(real64), allocatable :: mine(:), scanned(:)
      integer :: first, last, i, ierr
      logical :: is_done, is_so
      character(len=:), allocatable :: name, planned

      x = [(1.0_real64 / i, i = 1, N)]
      call stretch(N, first, last)
      call begin(comm, builder)
      call treefold_builder_local_items(builder, last - first)
      call treefold_plan_build(builder, plan)
      call treefold_plan_build(builder, other)

      ! Two at once, whose arrays are free after the start; waited for in the other order on odd ranks.
      mine = x(first + 1:last)
      call treefold_start_allreduce(plan, mine, run)
      mine = 0
      call treefold_start_allreduce(other, mine, second)
      call treefold_start_allreduce(plan, mine, run, ierr)
      call fails('a run that is under way', ierr, TREEFOLD_ARGUMENT)
      if (mod(rank, 2) == 0) then
         call treefold_wait(run, total)
         call same('the first of two', transfer(total, BYTES), transfer(tree(x), BYTES))
         call treefold_wait(second, total)
         call same('the second of two', transfer(total, BYTES), transfer(0.0_real64, BYTES))
      else
         call treefold_wait(second, total)
         call same('the second of two', transfer(total, BYTES), transfer(0.0_real64, BYTES))
         call treefold_wait(run, total)
         call same('the first of two', transfer(total, BYTES), transfer(tree(x), BYTES))
      end if

      ! A plan has one run at a time, which goes on.
      mine = x(first + 1:last)
      call treefold_plan_pending(plan, is_so)
      call check('a plan without a run', .not. is_so)
      call treefold_start_allreduce(plan, mine, run)
      call treefold_plan_pending(plan, is_so)
      call check('a plan with a run', is_so)
      call treefold_plan_pending(other, is_so)
      call check('another plan without a run', .not. is_so)
      call treefold_run_of_plan(run, plan, is_so)
      call check('a run of this plan', is_so)
      call treefold_run_of_plan(run, other, is_so)
      call check('a run of another plan', .not. is_so)
      call treefold_run_algorithm(run, name)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_ALLREDUCE, planned)
      call check('the algorithm of a run', len(name) > 0 .and. name == planned)
      call treefold_allreduce(plan, mine, total, ierr)
      call fails('a plan that is under way', ierr, TREEFOLD_UNDER_WAY)
      call treefold_wait(run, total)
      call same('it went on', transfer(total, BYTES), transfer(tree(x), BYTES))
      call treefold_plan_pending(plan, is_so)
      call check('a plan after its run', .not. is_so)
      call treefold_run_algorithm(run, name, ierr)
      call fails('the algorithm of no run', ierr, TREEFOLD_NULL)

      ! A wait that is over too soon, for the last rank, which has items for sure. With one rank nothing is waited for.
      if (ranks > 1) then
         if (rank /= ranks - 1) then
            call treefold_start_allreduce(plan, mine, run)
            call treefold_wait_timeout(run, 0.0_real64, ierr)
            call fails('no time', ierr, TREEFOLD_TIMED_OUT)
         end if
         call MPI_Barrier(MPI_COMM_WORLD)
         if (rank == ranks - 1) call treefold_start_allreduce(plan, mine, run)
         is_done = .false.
         do while (.not. is_done)
            call treefold_test(run, is_done)
         end do
         call treefold_wait(run, total)
         call same('after no time', transfer(total, BYTES), transfer(tree(x), BYTES))
      end if

      ! A result of another length or type ends the run well.
      call treefold_start_allreduce(plan, mine, run)
      call treefold_wait(run, x, ierr=ierr)
      call fails('a result that is too long', ierr, TREEFOLD_LENGTH)
      call treefold_start_allreduce(plan, mine, run)
      call treefold_wait(run, i, ierr=ierr)
      call fails('a result of another type', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'result is integer(int32), the plan is for real(real64)')
      call treefold_allreduce(plan, mine, total, ierr)
      call fails('the plan after both', ierr, TREEFOLD_OK)

      ! Without room for each item's prefix a scan has no result, and ends well.
      allocate (scanned(last - first + 1))
      call treefold_start_scan(plan, mine, run)
      call treefold_wait(run, scanned, ierr=ierr)
      call fails('a wait for a scan of fewer items', ierr, TREEFOLD_LENGTH)
      call treefold_start_scan(plan, mine, run)
      call treefold_wait(run, scanned(:last - first), ierr=ierr)
      call fails('the scan after that', ierr, TREEFOLD_OK)

      ! Nothing is under way.
      call treefold_test(second, is_done, ierr)
      call fails('a test of nothing', ierr, TREEFOLD_NULL)
      call treefold_wait_timeout(second, 1.0_real64, ierr)
      call fails('a wait for nothing, for a time', ierr, TREEFOLD_NULL)
      call treefold_wait(second, total, ierr=ierr)
      call fails('a wait for nothing', ierr, TREEFOLD_NULL)
      call treefold_wait(second, scanned, ierr=ierr)
      call fails('a wait for no scan', ierr, TREEFOLD_NULL)
      call treefold_cancel(second, ierr)
      call fails('the end of nothing', ierr, TREEFOLD_OK)

      ! Every rank abandons a run: its plan is spent.
      call treefold_plan_build(builder, plan)
      call treefold_start_allreduce(plan, mine, run)
      call treefold_cancel(run)
      call treefold_allreduce(plan, mine, total, ierr)
      call check('a plan whose run was cancelled', ierr == TREEFOLD_SPENT .or. ierr == TREEFOLD_RANK_FAILED)
      call treefold_plan_build(builder, plan, ierr)
      call fails('another plan', ierr, TREEFOLD_OK)
      call treefold_allreduce(plan, mine, total, ierr)
      call fails('a run of another plan', ierr, TREEFOLD_OK)
   end subroutine split_phase

   ! ---- Errors ----------------------------------------------------------------------------------------------------------------

   ! What every rank does wrong alike.
   subroutine local_errors(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(2), total
      real(real32) :: small(2), small_total
      integer(int64) :: word
      integer :: ierr

      x = [1, 2]
      small = [1, 2]
      call begin(comm, builder)
      call treefold_builder_local_items(builder, 2)

      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, small, small_total, ierr)
      call fails('arrays of another type', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'local is real(real32), the plan is for real(real64)')
      call treefold_allreduce(plan, x, total, ierr)
      call fails('a plan after that', ierr, TREEFOLD_SPENT)

      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x(:1), total, ierr)
      call fails('an array of another length', ierr, TREEFOLD_LENGTH)

      call treefold_plan_build(builder, plan)
      call treefold_start_allreduce(plan, small, run, ierr)
      call fails('the start with another type', ierr, TREEFOLD_OK)
      call treefold_wait(run, total, ierr=ierr)
      call fails('the wait for another type', ierr, TREEFOLD_ARGUMENT)
      call treefold_wait(run, total, ierr=ierr)
      call fails('a wait for what is over', ierr, TREEFOLD_NULL)

      ! Unsigned integers travel in signed ones of their size.
      call treefold_builder_create(comm, TREEFOLD_U64, TREEFOLD_OP_MAX, builder)
      call treefold_builder_local_items(builder, 2)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, [-1_int64, 5_int64], word)
      call check('the greatest unsigned number', word == -1)
      call treefold_allreduce(plan, [-1_int32, 5_int32], ierr, ierr=ierr)
      call fails('unsigned numbers of another size', ierr, TREEFOLD_ARGUMENT)
   end subroutine local_errors

   ! What one rank does wrong, of which the others hear.
   subroutine errors_of_ranks(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(2), total
      real(real32) :: small_total
      integer :: ierr

      if (ranks == 1) return
      x = [1, 2]
      call begin(comm, builder)
      call treefold_builder_local_items(builder, 2)
      call treefold_builder_width(builder, merge(2, 1, rank == 1))
      call build_fails('another width on one rank', builder, TREEFOLD_DISAGREE)
      call treefold_builder_width(builder, 1)

      call treefold_plan_build(builder, plan)
      if (rank == 1) then
         call treefold_allreduce(plan, real(x, real32), small_total, ierr)
         call fails('another type on this rank', ierr, TREEFOLD_ARGUMENT)
      else
         call treefold_allreduce(plan, x, total, ierr)
         call fails('another type on rank 1', ierr, TREEFOLD_RANK_FAILED)
         call check('it is rank 1', treefold_error_rank() == 1)
      end if

      call treefold_plan_build(builder, plan)
      if (rank == 1) then
         call treefold_start_allreduce(plan, real(x, real32), run)
      else
         call treefold_start_allreduce(plan, x, run)
      end if
      call treefold_wait(run, total, ierr=ierr)
      call fails('a start with another type on rank 1', ierr, merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 1))

      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x(:merge(1, 2, rank == 1)), total, ierr)
      call fails('another length on rank 1', ierr, merge(TREEFOLD_LENGTH, TREEFOLD_RANK_FAILED, rank == 1))

      ! One of a rank without items, which the others need not notice; nor do they wait for it.
      call treefold_builder_local_items(builder, merge(0, 2, rank == 1))
      call treefold_plan_build(builder, plan)
      if (rank == 1) then
         call treefold_allreduce(plan, real(x(:0), real32), small_total, ierr)
         call fails('another type and no items on this rank', ierr, TREEFOLD_ARGUMENT)
      else
         call treefold_allreduce(plan, x, total, ierr)
         call check('another type and no items on rank 1', ierr == TREEFOLD_OK .or. ierr == TREEFOLD_RANK_FAILED)
      end if
      call treefold_builder_local_items(builder, 2)

      ! The communicator goes on.
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x, total)
      call check('after the errors', int(total) == 3 * ranks)
   end subroutine errors_of_ranks

   ! ---- Handles ---------------------------------------------------------------------------------------------------------------

   ! What went out of scope has ended, once: C does not know the handles any more.
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

      ! A component, an array of plans, and one that is built over another.
      call begin(comm, builder)
      call treefold_builder_even(builder, ranks)
      allocate (one%others(2))
      call treefold_plan_build(builder, one%plan)
      handles(1) = transfer(one%plan, c_null_ptr)
      call treefold_plan_build(builder, one%plan)
      call check('a plan ends where another is built', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call treefold_plan_build(builder, one%others(1))
      call treefold_plan_build(builder, one%others(2))
      handles(1) = transfer(one%others(1), c_null_ptr)
      handles(2) = transfer(one%others(2), c_null_ptr)
      call treefold_allreduce(one%plan, [1.0_real64], total)
      call treefold_allreduce(one%others(2), [1.0_real64], total)
      deallocate (one%others)
      call check('the first of an array has ended', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call check('the second of an array has ended', c_plan_destroy(handles(2)) == TREEFOLD_ARGUMENT)

      ! Moved, not copied.
      allocate (moved)
      call treefold_plan_build(builder, moved)
      handles(1) = transfer(moved, c_null_ptr)
      call move_alloc(moved, target_of_move)
      call treefold_allreduce(target_of_move, [1.0_real64], total, ierr)
      call fails('a plan that was moved', ierr, TREEFOLD_OK)
      deallocate (target_of_move)
      call check('it has ended where it was moved to', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)

      ! Nothing can be assigned; it ends what was there.
      call treefold_plan_build(builder, plan)
      handles(1) = transfer(plan, c_null_ptr)
      plan = treefold_plan()
      call check('a plan that nothing is assigned to', c_plan_destroy(handles(1)) == TREEFOLD_ARGUMENT)
      call treefold_allreduce(plan, [1.0_real64], total, ierr)
      call fails('a plan after that', ierr, TREEFOLD_NULL)
   end subroutine handles_end

   subroutine leave_four(handles)
      type(c_ptr), intent(out) :: handles(4)
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call begin(comm, builder)
      call treefold_builder_local_items(builder, 1)
      call treefold_plan_build(builder, plan)
      call treefold_start_allreduce(plan, [1.0_real64], run)
      handles(1) = transfer(comm, c_null_ptr)
      handles(2) = transfer(builder, c_null_ptr)
      handles(3) = transfer(plan, c_null_ptr)
      handles(4) = transfer(run, c_null_ptr)
   end subroutine leave_four

   subroutine copy_a_plan()
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(solver) :: one, other

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call begin(comm, builder)
      call treefold_builder_even(builder, N)
      call treefold_plan_build(builder, one%plan)
      other = one
      ! Not reached: this would look like success.
      call treefold_plan_destroy(other%plan)
   end subroutine copy_a_plan

   ! ---- What the checks are made of -------------------------------------------------------------------------------------------

   subroutine fails(what, ierr, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= expected .and. ierr /= TREEFOLD_OK) write (error_unit, '(2a)') '   ', treefold_error_message()
   end subroutine fails

   subroutine same(what, found, expected)
      character(len=*), intent(in) :: what
      integer(int8), intent(in) :: found(:), expected(:)

      if (size(found) /= size(expected)) then
         call check(what // ': another length', .false.)
      else
         call check(what // ': other bits', all(found == expected))
      end if
   end subroutine same

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      checks = checks + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': ', what
   end subroutine check
end program mpi_walk
