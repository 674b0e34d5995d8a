! Computes sums of prices by shop, and keeps a sum between calls. docs/tutorial-by-key.md shows this program.
program by_key
   use, intrinsic :: iso_fortran_env, only: real64
   use treefold
   implicit none
   integer :: shop(6) = [0, 2, 0, 1, 2, 0]
   real(real64) :: price(6) = [0.1_real64, 1e9_real64, 0.2_real64, &
      5.0_real64, 1e9_real64 + 2, 0.3_real64]
   real(real64) :: sums(0:2), last
   type(treefold_state) :: total

   ! Keys begin at 0, as in C.
   call treefold_by_key(TREEFOLD_STATISTIC_SUM, shop, price, sums)
   print '(3(g0.17, 1x))', sums

   call treefold_state_create( &
      TREEFOLD_F64, TREEFOLD_STATISTIC_SUM, total)
   call treefold_state_add(total, price)
   call treefold_state_remove(total, [price(2), price(5)])
   call treefold_state_values(total, TREEFOLD_STATISTIC_SUM, last)
   print '(g0.17)', last
end program by_key
