/* Tests accumulators, and keyed states of items, of rows and with hashed keys. After items are added and removed, and states are merged,
   copied and written as bytes, every statistic is compared with 128-bit integers. Also tests invalid calls. */
#define _POSIX_C_SOURCE 200809L

#include "statistics.h"

#include <complex.h>
#include <float.h>
#include <pthread.h>

enum { ITEMS = 1200, GROUPS = 10, WIDTH = 3, BYTES_MAX = 8192, MANY = 20000 };

enum form { ACCUMULATOR, KEYED, ROWS, HASHED, FORMS };

struct state {
    enum form form;
    treefold_type type;
    int has_pairs;
    treefold_accumulator *one;
    treefold_keyed *many;
};

/* The items as integers, and their keys for each form of state. x and y store the items in the type of the state. */
static int64_t left[ITEMS], right[ITEMS], keys[FORMS][ITEMS];
static void *x, *y;

static treefold_status create(enum form form, treefold_type type, treefold_statistic statistic, struct state *made)
{
    const int is_norm_by_key = statistic == TREEFOLD_EXACT_NORM && form != ACCUMULATOR;
    const int is_of_two = statistic >= TREEFOLD_EXACT_DOT && statistic != TREEFOLD_EXACT_SKEWNESS && statistic != TREEFOLD_EXACT_KURTOSIS;
    *made = (struct state){form, type, is_of_two || is_norm_by_key, NULL, NULL};
    return form == ACCUMULATOR ? treefold_accumulator_create(type, statistic, &made->one)
           : form == KEYED     ? treefold_keyed_create(type, statistic, GROUPS, &made->many)
           : form == ROWS      ? treefold_keyed_create_rows(type, statistic, GROUPS, WIDTH, &made->many)
                               : treefold_keyed_create_hashed(type, TREEFOLD_I64, &made->many);
}

static void end(struct state *state)
{
    for (int turn = 0; turn < 2; turn++)
        OK(state->form == ACCUMULATOR ? treefold_accumulator_destroy(&state->one) : treefold_keyed_destroy(&state->many));
    CHECK(state->one == NULL && state->many == NULL);
}

/* Adds or removes n items, from item `begin` on. */
static treefold_status change(const struct state *state, int takes_back, size_t begin, size_t n, int as_pairs)
{
    const size_t width = state->form == ROWS ? WIDTH : 1, bytes = bytes_of(state->type);
    const void *a = (const char *)x + begin * bytes, *b = (const char *)y + begin * bytes;
    const int64_t *own = keys[state->form] + begin / width;
    if (state->form == ACCUMULATOR)
        return as_pairs ? (takes_back ? treefold_accumulator_remove_pairs : treefold_accumulator_add_pairs)(state->one, a, n, b, n)
                        : (takes_back ? treefold_accumulator_remove : treefold_accumulator_add)(state->one, a, n);
    const size_t k = n / width;
    return as_pairs ? (takes_back ? treefold_keyed_remove_pairs : treefold_keyed_add_pairs)(state->many, TREEFOLD_I64, own, k, a, n, b, n)
                    : (takes_back ? treefold_keyed_remove : treefold_keyed_add)(state->many, TREEFOLD_I64, own, k, a, n);
}

static treefold_status merge(const struct state *state, int takes_back, const struct state *other)
{
    return state->form == ACCUMULATOR ? (takes_back ? treefold_accumulator_unmerge : treefold_accumulator_merge)(state->one, other->one)
                                      : (takes_back ? treefold_keyed_unmerge : treefold_keyed_merge)(state->many, other->many);
}

static struct state copy(const struct state *state)
{
    struct state made = *state;
    made.one = NULL, made.many = NULL;
    OK(state->form == ACCUMULATOR ? treefold_accumulator_copy(state->one, &made.one) : treefold_keyed_copy(state->many, &made.many));
    return made;
}

static void clear(const struct state *state)
{
    OK(state->form == ACCUMULATOR ? treefold_accumulator_clear(state->one) : treefold_keyed_clear(state->many));
}

static treefold_status equals(const struct state *one, const struct state *other, int *equal)
{
    return one->form == ACCUMULATOR ? treefold_accumulator_equal(one->one, other->one, equal)
                                    : treefold_keyed_equal(one->many, other->many, equal);
}

static int are_equal(const struct state *one, const struct state *other)
{
    int equal = -1;
    OK(equals(one, other, &equal));
    return equal;
}

static treefold_status values(const struct state *state, treefold_statistic statistic, double ddof, void *result, size_t m)
{
    return state->form == ACCUMULATOR ? treefold_accumulator_value(state->one, statistic, ddof, result)
                                      : treefold_keyed_values(state->many, statistic, ddof, result, m);
}

static treefold_status to_bytes(const struct state *state, void *bytes, size_t capacity, size_t *needed)
{
    return state->form == ACCUMULATOR ? treefold_accumulator_to_bytes(state->one, bytes, capacity, needed)
                                      : treefold_keyed_to_bytes(state->many, bytes, capacity, needed);
}

static treefold_status of_bytes(const struct state *state, const void *bytes, size_t n)
{
    return state->form == ACCUMULATOR ? treefold_accumulator_of_bytes(state->one, bytes, n)
                                      : treefold_keyed_of_bytes(state->many, bytes, n);
}

/* Sets of statistics are bit masks. has() returns the statistics that a state has if it is created for the given statistic. */
#define SET(code) (1u << TREEFOLD_EXACT_##code)

static unsigned has(enum form form, treefold_type type, treefold_statistic statistic)
{
    const unsigned mean = SET(COUNT) | SET(SUM) | SET(MEAN), moments = mean | SET(VARIANCE) | SET(STD);
    const unsigned of_pairs = SET(COUNT) | SET(COVARIANCE) | SET(CORRELATION) | SET(SLOPE) | SET(INTERCEPT);
    switch (statistic) {
    case TREEFOLD_EXACT_SUM: return form == ACCUMULATOR || type >= TREEFOLD_I8 ? mean : SET(SUM);
    case TREEFOLD_EXACT_COUNT:
    case TREEFOLD_EXACT_MEAN: return type >= TREEFOLD_I8 ? mean : moments;
    case TREEFOLD_EXACT_VARIANCE:
    case TREEFOLD_EXACT_STD: return moments;
    case TREEFOLD_EXACT_DOT:
    case TREEFOLD_EXACT_VDOT: return SET(DOT) | SET(VDOT) | (form == ACCUMULATOR ? SET(COUNT) | SET(MEAN) : 0);
    case TREEFOLD_EXACT_NORM: return SET(NORM) | (form == ACCUMULATOR ? SET(COUNT) : SET(DOT) | SET(VDOT));
    case TREEFOLD_EXACT_WEIGHTED_MEAN: return SET(WEIGHTED_MEAN);
    case TREEFOLD_EXACT_MIN:
    case TREEFOLD_EXACT_MAX: return SET(MIN) | SET(MAX);
    case TREEFOLD_EXACT_SKEWNESS:
    case TREEFOLD_EXACT_KURTOSIS: return SET(SKEWNESS) | SET(KURTOSIS) | moments;
    default: return of_pairs;
    }
}

/* Draws items of type `type`. The last key has no items. */
static void draw(treefold_type type)
{
    for (size_t i = 0; i < ITEMS; i++) {
        const int64_t key = (int64_t)(i * i + i / 7) % (GROUPS - 1);
        left[i] = put_left(type, x, i), right[i] = right_of(i);
        keys[KEYED][i] = keys[ROWS][i] = key, keys[HASHED][i] = (key - 4) * INT64_C(0x0123456789ABCDEF);
    }
}

/* The index of the result to which item i contributes. */
static size_t place_of(enum form form, size_t i)
{
    return form == ACCUMULATOR ? 0 : form == ROWS ? (size_t)keys[ROWS][i / WIDTH] * WIDTH + i % WIDTH : (size_t)keys[KEYED][i];
}

/* Compares all statistics of a state with those of the first n items. */
static void check_values(const struct state *state, treefold_statistic made_for, size_t n, int is_norm)
{
    static struct sums s[GROUPS * WIDTH];
    static uint64_t results[GROUPS * WIDTH + 1];
    const size_t width = state->form == ROWS ? WIDTH : 1;
    const size_t count = state->form == ACCUMULATOR ? 1 : state->form != HASHED ? GROUPS * width : n == 0 ? 0 : GROUPS - 1;
    memset(s, 0, sizeof s);
    for (size_t i = 0; i < n; i++)
        include(&s[place_of(state->form, i)], left[i], is_norm ? left[i] : right[i]);
    for (treefold_statistic code = 0; code <= TREEFOLD_EXACT_VDOT; code++)
        for (int ddof = 0; ddof < 2; ddof++) {
            const treefold_type type = type_of_result(state->type, code);
            if (!(has(state->form, state->type, made_for) >> code & 1)) {
                /* A keyed state that holds a sum of products also has the square root of this sum as NORM. */
                if (state->form == ACCUMULATOR || code != TREEFOLD_EXACT_NORM || !(has(KEYED, state->type, made_for) & SET(DOT)))
                    EXPECT(TREEFOLD_UNSUPPORTED, "", values(state, code, ddof, results, count));
                continue;
            }
            OK(values(state, code, ddof, results, count));
            for (size_t i = 0; i < count; i++) {
                struct sums own = s[i];
                /* The mean of a state of pairs is the mean of the products. */
                if (state->has_pairs && code == TREEFOLD_EXACT_MEAN)
                    own.x = own.xy;
                if (!is_right(&own, code, ddof, type, results, i)) {
                    fprintf(stderr, "form %d, type %d, created for %d, statistic %d, ddof %d, value %zu of %zu\n", (int)state->form,
                            (int)state->type, (int)made_for, (int)code, ddof, i, n);
                    failures++;
                }
            }
        }
}

static void check_bytes(const struct state *state, treefold_statistic made_for)
{
    static unsigned char first[BYTES_MAX], second[BYTES_MAX];
    size_t length = 0, again = 0;
    struct state read;
    if (state->form == HASHED) {
        EXPECT(TREEFOLD_UNSUPPORTED, "", to_bytes(state, NULL, 0, &length));
        EXPECT(TREEFOLD_UNSUPPORTED, "", of_bytes(state, first, 8));
        return;
    }
    OK(to_bytes(state, NULL, 0, &length));
    CHECK(length > 4 && length <= sizeof first);
    OK(to_bytes(state, first, length, &again));
    EXPECT(TREEFOLD_LENGTH, "`bytes`", to_bytes(state, second, 1, &again));
    EXPECT(TREEFOLD_NULL, "`bytes`", to_bytes(state, NULL, 1, &again));
    OK(create(state->form, state->type, made_for, &read));
    OK(of_bytes(&read, first, length));
    OK(to_bytes(&read, second, sizeof second, &again));
    CHECK(are_equal(&read, state) == 1 && length == again && memcmp(first, second, length) == 0);
    EXPECT(TREEFOLD_NULL, "`bytes`", of_bytes(&read, NULL, 3));
    end(&read);
}

static void check_state(enum form form, treefold_type type, treefold_statistic made_for)
{
    struct state whole, part, both, none, foreign;
    const size_t third = ITEMS / 3 / WIDTH * WIDTH;
    int equal = -1;
    const int is_norm = made_for == TREEFOLD_EXACT_NORM, is_extrema = made_for == TREEFOLD_EXACT_MIN || made_for == TREEFOLD_EXACT_MAX;
    treefold_status created = create(form, type, made_for, &whole);
    if (form == ACCUMULATOR && made_for > TREEFOLD_EXACT_STD && (made_for < TREEFOLD_EXACT_NORM || made_for > TREEFOLD_EXACT_DOT) &&
        made_for != TREEFOLD_EXACT_VDOT) {
        CHECK(created == TREEFOLD_UNSUPPORTED && whole.one == NULL);
        return;
    }
    if (form == ROWS && created == TREEFOLD_UNSUPPORTED && made_for != TREEFOLD_EXACT_SUM)
        return;
    OK(created);
    OK(create(form, type, made_for, &part));
    OK(create(form, type, made_for, &none));
    for (size_t i = 0; i < ITEMS; i++)
        put(type, y, i, is_norm ? left[i] : right[i]);
    check_values(&none, made_for, 0, is_norm);
    const int pairs = whole.has_pairs;
    OK(change(&whole, 0, 0, ITEMS, pairs));
    OK(change(&part, 0, 0, third, pairs));
    CHECK(are_equal(&whole, &none) == 0);
    both = copy(&part);
    clear(&part);
    OK(change(&part, 0, third, ITEMS - third, pairs));
    CHECK(are_equal(&part, &none) == 0);
    OK(merge(&both, 0, &part));
    CHECK(are_equal(&both, &whole) == 1);
    check_values(&both, made_for, ITEMS, is_norm);
    check_bytes(&both, made_for);
    if (is_extrema) {
        EXPECT(TREEFOLD_UNSUPPORTED, "", change(&both, 1, 0, third, pairs));
        EXPECT(TREEFOLD_UNSUPPORTED, "", merge(&both, 1, &part));
    } else {
        OK(merge(&both, 1, &part));
        check_values(&both, made_for, third, is_norm);
        OK(merge(&both, 0, &both));
        OK(change(&both, 1, 0, third, pairs));
        check_values(&both, made_for, third, is_norm);
    }
    EXPECT(TREEFOLD_UNSUPPORTED, "", change(&both, 0, 0, third, !pairs));
    EXPECT(TREEFOLD_UNSUPPORTED, "", change(&both, 1, 0, third, !pairs));
    clear(&both);
    CHECK(are_equal(&both, &none) == 1);
    check_values(&both, made_for, 0, is_norm);
    /* States of another type, and states that hold other sums, are rejected. */
    if (type < TREEFOLD_I8) {
        OK(create(form, type == TREEFOLD_F32 ? TREEFOLD_F64 : TREEFOLD_F32, made_for, &foreign));
        EXPECT(TREEFOLD_ARGUMENT, "`other`", merge(&whole, 0, &foreign));
        EXPECT(TREEFOLD_ARGUMENT, "`other`", merge(&whole, 1, &foreign));
        EXPECT(TREEFOLD_ARGUMENT, "`other`", equals(&whole, &foreign, &equal));
        end(&foreign);
        if (form != HASHED && form != ROWS) {
            OK(create(form, type, made_for == TREEFOLD_EXACT_SUM ? TREEFOLD_EXACT_VARIANCE : TREEFOLD_EXACT_SUM, &foreign));
            EXPECT(TREEFOLD_ARGUMENT, "`other`", merge(&whole, 0, &foreign));
            EXPECT(TREEFOLD_ARGUMENT, "`other`", equals(&whole, &foreign, &equal));
            end(&foreign);
        }
    }
    CHECK(equal == -1);
    end(&whole), end(&part), end(&both), end(&none);
}

static void every_state(void)
{
    for (enum form form = ACCUMULATOR; form < FORMS; form++)
        for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_U64; type++) {
            if ((type > TREEFOLD_F64 && type < TREEFOLD_I8) || (type >= TREEFOLD_I8 && form != KEYED))
                continue;
            draw(type);
            for (treefold_statistic code = 0; code <= TREEFOLD_EXACT_VDOT; code++)
                if ((form != HASHED || code == TREEFOLD_EXACT_SUM) && (type < TREEFOLD_I8 || code <= TREEFOLD_EXACT_STD))
                    check_state(form, type, code);
        }
    struct state none;
    for (enum form form = ACCUMULATOR; form < FORMS; form++)
        for (treefold_type type = TREEFOLD_C32; type <= TREEFOLD_U64; type++) {
            const int is_complex = type <= TREEFOLD_C64;
            if (form == HASHED || is_complex != (form == ACCUMULATOR))
                EXPECT(TREEFOLD_UNSUPPORTED, "",
                       create(form, type, form == KEYED || is_complex ? TREEFOLD_EXACT_NORM : TREEFOLD_EXACT_SUM, &none));
        }
}

/* Tests items of all magnitudes that are added, and removed in another order. The sums of the remaining items fit in 128-bit integers. */
static void wide(void)
{
    double *items = x, *others = y;
    for (enum form form = ACCUMULATOR; form < FORMS; form++) {
        struct fraction exact[GROUPS * WIDTH] = {{0}};
        double results[GROUPS * WIDTH];
        struct state state;
        const size_t count = form == ACCUMULATOR ? 1 : form == HASHED ? GROUPS - 1 : form == ROWS ? GROUPS * WIDTH : GROUPS;
        for (size_t i = 0; i < ITEMS; i++) {
            const integer item = random_integer(i, 53) * ((integer)1 << (i % 40));
            struct fraction *own = &exact[place_of(form, i)];
            items[i] = (double)item, others[i] = ldexp((double)random_integer(i + MANY, 53), (int)(i % 1900) - 1000);
            own->p[0] += item, own->q[0] = 1;
        }
        OK(create(form, TREEFOLD_F64, TREEFOLD_EXACT_SUM, &state));
        OK(change(&state, 0, 0, ITEMS, 0));
        x = others;
        OK(change(&state, 0, 0, ITEMS, 0));
        for (size_t i = ITEMS; i > 0; i -= 60)
            OK(change(&state, 1, i - 60, 60, 0));
        x = items;
        OK(values(&state, TREEFOLD_EXACT_SUM, 0, results, count));
        for (size_t i = 0; i < count; i++)
            CHECK(is_nearest(results[i], 53, &exact[i]));
        end(&state);
    }
}

/* Tests hashed states with keys that are far apart, and with keys that do not fit the state's type. */
static void any_keys(void)
{
    const int64_t own[4] = {INT64_MIN, INT64_MAX, -7, INT64_MIN}, sorted[3] = {INT64_MIN, -7, INT64_MAX}, unknown[2] = {-7, 17};
    const double items[4] = {1, 2, 4, 8};
    const float narrow[3] = {1, 2, 4};
    const int8_t small[3] = {-3, 5, -3};
    const uint64_t large[2] = {7, UINT64_MAX};
    int64_t read[3];
    double sums[3];
    size_t groups = 77;
    treefold_keyed *state = NULL, *floats = NULL, *dense = NULL;
    OK(treefold_keyed_create_hashed(TREEFOLD_F64, TREEFOLD_I64, &state));
    OK(treefold_keyed_create_hashed(TREEFOLD_F32, TREEFOLD_U64, &floats));
    OK(treefold_keyed_add(state, TREEFOLD_I64, own, 4, items, 4));
    OK(treefold_keyed_groups(state, &groups));
    CHECK(groups == 3);
    OK(treefold_keyed_keys(state, read, 3));
    OK(treefold_keyed_values(state, TREEFOLD_EXACT_SUM, 0, sums, 3));
    CHECK(memcmp(read, sorted, sizeof read) == 0 && sums[0] == 9 && sums[1] == 4 && sums[2] == 2);
    EXPECT(TREEFOLD_ARGUMENT, "18446744073709551615", treefold_keyed_add(state, TREEFOLD_U64, large, 2, items, 2));
    EXPECT(TREEFOLD_ARGUMENT, "-3", treefold_keyed_add(floats, TREEFOLD_I8, small, 3, narrow, 3));
    EXPECT(TREEFOLD_ARGUMENT, "item 1", treefold_keyed_remove(state, TREEFOLD_I64, unknown, 2, items, 2));
    EXPECT(TREEFOLD_LENGTH, "3", treefold_keyed_keys(state, read, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_keyed_merge(state, floats));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 3, &dense));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_keyed_keys(dense, read, 3));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_keyed_create_hashed(TREEFOLD_C64, TREEFOLD_I64, &(treefold_keyed *){NULL}));
    OK(treefold_keyed_values(state, TREEFOLD_EXACT_SUM, 0, sums, 3));
    CHECK(sums[0] == 9 && sums[1] == 4 && sums[2] == 2);
    OK(treefold_keyed_add(floats, TREEFOLD_U64, large, 2, narrow, 2));
    OK(treefold_keyed_add(floats, TREEFOLD_I8, small + 1, 1, narrow, 1));
    OK(treefold_keyed_keys(floats, read, 3));
    CHECK(read[0] == 5 && read[1] == 7 && read[2] == -1);
    /* A key remains when its items are removed, and only clear removes it. */
    OK(treefold_keyed_remove(state, TREEFOLD_I64, own + 2, 1, items + 2, 1));
    OK(treefold_keyed_values(state, TREEFOLD_EXACT_SUM, 0, sums, 3));
    CHECK(sums[0] == 9 && bits(sums[1]) == bits(0.0) && sums[2] == 2);
    OK(treefold_keyed_clear(state));
    OK(treefold_keyed_groups(state, &groups));
    CHECK(groups == 0);
    END(keyed, &state, &floats, &dense);
}

/* Tests accumulators of complex numbers, to which items are added and from which items are removed. */
static void complex_numbers(void)
{
    const double complex z[2] = {1 + 2 * I, 1e300 - 5 * I}, w[2] = {3 + 4 * I, 7 * I};
    const struct {
        treefold_statistic made_for, asked;
        double complex expected;
    } rows[] = {{TREEFOLD_EXACT_DOT, TREEFOLD_EXACT_DOT, -5 + 10 * I},
                {TREEFOLD_EXACT_VDOT, TREEFOLD_EXACT_VDOT, 11 - 2 * I},
                {TREEFOLD_EXACT_SUM, TREEFOLD_EXACT_SUM, 1 + 2 * I},
                {TREEFOLD_EXACT_VARIANCE, TREEFOLD_EXACT_MEAN, 1 + 2 * I},
                {TREEFOLD_EXACT_STD, TREEFOLD_EXACT_VARIANCE, 0}};
    treefold_accumulator *all[5] = {NULL};
    for (int i = 0; i < 5; i++) {
        double complex result = 0;
        OK(treefold_accumulator_create(TREEFOLD_C64, rows[i].made_for, &all[i]));
        OK(i < 2 ? treefold_accumulator_add_pairs(all[i], z, 2, w, 2) : treefold_accumulator_add(all[i], z, 2));
        OK(i < 2 ? treefold_accumulator_remove_pairs(all[i], z + 1, 1, w + 1, 1) : treefold_accumulator_remove(all[i], z + 1, 1));
        OK(treefold_accumulator_value(all[i], rows[i].asked, 0, &result));
        CHECK(result == rows[i].expected);
    }
    EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_accumulator_merge(all[0], all[1]));
    for (int i = 0; i < 2; i++)
        EXPECT(TREEFOLD_UNSUPPORTED, "DOT", treefold_accumulator_value(all[i], rows[1 - i].asked, 0, &(double complex){0}));
    for (int i = 0; i < 5; i++)
        OK(treefold_accumulator_destroy(&all[i]));
}

/* Tests infinities, NaNs and zeros that are added, and removed one by one; limits of the number of items; and limits of integer sums. */
static void special(void)
{
    const double items[5] = {1e300, NAN, INFINITY, -INFINITY, -0.0}, two[2] = {NAN, NAN};
    const int32_t key[2] = {1, 1};
    double sums[2];
    uint64_t count = 0;
    treefold_accumulator *sum = NULL, *other = NULL;
    treefold_keyed *keyed = NULL;
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &sum));
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &other));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed));
    OK(treefold_accumulator_add(sum, items, 5));
    for (int i = 0; i < 5; i++)
        OK(treefold_keyed_add(keyed, TREEFOLD_I32, key, 1, items + i, 1));
    const double expected[4] = {NAN, NAN, INFINITY, INFINITY};
    const int order[4] = {1, 3, 0, 2};
    for (int i = 0; i < 5; i++) {
        OK(treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, sums, 2));
        CHECK(bits(sums[0]) == bits(0.0));
        OK(treefold_accumulator_value(sum, TREEFOLD_EXACT_SUM, 0, sums));
        CHECK(i == 4 ? bits(sums[0]) == bits(-0.0) && sums[1] == 0
              : isnan(expected[i]) ? isnan(sums[0]) && isnan(sums[1])
                                   : sums[0] == expected[i] && sums[1] == expected[i]);
        EXPECT(TREEFOLD_ARGUMENT, i == 0 ? "NaN" : "", treefold_accumulator_remove(sum, two, 2));
        EXPECT(TREEFOLD_ARGUMENT, "key 1", treefold_keyed_remove(keyed, TREEFOLD_I32, key, 2, two, 2));
        if (i < 4) {
            OK(treefold_accumulator_remove(sum, items + order[i], 1));
            OK(treefold_keyed_remove(keyed, TREEFOLD_I32, key, 1, items + order[i], 1));
        }
    }
    OK(treefold_accumulator_add(other, items + 1, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_accumulator_unmerge(sum, other));
    EXPECT(TREEFOLD_ARGUMENT, "negative zero", treefold_accumulator_remove(other, items + 4, 1));
    EXPECT(TREEFOLD_ARGUMENT, "negative infinity", treefold_accumulator_remove(other, items + 3, 1));
    EXPECT(TREEFOLD_ARGUMENT, "2 items", treefold_accumulator_remove(sum, x, 2));
    for (int i = 0; i < 62; i++)
        OK(treefold_accumulator_merge(other, other));
    EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_accumulator_merge(other, other));
    OK(treefold_accumulator_value(other, TREEFOLD_EXACT_COUNT, 0, &count));
    CHECK(count == (uint64_t)1 << 62);
    END(accumulator, &sum, &other);
    OK(treefold_keyed_destroy(&keyed));
    /* The number of items is limited in states by key, too. */
    for (int i = 0; i < 2; i++) {
        const double large = DBL_MAX;
        const float narrow = FLT_MAX;
        OK(treefold_keyed_create(i == 0 ? TREEFOLD_F64 : TREEFOLD_F32, i == 0 ? TREEFOLD_EXACT_SUM : TREEFOLD_EXACT_VARIANCE, 2, &keyed));
        OK(treefold_keyed_add(keyed, TREEFOLD_I32, key, 1, i == 0 ? (const void *)&large : &narrow, 1));
        for (int times = 0; times < 62; times++)
            OK(treefold_keyed_merge(keyed, keyed));
        EXPECT(TREEFOLD_ARGUMENT, "", treefold_keyed_merge(keyed, keyed));
        OK(treefold_keyed_destroy(&keyed));
    }
    /* A sum of integers does not fit in 64 bits until one item is removed. */
    const uint64_t most[2] = {UINT64_MAX, UINT64_MAX};
    uint64_t wholes[2];
    OK(treefold_keyed_create(TREEFOLD_U64, TREEFOLD_EXACT_SUM, 2, &keyed));
    OK(treefold_keyed_add(keyed, TREEFOLD_I32, key, 2, most, 2));
    EXPECT(TREEFOLD_ARGUMENT, "the sum of key 1 is 36893488147419103230", treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, wholes, 2));
    OK(treefold_keyed_remove(keyed, TREEFOLD_I32, key, 1, most, 1));
    OK(treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, wholes, 2));
    CHECK(wholes[0] == 0 && wholes[1] == UINT64_MAX);
    OK(treefold_keyed_destroy(&keyed));
    /* The bytes of a state of integers do not record the integer type. */
    unsigned char bytes[256];
    size_t length = 0;
    OK(treefold_keyed_create(TREEFOLD_I8, TREEFOLD_EXACT_SUM, 2, &keyed));
    OK(treefold_keyed_add(keyed, TREEFOLD_I32, key, 2, (int8_t[2]){-100, 120}, 2));
    OK(treefold_keyed_to_bytes(keyed, bytes, sizeof bytes, &length));
    OK(treefold_keyed_destroy(&keyed));
    OK(treefold_keyed_create(TREEFOLD_U64, TREEFOLD_EXACT_SUM, 0, &keyed));
    OK(treefold_keyed_of_bytes(keyed, bytes, length));
    OK(treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, wholes, 2));
    CHECK(wholes[0] == 0 && wholes[1] == 20);
    OK(treefold_keyed_destroy(&keyed));
}

/* Tests that truncated bytes are rejected, and changed bytes rejected or read as another state. Rejected bytes change no state. */
static void changed_bytes(enum form form, treefold_statistic statistic)
{
    static unsigned char bytes[BYTES_MAX], room[BYTES_MAX + 1];
    const double items[6] = {1e100, -3, NAN, 1e-100, -0.0, 7};
    struct state state, read, wrong;
    size_t length = 0;
    int refused = 0;
    memcpy(x, items, sizeof items);
    OK(create(form, TREEFOLD_F64, statistic, &state));
    OK(change(&state, 0, 0, 6, 0));
    read = copy(&state);
    OK(to_bytes(&state, bytes, sizeof bytes, &length));
    for (size_t n = 0; n < length; n++) {
        EXPECT(TREEFOLD_LENGTH, "`bytes`", of_bytes(&read, bytes, n));
        memcpy(room, bytes, length);
        room[n] ^= 0x80;
        OK(create(form, TREEFOLD_F64, statistic, &wrong));
        treefold_status status = of_bytes(&wrong, room, length);
        CHECK(status == TREEFOLD_OK || status == TREEFOLD_ARGUMENT || status == TREEFOLD_LENGTH);
        CHECK(are_equal(&wrong, &state) == 0);
        refused += status != TREEFOLD_OK;
        end(&wrong);
    }
    CHECK(refused > 20);
    memcpy(room, bytes, length);
    room[length] = 0;
    EXPECT(TREEFOLD_LENGTH, "`bytes`", of_bytes(&read, room, length + 1));
    room[3] = 77;
    EXPECT(TREEFOLD_ARGUMENT, "version 77", of_bytes(&read, room, length));
    CHECK(are_equal(&read, &state) == 1);
    /* A state of rows of another width rejects the bytes. */
    if (form == KEYED) {
        treefold_keyed *rows = NULL;
        OK(treefold_keyed_create_rows(TREEFOLD_F64, statistic, GROUPS, 2, &rows));
        EXPECT(TREEFOLD_ARGUMENT, "rows", treefold_keyed_of_bytes(rows, bytes, length));
        OK(treefold_keyed_destroy(&rows));
    }
    /* States of another type, another kind and another form reject them, too. */
    for (int what = 0; what < 3; what++) {
        OK(create(what < 2 ? form : form == KEYED ? ACCUMULATOR : KEYED, what == 0 ? TREEFOLD_F32 : TREEFOLD_F64,
                  what == 1 ? TREEFOLD_EXACT_DOT : statistic, &wrong));
        EXPECT(TREEFOLD_ARGUMENT, "f64", of_bytes(&wrong, bytes, length));
        end(&wrong);
    }
    if (form == KEYED) {
        /* A state has as many keys as the bytes. */
        size_t groups = 0;
        OK(treefold_keyed_create(TREEFOLD_F64, statistic, 0, &wrong.many));
        wrong.form = KEYED;
        CHECK(are_equal(&wrong, &state) == 0);
        OK(of_bytes(&wrong, bytes, length));
        OK(treefold_keyed_groups(wrong.many, &groups));
        CHECK(groups == GROUPS && are_equal(&wrong, &state) == 1);
        end(&wrong);
    }
    end(&state), end(&read);
}

static void errors(void)
{
    const double items[6] = {1, 2, 3, 4, 5, 6};
    const int32_t own[3] = {0, 1, 0}, negative[3] = {0, 1, -5};
    double results[4] = {-1, -1, -1, -1};
    int equal = -1;
    treefold_accumulator *sum = NULL, *dot = NULL, *old;
    treefold_keyed *keyed = NULL, *three = NULL, *rows = NULL, *wide_rows = NULL, *pairs = NULL, *powers = NULL, *none = NULL, *old_keyed;
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_accumulator_create(99, TREEFOLD_EXACT_SUM, &sum));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_accumulator_create(TREEFOLD_F64, 17, &sum));
    EXPECT(TREEFOLD_ARGUMENT, "`type`", treefold_keyed_create(0, TREEFOLD_EXACT_SUM, 2, &none));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_keyed_create(TREEFOLD_C64, TREEFOLD_EXACT_SUM, 2, &none));
    EXPECT(TREEFOLD_ARGUMENT, "`width`", treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, 0, &none));
    EXPECT(TREEFOLD_MEMORY, "memory", treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, SIZE_MAX / 8, &none));
    EXPECT(TREEFOLD_MEMORY, "memory", treefold_keyed_create_rows(TREEFOLD_F32, TREEFOLD_EXACT_SUM, SIZE_MAX / 2, 4, &none));
    CHECK(sum == NULL && none == NULL);
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &sum));
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_DOT, &dot));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, &keyed));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 3, &three));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 2, &pairs));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_KURTOSIS, 2, &powers));
    OK(treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, 2, &rows));
    OK(treefold_keyed_create_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 2, 3, &wide_rows));

    EXPECT(TREEFOLD_NULL, "`accumulator`", treefold_accumulator_add(NULL, items, 1));
    EXPECT(TREEFOLD_NULL, "`accumulator`", treefold_accumulator_clear(NULL));
    EXPECT(TREEFOLD_ARGUMENT, "handle",
           treefold_accumulator_value((const treefold_accumulator *)(const void *)items, TREEFOLD_EXACT_SUM, 0, results));
    EXPECT(TREEFOLD_ARGUMENT, "handle", treefold_accumulator_merge(sum, (const treefold_accumulator *)keyed));
    EXPECT(TREEFOLD_NULL, "`other`", treefold_accumulator_merge(sum, NULL));
    EXPECT(TREEFOLD_NULL, "`other`", treefold_accumulator_unmerge(sum, NULL));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_accumulator_add(sum, NULL, 1));
    EXPECT(TREEFOLD_ARGUMENT, "multiple of 8", treefold_accumulator_add(sum, (const char *)items + 4, 1));
    EXPECT(TREEFOLD_LENGTH, "", treefold_accumulator_add(sum, items, SIZE_MAX / 4));
    EXPECT(TREEFOLD_ARGUMENT, "1 item", treefold_accumulator_remove(sum, items, 1));
    EXPECT(TREEFOLD_LENGTH, "2", treefold_accumulator_add_pairs(dot, items, 3, items, 2));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_accumulator_add_pairs(dot, items, 1, NULL, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_accumulator_value(sum, 99, 0, results));
    OK(treefold_accumulator_value(sum, TREEFOLD_EXACT_SUM, 0, results));
    CHECK(bits(results[0]) == bits(0.0));
    old = sum;
    OK(treefold_accumulator_destroy(&sum));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_accumulator_add(old, items, 1));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_accumulator_destroy(&old));
    OK(treefold_accumulator_destroy(&dot));

    OK(treefold_keyed_add(keyed, TREEFOLD_I32, own, 3, items, 3));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", treefold_keyed_add(keyed, TREEFOLD_I32, negative, 3, items, 3));
    EXPECT(TREEFOLD_LENGTH, "`keys`", treefold_keyed_add(keyed, TREEFOLD_I32, own, 3, items, 2));
    EXPECT(TREEFOLD_LENGTH, "", treefold_keyed_add_pairs(pairs, TREEFOLD_I32, own, 2, items, 2, items, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`key_type`", treefold_keyed_add(keyed, TREEFOLD_F64, items, 3, items, 3));
    EXPECT(TREEFOLD_NULL, "`keys`", treefold_keyed_add(keyed, TREEFOLD_I32, NULL, 3, items, 3));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_keyed_remove(keyed, TREEFOLD_I32, own, 3, NULL, 3));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_keyed_add_pairs(pairs, TREEFOLD_I32, own, 3, items, 3, NULL, 3));
    EXPECT(TREEFOLD_NULL, "`keyed`", treefold_keyed_add(NULL, TREEFOLD_I32, own, 3, items, 3));
    EXPECT(TREEFOLD_NULL, "`keyed`", treefold_keyed_clear(NULL));
    EXPECT(TREEFOLD_NULL, "`other`", treefold_keyed_merge(keyed, NULL));
    EXPECT(TREEFOLD_NULL, "`other`", treefold_keyed_unmerge(keyed, NULL));
    EXPECT(TREEFOLD_LENGTH, "`other`", treefold_keyed_merge(keyed, three));
    EXPECT(TREEFOLD_LENGTH, "`other`", treefold_keyed_merge(rows, wide_rows));
    EXPECT(TREEFOLD_ARGUMENT, "`other`", treefold_keyed_unmerge(keyed, pairs));
    EXPECT(TREEFOLD_LENGTH, "`result`", treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, results, 1));
    EXPECT(TREEFOLD_LENGTH, "", treefold_keyed_add(rows, TREEFOLD_I32, own, 3, items, 5));
    EXPECT(TREEFOLD_UNSUPPORTED, "TREEFOLD_EXACT_", treefold_keyed_values(keyed, TREEFOLD_EXACT_MEAN, 0, results, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`ddof`", treefold_keyed_values(powers, TREEFOLD_EXACT_KURTOSIS, 2, results, 2));
    CHECK(results[1] == -1 && equal == -1 && none == NULL);
    OK(treefold_keyed_values(keyed, TREEFOLD_EXACT_SUM, 0, results, 2));
    CHECK(results[0] == 4 && results[1] == 2);
    OK(treefold_keyed_equal(rows, wide_rows, &equal));
    CHECK(equal == 0);
    old_keyed = keyed;
    OK(treefold_keyed_destroy(&keyed));
    EXPECT(TREEFOLD_ARGUMENT, "destroyed", treefold_keyed_values(old_keyed, TREEFOLD_EXACT_SUM, 0, results, 2));
    END(keyed, &three, &pairs, &powers, &rows, &wide_rows);
}

/* The accumulator to which several threads add at once. While another thread is using it, a call fails, and the thread tries again. */
static treefold_accumulator *shared;
static double numbers[MANY];

static void *add_all(void *argument)
{
    for (size_t i = *(const size_t *)argument; i < MANY; i += 4) {
        treefold_status status;
        do {
            status = treefold_accumulator_add(shared, &numbers[i], 1);
            CHECK(status == TREEFOLD_OK || (status == TREEFOLD_ARGUMENT && strstr(treefold_last_error(), "another thread") != NULL));
        } while (status == TREEFOLD_ARGUMENT);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    size_t ids[4] = {0, 1, 2, 3};
    double expected = -1, value = -2;
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = number(i);
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &shared));
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, add_all, &ids[i]) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    OK(treefold_exact_sum_f64(numbers, MANY, &expected));
    OK(treefold_accumulator_value(shared, TREEFOLD_EXACT_SUM, 0, &value));
    CHECK(bits(value) == bits(expected));
    OK(treefold_accumulator_destroy(&shared));
}

int main(void)
{
    x = calloc(ITEMS, 8), y = calloc(ITEMS, 8);
    every_state();
    wide();
    any_keys();
    complex_numbers();
    special();
    for (enum form form = ACCUMULATOR; form <= KEYED; form++) {
        changed_bytes(form, TREEFOLD_EXACT_SUM);
        changed_bytes(form, TREEFOLD_EXACT_VARIANCE);
    }
    errors();
    threads();
    free(x);
    free(y);
    if (failures == 0)
        printf("states have the statistics of their items\n");
    return failures != 0;
}
