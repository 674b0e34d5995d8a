/* Every reduction in every form that the MPI library has. */
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
/* Open MPI 4.1 has these functions under other names, from before the standard. */
#define INIT(name) MPIX_##name##_init
#define HAS_PERSISTENT true
#else
#define HAS_PERSISTENT false
#endif

static inline bool has_form(enum form form)
{
    return form == BLOCKING || form == NONBLOCKING || (form == LARGE && MPI_VERSION >= 4) || (form == PERSISTENT && HAS_PERSISTENT);
}

/* A call. Reduce_scatter has `counts`, one for each rank; other entries have `count`. */
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

static inline int call_blocking(const struct call *c)
{
    switch (c->entry) {
    case ALLREDUCE: return MPI_Allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case REDUCE: return MPI_Reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm);
    case REDUCE_SCATTER: return MPI_Reduce_scatter(c->send, c->recv, c->counts, c->type, c->op, c->comm);
    case REDUCE_SCATTER_BLOCK: return MPI_Reduce_scatter_block(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case SCAN: return MPI_Scan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case EXSCAN: return MPI_Exscan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    default: return MPI_ERR_OTHER;
    }
}

/* The same call by its PMPI_ name, which bypasses every interposer. */
static inline int call_library(const struct call *c)
{
    switch (c->entry) {
    case ALLREDUCE: return PMPI_Allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case REDUCE: return PMPI_Reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm);
    case REDUCE_SCATTER: return PMPI_Reduce_scatter(c->send, c->recv, c->counts, c->type, c->op, c->comm);
    case REDUCE_SCATTER_BLOCK: return PMPI_Reduce_scatter_block(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case SCAN: return PMPI_Scan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case EXSCAN: return PMPI_Exscan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    default: return MPI_ERR_OTHER;
    }
}

#if MPI_VERSION >= 4
static inline int call_large(const struct call *c)
{
    switch (c->entry) {
    case ALLREDUCE: return MPI_Allreduce_c(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case REDUCE: return MPI_Reduce_c(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm);
    case REDUCE_SCATTER_BLOCK: return MPI_Reduce_scatter_block_c(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case SCAN: return MPI_Scan_c(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case EXSCAN: return MPI_Exscan_c(c->send, c->recv, c->count, c->type, c->op, c->comm);
    default: break;
    }
    int ranks;
    MPI_Comm_size(c->comm, &ranks);
    MPI_Count *counts = allocate((size_t)ranks * sizeof *counts);
    for (int r = 0; r < ranks; r++)
        counts[r] = c->counts[r];
    int code = MPI_Reduce_scatter_c(c->send, c->recv, counts, c->type, c->op, c->comm);
    free(counts);
    return code;
}
#else
static inline int call_large(const struct call *c)
{
    (void)c;
    return MPI_ERR_OTHER;
}
#endif

static inline int start(const struct call *c, MPI_Request *request)
{
    switch (c->entry) {
    case ALLREDUCE: return MPI_Iallreduce(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    case REDUCE: return MPI_Ireduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm, request);
    case REDUCE_SCATTER: return MPI_Ireduce_scatter(c->send, c->recv, c->counts, c->type, c->op, c->comm, request);
    case REDUCE_SCATTER_BLOCK: return MPI_Ireduce_scatter_block(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    case SCAN: return MPI_Iscan(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    case EXSCAN: return MPI_Iexscan(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    default: return MPI_ERR_OTHER;
    }
}

static inline int prepare(const struct call *c, MPI_Request *request)
{
#ifdef INIT
    MPI_Info info = MPI_INFO_NULL;
    switch (c->entry) {
    case ALLREDUCE: return INIT(Allreduce)(c->send, c->recv, c->count, c->type, c->op, c->comm, info, request);
    case REDUCE: return INIT(Reduce)(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm, info, request);
    case REDUCE_SCATTER: return INIT(Reduce_scatter)(c->send, c->recv, c->counts, c->type, c->op, c->comm, info, request);
    case REDUCE_SCATTER_BLOCK:
        return INIT(Reduce_scatter_block)(c->send, c->recv, c->count, c->type, c->op, c->comm, info, request);
    case SCAN: return INIT(Scan)(c->send, c->recv, c->count, c->type, c->op, c->comm, info, request);
    case EXSCAN: return INIT(Exscan)(c->send, c->recv, c->count, c->type, c->op, c->comm, info, request);
    default: return MPI_ERR_OTHER;
    }
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
