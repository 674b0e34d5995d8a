"""Maintains totals by account while rows are inserted and deleted, and compares them with the totals of the remaining rows.

A million rows are inserted or deleted. The maintained view adds inserted rows to its totals, and subtracts deleted rows. Float totals drift:
digits that were rounded away when a large row was added are still missing after that row is deleted. Exact totals have the bits of a sum of
the remaining rows, and accounts without rows disappear.
"""

import numpy as np
from numpy.typing import NDArray
from treefold import exact

CHANGES, BATCH, ACCOUNTS = 1_000_000, 10_000, 5_000


def amounts(random: np.random.Generator, count: int) -> NDArray[np.float64]:
    """Amounts from cents to fortunes, of both signs."""
    return random.standard_normal(count) * 10.0 ** random.uniform(-2, 12, count)


def main() -> None:
    random = np.random.default_rng(2026)
    view = exact.KeyedAccumulator("sum")
    plain = np.zeros(ACCOUNTS)
    accounts, x = np.empty(0, np.int64), np.empty(0)
    changes = 0
    while changes < CHANGES:
        new, amount = random.integers(0, ACCOUNTS, BATCH), amounts(random, BATCH)
        view.add(new, amount)
        np.add.at(plain, new, amount)
        accounts, x = np.append(accounts, new), np.append(x, amount)
        # The table first grows and then shrinks, but keeps at least a thousand rows.
        most = BATCH // 2 if changes < CHANGES // 3 else 2 * BATCH
        goes = random.permutation(len(x))[: min(most, len(x) - 1000)]
        changes += len(new) + len(goes)
        view.remove(accounts[goes], x[goes])
        np.subtract.at(plain, accounts[goes], x[goes])
        accounts, x = np.delete(accounts, goes), np.delete(x, goes)

    left = exact.groupby(accounts)
    sums = left.sum(x)
    assert view.keys() == left.keys.tolist(), "the view has other accounts than the table"
    assert view.value().tobytes() == sums.tobytes(), "the view has other bits than the table"
    there = np.zeros(ACCOUNTS)
    there[left.keys] = sums
    wrong = plain != there
    print(f"{changes:,} inserts and deletes; {len(x):,} rows are left, of {len(view):,} accounts")
    print(f"exact view: the bits of the table, {len(view):,} of {len(view):,}")
    print(f"view in floats: {int(wrong.sum()):,} of {ACCOUNTS:,} accounts are wrong, by up to {np.abs(plain - there).max():.2g}")
    assert wrong.any(), "floats have not drifted"


if __name__ == "__main__":
    main()
