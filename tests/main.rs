//! One test binary; each module says what it proves.

mod write;
