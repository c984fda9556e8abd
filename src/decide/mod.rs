//! The decisions: which image a node pool selects, whether that is proven, what may replace it, and by which steps a cluster
//! reaches another version. Data in, data out: nothing here reads a file or prints.

pub mod bound_content;
pub mod build_list;
pub mod component_choice;
pub mod followers;
pub mod identity;
pub mod image_server;
pub mod matching;
pub mod object_changes;
pub mod plan;
pub mod pool_counts;
pub mod proof;
pub mod removals;
pub mod replacement;
pub mod selected;
pub mod successor;
pub mod waves;
