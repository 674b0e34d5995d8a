/* Sums by keys of 64 bits: each against integers, whoever has which items. */
#include "by_key.h"

static int64_t spread(int64_t key) { return (int64_t)((uint64_t)(key + 1) * 0x9E3779B97F4A7C15u); }

static void hashed(void)
{
    static int64_t wide_keys[N], found[KEYS];
    double result[KEYS];
    size_t counts[3] = {0};
    treefold_hashed *plan = NULL;
    OK(treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, last(), &plan));
    for (int step = 0; step < STEPS; step++) {
        size_t n = deal(step);
        for (size_t i = 0; i < n; i++)
            wide_keys[i] = spread(own_keys[i]);
        OK(treefold_hashed_allreduce(plan, wide_keys, n, own_x, n, &counts[0]));
        CHECK(counts[0] == KEYS - 1);
        OK(treefold_hashed_result(plan, found, counts[0], result, counts[0]));
        for (size_t i = 0; i < counts[0]; i++) {
            CHECK(i == 0 || found[i - 1] < found[i]);
            for (size_t key = 0; key < KEYS; key++)
                CHECK(found[i] != spread((int64_t)key) || bits(result[i]) == bits(sums[key]));
        }
        EXPECT(TREEFOLD_LENGTH, "`sums` has 1 elements, but the result has 22", treefold_hashed_result(plan, found, counts[0], result, 1));
        OK(treefold_hashed_reduce(plan, wide_keys, n, own_x, n, &counts[1]));
        CHECK(counts[1] == (rank == last() ? counts[0] : 0));
        OK(treefold_hashed_reduce_scatter(plan, wide_keys, n, own_x, n, &counts[2]));
        int64_t part[KEYS];
        double part_sums[KEYS];
        OK(treefold_hashed_result(plan, part, counts[2], part_sums, counts[2]));
        for (size_t i = 0; i < counts[2]; i++)
            for (size_t j = 0; j < counts[0]; j++)
                CHECK(part[i] != found[j] || bits(part_sums[i]) == bits(result[j]));
        uint64_t mine = counts[2], all = 0;
        MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        CHECK(all == counts[0]);
    }
    /* One rank has fewer keys than items; the others hear of it. */
    double two[2] = {1, 2};
    int64_t one = 5;
    if (rank == last())
        EXPECT(TREEFOLD_LENGTH, "`keys` has 1 elements, but `items` has 2", treefold_hashed_reduce(plan, &one, 1, two, 2, &counts[0]));
    else
        EXPECT(TREEFOLD_RANK_FAILED, "", treefold_hashed_reduce(plan, &one, 1, two, 1, &counts[0]));
    EXPECT(TREEFOLD_SPENT, "", treefold_hashed_reduce(plan, &one, 1, two, 1, &counts[0]));
    OK(treefold_hashed_destroy(&plan));
    OK(treefold_hashed_create(comm, TREEFOLD_U64, TREEFOLD_F32, 0, &plan));
    OK(treefold_hashed_allreduce(plan, &one, 1, small_x, 1, &counts[0]));
    CHECK(counts[0] == 1);
    if (rank == last())
        EXPECT(TREEFOLD_NULL, "`items`", treefold_hashed_reduce_scatter(plan, &one, 1, NULL, 1, &counts[0]));
    else
        EXPECT(TREEFOLD_RANK_FAILED, "", treefold_hashed_reduce_scatter(plan, &one, 1, small_x, 1, &counts[0]));
    /* A run that failed leaves nothing of the one before, whatever was wrong. */
    float single;
    EXPECT(TREEFOLD_LENGTH, "but the result has 0", treefold_hashed_result(plan, &one, 1, &single, 1));
    OK(treefold_hashed_result(plan, NULL, 0, NULL, 0));
    OK(treefold_hashed_destroy(&plan));
    /* On every rank, whoever is wrong. */
    CHECK(treefold_hashed_create(comm, rank == last() ? TREEFOLD_F64 : TREEFOLD_I64, TREEFOLD_F64, 0, &plan) != TREEFOLD_OK);
    EXPECT(TREEFOLD_ARGUMENT, "root", treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, size, &plan));
    EXPECT(TREEFOLD_ARGUMENT, "root", treefold_hashed_create(comm, TREEFOLD_I64, TREEFOLD_F64, -1, &plan));
    if (size > 1)
        EXPECT(TREEFOLD_DISAGREE, "f32", treefold_hashed_create(comm, TREEFOLD_I64, rank == 0 ? TREEFOLD_F32 : TREEFOLD_F64, 0, &plan));
}

int main(int argc, char **argv)
{
    return on_ranks(argc, argv, hashed);
}
