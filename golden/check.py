"""Checks order.jsonl, lanes.jsonl and masked.jsonl against the orders' definitions, with only the standard library."""
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
    """Functions that read an item from a word, write an item as a word, and round a double to the type."""
    float_code, word_code, nan = FLOATS[type]
    read = lambda word: struct.unpack(float_code, struct.pack(word_code, int(word, 16)))[0]
    write = lambda x: nan if math.isnan(x) else struct.unpack(word_code, struct.pack(float_code, x))[0]
    def rounded(x):  # for f32, a double has enough bits that rounding twice equals rounding once
        if type == "f64": return x
        try: return struct.unpack(float_code, struct.pack(float_code, x))[0]
        except OverflowError: return math.copysign(math.inf, x)
    return read, write, rounded

def arithmetic(type, operator):
    """Functions that read, write and combine items, and the value of no items."""
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

def halves(word):
    """Reads a half. Halves are reduced as floats of 32 bits, and the result is rounded once."""
    return struct.unpack("<e", struct.pack("<H", int(word, 16)))[0]

def half_word(x):
    if math.isnan(x): return 0x7E00
    try: return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError: return 0x7C00 | (0x8000 if x < 0 else 0)

def value(items, combine):
    """Reduces by recursion: the left child of n items has the largest power of two below n. None stands for no value."""
    if len(items) == 1: return items[0]
    middle = 1 << (len(items) - 1).bit_length() - 1
    left, right = value(items[:middle], combine), value(items[middle:], combine)
    return right if left is None else left if right is None else combine(left, right)

def check_masked(case):
    is_half = case["type"] == "f16"
    read, write, combine, empty = arithmetic("f32" if is_half else case["type"], case["operator"])
    read, write = (halves, half_word) if is_half else (read, write)
    items = [read(word) if counts == "1" else None for word, counts in zip(case["items"], case["mask"])]
    found = value(items, combine) if items else None
    if "initial" in case: found = read(case["initial"]) if found is None else combine(read(case["initial"]), found)
    found = write(empty if found is None else found)
    expected = tuple(int(word, 16) for word in case["bits"][0].split())
    assert found == (expected if isinstance(found, tuple) else expected[0]), f"{case['name']}: {found} instead of {case['bits']}"

for name, check_one in {"order": check, "lanes": check, "masked": check_masked}.items():
    cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / f"{name}.jsonl").open()]
    for case in cases: check_one(case)
    print(f"{len(cases)} golden vectors of {name}: all bits are right")
