//! A socket to another rank: framed messages out and in. Nothing here ever waits.

use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Result, Write};
use std::os::unix::net::UnixStream;

use treefold::transport::Tag;

/// A frame is the tag as 8 bytes, the message's length as 8, and the message.
const TAG_BYTES: usize = 8;
const HEADER_BYTES: usize = TAG_BYTES + 8;

/// One end of a socket.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: UnixStream,
    /// Frames, or the rest of them, that the socket has not taken yet.
    outgoing: VecDeque<u8>,
    /// The bytes that the socket has taken.
    written_bytes: u64,
    /// What has come of frames that are not complete.
    incoming: Vec<u8>,
    /// Why nothing moves any more.
    failure: Option<Failure>,
}

/// The end of a connection.
#[derive(Clone, Debug)]
pub(crate) enum Failure {
    /// The other process has gone.
    Left,
    /// Something else.
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

    /// Queues a message. Returns the number of written bytes at which it is out of this process.
    pub(crate) fn queue(&mut self, tag: Tag, message: &[u8]) -> u64 {
        self.outgoing.extend(tag.to_bits().to_le_bytes());
        self.outgoing.extend((message.len() as u64).to_le_bytes());
        self.outgoing.extend(message);
        self.written_bytes + self.outgoing.len() as u64
    }

    /// The bytes of the queue's that are out of this process: the system brings them to the other one.
    pub(crate) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Writes and reads as much as the socket takes and has; hands complete messages to `deliver`, in order.
    pub(crate) fn progress(&mut self, deliver: impl FnMut(Tag, Vec<u8>)) {
        if self.failure.is_some() {
            return;
        }
        // What has been sent before the other process went is still there to be read.
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

/// The first frame's tag and message, and what is behind it; `None` if it is not complete.
fn first_frame(bytes: &[u8]) -> Option<(Tag, &[u8], &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<HEADER_BYTES>()?;
    let (tag, length) = header.split_first_chunk::<TAG_BYTES>()?;
    let length = u64::from_le_bytes(*length.first_chunk()?);
    let (message, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
    Some((Tag::from_bits(u64::from_le_bytes(*tag)), message, behind))
}
