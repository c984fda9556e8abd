//! The bytes of the tar stream, unpacked if they are compressed, and counted before and after.

use std::error::Error as StdError;
use std::fmt;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::GzDecoder;

use super::Limits;
use super::refusal::{ReadError, Reason};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Compressions that are recognized but not supported.
const OTHERS: [(&[u8], &str); 3] = [
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz"),
    (b"BZh", "bzip2"),
];

type Raw<R> = BufReader<io::Chain<Cursor<Vec<u8>>, Counted<R>>>;

/// A tar stream that may be compressed.
pub(super) struct Stream<'a, R: Read> {
    source: Source<R>,
    limits: &'a Limits,
    /// The number of unpacked bytes so far, including earlier archives.
    pub(super) unpacked: u64,
    /// The number of unpacked bytes of earlier archives.
    before: u64,
    /// Whether it is compressed, so that its length and checksum are verified at the end.
    pub(super) is_gzip: bool,
}

enum Source<R: Read> {
    Plain(Raw<R>),
    Gzip(GzDecoder<Raw<R>>),
    Ended,
}

/// Counts the bytes that are read, and marks I/O errors to distinguish them from those of decoders.
struct Counted<R> {
    inner: R,
    count: u64,
    limit: u64,
}

#[derive(Debug)]
enum Marked {
    Io(io::Error),
    TooLarge(u64),
    Trailing,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(buffer) {
            Ok(read) => {
                self.count += read as u64;
                if self.count > self.limit {
                    Err(io::Error::other(Marked::TooLarge(self.limit)))
                } else {
                    Ok(read)
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => Err(io::Error::other(Marked::Io(error))),
        }
    }
}

impl<'a, R: Read> Stream<'a, R> {
    /// Detects the compression. `unpacked` is the count of earlier archives.
    pub(super) fn open(reader: R, limits: &'a Limits, unpacked: u64) -> Result<Self, ReadError> {
        let mut counted = Counted {
            inner: reader,
            count: 0,
            limit: limits.packed,
        };
        let mut head = Vec::new();
        let sniffed = counted.by_ref().take(8).read_to_end(&mut head);
        sniffed.map_err(read_error)?;
        if let Some((_, name)) = OTHERS.iter().find(|(magic, _)| head.starts_with(magic)) {
            return Err(Reason::Compression(name).into());
        }
        let is_gzip = head.starts_with(&GZIP);
        let raw = BufReader::with_capacity(64 << 10, Cursor::new(head).chain(counted));
        let source = if is_gzip {
            Source::Gzip(GzDecoder::new(raw))
        } else {
            Source::Plain(raw)
        };
        Ok(Self {
            source,
            limits,
            unpacked,
            before: unpacked,
            is_gzip,
        })
    }

    /// Reads some bytes, none at the end; the members of a gzip stream are concatenated.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        loop {
            let read = match &mut self.source {
                Source::Plain(raw) => raw.read(buffer),
                Source::Gzip(gzip) => gzip.read(buffer),
                Source::Ended => Ok(0),
            };
            match read {
                Ok(0) if matches!(self.source, Source::Gzip(_)) => self.next_member()?,
                Ok(read) => return self.count_unpacked(read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(error)),
            }
        }
    }

    /// Fills the buffer, or stops at the end, and returns the number of bytes.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                read => filled += read,
            }
        }
        Ok(filled)
    }

    fn next_member(&mut self) -> Result<(), ReadError> {
        let Source::Gzip(gzip) = std::mem::replace(&mut self.source, Source::Ended) else {
            return Ok(());
        };
        let mut raw = gzip.into_inner();
        match raw.fill_buf().map_err(read_error)? {
            [] => {}
            [first, ..] if *first == GZIP[0] => self.source = Source::Gzip(GzDecoder::new(raw)),
            _ => return Err(read_error(io::Error::other(Marked::Trailing))),
        }
        Ok(())
    }

    fn count_unpacked(&mut self, read: usize) -> Result<usize, ReadError> {
        self.unpacked += read as u64;
        let limits = self.limits;
        if self.unpacked > limits.unpacked {
            return Err(Reason::UnpackedTooLarge(limits.unpacked).into());
        }
        let packed = match &self.source {
            Source::Gzip(gzip) => gzip.get_ref().get_ref().get_ref().1.count,
            Source::Plain(_) | Source::Ended => return Ok(read),
        };
        let unpacked = self.unpacked - self.before;
        if unpacked > limits.ratio_from && unpacked > packed.saturating_mul(limits.ratio) {
            Err(Reason::Ratio(limits.ratio).into())
        } else {
            Ok(read)
        }
    }
}

/// The error for an error of the input or of the decoder.
fn read_error(error: io::Error) -> ReadError {
    let kind = error.kind();
    let text = error.to_string();
    match error.downcast::<Marked>() {
        Ok(Marked::Io(error)) => ReadError::World(error),
        Ok(Marked::TooLarge(limit)) => Reason::PackedTooLarge(limit).into(),
        Ok(Marked::Trailing) => Reason::Trailing.into(),
        Err(_) if kind == io::ErrorKind::UnexpectedEof => Reason::Truncated.into(),
        Err(_) => Reason::Gzip(text).into(),
    }
}

impl fmt::Display for Marked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::TooLarge(limit) => Reason::PackedTooLarge(*limit).fmt(f),
            Self::Trailing => Reason::Trailing.fmt(f),
        }
    }
}

impl StdError for Marked {}
