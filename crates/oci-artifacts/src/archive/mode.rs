//! The mode of a file.

/// What may be done with a file, and what it becomes when it is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode(u32);

impl Mode {
    /// That of a file which everybody reads and nobody runs.
    pub const PLAIN: Self = Self(0o644);

    /// The lowest twelve bits count.
    pub fn new(bits: u32) -> Self {
        Self(bits & 0o7777)
    }

    /// Whether its owner may execute it: all that an archive keeps.
    pub fn is_executable(self) -> bool {
        self.0 & 0o100 != 0
    }

    /// Whether it runs as its owner or its group, or is kept from others in its folder: setuid, setgid, sticky.
    pub fn is_special(self) -> bool {
        self.0 & 0o7000 != 0
    }
}

/// In octal digits, as `chmod` takes it.
impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}
