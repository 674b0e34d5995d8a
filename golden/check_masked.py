"""Checks masked.jsonl against the definition of items that do not count, with nothing but the standard library."""
import json, math, pathlib, struct

from check import arithmetic

def halves(word):
    """A half, which is reduced as a float of 32 bits and rounded once."""
    return struct.unpack("<e", struct.pack("<H", int(word, 16)))[0]

def half_word(x):
    if math.isnan(x): return 0x7E00
    try: return struct.unpack("<H", struct.pack("<e", x))[0]
    except OverflowError: return 0x7C00 | (0x8000 if x < 0 else 0)

def value(items, combine):
    """By recursion: the left child of n items has the largest power of two below n. None is no value."""
    if len(items) == 1: return items[0]
    middle = 1 << (len(items) - 1).bit_length() - 1
    left, right = value(items[:middle], combine), value(items[middle:], combine)
    return right if left is None else left if right is None else combine(left, right)

def check(case):
    is_half = case["type"] == "f16"
    read, write, combine, empty = arithmetic("f32" if is_half else case["type"], case["operator"])
    read, write = (halves, half_word) if is_half else (read, write)
    items = [read(word) if counts == "1" else None for word, counts in zip(case["items"], case["mask"])]
    found = value(items, combine) if items else None
    if "initial" in case: found = read(case["initial"]) if found is None else combine(read(case["initial"]), found)
    found = write(empty if found is None else found)
    expected = tuple(int(word, 16) for word in case["bits"][0].split())
    assert found == (expected if isinstance(found, tuple) else expected[0]), f"{case['name']}: {found} instead of {case['bits']}"

cases = [json.loads(line) for line in (pathlib.Path(__file__).parent / "masked.jsonl").open()]
for case in cases: check(case)
print(f"{len(cases)} golden vectors of items that do not count: all bits as they should be")
