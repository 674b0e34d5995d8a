! Walks the plans by key of module treefold_mpi, with right and with wrong arguments, on any number of ranks, and compares bits with the
! sums of integers of 64 bits.
!
!     mpifort treefold.F90 treefold_mpi.F90 by_key.f90 -ltreefold && mpirun -n 3 ./a.out
program keyed_walk
   use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
   use, intrinsic :: ieee_arithmetic, only: ieee_is_nan
   use mpi_f08
   use treefold_mpi
   implicit none

   integer, parameter :: N = 500, GROUPS = 17
   integer(int32), parameter :: BITS(1) = [0_int32]
   integer(int32) :: keys(N)
   integer(int64) :: items(N), totals(0:GROUPS - 1)
   integer :: counts(0:GROUPS - 1)
   integer :: rank, ranks, faults, all_faults, checks

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   checks = 0
   faults = 0
   call draw()
   call walk()
   call MPI_Allreduce(faults, all_faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   call MPI_Finalize()
   if (all_faults > 0) error stop 'checks of plans by key failed'
   if (rank == 0) print '(i0, a, i0, a)', checks, ' checks of plans by key passed on each of ', ranks, ' ranks'

contains

   subroutine walk()
      type(treefold_comm) :: comm

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call algorithms(comm)
      call floats_and_means(comm)
      call states(comm)
      call any_keys(comm)
      call mistakes(comm)
   end subroutine walk

   ! Integers of 20 bits at up to 30 places more, whose sums take more than the 53 bits of a number. The last key has no items.
   subroutine draw()
      integer :: i
      integer(int64) :: state

      state = 12345
      totals = 0
      counts = 0
      do i = 1, N
         state = mod(state * 48271_int64, 2147483647_int64)
         items(i) = (mod(state, 1048576_int64) - 524288) * 2_int64**mod(i * 7, 31)
         keys(i) = int(mod(state / 7, int(GROUPS - 1, int64)), int32)
         totals(keys(i)) = totals(keys(i)) + items(i)
         counts(keys(i)) = counts(keys(i)) + 1
      end do
   end subroutine draw

   ! The numbers of this rank's items in a step: in step 0 all of them are the last rank's.
   function dealt(step) result(numbers)
      integer, intent(in) :: step
      integer, allocatable :: numbers(:)
      integer :: owners(N), i

      owners = [(mod(mod(7919 * i + step, 11), ranks), i = 1, N)]
      if (step == 0) owners = ranks - 1
      numbers = pack([(i, i = 1, N)], owners == rank)
   end function dealt

   subroutine build(comm, type, figure, plan, name)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, figure
      type(treefold_plan), intent(inout) :: plan
      character(len=*), intent(in), optional :: name
      type(treefold_builder) :: builder
      integer :: ierr

      call treefold_builder_create_by_key(comm, type, figure, GROUPS, builder)
      call treefold_builder_root(builder, ranks - 1)
      if (present(name)) call treefold_builder_algorithm(builder, name)
      call treefold_plan_build(builder, plan, ierr)
      if (present(name) .and. ierr == TREEFOLD_UNSUPPORTED) return
      call fails('a plan', ierr, TREEFOLD_OK)
   end subroutine build

   ! Whoever has the items, by every algorithm.
   subroutine algorithms(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      character(len=:), allocatable :: name
      integer, allocatable :: mine(:)
      integer(int64) :: begin, end
      real(real64) :: x(N), expected(GROUPS), s(GROUPS)
      logical :: is_mine
      integer :: algorithm, step, ierr

      x = real(items, real64)
      expected = real(totals, real64)
      do algorithm = 1, treefold_algorithm_count()
         call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan, treefold_algorithm_name(algorithm))
         call treefold_plan_algorithm(plan, TREEFOLD_CALL_ALLREDUCE, name, ierr)
         if (ierr /= TREEFOLD_OK) cycle
         do step = 0, 2
            mine = dealt(step)
            call treefold_allreduce_by_key(plan, keys(mine), x(mine), s)
            call check('allreduce', all(same(s, expected)))
            call treefold_allreduce_by_key(plan, int(keys(mine), int64), x(mine), s)
            call check('keys of 64 bits', all(same(s, expected)))
            s = -1
            call treefold_reduce_by_key(plan, keys(mine), x(mine), s, is_mine)
            call check('reduce', is_mine .eqv. rank == ranks - 1)
            if (is_mine) call check('the sums of a reduce', all(same(s, expected)))
            call treefold_plan_algorithm(plan, TREEFOLD_CALL_REDUCE_SCATTER, name)
            if (name == '') cycle
            call treefold_plan_scattered_columns(plan, begin, end)
            call treefold_reduce_scatter_by_key(plan, keys(mine), x(mine), s(begin + 1:end))
            call check('reduce_scatter', all(same(s(begin + 1:end), expected(begin + 1:end))))
            call treefold_start_allreduce_by_key(plan, keys(mine), x(mine), run)
            call treefold_wait(run, s)
            call check('a started allreduce', all(same(s, expected)))
            call treefold_start_reduce_by_key(plan, int(keys(mine), int64), x(mine), run)
            call treefold_wait(run, s, is_mine)
            call check('a started reduce', is_mine .eqv. rank == ranks - 1)
            if (is_mine) call check('the sums of a started reduce', all(same(s, expected)))
            call treefold_start_reduce_scatter_by_key(plan, keys(mine), x(mine), run)
            call treefold_wait(run, s(begin + 1:end))
            call check('a started reduce_scatter', all(same(s(begin + 1:end), expected(begin + 1:end))))
         end do
      end do
   end subroutine algorithms

   subroutine floats_and_means(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      integer, allocatable :: mine(:)
      integer :: key
      real(real32) :: small(GROUPS)
      real(real64) :: means(GROUPS)

      allocate (mine, source=dealt(1))
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_SUM, plan)
      call treefold_allreduce_by_key(plan, keys(mine), real(items(mine), real32), small)
      call check('sums of single precision', all(transfer(small, BITS) == transfer(real(totals, real32), BITS)))
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, plan)
      call treefold_allreduce_by_key(plan, keys(mine), real(items(mine), real64), means)
      do key = 0, GROUPS - 2
         call check('a mean', abs(means(key + 1) * counts(key) - totals(key)) <= abs(real(totals(key), real64)) * 1e-15_real64)
      end do
      call check('the mean of nothing', ieee_is_nan(means(GROUPS)))
   end subroutine floats_and_means

   ! States by key become those of all ranks.
   subroutine states(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      type(treefold_keyed) :: keyed, moments, all_moments, small
      integer, allocatable :: mine(:)
      integer(int64) :: begin, end, found(GROUPS)
      real(real64) :: x(N), s(GROUPS), variances(GROUPS), expected(GROUPS)
      logical :: is_mine
      integer :: ierr

      allocate (mine, source=dealt(1))
      x = real(items, real64)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, GROUPS, keyed)
      call treefold_keyed_add(keyed, keys(mine), x(mine))
      call treefold_reduce_keyed(plan, keyed, is_mine)
      call check('a reduced state', is_mine .eqv. rank == ranks - 1)
      if (is_mine) then
         call treefold_keyed_sums(keyed, s)
         call check('its sums', all(same(s, real(totals, real64))))
      end if
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_SUM, GROUPS, keyed)
      call treefold_keyed_add(keyed, keys(mine), x(mine))
      call treefold_plan_scattered_columns(plan, begin, end)
      call treefold_reduce_scatter_keyed(plan, keyed)
      call treefold_keyed_sums(keyed, s(begin + 1:end))
      call check('a scattered state', all(same(s(begin + 1:end), real(totals(begin:end - 1), real64))))
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, plan)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, GROUPS, moments)
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, GROUPS, all_moments)
      call treefold_keyed_add(moments, keys(mine), x(mine))
      call treefold_keyed_add(all_moments, keys, x)
      call treefold_allreduce_keyed(plan, moments)
      call treefold_keyed_counts(moments, found)
      call check('counts', all(found == counts))
      call treefold_keyed_variances(moments, 1.0_real64, variances)
      call treefold_keyed_variances(all_moments, 1.0_real64, expected)
      call check('variances', all(same(variances, expected) .or. ieee_is_nan(expected)))
      call treefold_keyed_create(TREEFOLD_F64, TREEFOLD_FIGURE_MOMENTS, GROUPS, moments)
      call treefold_start_reduce_by_key(plan, keys(mine), x(mine), run)
      call treefold_wait_keyed(run, moments, is_mine)
      call check('a state of a run', is_mine .eqv. rank == ranks - 1)
      call treefold_keyed_counts(moments, found)
      call check('its counts', all(found == merge(counts, 0, is_mine)))
      call treefold_keyed_create(TREEFOLD_F32, TREEFOLD_FIGURE_MOMENTS, GROUPS, small)
      call treefold_start_allreduce_by_key(plan, keys(mine), x(mine), run)
      call treefold_wait_keyed(run, small, ierr=ierr)
      call fails('a state of another type for a run', ierr, TREEFOLD_ARGUMENT)
      if (rank == 0) then
         call treefold_allreduce_keyed(plan, small, ierr)
         call fails('a state of another type', ierr, TREEFOLD_ARGUMENT)
         call check('its text', treefold_error_message() == 'keyed is not of the type of the plan')
      else
         call treefold_allreduce_keyed(plan, moments, ierr)
         call fails('a state of another type on rank 0', ierr, TREEFOLD_RANK_FAILED)
      end if
   end subroutine states

   subroutine any_keys(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_hashed) :: plan
      integer, allocatable :: mine(:)
      integer(int64), allocatable :: found(:), own(:)
      real(real64), allocatable :: sums(:)
      integer(int64) :: count
      integer :: step, key, owned, all_owned, ierr

      call treefold_hashed_create(comm, TREEFOLD_F64, ranks - 1, plan)
      do step = 0, 2
         mine = dealt(step)
         own = spread_out(keys(mine))
         call treefold_hashed_allreduce(plan, own, real(items(mine), real64), count)
         call check('the number of keys', count == GROUPS - 1)
         allocate (found(count), sums(count))
         call treefold_hashed_result(plan, found, sums)
         call check('their order', all(found(2:) > found(:count - 1)))
         do key = 0, GROUPS - 2
            call check('the sum of a key', any(found == spread_out(key) .and. same(sums, real(totals(key), real64))))
         end do
         deallocate (found, sums)
         call treefold_hashed_reduce(plan, own, real(items(mine), real64), count)
         call check('the keys of the root', count == merge(GROUPS - 1, 0, rank == ranks - 1))
         call treefold_hashed_reduce_scatter(plan, own, real(items(mine), real64), count)
         owned = int(count)
         call MPI_Allreduce(owned, all_owned, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
         call check('each key has an owner', all_owned == GROUPS - 1)
      end do
      call treefold_hashed_allreduce(plan, own(:merge(0, size(own), rank == 0)), real(items(mine), real64), count, ierr)
      call fails('no keys for items on rank 0', ierr, merge(TREEFOLD_LENGTH, TREEFOLD_RANK_FAILED, rank == 0))
      call treefold_hashed_create(comm, TREEFOLD_F64, 0, plan)
      if (rank == 0) then
         call treefold_hashed_allreduce(plan, own, real(items(mine), real32), count, ierr)
         call fails('items of another type', ierr, TREEFOLD_ARGUMENT)
         call check('its text', treefold_error_message() == 'x is real(real32), the plan is for real(real64)')
      else
         call treefold_hashed_allreduce(plan, own, real(items(mine), real64), count, ierr)
         call fails('items of another type on rank 0', ierr, TREEFOLD_RANK_FAILED)
      end if
      call treefold_hashed_create(comm, TREEFOLD_C64, 0, plan, ierr)
      call fails('sums by key of complex numbers', ierr, TREEFOLD_UNSUPPORTED)
   end subroutine any_keys

   ! Any numbers of 64 bits, of both signs.
   elemental function spread_out(key) result(wide)
      integer, intent(in) :: key
      integer(int64) :: wide

      wide = (key - 8_int64) * 1000000007_int64**2
   end function spread_out

   subroutine mistakes(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(2), s(GROUPS)
      real(real32) :: small(2), small_sums(GROUPS)
      integer :: own(2), expected, ierr

      x = [1, 2]
      small = [1, 2]
      expected = merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0)
      own = [0, merge(GROUPS, 1, rank == 0)]
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      call treefold_allreduce_by_key(plan, own, x, s, ierr)
      call fails('a key that is too large on rank 0', ierr, expected)
      if (rank == 0) call check('its text', index(treefold_error_message(), 'item 1 has key 17, and keys are 0 to 16') > 0)
      call treefold_allreduce_by_key(plan, [0, 1], x, s, ierr)
      call fails('a plan after that', ierr, TREEFOLD_SPENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      call treefold_start_allreduce_by_key(plan, own, x, run, ierr)
      if (rank /= 0) call treefold_wait(run, s, ierr=ierr)
      call fails('the same in a start', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      call treefold_allreduce_by_key(plan, own(:merge(1, 2, rank == 0)) * 0, x, s, ierr)
      call fails('too few keys on rank 0', ierr, merge(TREEFOLD_LENGTH, TREEFOLD_RANK_FAILED, rank == 0))
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      if (rank == 0) then
         call treefold_allreduce_by_key(plan, [0, 1], small, small_sums, ierr)
      else
         call treefold_allreduce_by_key(plan, [0, 1], x, s, ierr)
      end if
      call fails('items of another type on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, plan)
      call treefold_allreduce(plan, x, s, ierr)
      call fails('items without keys', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create_by_key(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, -1, builder, ierr)
      call fails('a negative number of keys', ierr, TREEFOLD_ARGUMENT)
   end subroutine mistakes

   ! ---- What the checks are made of -------------------------------------------------------------------------------------------

   ! Whether numbers have the same bits.
   elemental function same(one, other)
      real(real64), intent(in) :: one, other
      logical :: same

      same = transfer(one, 0_int64) == transfer(other, 0_int64)
   end function same

   subroutine fails(what, ierr, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= expected .and. ierr /= TREEFOLD_OK) write (error_unit, '(2a)') '   ', treefold_error_message()
   end subroutine fails

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      checks = checks + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': ', what
   end subroutine check
end program keyed_walk
