//! What ranks compare when they build a plan, so that every rank sees the same disagreement and returns the same error.
//!
//! First an allreduce of two words a rank, a fingerprint and a vote: if all fingerprints are equal and the items follow a rule, the
//! ranks agree. Otherwise an allgather exchanges each rank's numbers of items and fingerprints. Only if these differ, another
//! allgather exchanges the text for the error.

use std::ops::Range;

use comm::{Communicator, Tag, collective};
use distribution::{Distribution, Ownership};

use crate::environment::EnvironmentError;
use crate::error::BuildError;

/// The number of settings that must be the same on all ranks.
const SETTINGS_COUNT: usize = 8;

/// A rank's settings: the name and the value of each, in the same order on all ranks.
pub(crate) type Settings = [(&'static str, String); SETTINGS_COUNT];

/// How much of a rank's text an error may hold.
const TEXT_BYTES: usize = 192;

/// What items a rank has.
#[derive(Clone, Debug)]
pub(crate) enum Share {
    /// This number of items, after those of the ranks below.
    Count(u64),
    /// Any pieces.
    Extents(Vec<Range<u64>>),
    /// By a rule that all ranks know.
    Rule(Ownership),
}

/// What can keep one rank from taking part, whatever the other ranks propose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It does not say which items it has.
    NoShare,
    /// Its distribution is for this number of ranks.
    OtherSize(usize),
    /// Its floating-point environment.
    Environment(EnvironmentError),
}

/// The errors of floating-point environments; messages contain an index into this list.
const ENVIRONMENTS: [EnvironmentError; 3] = [
    EnvironmentError::FlushToZero,
    EnvironmentError::DenormalsAreZero,
    EnvironmentError::Rounding,
];

impl Obstacle {
    /// The error that it means on a rank of a world of `size` ranks.
    pub(crate) fn into_error(self, rank: usize, size: usize) -> BuildError {
        let error = Obstacle::error(Obstacle::to_words(Some(self)), rank, size);
        error.expect("an obstacle has an error")
    }

    /// As numbers: which obstacle, and its detail.
    fn to_words(obstacle: Option<Self>) -> [u64; 2] {
        match obstacle {
            None => [0, 0],
            Some(Obstacle::NoShare) => [1, 0],
            Some(Obstacle::OtherSize(planned)) => [2, planned as u64],
            Some(Obstacle::Environment(error)) => {
                let index = ENVIRONMENTS.iter().position(|&other| other == error);
                [3, index.unwrap_or(0) as u64]
            }
        }
    }

    /// The error that a rank's numbers mean, if any.
    fn error([which, detail]: [u64; 2], rank: usize, size: usize) -> Option<BuildError> {
        let detail = usize::try_from(detail).unwrap_or(usize::MAX);
        match which {
            0 => None,
            1 => Some(BuildError::NoShare { rank }),
            2 => Some(BuildError::OtherSize {
                rank,
                planned: detail,
                size,
            }),
            _ => Some(BuildError::Environment {
                rank,
                error: ENVIRONMENTS[detail.min(ENVIRONMENTS.len() - 1)],
            }),
        }
    }
}

/// One rank's part in a plan.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// Why this rank cannot take part, if it cannot.
    pub(crate) obstacle: Option<Obstacle>,
    pub(crate) share: Share,
    /// The number of items on all ranks, if the program gave it on this rank.
    pub(crate) items: Option<u64>,
    pub(crate) settings: Settings,
}

/// A [`Proposal`] as numbers.
#[derive(Clone, Copy, Debug)]
struct Record {
    obstacle: [u64; 2],
    /// The number of items on this rank; 0 for extents.
    local_items: u64,
    /// The number of extents; [`NO_EXTENTS`] if the share is no list of them.
    extents: u64,
    /// 1 if the program gave the number of items on all ranks, else 0.
    gives_items: u64,
    items: u64,
    /// Fingerprints of the settings' values.
    settings: [u64; SETTINGS_COUNT],
}

const NO_EXTENTS: u64 = u64::MAX;
const RECORD_WORDS: usize = 6 + SETTINGS_COUNT;

impl Record {
    fn new(proposal: &Proposal, rank: usize) -> Self {
        let (local_items, extents) = match &proposal.share {
            Share::Count(count) => (*count, NO_EXTENTS),
            Share::Extents(extents) => (0, extents.len() as u64),
            Share::Rule(ownership) => match ownership.as_distribution() {
                Some(distribution) => (distribution.count(rank), NO_EXTENTS),
                None => (0, ownership.extents(rank).count() as u64),
            },
        };
        Self {
            obstacle: Obstacle::to_words(proposal.obstacle),
            local_items,
            extents,
            gives_items: proposal.items.is_some().into(),
            items: proposal.items.unwrap_or(0),
            settings: proposal
                .settings
                .each_ref()
                .map(|(_, value)| fingerprint(value)),
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        let [which, detail] = self.obstacle;
        let mut words = vec![
            which,
            detail,
            self.local_items,
            self.extents,
            self.gives_items,
            self.items,
        ];
        words.extend(self.settings);
        bytemuck::cast_slice(&words).to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let words: [u64; RECORD_WORDS] = bytemuck::pod_read_unaligned(bytes);
        let [
            which,
            detail,
            local_items,
            extents,
            gives_items,
            items,
            settings @ ..,
        ] = words;
        Self {
            obstacle: [which, detail],
            local_items,
            extents,
            gives_items,
            items,
            settings,
        }
    }
}

/// Compares all ranks' proposals and returns who owns what. Collective.
pub(crate) fn agree(comm: &dyn Communicator, proposal: &Proposal) -> Result<Ownership, BuildError> {
    if let Some(ownership) = agree_on_rule(comm, proposal)? {
        return Ok(ownership);
    }
    let record = Record::new(proposal, comm.rank());
    let all = collective::allgather(comm, record.to_bytes())?;
    let records: Vec<Record> = all
        .chunks_exact(RECORD_WORDS * size_of::<u64>())
        .map(Record::from_bytes)
        .collect();

    for (rank, record) in records.iter().enumerate() {
        if let Some(error) = Obstacle::error(record.obstacle, rank, records.len()) {
            return Err(error);
        }
    }
    for (index, (subject, value)) in proposal.settings.iter().enumerate() {
        let differs = |record: &Record| record.settings[index] != records[0].settings[index];
        if let Some(rank) = records.iter().position(differs) {
            let mut values = exchange_texts(comm, value)?;
            return Err(BuildError::Disagreement {
                subject,
                second: (rank, values.swap_remove(rank)),
                first: (0, values.swap_remove(0)),
            });
        }
    }
    let ownership = if records.iter().all(|record| record.extents == NO_EXTENTS) {
        let counts: Vec<u64> = records.iter().map(|record| record.local_items).collect();
        let distribution = Distribution::from_counts(&counts);
        Ownership::from(distribution.map_err(|_| BuildError::TooManyItems)?)
    } else {
        Ownership::from_extents(&exchange_extents(comm, proposal, &records)?)?
    };
    check_item_counts(&records, ownership.items())?;
    Ok(ownership)
}

/// The rule, if all ranks agree on everything, and the items follow one.
fn agree_on_rule(
    comm: &dyn Communicator,
    proposal: &Proposal,
) -> Result<Option<Ownership>, BuildError> {
    let rule = match &proposal.share {
        Share::Rule(ownership) if proposal.obstacle.is_none() => {
            // A wrong number of items is an error of the exchange of records.
            let is_right = |items| items == ownership.items();
            proposal.items.is_none_or(is_right).then_some(ownership)
        }
        _ => None,
    };
    let text = format!("{:?} {rule:?}", proposal.settings);
    // A fingerprint, and whether all ranks so far have the same.
    let vote = [fingerprint(&text), rule.is_some().into()];
    let combine = |left: &mut [u8], right: &[u8]| {
        let [left_print, left_agrees]: [u64; 2] = bytemuck::pod_read_unaligned(left);
        let [right_print, right_agrees]: [u64; 2] = bytemuck::pod_read_unaligned(right);
        let agrees = u64::from(left_print == right_print) & left_agrees & right_agrees;
        left.copy_from_slice(bytemuck::bytes_of(&[left_print, agrees]));
    };
    let mut vote = bytemuck::bytes_of(&vote).to_vec();
    collective::allreduce(comm, Tag::CONTROL, &mut vote, combine)?;
    let [_, all_agree]: [u64; 2] = bytemuck::pod_read_unaligned(&vote);
    Ok(rule.filter(|_| all_agree != 0).cloned())
}

/// Checks that all ranks that give a number of items give the same, and that it is the number found.
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

/// Every rank's extents. Mixing counts and extents is an error.
fn exchange_extents(
    comm: &dyn Communicator,
    proposal: &Proposal,
    records: &[Record],
) -> Result<Vec<Vec<Range<u64>>>, BuildError> {
    if let Some(rank) = records
        .iter()
        .position(|record| record.extents == NO_EXTENTS)
    {
        let other = records
            .iter()
            .position(|record| record.extents != NO_EXTENTS);
        return Err(BuildError::Disagreement {
            subject: "kind of ownership",
            first: (rank, "a number of items".to_owned()),
            second: (other.unwrap_or(rank), "a list of extents".to_owned()),
        });
    }
    let own: Vec<Range<u64>> = match &proposal.share {
        Share::Extents(extents) => extents.clone(),
        Share::Rule(ownership) => ownership.extents(comm.rank()).collect(),
        Share::Count(_) => Vec::new(),
    };
    let counts = records.iter().map(|record| record.extents);
    let most = usize::try_from(counts.max().unwrap_or(0)).expect("extents are in memory");
    let mut words: Vec<u64> = own
        .iter()
        .flat_map(|extent| [extent.start, extent.end])
        .collect();
    words.resize(2 * most, 0);
    let all = collective::allgather(comm, bytemuck::cast_slice(&words).to_vec())?;
    let word_bytes = size_of::<u64>();
    let mut extents = Vec::with_capacity(records.len());
    for (rank, record) in records.iter().enumerate() {
        let word = |index: usize| -> u64 {
            let start = (2 * most * rank + index) * word_bytes;
            bytemuck::pod_read_unaligned(&all[start..start + word_bytes])
        };
        let count = usize::try_from(record.extents).expect("extents are in memory");
        let extent = |index: usize| word(2 * index)..word(2 * index + 1);
        extents.push((0..count).map(extent).collect());
    }
    Ok(extents)
}

/// Every rank's text, cut to [`TEXT_BYTES`].
fn exchange_texts(comm: &dyn Communicator, text: &str) -> Result<Vec<String>, comm::Error> {
    let mut message = text.as_bytes().to_vec();
    message.resize(TEXT_BYTES, 0);
    let all = collective::allgather(comm, message)?;
    let to_text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches(['\0', char::REPLACEMENT_CHARACTER])
            .to_owned()
    };
    Ok(all.chunks_exact(TEXT_BYTES).map(to_text).collect())
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo): the same on every machine and in every build.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
