// The interface that driver.cpp measures: a shared library with these collective functions. `cargo xtask bench peers` builds one for each peer.
#pragma once

#include <mpi.h>

#define PEER extern "C" __attribute__((visibility("default")))

// Prepares sums over the ranks of `comm`. This rank has the items begin to begin + count - 1.
PEER void peer_open(MPI_Comm comm, int begin, int count);
// Copies this rank's items to where the library reads them.
PEER void peer_fill(const double *items);
// The sum of all ranks' items, on every rank. The call is timed. A library may overwrite the items: then later calls have other sums, but
// the same amount of work.
PEER double peer_sum();
PEER void peer_close();
