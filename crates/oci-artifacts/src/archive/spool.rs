//! Temporary storage for bytes that may be too many for memory.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use parking_lot::Mutex;
use tempfile::SpooledTempFile;

use crate::Body;

/// The most bytes in memory; more are stored in an unnamed temporary file, which ends with the process at the latest.
const IN_MEMORY: usize = 1 << 20;

/// The bytes that are read at once.
const BUFFER: usize = 64 << 10;

/// Writes bytes into a [`Spool`].
pub struct Spooling {
    file: SpooledTempFile,
    length: u64,
}

/// Stored bytes, which can be read repeatedly and from any position.
pub struct Spool {
    file: Mutex<SpooledTempFile>,
    length: u64,
}

/// A range of a spool.
#[derive(Clone)]
pub struct Stretch {
    spool: Arc<Spool>,
    start: u64,
    length: u64,
}

impl Spooling {
    /// An empty one.
    pub fn new() -> Self {
        Self {
            file: SpooledTempFile::new(IN_MEMORY),
            length: 0,
        }
    }

    /// The number of bytes written.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The written bytes, for reading.
    pub fn finish(self) -> Arc<Spool> {
        Arc::new(Spool {
            file: Mutex::new(self.file),
            length: self.length,
        })
    }
}

impl Default for Spooling {
    fn default() -> Self {
        Self::new()
    }
}

impl Write for Spooling {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Spool {
    /// A range of the bytes.
    pub fn stretch(self: &Arc<Self>, start: u64, length: u64) -> Stretch {
        Stretch {
            spool: Arc::clone(self),
            start,
            length,
        }
    }

    /// All bytes.
    pub fn whole(self: &Arc<Self>) -> Stretch {
        self.stretch(0, self.length)
    }
}

impl Body for Stretch {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let reader = StretchReader {
            spool: Arc::clone(&self.spool),
            at: self.start,
            end: self.start + self.length,
        };
        Ok(Box::new(BufReader::with_capacity(BUFFER, reader)))
    }
}

struct StretchReader {
    spool: Arc<Spool>,
    at: u64,
    end: u64,
}

impl Read for StretchReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let limit = left.min(buffer.len());
        if limit == 0 {
            return Ok(0);
        }
        // All readers share one file, so each one seeks before it reads.
        let mut file = self.spool.file.lock();
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read(&mut buffer[..limit])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.at += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::{IN_MEMORY, Spooling};
    use crate::Body;

    #[test]
    fn ranges_of_a_spool_are_read_concurrently() {
        for length in [100, IN_MEMORY + 1000] {
            let bytes: Vec<u8> = (0..length).map(|index| (index % 251) as u8).collect();
            let mut spooling = Spooling::new();
            spooling.write_all(&bytes).expect("room");
            let spool = spooling.finish();
            let (one, all) = (spool.stretch(10, 50), spool.whole());
            let mut first = one.open().expect("kept");
            let mut start = [0; 20];
            first.read_exact(&mut start).expect("kept");
            let mut whole = Vec::new();
            let mut reader = all.open().expect("kept");
            reader.read_to_end(&mut whole).expect("kept");
            let mut rest = Vec::new();
            first.read_to_end(&mut rest).expect("kept");
            assert!(whole == bytes);
            assert_eq!([&start[..], &rest].concat(), bytes[10..60]);
        }
    }
}
