/* Sums by any keys, against integers of 128 bits. */
#include "keyed.h"

static int in_order(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Any keys: the least and the greatest, and such as are far apart. */
static void hashed(void)
{
    enum { KEYS = 1000 };
    static int64_t any[MANY], distinct[KEYS], read[KEYS];
    static integer sum[KEYS];
    static double result[KEYS];
    draw(53, 40);
    for (size_t i = 0; i < KEYS; i++)
        distinct[i] = i == 0 ? INT64_MIN : i == 1 ? INT64_MAX : random_integer(i, 62) * 2 + 1;
    qsort(distinct, KEYS, sizeof *distinct, in_order);
    for (size_t i = 0; i < MANY; i++) {
        size_t place = i < KEYS ? KEYS - 1 - i : (size_t)(uint64_t)random_integer(i, 40) % KEYS;
        any[i] = distinct[place], sum[place] += whole[i];
    }
    treefold_keyed *all = NULL, *part = NULL, *floats = NULL;
    OK(treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, &all));
    OK(treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, &part));
    OK(treefold_keyed_create_hashed(TREEFOLD_F32, TREEFOLD_U64, &floats));
    size_t groups = 77;
    OK(treefold_keyed_groups(all, &groups));
    CHECK(groups == 0);
    OK(treefold_keyed_sums(all, NULL, 0));
    OK(treefold_keyed_add(all, TREEFOLD_I64, any, 5000, x, 5000));
    OK(treefold_keyed_add(part, TREEFOLD_I64, any + 5000, MANY - 5000, x + 5000, MANY - 5000));
    OK(treefold_keyed_merge(part, all));
    OK(treefold_keyed_add(all, TREEFOLD_I64, any + 5000, MANY - 5000, x + 5000, MANY - 5000));
    CHECK(are_equal(all, part) == 1);
    OK(treefold_keyed_groups(part, &groups));
    CHECK(groups == KEYS);
    OK(treefold_keyed_keys(part, read, KEYS));
    OK(treefold_keyed_sums(part, result, KEYS));
    CHECK(memcmp(read, distinct, sizeof read) == 0);
    for (size_t i = 0; i < KEYS; i++)
        CHECK(bits(result[i]) == bits((double)sum[i]));

    int8_t narrow[3] = {-3, 5, -3};
    uint64_t large[2] = {7, UINT64_MAX};
    float items[3] = {1, 2, 4};
    float small_found[3] = {-1, -1, -1};
    EXPECT(TREEFOLD_ARGUMENT, "`keys`: item 1 has key 18446744073709551615, which is no TREEFOLD_I64",
           treefold_keyed_add(all, TREEFOLD_U64, large, 2, x, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`keys`: item 0 has key -3, which is no TREEFOLD_U64",
           treefold_keyed_add(floats, TREEFOLD_I8, narrow, 3, items, 3));
    EXPECT(TREEFOLD_LENGTH, "`keys` has 2 elements, but `items` has 3", treefold_keyed_add(floats, TREEFOLD_U64, large, 2, items, 3));
    int64_t unknown[2] = {any[0], 17};
    EXPECT(TREEFOLD_ARGUMENT, "`items`: item 1 has a key that has no items", treefold_keyed_remove(all, TREEFOLD_I64, unknown, 2, x, 2));
    OK(treefold_keyed_add(all, TREEFOLD_I64, any, 1, x, 1));
    CHECK(are_equal(all, part) == 0);
    OK(treefold_keyed_remove(all, TREEFOLD_I64, any, 1, x, 1));
    EXPECT(TREEFOLD_UNSUPPORTED, "no bytes", treefold_keyed_to_bytes(all, NULL, 0, &groups));
    EXPECT(TREEFOLD_UNSUPPORTED, "no bytes", treefold_keyed_of_bytes(all, x, 8));
    EXPECT(TREEFOLD_UNSUPPORTED, "do not count", treefold_keyed_counts(all, (uint64_t *)(void *)read, KEYS));
    EXPECT(TREEFOLD_UNSUPPORTED, "take items", treefold_keyed_add_dot(all, TREEFOLD_I64, any, 1, x, 1, x, 1));
    EXPECT(TREEFOLD_LENGTH, "there are 1000 keys", treefold_keyed_keys(all, read, KEYS - 1));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: it is sums by any TREEFOLD_U64 of TREEFOLD_F32, not", treefold_keyed_merge(all, floats));
    EXPECT(TREEFOLD_ARGUMENT, "`key_type`", treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I32, &(treefold_keyed *){NULL}));
    EXPECT(TREEFOLD_UNSUPPORTED, "real", treefold_keyed_create_hashed(TREEFOLD_C64, TREEFOLD_I64, &(treefold_keyed *){NULL}));
    CHECK(are_equal(all, part) == 1);
    OK(treefold_keyed_add(floats, TREEFOLD_U64, large, 2, items, 2));
    OK(treefold_keyed_add(floats, TREEFOLD_I8, narrow + 1, 1, items, 1));
    OK(treefold_keyed_keys(floats, read, 3));
    OK(treefold_keyed_sums(floats, small_found, 3));
    CHECK(read[0] == 5 && read[1] == 7 && read[2] == -1 && small_found[0] == 1 && small_found[1] == 1 && small_found[2] == 2);
    OK(treefold_keyed_add(all, TREEFOLD_I8, narrow, 3, x, 3));
    OK(treefold_keyed_groups(all, &groups));
    CHECK(groups == KEYS + 2 && are_equal(all, part) == 0);
    end(all);
    end(part);
    end(floats);
}

int main(void)
{
    hashed();
    if (failures == 0)
        printf("any keys have the sums of integers\n");
    return failures != 0;
}
