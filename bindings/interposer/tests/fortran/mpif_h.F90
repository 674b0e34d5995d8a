! Handles are integers, and procedures have no interface: compilers need an option to accept arguments of different types.
#define BINDING
#define INCLUDED include 'mpif.h'
#define TITLE 'mpif.h'
#define DATATYPE integer
#define OPERATOR_ integer
#define COMMUNICATOR integer
#define REQUEST integer
#include "reductions.inc"
