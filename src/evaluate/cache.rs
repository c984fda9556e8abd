//! Caches parsed expressions for all clusters, because a fleet repeats the same few hundred texts.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use go_template::{Error, Template};

/// The maximum size of all cached templates, in bytes. It bounds the memory in large fleets.
const CAPACITY: usize = 16 << 20;

#[derive(Debug, Default)]
struct Parsed {
    templates: HashMap<Arc<str>, Result<Template, Error>>,
    /// The approximate size of the templates.
    bytes: usize,
}

/// A cache of parsed templates by their text. Clones share the same cache, also between threads.
#[derive(Clone, Debug, Default)]
pub struct TemplateCache {
    parsed: Arc<RwLock<Parsed>>,
}

impl TemplateCache {
    /// Parses a text, or returns the cached result.
    pub(super) fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        if let Ok(parsed) = self.parsed.read()
            && let Some(known) = parsed.templates.get(text)
        {
            return known.clone();
        }
        let fresh = go_template::parse("gotpl", text);
        let size = fresh.as_ref().map_or(text.len(), Template::size);
        if let Ok(mut parsed) = self.parsed.write()
            && parsed.bytes + size <= CAPACITY
        {
            parsed.bytes += size;
            parsed.templates.insert(Arc::clone(text), fresh.clone());
        }
        fresh
    }
}
