//! Blobs on their way to a registry: read piece by piece as the connection takes them, and digested meanwhile. The last bytes
//! are held back until all of them are proven, so that no registry gets the whole of what is not what it should be.
//!
//! A request's body from a channel and not `reqwest`'s feature `stream`, which brings two more crates: bodies are read by
//! threads that may wait for a disk, and a channel between them and the connection is needed anyway.

use std::fmt;
use std::io::{self, Read, Write as _};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::sync::mpsc;

use crate::oci::{Blob, Descriptor, Digesting, FailureKind};

use super::meter::Meter;
use super::trouble::Trouble;

/// How much is read at once, in bytes.
const BLOCK: u64 = 128 << 10;

/// How many blocks wait for the connection.
const BLOCKS: usize = 4;

/// A blob that is being sent. Cheap to clone.
#[derive(Clone)]
pub(super) struct Source(Arc<Shared>);

struct Shared {
    blob: Blob,
    meter: Arc<Meter>,
    open: Mutex<Option<Open>>,
    /// Why it cannot be sent at all.
    fault: Mutex<Option<Trouble>>,
    /// How many bytes connections took, those of all attempts.
    taken: AtomicU64,
    /// What that comes to when the request that is under way has all of its own.
    wanted: AtomicU64,
}

/// The body, read up to some byte.
struct Open {
    reader: Box<dyn Read + Send>,
    digesting: Digesting<io::Sink>,
}

/// Some bytes of a blob, all in one request.
#[derive(Clone)]
pub(super) struct Piece {
    pub(super) source: Source,
    pub(super) from: u64,
    /// The byte behind the last one.
    pub(super) to: u64,
}

impl Source {
    pub(super) fn of(blob: &Blob, meter: &Arc<Meter>) -> Self {
        Self(Arc::new(Shared {
            blob: blob.clone(),
            meter: Arc::clone(meter),
            open: Mutex::default(),
            fault: Mutex::default(),
            taken: AtomicU64::new(0),
            wanted: AtomicU64::new(0),
        }))
    }

    pub(super) fn descriptor(&self) -> &Descriptor {
        &self.0.blob.descriptor
    }

    pub(super) fn piece(&self, from: u64, to: u64) -> Piece {
        let source = self.clone();
        Piece { source, from, to }
    }

    /// Why it cannot be sent at all, if so: its own fault, not the registry's.
    pub(super) fn fault(&self) -> Option<Trouble> {
        let fault = self.0.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.clone()
    }

    /// How many bytes connections took so far; it grows while something happens.
    pub(super) fn taken(&self) -> u64 {
        self.0.taken.load(Ordering::Relaxed)
    }

    /// Whether the request that is under way has all of its bytes.
    pub(super) fn is_all_taken(&self) -> bool {
        self.taken() >= self.0.wanted.load(Ordering::Relaxed)
    }

    /// Reads a piece into a channel, until nobody wants it any more.
    fn pump(&self, from: u64, to: u64, into: &mpsc::Sender<io::Result<Bytes>>) {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = from;
        let mut next = || -> Result<Option<Vec<u8>>, Trouble> {
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
                Err(trouble) => {
                    let reason = io::Error::other(trouble.message.clone());
                    let mut fault = self.0.fault.lock().unwrap_or_else(PoisonError::into_inner);
                    *fault = Some(trouble);
                    drop(fault);
                    let _ = into.blocking_send(Err(reason));
                    return;
                }
            }
        }
    }

    /// Goes to a byte: where the last piece ended that is nothing to do; before it, the body is read again from its start.
    fn seek(&self, open: &mut Option<Open>, at: u64) -> Result<(), Trouble> {
        if open
            .as_ref()
            .is_none_or(|open| open.digesting.written() > at)
        {
            let reader = self.0.blob.content.open();
            *open = Some(Open {
                reader: reader.map_err(|error| self.unreadable(&error))?,
                digesting: Digesting::like(&self.descriptor().digest, io::sink()),
            });
        }
        while let Some(known) = open.as_ref().map(|open| open.digesting.written())
            && known < at
        {
            self.read(open, (at - known).min(BLOCK))?;
        }
        Ok(())
    }

    /// The next block. The last one is given only when the digest of all is right.
    fn read(&self, open: &mut Option<Open>, most: u64) -> Result<Vec<u8>, Trouble> {
        let size = self.descriptor().size;
        let Some(Open { reader, digesting }) = open else {
            return Ok(Vec::new());
        };
        let mut block = Vec::with_capacity(usize::try_from(most).unwrap_or_default());
        let read = reader.by_ref().take(most).read_to_end(&mut block);
        read.map_err(|error| self.unreadable(&error))?;
        digesting
            .write_all(&block)
            .map_err(|error| self.unreadable(&error))?;
        let written = digesting.written();
        if (block.len() as u64) < most {
            return Err(self.other(&format!("its content has {written} bytes")));
        }
        if written == size {
            let more = reader
                .read(&mut [0])
                .map_err(|error| self.unreadable(&error))?;
            let whole = open.take().map(|open| open.digesting.finish().1);
            if more > 0 {
                return Err(self.other("its content has more bytes"));
            }
            if let Some(digest) = whole.filter(|digest| *digest != self.descriptor().digest) {
                return Err(self.other(&format!("its content has the digest `{digest}`")));
            }
        }
        Ok(block)
    }

    fn unreadable(&self, error: &io::Error) -> Trouble {
        let message = format!(
            "blob `{}` cannot be read: {error}",
            self.descriptor().digest
        );
        Trouble::new(FailureKind::Unreachable, message)
    }

    fn other(&self, what: &str) -> Trouble {
        let Descriptor { digest, size, .. } = self.descriptor();
        let message = format!("blob `{digest}` of {size} bytes is not what is to be sent: {what}");
        Trouble::new(FailureKind::Corrupt, message)
            .help("what is pushed changed meanwhile: leave it alone and push again")
    }
}

impl Piece {
    /// Its bytes as the body of a request, read by a thread of their own.
    pub(super) fn body(&self) -> reqwest::Body {
        let (into, blocks) = mpsc::channel(BLOCKS);
        let Self { source, from, to } = self.clone();
        let left = to - from;
        let wanted = source.taken() + left;
        source.0.wanted.store(wanted, Ordering::Relaxed);
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

/// The blocks of a piece as they come.
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
                self.source.0.taken.fetch_add(length, Ordering::Relaxed);
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

    /// Exactly, so that it is sent with its length.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
