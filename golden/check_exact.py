"""Checks exact.jsonl, bytes.jsonl, keyed.jsonl, slots.jsonl and powers.jsonl with fractions, and sums also with math.fsum. Needs only the standard library."""
import json, math, pathlib, struct
from fractions import Fraction

FORMATS = {"f64": ("<d", "<Q", 53, -1074, 0x7FF << 52, 0x7FF8 << 48), "f32": ("<f", "<I", 24, -149, 0xFF << 23, 0x7FC0 << 16)}
KINDS = {"sum": 1, "dot": 2, "complex sum": 3, "complex dot": 4, "moments": 5, "complex moments": 6, "keyed sums": 7, "keyed moments": 8, "co-moments": 9, "powers": 10,
         "keyed means": 11, "keyed products": 12, "keyed weighted means": 13, "keyed co-moments": 14, "keyed powers": 15, "keyed extrema": 16,
         "keyed integers": 17, "keyed integer moments": 18}

def reader(type):
    """A function that reads a number from a word."""
    float_code, word_code = FORMATS[type][:2]
    return lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]

def factors(case, type):
    """The items of a case, and its second factors, each as a list of parts."""
    return ([[*map(reader(type), words.split())] for words in case.get(key, [])] for key in ("items", "other"))

def products(items, others, flip=1):
    """The pairs whose products add up to the real part of a complex dot product, and the pairs for the imaginary part."""
    fours = [(a, flip * b, c, d) for (a, b), (c, d) in zip(items, others)]
    return [[pair for a, b, c, d in fours for pair in ((a, c), (-b, d))], [pair for a, b, c, d in fours for pair in ((a, d), (b, c))]]

def bits(words):
    return [int(word, 16) for word in words]

def nearest(exact, precision, lowest, infinity, root=False):
    """The bits of the float nearest to a positive number, or to its square root; ties to even."""
    below, above = 0, infinity  # greater bits are greater floats
    def place(bits):
        exponent, fraction = divmod(bits, 1 << precision - 1)
        significand = fraction + (1 << precision - 1 if exponent else 0)
        return Fraction(significand) * Fraction(2) ** (lowest + max(exponent, 1) - 1)
    is_below = lambda x: x * x <= exact if root else x <= exact
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (middle, above) if is_below(place(middle)) else (below, middle)
    half = (place(below) + place(above)) / 2
    target, half = (exact, half * half) if root else (exact, half)
    return below if target < half or (target == half and below % 2 == 0) else above

def rounded(type, pairs, root=False):
    """The bits of the exact sum of products, or of its root, rounded."""
    float_code, word_code, precision, lowest, infinity, nan = FORMATS[type]
    sign = 1 << struct.calcsize(word_code) * 8 - 1
    specials = {x * y for x, y in pairs if not math.isfinite(x) or not math.isfinite(y)}
    if any(map(math.isnan, specials)) or len(specials) == 2: return nan
    if specials: return (nan if root else infinity | sign) if -math.inf in specials else infinity
    exact = sum(Fraction(x) * Fraction(y) for x, y in pairs)
    if root and exact < 0: return nan
    is_negative = exact < 0 or (pairs and exact == 0 and all(x * y == 0 and math.copysign(1, x) != math.copysign(1, y) for x, y in pairs))
    return (nearest(abs(exact), precision, lowest, infinity, root) if exact else 0) | (sign if is_negative else 0)

def check_by_fsum(items, found, name):
    try: assert struct.unpack("<Q", struct.pack("<d", math.fsum(items)))[0] == found, f"{name}: math.fsum has another sum"
    except (OverflowError, ValueError): pass  # math.fsum rejects an overflow, even of a partial sum, and infinities of both signs

def check_exact(case):
    type, operator, name = case["type"], case["operator"], case["name"]
    real = {"c64": "f64", "c32": "f32"}.get(type, type)
    items, others = factors(case, real)
    if operator == "norm": others = items
    if operator == "sum": parts = [[(item[part], 1.0) for item in items] for part in range(2 if type in ("c64", "c32") else 1)]
    elif type == real: parts = [[(x, y) for (x,), (y,) in zip(items, others)]]
    else: parts = products(items, others, -1 if operator == "conjugate_dot" else 1)
    found = [rounded(real, pairs, operator in ("norm", "root")) for pairs in parts]
    if type == "f64" and operator == "sum" and found[0] not in (0, 1 << 63, FORMATS[type][5]):
        check_by_fsum([x for x, in items], found[0], name)
    assert found == bits(case["bits"].split()), f"{name}: {found} instead of {case['bits']}"

def number(exact, lowest):
    """The bytes of an integer times 2^lowest."""
    integer, unit, length = int(exact / Fraction(2) ** lowest), lowest, 0
    assert integer * Fraction(2) ** lowest == exact
    while integer and integer % 2**64 == 0: integer, unit = integer >> 64, unit + 64
    while integer and not -(2 ** (8 * length)) <= 2 * integer < 2 ** (8 * length): length += 8
    return struct.pack("<iI", unit if integer else 0, length) + integer.to_bytes(length, "little", signed=True)

def part(pairs, lowest):
    """The bytes of a sum of products; a sum of items has 1 for each second factor."""
    products = [x * y for x, y in pairs]
    is_special = [not math.isfinite(x) or not math.isfinite(y) for x, y in pairs]
    zeros = sum((x == 0 or y == 0) and math.copysign(1, x) != math.copysign(1, y) for (x, y), special in zip(pairs, is_special) if not special)
    specials = [product for product, special in zip(products, is_special) if special]
    counts = len(pairs), zeros, sum(map(math.isnan, specials)), specials.count(math.inf), specials.count(-math.inf)
    exact = sum((Fraction(x) * Fraction(y) for (x, y), special in zip(pairs, is_special) if not special), Fraction(0))
    return struct.pack("<5Q", *counts) + number(exact, lowest)

def check_bytes(case):
    type, kind, name = case["type"], case["kind"], case["name"]
    items, others = factors(case, type)
    if kind == "complex dot": parts = products(items, others)
    elif kind == "dot": parts = [[(x, y) for (x,), (y,) in zip(items, others)]]
    else: parts = [[(item[at], 1.0) for item in items] for at in range(2 if "complex" in kind else 1)]
    lowest = FORMATS[type][3] * (2 if "dot" in kind else 1)
    totals = [part(pairs, lowest) for pairs in parts]
    if "moments" in kind: totals.append(part([(x, x) for item in items for x in item], 2 * FORMATS[type][3]))
    header = b"tfx\x01" + bytes([KINDS[kind], struct.calcsize(FORMATS[type][0]), 0, 0])
    assert (header + b"".join(totals)).hex() == case["bytes"], f"{name}: other bytes"
    assert [rounded(type, pairs) for pairs in parts] == bits(case["value"].split()), f"{name}: another value"

def result(type, items, is_mean):
    """The bits of the sum or mean of items; a sum of zeros is +0.0."""
    _, word_code, precision, lowest, infinity, nan = FORMATS[type]
    specials = {item for item in items if math.isinf(item)}
    if any(map(math.isnan, items)) or len(specials) == 2 or (is_mean and not items): return nan
    sign = 1 << struct.calcsize(word_code) * 8 - 1
    exact = sum(map(Fraction, items)) if not specials else Fraction(0)
    if is_mean: exact /= len(items)
    magnitude = infinity if specials else nearest(abs(exact), precision, lowest, infinity) if exact else 0
    return magnitude | (sign if exact < 0 or -math.inf in specials else 0)

def bytes_of(type, kind, groups):
    """The bytes of the items of each key."""
    lowest, is_moments = FORMATS[type][3], kind == "keyed moments"
    found = b"tfx\x01" + bytes([KINDS[kind], struct.calcsize(FORMATS[type][0]), 0, 0]) + struct.pack("<Q", len(groups))
    for items in groups:
        finite = [Fraction(item) for item in items if math.isfinite(item)]
        specials = sum(map(math.isnan, items)), items.count(math.inf), items.count(-math.inf)
        if is_moments: found += struct.pack("<Q", len(items))
        found += struct.pack("<B3Q", 1, *specials) if any(specials) else b"\0"
        found += number(sum(finite, Fraction(0)), lowest)
        if is_moments: found += number(sum((item * item for item in finite), Fraction(0)), 2 * lowest)
    return found

def entry(rows, lowest):
    """The bytes of the sum of products by key."""
    counts = struct.unpack_from("<5Q", part(rows, lowest))[2:]
    return (struct.pack("<B3Q", 1, *counts) if any(counts) else b"\0") + part(rows, lowest)[40:]

def power_sum(rows, lowest, *powers):
    """The bytes of a sum of products of powers, over the rows without NaNs and infinities."""
    finite = [[*map(Fraction, row)] for row in rows if all(map(math.isfinite, row))]
    return number(sum((math.prod(x**power for x, power in zip(row, powers)) for row in finite), Fraction(0)), lowest * sum(powers))

def ordered(x):
    """The least and the greatest integer for a double, in the order of doubles: equal except for a NaN, which has all integers."""
    if math.isnan(x): return -(2**63), 2**63 - 1
    word = struct.unpack("<q", struct.pack("<d", x))[0]
    return (word if word >= 0 else word ^ (2**63 - 1),) * 2

def slot_bytes(type, kind, rows):
    """The bytes of a key's rows, each of one item or two."""
    whole = lambda *integers: b"".join(integer.to_bytes(16, "little", signed=True) for integer in integers)
    if kind == "keyed extrema":
        bounds = [ordered(x) for x, in rows]
        return whole(-min(low for low, _ in bounds), max(high for _, high in bounds)) if rows else whole(*[-(2**127)] * 2)
    if "integer" in kind:
        sums = [sum(x**power for x, in rows) for power in ((1, 2) if "moments" in kind else (1,))]
        return whole(len(rows), *(half for total in sums for half in (total % 2**64, total >> 64)))
    lowest, count = FORMATS[type][3], struct.pack("<Q", len(rows))
    column = lambda at: [(row[at], 1.0) for row in rows]
    square = lambda at: power_sum([(row[at],) for row in rows], lowest, 2)
    if kind == "keyed products": return entry(rows, 2 * lowest)
    if kind == "keyed weighted means": return entry(rows, 2 * lowest) + entry(column(1), lowest)
    if kind == "keyed means": return count + entry(column(0), lowest)
    moments = count + entry(column(0), lowest) + square(0)
    if kind == "keyed powers": return moments + power_sum(rows, lowest, 3) + power_sum(rows, lowest, 4)
    return moments + entry(column(1), lowest) + square(1) + power_sum(rows, lowest, 1, 1)

def bytes_of_slots(case):
    type, kind = case["type"], case["kind"]
    read = (lambda word: (int(word, 16) ^ 1 << 63) - (1 << 63)) if type == "i64" else reader(type)
    groups = [[] for _ in range(case["groups"])]
    for key, *words in zip(case["keys"], *(case[name] for name in ("items", "other") if name in case), strict=True):
        groups[int(key, 16)].append(tuple(map(read, words)))
    size = 8 if type == "i64" else struct.calcsize(FORMATS[type][0])
    header = b"tfx\x01" + bytes([KINDS[kind], size, 0, 0]) + struct.pack("<Q", len(groups))
    return (header + b"".join(slot_bytes(type, kind, rows) for rows in groups)).hex()

def check_slots(case):
    assert bytes_of_slots(case) == case["bytes"], f"{case['name']}: other bytes"

def check_keyed(case):
    type, kind, name = case["type"], case["kind"], case["name"]
    groups = [[] for _ in case["value"]]
    for key, word in zip(case["keys"], case["items"], strict=True):
        groups[int(key, 16)].append(reader(type)(word))
    assert bytes_of(type, kind, groups).hex() == case["bytes"], f"{name}: other bytes"
    values = [result(type, items, kind == "keyed moments") for items in groups]
    assert values == bits(case["value"]), f"{name}: another value"

def quotient(type, sign, numerator, denominator, root=False):
    """The bits of a quotient, or of its root, with the given sign; NaN if the denominator is zero."""
    _, word_code, precision, lowest, infinity, nan = FORMATS[type]
    if denominator == 0: return nan
    if sign == 0: return 0
    magnitude = nearest(abs(numerator / denominator), precision, lowest, infinity, root)
    return magnitude | (1 << struct.calcsize(word_code) * 8 - 1 if sign < 0 else 0)

def check_powers(case):
    """Checks covariance and correlation of two columns, or skewness and kurtosis of one, and the bytes of their sums."""
    type, kind, name = case["type"], case["kind"], case["name"]
    lowest, (items, others) = FORMATS[type][3], factors(case, type)
    columns = [[x for x, in column] for column in ([items, others] if kind == "co-moments" else [items])]
    is_finite = all(math.isfinite(x) for column in columns for x in column)
    found = b"tfx\x01" + bytes([KINDS[kind], struct.calcsize(FORMATS[type][0]), 0, 0])
    found += b"".join(part([(x, 1.0) for x in column], lowest) for column in columns)
    rows = [[Fraction(x) for x in row] for row in zip(*columns) if all(map(math.isfinite, row))]
    total = lambda powers: sum((math.prod(x**power for x, power in zip(row, powers)) for row in rows), Fraction(0))
    finite = [[Fraction(x) for x in column if math.isfinite(x)] for column in columns]
    if kind == "co-moments":
        for column in finite: found += number(sum((x * x for x in column), Fraction(0)), 2 * lowest)
        found += number(total((1, 1)), 2 * lowest)
    else:
        for power in (2, 3, 4): found += number(total((power,)), power * lowest)
    assert found.hex() == case["bytes"], f"{name}: other bytes"
    n, nan = len(items), FORMATS[type][5]
    if not is_finite or n == 0: values = [nan, nan]
    else:
        means = [sum(column) / n for column in finite]
        central = lambda *powers: sum(math.prod((x - mean) ** power for x, mean, power in zip(row, means, powers)) for row in rows)
        if kind == "co-moments":
            xx, xy, yy = central(2, 0), central(1, 1), central(0, 2)
            values = [quotient(type, xy, xy, Fraction(n)), quotient(type, xy, xy * xy, xx * yy, True)]
        else:
            second, third, fourth = (central(power) for power in (2, 3, 4))
            excess = n * fourth - 3 * second**2
            values = [quotient(type, third, n * third**2, second**3, True), quotient(type, excess, excess, second**2)]
    assert values == bits(case["value"]), f"{name}: {values} instead of {case['value']}"

for name, check in {"exact": check_exact, "bytes": check_bytes, "keyed": check_keyed, "slots": check_slots, "powers": check_powers}.items():
    cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / f"{name}.jsonl").open()]
    for case in cases: check(case)
    print(f"{len(cases)} golden vectors of {name}: all are right")
