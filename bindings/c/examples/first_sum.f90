! Sums 1/i for i = 1 to 1000. docs/tutorial-fortran.md shows this program.
program first_sum
   use, intrinsic :: iso_fortran_env, only: real64
   use treefold, only: treefold_sum
   implicit none
   real(real64) :: x(1000)
   integer :: i

   x = [(1.0_real64 / i, i = 1, 1000)]
   print '(f18.16)', treefold_sum(x)
end program first_sum
