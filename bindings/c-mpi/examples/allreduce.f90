! Sums 1/i for i = 1 to 1000, with the same bits on any number of ranks. docs/tutorial-fortran.md shows this program.
program allreduce
   use, intrinsic :: iso_fortran_env, only: real64
   use mpi_f08
   use treefold_mpi
   implicit none

   call MPI_Init()
   call work(MPI_COMM_WORLD)
   call MPI_Finalize()

contains

   ! Communicator, builder and plan are destroyed on return.
   subroutine work(world)
      type(MPI_Comm), intent(in) :: world
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      real(real64), allocatable :: x(:)
      real(real64) :: s
      integer :: rank, ranks, i

      call treefold_comm_duplicate(world, comm)
      call treefold_comm_rank(comm, rank)
      call treefold_comm_size(comm, ranks)

      ! This rank's part of the items.
      x = [(1.0_real64 / i, &
            i = 1000 * rank / ranks + 1, 1000 * (rank + 1) / ranks)]

      ! The ranks build a plan together, once, and run it many times.
      call treefold_builder_create(comm, TREEFOLD_F64, &
                                   TREEFOLD_OP_SUM, builder)
      call treefold_builder_set(builder, local_items=size(x))
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x, s)

      if (rank == 0) &
         print '(f18.16, a, i0, a)', s, ' on ', ranks, ' ranks'
   end subroutine work
end program allreduce
