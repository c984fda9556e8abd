//! CRD schemas.

/// placeholder
pub struct Schemas;
