//! A frame is a payload or the number of a failed rank, followed by a byte that says which of the two it is.
//!
//! A rank that cannot deliver a payload sends the number of the failed rank instead, so that no rank waits forever. The byte
//! that distinguishes the two comes last, so that the payload stays aligned. Numbers are in the machine's own byte order.

use comm::text::counted;

use crate::error::RunError;

const DELIVERED: u8 = 0;
const FAILED: u8 = 1;

/// The capacity of a frame, in bytes: room for `payload_bytes` or for a failure report.
pub(crate) fn frame_bytes(payload_bytes: usize) -> usize {
    payload_bytes.max(size_of::<u64>()) + 1
}

/// The frame of a payload.
pub(crate) fn delivered(payload: &[u8]) -> Vec<u8> {
    [payload, &[DELIVERED]].concat()
}

/// The frame that reports the failure of `rank`.
pub(crate) fn failed(rank: usize) -> Vec<u8> {
    let mut frame = (rank as u64).to_ne_bytes().to_vec();
    frame.push(FAILED);
    frame
}

/// The payload of a frame that `from` sent to `rank`.
pub(crate) fn payload(frame: &[u8], rank: usize, from: usize) -> Result<&[u8], RunError> {
    let wrong = |reason: &str| RunError::WrongMessage {
        rank,
        from,
        reason: reason.to_owned(),
    };
    match frame.split_last() {
        Some((&DELIVERED, payload)) => Ok(payload),
        Some((&FAILED, number)) => {
            let number = number
                .try_into()
                .map_err(|_| wrong("it reports a failure of no rank"))?;
            let rank = usize::try_from(u64::from_ne_bytes(number));
            Err(RunError::RankFailed {
                rank: rank.map_err(|_| wrong("it names an impossible rank"))?,
            })
        }
        _ => Err(wrong("its last byte is missing or unknown")),
    }
}

/// Checks that a value that `from` sent to `rank` has the expected number of bytes.
pub(crate) fn check_length(
    value: &[u8],
    expected: usize,
    rank: usize,
    from: usize,
) -> Result<(), RunError> {
    if value.len() == expected {
        return Ok(());
    }
    Err(RunError::WrongMessage {
        rank,
        from,
        reason: format!("{} instead of {expected}", counted(value.len(), "byte")),
    })
}
