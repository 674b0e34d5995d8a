"""Checks exact.jsonl: sums by math.fsum, everything by fractions, with nothing but the standard library."""
import json, math, pathlib, struct
from fractions import Fraction

FORMATS = {"f64": ("<d", "<Q", 53, -1074, 0x7FF << 52, 0x7FF8 << 48), "f32": ("<f", "<I", 24, -149, 0xFF << 23, 0x7FC0 << 16)}

def nearest(exact, precision, lowest, infinity, root=False):
    """The bits of the magnitude nearest to a positive number, or to its square root; ties to even."""
    below, above = 0, infinity  # bits grow with what they stand for
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

def check(case):
    float_code, word_code, precision, lowest, infinity, nan = FORMATS[case["type"]]
    value = lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]
    sign = 1 << struct.calcsize(word_code) * 8 - 1
    items = [value(word) for word in case["items"]]
    others = [value(word) for word in case.get("other", [])] or (items if case["operator"] == "norm" else [])
    pairs = list(zip(items, others)) if others else [(item, 1.0) for item in items]
    specials = {x * y for x, y in pairs if not math.isfinite(x) or not math.isfinite(y)}
    if any(map(math.isnan, specials)) or len(specials) == 2:
        found = nan
    elif specials:
        found = infinity | (sign if -math.inf in specials else 0)
    else:
        exact = sum(Fraction(x) * Fraction(y) for x, y in pairs)
        is_negative = exact < 0 or (items and exact == 0 and all(x * y == 0 and math.copysign(1, x) != math.copysign(1, y) for x, y in pairs))
        found = (nearest(abs(exact), precision, lowest, infinity, case["operator"] == "norm") if exact else 0) | (sign if is_negative else 0)
        if case["type"] == "f64" and case["operator"] == "sum" and exact:
            try: assert struct.unpack("<Q", struct.pack("<d", math.fsum(items)))[0] == found, f"{case['name']}: math.fsum has another sum"
            except OverflowError: pass  # of a sum on the way, or of the sum
    assert found == int(case["bits"], 16), f"{case['name']}: {found:X} instead of {case['bits']}"

cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "exact.jsonl").open()]
for case in cases: check(case)
print(f"{len(cases)} exact golden vectors: all bits as they should be")
