"""Checks order.jsonl against the order's definition, with nothing but the standard library."""
import json, math, pathlib, struct

CODES = {"f64": ("<d", "<Q", 0x7FF8 << 48), "f32": ("<f", "<I", 0x7FC0 << 16)}
ZEROS_TOO = lambda x: (x, math.copysign(1, x))
OPERATORS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "min": lambda a, b: math.nan if a != a or b != b else min(a, b, key=ZEROS_TOO),
    "max": lambda a, b: math.nan if a != a or b != b else max(a, b, key=ZEROS_TOO),
}

def check(case):
    float_code, word_code, nan = CODES[case["type"]]
    value = lambda word: struct.unpack(float_code, struct.pack(word_code, word))[0]
    def rounded(x):  # doubles hold sums and products of floats well enough for one rounding
        try: return value(*struct.unpack(word_code, struct.pack(float_code, x)))
        except OverflowError: return math.copysign(math.inf, x)
    combine = lambda a, b: rounded(OPERATORS[case["operator"]](a, b))
    items = [value(int(word, 16)) for word in case["items"]]
    if "reciprocals" in case: items = [rounded(1 / (i + 1)) for i in range(case["reciprocals"])]
    if "other" in case: items = [rounded(a * value(int(b, 16))) for a, b in zip(items, case["other"])]
    for column, bits in enumerate(case["bits"]):
        level = items[column :: len(case["bits"])]
        while len(level) > 1:
            level = [combine(*level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
        found = level[0] if level else {"sum": 0.0, "product": 1.0}[case["operator"]]
        word = nan if math.isnan(found) else struct.unpack(word_code, struct.pack(float_code, found))[0]
        assert word == int(bits, 16), f"{case['name']}: {word:X} instead of {bits}"

cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "order.jsonl").open()]
for case in cases: check(case)
print(f"{len(cases)} golden vectors: all bits as they should be")
