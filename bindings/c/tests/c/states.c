/* Accumulators: against integers of 128 bits, with values that only an exact sum gives, and with what cannot be. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "integers.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum { MANY = 20000, PARTS = 7 };

static double x[MANY], y[MANY];
static float small_x[MANY];

static treefold_accumulator *make(treefold_type type, int32_t figure)
{
    treefold_accumulator *made = NULL;
    OK(treefold_accumulator_create(type, figure, &made));
    return made;
}

static void end(treefold_accumulator *accumulator)
{
    OK(treefold_accumulator_destroy(&accumulator));
    CHECK(accumulator == NULL);
    OK(treefold_accumulator_destroy(&accumulator));
}

static double value_of(const treefold_accumulator *accumulator)
{
    double value = -1;
    OK(treefold_accumulator_value(accumulator, &value));
    return value;
}

static uint64_t count_of(const treefold_accumulator *accumulator)
{
    uint64_t count = 0;
    OK(treefold_accumulator_count(accumulator, &count));
    return count;
}

static int are_equal(const treefold_accumulator *one, const treefold_accumulator *other)
{
    int equal = -1;
    OK(treefold_accumulator_equal(one, other, &equal));
    return equal;
}

static int in_order(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Numbers whose sum an integer holds, added in parts that are merged, with others that are taken back. */
static void sums(void)
{
    integer sum = 0;
    for (size_t i = 0; i < MANY; i++) {
        integer scale = (integer)1 << (i % 40), m = random_integer(i, 53);
        sum += m * scale;
        x[i] = (double)(m * scale);
        y[i] = ldexp((double)random_integer(i + MANY, 53), (int)(i % 1900) - 1000);
    }
    treefold_accumulator *whole = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM), *merged = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    for (size_t part = 0; part < PARTS; part++) {
        treefold_accumulator *own = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
        size_t begin = part * MANY / PARTS, n = (part + 1) * MANY / PARTS - begin;
        OK(treefold_accumulator_add(own, y + begin, n));
        OK(treefold_accumulator_add(own, x + begin, n));
        OK(treefold_accumulator_merge(merged, own));
        end(own);
    }
    CHECK(count_of(merged) == 2 * MANY);
    qsort(y, MANY, sizeof *y, in_order);
    OK(treefold_accumulator_remove(merged, y, MANY));
    OK(treefold_accumulator_add(whole, NULL, 0));
    for (size_t i = MANY; i-- > 0;)
        OK(treefold_accumulator_add(whole, &x[i], 1));
    CHECK(bits(value_of(whole)) == bits((double)sum));
    CHECK(are_equal(whole, merged) == 1);
    double mean = -1;
    OK(treefold_accumulator_mean(whole, &mean));
    CHECK(mean == (double)sum / MANY || fabs(mean - (double)sum / MANY) <= DBL_EPSILON * fabs(mean));
    EXPECT(TREEFOLD_NULL, "`other` is NULL", treefold_accumulator_merge(whole, NULL));
    OK(treefold_accumulator_merge(whole, whole));
    CHECK(bits(value_of(whole)) == bits((double)(2 * sum)) && count_of(whole) == 2 * MANY);
    CHECK(are_equal(whole, merged) == 0 && are_equal(whole, whole) == 1);
    OK(treefold_accumulator_unmerge(whole, merged));
    CHECK(are_equal(whole, merged) == 1);
    OK(treefold_accumulator_unmerge(whole, whole));
    CHECK(bits(value_of(whole)) == bits(0.0) && count_of(whole) == 0);
    end(whole);
    end(merged);
}

/* Variances of integers, as quotients of integers; the squares of standard deviations of floats. */
static void moments(void)
{
    treefold_accumulator *doubles = make(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS), *floats = make(TREEFOLD_F32, TREEFOLD_EXACT_MOMENTS);
    for (int n = 2; n <= 1000; n += 1 + n / 3) {
        integer sum = 0, squares = 0;
        for (int i = 0; i < n; i++) {
            int64_t item = random_integer((uint64_t)(n + i), 20);
            sum += item, squares += item * item;
            x[i] = (double)item, small_x[i] = (float)item;
        }
        OK(treefold_accumulator_add(doubles, x, (size_t)n));
        OK(treefold_accumulator_add(floats, small_x, (size_t)n));
        for (int ddof = 0; ddof < 2; ddof++) {
            integer numerator = n * squares - sum * sum, denominator = (integer)n * (n - ddof);
            double variance = -1;
            int exponent;
            OK(treefold_accumulator_variance(doubles, ddof, &variance));
            integer m = (integer)ldexp(frexp(variance, &exponent), 53);
            CHECK(exponent <= 53 && is_quotient(numerator, denominator, m, exponent - 53));
            float deviation = -1;
            OK(treefold_accumulator_standard_deviation(floats, ddof, &deviation));
            m = (integer)ldexp(frexp(deviation, &exponent), 24);
            integer scaled = 4 * numerator * ((integer)1 << (48 - 2 * exponent));
            CHECK(exponent <= 24 && (2 * m - 1) * (2 * m - 1) * denominator <= scaled);
            CHECK(scaled <= (2 * m + 1) * (2 * m + 1) * denominator);
        }
        CHECK(bits(value_of(doubles)) == bits((double)sum));
        OK(treefold_accumulator_remove(doubles, x, (size_t)n));
        OK(treefold_accumulator_remove(floats, small_x, (size_t)n));
    }
    double large[4] = {1e8 + 4, 1e8 + 7, 1e8 + 13, 1e8 + 16}, result = -1;
    OK(treefold_accumulator_add(doubles, large, 4));
    OK(treefold_accumulator_mean(doubles, &result));
    CHECK(result == 1e8 + 10);
    OK(treefold_accumulator_variance(doubles, 1, &result));
    CHECK(result == 30);
    OK(treefold_accumulator_variance(doubles, 4, &result));
    CHECK(result == INFINITY);
    end(doubles);
    end(floats);
}

/* Products, norms and complex numbers. */
static void figures(void)
{
    double left[3] = {1e200, 3, 1e200}, right[3] = {1e200, 4, -1e200}, result = -1;
    treefold_accumulator *dot = make(TREEFOLD_F64, TREEFOLD_EXACT_DOT);
    for (int i = 2; i >= 0; i--)
        OK(treefold_accumulator_add_dot(dot, left + i, 1, right + i, 1));
    OK(treefold_accumulator_add_dot(dot, right, 3, right, 3));
    OK(treefold_accumulator_remove_dot(dot, right, 3, right, 3));
    CHECK(value_of(dot) == 12 && count_of(dot) == 3);
    OK(treefold_accumulator_mean(dot, &result));
    CHECK(result == 4);
    EXPECT(TREEFOLD_LENGTH, "`x` has 3 elements, but `y` has 2", treefold_accumulator_add_dot(dot, left, 3, right, 2));
    EXPECT(TREEFOLD_UNSUPPORTED, "a dot product of TREEFOLD_F64 takes products", treefold_accumulator_add(dot, left, 3));
    EXPECT(TREEFOLD_ARGUMENT, "4 items cannot be removed of 3", treefold_accumulator_remove_dot(dot, x, 4, y, 4));
    CHECK(value_of(dot) == 12);

    treefold_accumulator *norm = make(TREEFOLD_F32, TREEFOLD_EXACT_NORM);
    float sides[3] = {0x1.8p101f, FLT_MAX, 0x1p102f}, root = -1;
    OK(treefold_accumulator_add(norm, sides, 3));
    OK(treefold_accumulator_remove(norm, sides + 1, 1));
    OK(treefold_accumulator_value(norm, &root));
    CHECK(root == 0x1.4p102f);
    EXPECT(TREEFOLD_UNSUPPORTED, "there is no mean of a norm of TREEFOLD_F32", treefold_accumulator_mean(norm, &root));
    EXPECT(TREEFOLD_UNSUPPORTED, "no variance of a norm", treefold_accumulator_variance(norm, 1, &root));
    EXPECT(TREEFOLD_UNSUPPORTED, "takes items", treefold_accumulator_add_dot(norm, sides, 3, sides, 3));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: it is a dot product of TREEFOLD_F64, not a norm of TREEFOLD_F32",
           treefold_accumulator_merge(norm, dot));

    double complex z[2] = {1 + 2 * I, 1e300 - 5 * I}, w[2] = {3 + 4 * I, 7 * I}, product;
    treefold_accumulator *plain = make(TREEFOLD_C64, TREEFOLD_EXACT_DOT), *conjugate = make(TREEFOLD_C64, TREEFOLD_EXACT_VDOT);
    OK(treefold_accumulator_add_dot(plain, z, 2, w, 2));
    OK(treefold_accumulator_add_dot(conjugate, z, 2, w, 2));
    OK(treefold_accumulator_remove_dot(plain, z + 1, 1, w + 1, 1));
    OK(treefold_accumulator_remove_dot(conjugate, z + 1, 1, w + 1, 1));
    OK(treefold_accumulator_value(plain, &product));
    CHECK(creal(product) == -5 && cimag(product) == 10);
    OK(treefold_accumulator_value(conjugate, &product));
    CHECK(creal(product) == 11 && cimag(product) == -2);
    EXPECT(TREEFOLD_ARGUMENT, "with conjugates", treefold_accumulator_merge(plain, conjugate));

    float complex small[3] = {1 + 1 * I, 2 + 3 * I, 1e30f}, mean;
    treefold_accumulator *spread = make(TREEFOLD_C32, TREEFOLD_EXACT_MOMENTS);
    OK(treefold_accumulator_add(spread, small, 3));
    OK(treefold_accumulator_remove(spread, small + 2, 1));
    OK(treefold_accumulator_mean(spread, &mean));
    CHECK(crealf(mean) == 1.5f && cimagf(mean) == 2);
    OK(treefold_accumulator_variance(spread, 0, &root));
    CHECK(root == 1.25f);
    end(dot);
    end(norm);
    end(plain);
    end(conjugate);
    end(spread);
}

static void special(void)
{
    treefold_accumulator *sum = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM), *other = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    double items[5] = {1e300, NAN, INFINITY, -INFINITY, -0.0}, two[2] = {NAN, NAN};
    OK(treefold_accumulator_add(sum, items, 5));
    CHECK(isnan(value_of(sum)));
    EXPECT(TREEFOLD_ARGUMENT, "`items`: 2 NaNs cannot be removed of 1", treefold_accumulator_remove(sum, two, 2));
    OK(treefold_accumulator_remove(sum, items + 1, 1));
    CHECK(isnan(value_of(sum)));
    OK(treefold_accumulator_remove(sum, items + 3, 1));
    CHECK(value_of(sum) == INFINITY);
    OK(treefold_accumulator_remove(sum, items, 1));
    OK(treefold_accumulator_remove(sum, items + 2, 1));
    CHECK(bits(value_of(sum)) == bits(-0.0) && count_of(sum) == 1);
    OK(treefold_accumulator_add(other, items + 1, 1));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: 1 NaNs cannot be removed of 0", treefold_accumulator_unmerge(sum, other));
    EXPECT(TREEFOLD_ARGUMENT, "2 items cannot be removed of 1", treefold_accumulator_remove(sum, x, 2));
    CHECK(bits(value_of(sum)) == bits(-0.0) && count_of(sum) == 1);
    for (int i = 0; i < 62; i++)
        OK(treefold_accumulator_merge(other, other));
    EXPECT(TREEFOLD_ARGUMENT, "`other`: a sum has room for 2^63 - 1 items", treefold_accumulator_merge(other, other));
    CHECK(isnan(value_of(other)) && count_of(other) == (uint64_t)1 << 62);
    for (size_t n = 0; n < 4; n++)
        EXPECT(TREEFOLD_LENGTH, "`bytes`: the bytes end too early", treefold_accumulator_of_bytes(other, "tfx\1", n));
    end(sum);
    end(other);
}

/* Bytes of equal sums are equal; those that are cut or changed leave an accumulator as it was. */
static void bytes(void)
{
    unsigned char first[400], second[400], room[400];
    size_t length = 0, again = 0;
    treefold_accumulator *sum = make(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS), *other = make(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS);
    double items[6] = {1e100, -3, NAN, 1e-100, -0.0, 7};
    OK(treefold_accumulator_add(sum, items, 6));
    for (int i = 6; i-- > 0;)
        OK(treefold_accumulator_add(other, items + i, 1));
    OK(treefold_accumulator_to_bytes(sum, NULL, 0, &length));
    CHECK(length > 100 && length <= sizeof first);
    OK(treefold_accumulator_to_bytes(sum, first, length, &again));
    OK(treefold_accumulator_to_bytes(other, second, sizeof second, &again));
    CHECK(length == again && memcmp(first, second, length) == 0);
    EXPECT(TREEFOLD_LENGTH, "`bytes` has room for 1, but ", treefold_accumulator_to_bytes(sum, room, 1, &again));
    EXPECT(TREEFOLD_NULL, "`bytes`", treefold_accumulator_to_bytes(sum, NULL, 1, &again));

    OK(treefold_accumulator_add(other, items, 1));
    OK(treefold_accumulator_of_bytes(other, first, length));
    CHECK(are_equal(sum, other) == 1);
    int refused = 0;
    for (size_t n = 0; n < length; n++) {
        treefold_status status = treefold_accumulator_of_bytes(other, first, n);
        CHECK(status == TREEFOLD_LENGTH && strstr(treefold_last_error(), "`bytes`: ") != NULL);
        memcpy(room, first, length);
        room[n] ^= 0x80;
        treefold_accumulator *changed = make(TREEFOLD_F64, TREEFOLD_EXACT_MOMENTS);
        /* Numbers may have been others; the header and the counts may not. */
        status = treefold_accumulator_of_bytes(changed, room, length);
        CHECK(status == TREEFOLD_OK || status == TREEFOLD_ARGUMENT || status == TREEFOLD_LENGTH);
        CHECK(status == TREEFOLD_OK ? are_equal(changed, sum) == 0 : count_of(changed) == 0);
        refused += status != TREEFOLD_OK;
        end(changed);
    }
    CHECK(refused > 50);
    memcpy(room, first, length);
    room[length] = 0;
    EXPECT(TREEFOLD_LENGTH, "1 bytes follow", treefold_accumulator_of_bytes(other, room, length + 1));
    CHECK(are_equal(sum, other) == 1);
    treefold_accumulator *floats = make(TREEFOLD_F32, TREEFOLD_EXACT_MOMENTS), *plain = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    EXPECT(TREEFOLD_ARGUMENT, "the bytes are moments of f64, not moments of f32", treefold_accumulator_of_bytes(floats, first, length));
    EXPECT(TREEFOLD_ARGUMENT, "not a sum of f64", treefold_accumulator_of_bytes(plain, first, length));
    room[3] = 77;
    EXPECT(TREEFOLD_ARGUMENT, "version 77", treefold_accumulator_of_bytes(other, room, length));
    EXPECT(TREEFOLD_NULL, "`bytes`", treefold_accumulator_of_bytes(other, NULL, 3));
    end(sum);
    end(other);
    end(floats);
    end(plain);
}

static void errors(void)
{
    treefold_accumulator *sum = NULL, *old;
    treefold_keyed *keyed = NULL;
    double result = -1;
    EXPECT(TREEFOLD_ARGUMENT, "there is no type 99", treefold_accumulator_create(99, TREEFOLD_EXACT_SUM, &sum));
    EXPECT(TREEFOLD_ARGUMENT, "there is no exact figure 6", treefold_accumulator_create(TREEFOLD_F64, 6, &sum));
    EXPECT(TREEFOLD_UNSUPPORTED, "integers", treefold_accumulator_create(TREEFOLD_I32, TREEFOLD_EXACT_SUM, &sum));
    EXPECT(TREEFOLD_UNSUPPORTED, "moments", treefold_accumulator_create(TREEFOLD_I32, TREEFOLD_EXACT_MOMENTS, &sum));
    EXPECT(TREEFOLD_UNSUPPORTED, "twice as many", treefold_accumulator_create(TREEFOLD_C32, TREEFOLD_EXACT_NORM, &sum));
    CHECK(sum == NULL);
    EXPECT(TREEFOLD_NULL, "`accumulator` is NULL", treefold_accumulator_add(NULL, x, 1));
    EXPECT(TREEFOLD_ARGUMENT, "no handle of this kind", treefold_accumulator_value((const treefold_accumulator *)x, &result));
    OK(treefold_accumulator_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, &sum));
    EXPECT(TREEFOLD_NULL, "`items`", treefold_accumulator_add(sum, NULL, 1));
    EXPECT(TREEFOLD_ARGUMENT, "multiple of 8", treefold_accumulator_add(sum, (const char *)x + 4, 1));
    EXPECT(TREEFOLD_LENGTH, "no memory is so large", treefold_accumulator_add(sum, x, SIZE_MAX / 4));
    EXPECT(TREEFOLD_NULL, "NULL", treefold_accumulator_merge(sum, NULL));
    OK(treefold_keyed_create(TREEFOLD_F64, TREEFOLD_EXACT_SUM, 1, &keyed));
    EXPECT(TREEFOLD_ARGUMENT, "no handle of this kind", treefold_accumulator_merge(sum, (const treefold_accumulator *)keyed));
    OK(treefold_keyed_destroy(&keyed));
    CHECK(bits(value_of(sum)) == bits(0.0));
    old = sum;
    OK(treefold_accumulator_destroy(&sum));
    EXPECT(TREEFOLD_ARGUMENT, "it was destroyed", treefold_accumulator_add(old, x, 1));
    EXPECT(TREEFOLD_ARGUMENT, "it was destroyed", treefold_accumulator_destroy(&old));
}

/* Threads add to accumulators of their own, which one of them merges, and all at once to one that is shared: where another thread is
   faster they hear so, and try again. */
static treefold_accumulator *shared, *own[4];

static void *add_all(void *number)
{
    size_t thread = *(const size_t *)number;
    for (size_t i = thread; i < MANY; i += 4) {
        OK(treefold_accumulator_add(own[thread], &x[i], 1));
        treefold_status status;
        do {
            status = treefold_accumulator_add(shared, &x[i], 1);
            CHECK(status == TREEFOLD_OK || (status == TREEFOLD_ARGUMENT && strstr(treefold_last_error(), "another thread") != NULL));
        } while (status == TREEFOLD_ARGUMENT);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    size_t numbers[4];
    for (size_t i = 0; i < MANY; i++)
        x[i] = number(i);
    shared = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    for (size_t i = 0; i < 4; i++) {
        numbers[i] = i;
        own[i] = make(TREEFOLD_F64, TREEFOLD_EXACT_SUM);
    }
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&all[i], NULL, add_all, &numbers[i]) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(all[i], NULL) == 0);
    for (size_t i = 1; i < 4; i++) {
        OK(treefold_accumulator_merge(own[0], own[i]));
        end(own[i]);
    }
    double expected = -1;
    OK(treefold_exact_sum_f64(x, MANY, &expected));
    CHECK(bits(value_of(shared)) == bits(expected));
    CHECK(are_equal(shared, own[0]) == 1);
    end(own[0]);
    end(shared);
}

int main(void)
{
    sums();
    moments();
    figures();
    special();
    bytes();
    errors();
    threads();
    if (failures == 0)
        printf("accumulators hold what integers do\n");
    return failures != 0;
}
