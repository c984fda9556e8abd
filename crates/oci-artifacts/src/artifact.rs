//! Artifacts to push: a manifest's bytes and its blobs, which may be too large for memory.

use std::io::{self, Read, Write};
use std::sync::Arc;

use sha2::{Digest as _, Sha256, Sha512};

use super::digest::Digest;
use super::manifest::{Descriptor, MANIFEST_TYPE};

/// A manifest with everything that it names, for a [`super::Sink`].
#[derive(Clone)]
pub struct Artifact {
    /// The descriptor of the manifest: media type, digest, length.
    pub descriptor: Descriptor,
    /// The exact bytes of the manifest, of which the digest is.
    pub manifest: Vec<u8>,
    /// The configuration and the layers, without duplicates, in the order of the manifest.
    pub blobs: Vec<Blob>,
}

/// Content with its descriptor.
#[derive(Clone)]
pub struct Blob {
    /// Its media type, digest and length.
    pub descriptor: Descriptor,
    /// Its bytes.
    pub content: Arc<dyn Body>,
}

impl Artifact {
    /// An image's manifest with what it names.
    pub fn new(manifest: Vec<u8>, blobs: Vec<Blob>) -> Self {
        Self {
            descriptor: Descriptor::from_bytes(MANIFEST_TYPE, &manifest),
            manifest,
            blobs,
        }
    }
}

impl Blob {
    /// Some bytes.
    pub fn new(media_type: &str, bytes: Vec<u8>) -> Self {
        Self {
            descriptor: Descriptor::from_bytes(media_type, &bytes),
            content: Arc::new(bytes),
        }
    }
}

/// Bytes that can be read from the start repeatedly, because a failed request is retried.
pub trait Body: Send + Sync {
    /// The bytes, from the first one.
    ///
    /// # Errors
    /// They cannot be read, for example because the file was removed.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

/// Bytes in memory.
impl Body for Vec<u8> {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(io::Cursor::new(self.clone())))
    }
}

/// A writer that counts and digests the bytes that it passes on.
pub struct Digesting<W> {
    into: W,
    hash: Hash,
    written: u64,
}

enum Hash {
    Sha256(Sha256),
    Sha512(Sha512),
}

/// What a [`Digesting`] has written.
#[derive(Debug)]
pub struct Digested<W> {
    /// The writer.
    pub into: W,
    /// The digest of all bytes.
    pub digest: Digest,
    /// Their number.
    pub size: u64,
}

impl<W: Write> Digesting<W> {
    /// Uses sha256, the algorithm of all content that is created here.
    pub fn new(into: W) -> Self {
        Self {
            into,
            hash: Hash::Sha256(Sha256::new()),
            written: 0,
        }
    }

    /// Uses the algorithm of a digest, to compare with it.
    pub fn like(digest: &Digest, into: W) -> Self {
        let hash = if digest.as_str().starts_with("sha512:") {
            Hash::Sha512(Sha512::new())
        } else {
            Hash::Sha256(Sha256::new())
        };
        Self {
            into,
            hash,
            written: 0,
        }
    }

    /// The number of bytes written so far.
    pub fn byte_count(&self) -> u64 {
        self.written
    }

    /// Ends the computation.
    pub fn finish(self) -> Digested<W> {
        let digest = match self.hash {
            Hash::Sha256(hash) => Digest::from_hash("sha256", &hash.finalize()),
            Hash::Sha512(hash) => Digest::from_hash("sha512", &hash.finalize()),
        };
        Digested {
            into: self.into,
            digest,
            size: self.written,
        }
    }
}

impl<W: Write> Write for Digesting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        match &mut self.hash {
            Hash::Sha256(hash) => hash.update(&bytes[..written]),
            Hash::Sha512(hash) => hash.update(&bytes[..written]),
        }
        self.written += written as u64;
        Ok(written)
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
    fn the_digest_covers_all_written_bytes() {
        let mut digesting = Digesting::new(Vec::new());
        digesting.write_all(b"some ").expect("memory");
        digesting.write_all(b"bytes").expect("memory");
        let done = digesting.finish();
        assert_eq!((&*done.into, done.size), (&b"some bytes"[..], 10));
        assert!(done.digest.is_of(b"some bytes"));
    }

    #[test]
    fn a_sha512_digest_is_compared_with_its_own_algorithm() {
        let expected = Digest::from_hash("sha512", &Sha512::digest(b"bytes"));
        let mut digesting = Digesting::like(&expected, Vec::new());
        digesting.write_all(b"bytes").expect("memory");
        assert_eq!(digesting.finish().digest, expected);
    }
}
