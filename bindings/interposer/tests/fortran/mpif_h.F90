! In mpif.h, handles are integers. Procedures have no interface: arguments of different types need a compiler option.
#define BINDING
#define INCLUDED include 'mpif.h'
#define TITLE 'mpif.h'
#define DATATYPE integer
#define OPERATOR_ integer
#define COMMUNICATOR integer
#define REQUEST integer
#include "reductions.inc"
