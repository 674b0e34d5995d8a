// The class BinaryTreeSummation of the program that Stelz's thesis (2022) describes.
#include <memory>
#include <vector>

#include <strategies/binary_tree.hpp>

#include "peer.hpp"

static std::unique_ptr<BinaryTreeSummation> summation;
static int items_count;

PEER void peer_open(MPI_Comm comm, int, int count) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    items_count = count;
    std::vector<int> counts(size);
    MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, comm);
    summation = std::make_unique<BinaryTreeSummation>(rank, counts, comm);
}

PEER void peer_fill(const double *from) { summation->setSummands(std::vector<double>(from, from + items_count)); }

PEER double peer_sum() { return summation->accumulate(); }

PEER void peer_close() { summation.reset(); }
