! The sum of 1/i for i = 1 to 1000 by any number of ranks: the same bits.
!
!     mpifort PREFIX/share/treefold/fortran/treefold{,_mpi}.F90 allreduce.f90 -LPREFIX/lib -ltreefold_mpi -Wl,-rpath,PREFIX/lib
!     mpirun -n 3 ./a.out
program allreduce
   use, intrinsic :: iso_fortran_env, only: int64, real64
   use mpi_f08
   use treefold_mpi
   implicit none

   call MPI_Init()
   call work(MPI_COMM_WORLD)
   call MPI_Finalize()

contains

   ! Communicator, builder and plan end with this subroutine.
   subroutine work(world)
      type(MPI_Comm), intent(in) :: world
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64), allocatable :: x(:)
      real(real64) :: s, again
      integer :: rank, ranks, i

      call treefold_comm_duplicate(world, comm)
      call treefold_comm_rank(comm, rank)
      call treefold_comm_size(comm, ranks)

      ! Any other stretches would do, as long as the items of all ranks together are the same.
      x = [(1.0_real64 / i, i = 1000 * rank / ranks + 1, 1000 * (rank + 1) / ranks)]

      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
      call treefold_builder_local_items(builder, size(x))
      call treefold_plan_build(builder, plan)

      call treefold_allreduce(plan, x, s)

      ! The same in two steps: x can be changed while the ranks communicate.
      call treefold_start_allreduce(plan, x, run)
      x = 0
      call treefold_wait(run, again)

      if (any(transfer([s, again], [0_int64]) /= int(z'401DF11F45F4E619', int64))) error stop 'other bits'
      if (rank == 0) print '(f18.16, 2x, z16.16, a, i0, a)', s, transfer(s, 0_int64), ' by ', ranks, ' ranks'
   end subroutine work
end program allreduce
