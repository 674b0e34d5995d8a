! In the module mpi, handles are integers, and procedures have interfaces.
#define BINDING use mpi
#define INCLUDED
#define TITLE 'use mpi'
#define DATATYPE integer
#define OPERATOR_ integer
#define COMMUNICATOR integer
#define REQUEST integer
#include "reductions.inc"
