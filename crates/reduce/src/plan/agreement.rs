//! What ranks compare when they build a plan, so that every rank sees the same disagreement and returns the same error.
//!
//! First comes an allreduce of five words: fingerprints and votes. If all fingerprints are equal and the items follow a rule, the ranks agree.
//! If everything except the items is equal and each rank gives a number of items, an allgather exchanges these numbers. Otherwise, an
//! allgather exchanges each rank's [`Record`]. If a rank states which items each rank owns, the ranks vote on whether that is true. If
//! ranks disagree, another allgather exchanges the texts for the error.

mod at_once;
mod extents;

use std::ops::Range;

use comm::collective;
use comm::text::printable;
use distribution::Ownership;

use super::memory::check_exchange;
use super::proposal::{Proposal, SETTINGS_COUNT, Share, fingerprint};
use super::refusal::{Refusal, RefusalWords};
use super::table::Table;
use crate::error::BuildError;

use at_once::{Agreed, agree_at_once, join_counts, of_counts};
use extents::packed;

/// The greatest length of a rank's text in an error, in bytes.
const TEXT_BYTES: usize = 192;

/// A [`Proposal`] as numbers.
#[derive(Clone, Copy, Debug)]
struct Record {
    refusal: RefusalWords,
    /// The kind of the rank's share, as an index into [`KINDS`].
    kind: u64,
    /// The number of this rank's items or of its extents, or the fingerprint of its rule.
    share: u64,
    /// The length of this rank's extents in a message, in bytes.
    share_bytes: u64,
    /// 1 if this rank states what all ranks own, otherwise 0.
    states_whole: u64,
    /// 1 if the program gave the number of items on all ranks, otherwise 0.
    gives_items: u64,
    items: u64,
    /// Fingerprints of the settings' values.
    settings: [u64; SETTINGS_COUNT],
}

const COUNT: u64 = 0;
const EXTENTS: u64 = 1;
/// A rule that is not contiguous. As a table, it could be longer than any memory.
const RULE: u64 = 2;

/// The kinds of shares, in words.
const KINDS: [&str; 3] = ["a number of items", "a list of ranges", "a rule"];

const RECORD_WORDS: usize = 9 + SETTINGS_COUNT;

impl Record {
    fn new(proposal: &Proposal, rank: usize, share_bytes: usize) -> Self {
        let (kind, share) = match &proposal.share {
            Share::Count(count) => (COUNT, *count),
            Share::Extents(extents) => (EXTENTS, extents.len() as u64),
            Share::Whole(ownership) if ownership.as_distribution().is_some() => {
                (COUNT, ownership.count(rank))
            }
            Share::Whole(ownership) if ownership.is_formula() => {
                (RULE, fingerprint(&described(ownership)))
            }
            Share::Whole(ownership) => (EXTENTS, ownership.extents_count(rank)),
        };
        Self {
            refusal: Refusal::to_words(proposal.refusal),
            kind,
            share,
            share_bytes: share_bytes as u64,
            states_whole: proposal.share.whole().is_some().into(),
            gives_items: proposal.items.is_some().into(),
            items: proposal.items.unwrap_or(0),
            settings: proposal
                .settings
                .each_ref()
                .map(|(_, value)| fingerprint(value)),
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut words = self.refusal.to_vec();
        words.extend([
            self.kind,
            self.share,
            self.share_bytes,
            self.states_whole,
            self.gives_items,
            self.items,
        ]);
        words.extend(self.settings);
        bytemuck::cast_slice(&words).to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let words: [u64; RECORD_WORDS] = bytemuck::pod_read_unaligned(bytes);
        let [
            which,
            detail,
            more,
            kind,
            share,
            share_bytes,
            states_whole,
            gives_items,
            items,
            settings @ ..,
        ] = words;
        Self {
            refusal: [which, detail, more],
            kind,
            share,
            share_bytes,
            states_whole,
            gives_items,
            items,
            settings,
        }
    }
}

/// Compares all ranks' proposals and returns which rank owns which items. Collective.
pub(crate) fn agree(table: Table<'_>, proposal: &Proposal) -> Result<Ownership, BuildError> {
    match agree_at_once(table, proposal)? {
        Agreed::Rule(rule) => return Ok(rule.clone()),
        Agreed::Counts { states_whole } => {
            let ownership = join_counts(table, proposal)?;
            if states_whole {
                vote_on(table, &ownership, proposal.share.whole())?;
            }
            return Ok(ownership);
        }
        Agreed::Nothing => {}
    }
    let packed = own_ranges(&proposal.share, table.comm.rank());
    let share_bytes = packed.as_ref().map_or(0, Vec::len);
    let record = Record::new(proposal, table.comm.rank(), share_bytes);
    let all = table.allgather(record.to_bytes())?;
    let records: Vec<Record> = all
        .chunks_exact(RECORD_WORDS * size_of::<u64>())
        .map(Record::from_bytes)
        .collect();

    for (rank, record) in records.iter().enumerate() {
        if let Some(error) = Refusal::error(record.refusal, rank, records.len()) {
            return Err(error);
        }
    }
    for (index, (subject, value)) in proposal.settings.iter().enumerate() {
        if let Some(rank) = first_that_differs(&records, |record| record.settings[index]) {
            return Err(disagreement(table, subject, value, rank)?);
        }
    }
    let kind = |record: &Record| record.kind;
    if let Some(rank) = first_that_differs(&records, kind) {
        let in_words = |rank: usize| {
            let index = usize::try_from(records[rank].kind).unwrap_or(usize::MAX);
            (rank, KINDS[index.min(KINDS.len() - 1)].to_owned())
        };
        return Err(BuildError::Disagreement {
            subject: "kind of ownership",
            first: in_words(0),
            second: in_words(rank),
        });
    }
    let ownership = match (records[0].kind, &proposal.share) {
        (EXTENTS, _) => {
            let ranges: Vec<u64> = records.iter().map(|record| record.share).collect();
            let bytes: Vec<u64> = records.iter().map(|record| record.share_bytes).collect();
            let longest = bytes.iter().copied().max().unwrap_or(0);
            check_exchange(table, &ranges, longest)?;
            let own = packed.expect("all ranks have a list of ranges");
            Ownership::try_from(extents::exchange(table, own, &ranges, &bytes)?)?
        }
        (RULE, Share::Whole(rule)) => {
            if let Some(rank) = first_that_differs(&records, |record| record.share) {
                let text = described(rule);
                return Err(disagreement(table, "ownership", &text, rank)?);
            }
            rule.clone()
        }
        _ => {
            let counts: Vec<u64> = records.iter().map(|record| record.share).collect();
            of_counts(&counts)?
        }
    };
    check_item_counts(&records, ownership.items())?;
    if records.iter().any(|record| record.states_whole != 0) {
        vote_on(table, &ownership, proposal.share.whole())?;
    }
    Ok(ownership)
}

/// A rank's ranges, packed for a message; `None` if the rank has no list of ranges.
fn own_ranges(share: &Share, rank: usize) -> Option<Vec<u8>> {
    match share {
        Share::Extents(extents) => Some(packed(extents.iter().cloned())),
        Share::Whole(ownership)
            if !ownership.is_formula() && ownership.as_distribution().is_none() =>
        {
            Some(packed(ownership.extents(rank)))
        }
        Share::Whole(_) | Share::Count(_) => None,
    }
}

/// The vote of a rank that does not object.
const NOBODY: u64 = u64::MAX;

/// Checks that the ownership `found` equals the ownership that each rank states, if it states one. Collective.
fn vote_on(
    table: Table<'_>,
    found: &Ownership,
    stated: Option<&Ownership>,
) -> Result<(), BuildError> {
    let objection = stated.filter(|stated| *stated != found).and_then(|stated| {
        (0..found.ranks()).find(|&owner| stretches(stated, owner) != stretches(found, owner))
    });
    // The first rank that objects, and the first rank to whose items it objects.
    let vote = match objection {
        Some(owner) => [table.comm.rank() as u64, owner as u64],
        None => [NOBODY; 2],
    };
    let mut vote = bytemuck::bytes_of(&vote).to_vec();
    collective::allreduce(table.comm, table.tag, &mut vote, |left, right| {
        let objector = |vote: &[u8]| -> u64 { bytemuck::pod_read_unaligned(&vote[..8]) };
        if objector(right) < objector(left) {
            left.copy_from_slice(right);
        }
    })?;
    let vote: [u64; 2] = bytemuck::pod_read_unaligned(&vote);
    if vote == [NOBODY; 2] {
        return Ok(());
    }
    let [rank, owner] = vote.map(|word| usize::try_from(word).expect("ranks are counted by usize"));
    let of_owner = |ownership| in_words(&stretches(ownership, owner));
    let mut stated = exchange_texts(table, &stated.map(of_owner).unwrap_or_default())?;
    Err(BuildError::OtherShare {
        rank,
        stated: stated.swap_remove(rank),
        owner,
        found: shortened(&of_owner(found)),
    })
}

/// The items of a rank in the order in which the rank holds them, as ranges. Adjacent ranges are joined.
fn stretches(ownership: &Ownership, rank: usize) -> Vec<Range<u64>> {
    let mut stretches: Vec<Range<u64>> = Vec::new();
    for range in ownership.extents(rank) {
        match stretches.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => stretches.push(range),
        }
    }
    stretches
}

/// Ranges in words, such as `items 0..3, 5..7` or `no items`.
fn in_words(stretches: &[Range<u64>]) -> String {
    match stretches {
        [] => "no items".to_owned(),
        _ => {
            let ranges: Vec<String> = stretches.iter().map(|range| format!("{range:?}")).collect();
            format!("items {}", ranges.join(", "))
        }
    }
}

/// The first rank whose value differs from rank 0's.
fn first_that_differs(records: &[Record], value: impl Fn(&Record) -> u64) -> Option<usize> {
    records
        .iter()
        .position(|record| value(record) != value(&records[0]))
}

/// A rule in words. Different rules give different texts.
fn described(rule: &Ownership) -> String {
    match rule.block_items() {
        Some(block_items) => format!("{} items in blocks of {block_items}", rule.items()),
        None => format!("{} items", rule.items()),
    }
}

/// The error for rank 0 and rank `other`, whose texts differ. Collective.
fn disagreement(
    table: Table<'_>,
    subject: &'static str,
    text: &str,
    other: usize,
) -> Result<BuildError, comm::Error> {
    let mut texts = exchange_texts(table, text)?;
    Ok(BuildError::Disagreement {
        subject,
        second: (other, texts.swap_remove(other)),
        first: (0, texts.swap_remove(0)),
    })
}

/// Checks that all ranks that give a number of items give the same number, and that it equals `found`.
fn check_item_counts(records: &[Record], found: u64) -> Result<(), BuildError> {
    let mut giving = (0..)
        .zip(records)
        .filter(|(_, record)| record.gives_items != 0);
    let Some((first, Record { items, .. })) = giving.next() else {
        return Ok(());
    };
    if let Some((second, other)) = giving.find(|(_, record)| record.items != *items) {
        return Err(BuildError::Disagreement {
            subject: "number of items",
            first: (first, items.to_string()),
            second: (second, other.items.to_string()),
        });
    }
    if *items != found {
        return Err(BuildError::ItemCount {
            rank: first,
            expected: *items,
            found,
        });
    }
    Ok(())
}

/// Every rank's text, [printable] and [shortened](shortened).
fn exchange_texts(table: Table<'_>, text: &str) -> Result<Vec<String>, comm::Error> {
    let mut message = shortened(&printable(text)).into_bytes();
    message.resize(TEXT_BYTES, 0);
    let all = table.allgather(message)?;
    let to_text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches('\0').to_owned()
    };
    Ok(all.chunks_exact(TEXT_BYTES).map(to_text).collect())
}

/// Shortens a text to at most [`TEXT_BYTES`]: keeps its beginning, and adds a fingerprint that distinguishes it from other texts.
fn shortened(text: &str) -> String {
    if text.len() <= TEXT_BYTES {
        return text.to_owned();
    }
    let end = format!("… (fingerprint {:016x})", fingerprint(text));
    let mut length = TEXT_BYTES - end.len();
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    format!("{}{end}", &text[..length])
}
