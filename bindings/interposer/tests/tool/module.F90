! The module that host.c loads. The module loads an MPI library.
subroutine module_main() bind(c)
  use mpi
  implicit none
  integer, parameter :: count = 3
  double precision, asynchronous :: x(count), total(count)
  double precision :: expected(count)
  integer :: rank, size, code, request, mine(1), all(1)

  call mpi_init(code)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, code)
  call mpi_comm_size(MPI_COMM_WORLD, size, code)
  x = (/ 1d0, 2d0, 3d0 /) * (rank + 1)
  expected = (/ 1d0, 2d0, 3d0 /) * (size * (size + 1) / 2)
  call mpi_allreduce(x, total, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, code)
  call check(all_equal(total), "MPI_Allreduce")
  call mpi_allreduce(MPI_IN_PLACE, x, count, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, code)
  call check(all_equal(x), "MPI_Allreduce in place")
  mine = rank + 1
  call mpi_iallreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, code)
  call mpi_wait(request, MPI_STATUS_IGNORE, code)
  call check(all(1) == size * (size + 1) / 2, "MPI_Iallreduce of integers")
  x = (/ 1d0, 2d0, 3d0 /) * (rank + 1)
  call mpi_iallreduce(x, total, count, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, request, code)
  call mpi_wait(request, MPI_STATUS_IGNORE, code)
  call check(all_equal(total), "MPI_Iallreduce")
  call mpi_finalize(code)

contains

  logical function all_equal(results)
    double precision, intent(in) :: results(count)
    all_equal = .not. any(results /= expected)
  end function

  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (.not. is_right) then
      write (*, *) "module: rank ", rank, ": wrong result of ", what
      stop 1
    end if
  end subroutine
end subroutine
