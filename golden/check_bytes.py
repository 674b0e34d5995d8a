"""Checks bytes.jsonl: the bytes of exact accumulators by fractions and their values by check_exact.py, with nothing but the standard library."""
import json, math, pathlib, struct
from fractions import Fraction

from check_exact import FORMATS, rounded

KINDS = {"sum": 1, "dot": 2, "complex sum": 3, "complex dot": 4, "moments": 5, "complex moments": 6}
LOWEST = {"f64": -1074, "f32": -149}  # the exponent of the smallest number, and twice that of the smallest product

def part(pairs, lowest):
    """The bytes of a sum of products, of which the second factor is 1 for items."""
    products = [x * y for x, y in pairs]
    is_special = [not math.isfinite(x) or not math.isfinite(y) for x, y in pairs]
    zeros = sum((x == 0 or y == 0) and math.copysign(1, x) != math.copysign(1, y) for (x, y), special in zip(pairs, is_special) if not special)
    specials = [product for product, special in zip(products, is_special) if special]
    counts = len(pairs), zeros, sum(map(math.isnan, specials)), specials.count(math.inf), specials.count(-math.inf)
    exact = sum((Fraction(x) * Fraction(y) for (x, y), special in zip(pairs, is_special) if not special), Fraction(0))
    number, unit, length = int(exact / Fraction(2) ** lowest), lowest, 0
    assert number * Fraction(2) ** lowest == exact
    while number and number % 2**64 == 0: number, unit = number >> 64, unit + 64
    while not -(2 ** (8 * length)) <= 2 * number < 2 ** (8 * length) and number: length += 8
    return struct.pack("<5QiI", *counts, unit if number else 0, length) + number.to_bytes(length, "little", signed=True)

def check(case):
    type, kind, name = case["type"], case["kind"], case["name"]
    float_code, word_code = FORMATS[type][:2]
    value = lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]
    items, others = ([[value(word) for word in words.split()] for words in case.get(key, [])] for key in ("items", "other"))
    if kind == "complex dot":
        fours = [(*x, *y) for x, y in zip(items, others)]
        parts = [[pair for a, b, c, d in fours for pair in ((a, c), (-b, d))], [pair for a, b, c, d in fours for pair in ((a, d), (b, c))]]
    elif kind == "dot": parts = [[(x, y) for (x,), (y,) in zip(items, others)]]
    else: parts = [[(item[at], 1.0) for item in items] for at in range(2 if "complex" in kind else 1)]
    lowest = LOWEST[type] * (2 if "dot" in kind else 1)
    totals = [part(pairs, lowest) for pairs in parts]
    if "moments" in kind: totals.append(part([(x, x) for item in items for x in item], 2 * LOWEST[type]))
    header = b"tfx\x01" + bytes([KINDS[kind], struct.calcsize(float_code), 0, 0])
    assert (header + b"".join(totals)).hex() == case["bytes"], f"{name}: other bytes"
    assert [rounded(type, pairs) for pairs in parts] == [int(word, 16) for word in case["value"].split()], f"{name}: another value"

cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "bytes.jsonl").open()]
for case in cases: check(case)
print(f"{len(cases)} golden vectors of bytes: all as they should be")
