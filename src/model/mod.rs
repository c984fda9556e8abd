//! The data that flows between the stages, and the laws of that data. Nothing here touches disk, network or environment.

pub mod bytes;
pub mod catalogue;
pub mod checksum;
pub mod cluster;
pub mod engine;
pub mod finding;
pub mod fix;
pub mod image;
pub mod integer;
pub mod json;
pub mod manifest;
pub mod matching;
pub mod merge;
pub mod name;
pub mod output_path;
pub mod place;
pub mod policy;
pub mod proof;
pub mod selector;
pub mod storage;
pub mod successor;
pub mod suggest;
pub mod value;
pub mod version;
pub mod workspace;
pub mod written;
