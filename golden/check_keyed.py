"""Checks keyed.jsonl: the bytes of sums and moments by key, and their sums and means, by fractions, with nothing but the standard library."""
import json, math, pathlib, struct
from fractions import Fraction

from check_exact import FORMATS, nearest

KINDS = {"keyed sums": 7, "keyed moments": 8}

def number(exact, lowest):
    """The bytes of an integer times 2^lowest."""
    integer, unit, length = int(exact / Fraction(2) ** lowest), lowest, 0
    assert integer * Fraction(2) ** lowest == exact
    while integer and integer % 2**64 == 0: integer, unit = integer >> 64, unit + 64
    while integer and not -(2 ** (8 * length)) <= 2 * integer < 2 ** (8 * length): length += 8
    return struct.pack("<iI", unit if integer else 0, length) + integer.to_bytes(length, "little", signed=True)

def result(type, items, is_mean):
    """The bits of the sum of items, of which +0.0 is that of zeros, or of their mean."""
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

def check(case):
    type, kind, name = case["type"], case["kind"], case["name"]
    float_code, word_code = FORMATS[type][:2]
    groups = [[] for _ in case["value"]]
    for key, word in zip(case["keys"], case["items"], strict=True):
        groups[int(key, 16)] += struct.unpack(float_code, struct.pack(word_code, int(word, 16)))
    assert bytes_of(type, kind, groups).hex() == case["bytes"], f"{name}: other bytes"
    values = [result(type, items, kind == "keyed moments") for items in groups]
    assert values == [int(word, 16) for word in case["value"]], f"{name}: another value"

if __name__ == "__main__":
    cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "keyed.jsonl").open()]
    for case in cases: check(case)
    print(f"{len(cases)} golden vectors of bytes by key: all as they should be")
