//! Blobs on their way to a registry: read block by block as the connection takes them, with the digest computed meanwhile.
//! The last bytes are sent only after the digest of the whole blob is verified, so that a registry never receives a complete
//! blob with wrong content.
//!
//! The body comes from a channel and not from `reqwest`'s feature `stream`, which would add two crates: blocking threads read
//! the files, and need a channel to the connection anyway.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::{Blob, Descriptor, Digesting, FailureKind};

use super::error::RegistryError;
use super::meter::Meter;

/// The bytes that are read at once.
const BLOCK: u64 = 128 << 10;

/// The blocks that wait for the connection.
const BLOCKS: usize = 4;

/// A blob that is being sent. Cheap to clone.
#[derive(Clone)]
pub(super) struct Source(Arc<Shared>);

struct Shared {
    blob: Blob,
    meter: Arc<Meter>,
    open: Mutex<Option<Open>>,
    /// Why the blob cannot be sent at all.
    fault: Mutex<Option<RegistryError>>,
    /// The bytes that connections took, over all attempts.
    sent: AtomicU64,
    /// The value of `sent` at which the current request has all of its bytes.
    goal: AtomicU64,
}

/// An open reader of the blob, with the digest of the bytes read so far.
struct Open {
    reader: Box<dyn Read + Send>,
    digesting: Digesting<io::Sink>,
}

/// A range of a blob's bytes, which one request sends.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) source: Source,
    pub(super) from: u64,
    /// The end of the range, exclusive.
    pub(super) to: u64,
}

impl Source {
    pub(super) fn new(blob: &Blob, meter: &Arc<Meter>) -> Self {
        Self(Arc::new(Shared {
            blob: blob.clone(),
            meter: Arc::clone(meter),
            open: Mutex::default(),
            fault: Mutex::default(),
            sent: AtomicU64::new(0),
            goal: AtomicU64::new(0),
        }))
    }

    pub(super) fn descriptor(&self) -> &Descriptor {
        &self.0.blob.descriptor
    }

    pub(super) fn piece(&self, from: u64, to: u64) -> Piece {
        let source = self.clone();
        Piece { source, from, to }
    }

    /// Why the blob cannot be sent at all: a local error, not the registry's.
    pub(super) fn fault(&self) -> Option<RegistryError> {
        let fault = self.0.fault.lock();
        fault.clone()
    }

    /// The bytes that connections took so far. A growing number shows that the request makes progress.
    pub(super) fn progress(&self) -> u64 {
        self.0.sent.load(Ordering::Relaxed)
    }

    /// Whether the current request has all of its bytes.
    pub(super) fn is_all_sent(&self) -> bool {
        self.progress() >= self.0.goal.load(Ordering::Relaxed)
    }

    /// Reads a range into a channel until its end, or until the receiver is dropped.
    fn pump(&self, from: u64, to: u64, into: &mpsc::Sender<io::Result<Bytes>>) {
        let mut open = self.0.open.lock();
        let mut at = from;
        let mut next = || -> Result<Option<Vec<u8>>, RegistryError> {
            if at >= to && to > 0 {
                return Ok(None);
            }
            self.seek(&mut open, at)?;
            let block = self.read(&mut open, (to - at).min(BLOCK))?;
            at += block.len() as u64;
            Ok((!block.is_empty()).then_some(block))
        };
        loop {
            match next() {
                Ok(None) => return,
                Ok(Some(block)) => {
                    if into.blocking_send(Ok(block.into())).is_err() {
                        return;
                    }
                }
                Err(error) => {
                    let reason = io::Error::other(error.message.clone());
                    let mut fault = self.0.fault.lock();
                    *fault = Some(error);
                    drop(fault);
                    let _ = into.blocking_send(Err(reason));
                    return;
                }
            }
        }
    }

    /// Moves to byte `at`. Before the current position, the blob is opened and read again from its start.
    fn seek(&self, open: &mut Option<Open>, at: u64) -> Result<(), RegistryError> {
        if open
            .as_ref()
            .is_none_or(|open| open.digesting.byte_count() > at)
        {
            let reader = self.0.blob.content.open();
            *open = Some(Open {
                reader: reader.map_err(|error| self.unreadable(&error))?,
                digesting: Digesting::like(&self.descriptor().digest, io::sink()),
            });
        }
        while let Some(known) = open.as_ref().map(|open| open.digesting.byte_count())
            && known < at
        {
            self.read(open, (at - known).min(BLOCK))?;
        }
        Ok(())
    }

    /// Reads the next block. The last one is returned only if the digest of the whole blob is right.
    fn read(&self, open: &mut Option<Open>, limit: u64) -> Result<Vec<u8>, RegistryError> {
        let size = self.descriptor().size;
        let Some(Open { reader, digesting }) = open else {
            return Ok(Vec::new());
        };
        let mut block = Vec::with_capacity(usize::try_from(limit).unwrap_or_default());
        let read = reader.by_ref().take(limit).read_to_end(&mut block);
        read.map_err(|error| self.unreadable(&error))?;
        digesting
            .write_all(&block)
            .map_err(|error| self.unreadable(&error))?;
        let written = digesting.byte_count();
        if (block.len() as u64) < limit {
            return Err(self.mismatch(&format!("its content has {written} bytes")));
        }
        if written == size {
            let more = reader
                .read(&mut [0])
                .map_err(|error| self.unreadable(&error))?;
            let whole = open.take().map(|open| open.digesting.finish().digest);
            if more > 0 {
                return Err(self.mismatch("its content has more bytes"));
            }
            if let Some(digest) = whole.filter(|digest| *digest != self.descriptor().digest) {
                return Err(self.mismatch(&format!("its content has the digest `{digest}`")));
            }
        }
        Ok(block)
    }

    fn unreadable(&self, error: &io::Error) -> RegistryError {
        let message = format!(
            "blob `{}` cannot be read: {error}",
            self.descriptor().digest
        );
        RegistryError::new(FailureKind::Unreachable, message)
    }

    fn mismatch(&self, what: &str) -> RegistryError {
        let Descriptor { digest, size, .. } = self.descriptor();
        let message =
            format!("blob `{digest}` of {size} bytes does not have the expected content: {what}");
        RegistryError::new(FailureKind::Corrupt, message).help(
            "the files changed while they were pushed: push again, without changing them meanwhile",
        )
    }
}

impl Piece {
    /// The bytes as the body of a request; a blocking thread reads them.
    pub(super) fn body(&self) -> reqwest::Body {
        let (into, blocks) = mpsc::channel(BLOCKS);
        let Self { source, from, to } = self.clone();
        let left = to - from;
        let goal = source.progress() + left;
        source.0.goal.store(goal, Ordering::Relaxed);
        let shared = source.clone();
        tokio::task::spawn_blocking(move || shared.pump(from, to, &into));
        reqwest::Body::wrap(Stream {
            source,
            blocks,
            left,
        })
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = &self.source.descriptor().digest;
        write!(f, "Piece({digest}, {}..{})", self.from, self.to)
    }
}

/// The body of a request, as a stream of blocks.
struct Stream {
    source: Source,
    blocks: mpsc::Receiver<io::Result<Bytes>>,
    left: u64,
}

impl http_body::Body for Stream {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let block = ready!(self.blocks.poll_recv(context));
        Poll::Ready(match block {
            Some(Ok(block)) => {
                let length = block.len() as u64;
                self.left = self.left.saturating_sub(length);
                self.source.0.sent.fetch_add(length, Ordering::Relaxed);
                self.source.0.meter.add(length);
                Some(Ok(Frame::data(block)))
            }
            Some(Err(error)) => Some(Err(error)),
            None if self.left > 0 => Some(Err(io::ErrorKind::UnexpectedEof.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    /// Exact, so that the request has a `Content-Length`.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
