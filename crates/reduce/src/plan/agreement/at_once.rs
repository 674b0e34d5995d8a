//! The common case: ranks agree on everything except their numbers of items, by an allreduce of five words and an allgather of one word.

use comm::collective;
use distribution::{Distribution, Ownership};

use crate::error::BuildError;
use crate::plan::proposal::{Proposal, fingerprint};
use crate::plan::table::Table;

/// What all ranks agree on after one allreduce.
pub(super) enum Agreed<'p> {
    /// Everything.
    Rule(&'p Ownership),
    /// Everything except the number of items on each rank.
    Counts {
        states_whole: bool,
    },
    Nothing,
}

/// The vote of one or several ranks. The first two words are fingerprints: of the whole proposal, and of everything except the items. The next
/// two are 1 if these ranks have the fingerprint in common and can agree on it. The last is 1 if one of them states what all ranks own.
type Vote = [u64; 5];

/// Compares fingerprints. Collective.
pub(super) fn agree_at_once<'p>(
    table: Table<'_>,
    proposal: &'p Proposal,
) -> Result<Agreed<'p>, BuildError> {
    let is_able = proposal.refusal.is_none();
    let rule = proposal.share.rule().filter(|rule| {
        // If the number of items is wrong, a later exchange reports it.
        is_able && proposal.items.is_none_or(|items| items == rule.items())
    });
    let whole = proposal.share.whole();
    let is_count = is_able && proposal.share.count(table.comm.rank()).is_some();
    let Proposal {
        settings, items, ..
    } = proposal;
    let vote: Vote = [
        fingerprint(&format!("{settings:?} {rule:?}")),
        fingerprint(&format!("{settings:?} {items:?}")),
        rule.is_some().into(),
        is_count.into(),
        whole.is_some().into(),
    ];
    let mut vote = bytemuck::bytes_of(&vote).to_vec();
    collective::allreduce(table.comm, table.tag, &mut vote, |left, right| {
        let [mut all, other]: [Vote; 2] = [&*left, right].map(bytemuck::pod_read_unaligned);
        for (print, agrees) in [(0, 2), (1, 3)] {
            all[agrees] &= other[agrees] & u64::from(all[print] == other[print]);
        }
        all[4] |= other[4];
        left.copy_from_slice(bytemuck::bytes_of(&all));
    })?;
    let [_, _, agree, agree_but_for_items, states_whole]: Vote =
        bytemuck::pod_read_unaligned(&vote);
    Ok(match rule {
        Some(rule) if agree != 0 => Agreed::Rule(rule),
        _ if agree_but_for_items != 0 => Agreed::Counts {
            states_whole: states_whole != 0,
        },
        _ => Agreed::Nothing,
    })
}

/// The ownership, if the ranks agree on everything else, and each of them gives a number of items. Collective.
pub(super) fn join_counts(table: Table<'_>, proposal: &Proposal) -> Result<Ownership, BuildError> {
    let own = proposal.share.count(table.comm.rank());
    let own = own.expect("all ranks have a number of items");
    let all = table.allgather(own.to_ne_bytes().to_vec())?;
    let (words, _) = all.as_chunks();
    let counts: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let ownership = of_counts(&counts)?;
    match proposal.items {
        Some(expected) if expected != ownership.items() => {
            return Err(BuildError::ItemCount {
                rank: 0,
                expected,
                found: ownership.items(),
            });
        }
        _ => {}
    }
    Ok(ownership)
}

/// The ownership that follows from the number of items on each rank.
pub(super) fn of_counts(counts: &[u64]) -> Result<Ownership, BuildError> {
    let distribution = Distribution::from_counts(counts);
    Ok(distribution.map_err(|_| BuildError::TooManyItems)?.into())
}
