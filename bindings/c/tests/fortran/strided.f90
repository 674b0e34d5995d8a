! Sums every second one of 10^6 doubles. The library must read them in blocks, without a copy of all: under valgrind, "bytes
! allocated" must be less than 1 MB.
program strided
   use, intrinsic :: iso_fortran_env, only: real64
   use treefold
   implicit none
   integer, parameter :: N = 1000000
   real(real64), save :: x(N)
   real(real64) :: exact
   integer :: i

   do i = 1, N
      x(i) = i
   end do
   ! The items are the odd numbers below 10^6. Their sum is exact in any order, and so is their dot product with ones.
   if (treefold_sum(x(1:N:2)) /= 2.5e11_real64) error stop 'the sum in tree order'
   call treefold_exact(TREEFOLD_STATISTIC_SUM, x(N - 1:1:-2), exact)
   if (exact /= 2.5e11_real64) error stop 'the exact sum'
   x(2:N:2) = 1
   if (treefold_dot(x(1:N:2), x(2:N:2)) /= 2.5e11_real64) error stop 'the dot product'
   print '(a)', 'sums of every other item passed'
end program strided
