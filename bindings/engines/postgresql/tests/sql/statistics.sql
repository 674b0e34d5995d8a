-- Tests the results of the functions. The expected values were computed by hand from the definitions.
CREATE TABLE pairs (i int, x float8, y float8);
INSERT INTO pairs VALUES (1, 1, 2), (2, 2, 4), (3, 3, 9), (4, 4, 5), (5, NULL, 7), (6, 8, NULL);
-- The items x: 1, 2, 3, 4, 8. Their mean is 18/5, and their squared differences from it add up to 146/5.
SELECT exact_sum(x), exact_avg(x), exact_var_pop(x), exact_var_samp(x), exact_variance(x) FROM pairs;
SELECT exact_stddev_pop(x)^2 - 5.84 < 1e-15 AS pop, exact_stddev_samp(x) = exact_stddev(x) AS same FROM pairs;
SELECT exact_skewness(x), exact_kurtosis(x), exact_kurtosis_pop(x) FROM pairs WHERE i < 5;
-- The pairs: (1, 2), (2, 4), (3, 9), (4, 5). The means are 5/2 and 5, and the products of the differences from them add up to 7.
SELECT exact_dot(x, y), exact_weighted_avg(x, y), exact_covar_pop(y, x), exact_covar_samp(y, x) FROM pairs;
SELECT exact_corr(y, x), exact_regr_slope(y, x), exact_regr_intercept(y, x), exact_regr_slope(x, y) FROM pairs;
-- Cancellation, and a mean whose sum is out of range.
SELECT exact_sum(x), sum(x) FROM unnest('{1e300,0.1,-1e300}'::float8[]) x;
SELECT exact_avg(x), exact_sum(x) FROM unnest('{1.7e308,1.7e308}'::float8[]) x;
-- A sum of real items is real, and rounded once: 1 + 2^-24 + 2^-60 is above the midpoint of two neighbouring numbers.
SELECT exact_sum(x), pg_typeof(exact_sum(x)), exact_avg(x), pg_typeof(exact_avg(x)) FROM unnest(ARRAY[1, 2 ^ -24, 2 ^ -60]::float4[]) x;
-- Statistics of too few rows, or with a denominator of zero, are NULL. A zero sum is +0.
SELECT exact_sum(x), exact_avg(x), exact_var_pop(x), exact_corr(x, x), exact_weighted_avg(x, x), exact_sum_state(x), tree_sum(x) FROM pairs WHERE i > 6;
SELECT exact_sum(x), exact_dot(x, x), exact_sum_state(x), tree_sum(x) FROM pairs WHERE i = 5;
SELECT exact_var_pop(x), exact_var_samp(x), exact_skewness(x), exact_kurtosis(x), exact_corr(x, x) FROM pairs WHERE i = 1;
SELECT exact_corr(x, 1.5::float8), exact_corr(1.5::float8, x), exact_skewness(1.5::float8), exact_weighted_avg(x, 0::float8) FROM pairs;
SELECT exact_sum(-0.0::float8), exact_sum(x - x), exact_dot(x, 0.0::float8) FROM pairs;
-- Infinities and NaNs.
SELECT exact_sum(x), exact_avg(x), exact_var_pop(x) FROM unnest('{1,Infinity}'::float8[]) x;
SELECT exact_sum(x), exact_avg(x) FROM unnest('{-Infinity,Infinity}'::float8[]) x;
SELECT exact_sum(x), exact_kurtosis(x) FROM unnest('{1,NaN,3,5,2}'::float8[]) x;
-- FILTER, DISTINCT, grouping sets and literals.
SELECT exact_sum(x) FILTER (WHERE i > 2), exact_sum(DISTINCT round(x / 4)), exact_sum(x ORDER BY i) FROM pairs;
SELECT i % 2 AS odd, i % 3 AS rest, exact_sum(x), exact_var_pop(x) FROM pairs GROUP BY GROUPING SETS ((i % 2), (i % 3), ()) ORDER BY 1, 2;
SELECT exact_sum('1.5'), exact_sum(NULL), exact_dot('1.5', NULL);
-- Tree order: (2^53 + 1) + 1, where 2^53 + 1 is rounded to 2^53; and (1 + 1) + 2^53.
CREATE TABLE leaves AS SELECT i, CASE i WHEN 1 THEN 2 ^ 53 ELSE 1::float8 END AS x FROM generate_series(1, 3) i;
SELECT tree_sum(x ORDER BY i) - 2 ^ 53 AS ascending, tree_sum(x ORDER BY i DESC) - 2 ^ 53 AS descending FROM leaves;
SELECT tree_sum((x / 2 ^ 29)::float4) FILTER (WHERE i = 1), pg_typeof(tree_sum(x::float4)) FROM leaves;
SELECT obj_description('exact_corr(float8,float8)'::regprocedure, 'pg_proc') AS description;
DROP TABLE pairs, leaves;
