//! Names beside the ends of their lines, none on another.

/// The middles of labels, of which each has the height that it wants to be at and its own, between `top` and `bottom`: in the order in
/// which they are given, which is that of what they want, apart, and together as near to it as can be.
pub(super) fn spread(labels: &[(i32, i32)], top: i32, bottom: i32) -> Vec<i32> {
    // As if labels had no height they need only be in order: those that are not meet in their mean (isotonic regression).
    let mut above = 0;
    let mut stacks: Vec<(i32, i32)> = Vec::new();
    for &(wanted, height) in labels {
        stacks.push((wanted - height / 2 - above, 1));
        above += height;
        while let [.., (upper, uppers), (lower, lowers)] = stacks[..]
            && upper * lowers > lower * uppers
        {
            stacks.truncate(stacks.len() - 2);
            stacks.push((upper + lower, uppers + lowers));
        }
    }
    let tops = stacks.into_iter().flat_map(|(total, count)| {
        let mean = (total / count).min(bottom - above).max(top);
        (0..count).map(move |_| mean)
    });
    let placed = tops.zip(labels).scan(0, |above, (top, (_, height))| {
        *above += height;
        Some(top + *above - height / 2)
    });
    placed.collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn labels_are_apart_and_stay_inside() {
        for (wanted, expected) in [
            (&[][..], &[][..]),
            (&[20, 50], &[20, 50]),
            (&[50, 50], &[45, 55]),
            (&[30, 50, 50, 50], &[30, 40, 50, 60]),
            // A stack that grows reaches what was clear of it.
            (&[38, 50, 50], &[36, 46, 56]),
            (&[0, 0], &[5, 15]),
            (&[98, 99, 100], &[75, 85, 95]),
        ] {
            let labels: Vec<(i32, i32)> = wanted.iter().map(|&wanted| (wanted, 10)).collect();
            assert_eq!(spread(&labels, 0, 100), expected);
        }
    }
}
