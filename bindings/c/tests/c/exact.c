/* Tests exact statistics of all items, by key and of columns, with every type, statistic, type of keys and number of threads. Results are
   compared with 128-bit integers. Also tests invalid calls. */
#include "statistics.h"

#include <complex.h>
#include <fenv.h>
#include <float.h>

enum { MANY = 400000, FEW = 1200, GROUPS = 11, WIDTH = 3 };

static void *x, *y;

static treefold_status exact_sum(treefold_type type, const void *items, size_t n, void *result)
{
    return type == TREEFOLD_F32 ? treefold_exact_sum_f32(items, n, result) : treefold_exact_sum_f64(items, n, result);
}

static treefold_status exact_dot(treefold_type type, const void *left, size_t n, const void *right, size_t m, void *result)
{
    return type == TREEFOLD_F32 ? treefold_exact_dot_f32(left, n, right, m, result) : treefold_exact_dot_f64(left, n, right, m, result);
}

/* Tests sums of numbers of very different magnitudes, sums of products of 106 bits, and norms. All fit in 128-bit integers. */
static void wide(void)
{
    const size_t lengths[] = {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, 100001, MANY};
    const treefold_statistic codes[] = {TREEFOLD_EXACT_SUM, TREEFOLD_EXACT_DOT, TREEFOLD_EXACT_VDOT, TREEFOLD_EXACT_NORM};
    int others = 0;
    for (size_t turn = 0; turn < 14 * 4 * 2; turn++) {
        const size_t n = lengths[turn / 8];
        const treefold_type type = turn % 2 == 0 ? TREEFOLD_F32 : TREEFOLD_F64;
        const treefold_statistic code = codes[turn / 2 % 4];
        const int digits = type == TREEFOLD_F32 ? 24 : 53, is_sum = code == TREEFOLD_EXACT_SUM, is_norm = code == TREEFOLD_EXACT_NORM;
        struct fraction exact = {is_norm, {0}, {1}};
        double found[2], rounded;
        for (size_t i = 0; i < n; i++) {
            const integer left = random_integer(2 * i, is_norm ? 20 : digits) * ((integer)1 << (is_sum ? i % 40 : 0));
            const integer right = is_norm ? left : random_integer(2 * i + 1, digits);
            put(type, x, i, left), put(type, y, i, right);
            exact.p[0] += is_sum ? left : left * right;
        }
        for (int threads = 1; threads <= 4; threads += 3) {
            OK(treefold_threads(threads));
            OK(treefold_exact(type, code, 0, x, n, is_sum || is_norm ? NULL : y, is_sum || is_norm ? 0 : n, &found[0]));
            OK(is_sum ? exact_sum(type, x, n, &found[1]) : exact_dot(type, x, n, y, n, &found[1]));
            CHECK(is_nearest(real(type, found, 0), digits, &exact));
            CHECK(is_norm || memcmp(&found[0], &found[1], bytes_of(type)) == 0);
        }
        OK(treefold_fold(type, TREEFOLD_SUM, x, n, &rounded));
        others += is_sum && memcmp(&rounded, found, bytes_of(type)) != 0;
    }
    OK(treefold_threads(1));
    /* Some sums in tree order differ from the exact sums, so this test would detect rounding errors. */
    CHECK(others > 0);
}

/* Tests every statistic of real numbers. */
static void every_statistic(void)
{
    const size_t lengths[] = {0, 1, 2, 3, 4, 5, 64, 1000};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_F64; type++) {
            struct sums s = {0};
            double result;
            const size_t n = lengths[l];
            for (size_t i = 0; i < n; i++) {
                put(type, x, i, left_of(i)), put(type, y, i, right_of(i));
                include(&s, left_of(i), right_of(i));
            }
            for (const struct statistic *of = statistics; of < statistics + STATISTICS; of++)
                for (int ddof = 0; ddof <= of->has_ddof; ddof++) {
                    const void *other = of->arrays == 2 ? y : NULL;
                    uint64_t room = 0;
                    memcpy(&result, &room, sizeof result);
                    void *place = of->code == TREEFOLD_EXACT_COUNT ? (void *)&room : (void *)&result;
                    OK(treefold_exact(type, of->code, ddof, x, n, other, other == NULL ? 0 : n, place));
                    CHECK(is_right(&s, of->code, ddof, type_of_result(type, of->code), place, 0));
                }
        }
}

/* Tests every statistic of complex numbers, whose real and imaginary parts are integers. */
static void complex_numbers(void)
{
    const size_t n = 1000;
    for (treefold_type type = TREEFOLD_C32; type <= TREEFOLD_C64; type++) {
        const treefold_type part = part_of(type);
        const int digits = part == TREEFOLD_F32 ? 24 : 53;
        struct sums re = {0}, im = {0};
        struct fraction exact[4] = {{0, {0}, {1}}, {0, {0}, {1}}, {0, {0}, {1}}, {0, {0}, {1}}};
        double complex result;
        uint64_t count = 0;
        for (size_t i = 0; i < n; i++) {
            const int64_t a = left_of(2 * i), b = left_of(2 * i + 1), c = right_of(2 * i), d = right_of(2 * i + 1);
            put(part, x, 2 * i, a), put(part, x, 2 * i + 1, b), put(part, y, 2 * i, c), put(part, y, 2 * i + 1, d);
            include(&re, a, c), include(&im, b, d);
            exact[0].p[0] += a * c - b * d, exact[1].p[0] += a * d + b * c;
            exact[2].p[0] += a * c + b * d, exact[3].p[0] += a * d - b * c;
        }
        OK(treefold_exact(type, TREEFOLD_EXACT_COUNT, 0, x, n, NULL, 0, &count));
        CHECK(count == n);
        for (treefold_statistic code = TREEFOLD_EXACT_SUM; code <= TREEFOLD_EXACT_MEAN; code++) {
            OK(treefold_exact(type, code, 0, x, n, NULL, 0, &result));
            CHECK(is_right(&re, code, 0, part, &result, 0) && is_right(&im, code, 0, part, &result, 1));
        }
        for (int turn = 0; turn < 4; turn++) {
            const integer squares = re.n * (re.xx + im.xx) - re.x * re.x - im.x * im.x;
            const int ddof = turn % 2, is_root = turn / 2;
            OK(treefold_exact(type, is_root ? TREEFOLD_EXACT_STD : TREEFOLD_EXACT_VARIANCE, ddof, x, n, NULL, 0, &result));
            CHECK(is_nearest(real(part, &result, 0), digits, &(struct fraction){is_root, {squares}, {re.n, re.n - ddof}}));
            OK(treefold_exact(type, is_root ? TREEFOLD_EXACT_VDOT : TREEFOLD_EXACT_DOT, 0, x, n, y, n, &result));
            CHECK(is_nearest(real(part, &result, ddof), digits, &exact[turn]));
        }
    }
}

/* Tests items that rounding would lose, NaNs, infinities and zeros. */
static void special(void)
{
    const double least = 0x1p-1074;
    const struct {
        treefold_type type;
        treefold_statistic statistic;
        double items[3], expected;
    } rows[] = {
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {1e300, 1, -1e300}, 1},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {DBL_MAX, DBL_MAX, 0}, INFINITY},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {INFINITY, 1, -INFINITY}, NAN},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {1, -NAN, 2}, NAN},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {-0.0, -0.0, -0.0}, -0.0},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {-0.0, 0.0, -0.0}, 0.0},
        {TREEFOLD_F64, TREEFOLD_EXACT_SUM, {least, least, -0.0}, 2 * least},
        {TREEFOLD_F64, TREEFOLD_EXACT_MEAN, {DBL_MAX, DBL_MAX, DBL_MAX}, DBL_MAX},
        {TREEFOLD_F64, TREEFOLD_EXACT_NORM, {0x1.8p701, 0x1p702, 0}, 0x1.4p702},
        /* The exact norm is halfway between two doubles, and the even one is not 5e200. */
        {TREEFOLD_F64, TREEFOLD_EXACT_NORM, {3e200, 4e200, 0}, 4.9999999999999995e200},
        {TREEFOLD_F64, TREEFOLD_EXACT_NORM, {0x1.8p-1060, -0x1p-1059, 0}, 0x1.4p-1059},
        {TREEFOLD_F64, TREEFOLD_EXACT_NORM, {DBL_MAX, DBL_MAX, 0}, INFINITY},
        {TREEFOLD_F64, TREEFOLD_EXACT_NORM, {1, -INFINITY, NAN}, NAN},
        {TREEFOLD_F64, TREEFOLD_EXACT_MIN, {0.0, -0.0, 1}, -0.0},
        {TREEFOLD_F64, TREEFOLD_EXACT_MAX, {-1, -0.0, 0.0}, 0.0},
        {TREEFOLD_F64, TREEFOLD_EXACT_MAX, {INFINITY, NAN, 1}, NAN},
        {TREEFOLD_F32, TREEFOLD_EXACT_SUM, {1e30f, 1, -1e30f}, 1},
        {TREEFOLD_F32, TREEFOLD_EXACT_SUM, {FLT_MAX, FLT_MAX, -FLT_MAX}, FLT_MAX},
        {TREEFOLD_F32, TREEFOLD_EXACT_SUM, {1, -NAN, 2}, NAN},
        {TREEFOLD_F32, TREEFOLD_EXACT_NORM, {0x1.8p101f, 0x1p102f, 0}, 0x1.4p102f},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        float narrow[3], narrow_result = -1;
        double result = -1;
        const int is_narrow = rows[row].type == TREEFOLD_F32;
        for (int i = 0; i < 3; i++)
            narrow[i] = (float)rows[row].items[i];
        OK(treefold_exact(rows[row].type, rows[row].statistic, 0, is_narrow ? (const void *)narrow : rows[row].items, 3, NULL, 0,
                          is_narrow ? (void *)&narrow_result : (void *)&result));
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow_result, sizeof narrow_bits);
        if (isnan(rows[row].expected))
            CHECK(is_narrow ? narrow_bits == 0x7FC00000 : bits(result) == UINT64_C(0x7FF8000000000000));
        else
            CHECK(bits(is_narrow ? narrow_result : result) == bits(rows[row].expected));
    }
    /* By key, every zero sum is +0. In columns without keys, the sum of negative zeros is -0. */
    const double zeros[2] = {-0.0, -0.0};
    const uint8_t keys[2] = {0, 0};
    double zero = -1;
    OK(treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_U8, keys, 2, zeros, 2, NULL, 0, &zero, 1));
    CHECK(bits(zero) == bits(0.0));
    OK(treefold_by_key_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 1, TREEFOLD_U8, keys, 2, zeros, 2, &zero, 1));
    CHECK(bits(zero) == bits(0.0));
    OK(treefold_by_key_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, 1, TREEFOLD_U8, NULL, 0, zeros, 2, &zero, 1));
    CHECK(bits(zero) == bits(-0.0));
    /* There are at most ddof items; then the weights add up to 0. */
    const double two[2] = {1, 2}, weights[2] = {1, -1};
    for (double ddof = 2; ddof < 4; ddof += 0.75)
        for (treefold_statistic code = TREEFOLD_EXACT_VARIANCE; code <= TREEFOLD_EXACT_STD; code++) {
            double spread[2] = {0, 0};
            OK(treefold_exact(TREEFOLD_F64, code, ddof, two, 2, NULL, 0, &spread[0]));
            OK(treefold_exact(TREEFOLD_F64, code, ddof, zeros, 2, NULL, 0, &spread[1]));
            CHECK(spread[0] == INFINITY && isnan(spread[1]));
        }
    double mean = 0;
    OK(treefold_exact(TREEFOLD_F64, TREEFOLD_EXACT_WEIGHTED_MEAN, 0, two, 2, weights, 2, &mean));
    CHECK(mean == -INFINITY);
    const double left[3] = {1e200, 3, 1e200}, right[3] = {1e200, 4, -1e200};
    double result = -1;
    OK(treefold_exact_dot_f64(left, 3, right, 3, &result));
    CHECK(result == 12);
}

/* Tests statistics by key, of items and of columns, for every type of items and of keys. Each key has the statistics of its items. */
static void by_key(void)
{
    static uint64_t keys[FEW], typed[FEW], results[GROUPS * WIDTH];
    for (int turn = 0; turn < 16; turn++) {
        const treefold_type type = turn >= 8 ? TREEFOLD_I8 + turn - 8 : turn % 2 == 0 ? TREEFOLD_F32 : TREEFOLD_F64;
        const treefold_type key_type = TREEFOLD_I8 + turn % 8;
        struct sums s[GROUPS] = {{0}}, of_rows[GROUPS * WIDTH] = {{0}};
        for (size_t i = 0; i < FEW; i++) {
            /* The last three keys have two items, one item and no item. */
            keys[i] = i < 3 ? GROUPS - 2 - (i + 1) / 2 : (i * i + i / 7) % (GROUPS - 3);
            put(key_type, typed, i, (integer)keys[i]), put(type, y, i, right_of(i));
            const int64_t left = put_left(type, x, i);
            include(&s[keys[i]], left, right_of(i));
            include(&of_rows[keys[i / WIDTH] * WIDTH + i % WIDTH], left, 0);
        }
        OK(treefold_threads(turn % 3 + 1));
        for (const struct statistic *of = statistics; of < statistics + STATISTICS; of++)
            for (int ddof = 0; ddof <= of->has_ddof && (type < TREEFOLD_I8 || of->code <= TREEFOLD_EXACT_STD); ddof++) {
                const treefold_type type_there = type_of_result(type, of->code);
                const int has_two = of->arrays == 2;
                OK(treefold_by_key(type, of->code, ddof, key_type, typed, FEW, x, FEW, has_two ? y : NULL, has_two ? FEW : 0, results,
                                   GROUPS));
                for (size_t key = 0; key < GROUPS; key++)
                    CHECK(is_right(&s[key], of->code, ddof, type_there, results, key));
                treefold_status status = treefold_by_key_rows(type, of->code, ddof, WIDTH, key_type, typed, FEW / WIDTH, x, FEW, results,
                                                              GROUPS * WIDTH);
                if (has_two || of->code == TREEFOLD_EXACT_NORM || type >= TREEFOLD_I8) {
                    CHECK(status == TREEFOLD_UNSUPPORTED || status == TREEFOLD_ARGUMENT);
                    continue;
                }
                OK(status);
                for (size_t i = 0; i < GROUPS * WIDTH; i++)
                    CHECK(is_right(&of_rows[i], of->code, ddof, type_there, results, i));
            }
    }
    OK(treefold_threads(1));
    const int64_t most[3] = {INT64_MAX, 1, 5};
    const uint8_t few[3] = {1, 1, 0};
    int64_t result[2] = {-1, -1};
#define OF_INTEGERS(statistic) treefold_by_key(TREEFOLD_I64, statistic, 0, TREEFOLD_U8, few, 3, most, 3, NULL, 0, result, 2)
    EXPECT(TREEFOLD_ARGUMENT, "the sum of key 1 is 9223372036854775808", OF_INTEGERS(TREEFOLD_EXACT_SUM));
    EXPECT(TREEFOLD_UNSUPPORTED, "", OF_INTEGERS(TREEFOLD_EXACT_MIN));
    CHECK(result[0] == -1 && result[1] == -1);
}

/* Tests rows of many widths. There are no keys, so all rows belong to one key. */
static void columns(void)
{
    double column[100], result[64], sum, *items = x;
    for (size_t width = 1; width <= 64; width += 1 + width / 8) {
        for (size_t i = 0; i < 100 * width; i++)
            items[i] = ldexp((double)random_integer(i, 53), (int)(i % 1300) - 700);
        OK(treefold_by_key_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, width, 0, NULL, 0, items, 100 * width, result, width));
        for (size_t c = 0; c < width; c++) {
            for (size_t row = 0; row < 100; row++)
                column[row] = items[row * width + c];
            OK(treefold_exact_sum_f64(column, 100, &sum));
            CHECK(bits(result[c]) == bits(sum));
        }
    }
}

static void errors(void)
{
    double items[6] = {1, 2, 3, 4, 5, 6}, result[4] = {-1, -1, -1, -1};
    const int32_t keys[3] = {0, 1, 0}, negative[3] = {0, 1, -5};
    uint64_t huge[3] = {0, UINT64_MAX, 0};
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_F64; type++) {
        EXPECT(TREEFOLD_NULL, "`x`", exact_sum(type, NULL, 1, result));
        EXPECT(TREEFOLD_NULL, "`y`", exact_dot(type, items, 1, NULL, 1, result));
        EXPECT(TREEFOLD_LENGTH, "999", exact_dot(type, x, 1000, y, 999, result));
        EXPECT(TREEFOLD_LENGTH, "", exact_sum(type, x, SIZE_MAX, result));
        EXPECT(TREEFOLD_ARGUMENT, "`x`", exact_sum(type, (const char *)items + 2, 1, result));
    }
#define EXACT(type, statistic, ddof, ...) treefold_exact(type, TREEFOLD_EXACT_##statistic, ddof, __VA_ARGS__)
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_exact(TREEFOLD_F64, 17, 0, items, 2, NULL, 0, result));
    EXPECT(TREEFOLD_ARGUMENT, "`ddof`", EXACT(TREEFOLD_F64, SKEWNESS, 2, items, 6, NULL, 0, result));
    EXPECT(TREEFOLD_UNSUPPORTED, "", EXACT(TREEFOLD_I32, SUM, 0, items, 2, NULL, 0, result));
    for (treefold_statistic code = TREEFOLD_EXACT_MIN; code < TREEFOLD_EXACT_VDOT; code++)
        if (code != TREEFOLD_EXACT_DOT) {
            const int has_two = code >= TREEFOLD_EXACT_WEIGHTED_MEAN && code <= TREEFOLD_EXACT_INTERCEPT;
            EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_exact(TREEFOLD_C64, code, 0, x, 2, has_two ? y : NULL, has_two ? 2 : 0, result));
        }
    EXPECT(TREEFOLD_NULL, "`x`", EXACT(TREEFOLD_F64, SUM, 0, NULL, 2, NULL, 0, result));
    EXPECT(TREEFOLD_NULL, "`y`", EXACT(TREEFOLD_F64, COVARIANCE, 0, items, 2, NULL, 2, result));
    EXPECT(TREEFOLD_LENGTH, "`y`", EXACT(TREEFOLD_F64, COVARIANCE, 0, items, 2, y, 3, result));
    CHECK(EXACT(TREEFOLD_F64, SUM, 0, items, 2, y, 2, result) != TREEFOLD_OK);
#define BY_KEY(key_type, ...) treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, key_type, __VA_ARGS__)
    EXPECT(TREEFOLD_LENGTH, "`keys`", BY_KEY(TREEFOLD_I32, keys, 2, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", BY_KEY(TREEFOLD_I32, negative, 3, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 1 has key 18446744073709551615", BY_KEY(TREEFOLD_U64, huge, 3, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "item 0 has key 0", BY_KEY(TREEFOLD_I32, keys, 3, items, 3, NULL, 0, NULL, 0));
    EXPECT(TREEFOLD_ARGUMENT, "`key_type`", BY_KEY(TREEFOLD_F32, keys, 3, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_NULL, "`keys`", BY_KEY(TREEFOLD_I32, NULL, 3, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_NULL, "`x`", BY_KEY(TREEFOLD_I32, keys, 3, NULL, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_ARGUMENT, "`keys`", BY_KEY(TREEFOLD_I32, (const char *)keys + 1, 2, items, 2, NULL, 0, result, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "",
           treefold_by_key(TREEFOLD_C64, TREEFOLD_EXACT_SUM, 0, TREEFOLD_I32, keys, 3, x, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_LENGTH, "`y`",
           treefold_by_key(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, TREEFOLD_I32, keys, 3, items, 3, items, 2, result, 2));
    EXPECT(TREEFOLD_MEMORY, "memory", BY_KEY(TREEFOLD_I32, keys, 0, NULL, 0, NULL, 0, result, SIZE_MAX / 64));
#define ROWS(width, ...) treefold_by_key_rows(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, width, TREEFOLD_I32, __VA_ARGS__)
    EXPECT(TREEFOLD_LENGTH, "", ROWS(2, keys, 3, items, 5, result, 4));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(2, keys, 2, items, 6, result, 4));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(2, keys, 3, items, 6, result, 3));
    EXPECT(TREEFOLD_LENGTH, "", ROWS(4, NULL, 0, items, 6, result, 4));
    CHECK(ROWS(0, keys, 3, items, 6, result, 4) != TREEFOLD_OK);
    EXPECT(TREEFOLD_ARGUMENT, "item 2 has key -5", ROWS(2, negative, 3, items, 6, result, 4));
    EXPECT(TREEFOLD_NULL, "`items`", ROWS(2, keys, 3, NULL, 6, result, 4));
    CHECK(items[0] == 1 && result[0] == -1 && result[3] == -1);
}

/* The number of results for a statistic of three items: one of all items, two by key, and three of windows. */
enum { FOUND = 1 + 2 + 3 };

static void find(double results[STATISTICS][FOUND])
{
    const double items[3] = {1, 0x1p-60, -3e-310};
    const int32_t keys[3] = {0, 1, 0};
    const treefold_window window = {.items = 2};
    memset(results, 0, FOUND * STATISTICS * sizeof(double));
    for (size_t of = 0; of < STATISTICS; of++) {
        const treefold_statistic code = statistics[of].code;
        const double *other = statistics[of].arrays == 2 ? items : NULL;
        const size_t others = other == NULL ? 0 : 3;
        OK(treefold_exact(TREEFOLD_F64, code, 0, items, 3, other, others, results[of]));
        OK(treefold_by_key(TREEFOLD_F64, code, 0, TREEFOLD_I32, keys, 3, items, 3, other, others, results[of] + 1, 2));
        OK(treefold_rolling(TREEFOLD_F64, code, 0, &window, items, 3, other, others, results[of] + 3, 3));
    }
}

/* Tests that results are right in every floating-point environment. In the last one, the processor treats subnormal numbers as zero. */
static void environments(void)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    double found[STATISTICS][FOUND], expected[STATISTICS][FOUND];
    find(expected);
    for (int i = 0; i < 4; i++) {
        CHECK(fesetround(modes[i]) == 0);
#if defined(__x86_64__)
        const unsigned before = __builtin_ia32_stmxcsr();
        __builtin_ia32_ldmxcsr(before | (i == 3 ? 0x8040 : 0));
#endif
        find(found);
#if defined(__x86_64__)
        __builtin_ia32_ldmxcsr(before);
#endif
        fesetround(FE_TONEAREST);
        CHECK(memcmp(found, expected, sizeof found) == 0);
    }
}

/* Tests huge items that cancel, so that the result is the sum of the small items between them. This also tests emulated processors, such as
   valgrind's, which do not report that an addition was rounded. */
static void cancelling(void)
{
    enum { TRIPLES = 6000 };
    static double items[3 * TRIPLES];
    int64_t expected = 0;
    for (int i = 0; i < TRIPLES; i++) {
        int64_t small = (int64_t)(INT64_C(1103515245) * (i + 1) % INT64_C(2147483648)) - 1073741824;
        double huge = ldexp(1, i % 900 + 60);
        expected += small;
        items[3 * i] = huge, items[3 * i + 1] = (double)small, items[3 * i + 2] = -huge;
    }
    double sum = -1, mean = -1;
    OK(treefold_exact_sum_f64(items, 3 * TRIPLES, &sum));
    OK(treefold_exact(TREEFOLD_F64, TREEFOLD_EXACT_MEAN, 0, items, 3 * TRIPLES, NULL, 0, &mean));
    CHECK(sum == (double)expected && mean == (double)expected / (3 * TRIPLES));
}

int main(void)
{
    x = calloc(MANY, 8), y = calloc(MANY, 8);
    wide();
    every_statistic();
    complex_numbers();
    special();
    cancelling();
    by_key();
    columns();
    errors();
    environments();
    free(x);
    free(y);
    if (failures == 0)
        printf("exact statistics equal those of integers\n");
    return failures != 0;
}
