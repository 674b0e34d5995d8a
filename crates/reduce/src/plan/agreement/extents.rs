//! Ranges of items in messages.

use std::ops::Range;

use crate::plan::table::Table;

/// The number of bits of a number that a byte holds; the byte's other bit says whether more bytes follow.
const BITS: u32 = 7;

/// Packs a rank's ranges. Each range becomes two numbers: the distance of its beginning from the end of the previous range, and its length.
/// Most numbers are small, so they are written with seven bits in each byte.
pub(super) fn packed(ranges: impl Iterator<Item = Range<u64>>) -> Vec<u8> {
    let (mut bytes, mut end) = (Vec::new(), 0_u64);
    for range in ranges {
        let step = range.start.wrapping_sub(end).cast_signed();
        // The difference may have either sign; the sign becomes the lowest bit.
        push_number((step << 1 ^ step >> 63).cast_unsigned(), &mut bytes);
        // A range may end before it begins. `Ownership` reports that later.
        push_number(range.end.wrapping_sub(range.start), &mut bytes);
        end = range.end;
    }
    bytes
}

fn push_number(mut number: u64, bytes: &mut Vec<u8>) {
    while number >> BITS != 0 {
        bytes.push(number.to_le_bytes()[0] | 1 << BITS);
        number >>= BITS;
    }
    bytes.push(number.to_le_bytes()[0]);
}

/// Reads `count` ranges.
fn unpacked(bytes: &[u8], count: usize) -> Vec<Range<u64>> {
    let mut rest = bytes.iter();
    let mut number = || {
        let (mut number, mut shift) = (0, 0);
        for &byte in rest.by_ref() {
            number |= u64::from(byte & !(1 << BITS)) << shift;
            if byte >> BITS == 0 {
                break;
            }
            shift = (shift + BITS) % u64::BITS;
        }
        number
    };
    let mut end = 0_u64;
    let mut range = || {
        let step = number();
        let step = (step >> 1) ^ (step & 1).wrapping_neg();
        let start = end.wrapping_add(step);
        end = start.wrapping_add(number());
        start..end
    };
    (0..count).map(|_| range()).collect()
}

/// Exchanges every rank's ranges, given each rank's number of ranges and of packed bytes. Collective.
pub(super) fn exchange(
    table: Table<'_>,
    mut own: Vec<u8>,
    ranges: &[u64],
    bytes: &[u64],
) -> Result<Vec<Vec<Range<u64>>>, comm::Error> {
    let in_memory = |number: u64| usize::try_from(number).expect("extents are in memory");
    let longest = in_memory(bytes.iter().copied().max().unwrap_or(0));
    own.resize(longest, 0);
    let all = table.allgather(own)?;
    let of_rank = |(rank, (&ranges, &bytes)): (usize, (&u64, &u64))| {
        let bytes = &all[longest * rank..][..in_memory(bytes)];
        unpacked(bytes, in_memory(ranges))
    };
    let ranks = ranges.iter().zip(bytes).enumerate();
    Ok(ranks.map(of_rank).collect())
}

#[cfg(test)]
mod tests {
    use super::{packed, unpacked};

    #[test]
    fn ranges_come_back() {
        let (far, end) = (1 << 63, u64::MAX);
        let reversed = |start, end| start..end;
        let lists = [
            vec![],
            vec![0..1, 2..3, 130..131, 5..130],
            vec![
                7..7,
                reversed(9, 3),
                far..end,
                0..far,
                reversed(end, 0),
                0..end,
            ],
        ];
        for list in lists {
            let bytes = packed(list.iter().cloned());
            assert_eq!(unpacked(&bytes, list.len()), list);
        }
        let single = (0..1000).map(|item| 8 * item..8 * item + 1);
        assert_eq!(packed(single).len(), 2000);
    }
}
