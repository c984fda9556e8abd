//! Parsed expressions, shared by all clusters: a fleet repeats the same few hundred texts.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use crate::gotemplate::{self, Error, Template};

/// Texts beyond this number are parsed again each time, so that memory does not grow with the fleet.
const MOST: usize = 4096;

type Parsed = HashMap<Arc<str>, Result<Template, Error>>;

/// What was parsed so far, by text. Cloning shares it; threads may use it together.
#[derive(Clone, Debug, Default)]
pub struct TemplateCache {
    parsed: Arc<RwLock<Parsed>>,
}

impl TemplateCache {
    /// The template of a text, or why it is none.
    pub(super) fn parse(&self, text: &Arc<str>) -> Result<Template, Error> {
        if let Ok(parsed) = self.parsed.read()
            && let Some(known) = parsed.get(text)
        {
            return known.clone();
        }
        let fresh = gotemplate::parse("gotpl", text);
        if let Ok(mut parsed) = self.parsed.write()
            && parsed.len() < MOST
        {
            parsed.insert(Arc::clone(text), fresh.clone());
        }
        fresh
    }
}
