//! Pairwise testing. A row has one value of each parameter ("choice"), and any two values of different choices occur together in some row.

/// Returns rows in which all pairs of values occur. A row has the index of one value for each choice; choice `i` has `counts[i]` values.
///
/// Every rank computes the same rows. Their number is about that of the pairs of values of the two choices with the most values.
pub(crate) fn pairs<const N: usize>(counts: [usize; N]) -> Vec<[usize; N]> {
    let mut rows = Vec::new();
    // Whether some row has both value `x` of choice `i` and value `y` of choice `j`, for i < j.
    let mut met: Vec<Vec<bool>> = Vec::new();
    for i in 0..N {
        for j in 0..N {
            let pairs = if i < j { counts[i] * counts[j] } else { 0 };
            met.push(vec![false; pairs]);
        }
    }
    let place = |i: usize, x: usize, j: usize, y: usize| {
        let (i, x, j, y) = if i < j { (i, x, j, y) } else { (j, y, i, x) };
        (i * N + j, x * counts[j] + y)
    };
    while let Some((table, pair)) = first_unmet(&met) {
        let (i, j) = (table / N, table % N);
        let mut row = [None; N];
        (row[i], row[j]) = (Some(pair / counts[j]), Some(pair % counts[j]));
        for next in 0..N {
            if row[next].is_some() {
                continue;
            }
            // Chooses the value that forms the most new pairs with the row's values. Ties are broken differently in each row.
            let meets = |value: usize| {
                let others = (0..N).filter(|&other| {
                    row[other].is_some_and(|chosen| {
                        let (table, pair) = place(next, value, other, chosen);
                        !met[table][pair]
                    })
                });
                others.count()
            };
            let count = counts[next];
            let in_turn = (0..count).map(|turn| (turn + rows.len()) % count);
            row[next] = in_turn.rev().max_by_key(|&value| meets(value));
        }
        let row = row.map(|value| value.expect("every choice has a value"));
        for i in 0..N {
            for j in i + 1..N {
                let (table, pair) = place(i, row[i], j, row[j]);
                met[table][pair] = true;
            }
        }
        rows.push(row);
    }
    rows
}

fn first_unmet(met: &[Vec<bool>]) -> Option<(usize, usize)> {
    let mut tables = met.iter().enumerate();
    tables.find_map(|(table, pairs)| Some((table, pairs.iter().position(|met| !met)?)))
}

/// Checks that every pair of values occurs in a row, and that there are far fewer rows than combinations of all choices.
pub(crate) fn complete() {
    for counts in [[1, 1, 1, 1], [2, 3, 4, 5], [4, 3, 9, 24], [24, 9, 8, 1]] {
        let rows = pairs(counts);
        for (i, j) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            for x in 0..counts[i] {
                for y in 0..counts[j] {
                    let meet = |row: &[usize; 4]| row[i] == x && row[j] == y;
                    assert!(rows.iter().any(meet), "{counts:?}: {x} of {i}, {y} of {j}");
                }
            }
        }
        let mut largest = counts;
        largest.sort_unstable();
        assert!(rows.len() <= largest[2] * largest[3] * 3 / 2, "{counts:?}");
        assert_eq!(rows, pairs(counts));
    }
}
