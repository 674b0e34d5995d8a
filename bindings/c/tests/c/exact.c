/* Exact sums: against integers of 128 bits, and with values that only an exact sum gives. */
#include "check.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

enum { MANY = 400000 };

typedef __int128 integer;

static double x[MANY], y[MANY], reversed[MANY];
static float small_x[MANY], small_y[MANY];

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* An integer of either sign, and of so many bits at most. */
static int64_t random_integer(uint64_t seed, int bits)
{
    uint64_t z = (seed + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    int64_t magnitude = (int64_t)(z >> (64 - bits));
    return z & 1 ? magnitude : -magnitude;
}

/* Whether root 2^exponent is the square root of this integer, rounded to nearest. */
static int is_root(integer square, integer root, int exponent)
{
    integer unit = (integer)1 << (exponent > 0 ? 2 * exponent : 0);
    integer scaled = 4 * square * ((integer)1 << (exponent < 0 ? -2 * exponent : 0));
    return (2 * root - 1) * (2 * root - 1) * unit <= scaled && scaled <= (2 * root + 1) * (2 * root + 1) * unit;
}

/* Numbers whose sum an integer holds, far apart in magnitude: conversions of integers round once, to nearest. */
static void sums(void)
{
    size_t lengths[] = {1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 4097, 100001, MANY};
    int others = 0;
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t n = lengths[l];
        integer sum = 0, small_sum = 0;
        for (size_t i = 0; i < n; i++) {
            integer scale = (integer)1 << (i % 40), m = random_integer(i, 53), small = random_integer(i + n, 24);
            sum += m * scale;
            small_sum += small * scale;
            x[i] = (double)(m * scale);
            reversed[n - 1 - i] = x[i];
            small_x[i] = (float)(small * scale);
        }
        double result = -1, parallel = -1;
        OK(treefold_exact_sum_f64(x, n, &result));
        CHECK(bits(result) == bits((double)sum));
        OK(treefold_par_exact_sum_f64(x, n, &parallel));
        CHECK(bits(parallel) == bits(result));
        OK(treefold_exact_sum_f64(reversed, n, &result));
        CHECK(bits(parallel) == bits(result));
        OK(treefold_sum_f64(x, n, &result));
        others += bits(parallel) != bits(result);
        float small_result = -1, small_parallel = -1;
        OK(treefold_exact_sum_f32(small_x, n, &small_result));
        CHECK(float_bits(small_result) == float_bits((float)small_sum));
        OK(treefold_par_exact_sum_f32(small_x, n, &small_parallel));
        CHECK(float_bits(small_parallel) == float_bits(small_result));
    }
    /* Sums with rounding errors would fail. */
    CHECK(others > 0);
}

/* Products of 106 bits, and squares whose sum an integer holds. */
static void products_of_arrays(void)
{
    size_t lengths[] = {1, 2, 3, 8, 9, 1000, 4097, MANY};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t n = lengths[l];
        integer dot = 0, small_dot = 0;
        for (size_t i = 0; i < n; i++) {
            int64_t a = random_integer(2 * i, 53), b = random_integer(2 * i + 1, 53);
            int64_t c = random_integer(2 * i + n, 24), d = random_integer(3 * i + n, 24);
            dot += (integer)a * b;
            small_dot += (integer)c * d;
            x[i] = (double)a, y[i] = (double)b;
            small_x[i] = (float)c, small_y[i] = (float)d;
        }
        double result = -1, parallel = -1;
        OK(treefold_exact_dot_f64(x, n, y, n, &result));
        CHECK(bits(result) == bits((double)dot));
        OK(treefold_par_exact_dot_f64(x, n, y, n, &parallel));
        CHECK(bits(parallel) == bits(result));
        float small_result = -1, small_parallel = -1;
        OK(treefold_exact_dot_f32(small_x, n, small_y, n, &small_result));
        CHECK(float_bits(small_result) == float_bits((float)small_dot));
        OK(treefold_par_exact_dot_f32(small_x, n, small_y, n, &small_parallel));
        CHECK(float_bits(small_parallel) == float_bits(small_result));
    }
}

static void norms(void)
{
    size_t lengths[] = {1, 2, 3, 8, 9, 1000, 4097, MANY};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        size_t n = lengths[l];
        integer squares = 0;
        for (size_t i = 0; i < n; i++) {
            int64_t m = random_integer(i + n, 20) + (i == 0 ? 1 << 20 : 0);
            squares += (integer)m * m;
            x[i] = (double)m;
            small_x[i] = (float)m;
        }
        double result = -1, parallel = -1;
        int exponent;
        OK(treefold_exact_norm_f64(x, n, &result));
        integer root = (integer)ldexp(frexp(result, &exponent), 53);
        CHECK(is_root(squares, root, exponent - 53));
        OK(treefold_par_exact_norm_f64(x, n, &parallel));
        CHECK(bits(parallel) == bits(result));
        float small_result = -1, small_parallel = -1;
        OK(treefold_exact_norm_f32(small_x, n, &small_result));
        root = (integer)ldexp(frexp(small_result, &exponent), 24);
        CHECK(is_root(squares, root, exponent - 24));
        OK(treefold_par_exact_norm_f32(small_x, n, &small_parallel));
        CHECK(float_bits(small_parallel) == float_bits(small_result));
    }
}

typedef treefold_status (*sum_f64)(const double *, size_t, double *);
typedef treefold_status (*dot_f64)(const double *, size_t, const double *, size_t, double *);
typedef treefold_status (*sum_f32)(const float *, size_t, float *);
typedef treefold_status (*dot_f32)(const float *, size_t, const float *, size_t, float *);

static double of_f64(sum_f64 reduce, double a, double b, double c)
{
    double items[3] = {a, b, c}, result = -1;
    OK(reduce(items, 3, &result));
    return result;
}

static float of_f32(sum_f32 reduce, float a, float b, float c)
{
    float items[3] = {a, b, c}, result = -1;
    OK(reduce(items, 3, &result));
    return result;
}

static void special_f64(sum_f64 sum, dot_f64 dot, sum_f64 norm)
{
    const uint64_t canonical = UINT64_C(0x7FF8000000000000);
    double result = -1, other_nan;
    uint64_t other_bits = UINT64_C(0xFFF0000000001234);
    memcpy(&other_nan, &other_bits, sizeof other_nan);
    CHECK(of_f64(sum, 1e300, 1, -1e300) == 1);
    CHECK(of_f64(sum, DBL_MAX, DBL_MAX, -DBL_MAX) == DBL_MAX);
    CHECK(of_f64(sum, DBL_MAX, DBL_MAX, 0) == INFINITY);
    CHECK(of_f64(sum, -INFINITY, DBL_MAX, 1) == -INFINITY);
    CHECK(bits(of_f64(sum, INFINITY, 1, -INFINITY)) == canonical);
    CHECK(bits(of_f64(sum, 1, other_nan, 2)) == canonical);
    CHECK(bits(of_f64(sum, -0.0, -0.0, -0.0)) == bits(-0.0));
    CHECK(bits(of_f64(sum, -0.0, 0.0, -0.0)) == bits(0.0));
    CHECK(bits(of_f64(sum, 1.5, 0.0, -1.5)) == bits(0.0));
    CHECK(bits(of_f64(sum, 5e-324, 5e-324, -0.0)) == 2);
    OK(sum(NULL, 0, &result));
    CHECK(bits(result) == bits(0.0));

    double left[3] = {1e200, 3, 1e200}, right[3] = {1e200, 4, -1e200};
    OK(dot(left, 3, right, 3, &result));
    CHECK(result == 12);
    left[1] = other_nan;
    OK(dot(left, 3, right, 3, &result));
    CHECK(bits(result) == canonical);
    OK(dot(NULL, 0, NULL, 0, &result));
    CHECK(bits(result) == bits(0.0));

    CHECK(of_f64(norm, 0x1.8p701, 0x1p702, 0) == 0x1.4p702);
    /* In the middle between two numbers: the even one, which is not 5e200. */
    CHECK(of_f64(norm, 3e200, 4e200, 0) == 4.9999999999999995e200);
    CHECK(of_f64(norm, DBL_MAX, 0, 0) == DBL_MAX);
    CHECK(of_f64(norm, 0x1.8p-1060, -0x1p-1059, 0) == 0x1.4p-1059);
    CHECK(of_f64(norm, DBL_MAX, DBL_MAX, 0) == INFINITY);
    CHECK(bits(of_f64(norm, 1, -INFINITY, other_nan)) == canonical);
    OK(norm(NULL, 0, &result));
    CHECK(bits(result) == bits(0.0));
}

static void special_f32(sum_f32 sum, dot_f32 dot, sum_f32 norm)
{
    const uint32_t canonical = 0x7FC00000;
    float result = -1;
    CHECK(of_f32(sum, 1e30f, 1, -1e30f) == 1);
    CHECK(of_f32(sum, FLT_MAX, FLT_MAX, -FLT_MAX) == FLT_MAX);
    CHECK(float_bits(of_f32(sum, 1, NAN, 2)) == canonical);
    CHECK(float_bits(of_f32(sum, -0.0f, -0.0f, -0.0f)) == float_bits(-0.0f));
    OK(sum(NULL, 0, &result));
    CHECK(float_bits(result) == float_bits(0.0f));

    float left[3] = {1e30f, 3, 1e30f}, right[3] = {1e30f, 4, -1e30f};
    OK(dot(left, 3, right, 3, &result));
    CHECK(result == 12);
    CHECK(of_f32(norm, 0x1.8p101f, 0x1p102f, 0) == 0x1.4p102f);
    CHECK(of_f32(norm, FLT_MAX, 0, 0) == FLT_MAX);
    OK(norm(NULL, 0, &result));
    CHECK(float_bits(result) == float_bits(0.0f));
}

static void special(void)
{
    special_f64(treefold_exact_sum_f64, treefold_exact_dot_f64, treefold_exact_norm_f64);
    special_f64(treefold_par_exact_sum_f64, treefold_par_exact_dot_f64, treefold_par_exact_norm_f64);
    special_f32(treefold_exact_sum_f32, treefold_exact_dot_f32, treefold_exact_norm_f32);
    special_f32(treefold_par_exact_sum_f32, treefold_par_exact_dot_f32, treefold_par_exact_norm_f32);
}

/* Columns of rows of every width have the sums that they have alone. */
static void rows(void)
{
    static double column[1000], result[64], sum;
    static float small_column[1000], small_result[64], small_sum;
    for (size_t i = 0; i < 64 * 1000; i++) {
        x[i] = ldexp((double)random_integer(i, 53), (int)(i % 1300) - 700);
        small_x[i] = ldexpf((float)random_integer(i, 24), (int)(i % 130) - 70);
    }
    for (size_t width = 1; width <= 64; width++) {
        OK(treefold_exact_sum_rows_f64(x, 1000 * width, width, result, width));
        OK(treefold_exact_sum_rows_f32(small_x, 1000 * width, width, small_result, width));
        for (size_t c = 0; c < width; c++) {
            for (size_t row = 0; row < 1000; row++) {
                column[row] = x[row * width + c];
                small_column[row] = small_x[row * width + c];
            }
            OK(treefold_exact_sum_f64(column, 1000, &sum));
            CHECK(bits(result[c]) == bits(sum));
            OK(treefold_exact_sum_f32(small_column, 1000, &small_sum));
            CHECK(float_bits(small_result[c]) == float_bits(small_sum));
        }
    }
    double items[6] = {1e300, 1, 5, 2, -1e300, -0.0};
    OK(treefold_exact_sum_rows_f64(items, 6, 2, result, 2));
    CHECK(result[0] == 5 && result[1] == 3);
    OK(treefold_exact_sum_rows_f64(NULL, 0, 2, result, 2));
    CHECK(bits(result[0]) == bits(0.0) && bits(result[1]) == bits(0.0));
    EXPECT(TREEFOLD_LENGTH, "rows of 0", treefold_exact_sum_rows_f64(items, 6, 0, result, 0));
    EXPECT(TREEFOLD_LENGTH, "rows of 4", treefold_exact_sum_rows_f64(items, 6, 4, result, 4));
    EXPECT(TREEFOLD_LENGTH, "has 1", treefold_exact_sum_rows_f64(items, 6, 2, result, 1));
    EXPECT(TREEFOLD_LENGTH, "rows of 4", treefold_exact_sum_rows_f32(small_x, 6, 4, small_result, 4));
    EXPECT(TREEFOLD_ARGUMENT, "overlap", treefold_exact_sum_rows_f64(items, 6, 2, items + 4, 2));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_exact_sum_rows_f64(NULL, 6, 2, result, 2));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_exact_sum_rows_f32(small_x, 6, 2, NULL, 2));
}

static void errors(void)
{
    double result;
    float small_result;
    EXPECT(TREEFOLD_NULL, "`x`", treefold_exact_sum_f64(NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_par_exact_sum_f32(NULL, 1, &small_result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_exact_sum_f32(small_x, 1, NULL));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_exact_norm_f64(NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_par_exact_norm_f32(small_x, 1, NULL));
    EXPECT(TREEFOLD_NULL, "`x`", treefold_exact_dot_f64(NULL, 1, y, 1, &result));
    EXPECT(TREEFOLD_NULL, "`y`", treefold_par_exact_dot_f64(x, 1, NULL, 1, &result));
    EXPECT(TREEFOLD_NULL, "`result`", treefold_exact_dot_f64(x, 1, y, 1, NULL));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_exact_dot_f64(x, 1000, y, 999, &result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_par_exact_dot_f64(x, 1000, y, 999, &result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_exact_dot_f32(small_x, 999, small_y, 1000, &small_result));
    EXPECT(TREEFOLD_LENGTH, "999", treefold_par_exact_dot_f32(small_x, 999, small_y, 1000, &small_result));
    EXPECT(TREEFOLD_LENGTH, "no memory is so large", treefold_exact_sum_f64(x, SIZE_MAX, &result));
    const double *odd = (const double *)(const void *)((const char *)x + 4);
    EXPECT(TREEFOLD_ARGUMENT, "not a multiple of 8", treefold_exact_sum_f64(odd, 2, &result));
    EXPECT(TREEFOLD_ARGUMENT, "not a multiple of 8", treefold_par_exact_norm_f64(odd, 2, &result));
    double items[2] = {1, 2};
    EXPECT(TREEFOLD_ARGUMENT, "`x` and `result` overlap", treefold_exact_sum_f64(items, 2, items));
    CHECK(items[0] == 1);
}

/* Sums are right in every floating-point environment. */
static void environments(void)
{
    const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    double sum, dot, norm, row[2], found[5];
    for (size_t i = 0; i < 10000; i++) {
        x[i] = number(i);
        y[i] = number(i + MANY);
    }
    OK(treefold_exact_sum_f64(x, 10000, &sum));
    OK(treefold_exact_dot_f64(x, 10000, y, 10000, &dot));
    OK(treefold_exact_norm_f64(x, 10000, &norm));
    OK(treefold_exact_sum_rows_f64(x, 10000, 2, row, 2));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        CHECK(fesetround(modes[i]) == 0);
        treefold_status status = treefold_exact_sum_f64(x, 10000, &found[0]);
        status |= treefold_exact_dot_f64(x, 10000, y, 10000, &found[1]);
        status |= treefold_par_exact_norm_f64(x, 10000, &found[2]);
        status |= treefold_exact_sum_rows_f64(x, 10000, 2, &found[3], 2);
        fesetround(FE_TONEAREST);
        CHECK(status == TREEFOLD_OK);
        CHECK(bits(found[0]) == bits(sum) && bits(found[1]) == bits(dot) && bits(found[2]) == bits(norm));
        CHECK(bits(found[3]) == bits(row[0]) && bits(found[4]) == bits(row[1]));
    }
}

#if defined(__x86_64__)
#include <xmmintrin.h>

/* Nor do they lose subnormal numbers where the processor takes these for zero. */
static void flushed(void)
{
    const double tiny[2] = {3e-310, 3e-310};
    double result = -1, norm = -1;
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040);
    treefold_status status = treefold_exact_sum_f64(tiny, 2, &result);
    status |= treefold_exact_norm_f64(tiny, 1, &norm);
    _mm_setcsr(before);
    CHECK(status == TREEFOLD_OK && result == 6e-310 && norm == 3e-310);
}
#else
static void flushed(void) {}
#endif

int main(void)
{
    sums();
    products_of_arrays();
    norms();
    special();
    rows();
    errors();
    environments();
    flushed();
    return failures != 0;
}
