! treefold_mpi: treefold's reductions over the ranks of an MPI communicator.
!
! Items are numbered 0 to N - 1 over all ranks. The ranks build a plan together, once, and run it many times. The bits do not
! depend on the number of ranks, on which rank owns which items, on the algorithm, or on the MPI library.
!
!     use mpi_f08
!     use treefold_mpi
!     type(treefold_comm) :: comm
!     type(treefold_builder) :: builder
!     type(treefold_plan) :: plan
!
!     call treefold_comm_duplicate(MPI_COMM_WORLD, comm)
!     call treefold_builder_create(comm, TREEFOLD_F64, TREEFOLD_OP_SUM, builder)
!     call treefold_builder_set(builder, local_items=size(x))
!     call treefold_plan_build(builder, plan)
!     call treefold_allreduce(plan, x, s)
!
! For exact sums, norms and dot products, items have no numbers: each rank passes any number of items. The result is rounded once.
!
!     call treefold_builder_create_exact(comm, TREEFOLD_F64, TREEFOLD_STATISTIC_DOT, builder)
!     call treefold_plan_build(builder, plan)
!     call treefold_allreduce(plan, x, s, y=y)
!
! "Collective" means: all ranks of the communicator make this call, in the same order relative to the other collective calls on it.
! If one rank gets an error in a collective call, every rank that depends on that rank gets an error too, in this call or in its
! next one. A plan whose run failed cannot run again. docs/items-and-ranks.md says what ranks must do alike, and what happens if
! they do not.
!
! The argument ierr is as in module treefold. This module also has the public names of module treefold. After an error, do not use
! the result.
!
! Every procedure accepts scalars, and arrays of any type, rank and stride. An array stands for all its elements, in array element
! order. So x(:, i) of an array of rank 2 is item i, a row whose length is the width of the plan. Arrays must have the plan's type.
! The type is checked at run time. A wrong type is an error, TREEFOLD_ARGUMENT, and the other ranks get an error, too. Pass
! unsigned integers as signed integers of the same size. For a user-defined operator, arrays may have any type, and their size in
! bytes must be a multiple of the item size. An array that is not contiguous is copied first. An array may be in the memory of a
! GPU, as treefold_mpi.h describes; c_f_pointer makes a Fortran array from the address of such an array.
!
! Handles (communicators, builders, plans, runs and hashed sums) are variables of types with a finaliser. They are destroyed when
! they go out of scope, or by treefold_..._destroy. Variables of the main program do not go out of scope. Handles cannot be copied:
! assigning a handle that is in use ends the program, because both copies would own the same object. Handles belong to the thread
! that created them. They may be destroyed in any order, even after MPI_Finalize and after the main program. Destroying a handle
! never communicates, prints anything or stops the program.
!
! Compile with the wrapper of any MPI library, together with treefold.F90 and treefold_descriptor.c, and link with libtreefold. If
! the MPI library has no module mpi_f08, compile with -DTREEFOLD_NO_MPI_F08.

! The implementation of module treefold_mpi. Programs use treefold_mpi, which re-exports the names that begin with treefold_.
module treefold_mpi_support
   use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_double, c_int, c_int32_t, c_int64_t, c_loc, c_null_char, &
      c_null_ptr, c_ptr, c_size_t
   use, intrinsic :: iso_fortran_env, only: int32, int64, real64
#ifndef TREEFOLD_NO_MPI_F08
   use mpi_f08, only: MPI_Comm, all_ranks => MPI_COMM_WORLD
#else
   use mpi, only: all_ranks => MPI_COMM_WORLD
#endif
   use treefold
   implicit none
   public

   ! The operations of plans. In C, an operation has the name of its procedure, in capitals.
   integer, parameter :: TREEFOLD_CALL_ALLREDUCE = 1
   integer, parameter :: TREEFOLD_CALL_REDUCE = 2
   integer, parameter :: TREEFOLD_CALL_REDUCE_SCATTER = 3
   integer, parameter :: TREEFOLD_CALL_SCAN = 4
   integer, parameter :: TREEFOLD_CALL_EXSCAN = 5
   integer, parameter :: TREEFOLD_CALL_BROADCAST = 6

   ! Passed in place of a type if an array may have integers of any kind.
   integer(c_int32_t), parameter :: ANY_INTEGERS = -1

   ! A callback that every long wait on a communicator calls several times a second. The wait ends unless the callback returns 0.
   abstract interface
      function treefold_interrupt(context) bind(c) result(is)
         import
         type(c_ptr), value :: context
         integer(c_int) :: is
      end function treefold_interrupt
   end interface

   ! ---- Functions of treefold_mpi.h, grouped by their arguments ------------------------------------------------------------------

   abstract interface
      integer(c_int32_t) function c_end(handle) bind(c)
         import; type(c_ptr), intent(inout) :: handle
      end function
      integer(c_int32_t) function c_act(handle) bind(c)
         import; type(c_ptr), value :: handle
      end function
      integer(c_int32_t) function c_ask(handle, found) bind(c)
         import; type(c_ptr), value :: handle; integer(c_int), intent(inout) :: found
      end function
      integer(c_int32_t) function c_ask_pointer(handle, found) bind(c)
         import; type(c_ptr), value :: handle; type(c_ptr), intent(inout) :: found
      end function
      integer(c_int32_t) function c_set_seconds(handle, seconds) bind(c)
         import; type(c_ptr), value :: handle; real(c_double), value :: seconds
      end function
      ! size_t and uint64_t are the same type on the processors that treefold supports.
      integer(c_int32_t) function c_set_count(builder, count) bind(c)
         import; type(c_ptr), value :: builder; integer(c_int64_t), value :: count
      end function
      integer(c_int32_t) function c_create(comm, type, kind, result) bind(c)
         import; type(c_ptr), value :: comm; integer(c_int32_t), value :: type, kind; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_run(plan, local, n, result, m) bind(c)
         import; type(c_ptr), value :: plan, local, result; integer(c_size_t), value :: n, m
      end function
      ! The last argument of the next three is is_mine in a function that runs a plan, and the run in a function that starts one.
      integer(c_int32_t) function c_dot(plan, operation, x, n, y, k, result, m, last) bind(c)
         import; type(c_ptr), value :: plan, x, y, result, last; integer(c_int32_t), value :: operation
         integer(c_size_t), value :: n, k, m
      end function
      integer(c_int32_t) function c_dots(plan, operation, x, y, k, n, result, m, last) bind(c)
         import; type(c_ptr), value :: plan, result, last; type(c_ptr), intent(in) :: x(*), y(*)
         integer(c_int32_t), value :: operation; integer(c_size_t), value :: k, n, m
      end function
      integer(c_int32_t) function c_by_key(plan, operation, key_type, keys, k, items, n, result, m, last) bind(c)
         import; type(c_ptr), value :: plan, keys, items, result, last; integer(c_int32_t), value :: operation, key_type
         integer(c_size_t), value :: k, n, m
      end function
   end interface

   procedure(c_end), bind(c, name='treefold_comm_destroy') :: c_comm_destroy
   procedure(c_end), bind(c, name='treefold_comm_free') :: c_comm_free
   procedure(c_end), bind(c, name='treefold_builder_destroy') :: c_builder_destroy
   procedure(c_end), bind(c, name='treefold_plan_destroy') :: c_plan_destroy
   procedure(c_end), bind(c, name='treefold_hashed_destroy') :: c_hashed_destroy
   procedure(c_end), bind(c, name='treefold_cancel') :: c_cancel
   procedure(c_end), bind(c, name='treefold_mpi_library') :: c_mpi_library
   procedure(c_act), bind(c, name='treefold_comm_measure_link') :: c_measure_link
   procedure(c_act), bind(c, name='treefold_builder_agreed') :: c_agreed
   procedure(c_ask), bind(c, name='treefold_comm_rank') :: c_rank
   procedure(c_ask), bind(c, name='treefold_comm_size') :: c_size
   procedure(c_ask), bind(c, name='treefold_test') :: c_test
   procedure(c_ask), bind(c, name='treefold_plan_pending') :: c_pending
   procedure(c_ask_pointer), bind(c, name='treefold_plan_build') :: c_build
   procedure(c_ask_pointer), bind(c, name='treefold_run_plan') :: c_run_plan
   procedure(c_ask_pointer), bind(c, name='treefold_run_algorithm') :: c_run_algorithm
   procedure(c_set_seconds), bind(c, name='treefold_comm_silence_limit') :: c_silence_limit
   procedure(c_set_seconds), bind(c, name='treefold_wait_timeout') :: c_wait_timeout
   procedure(c_set_count), bind(c, name='treefold_builder_local_items') :: c_local_items
   procedure(c_set_count), bind(c, name='treefold_builder_even') :: c_even
   procedure(c_set_count), bind(c, name='treefold_builder_items') :: c_items
   procedure(c_set_count), bind(c, name='treefold_builder_width') :: c_width
   procedure(c_set_count), bind(c, name='treefold_builder_lanes') :: c_lanes
   procedure(c_create), bind(c, name='treefold_builder_create') :: c_builder_create
   procedure(c_create), bind(c, name='treefold_builder_create_exact') :: c_builder_create_exact
   procedure(c_run), bind(c, name='treefold_allreduce') :: c_allreduce
   procedure(c_run), bind(c, name='treefold_reduce_scatter') :: c_reduce_scatter
   procedure(c_run), bind(c, name='treefold_scan') :: c_scan
   procedure(c_run), bind(c, name='treefold_exscan') :: c_exscan
   procedure(c_dot), bind(c, name='treefold_run_dot') :: c_run_dot
   procedure(c_dot), bind(c, name='treefold_start_dot') :: c_start_dot
   procedure(c_dots), bind(c, name='treefold_run_dots') :: c_run_dots
   procedure(c_dots), bind(c, name='treefold_start_dots') :: c_start_dots
   procedure(c_by_key), bind(c, name='treefold_run_by_key') :: c_run_by_key
   procedure(c_by_key), bind(c, name='treefold_start_by_key') :: c_start_by_key

   interface
      integer(c_int32_t) function c_duplicate(comm, world, result) bind(c, name='treefold_comm_duplicate_f')
         import; integer(c_int32_t), value :: comm, world; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_interruption(comm, interrupted, context) bind(c, name='treefold_comm_interruption')
         import; type(c_ptr), value :: comm, context; procedure(treefold_interrupt), optional :: interrupted
      end function
      integer(c_int32_t) function c_builder_create_by_key(comm, type, statistic, keys, result) &
         bind(c, name='treefold_builder_create_by_key')
         import; type(c_ptr), value :: comm; integer(c_int32_t), value :: type, statistic; integer(c_int64_t), value :: keys
         type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_builder_create_user(comm, name, item_bytes, combine, context, empty, result) &
         bind(c, name='treefold_builder_create_user')
         import; type(c_ptr), value :: comm, context, empty; character(kind=c_char), intent(in) :: name(*)
         integer(c_int64_t), value :: item_bytes; procedure(treefold_combine) :: combine; type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_extents(builder, ranges, n) bind(c, name='treefold_builder_extents')
         import; type(c_ptr), value :: builder; integer(c_int64_t), intent(in) :: ranges(*); integer(c_size_t), value :: n
      end function
      integer(c_int32_t) function c_block_cyclic(builder, items, block) bind(c, name='treefold_builder_block_cyclic')
         import; type(c_ptr), value :: builder; integer(c_int64_t), value :: items, block
      end function
      integer(c_int32_t) function c_root(builder, rank) bind(c, name='treefold_builder_root')
         import; type(c_ptr), value :: builder; integer(c_int), value :: rank
      end function
      integer(c_int32_t) function c_algorithm(builder, name) bind(c, name='treefold_builder_algorithm')
         import; type(c_ptr), value :: builder; character(kind=c_char), intent(in) :: name(*)
      end function
      integer(c_int32_t) function c_parameter(builder, parameter, value) bind(c, name='treefold_builder_parameter')
         import; type(c_ptr), value :: builder; integer(c_int32_t), value :: parameter; integer(c_int64_t), value :: value
      end function
      integer(c_int32_t) function c_plan_algorithm(plan, operation, name) bind(c, name='treefold_plan_algorithm')
         import; type(c_ptr), value :: plan; integer(c_int32_t), value :: operation; type(c_ptr), intent(inout) :: name
      end function
      integer(c_int32_t) function c_scattered_columns(plan, begin, end) bind(c, name='treefold_plan_scattered_columns')
         import; type(c_ptr), value :: plan; integer(c_int64_t), intent(inout) :: begin, end
      end function
      integer(c_int32_t) function c_print(plan, text, capacity, needed) bind(c, name='treefold_plan_print')
         import; type(c_ptr), value :: plan; character(kind=c_char), intent(inout) :: text(*)
         integer(c_size_t), value :: capacity; integer(c_size_t), intent(inout) :: needed
      end function
      integer(c_int32_t) function c_reduce(plan, local, n, result, m, is_mine) bind(c, name='treefold_reduce')
         import; type(c_ptr), value :: plan, local, result; integer(c_size_t), value :: n, m
         integer(c_int), intent(inout) :: is_mine
      end function
      integer(c_int32_t) function c_broadcast(plan, row, m) bind(c, name='treefold_broadcast')
         import; type(c_ptr), value :: plan, row; integer(c_size_t), value :: m
      end function
      integer(c_int32_t) function c_run_keyed(plan, operation, keyed, is_mine) bind(c, name='treefold_run_keyed')
         import; type(c_ptr), value :: plan, keyed; integer(c_int32_t), value :: operation
         integer(c_int), intent(inout) :: is_mine
      end function
      integer(c_int32_t) function c_start(plan, operation, local, n, result, m, run) bind(c, name='treefold_start')
         import; type(c_ptr), value :: plan, local, result; integer(c_int32_t), value :: operation
         integer(c_size_t), value :: n, m; type(c_ptr), intent(inout) :: run
      end function
      integer(c_int32_t) function c_wait(run, result, m, is_mine) bind(c, name='treefold_wait')
         import; type(c_ptr), intent(inout) :: run; type(c_ptr), value :: result; integer(c_size_t), value :: m
         integer(c_int), intent(inout) :: is_mine
      end function
      integer(c_int32_t) function c_wait_keyed(run, keyed, is_mine) bind(c, name='treefold_wait_keyed')
         import; type(c_ptr), intent(inout) :: run; type(c_ptr), value :: keyed; integer(c_int), intent(inout) :: is_mine
      end function
      integer(c_int32_t) function c_wait_all(runs, n) bind(c, name='treefold_wait_all')
         import; type(c_ptr), intent(inout) :: runs(*); integer(c_size_t), value :: n
      end function
      integer(c_int32_t) function c_hashed_create(comm, key_type, type, root, result) bind(c, name='treefold_hashed_create')
         import; type(c_ptr), value :: comm; integer(c_int32_t), value :: key_type, type; integer(c_int), value :: root
         type(c_ptr), intent(inout) :: result
      end function
      integer(c_int32_t) function c_hashed_run(hashed, operation, keys, k, items, n, count) bind(c, name='treefold_hashed_run')
         import; type(c_ptr), value :: hashed, keys, items; integer(c_int32_t), value :: operation
         integer(c_size_t), value :: k, n; integer(c_int64_t), intent(inout) :: count
      end function
      integer(c_int32_t) function c_hashed_result(hashed, keys, k, sums, m) bind(c, name='treefold_hashed_result')
         import; type(c_ptr), value :: hashed, keys, sums; integer(c_size_t), value :: k, m
      end function
      function c_algorithm_name(index) bind(c, name='treefold_algorithm_name') result(name)
         import; integer(c_size_t), value :: index; type(c_ptr) :: name
      end function
   end interface

   ! ---- Types -------------------------------------------------------------------------------------------------------------------

   ! A C handle, and the function that destroys it.
   type :: owned
      private
      type(c_ptr) :: handle = c_null_ptr
      procedure(c_end), pointer, nopass :: destroy => null()
   contains
      procedure, private :: assign
      generic :: assignment(=) => assign
      final :: finalise
   end type owned

   ! What arrays contain: elements of a type or, for a user-defined operator, items of `bytes` bytes.
   type :: item_kind
      integer(c_int32_t) :: type = 0
      integer(c_int64_t) :: bytes = 0
   end type item_kind

   ! A duplicate of an MPI communicator.
   type :: treefold_comm
      type(owned), private :: own
   end type treefold_comm

   ! The settings of a plan. treefold_plan_build compares the settings of all ranks.
   type :: treefold_builder
      type(owned), private :: own
      type(item_kind), private :: items
   end type treefold_builder

   ! A reduction that the ranks have agreed on: built once, run many times.
   type :: treefold_plan
      type(owned), private :: own
      type(item_kind), private :: items
   end type treefold_plan

   ! A run between its start and its end. Runs of several plans may be under way at once; a wait for one run advances all of them.
   ! A run that goes out of scope before it is over is cancelled.
   type :: treefold_run
      type(owned), private :: own
      type(item_kind), private :: items
   end type treefold_run

   ! A plan for exact sums by 64-bit integer keys, with the result of its last run.
   type :: treefold_hashed
      type(owned), private :: own
      type(item_kind), private :: items
   end type treefold_hashed

   ! An array, as treefold_descriptor.c declares it. Functions of that file set the address and the length that are passed to C.
   type, bind(c) :: operand
      type(c_ptr) :: at = c_null_ptr
      integer(c_int64_t) :: n = 0, bytes = 0
      integer(c_int32_t) :: type = 0, rank = 0, is_contiguous = 1, state = 0
      type(c_ptr) :: array = c_null_ptr, copy = c_null_ptr
   end type operand

   ! A call, as treefold_descriptor.c declares it: its arrays, the code and the text of its first error, and the status of C.
   type, bind(c) :: given_to_c
      type(operand) :: x, y, keys, result
      integer(c_int32_t) :: wrong = TREEFOLD_OK
      character(kind=c_char) :: text(1024)
      integer(c_int32_t) :: status = TREEFOLD_OK
      integer(c_int) :: mine = 0
   end type given_to_c

   ! Which operand of a call an array is. The result of a start is written after the call returns, so its array cannot be a copy.
   integer(c_int), parameter :: AS_X = 0, AS_Y = 1, AS_KEYS = 2, AS_RESULT = 3, AS_RESULT_OF_START = 4

   interface
      subroutine c_take(c, as, name, array, type, item_bytes) bind(c, name='treefold_f_take')
         import; type(given_to_c), intent(inout) :: c; integer(c_int), value :: as
         character(kind=c_char), intent(in) :: name(*); type(*), dimension(..), intent(in) :: array
         integer(c_int32_t), value :: type; integer(c_int64_t), value :: item_bytes
      end subroutine
      subroutine c_note(c, status, text) bind(c, name='treefold_f_note')
         import; type(given_to_c), intent(inout) :: c; integer(c_int32_t), value :: status
         character(kind=c_char), intent(in) :: text(*)
      end subroutine
      integer(c_int32_t) function c_finish(c, status, result) bind(c, name='treefold_f_end')
         import; type(given_to_c), intent(inout) :: c; integer(c_int32_t), value :: status
         type(*), dimension(..), intent(inout), optional :: result
      end function
   end interface

   ! Duplicates an MPI communicator: one of type MPI_Comm from mpi_f08, or an integer as in mpif.h.
   interface treefold_comm_duplicate
#ifndef TREEFOLD_NO_MPI_F08
      module procedure comm_duplicate_f08
#endif
      module procedure comm_duplicate_integer
   end interface

contains

   ! ---- Communicators -----------------------------------------------------------------------------------------------------------

   ! Sets text to a line that says which MPI library treefold calls, and why.
   subroutine treefold_mpi_library(text, ierr)
      character(len=:), allocatable, intent(out) :: text
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call treefold_end_call(c_mpi_library(found), ierr)
      text = treefold_text_of(found)
   end subroutine treefold_mpi_library

   ! Duplicates an MPI communicator. Collective. The program may free its own communicator afterwards.
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

      ! From this value, libtreefold detects that the program was compiled for another MPI library than it runs with.
#ifndef TREEFOLD_NO_MPI_F08
      world = int(all_ranks%MPI_VAL, c_int32_t)
#else
      world = int(all_ranks, c_int32_t)
#endif
      call begin_anew(result%own, c_comm_destroy)
      call treefold_end_call(c_duplicate(int(comm, c_int32_t), world, result%own%handle), ierr)
   end subroutine comm_duplicate_integer

   ! This rank, counted from 0.
   subroutine treefold_comm_rank(comm, rank, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(out) :: rank
      integer, intent(out), optional :: ierr

      rank = -1
      call treefold_end_call(c_rank(comm%own%handle, rank), ierr)
   end subroutine treefold_comm_rank

   ! The number of ranks.
   subroutine treefold_comm_size(comm, ranks, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(out) :: ranks
      integer, intent(out), optional :: ierr

      ranks = 0
      call treefold_end_call(c_size(comm%own%handle, ranks), ierr)
   end subroutine treefold_comm_size

   ! Sets the time after which a wait for a silent rank fails with TREEFOLD_MPI_FAILED; 1800 seconds by default.
   subroutine treefold_comm_silence_limit(comm, seconds, ierr)
      type(treefold_comm), intent(inout) :: comm
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_silence_limit(comm%own%handle, seconds), ierr)
   end subroutine treefold_comm_silence_limit

   ! Measures the cost of messages, which takes a few milliseconds. Plans that are built later choose their algorithm by this cost.
   ! Collective.
   subroutine treefold_comm_measure_link(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_measure_link(comm%own%handle), ierr)
   end subroutine treefold_comm_measure_link

   ! Sets the callback for waits, a module procedure. If it is absent, waits call nothing. If the callback ends a wait, the error
   ! is TREEFOLD_INTERRUPTED, and the plan of the wait cannot run again.
   subroutine treefold_comm_interruption(comm, interrupted, context, ierr)
      type(treefold_comm), intent(inout) :: comm
      procedure(treefold_interrupt), optional :: interrupted
      type(c_ptr), intent(in), optional :: context
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_interruption(comm%own%handle, interrupted, or_null(context)), ierr)
   end subroutine treefold_comm_interruption

   subroutine treefold_comm_destroy(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_comm_destroy(comm%own%handle), ierr)
   end subroutine treefold_comm_destroy

   ! Destroys a handle, and frees the duplicate communicator unless some rank still has a plan or a run on it. Collective.
   subroutine treefold_comm_free(comm, ierr)
      type(treefold_comm), intent(inout) :: comm
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_comm_free(comm%own%handle), ierr)
   end subroutine treefold_comm_free

   ! ---- Builders ----------------------------------------------------------------------------------------------------------------

   ! Creates a builder for the codes of an element type and an operator, such as TREEFOLD_F64 and TREEFOLD_OP_SUM.
   subroutine treefold_builder_create(comm, type, op, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, op
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call begin_anew(builder%own, c_builder_destroy)
      builder%items = item_kind(type)
      call treefold_end_call(c_builder_create(comm%own%handle, type, op, builder%own%handle), ierr)
   end subroutine treefold_builder_create

   ! Creates a builder for exact sums. The type is real or complex; the statistic is TREEFOLD_STATISTIC_SUM, _NORM, _DOT or _VDOT.
   ! Complex numbers have no norm. The result is rounded once, to nearest with ties to even. It depends neither on the order of the
   ! items nor on which rank has which item. So items are not assigned to ranks: in each run, each rank passes any number of items
   ! (or whole rows), or none. Plans of sums and norms accept all calls with one array except treefold_broadcast. Plans of dot
   ! products accept treefold_allreduce, treefold_reduce and treefold_start with `y`, treefold_run_dots and treefold_start_dots.
   subroutine treefold_builder_create_exact(comm, type, statistic, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, statistic
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr

      call begin_anew(builder%own, c_builder_destroy)
      builder%items = item_kind(type)
      call treefold_end_call(c_builder_create_exact(comm%own%handle, type, statistic, builder%own%handle), ierr)
   end subroutine treefold_builder_create_exact

   ! Creates a builder of plans by key, for real numbers. For each of the keys 0 to keys - 1, the result has the sum of the key's
   ! items (TREEFOLD_STATISTIC_SUM) or their mean (TREEFOLD_STATISTIC_MEAN), rounded once. In each run, each rank passes any number
   ! of items with their `keys` to treefold_allreduce, treefold_reduce, treefold_reduce_scatter or treefold_start. Run plans for
   ! other statistics with treefold_run_keyed. In treefold_plan_scattered_columns, columns are keys.
   subroutine treefold_builder_create_by_key(comm, type, statistic, keys, builder, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, statistic
      class(*), intent(in) :: keys
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr
      integer(int64) :: count
      integer(c_int32_t) :: status

      call begin_anew(builder%own, c_builder_destroy)
      call read_count('keys', keys, count, status)
      builder%items = item_kind(type)
      if (status == TREEFOLD_OK) status = c_builder_create_by_key(comm%own%handle, type, statistic, count, builder%own%handle)
      call treefold_end_call(status, ierr)
   end subroutine treefold_builder_create_by_key

   ! Creates a builder for a user-defined operator, a module procedure, on items of item_bytes bytes. treefold_plan_build compares
   ! the ranks' names, item sizes and empty values. `empty` points to the result for no items, which this call copies. The context
   ! must outlive the plans of this builder.
   subroutine treefold_builder_create_user(comm, name, item_bytes, combine, builder, context, empty, ierr)
      type(treefold_comm), intent(in) :: comm
      character(len=*), intent(in) :: name
      class(*), intent(in) :: item_bytes
      procedure(treefold_combine) :: combine
      type(treefold_builder), intent(inout) :: builder
      type(c_ptr), intent(in), optional :: context, empty
      integer, intent(out), optional :: ierr
      integer(int64) :: bytes
      integer(c_int32_t) :: status

      call begin_anew(builder%own, c_builder_destroy)
      call read_count('item_bytes', item_bytes, bytes, status)
      builder%items = item_kind(bytes=bytes)
      if (status == TREEFOLD_OK) status = c_builder_create_user(comm%own%handle, trim(name) // c_null_char, bytes, combine, &
         or_null(context), or_null(empty), builder%own%handle)
      call treefold_end_call(status, ierr)
   end subroutine treefold_builder_create_user

   ! Changes settings of a builder, by keyword. Counts are integers of 32 or 64 bits. The first invalid value ends the call
   ! with an error.
   !
   ! A plan needs one of these settings, unless its sums are exact or by key:
   ! - local_items: the number of this rank's items, which are numbered after the items of the lower ranks.
   ! - extents: the ranges of items that this rank has, in the order of its array. Column j is the range of items extents(1, j) to
   !   extents(2, j) - 1, counted from 0. Together the ranges of all ranks contain each of the items 0 to N - 1 once.
   ! - even: N. All p ranks together have N items, floor(N / p) each, and each of the first N mod p ranks has one more.
   ! - block_cyclic: [N, block]. All ranks together have N items, dealt to them round-robin in blocks of `block` items.
   ! even and block_cyclic are rules: all ranks pass the same numbers, and the plan needs no table of which rank has which items.
   !
   ! Optional settings:
   ! - items: the number of items of all ranks together, which treefold_plan_build checks.
   ! - width: the number of elements of an item; 1 by default. Items of several elements are rows, reduced element by element.
   ! - lanes: the number of lanes. Sums then have the order of treefold_sum_lanes.
   ! - root: the rank that gets the result of a reduce, and whose row treefold_broadcast sends; 0 by default.
   ! - algorithm: a name that treefold_algorithm_name gives. Algorithms decide which ranks exchange messages, and change no bit.
   ! - blocks, ports, node_ranks and message_limit: parameters of algorithms, which change no bit. They are the number of column
   !   blocks of a row, of messages that a rank sends at once (bruck, dissemination), of ranks per node (hierarchical), and of
   !   elements in the longest message.
   ! - agreed: if .true., the plan is built without communication. The items must follow a rule. All ranks must make the same calls
   !   on the builder; treefold does not check this.
   subroutine treefold_builder_set(builder, local_items, extents, even, block_cyclic, items, width, lanes, root, algorithm, &
      blocks, ports, node_ranks, message_limit, agreed, ierr)
      type(treefold_builder), intent(inout) :: builder
      class(*), intent(in), optional :: local_items, even, block_cyclic(2), items, width, lanes, blocks, ports, node_ranks, &
         message_limit
      integer(int64), intent(in), optional :: extents(:, :)
      integer, intent(in), optional :: root
      character(len=*), intent(in), optional :: algorithm
      logical, intent(in), optional :: agreed
      integer, intent(out), optional :: ierr
      integer(c_int32_t) :: status
      integer(int64) :: counts(2)

      status = TREEFOLD_OK
      call set_count(builder, 'local_items', local_items, status, c_local_items)
      if (status == TREEFOLD_OK .and. present(extents)) then
         if (size(extents, 1) /= 2) then
            status = treefold_report(TREEFOLD_LENGTH, 'each column of `extents` must have 2 numbers' // c_null_char)
         else if (any(extents < 0)) then
            status = treefold_report(TREEFOLD_ARGUMENT, 'the numbers in `extents` must be at least 0' // c_null_char)
         else
            status = c_extents(builder%own%handle, extents, size(extents, 2, c_size_t))
         end if
      end if
      call set_count(builder, 'even', even, status, c_even)
      if (status == TREEFOLD_OK .and. present(block_cyclic)) then
         call read_count('block_cyclic(1)', block_cyclic(1), counts(1), status)
         if (status == TREEFOLD_OK) call read_count('block_cyclic(2)', block_cyclic(2), counts(2), status)
         if (status == TREEFOLD_OK) status = c_block_cyclic(builder%own%handle, counts(1), counts(2))
      end if
      call set_count(builder, 'items', items, status, c_items)
      call set_count(builder, 'width', width, status, c_width)
      call set_count(builder, 'lanes', lanes, status, c_lanes)
      if (status == TREEFOLD_OK .and. present(root)) status = c_root(builder%own%handle, root)
      if (status == TREEFOLD_OK .and. present(algorithm)) status = c_algorithm(builder%own%handle, trim(algorithm) // c_null_char)
      call set_count(builder, 'blocks', blocks, status, parameter=1)
      call set_count(builder, 'ports', ports, status, parameter=2)
      call set_count(builder, 'node_ranks', node_ranks, status, parameter=3)
      call set_count(builder, 'message_limit', message_limit, status, parameter=4)
      if (status == TREEFOLD_OK .and. present(agreed)) then
         if (agreed) status = c_agreed(builder%own%handle)
      end if
      call treefold_end_call(status, ierr)
   end subroutine treefold_builder_set

   ! Sets a number, by `setter` or as a parameter of algorithms, unless the number is absent or an earlier setting was wrong.
   subroutine set_count(builder, name, given, status, setter, parameter)
      type(treefold_builder), intent(in) :: builder
      character(len=*), intent(in) :: name
      class(*), intent(in), optional :: given
      integer(c_int32_t), intent(inout) :: status
      procedure(c_set_count), optional :: setter
      integer(c_int32_t), intent(in), optional :: parameter
      integer(int64) :: count

      if (status /= TREEFOLD_OK .or. .not. present(given)) return
      call read_count(name, given, count, status)
      if (status /= TREEFOLD_OK) return
      if (present(setter)) status = setter(builder%own%handle, count)
      if (present(parameter)) status = c_parameter(builder%own%handle, parameter, count)
   end subroutine set_count

   subroutine treefold_builder_destroy(builder, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_builder_destroy(builder%own%handle), ierr)
   end subroutine treefold_builder_destroy

   ! The pointer to pass to C for an optional argument: a null pointer if the argument is absent.
   function or_null(pointer) result(given)
      type(c_ptr), intent(in), optional :: pointer
      type(c_ptr) :: given

      given = c_null_ptr
      if (present(pointer)) given = pointer
   end function or_null

   ! Converts `given` to a count for C. Reports an error if `given` is negative or of another type.
   subroutine read_count(name, given, count, status)
      character(len=*), intent(in) :: name
      class(*), intent(in) :: given
      integer(int64), intent(out) :: count
      integer(c_int32_t), intent(out) :: status
      character(len=20) :: digits

      count = -1
      digits = 'of another type'
      select type (given)
      type is (integer(int32))
         count = given
         write (digits, '(i0)') given
      type is (integer(int64))
         count = given
         write (digits, '(i0)') given
      end select
      status = TREEFOLD_OK
      if (count < 0) status = treefold_report(TREEFOLD_ARGUMENT, '`' // name // &
         '` must be an integer of 32 or 64 bits that is at least 0: it is ' // trim(digits) // c_null_char)
   end subroutine read_count

   ! ---- Plans -------------------------------------------------------------------------------------------------------------------

   ! Compares the ranks' settings and builds a plan. Collective: if the build fails, every rank gets the same error. The builder
   ! may be used again.
   subroutine treefold_plan_build(builder, plan, ierr)
      type(treefold_builder), intent(in) :: builder
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out), optional :: ierr

      call begin_anew(plan%own, c_plan_destroy)
      plan%items = builder%items
      call treefold_end_call(c_build(builder%own%handle, plan%own%handle), ierr)
   end subroutine treefold_plan_build

   subroutine treefold_plan_destroy(plan, ierr)
      type(treefold_plan), intent(inout) :: plan
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_plan_destroy(plan%own%handle), ierr)
   end subroutine treefold_plan_destroy

   ! The name of the algorithm that runs an operation, such as TREEFOLD_CALL_ALLREDUCE. Empty if the plan lacks the operation.
   subroutine treefold_plan_algorithm(plan, operation, name, ierr)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      character(len=:), allocatable, intent(out) :: name
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call treefold_end_call(c_plan_algorithm(plan%own%handle, operation, found), ierr)
      name = treefold_text_of(found)
   end subroutine treefold_plan_algorithm

   ! treefold_reduce_scatter gives this rank the columns row(begin + 1:end) of the resulting row.
   subroutine treefold_plan_scattered_columns(plan, begin, end, ierr)
      type(treefold_plan), intent(in) :: plan
      integer(int64), intent(out) :: begin, end
      integer, intent(out), optional :: ierr

      begin = 0
      end = 0
      call treefold_end_call(c_scattered_columns(plan%own%handle, begin, end), ierr)
   end subroutine treefold_plan_scattered_columns

   ! The schedule, as text of several lines: which rank sends what to whom, and when.
   subroutine treefold_plan_print(plan, text, ierr)
      type(treefold_plan), intent(in) :: plan
      character(len=:), allocatable, intent(out) :: text
      integer, intent(out), optional :: ierr
      character(len=1, kind=c_char) :: nothing(1)
      integer(c_size_t) :: needed
      integer(c_int32_t) :: status

      needed = 0
      status = c_print(plan%own%handle, nothing, 0_c_size_t, needed)
      allocate (character(len=needed) :: text)
      if (status == TREEFOLD_OK) status = c_print(plan%own%handle, text, needed, needed)
      text = text(:max(0_c_size_t, needed - 1))
      call treefold_end_call(status, ierr)
   end subroutine treefold_plan_print

   ! Whether a run of the plan is pending: started, and neither waited for nor cancelled. A plan has one run at a time.
   subroutine treefold_plan_pending(plan, pending, ierr)
      type(treefold_plan), intent(in) :: plan
      logical, intent(out) :: pending
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = 0
      call treefold_end_call(c_pending(plan%own%handle, found), ierr)
      pending = found /= 0
   end subroutine treefold_plan_pending

   ! ---- Blocking runs -----------------------------------------------------------------------------------------------------------

   ! The operations of plans. `local` has this rank's items. For plans of dot products, and of sums of real numbers in tree order,
   ! `y` has the second factors, and the result is the dot product. For plans by key, `keys` has the integer keys of the items, and
   ! the result has a sum or mean for each key. A `y` or `keys` that is not allocated counts as absent.

   ! Every rank gets the reduction of all items: `result` has `width` elements, or one element for each key.
   subroutine treefold_allreduce(plan, local, result, ierr, y, keys)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(in), optional :: y, keys
      call run(plan, TREEFOLD_CALL_ALLREDUCE, local, result, ierr, y, keys)
   end subroutine treefold_allreduce

   ! The root gets the reduction. is_mine says whether this rank is the root. On other ranks, `result` is not written; it may have
   ! no elements, but must be allocated.
   subroutine treefold_reduce(plan, local, result, is_mine, ierr, y, keys)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(in), optional :: y, keys
      call run(plan, TREEFOLD_CALL_REDUCE, local, result, ierr, y, keys, is_mine)
   end subroutine treefold_reduce

   ! Every rank gets its columns of the reduction, or the values of its own keys, as treefold_plan_scattered_columns gives them.
   subroutine treefold_reduce_scatter(plan, local, result, ierr, keys)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(in), optional :: keys
      call run(plan, TREEFOLD_CALL_REDUCE_SCATTER, local, result, ierr, keys=keys)
   end subroutine treefold_reduce_scatter

   ! For each of this rank's items, the reduction of all items up to and including it.
   subroutine treefold_scan(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call run(plan, TREEFOLD_CALL_SCAN, local, result, ierr)
   end subroutine treefold_scan

   ! Like treefold_scan, but each reduction excludes the item itself.
   subroutine treefold_exscan(plan, local, result, ierr)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      call run(plan, TREEFOLD_CALL_EXSCAN, local, result, ierr)
   end subroutine treefold_exscan

   ! The root's row is copied to every rank.
   subroutine treefold_broadcast(plan, row, ierr)
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(inout) :: row
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      call take(c, AS_RESULT, 'row', row, plan%items)
      c%status = c_broadcast(plan%own%handle, c%result%at, c%result%n)
      call finish(c, ierr, result=row)
   end subroutine treefold_broadcast

   ! Several dot products of separately stored arrays, sent in one message. The operation is TREEFOLD_CALL_ALLREDUCE or _REDUCE. x
   ! and y each hold addresses of arrays of n elements, one for each column of the plan. The addresses are not checked. Element j
   ! of the result is the dot product of the arrays at x(j) and y(j).
   subroutine treefold_run_dots(plan, operation, x, y, n, result, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      type(c_ptr), intent(in) :: x(:), y(:)
      class(*), intent(in) :: n
      type(*), dimension(..), intent(inout) :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c
      integer(int64) :: elements, addresses

      call take_addresses(c, x, y, n, elements, addresses)
      call take(c, AS_RESULT, 'result', result, plan%items)
      c%status = c_run_dots(plan%own%handle, operation, x, y, addresses, elements, c%result%at, c%result%n, c_loc(c%mine))
      call finish(c, ierr, is_mine, result)
   end subroutine treefold_run_dots

   ! Runs a plan by key on keyed states, which must have the plan's type, statistic and number of keys. Each rank's state becomes
   ! the state of all ranks' items. With _REDUCE only the root's state changes. With _REDUCE_SCATTER each state keeps only the
   ! rank's own keys. After an error the state is unchanged.
   subroutine treefold_run_keyed(plan, operation, keyed, is_mine, ierr)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      type(treefold_state), intent(inout) :: keyed
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      c%status = c_run_keyed(plan%own%handle, operation, treefold_keyed_handle(keyed), c%mine)
      call finish(c, ierr, is_mine)
   end subroutine treefold_run_keyed

   ! ---- Runs between start and end ----------------------------------------------------------------------------------------------

   ! Starts an operation such as TREEFOLD_CALL_ALLREDUCE, and returns when this rank's items are folded. Then the program may reuse
   ! their arrays. Collective. The result goes to the array of the wait, or to `result`, which must be passed by keyword. The array
   ! `result` must be contiguous, live until the wait, and be declared `asynchronous`. If an array does not fit the plan, the start
   ! returns an error, and leaves no run.
   subroutine treefold_start(plan, operation, local, run, ierr, result, y, keys)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      type(*), dimension(..), intent(in) :: local
      type(treefold_run), intent(inout), target :: run
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(inout), asynchronous, optional :: result
      type(*), dimension(..), intent(in), optional :: y, keys
      type(given_to_c), target :: c

      if (is_under_way(run, plan, ierr)) return
      call take_operands(c, plan, local, y, keys)
      if (present(result)) call take(c, AS_RESULT_OF_START, 'result', result, plan%items)
      if (present(y)) then
         c%status = c_start_dot(plan%own%handle, operation, c%x%at, c%x%n, c%y%at, c%y%n, c%result%at, c%result%n, &
            c_loc(run%own%handle))
      else if (present(keys)) then
         c%status = c_start_by_key(plan%own%handle, operation, key_type_of(c), c%keys%at, c%keys%n, c%x%at, c%x%n, c%result%at, &
            c%result%n, c_loc(run%own%handle))
      else
         c%status = c_start(plan%own%handle, operation, c%x%at, c%x%n, c%result%at, c%result%n, run%own%handle)
      end if
      call finish(c, ierr)
   end subroutine treefold_start

   subroutine treefold_start_dots(plan, operation, x, y, n, run, ierr, result)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      type(c_ptr), intent(in) :: x(:), y(:)
      class(*), intent(in) :: n
      type(treefold_run), intent(inout), target :: run
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(inout), asynchronous, optional :: result
      type(given_to_c), target :: c
      integer(int64) :: elements, addresses

      if (is_under_way(run, plan, ierr)) return
      call take_addresses(c, x, y, n, elements, addresses)
      if (present(result)) call take(c, AS_RESULT_OF_START, 'result', result, plan%items)
      c%status = c_start_dots(plan%own%handle, operation, x, y, addresses, elements, c%result%at, c%result%n, c_loc(run%own%handle))
      call finish(c, ierr)
   end subroutine treefold_start_dots

   ! Makes progress without waiting. `done` says whether a wait would return at once.
   subroutine treefold_test(run, done, ierr)
      type(treefold_run), intent(in) :: run
      logical, intent(out) :: done
      integer, intent(out), optional :: ierr
      integer(c_int) :: found

      found = 0
      call treefold_end_call(c_test(run%own%handle, found), ierr)
      done = found /= 0
   end subroutine treefold_test

   ! Waits until the run is over, but not longer than `seconds`. After this time, the error is TREEFOLD_TIMED_OUT, and the run
   ! continues. treefold_wait fetches the result.
   subroutine treefold_wait_timeout(run, seconds, ierr)
      type(treefold_run), intent(in) :: run
      real(real64), intent(in) :: seconds
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_wait_timeout(run%own%handle, seconds), ierr)
   end subroutine treefold_wait_timeout

   ! Waits for a run, and ends it; is_mine says whether this rank got a result. If `result` is absent here, the result goes to the
   ! array of the start. A result of another type or length is an error, but the run still completes.
   subroutine treefold_wait(run, result, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      type(*), dimension(..), intent(inout), optional :: result
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      if (present(result)) call take(c, AS_RESULT, 'result', result, run%items)
      c%status = c_wait(run%own%handle, c%result%at, c%result%n, c%mine)
      call finish(c, ierr, is_mine, result)
   end subroutine treefold_wait

   ! Waits for runs and ends all of them, even after an error. Returns the error of the first run that failed. Each result goes to
   ! the array of the run's start. Runs that are not under way are skipped.
   subroutine treefold_wait_all(runs, ierr)
      type(treefold_run), intent(inout) :: runs(:)
      integer, intent(out), optional :: ierr
      type(c_ptr) :: handles(size(runs))
      integer(c_int32_t) :: status
      integer :: i

      handles = [(runs(i)%own%handle, i = 1, size(runs))]
      status = c_wait_all(handles, size(runs, kind=c_size_t))
      do i = 1, size(runs)
         runs(i)%own%handle = handles(i)
      end do
      call treefold_end_call(status, ierr)
   end subroutine treefold_wait_all

   ! Like treefold_wait, but for a run by key. `keyed` must have the plan's type and statistic. If this rank gets a result, `keyed`
   ! becomes the state of the result.
   subroutine treefold_wait_keyed(run, keyed, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      type(treefold_state), intent(inout) :: keyed
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      c%status = c_wait_keyed(run%own%handle, treefold_keyed_handle(keyed), c%mine)
      call finish(c, ierr, is_mine)
   end subroutine treefold_wait_keyed

   ! Whether a run belongs to this plan, which must still exist. (Plans cannot be copied, so a run cannot return its plan.)
   subroutine treefold_run_of_plan(run, plan, is_its, ierr)
      type(treefold_run), intent(in) :: run
      type(treefold_plan), intent(in) :: plan
      logical, intent(out) :: is_its
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call treefold_end_call(c_run_plan(run%own%handle, found), ierr)
      is_its = c_associated(found, plan%own%handle)
   end subroutine treefold_run_of_plan

   ! The name of a run's algorithm.
   subroutine treefold_run_algorithm(run, name, ierr)
      type(treefold_run), intent(in) :: run
      character(len=:), allocatable, intent(out) :: name
      integer, intent(out), optional :: ierr
      type(c_ptr) :: found

      found = c_null_ptr
      call treefold_end_call(c_run_algorithm(run%own%handle, found), ierr)
      name = treefold_text_of(found)
   end subroutine treefold_run_algorithm

   ! Cancels a run. Its plan cannot run again; the runs of the other ranks fail.
   subroutine treefold_cancel(run, ierr)
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_cancel(run%own%handle), ierr)
   end subroutine treefold_cancel

   ! ---- Sums by keys of 64 bits -------------------------------------------------------------------------------------------------

   ! Creates exact sums for arbitrary 64-bit integer keys. The type is TREEFOLD_F32 or TREEFOLD_F64. The root gets the result of
   ! TREEFOLD_CALL_REDUCE. Collective.
   subroutine treefold_hashed_create(comm, type, root, hashed, ierr)
      type(treefold_comm), intent(in) :: comm
      integer, intent(in) :: type, root
      type(treefold_hashed), intent(inout) :: hashed
      integer, intent(out), optional :: ierr

      call begin_anew(hashed%own, c_hashed_destroy)
      hashed%items = item_kind(type)
      call treefold_end_call(c_hashed_create(comm%own%handle, TREEFOLD_I64, type, root, hashed%own%handle), ierr)
   end subroutine treefold_hashed_create

   subroutine treefold_hashed_destroy(hashed, ierr)
      type(treefold_hashed), intent(inout) :: hashed
      integer, intent(out), optional :: ierr
      call treefold_end_call(c_hashed_destroy(hashed%own%handle), ierr)
   end subroutine treefold_hashed_destroy

   ! Adds up the items of each key; keys are integer(int64). `count` becomes the number of keys in this rank's result. With
   ! TREEFOLD_CALL_ALLREDUCE the result has all keys. With _REDUCE the root gets all keys, and the other ranks get none. With
   ! _REDUCE_SCATTER each rank gets the keys that it owns.
   subroutine treefold_hashed_run(hashed, operation, keys, x, count, ierr)
      type(treefold_hashed), intent(in) :: hashed
      integer, intent(in) :: operation
      type(*), dimension(..), intent(in) :: keys, x
      integer(int64), intent(out) :: count
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      count = 0
      call take(c, AS_KEYS, 'keys', keys, item_kind(TREEFOLD_I64))
      call take(c, AS_X, 'x', x, hashed%items)
      c%status = c_hashed_run(hashed%own%handle, operation, c%keys%at, c%keys%n, c%x%at, c%x%n, count)
      call finish(c, ierr)
   end subroutine treefold_hashed_run

   ! The keys, in ascending order, and the sums of the last run. The number of elements of each array must be the run's `count`.
   subroutine treefold_hashed_result(hashed, keys, sums, ierr)
      type(treefold_hashed), intent(in) :: hashed
      type(*), dimension(..), intent(inout) :: keys, sums
      integer, intent(out), optional :: ierr
      type(given_to_c), target :: c

      call take(c, AS_KEYS, 'keys', keys, item_kind(TREEFOLD_I64))
      call take(c, AS_RESULT, 'sums', sums, hashed%items)
      c%status = c_hashed_result(hashed%own%handle, c%keys%at, c%keys%n, c%result%at, c%result%n)
      if (c%status == TREEFOLD_OK .and. c_associated(c%keys%copy)) call treefold_view_write(keys, c%keys%copy)
      call finish(c, ierr, result=sums)
   end subroutine treefold_hashed_result

   ! The name of algorithm `number`, counted from 1. Empty if there is no such algorithm.
   function treefold_algorithm_name(number) result(name)
      integer, intent(in) :: number
      character(len=:), allocatable :: name

      name = ''
      if (number > 0) name = treefold_text_of(c_algorithm_name(int(number - 1, c_size_t)))
   end function treefold_algorithm_name

   ! ---- Calls on arrays ---------------------------------------------------------------------------------------------------------

   ! Runs an operation on items, on pairs of items if y is present, or on items with keys if keys is present.
   subroutine run(plan, operation, local, result, ierr, y, keys, is_mine)
      type(treefold_plan), intent(in) :: plan
      integer, intent(in) :: operation
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(inout) :: result
      integer, intent(out), optional :: ierr
      type(*), dimension(..), intent(in), optional :: y, keys
      logical, intent(out), optional :: is_mine
      type(given_to_c), target :: c

      call take_operands(c, plan, local, y, keys)
      call take(c, AS_RESULT, 'result', result, plan%items)
      associate (handle => plan%own%handle, x => c%x, to => c%result)
         if (present(y)) then
            c%status = c_run_dot(handle, operation, x%at, x%n, c%y%at, c%y%n, to%at, to%n, c_loc(c%mine))
         else if (present(keys)) then
            c%status = c_run_by_key(handle, operation, key_type_of(c), c%keys%at, c%keys%n, x%at, x%n, to%at, to%n, c_loc(c%mine))
         else
            select case (operation)
            case (TREEFOLD_CALL_ALLREDUCE); c%status = c_allreduce(handle, x%at, x%n, to%at, to%n)
            case (TREEFOLD_CALL_REDUCE); c%status = c_reduce(handle, x%at, x%n, to%at, to%n, c%mine)
            case (TREEFOLD_CALL_REDUCE_SCATTER); c%status = c_reduce_scatter(handle, x%at, x%n, to%at, to%n)
            case (TREEFOLD_CALL_SCAN); c%status = c_scan(handle, x%at, x%n, to%at, to%n)
            case default; c%status = c_exscan(handle, x%at, x%n, to%at, to%n)
            end select
         end if
      end associate
      call finish(c, ierr, is_mine, result)
   end subroutine run

   ! Records the inputs of a call.
   subroutine take_operands(c, plan, local, y, keys)
      type(given_to_c), intent(inout) :: c
      type(treefold_plan), intent(in) :: plan
      type(*), dimension(..), intent(in) :: local
      type(*), dimension(..), intent(in), optional :: y, keys

      call take(c, AS_X, 'local', local, plan%items)
      if (present(y)) call take(c, AS_Y, 'y', y, plan%items)
      if (present(keys)) call take(c, AS_KEYS, 'keys', keys, item_kind(ANY_INTEGERS))
      if (present(y) .and. present(keys)) call c_note(c, TREEFOLD_ARGUMENT, 'pass `y` or `keys`, but not both' // c_null_char)
   end subroutine take_operands

   ! The type of the keys; after an error, an arbitrary integer type.
   pure function key_type_of(c) result(type)
      type(given_to_c), intent(in) :: c
      integer(c_int32_t) :: type
      type = max(c%keys%type, TREEFOLD_I8)
   end function key_type_of

   ! Finds the number of addresses to pass to C for dot products. After an error it is 0, so that the other ranks get an error.
   subroutine take_addresses(c, x, y, n, elements, addresses)
      type(given_to_c), intent(inout) :: c
      type(c_ptr), intent(in) :: x(:), y(:)
      class(*), intent(in) :: n
      integer(int64), intent(out) :: elements, addresses
      character(len=80) :: text
      integer(c_int32_t) :: status

      call read_count('n', n, elements, status)
      if (status /= TREEFOLD_OK) call c_note(c, status, treefold_error_message() // c_null_char)
      write (text, '(2(a, i0))') '`x` has ', size(x), ' addresses, but `y` has ', size(y)
      if (size(x) /= size(y)) call c_note(c, TREEFOLD_LENGTH, trim(text) // c_null_char)
      addresses = merge(size(x, kind=int64), 0_int64, c%wrong == TREEFOLD_OK)
   end subroutine take_addresses

   ! Makes an operand from an array, or records what is wrong with it. An array that is not contiguous is copied.
   subroutine take(c, as, name, array, items)
      type(given_to_c), intent(inout) :: c
      integer(c_int), intent(in) :: as
      character(len=*), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      type(item_kind), intent(in) :: items
      call c_take(c, as, name // c_null_char, array, items%type, items%bytes)
   end subroutine take

   ! Writes the copy of a result back, and reports either an error that was found before the call to C, or C's status.
   subroutine finish(c, ierr, is_mine, result)
      type(given_to_c), intent(inout) :: c
      integer, intent(out), optional :: ierr
      logical, intent(out), optional :: is_mine
      type(*), dimension(..), intent(inout), optional :: result

      if (present(is_mine)) is_mine = c%mine /= 0
      call treefold_end_call(c_finish(c, c%status, result), ierr)
   end subroutine finish

   ! Prepares a variable for a new run of the plan. Reports an error if the variable's last run is still under way.
   function is_under_way(run, plan, ierr) result(is)
      type(treefold_run), intent(inout) :: run
      type(treefold_plan), intent(in) :: plan
      integer, intent(out), optional :: ierr
      logical :: is

      is = c_associated(run%own%handle)
      if (is) then
         call treefold_end_call(treefold_report(TREEFOLD_ARGUMENT, &
            '`run` is under way: wait for it first, or use another variable' // c_null_char), ierr)
      else
         call begin_anew(run%own, c_cancel)
         run%items = plan%items
      end if
   end function is_under_way

   ! ---- The end of handles ------------------------------------------------------------------------------------------------------

   ! Destroys the object that a variable names, so that the variable can name a new object.
   subroutine begin_anew(variable, destroy)
      type(owned), intent(inout) :: variable
      procedure(c_end) :: destroy

      call finalise(variable)
      variable%destroy => destroy
   end subroutine begin_anew

   ! Destroys the object of a variable that goes out of scope. Ignores errors, since there is no caller to return them to.
   impure elemental subroutine finalise(variable)
      type(owned), intent(inout) :: variable
      integer(c_int32_t) :: ignored

      if (.not. c_associated(variable%handle)) return
      ignored = variable%destroy(variable%handle)
      variable%handle = c_null_ptr
   end subroutine finalise

   ! Assigning a value that was never created, such as treefold_plan(), destroys the old value. Assigning any other value ends the
   ! program.
   impure elemental subroutine assign(to, from)
      class(owned), intent(inout) :: to
      type(owned), intent(in) :: from

      if (c_associated(from%handle)) call treefold_end_call(treefold_report(TREEFOLD_ARGUMENT, &
         'a communicator, builder, plan or run that is in use cannot be copied' // c_null_char))
      call finalise(to)
   end subroutine assign
end module treefold_mpi_support

module treefold_mpi
   use treefold
   use treefold_mpi_support, only: treefold_comm, treefold_builder, treefold_plan, treefold_run, treefold_hashed, &
      treefold_interrupt, treefold_comm_duplicate, treefold_mpi_library, treefold_comm_rank, treefold_comm_size, &
      treefold_comm_silence_limit, treefold_comm_measure_link, treefold_comm_interruption, treefold_comm_destroy, &
      treefold_comm_free, treefold_builder_create, treefold_builder_create_exact, treefold_builder_create_by_key, &
      treefold_builder_create_user, treefold_builder_set, treefold_builder_destroy, treefold_plan_build, &
      treefold_plan_destroy, treefold_plan_algorithm, treefold_plan_scattered_columns, treefold_plan_print, &
      treefold_plan_pending, treefold_allreduce, treefold_reduce, treefold_reduce_scatter, treefold_scan, treefold_exscan, &
      treefold_broadcast, treefold_run_dots, treefold_run_keyed, treefold_start, treefold_start_dots, treefold_test, &
      treefold_wait_timeout, treefold_wait, treefold_wait_all, treefold_wait_keyed, treefold_run_of_plan, &
      treefold_run_algorithm, treefold_cancel, treefold_hashed_create, treefold_hashed_destroy, treefold_hashed_run, &
      treefold_hashed_result, treefold_algorithm_name, TREEFOLD_CALL_ALLREDUCE, TREEFOLD_CALL_REDUCE, &
      TREEFOLD_CALL_REDUCE_SCATTER, TREEFOLD_CALL_SCAN, TREEFOLD_CALL_EXSCAN, TREEFOLD_CALL_BROADCAST
   implicit none
   public
end module treefold_mpi
