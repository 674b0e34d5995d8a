-- Rows leave a window without a trace: after 1e300, NaN and infinity have left, sums and states are as if these had never been added.
CREATE TABLE moving AS SELECT * FROM unnest('{1e300,0.5,NULL,2,NaN,1,Infinity,NULL,NULL,3}'::float8[]) WITH ORDINALITY t(x, i);
SELECT i, x, exact_sum(x) OVER w, exact_avg(x) OVER w, exact_var_pop(x) OVER w FROM moving WINDOW w AS (ORDER BY i ROWS 1 PRECEDING);
SELECT i, x, sum(x) OVER w FROM moving WINDOW w AS (ORDER BY i ROWS 1 PRECEDING) OFFSET 7;
SELECT i, exact_sum(x) FILTER (WHERE i <> 2) OVER w AS filtered, tree_sum(x) OVER w, exact_sum_of(exact_sum_state(x) OVER w) FROM moving WINDOW w AS (ORDER BY i ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING);
-- A window of merged states, some of which are missing.
SELECT i, exact_sum_of(exact_merge(s) OVER (ORDER BY i ROWS 1 PRECEDING)) FROM (SELECT i, CASE WHEN i > 2 THEN exact_sum_state(i::float8) END AS s FROM generate_series(1, 6) i GROUP BY i) t;
DROP TABLE moving;
