//! A blob of a store as the content of an artifact: read while it is stored elsewhere, never held as a whole.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use crate::{Body, Descriptor, Failure, Reference, Store};

/// The blocks that wait for the reader.
const BLOCKS: usize = 4;

/// A blob of a store, which is requested when it is read.
pub(crate) struct Streamed {
    pub(crate) store: Arc<dyn Store>,
    /// Names the repository.
    pub(crate) of: Reference,
    pub(crate) blob: Descriptor,
}

impl Body for Streamed {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let (into, blocks) = sync_channel(BLOCKS);
        let store = Arc::clone(&self.store);
        let (of, blob) = (self.of.clone(), self.blob.clone());
        let copy = move || store.copy(&of, &blob, &mut Blocks(into));
        let copying = thread::Builder::new().spawn(copy)?;
        Ok(Box::new(Reader {
            blocks,
            block: io::Cursor::default(),
            copying: Some(copying),
        }))
    }
}

/// Passes on what is written.
struct Blocks(SyncSender<Vec<u8>>);

impl Write for Blocks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.send(bytes.to_owned());
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Ends without an error only after the store has verified the whole blob.
struct Reader {
    blocks: Receiver<Vec<u8>>,
    block: io::Cursor<Vec<u8>>,
    copying: Option<JoinHandle<Result<(), Failure>>>,
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.block.read(buffer)?;
            if read > 0 {
                return Ok(read);
            }
            match self.blocks.recv() {
                Ok(block) => self.block = io::Cursor::new(block),
                Err(_) => return self.end().map(|()| 0),
            }
        }
    }
}

impl Reader {
    fn end(&mut self) -> io::Result<()> {
        let Some(copying) = self.copying.take() else {
            return Ok(());
        };
        let copied = copying.join();
        let copied = copied.map_err(|_| io::Error::other("the store ended early"))?;
        copied.map_err(|failure| io::Error::other(failure.to_string()))
    }
}
