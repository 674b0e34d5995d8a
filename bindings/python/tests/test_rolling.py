"""Moving windows, compared with fractions."""

import datetime
import math
from fractions import Fraction

import by_fractions
import numpy as np
import pytest
from checks import SEED, raises
from definition import bits
from test_exact import nearest
from test_keyed import FLOATS, drawn, fractions
from treefold import exact


@pytest.mark.parametrize("dtype", FLOATS)
def test_rolling(dtype):
    random = np.random.default_rng(SEED)
    x = drawn(random, 700, dtype)
    x[[100, 333, 334]] = [np.inf, np.nan, -np.inf]
    for window, least in [(1, None), (5, 3), (200, 1)]:
        rolling = exact.rolling(x, window, min_periods=least)
        sums, means = rolling.sum(), rolling.mean()
        for last in range(len(x)):
            items = x[max(0, last + 1 - window) : last + 1]
            if len(items) < (window if least is None else least):
                assert np.isnan(sums[last]) and np.isnan(means[last])
            elif np.isfinite(items).all():
                expected = sum(fractions(items), Fraction(0))
                assert bits(sums[last]) == bits(nearest(expected, dtype))
                assert bits(means[last]) == bits(nearest(expected / len(items), dtype))
            else:
                with np.errstate(invalid="ignore"):
                    assert bits(np.isnan(sums[last])) == bits(np.isnan(items[~np.isfinite(items)].sum()))
    days = np.datetime64("2026-01-01") + np.cumsum(random.integers(0, 3, 700)).astype("m8[D]")
    sums = exact.rolling(x[:90], np.timedelta64(2, "D"), on=days[:90]).sum()
    for last in range(90):
        inside = (days[:90] > days[last] - np.timedelta64(2, "D")) & (np.arange(90) <= last)
        assert bits(sums[last]) == bits(nearest(sum(fractions(x[:90][inside]), Fraction(0)), dtype))
    raises(ValueError, "index 1 is NaN, or less than the index before it", exact.rolling, [1.0, 2.0], 1, on=[2, 1])
    ends = np.array([np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max])
    assert exact.rolling([1.0, 2.0, 4.0], 10, on=ends).sum().tolist() == [1.0, 2.0, 4.0]
    assert exact.rolling([1.0, 2.0, 4.0], 2**64 - 1, on=ends).sum().tolist() == [1.0, 3.0, 6.0]
    assert exact.rolling([1.0, 2.0, 4.0], 2**64, on=ends).sum().tolist() == [1.0, 3.0, 7.0]
    raises(ValueError, "is more than 2\\^64 - 1", exact.rolling, [1.0, 2.0, 4.0], 2**64, on=ends, placement="centred")
    assert exact.rolling([1.0, 2.0], 0.52, on=[0.44, 0.96]).sum().tolist() == [1.0, 3.0]
    raises(ValueError, "window: 0 is not positive", exact.rolling, [1.0], 0)


# The units of times, in attoseconds and in months.
UNITS = [
    {"D": 86_400 * 10**18, "h": 3_600 * 10**18, "m": 60 * 10**18, "s": 10**18, "ms": 10**15, "us": 10**12, "ns": 10**9},
    {"Y": 12, "M": 1},
]


def test_windows_of_times_in_any_units():
    """A window has the items that are less than its width before the last item, for any units of the window and of the index."""
    for case in range(1000):
        random = np.random.default_rng((SEED, 6, case))
        units = UNITS[int(random.integers(0, 20) == 0)]
        of_on, of_window = (str(random.choice(list(units))) for _ in range(2))
        step, of_step = (int(random.choice([1, 1, 10, 25])) for _ in range(2))
        count = int(random.integers(0, 12))
        index = np.cumsum(random.integers(0, 4, count)) + int(random.integers(-1000, 1000))
        on = index.astype(f"{random.choice(['m8', 'M8'])}[{step}{of_on}]")
        unit = step * units[of_on]
        # The width is up to 40 steps of the index, and not always a whole number of steps.
        number = max(1, int(random.integers(1, 40)) * unit // (10 * of_step * units[of_window]))
        window = np.timedelta64(number, (of_window, of_step))
        width = number * of_step * units[of_window]
        sums = exact.rolling(np.arange(count) + 1.0, window, on=on).sum()
        expected = [sum(k + 1 for k in range(last + 1) if (int(index[last]) - int(index[k])) * unit < width) for last in range(count)]
        assert sums.tolist() == expected, f"TREEFOLD_SEED={SEED}, case {case}: {window!r}, {on.dtype}"


def test_windows_of_other_indices():
    x = [1.0, 2.0, 4.0]
    assert exact.rolling(x, 1.5, on=[0, 1, 2]).sum().tolist() == [1.0, 3.0, 6.0]
    assert exact.rolling(x, np.inf, on=[0, 1, 2]).sum().tolist() == exact.rolling(x, 2**70, on=[0, 1, 2]).sum().tolist() == [1.0, 3.0, 7.0]
    assert exact.rolling(x, 2, on=np.array([2, 2**63, 2**63 + 1], np.uint64)).sum().tolist() == [1.0, 2.0, 6.0]
    assert exact.rolling(x, 2**70, min_periods=1).sum().tolist() == [1.0, 3.0, 7.0] and np.isnan(exact.rolling(x, 2**70).sum()).all()
    start, zone = datetime.datetime(2026, 1, 1), datetime.timezone(datetime.timedelta(hours=5))
    hours = [start + datetime.timedelta(hours=k) for k in (0, 30, 48)]
    zoned = [hours[0].replace(tzinfo=zone), *(one.replace(tzinfo=datetime.timezone.utc) for one in hours[1:])]
    for on, expected in ((hours, [1.0, 3.0, 6.0]), (zoned, [1.0, 2.0, 6.0])):
        assert exact.rolling(x, datetime.timedelta(hours=34), on=on).sum().tolist() == expected


@pytest.mark.parametrize(
    "window, on, error, match",
    [
        (0, [1], ValueError, "window: 0 is not positive"),
        (-1.5, [1.0], ValueError, "window: -1.5 is not positive"),
        (np.nan, [1], ValueError, "window: nan is not positive"),
        (np.timedelta64("NaT"), np.array([1], "M8[s]"), ValueError, "window: NaT is not positive"),
        (np.timedelta64(-1, "s"), np.array([1], "M8[D]"), ValueError, "window: -1 seconds is not positive"),
        (1, np.array(["NaT"], "M8[s]"), ValueError, "on: element 0 is NaT"),
        (1, [np.nan], ValueError, "on: element 0 is nan"),
        (np.timedelta64(1, "D"), np.array([1], "M8[M]"), TypeError, "no fixed length in units of on"),
        (np.timedelta64(1, "D"), [1], TypeError, "is not a number, but on has elements of type int64"),
        (1.5, np.array([1], "M8[s]"), TypeError, "window: 1.5 is not an integer"),
        (True, [1], TypeError, "window: True is not a number"),
        (1, [1j], TypeError, "on has elements of type complex128"),
        (1, [1, 2], ValueError, "on has 2 elements, but x has 1 item"),
    ],
)
def test_windows_that_cannot_be(window, on, error, match):
    raises(error, match, exact.rolling, [1.0], window, on=on)


PLACEMENTS = ["trailing", "forward", "centred"]


def reached(length, window, placement):
    """The items of each window of `window` items."""
    ahead = {"trailing": 0, "forward": window - 1, "centred": (window - 1) // 2}[placement]
    return [range(max(0, k + ahead + 1 - window), min(length, k + ahead + 1)) for k in range(length)]


OF_ONE = [
    ("count", {}), ("min", {}), ("max", {}), ("norm", {}), ("var", {}), ("var", {"ddof": 1}), ("std", {}), ("std", {"ddof": 2}),
    ("skewness", {}), ("skewness", {"bias": False}), ("kurtosis", {}), ("kurtosis", {"bias": False}),
]
OF_TWO = [("dot", {}), ("average", {}), ("cov", {"ddof": 1}), ("cov", {"ddof": 0}), ("corr", {}), ("slope", {}), ("intercept", {})]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_statistic(dtype, placement):
    random = np.random.default_rng(SEED)
    for spread, skipna in ((3, False), (40, False), (3, True)):
        x, y = drawn(random, 40, dtype, spread), abs(drawn(random, 40, dtype, spread))
        x[7:11] = 0.5
        missing = random.integers(0, 6, 40) == 0
        if skipna:
            x[missing] = np.nan
        for window in (1, 4, 15):
            rolling = exact.rolling(x, window, min_periods=1, placement=placement, skipna=skipna)
            for statistic, options in OF_ONE + OF_TWO:
                of_two = (statistic, options) in OF_TWO
                values = getattr(rolling, statistic)(*[y][: int(of_two)], **options)
                assert values.dtype == x.dtype and values.shape == x.shape
                for k, items in enumerate(reached(40, window, placement)):
                    present = [item for item in items if not (skipna and missing[item])]
                    if len(present) < (2 if statistic == "corr" else 1):
                        assert np.isnan(values[k])
                        continue
                    of = by_fractions.expected(statistic, x[present], y[present], dtype, **options)
                    where = f"TREEFOLD_SEED={SEED}, {statistic} {options} of {items}"
                    assert bits(values[k]) == bits(np.dtype(dtype).type(of)) or np.isnan(values[k]) and math.isnan(of), where


def test_reported_windows():
    """Other programs keep a residue of an outlier that has left the window."""
    block = [0.01, -0.02, 0.015, 0.005, -0.01, 0.02, 0.01, -0.03, 0.0, 0.01]
    rolling = exact.rolling([5000.0, *block * 3], 10)
    assert rolling.kurtosis()[-1] == -0.586894586894587 and rolling.kurtosis(bias=False)[-1] == -0.07326007326007344
    assert rolling.skewness()[-1] == -0.7970360876769786 and rolling.skewness(bias=False)[-1] == -0.9451685304033433
    x, y = [1, 2, 1e12, 1e7, 6, 5, 8, 7], [2, 1, 3, -1e12, 4, 7, 6, 9]
    assert exact.rolling(x, 3).cov(y)[-1] == -1 / 3 and exact.rolling(x, 3).corr(y)[-1] == -0.14285714285714285
    rolling = exact.rolling([1e9] * 5 + [1, 0, 1, 0, 1], 3)
    assert rolling.std()[-1] == 0.4714045207910317 and rolling.std(ddof=1)[-1] == 0.5773502691896257


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_ranges_of_each_placement(placement):
    """Finds the items of windows with integers: distances and widths are in eighths of the index's unit."""
    for case in range(300):
        random = np.random.default_rng((SEED, 7, case))
        index = np.cumsum(random.integers(0, 4, 12)) - 9
        quarters = int(random.integers(1, 40))
        sums = []
        for on, window in (
            (index / 4.0, quarters / 16),
            (index.astype("M8[h]"), np.timedelta64(15 * quarters, "m")),
            (index.astype("m8[h]"), datetime.timedelta(minutes=15 * quarters)),
        ):
            sums.append(exact.rolling(2.0 ** np.arange(12), window, on=on, placement=placement).sum().tolist())
        expected = []
        for own in range(12):
            after = [8 * int(one - index[own]) for one in index]
            is_in = {
                "trailing": lambda k: k <= own and after[k] > -2 * quarters,
                "forward": lambda k: k >= own and after[k] < 2 * quarters,
                "centred": lambda k: -quarters < after[k] <= quarters,
            }[placement]
            expected.append(sum(2.0**k for k in range(12) if is_in(k)))
        assert sums == [expected] * 3, f"TREEFOLD_SEED={SEED}, case {case}"
    x = [1.0, 2.0, 4.0]
    everything = exact.rolling(x, 2**70, on=[0, 1, 2], placement=placement).sum().tolist()
    assert everything == {"trailing": [1.0, 3.0, 7.0], "forward": [7.0, 6.0, 4.0], "centred": [7.0] * 3}[placement]
    raises(ValueError, "index 1 is NaN, or less", exact.rolling, x, 2**70, on=[2, 0, 1], placement=placement)


def test_windows_from_the_first_item_on():
    x = [1.0, 1e300, -1e300, np.nan, 4.0]
    assert exact.rolling(x).sum().tolist()[:3] == [1.0, 1e300, 1.0] and exact.rolling(x, skipna=True).sum().tolist()[3:] == [1.0, 5.0]
    assert exact.rolling(x, min_periods=2, skipna=True).count().tolist()[1:] == [2.0, 3.0, 3.0, 4.0]
    assert exact.rolling([]).kurtosis().tolist() == []
    for arguments, error, match in (
        ({"placement": "forward"}, ValueError, "placement: 'forward' needs a window"),
        ({"window": 2, "placement": "left"}, ValueError, "placement: 'left' is none of trailing, forward, centred"),
        ({"on": [1, 2, 3, 4, 5]}, ValueError, "window is missing"),
    ):
        raises(error, match, exact.rolling, x, **arguments)


def test_columns_that_do_not_fit_windows():
    raises(ValueError, "y has 1 item, but x has 2 items", exact.rolling([1.0, 2.0], 1).cov, [1.0])
    raises(TypeError, "of windows accepts only real numbers, not complex128", exact.rolling([1.0, 2.0], 1).corr, [1j, 2.0])
    raises(TypeError, "of windows accepts only real numbers, not complex128", exact.rolling([1j], 1).var)
    halves = exact.rolling(np.float32([1.5, 2.5]), 2).cov(np.float64([0.1, 0.2]))
    assert halves.dtype == np.float64 and exact.rolling([1, 3], 2).var().tolist()[1:] == [1.0]
