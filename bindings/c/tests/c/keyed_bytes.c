/* Keyed states as bytes, and their equality. */
#include "keyed.h"

enum { BYTES_MAX = 4096 };

/* Bytes are the same for equal states, and those that are cut or changed leave a state as it was. */
static void bytes_of(int32_t figure)
{
    static unsigned char first[BYTES_MAX], second[BYTES_MAX], room[BYTES_MAX + 1];
    const size_t few = 9;
    size_t length = 0, again = 0, groups = 0;
    draw(53, 40);
    x[3] = NAN, x[4] = -INFINITY, x[5] = 0x1p-1074, x[6] = 0x1p1000, x[7] = -0.0;
    treefold_keyed *one = make(TREEFOLD_F64, figure), *two = make(TREEFOLD_F64, figure), *read = NULL;
    OK(treefold_keyed_add(one, TREEFOLD_I32, keys, few, x, few));
    for (size_t i = few; i-- > 0;)
        OK(treefold_keyed_add(two, TREEFOLD_I32, keys + i, 1, x + i, 1));
    OK(treefold_keyed_to_bytes(one, NULL, 0, &length));
    CHECK(length > 100 && length <= BYTES_MAX);
    OK(treefold_keyed_to_bytes(one, first, length, &again));
    OK(treefold_keyed_to_bytes(two, second, sizeof second, &again));
    CHECK(length == again && memcmp(first, second, length) == 0 && are_equal(one, two) == 1);
    EXPECT(TREEFOLD_LENGTH, "`bytes` has room for 1, but ", treefold_keyed_to_bytes(one, room, 1, &again));

    /* A state has as many keys as the bytes. */
    OK(treefold_keyed_create(TREEFOLD_F64, figure, 0, &read));
    CHECK(are_equal(one, read) == 0);
    OK(treefold_keyed_of_bytes(read, first, length));
    OK(treefold_keyed_groups(read, &groups));
    CHECK(groups == GROUPS && are_equal(one, read) == 1);
    int refused = 0;
    for (size_t n = 0; n < length; n++) {
        treefold_status status = treefold_keyed_of_bytes(read, first, n);
        CHECK(status == TREEFOLD_LENGTH && strstr(treefold_last_error(), "`bytes`: ") != NULL);
        memcpy(room, first, length);
        room[n] ^= 0x80;
        treefold_keyed *changed = make(TREEFOLD_F64, figure);
        /* Numbers may have been others; the header may not, nor the number of keys. */
        status = treefold_keyed_of_bytes(changed, room, length);
        CHECK(status == TREEFOLD_OK || status == TREEFOLD_ARGUMENT || status == TREEFOLD_LENGTH);
        OK(treefold_keyed_groups(changed, &groups));
        CHECK(groups == GROUPS && are_equal(changed, one) == 0);
        refused += status != TREEFOLD_OK;
        end(changed);
    }
    CHECK(refused > 50);
    memcpy(room, first, length);
    room[length] = 0;
    EXPECT(TREEFOLD_LENGTH, "1 bytes follow", treefold_keyed_of_bytes(read, room, length + 1));
    room[3] = 77;
    EXPECT(TREEFOLD_ARGUMENT, "version 77", treefold_keyed_of_bytes(read, room, length));
    EXPECT(TREEFOLD_NULL, "`bytes`", treefold_keyed_of_bytes(read, NULL, 3));
    CHECK(are_equal(one, read) == 1);

    /* Of another figure or type, and of an accumulator. */
    int32_t another = figure == TREEFOLD_EXACT_SUM ? TREEFOLD_EXACT_MOMENTS : TREEFOLD_EXACT_SUM;
    treefold_keyed *foreign = make(TREEFOLD_F64, another), *floats = make(TREEFOLD_F32, figure);
    treefold_keyed *dot = make(TREEFOLD_F64, TREEFOLD_EXACT_DOT);
    treefold_accumulator *accumulator = NULL;
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &accumulator));
    EXPECT(TREEFOLD_ARGUMENT, "by key of f64, not ", treefold_keyed_of_bytes(foreign, first, length));
    EXPECT(TREEFOLD_ARGUMENT, "by key of f64, not ", treefold_keyed_of_bytes(floats, first, length));
    EXPECT(TREEFOLD_ARGUMENT, "by key of f64, not a sum", treefold_accumulator_of_bytes(accumulator, first, length));
    OK(treefold_accumulator_to_bytes(accumulator, room, sizeof room, &again));
    EXPECT(TREEFOLD_ARGUMENT, "the bytes are a sum of f64, not ", treefold_keyed_of_bytes(read, room, again));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: it is ", treefold_keyed_equal(read, foreign, &(int){0}));
    OK(treefold_keyed_to_bytes(dot, room, sizeof room, &again));
    EXPECT(TREEFOLD_ARGUMENT, "sums of products by key of f64, not ", treefold_keyed_of_bytes(read, room, again));
    OK(treefold_accumulator_destroy(&accumulator));
    end(one);
    end(two);
    end(read);
    end(foreign);
    end(floats);
    end(dot);
}

int main(void)
{
    bytes_of(TREEFOLD_EXACT_SUM);
    bytes_of(TREEFOLD_EXACT_MOMENTS);
    if (failures == 0)
        printf("bytes of keyed states are read as they were written\n");
    return failures != 0;
}
