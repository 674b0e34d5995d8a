! Walks the exact plans of module treefold_mpi, with right and with wrong arguments, on any number of ranks, and compares bits with
! the exact functions of module treefold.
!
!     mpifort treefold.F90 treefold_mpi.F90 exact.f90 -ltreefold && mpirun -n 3 ./a.out
program exact_walk
   use, intrinsic :: iso_c_binding, only: c_loc, c_null_ptr, c_ptr
   use, intrinsic :: iso_fortran_env, only: error_unit, int8, int32, int64, real32, real64
   use mpi_f08
   use treefold_mpi
   implicit none

   integer, parameter :: WIDTH = 3, N = 40
   integer(int8), parameter :: BYTES(1) = [0_int8]
   integer :: rank, ranks, faults, all_faults, checks

   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, ranks)
   checks = 0
   faults = 0
   call walk()
   call MPI_Allreduce(faults, all_faults, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
   call MPI_Finalize()
   if (all_faults > 0) error stop 'checks of exact plans failed'
   if (rank == 0) print '(i0, a, i0, a)', checks, ' checks of exact plans passed on each of ', ranks, ' ranks'

contains

   subroutine walk()
      type(treefold_comm) :: comm

      call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
      call sums(comm)
      call scans(comm)
      call rows(comm)
      call apart(comm)
      call walk_f32(comm)
      call walk_f64(comm)
      call walk_c32(comm)
      call walk_c64(comm)
      call addresses(comm)
      call builders(comm)
      call local_errors(comm)
      call errors_of_ranks(comm)
   end subroutine walk

   ! ---- Items -----------------------------------------------------------------------------------------------------------------

   ! A number of either sign; with others it covers so many powers of two that their sums lose what they have if they are rounded on
   ! the way.
   pure function wide(i, powers) result(x)
      integer, intent(in) :: i, powers
      real(real64) :: x

      x = (1.0_real64 / i) * 2.0_real64**(mod(7 * i, powers) - powers / 2)
      if (mod(i, 3) == 0) x = -x
   end function wide

   ! The numbers of a rank's items in a step: other ones in each, and in step 0 all of them are the last rank's.
   pure function dealt(step, to) result(numbers)
      integer, intent(in) :: step, to
      integer, allocatable :: numbers(:)
      integer :: owners(N), i

      owners = [(mod(mod(7919 * i + step, 11), ranks), i = 1, N)]
      if (step == 0) owners = ranks - 1
      numbers = pack([(i, i = 1, N)], owners == to)
   end function dealt

   subroutine build(comm, type, figure, columns, plan)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, figure, columns
      type(treefold_plan), intent(inout) :: plan
      type(treefold_builder) :: builder

      call treefold_builder_create_exact(comm, type, figure, builder)
      call treefold_builder_width(builder, columns)
      call treefold_builder_root(builder, ranks - 1)
      call treefold_plan_build(builder, plan)
   end subroutine build

   ! ---- Sums and norms --------------------------------------------------------------------------------------------------------

   ! Whoever has the items, by every algorithm.
   subroutine sums(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan, norm_plan
      type(treefold_run) :: run
      character(len=:), allocatable :: name
      real(real64) :: x(N), s(4)
      real(real32) :: small(N), small_sum
      integer, allocatable :: mine(:)
      integer :: i, step, algorithm, ierr
      logical :: is_mine(2)

      x = [(wide(i, 300), i = 1, N)]
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_NORM, 1, norm_plan)
      do step = 0, 3
         mine = dealt(step, rank)
         s = 0
         call treefold_allreduce(plan, x(mine), s(1))
         call treefold_start_allreduce(plan, x(mine), run)
         call treefold_wait(run, s(2))
         call treefold_reduce(plan, x(mine), s(3), is_mine(1))
         call treefold_start_reduce(plan, x(mine), run)
         call treefold_wait(run, s(4), is_mine(2))
         call check('who is the root', all(is_mine .eqv. rank == ranks - 1))
         if (.not. is_mine(1)) s(3:) = treefold_exact_sum(x)
         call same('sums', transfer(s, BYTES), transfer(spread(treefold_exact_sum(x), 1, 4), BYTES))
         call treefold_allreduce(norm_plan, x(mine), s(1))
         call same('a norm', transfer(s(1), BYTES), transfer(treefold_exact_norm(x), BYTES))
      end do
      call treefold_allreduce(plan, x(:0), s(1))
      call same('the sum of nothing', transfer(s(1), BYTES), transfer(0.0_real64, BYTES))

      small = [(real(wide(i, 60), real32), i = 1, N)]
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_SUM, 1, plan)
      call treefold_allreduce(plan, small(mine), small_sum)
      call same('a sum of real32', transfer(small_sum, BYTES), transfer(treefold_exact_sum(small), BYTES))
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_NORM, 1, plan)
      call treefold_allreduce(plan, small(mine), small_sum)
      call same('a norm of real32', transfer(small_sum, BYTES), transfer(treefold_exact_norm(small), BYTES))

      do algorithm = 1, treefold_algorithm_count()
         name = treefold_algorithm_name(algorithm)
         call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, builder)
         call treefold_builder_algorithm(builder, name)
         call treefold_plan_build(builder, plan, ierr)
         call fails('a plan by ' // name, ierr, TREEFOLD_OK)
         call treefold_allreduce(plan, x(mine), s(1), ierr)
         call fails(name, ierr, TREEFOLD_OK)
         call same(name, transfer(s(1), BYTES), transfer(treefold_exact_sum(x), BYTES))
      end do

      call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, builder)
      call treefold_builder_agreed(builder)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce(plan, x(mine), s(1))
      call same('agreed', transfer(s(1), BYTES), transfer(treefold_exact_sum(x), BYTES))
      call treefold_broadcast(plan, s(1), ierr)
      call fails('broadcast', ierr, TREEFOLD_UNSUPPORTED)
      call treefold_plan_algorithm(plan, TREEFOLD_CALL_BROADCAST, name)
      call check('no algorithm for broadcast', name == '')
      call treefold_allreduce(plan, x(mine), s(1), ierr)
      call fails('a plan after that', ierr, TREEFOLD_OK)
   end subroutine sums

   ! The items of the ranks below come first.
   subroutine scans(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(N)
      real(real64), allocatable :: mine(:), up_to(:), before(:), scanned(:), so_far(:)
      integer :: i

      x = [(wide(i, 300), i = 1, N)]
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      allocate (so_far(0))
      do i = 0, rank - 1
         so_far = [so_far, x(dealt(1, i))]
      end do
      mine = x(dealt(1, rank))
      allocate (up_to(size(mine)), before(size(mine)), scanned(size(mine)))
      do i = 1, size(mine)
         before(i) = treefold_exact_sum(so_far)
         so_far = [so_far, mine(i)]
         up_to(i) = treefold_exact_sum(so_far)
      end do

      call treefold_scan(plan, mine, scanned)
      call same('scan', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_exscan(plan, mine, scanned)
      call same('exscan', transfer(scanned, BYTES), transfer(before, BYTES))
      call treefold_start_scan(plan, mine, run)
      call treefold_wait(run, scanned)
      call same('start_scan', transfer(scanned, BYTES), transfer(up_to, BYTES))
      call treefold_start_exscan(plan, mine, run)
      call treefold_wait(run, scanned)
      call same('start_exscan', transfer(scanned, BYTES), transfer(before, BYTES))
   end subroutine scans

   ! Several sums at once.
   subroutine rows(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan, norm_plan
      type(treefold_run) :: run
      real(real64) :: all(WIDTH, N), total(WIDTH), row(WIDTH)
      real(real64), allocatable :: mine(:, :), scanned(:, :), part(:)
      integer(int64) :: begin_column, end_column
      integer :: i

      all = reshape([(wide(i, 300), i = 1, size(all))], shape(all))
      total = treefold_exact_sum_rows(all)
      mine = all(:, dealt(1, rank))
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, WIDTH, plan)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_NORM, WIDTH, norm_plan)

      call treefold_allreduce(plan, mine, row)
      call same('sums of rows', transfer(row, BYTES), transfer(total, BYTES))
      call treefold_allreduce(plan, reshape(mine, [size(mine)]), row)
      call same('sums of flat rows', transfer(row, BYTES), transfer(total, BYTES))
      call treefold_plan_scattered_columns(plan, begin_column, end_column)
      allocate (part(end_column - begin_column))
      call treefold_reduce_scatter(plan, mine, part)
      call same('reduce_scatter', transfer(part, BYTES), transfer(total(begin_column + 1:end_column), BYTES))
      part = 0
      call treefold_start_reduce_scatter(plan, mine, run)
      call treefold_wait(run, part)
      call same('start_reduce_scatter', transfer(part, BYTES), transfer(total(begin_column + 1:end_column), BYTES))
      allocate (scanned(WIDTH, size(mine, 2)))
      call treefold_scan(plan, mine, scanned)
      if (rank == ranks - 1) call same('the last row of a scan', transfer(scanned(:, size(mine, 2)), BYTES), transfer(total, BYTES))

      total = [(treefold_exact_norm(all(i, :)), i = 1, WIDTH)]
      call treefold_allreduce(norm_plan, mine, row)
      call same('norms of rows', transfer(row, BYTES), transfer(total, BYTES))
   end subroutine rows

   ! Dot products of arrays that lie apart, in one message.
   subroutine apart(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: all(N, WIDTH), expected(WIDTH), sums(WIDTH)
      real(real32) :: narrow(WIDTH)
      real(real64), allocatable, target :: x(:), y(:, :)
      integer :: i, status

      all = reshape([(wide(i, 60), i = 1, size(all))], shape(all))
      expected = [(treefold_exact_dot(all(:, 1), all(:, i)), i = 1, WIDTH)]
      x = all(dealt(1, rank), 1)
      y = all(dealt(1, rank), :)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, WIDTH, plan)
      sums = 0
      call treefold_allreduce_dots(plan, [(where_is(x), i = 1, WIDTH)], [(where_is(y(:, i)), i = 1, WIDTH)], &
         size(x, kind=int64), sums)
      call same('allreduce_dots', transfer(sums, BYTES), transfer(expected, BYTES))
      sums = 0
      call treefold_start_allreduce_dots(plan, [(where_is(x), i = 1, WIDTH)], [(where_is(y(:, i)), i = 1, WIDTH)], &
         size(x, kind=int64), run)
      call treefold_wait(run, sums)
      call same('start_allreduce_dots', transfer(sums, BYTES), transfer(expected, BYTES))
      call treefold_allreduce_dots(plan, [where_is(x)], [where_is(x)], size(x, kind=int64), sums, status)
      call check('another number of pairs is an error', status == TREEFOLD_LENGTH)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, WIDTH, plan)
      call treefold_allreduce_dots(plan, [where_is(x)], [where_is(x)], size(x, kind=int64), narrow, status)
      call check('a result of another type is an error', status == TREEFOLD_ARGUMENT)
   end subroutine apart

   function where_is(x) result(place)
      real(real64), intent(in), target, contiguous :: x(:)
      type(c_ptr) :: place

      place = c_null_ptr
      if (size(x) > 0) place = c_loc(x(1))
   end function where_is

   ! ---- Dot products with every type ------------------------------------------------------------------------------------------

   subroutine walk_f32(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide_plan, narrow, conjugated
      type(treefold_run) :: run
      real(real32) :: x(WIDTH, N), y(WIDTH, N), dots(WIDTH), other_dots(WIDTH), rows(WIDTH, 4), s(4)
      real(real32), allocatable :: of_x(:, :), of_y(:, :), flat_x(:), flat_y(:)
      integer :: i, step
      logical :: is_mine(6)

      x = reshape([(real(wide(i, 60), real32), i = 1, size(x))], shape(x))
      y = reshape([(real(wide(i + 77, 60), real32), i = 1, size(y))], shape(y))
      dots = [(treefold_exact_dot(x(i, :), y(i, :)), i = 1, WIDTH)]
      other_dots = dots
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_DOT, WIDTH, wide_plan)
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_DOT, 1, narrow)
      call build(comm, TREEFOLD_F32, TREEFOLD_FIGURE_VDOT, WIDTH, conjugated)

      do step = 0, 1
         of_x = x(:, dealt(step, rank))
         of_y = y(:, dealt(step, rank))
         flat_x = reshape(of_x, [size(of_x)])
         flat_y = reshape(of_y, [size(of_y)])

         rows = 0
         call treefold_allreduce_dot(wide_plan, of_x, of_y, rows(:, 1))
         call treefold_allreduce_dot(wide_plan, flat_x, flat_y, rows(:, 2))
         call treefold_start_allreduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3))
         call treefold_start_allreduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4))
         call same('allreduce_dot f32', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))
         call treefold_allreduce_dot(conjugated, of_x, of_y, rows(:, 1))
         call treefold_start_allreduce_dot(conjugated, of_x, of_y, run)
         call treefold_wait(run, rows(:, 2))
         call same('vdot f32', transfer(rows(:, :2), BYTES), transfer(spread(other_dots, 2, 2), BYTES))

         rows = 0
         call treefold_reduce_dot(wide_plan, of_x, of_y, rows(:, 1), is_mine(1))
         call treefold_reduce_dot(wide_plan, flat_x, flat_y, rows(:, 2), is_mine(2))
         call treefold_start_reduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3), is_mine(3))
         call treefold_start_reduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4), is_mine(4))
         if (is_mine(1)) call same('reduce_dot f32', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))

         s = 0
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(1))
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(2:2))
         call treefold_reduce_dot(narrow, of_x(1, :), of_y(1, :), s(3), is_mine(5))
         call treefold_start_reduce_dot(narrow, of_x(1, :), of_y(1, :), run)
         call treefold_wait(run, s(4), is_mine(6))
         call check('who is the root f32', all(is_mine .eqv. rank == ranks - 1))
         if (.not. is_mine(5)) s(3:) = dots(1)
         call same('dots of a column f32', transfer(s, BYTES), transfer(spread(dots(1), 1, 4), BYTES))
      end do
   end subroutine walk_f32

   subroutine walk_f64(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide_plan, narrow, conjugated
      type(treefold_run) :: run
      real(real64) :: x(WIDTH, N), y(WIDTH, N), dots(WIDTH), other_dots(WIDTH), rows(WIDTH, 4), s(4)
      real(real64), allocatable :: of_x(:, :), of_y(:, :), flat_x(:), flat_y(:)
      integer :: i, step
      logical :: is_mine(6)

      x = reshape([(wide(i, 300), i = 1, size(x))], shape(x))
      y = reshape([(wide(i + 77, 300), i = 1, size(y))], shape(y))
      dots = [(treefold_exact_dot(x(i, :), y(i, :)), i = 1, WIDTH)]
      other_dots = dots
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, WIDTH, wide_plan)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, narrow)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_VDOT, WIDTH, conjugated)

      do step = 0, 1
         of_x = x(:, dealt(step, rank))
         of_y = y(:, dealt(step, rank))
         flat_x = reshape(of_x, [size(of_x)])
         flat_y = reshape(of_y, [size(of_y)])

         rows = 0
         call treefold_allreduce_dot(wide_plan, of_x, of_y, rows(:, 1))
         call treefold_allreduce_dot(wide_plan, flat_x, flat_y, rows(:, 2))
         call treefold_start_allreduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3))
         call treefold_start_allreduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4))
         call same('allreduce_dot f64', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))
         call treefold_allreduce_dot(conjugated, of_x, of_y, rows(:, 1))
         call treefold_start_allreduce_dot(conjugated, of_x, of_y, run)
         call treefold_wait(run, rows(:, 2))
         call same('vdot f64', transfer(rows(:, :2), BYTES), transfer(spread(other_dots, 2, 2), BYTES))

         rows = 0
         call treefold_reduce_dot(wide_plan, of_x, of_y, rows(:, 1), is_mine(1))
         call treefold_reduce_dot(wide_plan, flat_x, flat_y, rows(:, 2), is_mine(2))
         call treefold_start_reduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3), is_mine(3))
         call treefold_start_reduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4), is_mine(4))
         if (is_mine(1)) call same('reduce_dot f64', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))

         s = 0
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(1))
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(2:2))
         call treefold_reduce_dot(narrow, of_x(1, :), of_y(1, :), s(3), is_mine(5))
         call treefold_start_reduce_dot(narrow, of_x(1, :), of_y(1, :), run)
         call treefold_wait(run, s(4), is_mine(6))
         call check('who is the root f64', all(is_mine .eqv. rank == ranks - 1))
         if (.not. is_mine(5)) s(3:) = dots(1)
         call same('dots of a column f64', transfer(s, BYTES), transfer(spread(dots(1), 1, 4), BYTES))
      end do
   end subroutine walk_f64

   subroutine walk_c32(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide_plan, narrow, conjugated
      type(treefold_run) :: run
      complex(real32) :: x(WIDTH, N), y(WIDTH, N), dots(WIDTH), other_dots(WIDTH), rows(WIDTH, 4), s(4)
      complex(real32), allocatable :: of_x(:, :), of_y(:, :), flat_x(:), flat_y(:)
      integer :: i, step
      logical :: is_mine(6)

      x = reshape([(cmplx(wide(i, 60), wide(i + 500, 60), real32), i = 1, size(x))], shape(x))
      y = reshape([(cmplx(wide(i + 77, 60), wide(i + 77 + 500, 60), real32), i = 1, size(y))], shape(y))
      ! Exact ones may be made of the parts in any order.
      do i = 1, WIDTH
         dots(i) = cmplx(treefold_exact_dot([real(x(i, :)), -aimag(x(i, :))], [real(y(i, :)), aimag(y(i, :))]), &
            treefold_exact_dot([real(x(i, :)), aimag(x(i, :))], [aimag(y(i, :)), real(y(i, :))]), real32)
         other_dots(i) = cmplx(treefold_exact_dot([real(x(i, :)), aimag(x(i, :))], [real(y(i, :)), aimag(y(i, :))]), &
            treefold_exact_dot([real(x(i, :)), -aimag(x(i, :))], [aimag(y(i, :)), real(y(i, :))]), real32)
      end do
      call build(comm, TREEFOLD_C32, TREEFOLD_FIGURE_DOT, WIDTH, wide_plan)
      call build(comm, TREEFOLD_C32, TREEFOLD_FIGURE_DOT, 1, narrow)
      call build(comm, TREEFOLD_C32, TREEFOLD_FIGURE_VDOT, WIDTH, conjugated)

      do step = 0, 1
         of_x = x(:, dealt(step, rank))
         of_y = y(:, dealt(step, rank))
         flat_x = reshape(of_x, [size(of_x)])
         flat_y = reshape(of_y, [size(of_y)])

         rows = 0
         call treefold_allreduce_dot(wide_plan, of_x, of_y, rows(:, 1))
         call treefold_allreduce_dot(wide_plan, flat_x, flat_y, rows(:, 2))
         call treefold_start_allreduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3))
         call treefold_start_allreduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4))
         call same('allreduce_dot c32', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))
         call treefold_allreduce_dot(conjugated, of_x, of_y, rows(:, 1))
         call treefold_start_allreduce_dot(conjugated, of_x, of_y, run)
         call treefold_wait(run, rows(:, 2))
         call same('vdot c32', transfer(rows(:, :2), BYTES), transfer(spread(other_dots, 2, 2), BYTES))

         rows = 0
         call treefold_reduce_dot(wide_plan, of_x, of_y, rows(:, 1), is_mine(1))
         call treefold_reduce_dot(wide_plan, flat_x, flat_y, rows(:, 2), is_mine(2))
         call treefold_start_reduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3), is_mine(3))
         call treefold_start_reduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4), is_mine(4))
         if (is_mine(1)) call same('reduce_dot c32', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))

         s = 0
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(1))
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(2:2))
         call treefold_reduce_dot(narrow, of_x(1, :), of_y(1, :), s(3), is_mine(5))
         call treefold_start_reduce_dot(narrow, of_x(1, :), of_y(1, :), run)
         call treefold_wait(run, s(4), is_mine(6))
         call check('who is the root c32', all(is_mine .eqv. rank == ranks - 1))
         if (.not. is_mine(5)) s(3:) = dots(1)
         call same('dots of a column c32', transfer(s, BYTES), transfer(spread(dots(1), 1, 4), BYTES))
      end do

      call build(comm, TREEFOLD_C32, TREEFOLD_FIGURE_SUM, 1, narrow)
      call treefold_allreduce(narrow, of_x(1, :), s(1))
      s(2) = cmplx(treefold_exact_sum(real(x(1, :))), treefold_exact_sum(aimag(x(1, :))), real32)
      call same('a sum c32', transfer(s(1), BYTES), transfer(s(2), BYTES))
   end subroutine walk_c32

   subroutine walk_c64(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: wide_plan, narrow, conjugated
      type(treefold_run) :: run
      complex(real64) :: x(WIDTH, N), y(WIDTH, N), dots(WIDTH), other_dots(WIDTH), rows(WIDTH, 4), s(4)
      complex(real64), allocatable :: of_x(:, :), of_y(:, :), flat_x(:), flat_y(:)
      integer :: i, step
      logical :: is_mine(6)

      x = reshape([(cmplx(wide(i, 300), wide(i + 500, 300), real64), i = 1, size(x))], shape(x))
      y = reshape([(cmplx(wide(i + 77, 300), wide(i + 77 + 500, 300), real64), i = 1, size(y))], shape(y))
      ! Exact ones may be made of the parts in any order.
      do i = 1, WIDTH
         dots(i) = cmplx(treefold_exact_dot([real(x(i, :)), -aimag(x(i, :))], [real(y(i, :)), aimag(y(i, :))]), &
            treefold_exact_dot([real(x(i, :)), aimag(x(i, :))], [aimag(y(i, :)), real(y(i, :))]), real64)
         other_dots(i) = cmplx(treefold_exact_dot([real(x(i, :)), aimag(x(i, :))], [real(y(i, :)), aimag(y(i, :))]), &
            treefold_exact_dot([real(x(i, :)), -aimag(x(i, :))], [aimag(y(i, :)), real(y(i, :))]), real64)
      end do
      call build(comm, TREEFOLD_C64, TREEFOLD_FIGURE_DOT, WIDTH, wide_plan)
      call build(comm, TREEFOLD_C64, TREEFOLD_FIGURE_DOT, 1, narrow)
      call build(comm, TREEFOLD_C64, TREEFOLD_FIGURE_VDOT, WIDTH, conjugated)

      do step = 0, 1
         of_x = x(:, dealt(step, rank))
         of_y = y(:, dealt(step, rank))
         flat_x = reshape(of_x, [size(of_x)])
         flat_y = reshape(of_y, [size(of_y)])

         rows = 0
         call treefold_allreduce_dot(wide_plan, of_x, of_y, rows(:, 1))
         call treefold_allreduce_dot(wide_plan, flat_x, flat_y, rows(:, 2))
         call treefold_start_allreduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3))
         call treefold_start_allreduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4))
         call same('allreduce_dot c64', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))
         call treefold_allreduce_dot(conjugated, of_x, of_y, rows(:, 1))
         call treefold_start_allreduce_dot(conjugated, of_x, of_y, run)
         call treefold_wait(run, rows(:, 2))
         call same('vdot c64', transfer(rows(:, :2), BYTES), transfer(spread(other_dots, 2, 2), BYTES))

         rows = 0
         call treefold_reduce_dot(wide_plan, of_x, of_y, rows(:, 1), is_mine(1))
         call treefold_reduce_dot(wide_plan, flat_x, flat_y, rows(:, 2), is_mine(2))
         call treefold_start_reduce_dot(wide_plan, of_x, of_y, run)
         call treefold_wait(run, rows(:, 3), is_mine(3))
         call treefold_start_reduce_dot(wide_plan, flat_x, flat_y, run)
         call treefold_wait(run, rows(:, 4), is_mine(4))
         if (is_mine(1)) call same('reduce_dot c64', transfer(rows, BYTES), transfer(spread(dots, 2, 4), BYTES))

         s = 0
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(1))
         call treefold_allreduce_dot(narrow, of_x(1, :), of_y(1, :), s(2:2))
         call treefold_reduce_dot(narrow, of_x(1, :), of_y(1, :), s(3), is_mine(5))
         call treefold_start_reduce_dot(narrow, of_x(1, :), of_y(1, :), run)
         call treefold_wait(run, s(4), is_mine(6))
         call check('who is the root c64', all(is_mine .eqv. rank == ranks - 1))
         if (.not. is_mine(5)) s(3:) = dots(1)
         call same('dots of a column c64', transfer(s, BYTES), transfer(spread(dots(1), 1, 4), BYTES))
      end do

      call build(comm, TREEFOLD_C64, TREEFOLD_FIGURE_SUM, 1, narrow)
      call treefold_allreduce(narrow, of_x(1, :), s(1))
      s(2) = cmplx(treefold_exact_sum(real(x(1, :))), treefold_exact_sum(aimag(x(1, :))), real64)
      call same('a sum c64', transfer(s(1), BYTES), transfer(s(2), BYTES))
   end subroutine walk_c64

   ! Items by their addresses.
   subroutine addresses(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64), target :: x(N), y(N), s(2)
      real(real64), allocatable, target :: of_x(:), of_y(:)
      integer(int64) :: count
      integer :: i, ierr
      logical :: is_mine

      x = [(wide(i, 300), i = 1, N)]
      y = x(N:1:-1)
      count = size(dealt(1, rank))
      allocate (of_x(N), of_y(N))
      of_x(:count) = x(dealt(1, rank))
      of_y(:count) = y(dealt(1, rank))
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      s = 0
      call treefold_allreduce_dot(plan, c_loc(of_x), count, c_loc(of_y), count, c_loc(s), 1_int64)
      call treefold_start_allreduce_dot(plan, c_loc(of_x), count, c_loc(of_y), count, run)
      call treefold_wait(run, c_loc(s(2)), 1_int64)
      call same('dots by address', transfer(s, BYTES), transfer(spread(treefold_exact_dot(x, y), 1, 2), BYTES))
      s = treefold_exact_dot(x, y)
      call treefold_reduce_dot(plan, c_loc(of_x), count, c_loc(of_y), count, c_loc(s), 1_int64, is_mine)
      call check('the root by address', is_mine .eqv. rank == ranks - 1)
      call treefold_start_reduce_dot(plan, c_loc(of_x), count, c_loc(of_y), count, run)
      call treefold_wait(run, c_loc(s(2)), 1_int64, is_mine)
      call check('the root by address, started', is_mine .eqv. rank == ranks - 1)
      call same('reduce_dot by address', transfer(s, BYTES), transfer(spread(treefold_exact_dot(x, y), 1, 2), BYTES))

      call treefold_allreduce_dot(plan, c_loc(of_x), -1_int64, c_loc(of_y), -1_int64, c_loc(s), 1_int64, ierr)
      call fails('a negative length', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'the length of x is negative: -1')
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      call treefold_allreduce(plan, c_null_ptr, -1_int64, c_loc(s), 1_int64, ierr)
      call fails('a negative length of nothing', ierr, TREEFOLD_ARGUMENT)
   end subroutine addresses

   ! ---- Errors ----------------------------------------------------------------------------------------------------------------

   ! What a builder of an exact plan does not take.
   subroutine builders(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_builder) :: builder
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: total
      integer :: ierr

      call treefold_builder_create_exact(comm, TREEFOLD_C64, TREEFOLD_FIGURE_NORM, builder, ierr)
      call fails('a norm of complex numbers', ierr, TREEFOLD_UNSUPPORTED)
      call treefold_builder_create_exact(comm, TREEFOLD_I64, TREEFOLD_FIGURE_SUM, builder, ierr)
      call fails('integers', ierr, TREEFOLD_UNSUPPORTED)
      call treefold_builder_create_exact(comm, 99, TREEFOLD_FIGURE_SUM, builder, ierr)
      call fails('an unknown type', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_create_exact(comm, TREEFOLD_F64, 0, builder, ierr)
      call fails('an unknown figure', ierr, TREEFOLD_ARGUMENT)

      call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, builder)
      call treefold_builder_local_items(builder, 1, ierr)
      call fails('local_items', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_items(builder, 1, ierr)
      call fails('items', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_even(builder, 1, ierr)
      call fails('even', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_block_cyclic(builder, 1, 1, ierr)
      call fails('block_cyclic', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_extents(builder, reshape([0_int64, 1_int64], [2, 1]), ierr)
      call fails('extents', ierr, TREEFOLD_ARGUMENT)
      call treefold_builder_width(builder, 0, ierr)
      call fails('no columns', ierr, TREEFOLD_ARGUMENT)
      call treefold_allreduce(plan, [1.0_real64], total, ierr)
      call fails('a plan that was not built', ierr, TREEFOLD_NULL)
      call treefold_allreduce_dot(plan, [1.0_real64], [1.0_real64], total, ierr)
      call fails('a dot product of it', ierr, TREEFOLD_NULL)

      ! It can be begun anew, as one of items that have numbers.
      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
      call treefold_builder_local_items(builder, 1)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce_dot(plan, [1.5_real64], [2.0_real64], total)
      call same('a dot product in tree order', transfer(total, BYTES), transfer(3.0_real64*ranks, BYTES))
      call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_MAX, builder)
      call treefold_builder_local_items(builder, 1)
      call treefold_plan_build(builder, plan)
      call treefold_allreduce_dot(plan, [1.0_real64], [1.0_real64], total, ierr)
      call fails('two arrays for a plan that takes one', ierr, TREEFOLD_ARGUMENT)
      call treefold_plan_build(builder, plan)
      call treefold_start_allreduce(plan, [1.0_real32], run, ierr)
      call fails('the start with another type', ierr, TREEFOLD_OK)
      call treefold_wait(run, total, ierr=ierr)
      call fails('the wait for another type', ierr, TREEFOLD_ARGUMENT)

      if (ranks == 1) return
      call treefold_builder_create_exact(comm, TREEFOLD_F64, merge(TREEFOLD_FIGURE_SUM, TREEFOLD_FIGURE_NORM, rank == 0), builder)
      call treefold_plan_build(builder, plan, ierr)
      call fails('another figure on one rank', ierr, TREEFOLD_DISAGREE)
   end subroutine builders

   ! What every rank does wrong alike.
   subroutine local_errors(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(4), total, row(2)
      real(real32) :: small(4), small_total
      integer :: ierr

      x = [1, 2, 3, 4]
      small = [1, 2, 3, 4]
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      call treefold_allreduce_dot(plan, x, x(:3), total, ierr)
      call fails('arrays of two lengths', ierr, TREEFOLD_LENGTH)
      call treefold_allreduce_dot(plan, x, x, total, ierr)
      call fails('a plan after that', ierr, TREEFOLD_SPENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      call treefold_allreduce(plan, x, total, ierr)
      call fails('one array for a plan that takes two', ierr, TREEFOLD_ARGUMENT)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      call treefold_start_allreduce_dot(plan, x, x, run, ierr)
      call fails('the start with two arrays of a plan that takes one', ierr, TREEFOLD_ARGUMENT)

      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      call treefold_allreduce_dot(plan, small, small, small_total, ierr)
      call fails('arrays of another type', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'x is real(real32), the plan is for real(real64)')
      call treefold_allreduce_dot(plan, x, x, total, ierr)
      call fails('a plan after that', ierr, TREEFOLD_SPENT)

      ! The start says what is wrong, and leaves no run.
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      call treefold_start_allreduce_dot(plan, small, small, run, ierr)
      call fails('the start with another type', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'x is real(real32), the plan is for real(real64)')
      call treefold_wait(run, total, ierr=ierr)
      call fails('a wait after that', ierr, TREEFOLD_NULL)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      call treefold_start_scan(plan, small, run, ierr)
      call fails('the start of a scan with another type', ierr, TREEFOLD_ARGUMENT)
      call check('its text', treefold_error_message() == 'local is real(real32), the plan is for real(real64)')
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 2, plan)
      call treefold_start_reduce_dot(plan, x(:3), x(:3), run, ierr)
      call fails('the start with half a row', ierr, TREEFOLD_LENGTH)

      ! A result of another length or type ends the run well; a run that is under way goes on.
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 2, plan)
      call treefold_start_allreduce_dot(plan, x, x, run)
      call treefold_wait(run, total, ierr=ierr)
      call fails('a result that is too short', ierr, TREEFOLD_LENGTH)
      call treefold_start_allreduce_dot(plan, x, x, run)
      call treefold_wait(run, small(:2), ierr=ierr)
      call fails('a result of another type', ierr, TREEFOLD_ARGUMENT)
      call treefold_start_allreduce_dot(plan, x, x, run)
      call treefold_start_allreduce_dot(plan, x, x, run, ierr)
      call fails('a run that is under way', ierr, TREEFOLD_ARGUMENT)
      call treefold_wait(run, row)
      call check('rows of two', all(nint(row) == [10 * ranks, 20 * ranks]))
   end subroutine local_errors

   ! What one rank does wrong, of which the others hear: none of them may get the sum of the other ranks' items.
   subroutine errors_of_ranks(comm)
      type(treefold_comm), intent(in) :: comm
      type(treefold_plan) :: plan
      type(treefold_run) :: run
      real(real64) :: x(2), total, row(3)
      real(real32) :: small(2), small_total
      integer :: expected, ierr

      if (ranks == 1) return
      x = [1, 2]
      small = [1, 2]
      expected = merge(TREEFOLD_ARGUMENT, TREEFOLD_RANK_FAILED, rank == 0)

      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      if (rank == 0) then
         call treefold_allreduce(plan, small, small_total, ierr)
      else
         call treefold_allreduce(plan, x, total, ierr)
         call check('it is rank 0', treefold_error_rank() == 0)
      end if
      call fails('another type on rank 0', ierr, expected)

      ! Only the root needs the others.
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      if (rank == 0) then
         call treefold_reduce(plan, small, small_total, ierr=ierr)
         call fails('reduce with another type on this rank', ierr, TREEFOLD_ARGUMENT)
      else
         call treefold_reduce(plan, x, total, ierr=ierr)
         if (rank == ranks - 1) call fails('reduce with another type on rank 0', ierr, TREEFOLD_RANK_FAILED)
      end if
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      if (rank == 0) then
         call treefold_reduce_dot(plan, small, small, small_total, ierr=ierr)
         call fails('reduce_dot with another type on this rank', ierr, TREEFOLD_ARGUMENT)
      else
         call treefold_reduce_dot(plan, x, x, total, ierr=ierr)
         if (rank == ranks - 1) call fails('reduce_dot with another type on rank 0', ierr, TREEFOLD_RANK_FAILED)
      end if

      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      if (rank == 0) then
         call treefold_start_allreduce_dot(plan, small, small, run, ierr)
      else
         call treefold_start_allreduce_dot(plan, x, x, run)
         call treefold_wait(run, total, ierr=ierr)
      end if
      call fails('a start of two arrays of another type on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      if (rank == 0) then
         call treefold_start_allreduce(plan, small, run, ierr)
      else
         call treefold_start_allreduce(plan, x, run)
         call treefold_wait(run, total, ierr=ierr)
      end if
      call fails('a start with another type on rank 0', ierr, expected)

      expected = merge(TREEFOLD_LENGTH, TREEFOLD_RANK_FAILED, rank == 0)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, 1, plan)
      call treefold_allreduce_dot(plan, x, x(:merge(1, 2, rank == 0)), total, ierr)
      call fails('two lengths on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 2, plan)
      call treefold_allreduce(plan, x(:merge(1, 2, rank == 0)), row(:2), ierr)
      call fails('half a row on rank 0', ierr, expected)
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 2, plan)
      call treefold_allreduce(plan, x, row(:merge(3, 2, rank == 0)), ierr)
      call fails('a result of three columns on rank 0', ierr, expected)

      ! The communicator goes on.
      call build(comm, TREEFOLD_F64, TREEFOLD_FIGURE_SUM, 1, plan)
      call treefold_allreduce(plan, x, total)
      call check('after the errors', nint(total) == 3 * ranks)
   end subroutine errors_of_ranks

   ! ---- What the checks are made of -------------------------------------------------------------------------------------------

   subroutine fails(what, ierr, expected)
      character(len=*), intent(in) :: what
      integer, intent(in) :: ierr, expected

      call check(what // ': ' // treefold_status_name(ierr) // ' instead of ' // treefold_status_name(expected), ierr == expected)
      if (ierr /= expected .and. ierr /= TREEFOLD_OK) write (error_unit, '(2a)') '   ', treefold_error_message()
   end subroutine fails

   subroutine same(what, found, expected)
      character(len=*), intent(in) :: what
      integer(int8), intent(in) :: found(:), expected(:)

      if (size(found) /= size(expected)) then
         call check(what // ': another length', .false.)
      else
         call check(what // ': other bits', all(found == expected))
      end if
   end subroutine same

   subroutine check(what, holds)
      character(len=*), intent(in) :: what
      logical, intent(in) :: holds

      checks = checks + 1
      if (holds) return
      faults = faults + 1
      write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': ', what
   end subroutine check
end program exact_walk
