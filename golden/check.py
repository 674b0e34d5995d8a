"""Checks order.jsonl and lanes.jsonl against the orders' definitions, with nothing but the standard library."""
import functools, json, math, pathlib, struct

FLOATS = {"f64": ("<d", "<Q", 0x7FF8 << 48), "f32": ("<f", "<I", 0x7FC0 << 16)}
PARTS = {"c64": "f64", "c32": "f32"}
ZEROS_TOO = lambda x: (x, math.copysign(1, x))
REALS = {
    "sum": lambda a, b: a + b,
    "difference": lambda a, b: a - b,
    "product": lambda a, b: a * b,
    "min": lambda a, b: math.nan if a != a or b != b else min(a, b, key=ZEROS_TOO),
    "max": lambda a, b: math.nan if a != a or b != b else max(a, b, key=ZEROS_TOO),
}

def floats(type):
    """How an item is read from a word and written as one, and how a double is rounded to the type."""
    float_code, word_code, nan = FLOATS[type]
    read = lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]
    write = lambda x: nan if math.isnan(x) else struct.unpack(word_code, struct.pack(float_code, x))[0]
    def rounded(x):  # doubles hold sums and products of floats well enough for one rounding
        if type == "f64": return x
        try: return struct.unpack(float_code, struct.pack(float_code, x))[0]
        except OverflowError: return math.copysign(math.inf, x)
    return read, write, rounded

def arithmetic(type, operator):
    """How an item is read and written, combined with the next, and what nothing is."""
    empty = {"sum": 0, "product": 1}.get(operator)
    if type in PARTS:
        read, write, rounded = floats(PARTS[type])
        def product(x, y):
            (a, b), (c, d) = x, y
            return rounded(rounded(a * c) - rounded(b * d)), rounded(rounded(a * d) + rounded(b * c))
        combine = {"sum": lambda x, y: tuple(rounded(a + b) for a, b in zip(x, y)), "product": product}[operator]
        return lambda words: tuple(map(read, words.split())), lambda z: tuple(map(write, z)), combine, (empty, 0)
    if type in FLOATS:
        read, write, rounded = floats(type)
        return read, write, lambda a, b: rounded(REALS[operator](a, b)), empty
    modulus = 1 << int(type[1:])
    wrapped = lambda x: (x + modulus // 2) % modulus - modulus // 2 if type[0] == "i" else x % modulus
    return lambda word: wrapped(int(word, 16)), lambda x: x % modulus, lambda a, b: wrapped(REALS[operator](a, b)), empty

def reduced(items, combine, empty):
    while len(items) > 1:
        items = [combine(*items[i : i + 2]) if i + 1 < len(items) else items[i] for i in range(0, len(items), 2)]
    return items[0] if items else empty

def in_lanes(items, lanes, combine, empty):
    values = [reduced(items[lane::lanes], combine, empty) for lane in range(min(lanes, len(items)))]
    return reduced(values, combine, empty)

@functools.cache
def p4016(count):
    """The items of ISO C++ paper P4016."""
    items, state = [], 0x243F6A8885A308D3
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        items.append(((state >> 11) - 2**52) / 2**52)
    return items

def check(case):
    read, write, combine, empty = arithmetic(case["type"], case["operator"])
    rounded = floats(case["type"])[2] if case["type"] in FLOATS else None
    items = [read(word) for word in case["items"]]
    if "reciprocals" in case: items = [rounded(1 / (i + 1)) for i in range(case["reciprocals"])]
    if "p4016" in case: items = [rounded(item) for item in p4016(case["p4016"])]
    if "other" in case: items = [rounded(a * read(b)) for a, b in zip(items, case["other"])]
    operation, bits = case.get("operation"), case["bits"]
    if operation == "squared_norm": items = [rounded(a * a) for a in items]
    if operation in ("scan", "exscan"):
        columns = [items[: i + (operation == "scan")] for i in range(len(items))]
    else:
        columns = [items[column :: len(bits)] for column in range(len(bits))]
    found = [write(in_lanes(column, case.get("lanes", 1), combine, empty)) for column in columns]
    expected = [tuple(int(word, 16) for word in words.split()) for words in bits]
    expected = expected if case["type"] in PARTS else [word for (word,) in expected]
    assert found == expected, f"{case['name']}: {found} instead of {bits}"

if __name__ == "__main__":
    FILES = [pathlib.Path(__file__).parent / name for name in ("order.jsonl", "lanes.jsonl")]
    cases = [json.loads(line) for file in FILES for line in file.open()]
    for case in cases: check(case)
    print(f"{len(cases)} golden vectors: all bits as they should be")
