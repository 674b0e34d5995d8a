! The sum of 1/i for i = 1 to 1000, and its bits.
!
!     gfortran PREFIX/share/treefold/fortran/treefold.F90 first_sum.f90 -LPREFIX/lib -ltreefold -Wl,-rpath,PREFIX/lib
program first_sum
   use, intrinsic :: iso_fortran_env, only: int64, real64
   use treefold, only: treefold_sum
   implicit none
   real(real64) :: x(1000), s
   integer :: i

   x = [(1.0_real64 / i, i = 1, 1000)]
   s = treefold_sum(x)
   print '(f18.16, 2x, z16.16)', s, transfer(s, 0_int64)
end program first_sum
