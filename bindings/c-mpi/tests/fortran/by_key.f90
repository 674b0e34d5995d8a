! Runs the plans by key of module treefold_mpi on any number of ranks, with valid and with invalid arguments. Compares sums with
! sums of 64-bit integers, and other statistics with those of a state to which all items were added.
!
!     mpifort treefold_descriptor.c treefold.F90 treefold_mpi.F90 by_key.f90 -ltreefold && mpirun -n 3 ./a.out

include 'checks.inc'

program keyed_walk
   use, intrinsic :: iso_fortran_env, only: int8, int16, int64, real32, real64
   use checks
   implicit none

   integer, parameter :: N = 500, GROUPS = 17
   integer(int64) :: items(N), totals(GROUPS)
   real(real64) :: x(N)
   integer :: keys(N)

   call begin_program()
   call walk()
   call end_program('plans by key')

contains

   ! The items are integers of 20 bits, shifted left by up to 30 bits. Their sums may need more than the 53 bits of a double. No
   ! item has the last key.
   subroutine walk()
      type(treefold_comm) :: comm
      integer(int64) :: state
      integer :: i

      state = 12345
      totals = 0
      do i = 1, N
         state = mod(state * 48271_int64, 2147483647_int64)
         items(i) = (mod(state, 1048576_int64) - 524288) * 2_int64**mod(i * 7, 31)
         keys(i) = int(mod(state / 7, int(GROUPS - 1, int64)))
         totals(keys(i) + 1) = totals(keys(i) + 1) + items(i)
      end do
      call put(TREEFOLD_F64, items, x)
      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call sums(comm)
      call states(comm)
      call any_keys(comm)
      call mistakes(comm)
   end subroutine walk

   subroutine build(comm, type, statistic, plan)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, statistic
      type(treefold_plan), intent(inout) :: plan
      type(treefold_builder) :: builder

      call treefold_builder_create_by_key(comm, type, statistic, GROUPS, builder)
      call treefold_builder_set(builder, root=ranks - 1)
      call treefold_plan_build(builder, plan)
   end subroutine build

   ! Checks several distributions of the items, and keys of every type with every kind of call.
   subroutine sums(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan, small_plan
      integer, allocatable :: own(:)
      integer(int8) :: expected(8 * GROUPS)
      integer(int64) :: begin, end
      real(real64) :: s(GROUPS)
      real(real32) :: small(GROUPS)
      integer :: step, way, operation, from, to

      expected = of_type(TREEFOLD_F64, totals)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      do step = 0, 2
         own = dealt(N, step, rank)
         call gives('a distribution', 1, plan, TREEFOLD_CALL_ALLREDUCE, x(own), s, expected, keys=keys(own))
      end do

      own = dealt(N, 1, rank)
      call build(comm, TREEFOLD_F32, TREEFOLD_STATISTIC_SUM, small_plan)
      call treefold_plan_scattered_columns(plan, begin, end)
      do operation = TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE_SCATTER
         from = 1
         to = GROUPS
         if (operation == TREEFOLD_CALL_REDUCE_SCATTER) from = int(begin) + 1
         if (operation == TREEFOLD_CALL_REDUCE_SCATTER) to = int(end)
         do way = 1, 4
            call gives('int8', way, plan, operation, x(own), s(from:to), expected(8 * from - 7:8 * to), keys=int(keys(own), int8))
            call gives('int16', way, plan, operation, x(own), s(from:to), expected(8 * from - 7:8 * to), keys=int(keys(own), int16))
            call gives('int32', way, plan, operation, x(own), s(from:to), expected(8 * from - 7:8 * to), keys=keys(own))
            call gives('int64', way, plan, operation, x(own), s(from:to), expected(8 * from - 7:8 * to), keys=int(keys(own), int64))
            call gives('real32', way, small_plan, operation, real(items(own), real32), small(from:to), &
               of_type(TREEFOLD_F32, totals(from:to)), keys=keys(own))
         end do
      end do
   end subroutine sums

   ! Checks that a run replaces the state of a rank's items with the state of all ranks' items, for every statistic.
   subroutine states(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      type(treefold_state) :: keyed, whole, small
      integer, allocatable :: own(:)
      integer(int64) :: begin, end
      real(real64) :: found(GROUPS), expected(GROUPS)
      integer :: statistic, operation, from, to, ierr
      logical :: is_mine

      allocate (own, source=dealt(N, 1, rank))
      do statistic = TREEFOLD_STATISTIC_SUM, TREEFOLD_STATISTIC_KURTOSIS
         call treefold_state_create(TREEFOLD_F64, statistic, whole, GROUPS)
         call add(whole, [(from, from = 1, N)])
         call treefold_state_values(whole, statistic, expected)
         call build(comm, TREEFOLD_F64, statistic, plan)
         call treefold_plan_scattered_columns(plan, begin, end)
         do operation = TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE_SCATTER
            call treefold_state_create(TREEFOLD_F64, statistic, keyed, GROUPS)
            call add(keyed, own)
            call treefold_run_keyed(plan, operation, keyed, is_mine)
            call check('which ranks have a state', is_mine .eqv. (operation /= TREEFOLD_CALL_REDUCE .or. rank == ranks - 1))
            from = merge(int(begin) + 1, 1, operation == TREEFOLD_CALL_REDUCE_SCATTER)
            to = merge(int(end), GROUPS, operation == TREEFOLD_CALL_REDUCE_SCATTER)
            if (.not. is_mine) cycle
            call treefold_state_values(keyed, statistic, found(from:to))
            call same('statistic ' // achar(64 + statistic), found(from:to), expected(from:to))
         end do
      end do

      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_MEAN, plan)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_MEAN, whole, GROUPS)
      call add(whole, [(from, from = 1, N)])
      call treefold_state_values(whole, TREEFOLD_STATISTIC_MEAN, expected)
      call treefold_allreduce(plan, x(own), found, keys=keys(own))
      call same('means', found, expected)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_MEAN, keyed, GROUPS)
      call treefold_start(plan, TREEFOLD_CALL_REDUCE, x(own), run, keys=keys(own))
      call treefold_wait_keyed(run, keyed, is_mine)
      call check('a state of a run', is_mine .eqv. rank == ranks - 1)
      if (is_mine) call treefold_state_values(keyed, TREEFOLD_STATISTIC_MEAN, found)
      call same('its means', found, expected)

      call treefold_state_create(TREEFOLD_F32, TREEFOLD_STATISTIC_MEAN, small, GROUPS)
      call treefold_start(plan, TREEFOLD_CALL_ALLREDUCE, x(own), run, keys=keys(own))
      call treefold_wait_keyed(run, small, ierr=ierr); call fails('a state of another type for a run', ierr, TREEFOLD_ARGUMENT)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_MEAN, keyed, GROUPS)
      if (rank == 0) call treefold_run_keyed(plan, TREEFOLD_CALL_ALLREDUCE, small, ierr=ierr)
      if (rank /= 0) call treefold_run_keyed(plan, TREEFOLD_CALL_ALLREDUCE, keyed, ierr=ierr)
      call fails('a state of another type on rank 0', ierr, merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0))
   end subroutine states

   subroutine add(keyed, numbers)
      type(treefold_state), intent(inout) :: keyed
      integer, intent(in) :: numbers(:)
      integer :: ierr

      ! This call fails if the statistic takes two arrays.
      call treefold_state_add(keyed, x(numbers), keys=keys(numbers), ierr=ierr)
      if (ierr /= TREEFOLD_OK) call treefold_state_add(keyed, x(numbers), x(N + 1 - numbers), keys(numbers))
   end subroutine add

   subroutine any_keys(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_hashed) :: plan
      integer, parameter :: EVERY = TREEFOLD_CALL_ALLREDUCE
      integer, allocatable :: own(:)
      integer(int64), allocatable :: found(:)
      real(real64), allocatable :: total(:)
      integer(int64) :: count
      integer :: step, key, owned, all_owned, ierr

      call treefold_hashed_create(comm, TREEFOLD_F64, ranks - 1, plan)
      do step = 0, 2
         own = dealt(N, step, rank)
         call treefold_hashed_run(plan, EVERY, spread_out(keys(own)), x(own), count)
         call check('the number of keys', count == GROUPS - 1)
         allocate (found(2 * count), total(count))
         call treefold_hashed_result(plan, found(::2), total)
         call same('keys', found(::2), [(spread_out(key), key = 0, GROUPS - 2)])
         call same('sums of keys', total, real(totals(:GROUPS - 1), real64))
         deallocate (found, total)
         call treefold_hashed_run(plan, TREEFOLD_CALL_REDUCE, spread_out(keys(own)), x(own), count)
         call check('the keys of the root', count == merge(GROUPS - 1, 0, rank == ranks - 1))
         call treefold_hashed_run(plan, TREEFOLD_CALL_REDUCE_SCATTER, spread_out(keys(own)), x(own), count)
         owned = int(count)
         call MPI_Allreduce(owned, all_owned, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
         call check('each key has an owner', all_owned == GROUPS - 1)
      end do
      allocate (found(count + 1), total(count))
      call treefold_hashed_result(plan, found, total, ierr); call fails('room for other keys', ierr, TREEFOLD_LENGTH)
      call treefold_hashed_result(plan, keys(:count), total, ierr); call fails('keys of another type', ierr, TREEFOLD_ARGUMENT)
      call treefold_hashed_run(plan, EVERY, spread_out(keys(own(:merge(0, size(own), rank == 0)))), x(own), count, ierr)
      call fails('no keys for items on rank 0', ierr, merge(TREEFOLD_LENGTH, TREEFOLD_RANK_FAILED, rank == 0))
      call treefold_hashed_create(comm, TREEFOLD_F64, 0, plan)
      if (rank == 0) call treefold_hashed_run(plan, EVERY, spread_out(keys(own)), real(x(own), real32), count, ierr)
      if (rank == 0) call says('`x` is real(real32), but the plan is for real(real64)')
      if (rank /= 0) call treefold_hashed_run(plan, EVERY, spread_out(keys(own)), x(own), count, ierr)
      call fails('items of another type on rank 0', ierr, merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0))
      call treefold_hashed_destroy(plan)
      call treefold_hashed_destroy(plan, ierr); call fails('a second destroy', ierr, TREEFOLD_OK)
      call treefold_hashed_run(plan, EVERY, spread_out(keys(own)), x(own), count, ierr)
      call fails('a run after destroy', ierr, TREEFOLD_NULL)
      call treefold_hashed_create(comm, TREEFOLD_C64, 0, plan, ierr)
      call fails('sums by key of complex numbers', ierr, TREEFOLD_UNSUPPORTED)
   end subroutine any_keys

   ! Converts a small key to a large 64-bit key. The large keys have both signs, and ascend as the small keys do.
   elemental function spread_out(key) result(wide)
      integer, intent(in) :: key
      integer(int64) :: wide

      wide = (key - 8_int64) * 1000000007_int64**2
   end function spread_out

   subroutine mistakes(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_state) :: of_all
      real(real64) :: s(GROUPS)
      integer :: own(2), expected, ierr

      expected = merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0)
      own = [0, merge(GROUPS, 1, rank == 0)]
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      call treefold_allreduce(plan, x(:2), s, ierr, keys=own)
      call fails('a key that is too large on rank 0', ierr, expected)
      if (rank == 0) call says('item 1 has key 17; keys must be 0 to 16')
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      if (rank == 0) call treefold_allreduce(plan, real(x(:2), real32), s, ierr, keys=[0, 1])
      if (rank /= 0) call treefold_allreduce(plan, x(:2), s, ierr, keys=[0, 1])
      call fails('items of another type on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      if (rank == 0) call treefold_allreduce(plan, x(:2), s, ierr, keys=[0.0, 1.0])
      if (rank == 0) call says('`keys` must be integers, not real(real32)')
      if (rank /= 0) call treefold_allreduce(plan, x(:2), s, ierr, keys=[0, 1])
      call fails('real keys on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      call treefold_allreduce(plan, x(:2), s, ierr); call fails('items without keys', ierr, TREEFOLD_ARGUMENT)
      call treefold_state_create(TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, of_all)
      call build(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, plan)
      call treefold_run_keyed(plan, TREEFOLD_CALL_ALLREDUCE, of_all, ierr=ierr)
      call fails('a state without keys', ierr, TREEFOLD_NULL)
      call treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, -1, builder, ierr)
      call fails('a negative number of keys', ierr, TREEFOLD_ARGUMENT)
   end subroutine mistakes
end program keyed_walk
