//! The functions that Helm adds to Go's own: Sprig's and Helm's, by family.

use super::function::Function;

/// Every family's table.
pub(super) const TABLES: &[&[Function]] = &[];
