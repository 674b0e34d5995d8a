//! What ranks compare when they build a plan: one small allgather, so that every rank sees the same
//! disagreement and returns the same error. Only if there is one, a second tells the words.

use comm::{Communicator, collective};

use crate::error::BuildError;

/// What ranks may disagree on.
const SUBJECTS: [&str; 4] = ["element type", "operator", "algorithm", "root"];

/// How much of a rank's words an error may hold.
const WORDS_BYTES: usize = 192;

/// One rank's part in a plan.
#[derive(Debug)]
pub(crate) struct Proposal {
    /// Why this rank cannot take part, if it cannot.
    pub(crate) rejection: Option<String>,
    /// The number of items on this rank.
    pub(crate) local_items: u64,
    /// The number of items on all ranks, if this rank was told.
    pub(crate) items: Option<u64>,
    /// What this rank wants, subject by subject.
    pub(crate) wishes: [String; SUBJECTS.len()],
}

/// A [`Proposal`] as numbers.
#[derive(Clone, Copy, Debug)]
struct Record {
    is_rejected: u64,
    local_items: u64,
    is_told: u64,
    items: u64,
    wishes: [u64; SUBJECTS.len()],
}

const RECORD_WORDS: usize = 4 + SUBJECTS.len();

impl Record {
    fn new(proposal: &Proposal) -> Self {
        Self {
            is_rejected: proposal.rejection.is_some().into(),
            local_items: proposal.local_items,
            is_told: proposal.items.is_some().into(),
            items: proposal.items.unwrap_or(0),
            wishes: proposal.wishes.each_ref().map(|wish| fingerprint(wish)),
        }
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut words = vec![self.is_rejected, self.local_items, self.is_told, self.items];
        words.extend(self.wishes);
        bytemuck::cast_slice(&words).to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let words: [u64; RECORD_WORDS] = bytemuck::pod_read_unaligned(bytes);
        let [is_rejected, local_items, is_told, items, wishes @ ..] = words;
        Self {
            is_rejected,
            local_items,
            is_told,
            items,
            wishes,
        }
    }
}

/// Compares all ranks' proposals and returns the number of items on each. Collective.
pub(crate) fn agree(comm: &dyn Communicator, proposal: &Proposal) -> Result<Vec<u64>, BuildError> {
    let all = collective::allgather(comm, Record::new(proposal).to_bytes())?;
    let records: Vec<Record> = all
        .chunks_exact(RECORD_WORDS * size_of::<u64>())
        .map(Record::from_bytes)
        .collect();

    if let Some(rank) = records.iter().position(|record| record.is_rejected != 0) {
        let words = proposal.rejection.as_deref().unwrap_or_default();
        let reason = exchange_words(comm, words)?.swap_remove(rank);
        return Err(BuildError::Rejected { rank, reason });
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
    check_item_counts(&records)?;
    Ok(records.iter().map(|record| record.local_items).collect())
}

/// The ranks that were told of a number of items were told of the same, and it is what there is.
fn check_item_counts(records: &[Record]) -> Result<(), BuildError> {
    let mut told = (0..).zip(records).filter(|(_, record)| record.is_told != 0);
    let found = records
        .iter()
        .try_fold(0_u64, |sum, record| sum.checked_add(record.local_items))
        .ok_or(BuildError::TooManyItems)?;
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
