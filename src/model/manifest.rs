//! The rendered files: what a run would write, before anybody looks at the disk.

/// One file, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestFile {
    /// Relative to the project's root, `/` between folders, with no empty, `.` or `..` part.
    pub path: String,
    /// Its text, ending in a newline.
    pub text: String,
}
