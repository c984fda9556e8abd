//! Parsed expressions, shared by all clusters: a fleet repeats the same few hundred texts.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use crate::helm::{self, Error, Template};

/// Templates beyond these bytes are parsed again each time, so that memory does not grow with the fleet.
const KEPT: usize = 16 << 20;

#[derive(Debug, Default)]
struct Parsed {
    templates: HashMap<Arc<str>, Result<Template, Error>>,
    /// What they take.
    bytes: usize,
}

/// What was parsed so far, by text. Cloning shares it; threads may use it together.
#[derive(Clone, Debug, Default)]
pub struct TemplateCache {
    parsed: Arc<RwLock<Parsed>>,
}

impl TemplateCache {
    /// The template of a text, or why it is none.
    pub(super) fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        if let Ok(parsed) = self.parsed.read()
            && let Some(known) = parsed.templates.get(text)
        {
            return known.clone();
        }
        let fresh = helm::parse("gotpl", text);
        let size = fresh.as_ref().map_or(text.len(), Template::size);
        if let Ok(mut parsed) = self.parsed.write()
            && parsed.bytes + size <= KEPT
        {
            parsed.bytes += size;
            parsed.templates.insert(Arc::clone(text), fresh.clone());
        }
        fresh
    }
}
