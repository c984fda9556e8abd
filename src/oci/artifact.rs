//! An artifact that is made here: the bytes of its manifest, and its blobs, which may be too long to hold.

use std::io::{self, Read, Write};
use std::sync::Arc;

use sha2::{Digest as _, Sha256, Sha512};

use super::digest::Digest;
use super::manifest::Descriptor;

/// A manifest with all that it names, to be put into a [`super::Sink`].
#[derive(Clone)]
pub struct Artifact {
    /// The descriptor of the manifest: media type, digest, length.
    pub descriptor: Descriptor,
    /// The bytes of the manifest, exactly those that the digest is of.
    pub manifest: Vec<u8>,
    /// The configuration and the layers, each once, in the order in which the manifest names them.
    pub blobs: Vec<Blob>,
}

/// Some content and what is said of it.
#[derive(Clone)]
pub struct Blob {
    /// Its media type, digest and length.
    pub descriptor: Descriptor,
    /// Its bytes.
    pub content: Arc<dyn Body>,
}

/// Bytes that can be read from their beginning as often as needed: a request that fails is made again.
pub trait Body: Send + Sync {
    /// The bytes, from the first one.
    ///
    /// # Errors
    /// They cannot be read, such as those of a file that is gone.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// Bytes in memory.
impl Body for Vec<u8> {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.clone())))
    }
}

/// Counts and digests what is written, and passes it on: nothing is held.
pub struct Digesting<W> {
    into: W,
    hash: Hash,
    written: u64,
}

enum Hash {
    Sha256(Sha256),
    Sha512(Sha512),
}

impl<W: Write> Digesting<W> {
    /// Digests by sha256, as content is named that is made here.
    pub fn new(into: W) -> Self {
        Self {
            into,
            hash: Hash::Sha256(Sha256::new()),
            written: 0,
        }
    }

    /// Digests by the algorithm of a digest, to compare with it.
    pub fn like(digest: &Digest, into: W) -> Self {
        let hash = match digest.as_str().starts_with("sha512:") {
            true => Hash::Sha512(Sha512::new()),
            false => Hash::Sha256(Sha256::new()),
        };
        Self {
            into,
            hash,
            written: 0,
        }
    }

    /// How many bytes were written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The writer, the digest of all that went through, and how many bytes that were.
    pub fn finish(self) -> (W, Digest, u64) {
        let digest = match self.hash {
            Hash::Sha256(hash) => Digest::of_hash("sha256", &hash.finalize()),
            Hash::Sha512(hash) => Digest::of_hash("sha512", &hash.finalize()),
        };
        (self.into, digest, self.written)
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.into.write(bytes)?;
        match &mut self.hash {
            Hash::Sha256(hash) => hash.update(&bytes[..taken]),
            Hash::Sha512(hash) => hash.update(&bytes[..taken]),
        }
        self.written += taken as u64;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use sha2::{Digest as _, Sha512};

    use super::{Digest, Digesting};

    #[test]
    fn a_digest_is_of_what_was_passed_on() {
        let mut digesting = Digesting::new(Vec::new());
        digesting.write_all(b"some ").expect("memory");
        digesting.write_all(b"bytes").expect("memory");
        let (bytes, digest, written) = digesting.finish();
        assert_eq!((bytes.as_slice(), written), (&b"some bytes"[..], 10));
        assert!(digest.is_of(b"some bytes"));
    }

    #[test]
    fn a_longer_digest_is_compared_by_its_own_algorithm() {
        let wanted = Digest::of_hash("sha512", &Sha512::digest(b"bytes"));
        let mut digesting = Digesting::like(&wanted, Vec::new());
        digesting.write_all(b"bytes").expect("memory");
        assert_eq!(digesting.finish().1, wanted);
    }
}
