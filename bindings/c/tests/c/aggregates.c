/* Tests the states of treefold_aggregates.h. Every statistic of every type is compared with 128-bit integers. Also tests numbers that are
   not finite, integers that doubles cannot represent, and invalid calls. */
#include "statistics.h"

#include <treefold_aggregates.h>

enum { ROWS = 400, BYTES = 216, LONGEST = 8192 };

/* Returns a letter for the sums that a state for this statistic holds, or 'x' or '-' if there is no such state. */
static int kind_of(treefold_statistic statistic)
{
    static const char kinds[] = "msmvvxx-pwcccckk-";
    return kinds[statistic];
}

static int has(treefold_statistic created, treefold_statistic asked)
{
    const char *having = kind_of(created) == 's'   ? "s"
                         : kind_of(created) == 'k' ? "smvk"
                         : kind_of(created) == 'v' || kind_of(created) == 'm' ? "smv"
                                                   : NULL;
    if (asked == TREEFOLD_EXACT_COUNT || (kind_of(created) == 's' && asked == TREEFOLD_EXACT_MEAN))
        return 1;
    return having == NULL ? kind_of(created) == kind_of(asked) : strchr(having, kind_of(asked)) != NULL;
}

static size_t bytes_for(treefold_statistic statistic)
{
    size_t bytes = 0;
    OK(treefold_aggregate_bytes(statistic, &bytes));
    CHECK(bytes > 0 && bytes <= BYTES && bytes % 8 == 0);
    return bytes;
}

struct memory {
    uint64_t word[BYTES / 8];
};

static treefold_aggregate *create(struct memory *memory, treefold_statistic statistic)
{
    treefold_aggregate *made = (treefold_aggregate *)memory;
    memset(memory, 0xff, sizeof *memory);
    OK(treefold_aggregate_init(made, bytes_for(statistic), statistic));
    return made;
}

/* The columns of the rows. x and y store each column twice: as doubles and as integers. */
static int64_t left[ROWS], right[ROWS];
static char x[2][ROWS * 8], y[2][ROWS * 8];

static treefold_status change(treefold_aggregate *state, int removes, const struct statistic *of, const treefold_type types[2], size_t begin,
                              size_t n)
{
    const void *a = x[types[0] == TREEFOLD_I64] + begin * bytes_of(types[0]);
    const void *b = y[types[1] == TREEFOLD_I64] + begin * bytes_of(types[1]);
    return (removes ? treefold_aggregate_remove : treefold_aggregate_add)(state, types[0], a, of->arrays == 2 ? types[1] : 0,
                                                                          of->arrays == 2 ? b : NULL, n);
}

/* Compares the statistics of a state with those that follow from the sums of its rows. SQL gives NULL where other functions give NaN. */
static void check_values(const treefold_aggregate *state, treefold_statistic created, const struct sums *s)
{
    for (int i = 0; i < STATISTICS; i++) {
        const treefold_statistic asked = statistics[i].code;
        for (int ddof = 0; ddof < 2; ddof++) {
            double value = -1;
            int is_null = -1;
            if (!has(created, asked)) {
                EXPECT(TREEFOLD_UNSUPPORTED, ", which has no ", treefold_aggregate_value(state, asked, ddof, TREEFOLD_F64, &value, &is_null));
                continue;
            }
            OK(treefold_aggregate_value(state, asked, ddof, TREEFOLD_F64, &value, &is_null));
            if (asked == TREEFOLD_EXACT_COUNT) {
                int64_t count = -1;
                CHECK(!is_null && value == (double)s->n);
                OK(treefold_aggregate_value(state, asked, ddof, TREEFOLD_I64, &count, &is_null));
                CHECK(!is_null && count == (int64_t)s->n);
                continue;
            }
            const double none = NAN;
            const int is_short = (asked == TREEFOLD_EXACT_VARIANCE || asked == TREEFOLD_EXACT_STD) && s->n <= ddof;
            const int expects_null = s->n == 0 || is_short || is_right(s, asked, ddof, TREEFOLD_F64, &none, 0);
            CHECK(is_null == expects_null);
            if (is_null)
                CHECK(bits(value) == 0);
            else if (!is_right(s, asked, ddof, TREEFOLD_F64, &value, 0)) {
                fprintf(stderr, "created for %d, statistic %d, ddof %d, %d rows\n", (int)created, (int)asked, ddof, (int)s->n);
                failures++;
            }
        }
    }
}

static void check_bytes(const treefold_aggregate *state, treefold_statistic created, const struct sums *s)
{
    static unsigned char first[LONGEST], second[LONGEST];
    size_t length = 0, again = 0;
    treefold_statistic read_for = -1;
    if (created == TREEFOLD_EXACT_WEIGHTED_MEAN) {
        EXPECT(TREEFOLD_UNSUPPORTED, "no byte format", treefold_aggregate_to_bytes(state, NULL, 0, &length));
        return;
    }
    OK(treefold_aggregate_to_bytes(state, NULL, 0, &length));
    CHECK(length > 4 && length <= LONGEST);
    OK(treefold_aggregate_to_bytes(state, first, length, &again));
    EXPECT(TREEFOLD_LENGTH, "`bytes`", treefold_aggregate_to_bytes(state, second, 1, &again));
    OK(treefold_aggregate_statistic(first, length, &read_for));
    struct memory memory;
    treefold_aggregate *read = create(&memory, read_for);
    OK(treefold_aggregate_of_bytes(read, first, length));
    check_values(read, created, s);
    OK(treefold_aggregate_to_bytes(read, second, sizeof second, &again));
    CHECK(length == again && memcmp(first, second, length) == 0);
    EXPECT(TREEFOLD_LENGTH, "the bytes end too early", treefold_aggregate_of_bytes(read, first, length - 1));
    first[0] ^= 1;
    EXPECT(TREEFOLD_ARGUMENT, "the bytes are not", treefold_aggregate_of_bytes(read, first, length));
    EXPECT(TREEFOLD_ARGUMENT, "the bytes are not", treefold_aggregate_statistic(first, length, &read_for));
    check_values(read, created, s);
    OK(treefold_aggregate_clear(read));
}

static struct sums sums_of(size_t begin, size_t n)
{
    struct sums s;
    memset(&s, 0, sizeof s);
    for (size_t i = begin; i < begin + n; i++)
        include(&s, left[i], right[i]);
    return s;
}

/* Checks a state while rows are added and removed, directly and by merging other states. */
static void check(const struct statistic *of, const treefold_type types[2])
{
    struct memory own, others;
    treefold_aggregate *state = create(&own, of->code), *other = create(&others, of->code);
    struct sums s = sums_of(0, 0);
    check_values(state, of->code, &s);
    check_bytes(state, of->code, &s);
    for (size_t n = 0; n < 5; n++) {
        OK(change(state, 0, of, types, n, 1));
        s = sums_of(0, n + 1);
        check_values(state, of->code, &s);
    }
    OK(change(state, 0, of, types, 5, ROWS - 5));
    OK(change(state, 1, of, types, 0, 100));
    s = sums_of(100, ROWS - 100);
    check_values(state, of->code, &s);
    check_bytes(state, of->code, &s);
    OK(change(other, 0, of, types, 0, 250));
    OK(treefold_aggregate_merge(state, other));
    OK(change(state, 1, of, types, 100, 150));
    s = sums_of(0, ROWS);
    check_values(state, of->code, &s);
    OK(treefold_aggregate_unmerge(state, other));
    s = sums_of(250, ROWS - 250);
    check_values(state, of->code, &s);
    EXPECT(TREEFOLD_ARGUMENT, "cannot remove", treefold_aggregate_unmerge(state, other));
    EXPECT(TREEFOLD_ARGUMENT, "another state", treefold_aggregate_merge(state, state));
    OK(treefold_aggregate_clear(state));
    s = sums_of(0, 0);
    check_values(state, of->code, &s);
    EXPECT(TREEFOLD_ARGUMENT, "cannot remove", change(state, 1, of, types, 0, 1));
    OK(treefold_aggregate_clear(other));
}

/* Checks that a statistic of a state is this double, or NULL. */
static void expect(const treefold_aggregate *state, treefold_statistic statistic, double expected, int is_null_expected)
{
    double value = -1;
    int is_null = -1;
    OK(treefold_aggregate_value(state, statistic, 0, TREEFOLD_F64, &value, &is_null));
    CHECK(is_null == is_null_expected && (bits(value) == bits(expected) || (isnan(value) && isnan(expected))));
}

static void check_specials(void)
{
    const double items[] = {1, INFINITY, NAN, -INFINITY, 0x1p-1074, -0.0};
    struct memory memory;
    treefold_aggregate *state = create(&memory, TREEFOLD_EXACT_VARIANCE);
    OK(treefold_aggregate_add(state, TREEFOLD_F64, items, 0, NULL, 6));
    expect(state, TREEFOLD_EXACT_SUM, NAN, 0);
    expect(state, TREEFOLD_EXACT_VARIANCE, NAN, 0);
    OK(treefold_aggregate_remove(state, TREEFOLD_F64, &items[2], 0, NULL, 2));
    expect(state, TREEFOLD_EXACT_SUM, INFINITY, 0);
    EXPECT(TREEFOLD_ARGUMENT, "NaN", treefold_aggregate_remove(state, TREEFOLD_F64, &items[2], 0, NULL, 1));
    OK(treefold_aggregate_remove(state, TREEFOLD_F64, items, 0, NULL, 2));
    expect(state, TREEFOLD_EXACT_SUM, 0x1p-1074, 0);
    OK(treefold_aggregate_remove(state, TREEFOLD_F64, &items[4], 0, NULL, 1));
    /* The remaining item is -0, but a zero result is always +0. */
    expect(state, TREEFOLD_EXACT_SUM, 0.0, 0);
    expect(state, TREEFOLD_EXACT_VARIANCE, 0.0, 0);
    OK(treefold_aggregate_clear(state));
    expect(state, TREEFOLD_EXACT_SUM, 0.0, 1);
}

/* Checks sums of other types than double, each of which is rounded once. */
static void check_types(void)
{
    const int64_t integers[] = {INT64_MAX, INT64_MAX, 1, -INT64_MAX};
    /* If the sum of these items were rounded to a double first, the float would be 1. */
    const double items[] = {1, 0x1p-24, 0x1p-80}, half = 0.5;
    struct memory memory;
    treefold_aggregate *state = create(&memory, TREEFOLD_EXACT_SUM);
    int64_t whole = -1;
    float single = -1;
    int is_null = -1;
    OK(treefold_aggregate_value(state, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I64, &whole, &is_null));
    CHECK(is_null == 1 && whole == 0);
    OK(treefold_aggregate_add(state, TREEFOLD_I64, integers, 0, NULL, 3));
    EXPECT(TREEFOLD_ARGUMENT, "not a 64-bit integer",
           treefold_aggregate_value(state, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I64, &whole, &is_null));
    OK(treefold_aggregate_add(state, TREEFOLD_I64, &integers[3], 0, NULL, 1));
    OK(treefold_aggregate_remove(state, TREEFOLD_I64, &integers[2], 0, NULL, 1));
    OK(treefold_aggregate_value(state, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I64, &whole, &is_null));
    CHECK(!is_null && whole == INT64_MAX);
    OK(treefold_aggregate_add(state, TREEFOLD_F64, &half, 0, NULL, 1));
    EXPECT(TREEFOLD_ARGUMENT, "not a 64-bit integer",
           treefold_aggregate_value(state, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I64, &whole, &is_null));
    EXPECT(TREEFOLD_UNSUPPORTED, "TREEFOLD_F32", treefold_aggregate_value(state, TREEFOLD_EXACT_MEAN, 0, TREEFOLD_F32, &single, &is_null));
    OK(treefold_aggregate_clear(state));
    OK(treefold_aggregate_add(state, TREEFOLD_F64, items, 0, NULL, 3));
    OK(treefold_aggregate_value(state, TREEFOLD_EXACT_SUM, 0, TREEFOLD_F32, &single, &is_null));
    CHECK(!is_null && single == 1 + 0x1p-23f);
    OK(treefold_aggregate_clear(state));
}

/* Checks that a state of 2^63 - 1 rows accepts no further row. */
static void check_limit(void)
{
    const double item = 0.5;
    static unsigned char bytes[LONGEST];
    struct memory memories[3];
    treefold_aggregate *all = create(&memories[0], TREEFOLD_EXACT_SUM), *part = create(&memories[1], TREEFOLD_EXACT_SUM);
    treefold_aggregate *same = create(&memories[2], TREEFOLD_EXACT_SUM);
    size_t length = 0;
    OK(treefold_aggregate_add(part, TREEFOLD_F64, &item, 0, NULL, 1));
    for (int doublings = 0; doublings < 63; doublings++) {
        OK(treefold_aggregate_merge(all, part));
        OK(treefold_aggregate_to_bytes(part, bytes, sizeof bytes, &length));
        OK(treefold_aggregate_of_bytes(same, bytes, length));
        if (doublings < 62)
            OK(treefold_aggregate_merge(part, same));
    }
    EXPECT(TREEFOLD_ARGUMENT, "at most 2^63 - 1 items", treefold_aggregate_merge(all, part));
    EXPECT(TREEFOLD_ARGUMENT, "at most 2^63 - 1 items", treefold_aggregate_add(all, TREEFOLD_F64, &item, 0, NULL, 1));
    expect(all, TREEFOLD_EXACT_SUM, 0x1p62, 0);
    OK(treefold_aggregate_remove(all, TREEFOLD_F64, &item, 0, NULL, 1));
    OK(treefold_aggregate_add(all, TREEFOLD_F64, &item, 0, NULL, 1));
    OK(treefold_aggregate_clear(all));
    OK(treefold_aggregate_clear(part));
    OK(treefold_aggregate_clear(same));
}

static void check_errors(void)
{
    const double item = 1;
    struct memory memory;
    treefold_aggregate *state = create(&memory, TREEFOLD_EXACT_DOT), *unaligned = (treefold_aggregate *)((char *)&memory + 1);
    size_t bytes = 0;
    int is_null = 0;
    double value = 0;
    for (treefold_statistic none = TREEFOLD_EXACT_MIN; none <= TREEFOLD_EXACT_NORM; none++)
        EXPECT(TREEFOLD_UNSUPPORTED, "aggregates", treefold_aggregate_bytes(none, &bytes));
    EXPECT(TREEFOLD_UNSUPPORTED, "aggregates", treefold_aggregate_bytes(TREEFOLD_EXACT_VDOT, &bytes));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_aggregate_bytes(99, &bytes));
    EXPECT(TREEFOLD_LENGTH, "has 55 bytes, but a state has 56", treefold_aggregate_init(state, 55, TREEFOLD_EXACT_DOT));
    EXPECT(TREEFOLD_ARGUMENT, "`aggregate`", treefold_aggregate_init(unaligned, 64, TREEFOLD_EXACT_DOT));
    EXPECT(TREEFOLD_NULL, "`aggregate`", treefold_aggregate_clear(NULL));
    EXPECT(TREEFOLD_UNSUPPORTED, "`x_type`", treefold_aggregate_add(state, TREEFOLD_U8, &item, TREEFOLD_F64, &item, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`y_type`", treefold_aggregate_add(state, TREEFOLD_F64, &item, 0, &item, 1));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_aggregate_add(state, TREEFOLD_F64, &item, TREEFOLD_F64, NULL, 1));
    EXPECT(TREEFOLD_NULL, "`is_null`", treefold_aggregate_value(state, TREEFOLD_EXACT_DOT, 0, TREEFOLD_F64, &value, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "`ddof`", treefold_aggregate_value(state, TREEFOLD_EXACT_SKEWNESS, 2, TREEFOLD_F64, &value, &is_null));
    OK(treefold_aggregate_clear(state));
    memset(&memory, 0, sizeof memory);
    EXPECT(TREEFOLD_ARGUMENT, "not point to a state", treefold_aggregate_clear(state));
    OK(treefold_aggregate_init(state, sizeof memory, TREEFOLD_EXACT_SUM));
    EXPECT(TREEFOLD_ARGUMENT, "one column", treefold_aggregate_add(state, TREEFOLD_F64, &item, TREEFOLD_F64, &item, 1));
    struct memory others;
    treefold_aggregate *other = create(&others, TREEFOLD_EXACT_DOT);
    EXPECT(TREEFOLD_ARGUMENT, "the state is a sum of products, not a sum", treefold_aggregate_merge(state, other));
}

/* Checks that the list of functions has every statistic that states have, with the right number of columns. */
static void check_functions(void)
{
    size_t count = 0;
    const treefold_sql_function *functions = treefold_sql_functions(&count);
    CHECK(count > 20 && functions == treefold_sql_functions(NULL));
    for (int i = 0; i < STATISTICS; i++) {
        int found = 0;
        for (size_t f = 0; f < count; f++)
            if (functions[f].statistic == statistics[i].code) {
                CHECK(strncmp(functions[f].name, "exact_", 6) == 0 && functions[f].columns == statistics[i].arrays);
                CHECK(functions[f].ddof == 0 || (functions[f].ddof == 1 && statistics[i].has_ddof));
                CHECK(functions[f].y_first == (kind_of(statistics[i].code) == 'c'));
                CHECK(functions[f].returns_state == (strstr(functions[f].name, "_state") != NULL));
                found++;
            }
        const int kind = kind_of(statistics[i].code);
        CHECK(found > 0 || kind == 'x' || kind == '-' || statistics[i].code == TREEFOLD_EXACT_COUNT);
    }
}

int main(void)
{
    static const treefold_type types[][2] = {{TREEFOLD_F64, TREEFOLD_F64}, {TREEFOLD_I64, TREEFOLD_I64}, {TREEFOLD_F64, TREEFOLD_I64}};
    for (size_t i = 0; i < ROWS; i++) {
        left[i] = left_of(i), right[i] = right_of(i);
        put(TREEFOLD_F64, x[0], i, left[i]), put(TREEFOLD_I64, x[1], i, left[i]);
        put(TREEFOLD_F64, y[0], i, right[i]), put(TREEFOLD_I64, y[1], i, right[i]);
    }
    for (int i = 0; i < STATISTICS; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++)
            if (kind_of(statistics[i].code) != 'x' && kind_of(statistics[i].code) != '-')
                check(&statistics[i], types[t]);
    check_specials();
    check_types();
    check_limit();
    check_errors();
    check_functions();
    return failures != 0;
}
