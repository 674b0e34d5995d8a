//! Finds pieces that together make up a range.

use std::ops::Range;

/// Adjacent pieces that make up `range` exactly, in ascending order; `None` if no such pieces exist.
///
/// `longest(start, end_max)` returns the longest piece that begins at `start` and ends at or before `end_max`, preceded by
/// its end. If the longest piece leads to a dead end, shorter pieces are tried.
pub fn tile<P>(
    range: &Range<usize>,
    longest: impl Fn(usize, usize) -> Option<(usize, P)>,
) -> Option<Vec<P>> {
    let mut tiles: Vec<(Range<usize>, P)> = Vec::new();
    let mut end_max = range.end;
    loop {
        let start = tiles.last().map_or(range.start, |(tile, _)| tile.end);
        if start == range.end {
            return Some(tiles.into_iter().map(|(_, piece)| piece).collect());
        }
        match longest(start, end_max).filter(|&(end, _)| end > start) {
            Some((end, piece)) => {
                tiles.push((start..end, piece));
                end_max = range.end;
            }
            None => end_max = tiles.pop()?.0.end - 1,
        }
    }
}
