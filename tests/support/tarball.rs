//! Builds tar streams block by block, as no library would: what an enemy sends.

use std::io::Write;

/// A tar stream that is being written.
#[derive(Clone, Default)]
pub(crate) struct Tarball(Vec<u8>);

impl Tarball {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// A regular file.
    pub(crate) fn file(self, path: &str, content: &[u8]) -> Self {
        self.entry(b'0', path.as_bytes(), "", content)
    }

    /// A program that runs as its owner.
    pub(crate) fn setuid(self, path: &str, content: &[u8]) -> Self {
        let start = self.0.len();
        let mut stream = self.file(path, content);
        let header = &mut stream.0[start..start + 512];
        header[100..108].copy_from_slice(b"0004755\0");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        stream
    }

    /// A folder.
    pub(crate) fn folder(self, path: &str) -> Self {
        self.entry(b'5', path.as_bytes(), "", b"")
    }

    /// Something that names another thing.
    pub(crate) fn link(self, kind: u8, path: &str, to: &str) -> Self {
        self.entry(kind, path.as_bytes(), to, b"")
    }

    /// An entry of any type, its length that of its content.
    pub(crate) fn entry(mut self, kind: u8, path: &[u8], to: &str, content: &[u8]) -> Self {
        let size = format!("{:011o}", content.len());
        self.0.extend(header(kind, path, to, &size));
        self.padded(content)
    }

    /// An entry whose header says another length than its content has.
    pub(crate) fn lying(mut self, path: &str, size: &str, content: &[u8]) -> Self {
        self.0.extend(header(b'0', path.as_bytes(), "", size));
        self.padded(content)
    }

    /// PAX records before the next entry, or, by `g`, for all entries.
    pub(crate) fn pax(self, kind: u8, records: &[(&str, &str)]) -> Self {
        let text: String = records
            .iter()
            .map(|(key, value)| record(key, value))
            .collect();
        self.entry(kind, b"pax", "", text.as_bytes())
    }

    /// Any bytes.
    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// The stream with the two empty blocks that end it.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        self.0
    }

    fn padded(mut self, content: &[u8]) -> Self {
        self.0.extend(content);
        let padding = content.len().next_multiple_of(512) - content.len();
        self.0.extend(vec![0; padding]);
        self
    }
}

/// One gzip member.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn record(key: &str, value: &str) -> String {
    let rest = key.len() + value.len() + 3;
    let mut length = rest;
    while length != rest + length.to_string().len() {
        length = rest + length.to_string().len();
    }
    format!("{length} {key}={value}\n")
}

fn header(kind: u8, path: &[u8], to: &str, size: &str) -> [u8; 512] {
    let mut block = [0; 512];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &path[..path.len().min(100)]);
    put(100, b"0000644\0");
    put(108, b"0001750\0");
    put(116, b"0001750\0");
    put(124, size.as_bytes());
    put(136, b"14000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, to.as_bytes());
    put(257, b"ustar\x0000");
    put(265, b"somebody");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    block
}
