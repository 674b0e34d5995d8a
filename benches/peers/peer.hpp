// The collective functions that driver.cpp calls. `cargo xtask bench peers` builds a shared library with these functions for each peer.
#pragma once

#include <mpi.h>

#define PEER extern "C" __attribute__((visibility("default")))

// Prepares sums over the ranks of `comm`. This rank has items begin to begin + count - 1.
PEER void peer_open(MPI_Comm comm, int begin, int count);
// Copies this rank's items to the memory from which the library reads them.
PEER void peer_fill(const double *items);
// Returns the sum of all ranks' items, on every rank. This call is timed. If a library overwrites the items, later calls return other sums,
// but do the same amount of work.
PEER double peer_sum();
PEER void peer_close();
