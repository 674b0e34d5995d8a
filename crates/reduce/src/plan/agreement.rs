//! What ranks compare when they build a plan, so that every rank sees the same disagreement and returns the same error.
//!
//! First one number from each, by allreduce: if all are the same, and the items follow a rule, that is all. Otherwise an
//! allgather of some numbers each tells who has what; only if ranks disagree, another tells the words.

use std::ops::Range;

use comm::{Communicator, Tag, collective};
use distribution::{Distribution, Ownership};

use crate::environment::EnvironmentError;
use crate::error::BuildError;

/// What ranks may disagree on.
const SUBJECTS: [&str; 7] = [
    "element type",
    "operator",
    "algorithm",
    "parameters of the algorithm",
    "root",
    "width",
    "message limit",
];

/// How much of a rank's words an error may hold.
const WORDS_BYTES: usize = 192;

/// What items a rank has.
#[derive(Clone, Debug)]
pub(crate) enum Share {
    /// So many, behind those of the ranks below.
    Count(u64),
    /// Any pieces.
    Extents(Vec<Range<u64>>),
    /// What a rule says that all ranks know.
    Rule(Ownership),
}

/// What can keep one rank from taking part, whatever the others want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It does not say which items it has.
    NoShare,
    /// Its distribution is for this number of ranks.
    OtherSize(usize),
    /// Its floating-point environment.
    Environment(EnvironmentError),
}

/// The floating-point environments that ranks tell each other of, by their places here.
const ENVIRONMENTS: [EnvironmentError; 3] = [
    EnvironmentError::FlushToZero,
    EnvironmentError::DenormalsAreZero,
    EnvironmentError::Rounding,
];

impl Obstacle {
    /// As numbers: which, and what is to be said of it.
    fn to_words(obstacle: Option<Self>) -> [u64; 2] {
        match obstacle {
            None => [0, 0],
            Some(Obstacle::NoShare) => [1, 0],
            Some(Obstacle::OtherSize(planned)) => [2, planned as u64],
            Some(Obstacle::Environment(error)) => {
                let place = ENVIRONMENTS.iter().position(|&other| other == error);
                [3, place.unwrap_or(0) as u64]
            }
        }
    }

    /// The error that a rank's numbers stand for, if any.
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
    /// The number of items on all ranks, if this rank was told.
    pub(crate) items: Option<u64>,
    /// What this rank wants, subject by subject.
    pub(crate) wishes: [String; SUBJECTS.len()],
}

/// A [`Proposal`] as numbers.
#[derive(Clone, Copy, Debug)]
struct Record {
    obstacle: [u64; 2],
    /// The number of items on this rank, as far as that is clear.
    local_items: u64,
    /// The number of extents; [`NO_EXTENTS`] if the share is no list of them.
    extents: u64,
    is_told: u64,
    items: u64,
    wishes: [u64; SUBJECTS.len()],
}

const NO_EXTENTS: u64 = u64::MAX;
const RECORD_WORDS: usize = 6 + SUBJECTS.len();

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
            is_told: proposal.items.is_some().into(),
            items: proposal.items.unwrap_or(0),
            wishes: proposal.wishes.each_ref().map(|wish| fingerprint(wish)),
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        let [which, detail] = self.obstacle;
        let mut words = vec![
            which,
            detail,
            self.local_items,
            self.extents,
            self.is_told,
            self.items,
        ];
        words.extend(self.wishes);
        bytemuck::cast_slice(&words).to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let words: [u64; RECORD_WORDS] = bytemuck::pod_read_unaligned(bytes);
        let [
            which,
            detail,
            local_items,
            extents,
            is_told,
            items,
            wishes @ ..,
        ] = words;
        Self {
            obstacle: [which, detail],
            local_items,
            extents,
            is_told,
            items,
            wishes,
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
    for (index, subject) in SUBJECTS.into_iter().enumerate() {
        let differs = |record: &Record| record.wishes[index] != records[0].wishes[index];
        if let Some(rank) = records.iter().position(differs) {
            let mut words = exchange_words(comm, &proposal.wishes[index])?;
            return Err(BuildError::Disagreement {
                subject,
                second: (rank, words.swap_remove(rank)),
                first: (0, words.swap_remove(0)),
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
        Share::Rule(ownership) if proposal.obstacle.is_none() => Some(ownership),
        _ => None,
    };
    let words = format!("{:?} {rule:?}", proposal.wishes);
    // A fingerprint, and whether all so far have had it.
    let vote = [fingerprint(&words), rule.is_some().into()];
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

/// The ranks that were told of a number of items were told of the same, and it is what there is.
fn check_item_counts(records: &[Record], found: u64) -> Result<(), BuildError> {
    let mut told = (0..).zip(records).filter(|(_, record)| record.is_told != 0);
    let Some((first, Record { items, .. })) = told.next() else {
        return Ok(());
    };
    if let Some((second, other)) = told.find(|(_, record)| record.items != *items) {
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

/// Every rank's extents. A rank with a mere count among them owns what would be its own if all had counts, which is
/// nothing that anybody can mean: it is told so.
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

/// Every rank's words, cut to [`WORDS_BYTES`].
fn exchange_words(comm: &dyn Communicator, words: &str) -> Result<Vec<String>, comm::Error> {
    let mut message = words.as_bytes().to_vec();
    message.resize(WORDS_BYTES, 0);
    let all = collective::allgather(comm, message)?;
    let to_text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.trim_end_matches(['\0', char::REPLACEMENT_CHARACTER])
            .to_owned()
    };
    Ok(all.chunks_exact(WORDS_BYTES).map(to_text).collect())
}

/// FNV-1a, 64 bits (Fowler, Noll and Vo): the same on every machine and in every build.
fn fingerprint(words: &str) -> u64 {
    words.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}
