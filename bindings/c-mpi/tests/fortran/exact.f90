! Runs the exact plans of module treefold_mpi, and its dot products, on any number of ranks, with valid and with invalid arguments.
! The results must be those of 64-bit integer arithmetic. The tests in C check what does not depend on Fortran.
!
!     mpifort treefold_descriptor.c treefold.F90 treefold_mpi.F90 exact.f90 -ltreefold && mpirun -n 3 ./a.out

include 'checks.inc'

program exact_walk
   use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
   use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
   use checks
   implicit none

   integer, parameter :: WIDTH = 3, N = 40
   integer, parameter :: STATISTICS(4) = [TREEFOLD_STATISTIC_SUM, TREEFOLD_STATISTIC_NORM, TREEFOLD_STATISTIC_DOT, &
      TREEFOLD_STATISTIC_VDOT]
   integer(int64) :: x(WIDTH, N), y(WIDTH, N)

   call begin_program()
   call walk()
   call end_program('exact plans')

contains

   ! x holds integers of 20 bits, which every type represents exactly. y holds such integers multiplied by up to 2^10, so that the
   ! sums of products may need more bits than the significand of any type has.
   subroutine walk()
      type(treefold_comm) :: comm
      integer(int64) :: state
      integer :: i, j

      state = 12345
      do i = 1, N
         do j = 1, WIDTH
            state = mod(state * 48271_int64, 2147483647_int64)
            x(j, i) = mod(state, 1048576_int64) - 524288
            y(j, i) = (mod(state / 3, 1048576_int64) - 524288) * 2_int64**mod(i, 11)
         end do
      end do
      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call all_types(comm)
      call others(comm)
      call apart(comm)
      call local_errors(comm)
      call errors_of_ranks(comm)
   end subroutine walk

   subroutine build(comm, type, statistic, columns, plan)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, statistic, columns
      type(treefold_plan), intent(inout) :: plan
      type(treefold_builder) :: builder

      call treefold_builder_create_exact(comm, type, statistic, builder)
      call treefold_builder_set(builder, width=columns, root=ranks - 1)
      call treefold_plan_build(builder, plan)
   end subroutine build

   ! ---- Every type and statistic ------------------------------------------------------------------------------------------------

   ! Checks every type with two distributions of the items.
   subroutine all_types(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      real(real32) :: f32(WIDTH, N, 5)
      real(real64) :: f64(WIDTH, N, 5)
      complex(real32) :: c32(WIDTH, N, 5)
      complex(real64) :: c64(WIDTH, N, 5)
      integer, allocatable :: own(:)
      integer(int64) :: a, b
      integer :: type, step

      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, WIDTH, plan)
      call treefold_plan_scattered_columns(plan, a, b)
      a = a + 1
      do type = TREEFOLD_F32, TREEFOLD_C64
         do step = 0, 1
            own = dealt(N, step, rank)
            select case (type)
            case (TREEFOLD_F32)
               call put(type, pack(x, .true.), f32(:, :, 1))
               call put(type, pack(y, .true.), f32(:, :, 2))
               call statistics_of(comm, type, f32(:, own, 1), f32(:, own, 2), f32(1, own, 1), f32(1, own, 2), f32(:, 1, 3), &
                  f32(a:b, 1, 4), f32(1, 1, 5))
            case (TREEFOLD_F64)
               call put(type, pack(x, .true.), f64(:, :, 1))
               call put(type, pack(y, .true.), f64(:, :, 2))
               call statistics_of(comm, type, f64(:, own, 1), f64(:, own, 2), f64(1, own, 1), f64(1, own, 2), f64(:, 1, 3), &
                  f64(a:b, 1, 4), f64(1, 1, 5))
            case (TREEFOLD_C32)
               call put(type, pack(x, .true.), c32(:, :, 1))
               call put(type, pack(y, .true.), c32(:, :, 2))
               call statistics_of(comm, type, c32(:, own, 1), c32(:, own, 2), c32(1, own, 1), c32(1, own, 2), c32(:, 1, 3), &
                  c32(a:b, 1, 4), c32(1, 1, 5))
            case default
               call put(type, pack(x, .true.), c64(:, :, 1))
               call put(type, pack(y, .true.), c64(:, :, 2))
               call statistics_of(comm, type, c64(:, own, 1), c64(:, own, 2), c64(1, own, 1), c64(1, own, 2), c64(:, 1, 3), &
                  c64(a:b, 1, 4), c64(1, 1, 5))
            end select
         end do
      end do
   end subroutine all_types

   subroutine statistics_of(comm, type, x_rows, y_rows, x_column, y_column, row, part, one)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type
      type(*), dimension(..), intent(in) :: x_rows, y_rows, x_column, y_column
      type(*), dimension(..), intent(inout) :: row, part, one
      type(treefold_builder) :: builder
      type(treefold_plan) :: wide, narrow
      integer(int8), allocatable :: expected(:)
      integer(int64) :: begin, end
      integer :: i, way, operation, each, ierr
      character(len=:), allocatable :: what

      do i = 1, size(STATISTICS)
         call treefold_builder_create_exact(comm, type, STATISTICS(i), builder, ierr)
         if (type >= TREEFOLD_C32 .and. STATISTICS(i) == TREEFOLD_STATISTIC_NORM) then
            call fails('a norm of complex numbers', ierr, TREEFOLD_UNSUPPORTED)
            cycle
         end if
         call build(comm, type, STATISTICS(i), WIDTH, wide)
         call build(comm, type, STATISTICS(i), 1, narrow)
         call treefold_plan_scattered_columns(wide, begin, end)
         expected = value_of(type, STATISTICS(i))
         each = size(expected) / WIDTH
         what = 'type ' // achar(48 + type) // ', statistic ' // achar(48 + i)
         do way = 1, 4
            do operation = TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE
               if (i <= 2) then
                  call gives(what, way, wide, operation, x_rows, row, expected)
                  call gives(what // ', column', way, narrow, operation, x_column, one, expected(:each))
               else
                  call gives(what, way, wide, operation, x_rows, row, expected, y=y_rows)
                  call gives(what // ', column', way, narrow, operation, x_column, one, expected(:each), y=y_column)
               end if
            end do
            if (i <= 2) call gives(what, way, wide, TREEFOLD_CALL_REDUCE_SCATTER, x_rows, part, &
               expected(begin * each + 1:end * each))
         end do
      end do
   end subroutine statistics_of

   ! Returns the bytes of a row of statistics. The product of x + x i and y + y i is 2 x y i; if one factor is conjugated, 2 x y.
   function value_of(type, statistic) result(bytes)
      integer, intent(in) :: type, statistic
      integer(int8), allocatable :: bytes(:)
      integer(int8), parameter :: BYTE(1) = [0_int8]
      integer(int64) :: dots(WIDTH), none(WIDTH)

      dots = sum(x * y, 2)
      none = 0
      select case (statistic)
      case (TREEFOLD_STATISTIC_SUM)
         bytes = of_type(type, sum(x, 2))
      case (TREEFOLD_STATISTIC_NORM)
         ! The sum of squares is exact in real64, so its root is rounded correctly, even after a conversion to real32.
         if (type == TREEFOLD_F64) bytes = transfer(sqrt(real(sum(x * x, 2), real64)), BYTE)
         if (type == TREEFOLD_F32) bytes = transfer(real(sqrt(real(sum(x * x, 2), real64)), real32), BYTE)
      case default
         if (type <= TREEFOLD_F64) then
            bytes = of_type(type, dots)
         else if (statistic == TREEFOLD_STATISTIC_DOT) then
            bytes = of_type(type - 2, pack(transpose(reshape([none, 2 * dots], [WIDTH, 2])), .true.))
         else
            bytes = of_type(type - 2, pack(transpose(reshape([2 * dots, none], [WIDTH, 2])), .true.))
         end if
      end select
   end function value_of

   ! ---- Others ------------------------------------------------------------------------------------------------------------------

   subroutine others(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      character(len=:), allocatable :: name
      real(real64) :: total
      integer :: way, i, ierr

      call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SKEWNESS, builder, ierr)
      call check('a statistic that plans do not have', ierr /= TREEFOLD_OK)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 1, plan)
      call treefold_allreduce(plan, [real(real64) ::], total)
      call same('the sum of nothing', total, 0.0_real64)
      call treefold_broadcast(plan, total, ierr); call fails('broadcast', ierr, TREEFOLD_UNSUPPORTED)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_BROADCAST, name)
      call check('no algorithm for broadcast', name == '')

      ! A plan in tree order computes a dot product, too. All its products and sums are exact here.
      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
      call treefold_builder_set(builder, local_items=9, root=ranks - 1)
      call treefold_plan_build(builder, plan)
      do way = 1, 4
         call gives('in tree order', way, plan, TREEFOLD_CALL_REDUCE, [(real(i, real64), i = 1, 9)], total, &
            of_type(TREEFOLD_F64, [ranks * 285_int64]), y=[(real(i, real64), i = 1, 9)])
      end do
   end subroutine others

   ! Checks calls that compute the dot products of several pairs of arrays at once, where each array is stored separately.
   subroutine apart(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64), allocatable, target :: left(:, :), right(:, :)
      type(c_ptr) :: lefts(WIDTH), rights(WIDTH)
      real(real64), asynchronous :: row(WIDTH)
      real(real32) :: narrow(WIDTH)
      integer, allocatable :: own(:)
      integer :: i, own_items, ierr
      logical :: is_mine

      allocate (own, source=dealt(N, 1, rank))
      own_items = size(own)
      allocate (left(max(1, own_items), WIDTH), right(max(1, own_items), WIDTH))
      left(:own_items, :) = transpose(real(x(:, own), real64))
      right(:own_items, :) = transpose(real(y(:, own), real64))
      lefts = [(c_loc(left(1, i)), i = 1, WIDTH)]
      rights = [(c_loc(right(1, i)), i = 1, WIDTH)]
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, WIDTH, plan)
      row = 0
      call treefold_run_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts, rights, own_items, row)
      call same('run_dots', row, real(sum(x * y, 2), real64))
      row = 0
      call treefold_run_dots(plan, TREEFOLD_CALL_REDUCE, lefts, rights, int(own_items, int64), row, is_mine)
      call check('the root of run_dots', is_mine .eqv. rank == ranks - 1)
      call same('run_dots of the root', row, merge(real(sum(x * y, 2), real64), 0.0_real64, is_mine))
      call treefold_start_dots(plan, TREEFOLD_CALL_ALLREDUCE, rights, lefts, own_items, run)
      call treefold_wait(run, row)
      call same('start_dots', row, real(sum(x * y, 2), real64))
      row = 0
      call treefold_start_dots(plan, TREEFOLD_CALL_ALLREDUCE, rights, lefts, own_items, run, result=row)
      call treefold_wait(run)
      call same('start_dots with a place', row, real(sum(x * y, 2), real64))

      call treefold_run_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts(:1), rights(:1), own_items, row, ierr=ierr)
      call fails('another number of pairs', ierr, TREEFOLD_LENGTH)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, WIDTH, plan)
      call treefold_run_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts, rights(:1), own_items, row, ierr=ierr)
      call fails('pairs without second arrays', ierr, TREEFOLD_LENGTH)
      call says('`x` has 3 addresses, but `y` has 1')
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, WIDTH, plan)
      call treefold_run_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts, rights, -1, row, ierr=ierr)
      call fails('a negative length', ierr, TREEFOLD_ARGUMENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, WIDTH, plan)
      call treefold_run_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts, rights, own_items, narrow, ierr=ierr)
      call fails('a result of another type', ierr, TREEFOLD_ARGUMENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, WIDTH, plan)
      call treefold_start_dots(plan, TREEFOLD_CALL_ALLREDUCE, lefts, rights, -1, run, ierr)
      call fails('the start of a negative length', ierr, TREEFOLD_ARGUMENT)
   end subroutine apart

   ! ---- Errors ------------------------------------------------------------------------------------------------------------------

   ! Checks mistakes that all ranks make in the same call.
   subroutine local_errors(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: z(4), total, row(2)
      real(real32) :: small(4), small_total
      integer, parameter :: EVERY = TREEFOLD_CALL_ALLREDUCE
      integer :: ierr

      z = [1, 2, 3, 4]
      small = [1, 2, 3, 4]
      call treefold_allreduce(plan, z, total, ierr, y=z)
      call fails('a dot product of a plan that was not built', ierr, TREEFOLD_NULL)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      call treefold_allreduce(plan, z, total, ierr, y=z(:3)); call fails('arrays of two lengths', ierr, TREEFOLD_LENGTH)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      call treefold_allreduce(plan, z, total, ierr); call fails('one array for a plan that takes two', ierr, TREEFOLD_ARGUMENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 1, plan)
      call treefold_start(plan, EVERY, z, run, ierr, y=z)
      call fails('two arrays for a plan that takes one', ierr, TREEFOLD_ARGUMENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      call treefold_allreduce(plan, z, total, ierr, y=small)
      call fails('an array of another type', ierr, TREEFOLD_ARGUMENT)
      call says('`y` is real(real32), but the plan is for real(real64)')
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      call treefold_allreduce(plan, z, total, ierr, y=z, keys=[0, 1, 2, 3]); call fails('`y` and `keys`', ierr, TREEFOLD_ARGUMENT)
      call says('pass `y` or `keys`, but not both')
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      call treefold_start(plan, EVERY, small, run, ierr, y=small)
      call fails('the start with another type', ierr, TREEFOLD_ARGUMENT)
      call says('`local` is real(real32), but the plan is for real(real64)')
      call treefold_wait(run, total, ierr=ierr); call fails('a wait after that', ierr, TREEFOLD_NULL)
      ! If the result has another length or type, the run still completes. A second start fails, and the first run continues.
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 2, plan)
      call treefold_start(plan, EVERY, z, run, y=z)
      call treefold_wait(run, total, ierr=ierr); call fails('a result that is too short', ierr, TREEFOLD_LENGTH)
      call treefold_start(plan, EVERY, z, run, y=z)
      call treefold_wait(run, small(:2), ierr=ierr); call fails('a result of another type', ierr, TREEFOLD_ARGUMENT)
      call treefold_start(plan, EVERY, z, run, y=z)
      call treefold_start(plan, EVERY, z, run, ierr, y=z); call fails('a run that is under way', ierr, TREEFOLD_ARGUMENT)
      call treefold_wait(run, row)
      call check('rows of two', all(nint(row) == [10 * ranks, 20 * ranks]))
      call treefold_allreduce(plan, small, small_total, ierr, y=small)
      call fails('arrays of another type', ierr, TREEFOLD_ARGUMENT)
   end subroutine local_errors

   ! Checks mistakes of rank 0. The other ranks must get errors, not a sum without rank 0's items.
   subroutine errors_of_ranks(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: z(2), total
      real(real32) :: small(2)
      integer, parameter :: EVERY = TREEFOLD_CALL_ALLREDUCE, ROOT = TREEFOLD_CALL_REDUCE
      integer :: expected, ierr
      logical :: is_needed

      if (ranks == 1) return
      z = [1, 2]
      small = [1, 2]
      expected = merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0)
      ! In a reduce, only the root needs contributions, so other ranks may get no error.
      is_needed = rank == 0 .or. rank == ranks - 1

      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 1, plan)
      if (rank == 0) call treefold_reduce(plan, small, total, ierr=ierr)
      if (rank /= 0) call treefold_reduce(plan, z, total, ierr=ierr)
      if (is_needed) call fails('reduce with another type on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      if (rank == 0) call treefold_reduce(plan, small, total, ierr=ierr, y=small)
      if (rank /= 0) call treefold_reduce(plan, z, total, ierr=ierr, y=z)
      if (is_needed) call fails('a dot product with another type on rank 0', ierr, expected)

      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, 1, plan)
      if (rank == 0) then
         call treefold_start(plan, EVERY, small, run, ierr, y=small)
      else
         call treefold_start(plan, EVERY, z, run, y=z)
         call treefold_wait(run, total, ierr=ierr)
      end if
      call fails('a start of two arrays of another type on rank 0', ierr, expected)
      ! The communicator can still be used.
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, 1, plan)
      call treefold_allreduce(plan, z, total)
      call check('after the errors', nint(total) == 3 * ranks)
   end subroutine errors_of_ranks
end program exact_walk
