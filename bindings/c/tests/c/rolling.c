/* Compares every statistic, placement and type of index of moving windows with 128-bit integers. Also tests published cases and errors. */
#include "statistics.h"

#include <float.h>

enum { ITEMS = 120 };

static const treefold_type index_types[] = {TREEFOLD_F32, TREEFOLD_F64, TREEFOLD_I8,  TREEFOLD_I16, TREEFOLD_I32,
                                            TREEFOLD_I64, TREEFOLD_U8,  TREEFOLD_U16, TREEFOLD_U32, TREEFOLD_U64};

/* The items, whether each is NaN, and their indices. */
static int64_t left[ITEMS], right[ITEMS];
static int is_missing[ITEMS];
static integer indices[ITEMS];

/* Whether item j is in the window of item i. `wide` is the width of a window by an index. */
static int is_in(const treefold_window *window, integer wide, int64_t i, int64_t j)
{
    if (window->placement == TREEFOLD_EXPANDING)
        return j <= i;
    if (window->index != NULL) {
        const integer away = indices[j] - indices[i];
        return window->placement == TREEFOLD_TRAILING  ? -wide < away && j <= i
               : window->placement == TREEFOLD_FORWARD ? i <= j && away < wide
                                                       : -wide < 2 * away && 2 * away <= wide;
    }
    const integer items = (integer)window->items;
    const integer after = window->placement == TREEFOLD_FORWARD ? items - 1 : window->placement == TREEFOLD_CENTRED ? (items - 1) / 2 : 0;
    return i + after - items < j && j <= i + after;
}

/* Checks every statistic of a window, for both types of items. */
static void check(const treefold_window *window, integer wide)
{
    static struct sums s[ITEMS];
    static size_t missing[ITEMS];
    memset(s, 0, sizeof s), memset(missing, 0, sizeof missing);
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            if (is_in(window, wide, i, j)) {
                if (is_missing[j])
                    missing[i]++;
                else
                    include(&s[i], left[j], right[j]);
            }
    for (treefold_type type = TREEFOLD_F32; type <= TREEFOLD_F64; type++) {
        _Alignas(8) unsigned char x[ITEMS * 8], y[ITEMS * 8], results[ITEMS * 8];
        for (int i = 0; i < ITEMS; i++) {
            const float narrow = NAN;
            const double nan = NAN;
            put(type, x, (size_t)i, left[i]), put(type, y, (size_t)i, right[i]);
            if (is_missing[i])
                memcpy(x + (size_t)i * bytes_of(type), type == TREEFOLD_F32 ? (const void *)&narrow : &nan, bytes_of(type));
        }
        for (const struct statistic *of = statistics; of < statistics + STATISTICS; of++)
            for (int ddof = 0; ddof <= of->has_ddof; ddof++) {
                const void *other = of->arrays == 2 ? y : NULL;
                OK(treefold_rolling(type, of->code, ddof, window, x, ITEMS, other, other == NULL ? 0 : ITEMS, results, ITEMS));
                for (size_t i = 0; i < ITEMS; i++) {
                    const size_t count = (size_t)s[i].n + (window->skip_nan ? 0 : missing[i]);
                    const double value = real(type, results, i);
                    const int is_count = of->code == TREEFOLD_EXACT_COUNT;
                    if (count < window->least_items || (!is_count && missing[i] > 0 && !window->skip_nan)
                            ? !isnan(value)
                            : is_count ? value != (double)count : !is_right(&s[i], of->code, ddof, type, results, i)) {
                        fprintf(stderr, "statistic %d, ddof %d, type %d, placement %d, items %zu, index %d, item %zu: %g\n", (int)of->code,
                                ddof, (int)type, (int)window->placement, window->items, (int)window->index_type, i, value);
                        failures++;
                    }
                }
            }
    }
}

static void by_number_of_items(void)
{
    const size_t sizes[] = {1, 2, 3, 4, 10, 33, ITEMS, SIZE_MAX};
    for (int32_t placement = TREEFOLD_TRAILING; placement <= TREEFOLD_EXPANDING; placement++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (placement != TREEFOLD_EXPANDING || i < 2)
                for (int32_t skip_nan = 0; skip_nan < 2; skip_nan++)
                    check(&(treefold_window){.items = placement == TREEFOLD_EXPANDING ? 0 : sizes[i],
                                             .placement = placement,
                                             .least_items = i % 3 * (i + 1) / 2,
                                             .skip_nan = skip_nan},
                          0);
}

/* Tests every type of index. Indices begin at the type's least number and jump once, so that differences may exceed the type's range. */
static void by_index(void)
{
    for (size_t t = 0; t < sizeof index_types / sizeof *index_types; t++) {
        const treefold_type type = index_types[t];
        const int width = 8 * (int)bytes_of(type);
        const integer most = type < TREEFOLD_I8 ? 5000 : ((integer)1 << (width - (type < TREEFOLD_U8))) - 1;
        const integer least = type < TREEFOLD_I8 ? -100 : type < TREEFOLD_U8 ? -most - 1 : 0;
        const integer wide[3] = {1, 7, most};
        _Alignas(8) unsigned char index[ITEMS * 8], widths[3 * 8];
        for (int i = 0; i < ITEMS; i++) {
            indices[i] = i == 0 ? least : i == 70 ? most - 60 : indices[i - 1] + (i % 3 == 0 ? 0 : i % 2);
            put(type, index, (size_t)i, indices[i]);
        }
        for (size_t w = 0; w < 3; w++) {
            put(type, widths, w, wide[w]);
            for (int32_t placement = TREEFOLD_TRAILING; placement <= TREEFOLD_CENTRED; placement++)
                check(&(treefold_window){.index = index,
                                         .width = widths + w * bytes_of(type),
                                         .index_type = type,
                                         .placement = placement,
                                         .least_items = w,
                                         .skip_nan = (int32_t)(w % 2)},
                      wide[w]);
        }
    }
}

/* Tests cases that users of other libraries have reported, with the correct values. */
static void published(void)
{
    enum { MOST = 31 };
    static const double one[10] = {.01, -.02, .015, .005, -.01, .02, .01, -.03, 0, .01};
    const double two[8] = {1, 2, 1e12, 1e7, 6, 5, 8, 7}, three[8] = {2, 1, 3, -1e12, 4, 7, 6, 9};
    const double four[10] = {1e9, 1e9, 1e9, 1e9, 1e9, 1, 0, 1, 0, 1};
    double after_outlier[MOST] = {5000}, results[MOST];
    for (size_t i = 1; i < MOST; i++)
        after_outlier[i] = one[(i - 1) % 10];
    const struct {
        const double *x, *y;
        size_t n, items;
        treefold_statistic statistic;
        double ddof, last;
    } rows[] = {
        {after_outlier, NULL, MOST, 10, TREEFOLD_EXACT_KURTOSIS, 1, -0.07326007326007344},
        {after_outlier, NULL, MOST, 10, TREEFOLD_EXACT_SKEWNESS, 0, -0.7970360876769786},
        {two, three, 8, 3, TREEFOLD_EXACT_COVARIANCE, 1, -1.0 / 3},
        {four, NULL, 10, 3, TREEFOLD_EXACT_STD, 1, 0.5773502691896257},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        const size_t n = rows[row].n;
        const treefold_window window = {.items = rows[row].items};
        OK(treefold_rolling(TREEFOLD_F64, rows[row].statistic, rows[row].ddof, &window, rows[row].x, n, rows[row].y,
                            rows[row].y == NULL ? 0 : n, results, n));
        CHECK(results[n - 1] == rows[row].last);
    }
    /* One item is infinite, and a double would round a difference of the indices. */
    const double times[3] = {0.44, 0.9, 0.96}, items[3] = {1, INFINITY, 3}, width = 0.52, short_width = 0.05;
    treefold_window window = {.index = times, .width = &width, .index_type = TREEFOLD_F64};
    OK(treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_COUNT, 0, &window, items, 3, NULL, 0, results, 3));
    CHECK(results[2] == 3);
    window.width = &short_width;
    OK(treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_MEAN, 0, &window, items, 3, NULL, 0, results, 3));
    CHECK(results[0] == 1 && results[1] == INFINITY && results[2] == 3);
    const double zeros[2] = {-0.0, -0.0};
    OK(treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, &(treefold_window){.items = 2}, zeros, 2, NULL, 0, results, 2));
    CHECK(bits(results[0]) == bits(0.0) && bits(results[1]) == bits(0.0));
}

static void errors(void)
{
    double items[3] = {1, 2, 3}, index[3] = {0, 1, 2}, result[3] = {-1, -1, -1}, width = 1.5, none = 0;
    const int32_t falls[3] = {0, 2, 1}, two = 2, below = -4;
    const double parts[6] = {0, 0, 1, 0, 2, 0};
    const treefold_window three = {.items = 3}, by_index = {.index = index, .width = &width, .index_type = TREEFOLD_F64};
    const treefold_window no_index = {.width = &width, .index_type = TREEFOLD_F64};
#define ROLLING(window, ...) treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 0, window, __VA_ARGS__)
#define WITH(...) ROLLING(&((treefold_window){__VA_ARGS__}), items, 3, NULL, 0, result, 3)
#define BY(type, of, wide, ...) WITH(.index = of, .width = wide, .index_type = type, __VA_ARGS__)
    OK(ROLLING(&three, NULL, 0, NULL, 0, NULL, 0));
    EXPECT(TREEFOLD_NULL, "`window`", ROLLING(NULL, items, 3, NULL, 0, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`window`", WITH(.items = 0));
    EXPECT(TREEFOLD_ARGUMENT, "", WITH(.items = 3, .placement = 4));
    EXPECT(TREEFOLD_ARGUMENT, "", BY(TREEFOLD_F64, index, &width, .items = 3));
    EXPECT(TREEFOLD_ARGUMENT, "`window`", ROLLING(&no_index, NULL, 0, NULL, 0, NULL, 0));
    OK(ROLLING(&by_index, NULL, 0, NULL, 0, NULL, 0));
    EXPECT(TREEFOLD_LENGTH, "`result`", ROLLING(&three, items, 3, NULL, 0, result, 2));
    EXPECT(TREEFOLD_NULL, "`x`", ROLLING(&three, NULL, 3, NULL, 0, result, 3));
    CHECK(ROLLING(&three, items, 3, items, 3, result, 3) != TREEFOLD_OK);
    EXPECT(TREEFOLD_LENGTH, "`y`", treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_DOT, 0, &three, items, 3, items, 2, result, 3));
    EXPECT(TREEFOLD_UNSUPPORTED, "", treefold_rolling(TREEFOLD_C64, TREEFOLD_EXACT_SUM, 0, &three, items, 1, NULL, 0, result, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`statistic`", treefold_rolling(TREEFOLD_F64, 77, 0, &three, items, 3, NULL, 0, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`ddof`", treefold_rolling(TREEFOLD_F64, TREEFOLD_EXACT_SKEWNESS, 2, &three, items, 3, NULL, 0, result, 3));
    EXPECT(TREEFOLD_ARGUMENT, "2", BY(TREEFOLD_I32, falls, &two));
    EXPECT(TREEFOLD_ARGUMENT, "width", BY(TREEFOLD_I32, falls, &below));
    EXPECT(TREEFOLD_ARGUMENT, "width", BY(TREEFOLD_F64, index, &none));
    EXPECT(TREEFOLD_NULL, "width", BY(TREEFOLD_F64, index, NULL));
    EXPECT(TREEFOLD_ARGUMENT, "index_type", BY(TREEFOLD_C64, parts, parts));
    EXPECT(TREEFOLD_ARGUMENT, "overlap", BY(TREEFOLD_F64, index, &result[1]));
    index[1] = NAN;
    EXPECT(TREEFOLD_ARGUMENT, "1", BY(TREEFOLD_F64, index, &width));
    CHECK(items[0] == 1 && result[0] == -1 && result[1] == -1 && result[2] == -1);
}

int main(void)
{
    for (size_t i = 0; i < ITEMS; i++) {
        left[i] = i % 20 < 3 ? 5 : left_of(i), right[i] = right_of(i);
        is_missing[i] = i % 29 == 17;
    }
    by_number_of_items();
    by_index();
    published();
    errors();
    if (failures == 0)
        printf("windows have the statistics of their items\n");
    return failures != 0;
}
