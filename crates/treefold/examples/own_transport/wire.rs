//! Sends and receives framed messages by a socket to another rank. No call blocks.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;

use treefold::transport::Tag;

/// A frame is the tag in 8 bytes, the message's length in 8 bytes, and the message.
const TAG_BYTES: usize = 8;
const HEADER_BYTES: usize = TAG_BYTES + 8;

/// One end of a socket.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: UnixStream,
    /// The bytes of frames that the socket has not accepted yet.
    outgoing: VecDeque<u8>,
    /// The number of bytes that the socket has accepted.
    written_bytes: u64,
    /// The bytes of the first incomplete frame that have arrived.
    incoming: Vec<u8>,
    /// Why the socket no longer moves any bytes.
    failure: Option<Failure>,
}

/// The end of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The other process has gone.
    Left,
    /// Another error, as text.
    Io(String),
}

impl Wire {
    pub(crate) fn new(stream: UnixStream) -> Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            outgoing: VecDeque::new(),
            written_bytes: 0,
            incoming: Vec::new(),
            failure: None,
        })
    }

    /// Queues a message. Returns what [`written_bytes`](Self::written_bytes) will be when the whole
    /// message has left this process.
    pub(crate) fn queue(&mut self, tag: Tag, message: &[u8]) -> u64 {
        self.outgoing.extend(tag.to_bits().to_le_bytes());
        self.outgoing.extend((message.len() as u64).to_le_bytes());
        self.outgoing.extend(message);
        self.written_bytes + self.outgoing.len() as u64
    }

    /// The number of queued bytes that have left this process: the system delivers them to the
    /// other process.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Writes as much as the socket accepts and reads as much as it has; hands complete messages to
    /// `deliver`, in order.
    pub(crate) fn progress(&mut self, deliver: impl FnMut(Tag, Vec<u8>)) {
        if self.failure.is_some() {
            return;
        }
        // Bytes that the other process sent before it ended can still be read.
        let written = self.write();
        let read = self.read();
        self.deliver_frames(deliver);
        if let Err(error) = read.and(written) {
            self.failure = Some(match error.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => {
                    Failure::Left
                }
                _ => Failure::Io(error.to_string()),
            });
        }
    }

    fn write(&mut self) -> Result<()> {
        while !self.outgoing.is_empty() {
            match self.stream.write(self.outgoing.as_slices().0) {
                Ok(count) => {
                    self.outgoing.drain(..count);
                    self.written_bytes += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<()> {
        let mut chunk = [0; 1 << 16];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.incoming.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn deliver_frames(&mut self, mut deliver: impl FnMut(Tag, Vec<u8>)) {
        let mut rest = &self.incoming[..];
        while let Some((tag, message, behind)) = first_frame(rest) {
            deliver(tag, message.to_vec());
            rest = behind;
        }
        let delivered = self.incoming.len() - rest.len();
        self.incoming.drain(..delivered);
    }
}

/// The first frame's tag and message, and the bytes after the frame; `None` if the frame is not
/// complete.
fn first_frame(bytes: &[u8]) -> Option<(Tag, &[u8], &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (tag, length) = header.split_first_chunk::<TAG_BYTES>()?;
    let length = u64::from_le_bytes(*length.first_chunk()?);
    let (message, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    Some((Tag::from_bits(u64::from_le_bytes(*tag)), message, behind))
}
