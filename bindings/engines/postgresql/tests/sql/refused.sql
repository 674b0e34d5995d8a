-- PostgreSQL would silently cast integers and numerics to double precision. The aggregates reject them instead, even without rows.
SELECT exact_sum(i) FROM generate_series(1, 3) i;
SELECT exact_sum(i) FROM generate_series(1, 0) i;
SELECT exact_sum(0.1);
SELECT exact_corr(i, i::float8) FROM generate_series(1, 3) i;
SELECT exact_regr_slope(i::float4, i::numeric) OVER () FROM generate_series(1, 3) i;
SELECT exact_moments_state(i::int8) FROM generate_series(1, 3) i;
SELECT tree_sum(i::int2 ORDER BY i) FROM generate_series(1, 3) i;
-- Calls every aggregate with every pair of types.
DO $$
DECLARE
    types text[] := '{float8,float4,int2,int4,int8,numeric}';
    f record;
    call text;
    refused int := 0;
    taken int := 0;
BEGIN
    FOR f IN SELECT DISTINCT proname, pronargs FROM pg_proc WHERE prokind = 'a' AND proname ~ '^(exact|tree)_' AND proname <> 'exact_merge' LOOP
        FOR i IN 1 .. 6 LOOP
            FOR j IN 1 .. CASE f.pronargs WHEN 1 THEN 1 ELSE 6 END LOOP
                call := format(CASE f.pronargs WHEN 1 THEN '%s(1::%s)' ELSE '%s(1::%s, 1::%s)' END, f.proname, types[i], types[j]);
                BEGIN
                    EXECUTE 'SELECT ' || call;
                    taken := taken + 1;
                    ASSERT i <= 2 AND j <= 2, call;
                EXCEPTION WHEN datatype_mismatch THEN
                    refused := refused + 1;
                    ASSERT i > 2 OR j > 2, call;
                    ASSERT SQLERRM = format('%s does not accept type %s', f.proname, types[CASE WHEN i > 2 THEN i ELSE j END]::regtype), SQLERRM;
                END;
            END LOOP;
        END LOOP;
    END LOOP;
    RAISE NOTICE '% calls accepted, % rejected', taken, refused;
END $$;
-- There is no cast from money to double precision.
SELECT exact_sum('1.5'::money);
-- Functions that users can call directly do not crash on NULLs.
DO $$
DECLARE
    f record;
    calls int := 0;
BEGIN
    FOR f IN SELECT proname, pronargs FROM pg_proc WHERE prokind = 'f' AND proname ~ '^(exact|tree)_' AND NOT 'internal'::regtype = ANY (proargtypes) LOOP
        BEGIN
            EXECUTE format('SELECT %s(%s)', f.proname, rtrim(repeat('NULL, ', f.pronargs), ', '));
        EXCEPTION WHEN datatype_mismatch THEN
            ASSERT f.proname LIKE 'exact_refuse%', f.proname;
        END;
        calls := calls + 1;
    END LOOP;
    RAISE NOTICE '% calls', calls;
END $$;
