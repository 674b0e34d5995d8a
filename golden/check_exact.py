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

def rounded(type, pairs, root=False):
    """The bits of the exact sum of products, or of its root."""
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
    except (OverflowError, ValueError): pass  # of a sum on the way, or of the sum; infinities that meet

def check(case):
    type, operator, name = case["type"], case["operator"], case["name"]
    real = {"c64": "f64", "c32": "f32"}.get(type, type)
    float_code, word_code = FORMATS[real][:2]
    value = lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]
    items, others = ([[value(word) for word in words.split()] for words in case.get(key, [])] for key in ("items", "other"))
    if operator == "norm": others = items
    if operator == "sum": parts = [[(item[part], 1.0) for item in items] for part in range(2 if type in ("c64", "c32") else 1)]
    elif type == real: parts = [[(x, y) for (x,), (y,) in zip(items, others)]]
    else:
        flip = -1 if operator == "conjugate_dot" else 1
        fours = [(a, flip * b, c, d) for (a, b), (c, d) in zip(items, others)]
        parts = [[pair for a, b, c, d in fours for pair in ((a, c), (-b, d))], [pair for a, b, c, d in fours for pair in ((a, d), (b, c))]]
    found = [rounded(real, pairs, operator in ("norm", "root")) for pairs in parts]
    if type == "f64" and operator == "sum" and found[0] not in (0, 1 << 63, FORMATS[type][5]):
        check_by_fsum([x for x, in items], found[0], name)
    assert found == [int(word, 16) for word in case["bits"].split()], f"{name}: {found} instead of {case['bits']}"

cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "exact.jsonl").open()]
for case in cases: check(case)
print(f"{len(cases)} exact golden vectors: all bits as they should be")
