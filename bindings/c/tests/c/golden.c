/* Compares the bytes of states with golden vectors. The first argument is a text file. For each vector, one line has the kind, the type and
   the lengths of four lists. The lists follow, each on its own line: the items, the others (the second items of pairs, or the keys), the
   bytes, and the words of the value, or of one value for each key. */
#include "check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, MOST_BYTES = 4096 };

struct kind {
    const char *name;
    treefold_statistic statistic;
    treefold_type types[2]; /* the types for "f64" and for "f32" */
    int is_keyed;
};

static const struct kind kinds[] = {
    {"sum", TREEFOLD_EXACT_SUM, {TREEFOLD_F64, TREEFOLD_F32}, 0},
    {"dot", TREEFOLD_EXACT_DOT, {TREEFOLD_F64, TREEFOLD_F32}, 0},
    {"moments", TREEFOLD_EXACT_VARIANCE, {TREEFOLD_F64, TREEFOLD_F32}, 0},
    {"complex-sum", TREEFOLD_EXACT_SUM, {TREEFOLD_C64, TREEFOLD_C32}, 0},
    {"complex-dot", TREEFOLD_EXACT_DOT, {TREEFOLD_C64, TREEFOLD_C32}, 0},
    {"complex-moments", TREEFOLD_EXACT_VARIANCE, {TREEFOLD_C64, TREEFOLD_C32}, 0},
    {"keyed-sums", TREEFOLD_EXACT_SUM, {TREEFOLD_F64, TREEFOLD_F32}, 1},
    {"keyed-moments", TREEFOLD_EXACT_VARIANCE, {TREEFOLD_F64, TREEFOLD_F32}, 1},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

/* Reads `count` words of `bytes` bytes each. */
static void read_words(FILE *file, size_t count, size_t bytes, unsigned char *words)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        CHECK(fscanf(file, "%" SCNx64, &word) == 1);
        for (size_t byte = 0; byte < bytes; byte++)
            words[i * bytes + byte] = (unsigned char)(word >> (8 * byte));
    }
}

/* Adds the items to a state, from the last to the first, and compares the state with the golden bytes and value. */
static void check_case(FILE *file, const struct kind *kind, int is_single, const size_t *counts)
{
    static _Alignas(16) unsigned char items[MOST * 8], others[MOST * 8], expected[MOST_BYTES], value[MOST * 8];
    unsigned char found[MOST_BYTES];
    const int is_keyed = kind->is_keyed, is_dot = kind->statistic == TREEFOLD_EXACT_DOT, is_sum = kind->statistic == TREEFOLD_EXACT_SUM;
    const treefold_type type = kind->types[is_single];
    const size_t bytes = is_single ? 4 : 8, parts = is_keyed ? 1 : counts[3], groups = counts[3];
    size_t length = 0, read_groups = groups;
    int equal = 0;
    treefold_accumulator *whole = NULL, *read = NULL;
    treefold_keyed *keyed = NULL, *read_keyed = NULL;
    read_words(file, counts[0] * parts, bytes, items);
    read_words(file, counts[1] * parts, is_keyed ? 1 : bytes, others);
    read_words(file, counts[2], 1, expected);
    read_words(file, counts[3], bytes, value);
    OK(is_keyed ? treefold_keyed_create(type, kind->statistic, groups, &keyed)
                : treefold_accumulator_create(type, kind->statistic, &whole));
    OK(is_keyed ? treefold_keyed_create(type, kind->statistic, 0, &read_keyed)
                : treefold_accumulator_create(type, kind->statistic, &read));
    for (size_t i = counts[0]; i-- > 0;) {
        const void *x = items + i * parts * bytes, *y = others + i * parts * bytes;
        if (is_keyed)
            OK(treefold_keyed_add(keyed, TREEFOLD_U8, others + i, 1, x, 1));
        else
            OK(is_dot ? treefold_accumulator_add_pairs(whole, x, 1, y, 1) : treefold_accumulator_add(whole, x, 1));
    }
    OK(is_keyed ? treefold_keyed_to_bytes(keyed, found, sizeof found, &length)
                : treefold_accumulator_to_bytes(whole, found, sizeof found, &length));
    CHECK(length == counts[2] && memcmp(found, expected, length) == 0);
    OK(is_keyed ? treefold_keyed_of_bytes(read_keyed, expected, counts[2]) : treefold_accumulator_of_bytes(read, expected, counts[2]));
    OK(is_keyed ? treefold_keyed_equal(keyed, read_keyed, &equal) : treefold_accumulator_equal(whole, read, &equal));
    if (is_keyed)
        OK(treefold_keyed_groups(read_keyed, &read_groups));
    CHECK(equal == 1 && read_groups == groups);
    OK(is_keyed ? treefold_keyed_values(read_keyed, is_sum ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_MEAN, 0, found, groups)
                : treefold_accumulator_value(read, is_dot ? TREEFOLD_EXACT_DOT : TREEFOLD_EXACT_SUM, 0, found));
    CHECK(memcmp(found, value, counts[3] * bytes) == 0);
    END(accumulator, &whole, &read);
    END(keyed, &keyed, &read_keyed);
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: golden FILE, with the golden vectors of bytes\n");
        return 1;
    }
    char name[32], type[8];
    size_t counts[4], cases = 0;
    while (fscanf(file, "%31s %7s %zu %zu %zu %zu", name, type, &counts[0], &counts[1], &counts[2], &counts[3]) == 6) {
        const struct kind *kind = kinds;
        while (kind < kinds + KINDS && strcmp(kind->name, name) != 0)
            kind++;
        CHECK(kind < kinds + KINDS && counts[0] <= MOST && counts[1] <= MOST && counts[2] <= MOST_BYTES && counts[3] <= MOST);
        CHECK(kind < kinds + KINDS && (kind->is_keyed || (counts[0] * counts[3] <= MOST && counts[1] * counts[3] <= MOST)));
        if (failures > 0)
            break;
        check_case(file, kind, strcmp(type, "f32") == 0, counts);
        cases++;
    }
    fclose(file);
    CHECK(cases >= 228);
    printf("%zu golden vectors of bytes\n", cases);
    return failures != 0;
}
