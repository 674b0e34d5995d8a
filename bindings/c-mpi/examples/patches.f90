! Integrates a field over a globe that is cut into patches with halos,
! as CICE's global_sum and CESM's shr_reprosum_calc do. The result has
! the same bits for any number of ranks and any distribution of patches.
program patches
   use, intrinsic :: iso_fortran_env, only: real64
   use mpi_f08
   use treefold_mpi
   implicit none
   ! 6 by 4 patches of 30 by 30 cells, and a halo around each.
   integer, parameter :: SIDE = 30, ALONG = 6, ACROSS = 4
   real(real64), parameter :: DEGREE = acos(-1.0_real64) / 180

   call MPI_Init()
   call work(MPI_COMM_WORLD)
   call MPI_Finalize()

contains

   subroutine work(world)
      type(MPI_Comm), intent(in) :: world
      type(treefold_comm) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      real(real64), allocatable :: field(:, :, :), area(:, :, :)
      real(real64) :: total, lat, lon
      integer :: rank, ranks, own, number, patch, i, j

      call treefold_comm_duplicate(world, comm)
      call treefold_comm_rank(comm, rank)
      call treefold_comm_size(comm, ranks)

      ! This exact plan is built once, for any number of cells on each rank.
      call treefold_builder_create_exact(comm, TREEFOLD_F64, &
         TREEFOLD_STATISTIC_DOT, builder)
      call treefold_plan_build(builder, plan)

      ! Patches are dealt to the ranks round-robin. Halos are not summed.
      own = (ALONG * ACROSS - 1 - rank + ranks) / ranks
      allocate (field(0:SIDE + 1, 0:SIDE + 1, own), source=huge(lat))
      allocate (area, source=field)
      do number = 1, own
         patch = rank + (number - 1) * ranks
         do j = 1, SIDE
            lat = (patch / ALONG * SIDE + j - 0.5_real64) * 1.5 - 90
            area(1:SIDE, j, number) = cos(lat * DEGREE)
            do i = 1, SIDE
               lon = mod(patch, ALONG) * SIDE + i - 0.5_real64
               field(i, j, number) = 288 + 30 * cos(2 * lat * DEGREE) &
                                     + sin(6 * lon * DEGREE)
            end do
         end do
      end do

      ! Each step sums all patches of this rank, without their halos.
      call treefold_allreduce(plan, field(1:SIDE, 1:SIDE, :), total, &
         y=area(1:SIDE, 1:SIDE, :))
      if (rank == 0) print '(f18.10, i3, a)', total, ranks, ' ranks'
   end subroutine work
end program patches
