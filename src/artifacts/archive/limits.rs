//! How much an archive may ask for.

/// The limits that reading an archive is held to; all layers of an image together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes as they come, compressed or not.
    pub packed: u64,
    /// Bytes of the tar streams, headers and padding included.
    pub unpacked: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Entries of every sort: files, folders, extension headers.
    pub entries: usize,
    /// Bytes of all paths together, those of folders included that no entry names.
    pub names: usize,
    /// Bytes of one path.
    pub path: usize,
    /// Names in one path.
    pub depth: usize,
    /// How many times as long as it came a stream may become, once it is longer than [`Limits::ratio_from`].
    pub ratio: u64,
    /// Bytes of a stream that are taken whatever their ratio: small archives of alike files compress without bound.
    pub ratio_from: u64,
    /// Bytes of one extension header: a long name, PAX records.
    pub extension: u64,
}

impl Default for Limits {
    /// Ten times what a bundle of 10,000 objects needs, and room for a Kubernetes distribution with its images.
    fn default() -> Self {
        Self {
            packed: 4 << 30,
            unpacked: 8 << 30,
            file: 4 << 30,
            entries: 200_000,
            names: 32 << 20,
            path: 1024,
            depth: 32,
            ratio: 200,
            ratio_from: 64 << 20,
            extension: 64 << 10,
        }
    }
}
