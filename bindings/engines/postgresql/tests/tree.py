"""Computes sums in tree order, rounded at each node, and rounds numbers to single precision."""

import math
import struct
from fractions import Fraction


def single(number):
    """Returns the float that is nearest to a double."""
    return struct.unpack("f", struct.pack("f", number))[0]


def single_of(fraction):
    """Returns the float that is nearest to a fraction below 2^128."""
    if fraction == 0:
        return 0.0
    exponent = max(math.frexp(float(fraction))[1] - 24, -149)
    return math.ldexp(round(fraction / Fraction(2) ** exponent), exponent)


def tree(items, rounded=float):
    """Returns the sum in tree order. Neighbours are added in pairs, and a last value without a neighbour
    moves up unchanged."""
    while len(items) > 1:
        pairs = [rounded(left + right) for left, right in zip(items[::2], items[1::2])]
        items = pairs + items[len(pairs) * 2 :]
    return items[0]
