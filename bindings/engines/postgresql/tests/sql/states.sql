-- States have the same bytes as in treefold's other languages; docs/tree-or-exact.md specifies the format.
-- These states hold two numbers, which are neither NaN, infinite nor -0, and their sum: 3 = 3 * 2^50 * 2^-50.
SELECT exact_sum_state(x) FROM unnest('{1,2}'::float8[]) x;
SELECT exact_avg_of('\x7466780101080000'::bytea || '\x0200000000000000' || decode(repeat('00', 32), 'hex') || '\xceffffff' || '\x08000000' || '\x0000000000000c00');
CREATE TABLE daily AS
    SELECT i / 3 AS day, exact_sum_state(x) AS sums, exact_dot_state(x, y) AS dots, exact_moments_state(x) AS moments, exact_powers_state(x) AS powers,
        exact_comoments_state(y, x) AS comoments
    FROM (SELECT i, i::float8 AS x, (i * i)::float8 AS y FROM generate_series(0, 8) i) t GROUP BY 1;
-- For i = 0 to 8, the sum is 36, the squared differences from the mean add up to 60, and the slope of i^2 over i is 8.
SELECT exact_sum_of(exact_merge(sums)), exact_avg_of(exact_merge(sums)), exact_dot_of(exact_merge(dots)), exact_var_samp_of(exact_merge(moments)), exact_var_pop_of(exact_merge(powers)) FROM daily;
SELECT exact_skewness_of(exact_merge(powers)), exact_kurtosis_of(exact_merge(powers)), exact_regr_slope_of(exact_merge(comoments)), exact_regr_intercept_of(exact_merge(comoments)) FROM daily;
-- Merging NULLs or no states gives NULL.
SELECT exact_merge(s) IS NULL, exact_merge(NULL) IS NULL, exact_sum_of(NULL) IS NULL FROM (SELECT sums AS s FROM daily WHERE day > 9) t;
SELECT exact_sum_of(exact_merge(s)) FROM (SELECT sums AS s FROM daily UNION ALL SELECT NULL) t;
-- Errors name the function. The rows of parallel workers may come in any order, but without workers, the first error is always the same.
SET max_parallel_workers_per_gather = 0;
\set VERBOSITY terse
SELECT exact_merge('\x');
SELECT exact_merge('no state');
SELECT exact_sum_of('\x746678');
SELECT exact_sum_of(exact_merge(sums) || '\x00') FROM daily;
SELECT exact_corr_of(exact_merge(sums)) FROM daily;
SELECT exact_var_samp_of(exact_merge(sums)) FROM daily;
SELECT exact_merge(s) FROM (SELECT sums AS s FROM daily UNION ALL SELECT moments FROM daily) t;
DROP TABLE daily;
