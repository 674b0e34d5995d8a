! treefold_mpi: treefold's reductions over the ranks of an MPI communicator.
!
! Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times: the bits do not depend
! on the number of ranks, on who owns which items, on the algorithm, or on the MPI library.
!
!     use mpi_f08
!     use treefold_mpi
!     type(treefold_comm) :: comm
!     type(treefold_builder) :: builder
!     type(treefold_plan) :: plan
!
!     call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
!     call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
!     call treefold_builder_local_items(builder, size(x))
!     call treefold_plan_build(builder, plan)
!     call treefold_allreduce(plan, x, s)
!
! Exact sums, norms and dot products need no numbers: each rank gives as many items as it likes, and the result is rounded once.
!
!     call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_FIGURE_DOT, builder)
!     call treefold_plan_build(builder, plan)
!     call treefold_allreduce_dot(plan, x, y, s)
!
! "Collective" means: all ranks of the communicator make this call, in the same order with regard to the other collective calls
! on it. An error in a collective call reaches every rank that needs the failed one, in this call or in its next one; a plan whose
! run failed is spent. docs/items-and-ranks.md says what ranks must do alike, and what happens if they do not.
!
! The last argument, ierr, is as in module treefold, whose public names are those of this module, too. A result of an error is not
! to be used.
!
! Arrays are contiguous; of any other section the compiler makes a copy. An array of rank 1 holds items one after the other; in one
! of rank 2, x(:, i) is item i, a row of as many values as the width of the plan. Arrays must be of the plan's type: another
! one is the error TREEFOLD_ARGUMENT, of which the other ranks hear as of a wrong length. For an operator of the caller, arrays of
! any type count by their bytes, which must be whole items. Arguments of type c_ptr are addresses of items of any type, followed by
! the number of elements, or of items of the caller's operator; what lies there is taken on trust. It may be in the memory of a GPU,
! as treefold_mpi.h says.
!
! Communicators, builders, plans and runs are variables of types with a finaliser: they end where they go out of scope, or by
! treefold_..._destroy. Variables of the main program do not go out of scope. They cannot be copied, since one of two copies would
! be left with nothing: an assignment of one that is in use ends the program. They belong to the thread that made them. They may
! end in any order, also after MPI_Finalize and after the main program; no end communicates, prints anything or stops the program.
!
! Compile with the wrapper of any MPI library, and link with libtreefold. A library without module mpi_f08 needs -DTREEFOLD_NO_MPI_F08.
!
! As in treefold.F90, the text that follows next is that of several modules, one for each type of element. TREEFOLD_FLOATING is
! defined for types that have dot products, TREEFOLD_REAL for those that have sums by key.
#ifdef TREEFOLD_TYPE
! ---- The text of the modules for one type: TREEFOLD_TYPE, whose code is `element` ----------------------------------------------
   implicit none
   private

   ! <table: names of one type>
   public :: treefold_allreduce, treefold_reduce, treefold_reduce_scatter, treefold_scan, treefold_exscan, treefold_broadcast, &
      treefold_start_allreduce, treefold_start_reduce, treefold_start_reduce_scatter, treefold_start_scan, &
      treefold_start_exscan, treefold_wait

   interface treefold_allreduce
      module procedure allreduce_one, allreduce_row, allreduce_rows
   end interface
   interface treefold_reduce
      module procedure reduce_one, reduce_row, reduce_rows
   end interface
   interface treefold_reduce_scatter
      module procedure reduce_scatter_row, reduce_scatter_rows
   end interface
   interface treefold_scan
      module procedure scan_row, scan_rows
   end interface
   interface treefold_exscan
      module procedure exscan_row, exscan_rows
   end interface
   interface treefold_broadcast
      module procedure broadcast_one, broadcast_row
   end interface
   interface treefold_start_allreduce
      module procedure start_allreduce_row, start_allreduce_rows
   end interface
   interface treefold_start_reduce
      module procedure start_reduce_row, start_reduce_rows
   end interface
   interface treefold_start_reduce_scatter
      module procedure start_reduce_scatter_row, start_reduce_scatter_rows
   end interface
   interface treefold_start_scan
      module procedure start_scan_row, start_scan_rows
   end interface
   interface treefold_start_exscan
      module procedure start_exscan_row, start_exscan_rows
   end interface
   interface treefold_wait
      module procedure wait_one, wait_row, wait_rows
   end interface
#ifdef TREEFOLD_FLOATING
   public :: treefold_allreduce_dot, treefold_reduce_dot, treefold_start_allreduce_dot, treefold_start_reduce_dot

   interface treefold_allreduce_dot
      module procedure allreduce_dot_one, allreduce_dot_row, allreduce_dot_rows
   end interface
   interface treefold_reduce_dot
      module procedure reduce_dot_one, reduce_dot_row, reduce_dot_rows
   end interface
   interface treefold_start_allreduce_dot
      module procedure start_allreduce_dot_row, start_allreduce_dot_rows
   end interface
   interface treefold_start_reduce_dot
      module procedure start_reduce_dot_row, start_reduce_dot_rows
   end interface
#endif
   ! </table>
#ifdef TREEFOLD_FLOATING
   public :: treefold_allreduce_dots

   interface treefold_allreduce_dots
      module procedure allreduce_dots_row
   end interface
#endif
#ifdef TREEFOLD_REAL
   ! <table: names by key>
   public :: treefold_allreduce_by_key, treefold_reduce_by_key, treefold_reduce_scatter_by_key, treefold_start_allreduce_by_key, &
      treefold_start_reduce_by_key, treefold_start_reduce_scatter_by_key, treefold_hashed_allreduce, treefold_hashed_reduce, &
      treefold_hashed_reduce_scatter

   interface treefold_allreduce_by_key
      module procedure allreduce_by_key_int32, allreduce_by_key_int64
   end interface
   interface treefold_reduce_by_key
      module procedure reduce_by_key_int32, reduce_by_key_int64
   end interface
   interface treefold_reduce_scatter_by_key
      module procedure reduce_scatter_by_key_int32, reduce_scatter_by_key_int64
   end interface
   interface treefold_start_allreduce_by_key
      module procedure start_allreduce_by_key_int32, start_allreduce_by_key_int64
   end interface
   interface treefold_start_reduce_by_key
      module procedure start_reduce_by_key_int32, start_reduce_by_key_int64
   end interface
   interface treefold_start_reduce_scatter_by_key
      module procedure start_reduce_scatter_by_key_int32, start_reduce_scatter_by_key_int64
   end interface
   interface treefold_hashed_allreduce
      module procedure hashed_allreduce_items
   end interface
   interface treefold_hashed_reduce
      module procedure hashed_reduce_items
   end interface
   interface treefold_hashed_reduce_scatter
      module procedure hashed_reduce_scatter_items
   end interface
   ! </table>
   public :: treefold_hashed_result

   interface treefold_hashed_result
      module procedure hashed_result_items
   end interface
#endif

contains

   ! <table: procedures of one type>
   subroutine allreduce_one(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_ALLREDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         c_loc(result), 1_c_size_t, ierr=ierr)
   end subroutine allreduce_one

   subroutine allreduce_row(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_ALLREDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_row

   subroutine allreduce_rows(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_ALLREDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_rows

   subroutine reduce_one(plan, local, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), target :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         c_loc(result), 1_c_size_t, is_mine, ierr)
   end subroutine reduce_one

   subroutine reduce_row(plan, local, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_row

   subroutine reduce_rows(plan, local, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_rows

   subroutine reduce_scatter_row(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine reduce_scatter_row

   subroutine reduce_scatter_rows(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine reduce_scatter_rows

   subroutine scan_row(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_SCAN, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine scan_row

   subroutine scan_rows(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:, :)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_SCAN, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine scan_rows

   subroutine exscan_row(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_EXSCAN, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine exscan_row

   subroutine exscan_rows(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:, :)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_EXSCAN, plan, element, address(local), size(local, kind=c_size_t), &
         address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine exscan_rows

   subroutine broadcast_one(plan, row, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(inout), target :: row
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_BROADCAST, plan, element, c_null_ptr, 0_c_size_t, &
         c_loc(row), 1_c_size_t, ierr=ierr)
   end subroutine broadcast_one

   subroutine broadcast_row(plan, row, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(inout), contiguous, target :: row(:)
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_BROADCAST, plan, element, c_null_ptr, 0_c_size_t, &
         address(row), size(row, kind=c_size_t), ierr=ierr)
   end subroutine broadcast_row

   subroutine start_allreduce_row(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_ALLREDUCE, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_row

   subroutine start_allreduce_rows(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_ALLREDUCE, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_rows

   subroutine start_reduce_row(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_reduce_row

   subroutine start_reduce_rows(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_reduce_rows

   subroutine start_reduce_scatter_row(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_reduce_scatter_row

   subroutine start_reduce_scatter_rows(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_reduce_scatter_rows

   subroutine start_scan_row(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_SCAN, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_scan_row

   subroutine start_scan_rows(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_SCAN, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_scan_rows

   subroutine start_exscan_row(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_EXSCAN, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_exscan_row

   subroutine start_exscan_rows(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_EXSCAN, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_exscan_rows

   subroutine wait_one(run, result, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      TREEFOLD_TYPE, intent(inout), target :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call wait_for(run, element, c_loc(result), 1_c_size_t, is_mine, ierr)
   end subroutine wait_one

   subroutine wait_row(run, result, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call wait_for(run, element, address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine wait_row

   subroutine wait_rows(run, result, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:, :)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call wait_for(run, element, address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine wait_rows

#ifdef TREEFOLD_FLOATING
   subroutine allreduce_dot_one(plan, x, y, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      TREEFOLD_TYPE, intent(inout), target :: result
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_ALLREDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), c_loc(result), 1_c_size_t, ierr=ierr)
   end subroutine allreduce_dot_one

   subroutine allreduce_dot_row(plan, x, y, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_ALLREDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_dot_row

   subroutine allreduce_dot_rows(plan, x, y, result, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :), y(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_ALLREDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_dot_rows

   subroutine reduce_dot_one(plan, x, y, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      TREEFOLD_TYPE, intent(inout), target :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_REDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), c_loc(result), 1_c_size_t, is_mine, ierr)
   end subroutine reduce_dot_one

   subroutine reduce_dot_row(plan, x, y, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_REDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_dot_row

   subroutine reduce_dot_rows(plan, x, y, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :), y(:, :)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_REDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_dot_rows

   subroutine start_allreduce_dot_row(plan, x, y, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_ALLREDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_dot_row

   subroutine start_allreduce_dot_rows(plan, x, y, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :), y(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_ALLREDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_dot_rows

   subroutine start_reduce_dot_row(plan, x, y, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:), y(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_REDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), run, ierr)
   end subroutine start_reduce_dot_row

   subroutine start_reduce_dot_rows(plan, x, y, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:, :), y(:, :)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_REDUCE, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), run, ierr)
   end subroutine start_reduce_dot_rows
#endif
   ! </table>
#ifdef TREEFOLD_FLOATING

   ! Several dot products of arrays that lie apart, as one message: result(j) is that of the n elements at x(j) and at y(j). There are
   ! as many as the plan's width.
   subroutine allreduce_dots_row(plan, x, y, n, result, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x(:), y(:)
      integer(int64), intent(in) :: n
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_dots(plan, element, x, y, n, address(result), size(result, kind=c_size_t), ierr)
   end subroutine allreduce_dots_row
#endif
#ifdef TREEFOLD_REAL

   ! <table: procedures by key>
   subroutine allreduce_by_key_int32(plan, keys, x, result, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_ALLREDUCE, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_by_key_int32

   subroutine allreduce_by_key_int64(plan, keys, x, result, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_ALLREDUCE, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine allreduce_by_key_int64

   subroutine reduce_by_key_int32(plan, keys, x, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_REDUCE, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_by_key_int32

   subroutine reduce_by_key_int64(plan, keys, x, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_REDUCE, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), is_mine, ierr)
   end subroutine reduce_by_key_int64

   subroutine reduce_scatter_by_key_int32(plan, keys, x, result, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine reduce_scatter_by_key_int32

   subroutine reduce_scatter_by_key_int64(plan, keys, x, result, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: result(:)
      integer, intent(out), optional :: ierr

      call run_by_key(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), address(result), size(result, kind=c_size_t), ierr=ierr)
   end subroutine reduce_scatter_by_key_int64

   subroutine start_allreduce_by_key_int32(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_ALLREDUCE, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_by_key_int32

   subroutine start_allreduce_by_key_int64(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_ALLREDUCE, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_allreduce_by_key_int64

   subroutine start_reduce_by_key_int32(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_REDUCE, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_reduce_by_key_int32

   subroutine start_reduce_by_key_int64(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_REDUCE, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_reduce_by_key_int64

   subroutine start_reduce_scatter_by_key_int32(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int32), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, TREEFOLD_I32, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_reduce_scatter_by_key_int32

   subroutine start_reduce_scatter_by_key_int64(plan, keys, x, run, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_by_key(TREEFOLD_CALL_REDUCE_SCATTER, plan, element, TREEFOLD_I64, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), run, ierr)
   end subroutine start_reduce_scatter_by_key_int64

   subroutine hashed_allreduce_items(hashed, keys, x, count, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr

      call run_hashed(TREEFOLD_CALL_ALLREDUCE, hashed, element, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), count, ierr)
   end subroutine hashed_allreduce_items

   subroutine hashed_reduce_items(hashed, keys, x, count, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr

      call run_hashed(TREEFOLD_CALL_REDUCE, hashed, element, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), count, ierr)
   end subroutine hashed_reduce_items

   subroutine hashed_reduce_scatter_items(hashed, keys, x, count, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(int64), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr

      call run_hashed(TREEFOLD_CALL_REDUCE_SCATTER, hashed, element, address_of(keys), size(keys, kind=c_size_t), &
         address(x), size(x, kind=c_size_t), count, ierr)
   end subroutine hashed_reduce_scatter_items
   ! </table>

   ! The keys, in ascending order, and the sums of the last run: as many as that has said.
   subroutine hashed_result_items(hashed, keys, sums, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(int64), intent(inout), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(inout), contiguous, target :: sums(:)
      integer, intent(out), optional :: ierr

      call fetch_hashed(hashed, element, address_of(keys), size(keys, kind=c_size_t), address(sums), &
         size(sums, kind=c_size_t), ierr)
   end subroutine hashed_result_items
#endif

   ! Fortran 2008 has no c_loc of an assumed-shape array, nor of one without elements; this is both. There is no intent, since
   ! results go through here, too.
   function address(x)
      TREEFOLD_TYPE, target :: x(*)
      type(c_ptr) :: address

      address = c_loc(x)
   end function address
#else
! ---- What all modules share: handles, and what needs no type -------------------------------------------------------------------

! Programs use module treefold_mpi, which passes on the names that begin with treefold_.
module treefold_mpi_support
#ifndef TREEFOLD_NO_MPI_F08
   use mpi_f08, only: MPI_Comm, all_ranks => MPI_COMM_WORLD
#else
   use mpi, only: all_ranks => MPI_COMM_WORLD
#endif
   use treefold_support
   implicit none
   public

   ! What plans can do, for treefold_plan_algorithm. In C these have the names of the procedures, in capitals.
   integer, parameter :: TREEFOLD_CALL_ALLREDUCE = 1
   integer, parameter :: TREEFOLD_CALL_REDUCE = 2
   integer, parameter :: TREEFOLD_CALL_REDUCE_SCATTER = 3
   integer, parameter :: TREEFOLD_CALL_SCAN = 4
   integer, parameter :: TREEFOLD_CALL_EXSCAN = 5
   integer, parameter :: TREEFOLD_CALL_BROADCAST = 6

   ! A length that no array has. C takes it for a mistake, and reads and writes nothing.
   integer(c_size_t), parameter, private :: NO_LENGTH = -1

   ! What a plan has for its type of elements if its operator is the caller's.
   integer(c_int32_t), parameter, private :: USER_ITEMS = 0

   ! The ranks of a communicator, on a duplicate of it.
   type :: treefold_comm
      private
      type(c_ptr) :: handle = c_null_ptr
   contains
      procedure, private :: assign_comm
      generic :: assignment(=) => assign_comm
      final :: finalise_comm
   end type treefold_comm

   ! What a plan is to be. Settings are looked at in treefold_plan_build.
   type :: treefold_builder
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = USER_ITEMS  ! The type of the elements,
      integer(c_size_t) :: item_bytes = 0         ! or the bytes of an item of the caller's operator.
      logical :: is_exact = .false.               ! Any number of items is right.
   contains
      procedure, private :: assign_builder
      generic :: assignment(=) => assign_builder
      final :: finalise_builder
   end type treefold_builder

   ! A reduction that the ranks have agreed on: built once, run many times.
   type :: treefold_plan
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = USER_ITEMS  ! The type of the elements,
      integer(c_size_t) :: item_bytes = 0         ! or the bytes of an item of the caller's operator.
      logical :: is_exact = .false.               ! Any number of items is right.
   contains
      procedure, private :: assign_plan
      generic :: assignment(=) => assign_plan
      final :: finalise_plan
   end type treefold_plan

   ! A run between its start and its end. Several plans may be under way at once; waiting for one drives all. A variable that goes
   ! out of scope before its run is over cancels it.
   type :: treefold_run
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = USER_ITEMS  ! The type of the elements,
      integer(c_size_t) :: item_bytes = 0         ! or the bytes of an item of the caller's operator.
      integer :: mistake = TREEFOLD_OK            ! What was wrong at the start: the wait says it.
      character(len=200) :: mistake_message = ''
   contains
      procedure, private :: assign_run
      generic :: assignment(=) => assign_run
      final :: finalise_run
   end type treefold_run

   ! Exact sums by keys of 64 bits that the ranks have agreed on, and the result of the last run.
   type :: treefold_hashed
      private
      type(c_ptr) :: handle = c_null_ptr
      integer(c_int32_t) :: element = USER_ITEMS  ! The type of the items.
   contains
      procedure, private :: assign_hashed
      generic :: assignment(=) => assign_hashed
      final :: finalise_hashed
   end type treefold_hashed

   ! <table: functions of treefold_mpi.h>
   interface
      function c_mpi_library(text) bind(c, name='treefold_mpi_library') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: text
         integer(c_int32_t) :: returned
      end function c_mpi_library

      function c_comm_duplicate_checked(comm, comm_bytes, family, function, result) &
         bind(c, name='treefold_comm_duplicate_checked') result(returned)
         import :: c_char, c_funptr, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: comm
         integer(c_size_t), value :: comm_bytes
         character(kind=c_char), intent(in) :: family(*)
         type(c_funptr), value :: function
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_comm_duplicate_checked

      function c_comm_duplicate_f(comm, world, result) bind(c, name='treefold_comm_duplicate_f') result(returned)
         import :: c_int32_t, c_ptr
         integer(c_int32_t), value :: comm, world
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_comm_duplicate_f

      function c_comm_rank(comm, rank) bind(c, name='treefold_comm_rank') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int), intent(inout) :: rank
         integer(c_int32_t) :: returned
      end function c_comm_rank

      function c_comm_size(comm, size) bind(c, name='treefold_comm_size') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int), intent(inout) :: size
         integer(c_int32_t) :: returned
      end function c_comm_size

      function c_comm_silence_limit(comm, seconds) bind(c, name='treefold_comm_silence_limit') result(returned)
         import :: c_double, c_int32_t, c_ptr
         type(c_ptr), value :: comm
         real(c_double), value :: seconds
         integer(c_int32_t) :: returned
      end function c_comm_silence_limit

      function c_comm_measure_link(comm) bind(c, name='treefold_comm_measure_link') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int32_t) :: returned
      end function c_comm_measure_link

      function c_comm_interruption(comm, interrupted, context) bind(c, name='treefold_comm_interruption') result(returned)
         import :: c_funptr, c_int32_t, c_ptr
         type(c_ptr), value :: comm, context
         type(c_funptr), value :: interrupted
         integer(c_int32_t) :: returned
      end function c_comm_interruption

      function c_comm_destroy(comm) bind(c, name='treefold_comm_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: comm
         integer(c_int32_t) :: returned
      end function c_comm_destroy

      function c_comm_free(comm) bind(c, name='treefold_comm_free') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: comm
         integer(c_int32_t) :: returned
      end function c_comm_free

      function c_builder_create(comm, type, op, result) bind(c, name='treefold_builder_create') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int32_t), value :: type, op
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_builder_create

      function c_builder_create_exact(comm, type, figure, result) bind(c, name='treefold_builder_create_exact') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int32_t), value :: type, figure
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_builder_create_exact

      function c_builder_create_by_key(comm, type, figure, keys, result) &
         bind(c, name='treefold_builder_create_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: comm
         integer(c_int32_t), value :: type, figure
         integer(c_size_t), value :: keys
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_builder_create_by_key

      function c_builder_create_user(comm, name, item_bytes, combine, context, empty, result) &
         bind(c, name='treefold_builder_create_user') result(returned)
         import :: c_char, c_funptr, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: comm, context, empty
         character(kind=c_char), intent(in) :: name(*)
         integer(c_size_t), value :: item_bytes
         type(c_funptr), value :: combine
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_builder_create_user

      function c_builder_local_items(builder, items) bind(c, name='treefold_builder_local_items') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int64_t), value :: items
         integer(c_int32_t) :: returned
      end function c_builder_local_items

      function c_builder_extents(builder, ranges, n) bind(c, name='treefold_builder_extents') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder, ranges
         integer(c_size_t), value :: n
         integer(c_int32_t) :: returned
      end function c_builder_extents

      function c_builder_even(builder, items) bind(c, name='treefold_builder_even') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int64_t), value :: items
         integer(c_int32_t) :: returned
      end function c_builder_even

      function c_builder_block_cyclic(builder, items, block) bind(c, name='treefold_builder_block_cyclic') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int64_t), value :: items, block
         integer(c_int32_t) :: returned
      end function c_builder_block_cyclic

      function c_builder_items(builder, items) bind(c, name='treefold_builder_items') result(returned)
         import :: c_int32_t, c_int64_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int64_t), value :: items
         integer(c_int32_t) :: returned
      end function c_builder_items

      function c_builder_width(builder, elements) bind(c, name='treefold_builder_width') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder
         integer(c_size_t), value :: elements
         integer(c_int32_t) :: returned
      end function c_builder_width

      function c_builder_root(builder, rank) bind(c, name='treefold_builder_root') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int), value :: rank
         integer(c_int32_t) :: returned
      end function c_builder_root

      function c_builder_algorithm(builder, name) bind(c, name='treefold_builder_algorithm') result(returned)
         import :: c_char, c_int32_t, c_ptr
         type(c_ptr), value :: builder
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int32_t) :: returned
      end function c_builder_algorithm

      function c_builder_blocks(builder, blocks) bind(c, name='treefold_builder_blocks') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder
         integer(c_size_t), value :: blocks
         integer(c_int32_t) :: returned
      end function c_builder_blocks

      function c_builder_ports(builder, ports) bind(c, name='treefold_builder_ports') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder
         integer(c_size_t), value :: ports
         integer(c_int32_t) :: returned
      end function c_builder_ports

      function c_builder_node_ranks(builder, ranks) bind(c, name='treefold_builder_node_ranks') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder
         integer(c_size_t), value :: ranks
         integer(c_int32_t) :: returned
      end function c_builder_node_ranks

      function c_builder_message_limit(builder, elements) bind(c, name='treefold_builder_message_limit') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: builder
         integer(c_size_t), value :: elements
         integer(c_int32_t) :: returned
      end function c_builder_message_limit

      function c_builder_agreed(builder) bind(c, name='treefold_builder_agreed') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: builder
         integer(c_int32_t) :: returned
      end function c_builder_agreed

      function c_builder_destroy(builder) bind(c, name='treefold_builder_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: builder
         integer(c_int32_t) :: returned
      end function c_builder_destroy

      function c_plan_build(builder, result) bind(c, name='treefold_plan_build') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: builder
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_plan_build

      function c_plan_destroy(plan) bind(c, name='treefold_plan_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: plan
         integer(c_int32_t) :: returned
      end function c_plan_destroy

      function c_plan_algorithm(plan, operation, name) bind(c, name='treefold_plan_algorithm') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: plan
         integer(c_int32_t), value :: operation
         type(c_ptr), intent(inout) :: name
         integer(c_int32_t) :: returned
      end function c_plan_algorithm

      function c_plan_scattered_columns(plan, begin, end) bind(c, name='treefold_plan_scattered_columns') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan
         integer(c_size_t), intent(inout) :: begin, end
         integer(c_int32_t) :: returned
      end function c_plan_scattered_columns

      function c_plan_print(plan, text, capacity, needed) bind(c, name='treefold_plan_print') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, text
         integer(c_size_t), value :: capacity
         integer(c_size_t), intent(inout) :: needed
         integer(c_int32_t) :: returned
      end function c_plan_print

      function c_allreduce(plan, local, n, result, m) bind(c, name='treefold_allreduce') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local, result
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_allreduce

      function c_reduce(plan, local, n, result, m, is_mine) bind(c, name='treefold_reduce') result(returned)
         import :: c_int, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local, result
         integer(c_size_t), value :: n, m
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_reduce

      function c_reduce_scatter(plan, local, n, result, m) bind(c, name='treefold_reduce_scatter') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local, result
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_reduce_scatter

      function c_scan(plan, local, n, result, m) bind(c, name='treefold_scan') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local, result
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_scan

      function c_exscan(plan, local, n, result, m) bind(c, name='treefold_exscan') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local, result
         integer(c_size_t), value :: n, m
         integer(c_int32_t) :: returned
      end function c_exscan

      function c_broadcast(plan, row, m) bind(c, name='treefold_broadcast') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, row
         integer(c_size_t), value :: m
         integer(c_int32_t) :: returned
      end function c_broadcast

      function c_allreduce_dot(plan, x, n, y, k, result, m) bind(c, name='treefold_allreduce_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y, result
         integer(c_size_t), value :: n, k, m
         integer(c_int32_t) :: returned
      end function c_allreduce_dot

      function c_reduce_dot(plan, x, n, y, k, result, m, is_mine) bind(c, name='treefold_reduce_dot') result(returned)
         import :: c_int, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y, result
         integer(c_size_t), value :: n, k, m
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_reduce_dot

      function c_allreduce_dots(plan, x, y, k, n, result, m) bind(c, name='treefold_allreduce_dots') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y, result
         integer(c_size_t), value :: k, n, m
         integer(c_int32_t) :: returned
      end function c_allreduce_dots

      function c_allreduce_by_key(plan, key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_allreduce_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items, result
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, m
         integer(c_int32_t) :: returned
      end function c_allreduce_by_key

      function c_reduce_by_key(plan, key_type, keys, k, items, n, result, m, is_mine) &
         bind(c, name='treefold_reduce_by_key') result(returned)
         import :: c_int, c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items, result
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, m
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_reduce_by_key

      function c_reduce_scatter_by_key(plan, key_type, keys, k, items, n, result, m) &
         bind(c, name='treefold_reduce_scatter_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items, result
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n, m
         integer(c_int32_t) :: returned
      end function c_reduce_scatter_by_key

      function c_allreduce_keyed(plan, keyed) bind(c, name='treefold_allreduce_keyed') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: plan, keyed
         integer(c_int32_t) :: returned
      end function c_allreduce_keyed

      function c_reduce_keyed(plan, keyed, is_mine) bind(c, name='treefold_reduce_keyed') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: plan, keyed
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_reduce_keyed

      function c_reduce_scatter_keyed(plan, keyed) bind(c, name='treefold_reduce_scatter_keyed') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: plan, keyed
         integer(c_int32_t) :: returned
      end function c_reduce_scatter_keyed

      function c_start_allreduce(plan, local, n, run) bind(c, name='treefold_start_allreduce') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local
         integer(c_size_t), value :: n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_allreduce

      function c_start_reduce(plan, local, n, run) bind(c, name='treefold_start_reduce') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local
         integer(c_size_t), value :: n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_reduce

      function c_start_reduce_scatter(plan, local, n, run) bind(c, name='treefold_start_reduce_scatter') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local
         integer(c_size_t), value :: n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_reduce_scatter

      function c_start_scan(plan, local, n, run) bind(c, name='treefold_start_scan') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local
         integer(c_size_t), value :: n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_scan

      function c_start_exscan(plan, local, n, run) bind(c, name='treefold_start_exscan') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, local
         integer(c_size_t), value :: n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_exscan

      function c_start_allreduce_dot(plan, x, n, y, k, run) bind(c, name='treefold_start_allreduce_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y
         integer(c_size_t), value :: n, k
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_allreduce_dot

      function c_start_reduce_dot(plan, x, n, y, k, run) bind(c, name='treefold_start_reduce_dot') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y
         integer(c_size_t), value :: n, k
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_reduce_dot

      function c_start_allreduce_dots(plan, x, y, k, n, run) bind(c, name='treefold_start_allreduce_dots') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, x, y
         integer(c_size_t), value :: k, n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_allreduce_dots

      function c_start_allreduce_by_key(plan, key_type, keys, k, items, n, run) &
         bind(c, name='treefold_start_allreduce_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_allreduce_by_key

      function c_start_reduce_by_key(plan, key_type, keys, k, items, n, run) &
         bind(c, name='treefold_start_reduce_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_reduce_by_key

      function c_start_reduce_scatter_by_key(plan, key_type, keys, k, items, n, run) &
         bind(c, name='treefold_start_reduce_scatter_by_key') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: plan, keys, items
         integer(c_int32_t), value :: key_type
         integer(c_size_t), value :: k, n
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_start_reduce_scatter_by_key

      function c_test(run, done) bind(c, name='treefold_test') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: run
         integer(c_int), intent(inout) :: done
         integer(c_int32_t) :: returned
      end function c_test

      function c_wait_timeout(run, seconds) bind(c, name='treefold_wait_timeout') result(returned)
         import :: c_double, c_int32_t, c_ptr
         type(c_ptr), value :: run
         real(c_double), value :: seconds
         integer(c_int32_t) :: returned
      end function c_wait_timeout

      function c_wait(run, result, m, is_mine) bind(c, name='treefold_wait') result(returned)
         import :: c_int, c_int32_t, c_ptr, c_size_t
         type(c_ptr), intent(inout) :: run
         type(c_ptr), value :: result
         integer(c_size_t), value :: m
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_wait

      function c_wait_keyed(run, keyed, is_mine) bind(c, name='treefold_wait_keyed') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: run
         type(c_ptr), value :: keyed
         integer(c_int), intent(inout) :: is_mine
         integer(c_int32_t) :: returned
      end function c_wait_keyed

      function c_plan_pending(plan, pending) bind(c, name='treefold_plan_pending') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: plan
         integer(c_int), intent(inout) :: pending
         integer(c_int32_t) :: returned
      end function c_plan_pending

      function c_run_plan(run, plan) bind(c, name='treefold_run_plan') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: run
         type(c_ptr), intent(inout) :: plan
         integer(c_int32_t) :: returned
      end function c_run_plan

      function c_run_algorithm(run, name) bind(c, name='treefold_run_algorithm') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), value :: run
         type(c_ptr), intent(inout) :: name
         integer(c_int32_t) :: returned
      end function c_run_algorithm

      function c_cancel(run) bind(c, name='treefold_cancel') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: run
         integer(c_int32_t) :: returned
      end function c_cancel

      function c_hashed_create(comm, key_type, type, root, result) bind(c, name='treefold_hashed_create') result(returned)
         import :: c_int, c_int32_t, c_ptr
         type(c_ptr), value :: comm
         integer(c_int32_t), value :: key_type, type
         integer(c_int), value :: root
         type(c_ptr), intent(inout) :: result
         integer(c_int32_t) :: returned
      end function c_hashed_create

      function c_hashed_destroy(hashed) bind(c, name='treefold_hashed_destroy') result(returned)
         import :: c_int32_t, c_ptr
         type(c_ptr), intent(inout) :: hashed
         integer(c_int32_t) :: returned
      end function c_hashed_destroy

      function c_hashed_allreduce(hashed, keys, k, items, n, count) bind(c, name='treefold_hashed_allreduce') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: hashed, keys, items
         integer(c_size_t), value :: k, n
         integer(c_size_t), intent(inout) :: count
         integer(c_int32_t) :: returned
      end function c_hashed_allreduce

      function c_hashed_reduce(hashed, keys, k, items, n, count) bind(c, name='treefold_hashed_reduce') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: hashed, keys, items
         integer(c_size_t), value :: k, n
         integer(c_size_t), intent(inout) :: count
         integer(c_int32_t) :: returned
      end function c_hashed_reduce

      function c_hashed_reduce_scatter(hashed, keys, k, items, n, count) &
         bind(c, name='treefold_hashed_reduce_scatter') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: hashed, keys, items
         integer(c_size_t), value :: k, n
         integer(c_size_t), intent(inout) :: count
         integer(c_int32_t) :: returned
      end function c_hashed_reduce_scatter

      function c_hashed_result(hashed, keys, k, sums, m) bind(c, name='treefold_hashed_result') result(returned)
         import :: c_int32_t, c_ptr, c_size_t
         type(c_ptr), value :: hashed, keys, sums
         integer(c_size_t), value :: k, m
         integer(c_int32_t) :: returned
      end function c_hashed_result

      function c_algorithm_count() bind(c, name='treefold_algorithm_count') result(returned)
         import :: c_size_t
         integer(c_size_t) :: returned
      end function c_algorithm_count

      function c_algorithm_name(index) bind(c, name='treefold_algorithm_name') result(returned)
         import :: c_ptr, c_size_t
         integer(c_size_t), value :: index
         type(c_ptr) :: returned
      end function c_algorithm_name
   end interface
   ! </table>

   ! Communicators are those of mpi_f08, or integers as in mpif.h; counts have four or eight bytes.
   interface treefold_comm_duplicate
#ifndef TREEFOLD_NO_MPI_F08
      module procedure comm_duplicate_f08
#endif
      module procedure comm_duplicate_integer
   end interface
   ! <table: generic names>
   interface treefold_builder_local_items
      module procedure local_items_int32, local_items_int64
   end interface
   interface treefold_builder_even
      module procedure even_int32, even_int64
   end interface
   interface treefold_builder_block_cyclic
      module procedure block_cyclic_int32, block_cyclic_int64
   end interface
   interface treefold_builder_items
      module procedure items_int32, items_int64
   end interface
   interface treefold_builder_width
      module procedure width_int32, width_int64
   end interface
   interface treefold_builder_blocks
      module procedure blocks_int32, blocks_int64
   end interface
   interface treefold_builder_ports
      module procedure ports_int32, ports_int64
   end interface
   interface treefold_builder_node_ranks
      module procedure node_ranks_int32, node_ranks_int64
   end interface
   interface treefold_builder_message_limit
      module procedure message_limit_int32, message_limit_int64
   end interface
   interface treefold_allreduce
      module procedure allreduce_pointer
   end interface
   interface treefold_reduce
      module procedure reduce_pointer
   end interface
   interface treefold_reduce_scatter
      module procedure reduce_scatter_pointer
   end interface
   interface treefold_scan
      module procedure scan_pointer
   end interface
   interface treefold_exscan
      module procedure exscan_pointer
   end interface
   interface treefold_broadcast
      module procedure broadcast_pointer
   end interface
   interface treefold_start_allreduce
      module procedure start_allreduce_pointer
   end interface
   interface treefold_start_reduce
      module procedure start_reduce_pointer
   end interface
   interface treefold_start_reduce_scatter
      module procedure start_reduce_scatter_pointer
   end interface
   interface treefold_start_scan
      module procedure start_scan_pointer
   end interface
   interface treefold_start_exscan
      module procedure start_exscan_pointer
   end interface
   interface treefold_allreduce_dot
      module procedure allreduce_dot_pointer
   end interface
   interface treefold_reduce_dot
      module procedure reduce_dot_pointer
   end interface
   interface treefold_start_allreduce_dot
      module procedure start_allreduce_dot_pointer
   end interface
   interface treefold_start_reduce_dot
      module procedure start_reduce_dot_pointer
   end interface
   interface treefold_wait
      module procedure wait_pointer
   end interface
   ! </table>

contains

   ! ---- Communicators ---------------------------------------------------------------------------------------------------------

   ! Duplicates a communicator of the program's. Collective. The program may free its own one afterwards.
#ifndef TREEFOLD_NO_MPI_F08
   subroutine comm_duplicate_f08(comm, result, ierr)
      type(MPI_Comm), intent(in) :: comm
      type(treefold_comm), intent(inout) :: result
      integer, intent(out), optional :: ierr

      call comm_duplicate_integer(comm%MPI_VAL, result, ierr)
   end subroutine comm_duplicate_f08
#endif

   subroutine comm_duplicate_integer(comm, result, ierr)
      integer, intent(in) :: comm
      type(treefold_comm), intent(inout) :: result
      integer, intent(out), optional :: ierr

      integer(c_int32_t) :: world

      ! By this the library notices a program that was compiled for another MPI library.
#ifndef TREEFOLD_NO_MPI_F08
      world = int(all_ranks%MPI_VAL, c_int32_t)
#else
      world = int(all_ranks, c_int32_t)
#endif
      call finalise_comm(result)
      call report(c_comm_duplicate_f(int(comm, c_int32_t), world, result%handle), ierr)
   end subroutine comm_duplicate_integer

   ! This rank, from 0 on.
   subroutine treefold_comm_rank(comm, rank, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(out) :: rank
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = -1
      call report(c_comm_rank(comm%handle, found), ierr)
      rank = found
   end subroutine treefold_comm_rank

   ! The number of ranks.
   subroutine treefold_comm_size(comm, ranks, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(out) :: ranks
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = 0
      call report(c_comm_size(comm%handle, found), ierr)
      ranks = found
   end subroutine treefold_comm_size

   ! How long a wait tolerates that another rank says nothing; 1800 seconds by default. Then it ends with TREEFOLD_MPI_FAILED.
   subroutine treefold_comm_silence_limit(comm, seconds, ierr)
      type(treefold_comm), intent(inout) :: comm
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: ierr

      call report(c_comm_silence_limit(comm%handle, seconds), ierr)
   end subroutine treefold_comm_silence_limit

   ! Measures what a message costs, in some milliseconds: plans that are built later choose their algorithm by it. Collective.
   subroutine treefold_comm_measure_link(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr

      call report(c_comm_measure_link(comm%handle), ierr)
   end subroutine treefold_comm_measure_link

   subroutine treefold_comm_destroy(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr

      call report(c_comm_destroy(comm%handle), ierr)
   end subroutine treefold_comm_destroy

   ! Ends a handle, and frees MPI's own communicator, unless some rank still has a plan or a run of it. Collective.
   subroutine treefold_comm_free(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr

      call report(c_comm_free(comm%handle), ierr)
   end subroutine treefold_comm_free

   ! ---- Builders --------------------------------------------------------------------------------------------------------------

   ! Begins a plan for items of a type and an operator by their codes, such as TREEFOLD_F64 and TREEFOLD_OP_SUM.
   subroutine treefold_builder_create(comm, type, op, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer(c_int32_t), intent(in) :: type, op
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call finalise_builder(builder)
      builder%element = type
      builder%is_exact = .false.
      call report(c_builder_create(comm%handle, type, op, builder%handle), ierr)
   end subroutine treefold_builder_create

   ! Begins a plan of exact sums: a type of real or complex numbers, and what is made of them, such as TREEFOLD_FIGURE_NORM, which
   ! complex numbers do not have. The result is rounded once, to nearest with ties to even; it depends neither on the order of the
   ! items nor on who has which. In each run each rank gives as many as it likes, or as many whole rows, none included: who has
   ! which is not set. Plans of sums and norms have all calls but treefold_broadcast; those of dot products have
   ! treefold_allreduce_dot, treefold_reduce_dot and their starts.
   subroutine treefold_builder_create_exact(comm, type, figure, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer(c_int32_t), intent(in) :: type, figure
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call finalise_builder(builder)
      builder%element = type
      builder%is_exact = .true.
      call report(c_builder_create_exact(comm%handle, type, figure, builder%handle), ierr)
   end subroutine treefold_builder_create_exact

   ! Begins a plan by key, of real numbers: for each of the keys 0 to keys - 1 the sum of its items, by TREEFOLD_FIGURE_SUM, or their
   ! mean, by TREEFOLD_FIGURE_MOMENTS, rounded once. In each run each rank gives any number of items, each with its key, an integer of
   ! 32 or 64 bits: treefold_allreduce_by_key, treefold_reduce_by_key, treefold_reduce_scatter_by_key and their starts. The columns of
   ! a row are its keys, for treefold_plan_scattered_columns, too.
   subroutine treefold_builder_create_by_key(comm, type, figure, keys, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer(c_int32_t), intent(in) :: type, figure
      integer, intent(in) :: keys
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call finalise_builder(builder)
      if (negative('keys', int(keys, int64), ierr)) return
      builder%element = type
      builder%is_exact = .true.
      call report(c_builder_create_by_key(comm%handle, type, figure, int(keys, c_size_t), builder%handle), ierr)
   end subroutine treefold_builder_create_by_key

   ! Builds a plan of exact sums by keys of 64 bits, which may be any: treefold_hashed_allreduce, _reduce and _reduce_scatter. The
   ! type is TREEFOLD_F32 or TREEFOLD_F64; the root gets the result of treefold_hashed_reduce. Collective.
   subroutine treefold_hashed_create(comm, type, root, hashed, ierr)
      type(treefold_comm), intent(in) :: comm
      integer(c_int32_t), intent(in) :: type
      integer, intent(in) :: root
      type(treefold_hashed), intent(inout) :: hashed
      integer, intent(out), optional :: ierr

      call finalise_hashed(hashed)
      hashed%element = type
      call report(c_hashed_create(comm%handle, TREEFOLD_I64, type, int(root, c_int), hashed%handle), ierr)
   end subroutine treefold_hashed_create

   subroutine treefold_hashed_destroy(hashed, ierr)
      type(treefold_hashed), intent(inout) :: hashed
      integer, intent(out), optional :: ierr

      call report(c_hashed_destroy(hashed%handle), ierr)
   end subroutine treefold_hashed_destroy

   ! Begins a plan for items of item_bytes bytes and an operator of the caller, a procedure of a module. Ranks compare the name, the
   ! bytes of an item and the value for nothing. `empty` is copied. The context must live as long as plans of this builder.
   subroutine treefold_builder_create_user(comm, name, item_bytes, combine, builder, context, empty, ierr)
      type(treefold_comm), intent(in) :: comm
      character(len=*), intent(in) :: name
      integer, intent(in) :: item_bytes
      procedure(treefold_combine) :: combine
      type(treefold_builder), intent(inout) :: builder
      type(c_ptr), intent(in), optional :: context, empty
      integer, intent(out), optional :: ierr

      call finalise_builder(builder)
      if (negative('item_bytes', int(item_bytes, int64), ierr)) return
      builder%element = USER_ITEMS
      builder%item_bytes = item_bytes
      builder%is_exact = .false.
      call report(c_builder_create_user(comm%handle, trim(name) // c_null_char, int(item_bytes, c_size_t), c_funloc(combine), &
         pointer_or_null(context), pointer_or_null(empty), builder%handle), ierr)
   end subroutine treefold_builder_create_user

   ! <table: settings>
   ! Which items this rank has: one of these three and treefold_builder_extents is needed, except for exact sums. So many, which
   ! follow those of the ranks below:
   subroutine local_items_int64(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: items
      integer, intent(out), optional :: ierr

      if (negative('items', items, ierr)) return
      call report(c_builder_local_items(builder%handle, items), ierr)
   end subroutine local_items_int64

   subroutine local_items_int32(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: items
      integer, intent(out), optional :: ierr

      call local_items_int64(builder, int(items, int64), ierr)
   end subroutine local_items_int32

   ! N items over all ranks, floor(N / p) for each of p ranks and one more for the first N mod p of them. A rule, as block_cyclic:
   ! all ranks give the same numbers, and a plan needs no table of the ranks.
   subroutine even_int64(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: items
      integer, intent(out), optional :: ierr

      if (negative('items', items, ierr)) return
      call report(c_builder_even(builder%handle, items), ierr)
   end subroutine even_int64

   subroutine even_int32(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: items
      integer, intent(out), optional :: ierr

      call even_int64(builder, int(items, int64), ierr)
   end subroutine even_int32

   ! Blocks of so many of N items, dealt to the ranks in turn.
   subroutine block_cyclic_int64(builder, items, block, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: items, block
      integer, intent(out), optional :: ierr

      if (negative('items', items, ierr)) return
      if (negative('block', block, ierr)) return
      call report(c_builder_block_cyclic(builder%handle, items, block), ierr)
   end subroutine block_cyclic_int64

   subroutine block_cyclic_int32(builder, items, block, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: items, block
      integer, intent(out), optional :: ierr

      call block_cyclic_int64(builder, int(items, int64), int(block, int64), ierr)
   end subroutine block_cyclic_int32

   ! The items on all ranks, to be checked against what they have.
   subroutine items_int64(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: items
      integer, intent(out), optional :: ierr

      if (negative('items', items, ierr)) return
      call report(c_builder_items(builder%handle, items), ierr)
   end subroutine items_int64

   subroutine items_int32(builder, items, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: items
      integer, intent(out), optional :: ierr

      call items_int64(builder, int(items, int64), ierr)
   end subroutine items_int32

   ! The elements of an item: with more than one, items are rows, which are reduced element by element. 1 by default.
   subroutine width_int64(builder, elements, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: elements
      integer, intent(out), optional :: ierr

      if (negative('elements', elements, ierr)) return
      call report(c_builder_width(builder%handle, elements), ierr)
   end subroutine width_int64

   subroutine width_int32(builder, elements, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: elements
      integer, intent(out), optional :: ierr

      call width_int64(builder, int(elements, int64), ierr)
   end subroutine width_int32

   ! Parameters of algorithms, which change no bit either. The column blocks of a row:
   subroutine blocks_int64(builder, blocks, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: blocks
      integer, intent(out), optional :: ierr

      if (negative('blocks', blocks, ierr)) return
      call report(c_builder_blocks(builder%handle, blocks), ierr)
   end subroutine blocks_int64

   subroutine blocks_int32(builder, blocks, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: blocks
      integer, intent(out), optional :: ierr

      call blocks_int64(builder, int(blocks, int64), ierr)
   end subroutine blocks_int32

   ! The messages that a rank sends at once (bruck, dissemination):
   subroutine ports_int64(builder, ports, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: ports
      integer, intent(out), optional :: ierr

      if (negative('ports', ports, ierr)) return
      call report(c_builder_ports(builder%handle, ports), ierr)
   end subroutine ports_int64

   subroutine ports_int32(builder, ports, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: ports
      integer, intent(out), optional :: ierr

      call ports_int64(builder, int(ports, int64), ierr)
   end subroutine ports_int32

   ! The ranks of a node (hierarchical):
   subroutine node_ranks_int64(builder, ranks, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: ranks
      integer, intent(out), optional :: ierr

      if (negative('ranks', ranks, ierr)) return
      call report(c_builder_node_ranks(builder%handle, ranks), ierr)
   end subroutine node_ranks_int64

   subroutine node_ranks_int32(builder, ranks, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: ranks
      integer, intent(out), optional :: ierr

      call node_ranks_int64(builder, int(ranks, int64), ierr)
   end subroutine node_ranks_int32

   ! The longest message, in elements:
   subroutine message_limit_int64(builder, elements, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: elements
      integer, intent(out), optional :: ierr

      if (negative('elements', elements, ierr)) return
      call report(c_builder_message_limit(builder%handle, elements), ierr)
   end subroutine message_limit_int64

   subroutine message_limit_int32(builder, elements, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: elements
      integer, intent(out), optional :: ierr

      call message_limit_int64(builder, int(elements, int64), ierr)
   end subroutine message_limit_int32
   ! </table>

   ! The ranges, in the order in which the rank's array holds them. Column j of `ranges` stands for the items ranges(1, j) to
   ! ranges(2, j) - 1, which count from 0 on. With those of all ranks they are 0 to N - 1, each once.
   subroutine treefold_builder_extents(builder, ranges, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in), contiguous :: ranges(:, :)
      integer, intent(out), optional :: ierr
      integer(int64), allocatable, target :: copy(:)

      if (other_length('a column of ranges', size(ranges, 1, int64), 2_int64, ierr)) return
      if (size(ranges) > 0) then
         if (negative('one of the ranges', minval(ranges), ierr)) return
      end if
      ! c_loc takes no assumed-shape array, nor one without elements.
      allocate (copy(max(2, size(ranges))))
      copy(:size(ranges)) = reshape(ranges, [size(ranges)])
      call report(c_builder_extents(builder%handle, c_loc(copy), size(ranges, 2, c_size_t)), ierr)
   end subroutine treefold_builder_extents

   ! The rank that gets the result of treefold_reduce, and whose row treefold_broadcast sends. 0 by default.
   subroutine treefold_builder_root(builder, rank, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer, intent(in) :: rank
      integer, intent(out), optional :: ierr

      call report(c_builder_root(builder%handle, int(rank, c_int)), ierr)
   end subroutine treefold_builder_root

   ! Who talks to whom, by a name that treefold_algorithm_name knows. No algorithm changes a bit.
   subroutine treefold_builder_algorithm(builder, name, ierr)
      type(treefold_builder), intent(inout) :: builder
      character(len=*), intent(in) :: name
      integer, intent(out), optional :: ierr

      call report(c_builder_algorithm(builder%handle, trim(name) // c_null_char), ierr)
   end subroutine treefold_builder_algorithm

   ! Builds without communicating: the items follow a rule, and all ranks call the builder alike, which is not checked.
   subroutine treefold_builder_agreed(builder, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call report(c_builder_agreed(builder%handle), ierr)
   end subroutine treefold_builder_agreed

   subroutine treefold_builder_destroy(builder, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call report(c_builder_destroy(builder%handle), ierr)
   end subroutine treefold_builder_destroy

   ! ---- Plans -----------------------------------------------------------------------------------------------------------------

   ! Compares the ranks' settings and builds a plan. Collective: if it fails, then with the same error on every rank. The builder
   ! may be used again.
   subroutine treefold_plan_build(builder, plan, ierr)
      type(treefold_builder), intent(in) :: builder
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out), optional :: ierr

      call finalise_plan(plan)
      plan%element = builder%element
      plan%item_bytes = builder%item_bytes
      plan%is_exact = builder%is_exact
      call report(c_plan_build(builder%handle, plan%handle), ierr)
   end subroutine treefold_plan_build

   subroutine treefold_plan_destroy(plan, ierr)
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out), optional :: ierr

      call report(c_plan_destroy(plan%handle), ierr)
   end subroutine treefold_plan_destroy

   ! The name of the algorithm that runs for a call, such as TREEFOLD_CALL_ALLREDUCE; empty if the plan does not offer the call.
   subroutine treefold_plan_algorithm(plan, operation, name, ierr)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      character(len=:), allocatable, intent(out) :: name
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call report(c_plan_algorithm(plan%handle, int(operation, c_int32_t), found), ierr)
      name = text_of(found)
   end subroutine treefold_plan_algorithm

   ! The columns of a row that this rank gets from treefold_reduce_scatter: row(begin + 1:end).
   subroutine treefold_plan_scattered_columns(plan, begin, end, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(out) :: begin, end
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: found_begin, found_end

      found_begin = 0
      found_end = 0
      call report(c_plan_scattered_columns(plan%handle, found_begin, found_end), ierr)
      begin = found_begin
      end = found_end
   end subroutine treefold_plan_scattered_columns

   ! Who sends what to whom, and when: a text of several lines.
   subroutine treefold_plan_print(plan, text, ierr)
      type(treefold_plan), intent(in) :: plan
      character(len=:), allocatable, intent(out) :: text
      integer, intent(out), optional :: ierr
      character(kind=c_char), allocatable, target :: characters(:)
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      text = ''
      needed = 0
      status = c_plan_print(plan%handle, c_null_ptr, 0_c_size_t, needed)
      if (status == TREEFOLD_OK .and. needed > 0) then
         allocate (characters(needed))
         status = c_plan_print(plan%handle, c_loc(characters), needed, needed)
         if (status == TREEFOLD_OK) text = text_of(c_loc(characters))
      end if
      call report(status, ierr)
   end subroutine treefold_plan_print

   ! Adds up the ranks' states by key, of the plan's type, figure and number of keys. Collective. Each rank's becomes that of all; by
   ! treefold_reduce_keyed only the root's, and by treefold_reduce_scatter_keyed each rank's that of its keys. After an error it is as it
   ! was.
   subroutine treefold_allreduce_keyed(plan, keyed, ierr)
      type(treefold_plan), intent(in) :: plan
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call run_keyed(TREEFOLD_CALL_ALLREDUCE, plan, keyed, ierr=ierr)
   end subroutine treefold_allreduce_keyed

   subroutine treefold_reduce_keyed(plan, keyed, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      type(treefold_keyed), intent(inout) :: keyed
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_keyed(TREEFOLD_CALL_REDUCE, plan, keyed, is_mine, ierr)
   end subroutine treefold_reduce_keyed

   subroutine treefold_reduce_scatter_keyed(plan, keyed, ierr)
      type(treefold_plan), intent(in) :: plan
      type(treefold_keyed), intent(inout) :: keyed
      integer, intent(out), optional :: ierr

      call run_keyed(TREEFOLD_CALL_REDUCE_SCATTER, plan, keyed, ierr=ierr)
   end subroutine treefold_reduce_scatter_keyed

   ! Waits for a run by key, as treefold_wait: a state of the plan's type and figure becomes the result, where there is one.
   subroutine treefold_wait_keyed(run, keyed, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      type(treefold_keyed), intent(inout) :: keyed
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake

      if (other_keyed(keyed, run%element, handle, mistake)) handle = c_null_ptr
      mine = 0
      status = c_wait_keyed(run%handle, handle, mine)
      if (present(is_mine)) is_mine = mine /= 0
      call report_state(status, mistake, ierr)
   end subroutine treefold_wait_keyed

   ! ---- Runs ------------------------------------------------------------------------------------------------------------------

   ! Makes progress without waiting; `done` says whether the wait would return at once.
   subroutine treefold_test(run, done, ierr)
      type(treefold_run), intent(in) :: run
      logical, intent(out) :: done
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = 0
      call report(c_test(run%handle, found), ierr)
      done = found /= 0
   end subroutine treefold_test

   ! Waits until the run is over, for so many seconds at most: then TREEFOLD_TIMED_OUT, and the run goes on. treefold_wait fetches
   ! the result.
   subroutine treefold_wait_timeout(run, seconds, ierr)
      type(treefold_run), intent(in) :: run
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: ierr

      call report(c_wait_timeout(run%handle, seconds), ierr)
   end subroutine treefold_wait_timeout

   ! Whether a run of the plan is pending: started, and neither waited for nor abandoned. A plan has one run at a time.
   subroutine treefold_plan_pending(plan, pending, ierr)
      type(treefold_plan), intent(in) :: plan
      logical, intent(out) :: pending
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = 0
      call report(c_plan_pending(plan%handle, found), ierr)
      pending = found /= 0
   end subroutine treefold_plan_pending

   ! Whether a run is one of this plan, which must not have ended meanwhile. A plan cannot be copied: so the run is not asked for it.
   subroutine treefold_run_of_plan(run, plan, is_its, ierr)
      type(treefold_run), intent(in) :: run
      type(treefold_plan), intent(in) :: plan
      logical, intent(out) :: is_its
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call report(c_run_plan(run%handle, found), ierr)
      is_its = c_associated(found)
      if (is_its) is_its = c_associated(found, plan%handle)
   end subroutine treefold_run_of_plan

   ! The name of the algorithm by which a run goes.
   subroutine treefold_run_algorithm(run, name, ierr)
      type(treefold_run), intent(in) :: run
      character(len=:), allocatable, intent(out) :: name
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call report(c_run_algorithm(run%handle, found), ierr)
      name = text_of(found)
   end subroutine treefold_run_algorithm

   ! Abandons a run. Its plan is spent, and the other ranks are told.
   subroutine treefold_cancel(run, ierr)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call report(c_cancel(run%handle), ierr)
   end subroutine treefold_cancel

   ! <table: calls of addresses>
   subroutine allreduce_pointer(plan, local, n, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_ALLREDUCE, plan, USER_ITEMS, local, n, result, m, ierr=ierr)
   end subroutine allreduce_pointer

   subroutine reduce_pointer(plan, local, n, result, m, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE, plan, USER_ITEMS, local, n, result, m, is_mine, ierr)
   end subroutine reduce_pointer

   subroutine reduce_scatter_pointer(plan, local, n, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, USER_ITEMS, local, n, result, m, ierr=ierr)
   end subroutine reduce_scatter_pointer

   subroutine scan_pointer(plan, local, n, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_SCAN, plan, USER_ITEMS, local, n, result, m, ierr=ierr)
   end subroutine scan_pointer

   subroutine exscan_pointer(plan, local, n, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_EXSCAN, plan, USER_ITEMS, local, n, result, m, ierr=ierr)
   end subroutine exscan_pointer

   subroutine broadcast_pointer(plan, row, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: row
      integer(int64), intent(in) :: m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_BROADCAST, plan, USER_ITEMS, c_null_ptr, 0_c_size_t, row, m, ierr=ierr)
   end subroutine broadcast_pointer

   subroutine start_allreduce_pointer(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_ALLREDUCE, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_allreduce_pointer

   subroutine start_reduce_pointer(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_reduce_pointer

   subroutine start_reduce_scatter_pointer(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_REDUCE_SCATTER, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_reduce_scatter_pointer

   subroutine start_scan_pointer(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_SCAN, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_scan_pointer

   subroutine start_exscan_pointer(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_EXSCAN, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_exscan_pointer

   subroutine allreduce_dot_pointer(plan, x, n, y, k, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y, result
      integer(int64), intent(in) :: n, k, m
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_ALLREDUCE, plan, USER_ITEMS, x, n, y, k, result, m, ierr=ierr)
   end subroutine allreduce_dot_pointer

   subroutine reduce_dot_pointer(plan, x, n, y, k, result, m, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y, result
      integer(int64), intent(in) :: n, k, m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_REDUCE, plan, USER_ITEMS, x, n, y, k, result, m, is_mine, ierr)
   end subroutine reduce_dot_pointer

   subroutine start_allreduce_dot_pointer(plan, x, n, y, k, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y
      integer(int64), intent(in) :: n, k
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_ALLREDUCE, plan, USER_ITEMS, x, n, y, k, run, ierr)
   end subroutine start_allreduce_dot_pointer

   subroutine start_reduce_dot_pointer(plan, x, n, y, k, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y
      integer(int64), intent(in) :: n, k
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_REDUCE, plan, USER_ITEMS, x, n, y, k, run, ierr)
   end subroutine start_reduce_dot_pointer
   ! </table>

   subroutine wait_pointer(run, result, m, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      type(c_ptr), intent(in) :: result
      integer(int64), intent(in) :: m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call wait_for(run, USER_ITEMS, result, m, is_mine, ierr)
   end subroutine wait_pointer

   ! Runs a plan on arrays of a type, whose lengths count its elements.
   !
   ! Where an array cannot be the plan's, C gets lengths of 0 for both: a rank that waits for this one must hear that it failed, as
   ! it does of any other wrong length, and C reads and writes nothing. For an exact plan, which takes no items as well, C gets none
   ! that could be.
   subroutine run_plan(operation, plan, element, local, n, result, m, is_mine, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: local, result
      integer(c_size_t), intent(in) :: n, m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: local_count, result_count
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = TREEFOLD_OK
      message = ''
      local_count = count_of('local', plan%element, plan%item_bytes, element, n, mistake, message)
      result_count = count_of('result', plan%element, plan%item_bytes, element, m, mistake, message)
      first = local
      if (mistake /= TREEFOLD_OK) then
         call no_array(plan, first, local_count)
         result_count = 0
      end if

      mine = 0
      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: calls of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_allreduce(plan%handle, first, local_count, result, result_count)
      case (TREEFOLD_CALL_REDUCE)
         status = c_reduce(plan%handle, first, local_count, result, result_count, mine)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_reduce_scatter(plan%handle, first, local_count, result, result_count)
      case (TREEFOLD_CALL_SCAN)
         status = c_scan(plan%handle, first, local_count, result, result_count)
      case (TREEFOLD_CALL_EXSCAN)
         status = c_exscan(plan%handle, first, local_count, result, result_count)
      case (TREEFOLD_CALL_BROADCAST)
         status = c_broadcast(plan%handle, result, result_count)
      ! </table>
      end select

      if (present(is_mine)) is_mine = mine /= 0
      call report_either(status, mistake, message, ierr)
   end subroutine run_plan

   ! Runs a plan of dot products, as run_plan.
   subroutine run_dot(operation, plan, element, x, n, y, k, result, m, is_mine, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: x, y, result
      integer(c_size_t), intent(in) :: n, k, m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: x_count, y_count, result_count
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = TREEFOLD_OK
      message = ''
      x_count = count_of('x', plan%element, plan%item_bytes, element, n, mistake, message)
      y_count = count_of('y', plan%element, plan%item_bytes, element, k, mistake, message)
      result_count = count_of('result', plan%element, plan%item_bytes, element, m, mistake, message)
      first = x
      if (mistake /= TREEFOLD_OK) then
         call no_array(plan, first, x_count)
         y_count = 0
         result_count = 0
      end if

      mine = 0
      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: dot products of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_allreduce_dot(plan%handle, first, x_count, y, y_count, result, result_count)
      case (TREEFOLD_CALL_REDUCE)
         status = c_reduce_dot(plan%handle, first, x_count, y, y_count, result, result_count, mine)
      ! </table>
      end select

      if (present(is_mine)) is_mine = mine /= 0
      call report_either(status, mistake, message, ierr)
   end subroutine run_dot

   ! Runs a plan of dot products on arrays that lie apart, as run_plan.
   subroutine run_dots(plan, element, x, y, n, result, m, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: x(:), y(:), result
      integer(c_size_t), intent(in) :: n, m
      integer, intent(out), optional :: ierr
      type(c_ptr), target :: pairs(max(1, size(x)), 2)
      integer(c_size_t) :: k, x_count, result_count
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = TREEFOLD_OK
      message = ''
      x_count = count_of('x', plan%element, plan%item_bytes, element, n, mistake, message)
      result_count = count_of('result', plan%element, plan%item_bytes, element, m, mistake, message)
      call check_pairs(x, y, n, mistake, message)
      call list_pairs(x, y, mistake == TREEFOLD_OK, pairs, k)
      status = c_allreduce_dots(plan%handle, c_loc(pairs(1, 1)), c_loc(pairs(1, 2)), k, x_count, result, result_count)
      call report_either(status, mistake, message, ierr)
   end subroutine run_dots

   ! The pairs as C takes them. After a mistake there are none: that is an error in C, of which the other ranks hear.
   subroutine list_pairs(x, y, are_right, pairs, k)
      type(c_ptr), intent(in) :: x(:), y(:)
      logical, intent(in) :: are_right
      type(c_ptr), intent(inout) :: pairs(:, :)
      integer(c_size_t), intent(out) :: k

      k = 0
      if (.not. are_right) return
      k = size(x, kind=c_size_t)
      pairs(:k, 1) = x
      pairs(:k, 2) = y
   end subroutine list_pairs

   subroutine check_pairs(x, y, n, mistake, message)
      type(c_ptr), intent(in) :: x(:), y(:)
      integer(c_size_t), intent(in) :: n
      integer, intent(inout) :: mistake
      character(len=*), intent(inout) :: message

      if (mistake /= TREEFOLD_OK) return
      if (n < 0) then
         mistake = TREEFOLD_ARGUMENT
         message = 'n is negative: ' // decimal(n)
      else if (size(x) /= size(y)) then
         mistake = TREEFOLD_LENGTH
         message = 'x has ' // decimal(size(x, kind=c_size_t)) // ' pointers, but y has ' // decimal(size(y, kind=c_size_t))
      end if
   end subroutine check_pairs

   ! Runs a plan by key, as run_plan.
   subroutine run_by_key(operation, plan, element, key_type, keys, k, x, n, result, m, is_mine, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element, key_type
      type(c_ptr), intent(in) :: keys, x, result
      integer(c_size_t), intent(in) :: k, n, m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: count, result_count
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = TREEFOLD_OK
      message = ''
      count = count_of('x', plan%element, plan%item_bytes, element, n, mistake, message)
      result_count = count_of('result', plan%element, plan%item_bytes, element, m, mistake, message)
      first = x
      if (mistake /= TREEFOLD_OK) then
         call no_array(plan, first, count)
         result_count = 0
      end if

      mine = 0
      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: sums by key of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_allreduce_by_key(plan%handle, key_type, keys, k, first, count, result, result_count)
      case (TREEFOLD_CALL_REDUCE)
         status = c_reduce_by_key(plan%handle, key_type, keys, k, first, count, result, result_count, mine)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_reduce_scatter_by_key(plan%handle, key_type, keys, k, first, count, result, result_count)
      ! </table>
      end select

      if (present(is_mine)) is_mine = mine /= 0
      call report_either(status, mistake, message, ierr)
   end subroutine run_by_key

   ! Runs a plan by key on a state. One of another type is none to C, so that the other ranks hear of it.
   subroutine run_keyed(operation, plan, keyed, is_mine, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      type(treefold_keyed), intent(in) :: keyed
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handle
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake

      if (other_keyed(keyed, plan%element, handle, mistake)) handle = c_null_ptr
      mine = 0
      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: states by key of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_allreduce_keyed(plan%handle, handle)
      case (TREEFOLD_CALL_REDUCE)
         status = c_reduce_keyed(plan%handle, handle, mine)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_reduce_scatter_keyed(plan%handle, handle)
      ! </table>
      end select
      if (present(is_mine)) is_mine = mine /= 0
      call report_state(status, mistake, ierr)
   end subroutine run_keyed

   ! Reports what C said, or that it got no state since this was of another type.
   subroutine report_state(status, mistake, ierr)
      integer(c_int32_t), intent(in) :: status
      integer, intent(in) :: mistake
      integer, intent(out), optional :: ierr

      if (mistake /= TREEFOLD_OK .and. status == TREEFOLD_NULL) then
         call report_own(mistake, 'keyed is not of the type of the plan', ierr)
      else
         call report(status, ierr)
      end if
   end subroutine report_state

   ! Runs sums by keys of 64 bits, as run_plan.
   subroutine run_hashed(operation, hashed, element, keys, k, x, n, count, ierr)
      integer, intent(in) :: operation
      type(treefold_hashed), intent(in) :: hashed
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: keys, x
      integer(c_size_t), intent(in) :: k, n
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: item_count, found
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = TREEFOLD_OK
      message = ''
      item_count = count_of('x', hashed%element, 0_c_size_t, element, n, mistake, message)
      first = x
      if (mistake /= TREEFOLD_OK) call impossible_array(first, item_count)

      found = 0
      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: sums by keys of 64 bits of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_hashed_allreduce(hashed%handle, keys, k, first, item_count, found)
      case (TREEFOLD_CALL_REDUCE)
         status = c_hashed_reduce(hashed%handle, keys, k, first, item_count, found)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_hashed_reduce_scatter(hashed%handle, keys, k, first, item_count, found)
      ! </table>
      end select
      count = found
      call report_either(status, mistake, message, ierr)
   end subroutine run_hashed

   ! Fetches what the last run has left.
   subroutine fetch_hashed(hashed, element, keys, k, sums, m, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: keys, sums
      integer(c_size_t), intent(in) :: k, m
      integer, intent(out), optional :: ierr
      character(len=200) :: message
      integer(c_size_t) :: count
      integer :: mistake

      mistake = TREEFOLD_OK
      count = count_of('sums', hashed%element, 0_c_size_t, element, m, mistake, message)
      if (mistake == TREEFOLD_OK) then
         call report(c_hashed_result(hashed%handle, keys, k, sums, count), ierr)
      else
         call report_own(mistake, message, ierr)
      end if
   end subroutine fetch_hashed

   ! Starts a plan on an array of a type. What is wrong with it is said by the wait, as in C; of an exact plan by the start.
   subroutine start_plan(operation, plan, element, local, n, run, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: local
      integer(c_size_t), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: local_count
      integer(c_int32_t) :: status

      if (is_under_way(run, ierr)) return
      call announce(plan, run)
      local_count = count_of('local', plan%element, plan%item_bytes, element, n, run%mistake, run%mistake_message)
      first = local
      if (run%mistake /= TREEFOLD_OK) call no_array(plan, first, local_count)

      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: starts of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_start_allreduce(plan%handle, first, local_count, run%handle)
      case (TREEFOLD_CALL_REDUCE)
         status = c_start_reduce(plan%handle, first, local_count, run%handle)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_start_reduce_scatter(plan%handle, first, local_count, run%handle)
      case (TREEFOLD_CALL_SCAN)
         status = c_start_scan(plan%handle, first, local_count, run%handle)
      case (TREEFOLD_CALL_EXSCAN)
         status = c_start_exscan(plan%handle, first, local_count, run%handle)
      ! </table>
      end select
      call report_start(status, run, ierr)
   end subroutine start_plan

   ! Starts a plan of dot products, as start_plan.
   subroutine start_dot(operation, plan, element, x, n, y, k, run, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: x, y
      integer(c_size_t), intent(in) :: n, k
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: x_count, y_count
      integer(c_int32_t) :: status

      if (is_under_way(run, ierr)) return
      call announce(plan, run)
      x_count = count_of('x', plan%element, plan%item_bytes, element, n, run%mistake, run%mistake_message)
      y_count = count_of('y', plan%element, plan%item_bytes, element, k, run%mistake, run%mistake_message)
      first = x
      if (run%mistake /= TREEFOLD_OK) then
         call no_array(plan, first, x_count)
         y_count = 0
      end if

      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: starts of dot products of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_start_allreduce_dot(plan%handle, first, x_count, y, y_count, run%handle)
      case (TREEFOLD_CALL_REDUCE)
         status = c_start_reduce_dot(plan%handle, first, x_count, y, y_count, run%handle)
      ! </table>
      end select
      call report_start(status, run, ierr)
   end subroutine start_dot

   ! Starts treefold_allreduce_dots; treefold_wait takes the result.
   subroutine treefold_start_allreduce_dots(plan, x, y, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x(:), y(:)
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr
      type(c_ptr), target :: pairs(max(1, size(x)), 2)
      integer(c_size_t) :: k
      integer(c_int32_t) :: status

      if (is_under_way(run, ierr)) return
      call announce(plan, run)
      call check_pairs(x, y, int(n, c_size_t), run%mistake, run%mistake_message)
      call list_pairs(x, y, run%mistake == TREEFOLD_OK, pairs, k)
      status = c_start_allreduce_dots(plan%handle, c_loc(pairs(1, 1)), c_loc(pairs(1, 2)), k, int(n, c_size_t), run%handle)
      call report_start(status, run, ierr)
   end subroutine treefold_start_allreduce_dots

   ! Starts a plan by key, as start_plan.
   subroutine start_by_key(operation, plan, element, key_type, keys, k, x, n, run, ierr)
      integer, intent(in) :: operation
      type(treefold_plan), intent(in) :: plan
      integer(c_int32_t), intent(in) :: element, key_type
      type(c_ptr), intent(in) :: keys, x
      integer(c_size_t), intent(in) :: k, n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr
      type(c_ptr) :: first
      integer(c_size_t) :: count
      integer(c_int32_t) :: status

      if (is_under_way(run, ierr)) return
      call announce(plan, run)
      count = count_of('x', plan%element, plan%item_bytes, element, n, run%mistake, run%mistake_message)
      first = x
      if (run%mistake /= TREEFOLD_OK) call no_array(plan, first, count)

      status = TREEFOLD_UNSUPPORTED
      select case (operation)
      ! <table: starts of sums by key of C>
      case (TREEFOLD_CALL_ALLREDUCE)
         status = c_start_allreduce_by_key(plan%handle, key_type, keys, k, first, count, run%handle)
      case (TREEFOLD_CALL_REDUCE)
         status = c_start_reduce_by_key(plan%handle, key_type, keys, k, first, count, run%handle)
      case (TREEFOLD_CALL_REDUCE_SCATTER)
         status = c_start_reduce_scatter_by_key(plan%handle, key_type, keys, k, first, count, run%handle)
      ! </table>
      end select
      call report_start(status, run, ierr)
   end subroutine start_by_key

   ! Whether a run cannot be started since it is under way, which is reported.
   function is_under_way(run, ierr) result(is)
      type(treefold_run), intent(in) :: run
      integer, intent(out), optional :: ierr
      logical :: is

      is = c_associated(run%handle)
      if (is) call report_own(TREEFOLD_ARGUMENT, 'run is under way: wait for it first, or start another', ierr)
   end function is_under_way

   ! Makes a run one of a plan's, which is about to start.
   subroutine announce(plan, run)
      type(treefold_plan), intent(in) :: plan
      type(treefold_run), intent(inout) :: run

      run%element = plan%element
      run%item_bytes = plan%item_bytes
      run%mistake = TREEFOLD_OK
      run%mistake_message = ''
   end subroutine announce

   ! Reports what C said of a start. A mistake is that of the run, if there is one; else it made the start fail.
   subroutine report_start(status, run, ierr)
      integer(c_int32_t), intent(in) :: status
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      if (status == TREEFOLD_OK) then
         call report(status, ierr)
      else
         call report_either(status, run%mistake, run%mistake_message, ierr)
         run%mistake = TREEFOLD_OK
      end if
   end subroutine report_start

   ! What C gets for an array that cannot be the plan's: no items, or if these could be right a length that cannot be.
   subroutine no_array(plan, first, count)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(inout) :: first
      integer(c_size_t), intent(inout) :: count

      count = 0
      if (plan%is_exact) call impossible_array(first, count)
   end subroutine no_array

   ! An array of a length that cannot be.
   subroutine impossible_array(first, count)
      type(c_ptr), intent(out) :: first
      integer(c_size_t), intent(out) :: count
      integer(int64), target, save :: nothing = 0

      first = c_loc(nothing)
      count = NO_LENGTH
   end subroutine impossible_array

   ! Waits for a run. A result of another type has no length that could be right; the run ends all the same.
   subroutine wait_for(run, element, result, m, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      integer(c_int32_t), intent(in) :: element
      type(c_ptr), intent(in) :: result
      integer(c_size_t), intent(in) :: m
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      integer(c_size_t) :: result_count
      integer(c_int) :: mine
      integer(c_int32_t) :: status
      integer :: mistake
      character(len=200) :: message

      mistake = run%mistake
      message = run%mistake_message
      result_count = count_of('result', run%element, run%item_bytes, element, m, mistake, message)
      if (mistake /= TREEFOLD_OK) result_count = 0
      mine = 0
      status = c_wait(run%handle, result, result_count, mine)
      if (present(is_mine)) is_mine = mine /= 0
      call report_either(status, mistake, message, ierr)
   end subroutine wait_for

   ! The length of an array in what a plan counts: elements of its type, or items of the caller's operator. Notes a mistake, unless
   ! there is one already. USER_ITEMS for the array's own type stands for an address, which C takes as it is.
   function count_of(name, plan_element, item_bytes, element, length, mistake, message) result(count)
      character(len=*), intent(in) :: name
      integer(c_int32_t), intent(in) :: plan_element, element
      integer(c_size_t), intent(in) :: item_bytes, length
      integer, intent(inout) :: mistake
      character(len=*), intent(inout) :: message
      integer(c_size_t) :: count, length_bytes

      count = length
      if (mistake /= TREEFOLD_OK) return
      if (element == USER_ITEMS) then
         if (length >= 0) return
         mistake = TREEFOLD_ARGUMENT
         message = 'the length of ' // name // ' is negative: ' // decimal(length)
      else if (plan_element == USER_ITEMS) then
         if (item_bytes == 0) return  ! The plan has not been built: C says so.
         length_bytes = length * bytes_of(element)
         count = length_bytes / item_bytes
         if (count * item_bytes == length_bytes) return
         mistake = TREEFOLD_LENGTH
         message = name // ' has ' // decimal(length_bytes) // ' bytes, which are no whole items of ' // decimal(item_bytes)
      else if (plan_element /= element .and. plan_element /= unsigned(element)) then
         mistake = TREEFOLD_ARGUMENT
         message = name // ' is ' // type_name(element) // ', the plan is for ' // type_name(plan_element)
      end if
   end function count_of

   ! Reports what C said, or the mistake that made it fail. What it says of wrong lengths is then not what the caller gave.
   subroutine report_either(status, mistake, message, ierr)
      integer(c_int32_t), intent(in) :: status
      integer, intent(in) :: mistake
      character(len=*), intent(in) :: message
      integer, intent(out), optional :: ierr

      if (mistake /= TREEFOLD_OK .and. (status == TREEFOLD_OK .or. status == TREEFOLD_LENGTH)) then
         call report_own(mistake, message, ierr)
      else
         call report(status, ierr)
      end if
   end subroutine report_either

   ! The code of the unsigned type of the same size; no code for what is no integer.
   function unsigned(element) result(code)
      integer(c_int32_t), intent(in) :: element
      integer(c_int32_t) :: code

      code = -1
      if (element >= TREEFOLD_I8 .and. element <= TREEFOLD_I64) code = element + (TREEFOLD_U8 - TREEFOLD_I8)
   end function unsigned

   function bytes_of(element) result(bytes)
      integer(c_int32_t), intent(in) :: element
      integer(c_size_t) :: bytes
      integer(c_size_t), parameter :: BYTES_BY_CODE(12) = int([4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8], c_size_t)

      bytes = BYTES_BY_CODE(element)
   end function bytes_of

   function type_name(element) result(name)
      integer(c_int32_t), intent(in) :: element
      character(len=:), allocatable :: name
      character(len=15), parameter :: NAMES(12) = [character(len=15) :: 'real(real32)', 'real(real64)', 'complex(real32)', &
         'complex(real64)', 'integer(int8)', 'integer(int16)', 'integer(int32)', 'integer(int64)', 'unsigned int8', &
         'unsigned int16', 'unsigned int32', 'unsigned int64']

      name = 'an unknown type'
      if (element >= 1 .and. element <= size(NAMES)) name = trim(NAMES(element))
   end function type_name

   ! ---- Algorithms ------------------------------------------------------------------------------------------------------------

   function treefold_algorithm_count() result(count)
      integer :: count

      count = int(c_algorithm_count())
   end function treefold_algorithm_count

   ! The name of algorithm 1 to treefold_algorithm_count(); empty for any other number.
   function treefold_algorithm_name(number) result(name)
      integer, intent(in) :: number
      character(len=:), allocatable :: name

      name = ''
      if (number > 0) name = text_of(c_algorithm_name(int(number - 1, c_size_t)))
   end function treefold_algorithm_name

   ! ---- The end of handles ----------------------------------------------------------------------------------------------------

   ! <table: handles>
   ! Nobody is left to hear of an error in a finaliser. It has no effect on what has ended already, nor on what was never made.

   impure elemental subroutine finalise_comm(comm)
      type(treefold_comm), intent(inout) :: comm
      integer(c_int32_t) :: status

      if (c_associated(comm%handle)) status = c_comm_destroy(comm%handle)
      comm%handle = c_null_ptr
   end subroutine finalise_comm

   impure elemental subroutine finalise_builder(builder)
      type(treefold_builder), intent(inout) :: builder
      integer(c_int32_t) :: status

      if (c_associated(builder%handle)) status = c_builder_destroy(builder%handle)
      builder%handle = c_null_ptr
   end subroutine finalise_builder

   impure elemental subroutine finalise_plan(plan)
      type(treefold_plan), intent(inout) :: plan
      integer(c_int32_t) :: status

      if (c_associated(plan%handle)) status = c_plan_destroy(plan%handle)
      plan%handle = c_null_ptr
   end subroutine finalise_plan

   impure elemental subroutine finalise_run(run)
      type(treefold_run), intent(inout) :: run
      integer(c_int32_t) :: status

      if (c_associated(run%handle)) status = c_cancel(run%handle)
      run%handle = c_null_ptr
   end subroutine finalise_run

   impure elemental subroutine finalise_hashed(hashed)
      type(treefold_hashed), intent(inout) :: hashed
      integer(c_int32_t) :: status

      if (c_associated(hashed%handle)) status = c_hashed_destroy(hashed%handle)
      hashed%handle = c_null_ptr
   end subroutine finalise_hashed

   ! Assignments: of what has not been made, such as treefold_plan(), it ends the old value; of anything else the program.

   impure elemental subroutine assign_comm(to, from)
      class(treefold_comm), intent(inout) :: to
      type(treefold_comm), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_comm')
      call finalise_comm(to)
   end subroutine assign_comm

   impure elemental subroutine assign_builder(to, from)
      class(treefold_builder), intent(inout) :: to
      type(treefold_builder), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_builder')
      call finalise_builder(to)
   end subroutine assign_builder

   impure elemental subroutine assign_plan(to, from)
      class(treefold_plan), intent(inout) :: to
      type(treefold_plan), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_plan')
      call finalise_plan(to)
   end subroutine assign_plan

   impure elemental subroutine assign_run(to, from)
      class(treefold_run), intent(inout) :: to
      type(treefold_run), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_run')
      call finalise_run(to)
   end subroutine assign_run

   impure elemental subroutine assign_hashed(to, from)
      class(treefold_hashed), intent(inout) :: to
      type(treefold_hashed), intent(in) :: from

      if (c_associated(from%handle)) call no_copy('treefold_hashed')
      call finalise_hashed(to)
   end subroutine assign_hashed
   ! </table>
end module treefold_mpi_support

! ---- One module for each type ---------------------------------------------------------------------------------------------------

module treefold_mpi_real32
   use treefold_mpi_support, element => TREEFOLD_F32
#define TREEFOLD_TYPE real(real32)
#define TREEFOLD_FLOATING
#define TREEFOLD_REAL
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
#undef TREEFOLD_REAL
end module treefold_mpi_real32

module treefold_mpi_real64
   use treefold_mpi_support, element => TREEFOLD_F64
#define TREEFOLD_TYPE real(real64)
#define TREEFOLD_FLOATING
#define TREEFOLD_REAL
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
#undef TREEFOLD_REAL
end module treefold_mpi_real64

module treefold_mpi_complex32
   use treefold_mpi_support, element => TREEFOLD_C32
#define TREEFOLD_TYPE complex(real32)
#define TREEFOLD_FLOATING
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
end module treefold_mpi_complex32

module treefold_mpi_complex64
   use treefold_mpi_support, element => TREEFOLD_C64
#define TREEFOLD_TYPE complex(real64)
#define TREEFOLD_FLOATING
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
#undef TREEFOLD_FLOATING
end module treefold_mpi_complex64

module treefold_mpi_int8
   use treefold_mpi_support, element => TREEFOLD_I8
#define TREEFOLD_TYPE integer(int8)
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
end module treefold_mpi_int8

module treefold_mpi_int16
   use treefold_mpi_support, element => TREEFOLD_I16
#define TREEFOLD_TYPE integer(int16)
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
end module treefold_mpi_int16

module treefold_mpi_int32
   use treefold_mpi_support, element => TREEFOLD_I32
#define TREEFOLD_TYPE integer(int32)
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
end module treefold_mpi_int32

module treefold_mpi_int64
   use treefold_mpi_support, element => TREEFOLD_I64
#define TREEFOLD_TYPE integer(int64)
#include "treefold_mpi.F90"
#undef TREEFOLD_TYPE
end module treefold_mpi_int64

! ---- What programs use ----------------------------------------------------------------------------------------------------------

module treefold_mpi
   use treefold
   use treefold_mpi_support, only: treefold_comm, treefold_builder, treefold_plan, treefold_run, treefold_hashed, &
      treefold_comm_duplicate, treefold_comm_rank, treefold_comm_size, treefold_comm_silence_limit, treefold_comm_measure_link, &
      treefold_comm_destroy, treefold_comm_free, &
      treefold_builder_create, treefold_builder_create_exact, treefold_builder_create_user, &
      treefold_builder_create_by_key, treefold_hashed_create, treefold_hashed_destroy, &
      treefold_allreduce_keyed, treefold_reduce_keyed, treefold_reduce_scatter_keyed, treefold_wait_keyed, &
      treefold_start_allreduce_dots, &
      treefold_builder_extents, &
      treefold_builder_root, treefold_builder_algorithm, &
      treefold_builder_agreed, treefold_builder_destroy, &
      treefold_plan_build, treefold_plan_destroy, treefold_plan_algorithm, treefold_plan_scattered_columns, &
      treefold_plan_print, &
      TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE, TREEFOLD_CALL_REDUCE_SCATTER, TREEFOLD_CALL_SCAN, TREEFOLD_CALL_EXSCAN, &
      TREEFOLD_CALL_BROADCAST, &
      treefold_plan_pending, treefold_run_of_plan, treefold_run_algorithm, &
      treefold_test, treefold_wait_timeout, treefold_cancel, treefold_algorithm_count, treefold_algorithm_name
   ! <table: names of settings>
   use treefold_mpi_support, only: treefold_builder_local_items, treefold_builder_even, treefold_builder_block_cyclic, &
      treefold_builder_items, treefold_builder_width, treefold_builder_blocks, treefold_builder_ports, &
      treefold_builder_node_ranks, treefold_builder_message_limit
   ! </table>
   use treefold_mpi_real32
   use treefold_mpi_real64
   use treefold_mpi_complex32
   use treefold_mpi_complex64
   use treefold_mpi_int8
   use treefold_mpi_int16
   use treefold_mpi_int32
   use treefold_mpi_int64
   implicit none
   public
end module treefold_mpi
#endif
