// What driver.cpp measures: a shared library with these functions, which are collective. `cargo xtask bench peers` builds one of each library.
#pragma once

#include <mpi.h>

#define PEER extern "C" __attribute__((visibility("default")))

// Prepares sums over the ranks of `comm`, of which this one has the items begin to begin + count - 1.
PEER void peer_open(MPI_Comm comm, int begin, int count);
// Copies this rank's items to where the library reads them.
PEER void peer_fill(const double *items);
// The sum of all ranks' items, on every rank. It is timed. A library may overwrite the items: then calls that follow each other have other sums,
// but no less to do.
PEER double peer_sum();
PEER void peer_close();
