/* libtreefold_reprored: exports functions of libtreefold under ReproRed's names, which have no prefix. The library is separate, so that
   these names cannot clash with names of programs that do not use ReproRed's interface. `cargo xtask install` compiles this file. */
#include <binary_tree_summation.h>

#define FUNCTION(returns, type, name, parameters, arguments)                                                                           \
    type treefold_reprored_##name parameters;                                                                                          \
    type name parameters                                                                                                               \
    {                                                                                                                                  \
        returns treefold_reprored_##name arguments;                                                                                    \
    }

FUNCTION(, void, set_default_reduction_context_communicator, (uintptr_t communicator), (communicator))
FUNCTION(return, ReductionContext, new_reduction_context, (int begin, int count), (begin, count))
FUNCTION(return, ReductionContext, new_reduction_context_comm, (int begin, int count, uintptr_t communicator), (begin, count, communicator))
FUNCTION(return, ReductionContext, new_reduction_context_comm_k, (int begin, int count, uintptr_t communicator, int k),
         (begin, count, communicator, k))
FUNCTION(, void, store_summand, (ReductionContext context, uint64_t index, double value), (context, index, value))
FUNCTION(return, double, reproducible_reduce, (ReductionContext context), (context))
FUNCTION(return, double *, get_reduction_buffer, (ReductionContext context), (context))
FUNCTION(, void, free_reduction_context, (ReductionContext context), (context))
FUNCTION(return, const char *, get_reproducible_reduction_mode, (void), ())
FUNCTION(return, uint64_t, get_reproducible_reduction_counter, (void), ())
FUNCTION(, void, attach_debugger, (bool wait), (wait))
FUNCTION(, void, attach_debugger_env, (void), ())
