/* Calls every reduction in every form that the MPI library has. */
#ifndef CALLS_H
#define CALLS_H

#include "check.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

enum entry { ALLREDUCE, REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN, ENTRIES };

static const char *const entry_names[] = {"Allreduce", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan"};

enum form { BLOCKING, LARGE, NONBLOCKING, PERSISTENT, FORMS };

static const char *const form_names[] = {"blocking", "large", "non-blocking", "persistent"};

#if MPI_VERSION >= 4
#define INIT(name) MPI_##name##_init
#define HAS_PERSISTENT true
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
/* Open MPI 4.1 has these functions under the names that they had before MPI 4 standardised them. */
#define INIT(name) MPIX_##name##_init
#define HAS_PERSISTENT true
#else
#define HAS_PERSISTENT false
#endif

static inline bool has_form(enum form form)
{
    return form == BLOCKING || form == NONBLOCKING || (form == LARGE && MPI_VERSION >= 4) || (form == PERSISTENT && HAS_PERSISTENT);
}

/* The arguments of a call. Reduce_scatter uses `counts`, one for each rank; other entries use `count`. */
struct call {
    enum entry entry;
    const void *send;
    void *recv;
    int count;
    const int *counts;
    MPI_Datatype type;
    MPI_Op op;
    int root;
    MPI_Comm comm;
};

/* Calls one of the named functions, chosen by the call's entry. The last arguments begin with the communicator. */
#define BY_ENTRY(c, allreduce, reduce, scatter, scatter_block, scan, exscan, counts, ...)                                              \
    ((c)->entry == ALLREDUCE        ? allreduce((c)->send, (c)->recv, (c)->count, (c)->type, (c)->op, __VA_ARGS__)                     \
     : (c)->entry == REDUCE         ? reduce((c)->send, (c)->recv, (c)->count, (c)->type, (c)->op, (c)->root, __VA_ARGS__)             \
     : (c)->entry == REDUCE_SCATTER ? scatter((c)->send, (c)->recv, counts, (c)->type, (c)->op, __VA_ARGS__)                           \
     : (c)->entry == REDUCE_SCATTER_BLOCK                                                                                              \
         ? scatter_block((c)->send, (c)->recv, (c)->count, (c)->type, (c)->op, __VA_ARGS__)                                            \
     : (c)->entry == SCAN ? scan((c)->send, (c)->recv, (c)->count, (c)->type, (c)->op, __VA_ARGS__)                                    \
                          : exscan((c)->send, (c)->recv, (c)->count, (c)->type, (c)->op, __VA_ARGS__))

static inline int call_blocking(const struct call *c)
{
    return BY_ENTRY(c, MPI_Allreduce, MPI_Reduce, MPI_Reduce_scatter, MPI_Reduce_scatter_block, MPI_Scan, MPI_Exscan, c->counts, c->comm);
}

/* Makes the same call by its PMPI_ name, which bypasses every interposer. */
static inline int call_library(const struct call *c)
{
    return BY_ENTRY(c, PMPI_Allreduce, PMPI_Reduce, PMPI_Reduce_scatter, PMPI_Reduce_scatter_block, PMPI_Scan, PMPI_Exscan, c->counts,
                    c->comm);
}

static inline int call_large(const struct call *c)
{
#if MPI_VERSION >= 4
    int ranks;
    MPI_Comm_size(c->comm, &ranks);
    MPI_Count *counts = allocate((size_t)ranks * sizeof *counts);
    for (int r = 0; r < ranks; r++)
        counts[r] = c->counts == NULL ? 0 : c->counts[r];
    int code = BY_ENTRY(c, MPI_Allreduce_c, MPI_Reduce_c, MPI_Reduce_scatter_c, MPI_Reduce_scatter_block_c, MPI_Scan_c, MPI_Exscan_c,
                        counts, c->comm);
    free(counts);
    return code;
#else
    (void)c;
    return MPI_ERR_OTHER;
#endif
}

static inline int start(const struct call *c, MPI_Request *request)
{
    return BY_ENTRY(c, MPI_Iallreduce, MPI_Ireduce, MPI_Ireduce_scatter, MPI_Ireduce_scatter_block, MPI_Iscan, MPI_Iexscan, c->counts,
                    c->comm, request);
}

static inline int prepare(const struct call *c, MPI_Request *request)
{
#ifdef INIT
    return BY_ENTRY(c, INIT(Allreduce), INIT(Reduce), INIT(Reduce_scatter), INIT(Reduce_scatter_block), INIT(Scan), INIT(Exscan),
                    c->counts, c->comm, MPI_INFO_NULL, request);
#else
    (void)c;
    (void)request;
    return MPI_ERR_OTHER;
#endif
}

/* Makes a call in a form that the library has, and completes it. */
static inline int call(const struct call *c, enum form form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;
    switch (form) {
    case BLOCKING: return call_blocking(c);
    case LARGE: return call_large(c);
    case NONBLOCKING:
        code = start(c, &request);
        return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    case PERSISTENT:
        code = prepare(c, &request);
        if (code == MPI_SUCCESS)
            code = MPI_Start(&request);
        if (code == MPI_SUCCESS)
            code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        return code == MPI_SUCCESS ? MPI_Request_free(&request) : code;
    default: return MPI_ERR_OTHER;
    }
}

#endif
