//! The place of something in a user's file.
//!
//! A [`Place`] is small and cheap to copy: every node of every parsed file carries one. It becomes a file name, a line and
//! a column only when a finding is shown, through the [`Sources`] it was read with.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What is printed instead of a secret.
pub const HIDDEN: &str = "…";

/// One file as it was read.
pub struct Source {
    /// The path as the user would type it: relative to the project's folder where it lies below it.
    pub path: Arc<str>,
    /// The file's text, decoded.
    pub text: String,
    /// What of its text must never be shown: only its line and column.
    pub secrets: Secrets,
    /// Whether all of its texts and numbers are secret.
    pub is_secret_file: bool,
    /// Whether nothing of its text is shown, comments included: a file of secrets, or one outside the project.
    pub is_hidden: bool,
}

/// What of a file's text is secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Secrets {
    /// Nothing.
    #[default]
    None,
    /// These bytes, in order and apart from each other.
    Ranges(Arc<[Range<u32>]>),
    /// Everything.
    Whole,
}

impl FromIterator<Range<u32>> for Secrets {
    fn from_iter<I: IntoIterator<Item = Range<u32>>>(ranges: I) -> Self {
        let mut sorted: Vec<Range<u32>> = ranges.into_iter().collect();
        sorted.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<u32>> = Vec::with_capacity(sorted.len());
        for range in sorted {
            match apart.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        if apart.is_empty() {
            Self::None
        } else {
            Self::Ranges(apart.into())
        }
    }
}

impl Secrets {
    /// These bytes; none where everything is secret.
    pub fn ranges(&self) -> &[Range<u32>] {
        match self {
            Self::None | Self::Whole => &[],
            Self::Ranges(ranges) => ranges,
        }
    }
}

/// A file's text never reaches a log.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .field("bytes", &self.text.len())
            .field("has_secrets", &self.has_secrets())
            .finish()
    }
}

impl Source {
    /// A plain, shareable source.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
            secrets: Secrets::None,
            is_secret_file: false,
            is_hidden: false,
        }
    }

    /// The text with what is secret in it, and with whether no report may show a line of it.
    pub fn with_marks(self, secrets: Secrets, is_hidden: bool) -> Self {
        Self {
            secrets,
            is_hidden,
            ..self
        }
    }

    /// The same file, of which these bytes are secret too.
    fn hide(&self, bytes: impl Iterator<Item = Range<u32>>) -> Self {
        let secrets = match &self.secrets {
            Secrets::Whole => Secrets::Whole,
            known => known.ranges().iter().cloned().chain(bytes).collect(),
        };
        Self {
            secrets,
            ..self.with_path(Arc::clone(&self.path))
        }
    }

    /// The same text as a file of another path.
    pub fn with_path(&self, path: impl Into<Arc<str>>) -> Self {
        Self {
            path: path.into(),
            text: self.text.clone(),
            secrets: self.secrets.clone(),
            ..*self
        }
    }

    /// Whether any of the text is secret.
    pub fn has_secrets(&self) -> bool {
        self.secrets != Secrets::None
    }

    /// Whether any of these bytes is secret.
    pub fn hides(&self, bytes: Range<u32>) -> bool {
        match &self.secrets {
            Secrets::None => false,
            Secrets::Whole => true,
            Secrets::Ranges(ranges) => {
                let behind = ranges.partition_point(|secret| secret.start < bytes.end);
                let last = ranges[..behind].last();
                last.is_some_and(|secret| secret.end > bytes.start)
            }
        }
    }

    /// What is secret of the text.
    fn secret_texts(&self) -> Vec<&str> {
        let whole = 0..self.text.len() as u32;
        let ranges = match &self.secrets {
            Secrets::Whole => std::slice::from_ref(&whole),
            other => other.ranges(),
        };
        let text = |range: &Range<u32>| self.text.get(range.start as usize..range.end as usize);
        ranges.iter().filter_map(text).collect()
    }

    /// A range of the text as it may be shown: with [`HIDDEN`] in place of each secret.
    pub fn display_range(&self, bytes: Range<u32>) -> String {
        let text = |start: u32, end: u32| self.text.get(start as usize..end as usize);
        if self.secrets == Secrets::Whole {
            return HIDDEN.to_owned();
        }
        let ranges = self.secrets.ranges();
        let first = ranges.partition_point(|secret| secret.end <= bytes.start);
        let (mut shown, mut kept) = (String::new(), bytes.start);
        for secret in ranges[first..]
            .iter()
            .take_while(|secret| secret.start < bytes.end)
        {
            shown += text(kept, secret.start.max(kept)).unwrap_or_default();
            shown += HIDDEN;
            kept = secret.end.min(bytes.end);
        }
        shown + text(kept, bytes.end).unwrap_or_default()
    }

    /// The line and column of a byte offset, both from 1; the column counts characters.
    pub fn line_column(&self, offset: u32) -> (usize, usize) {
        let mut end = (offset as usize).min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }
}

/// The number of a file within its [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A range of bytes in a file: `start` inclusive, `end` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, in the [`Sources`] that the node was read with.
    pub file: FileId,
    /// Byte offset of the first byte.
    pub start: u32,
    /// Byte offset behind the last byte.
    pub end: u32,
}

impl Place {
    /// A value that is in no file: a default, a flag, a computed value.
    pub const NONE: Self = Self {
        file: FileId(u32::MAX),
        start: 0,
        end: 0,
    };

    /// A range of bytes in a file.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        Self {
            file,
            start: range.start as u32,
            end: range.end as u32,
        }
    }

    /// The whole text of a file.
    pub fn whole(file: FileId, text: &str) -> Self {
        Self::new(file, 0..text.len())
    }

    /// Whether the value is in a file.
    pub fn is_known(self) -> bool {
        self.file != Self::NONE.file
    }

    /// Another place for a known one.
    pub fn map(self, to: &mut dyn FnMut(Self) -> Self) -> Self {
        if self.is_known() { to(self) } else { self }
    }
}

/// A value with the place that it was written at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Its place.
    pub place: Place,
}

impl<T> Located<T> {
    /// Joins a value and its place.
    pub fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }

    /// What is made of the value, at its place.
    pub fn map<U>(self, make: impl FnOnce(T) -> U) -> Located<U> {
        Located::new(make(self.value), self.place)
    }
}

/// The files that a cluster's places point into: those that all clusters share, then its own.
///
/// Cloning is cheap, and one cluster's own files are freed with it, so that memory does not grow with the fleet.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    shared: Arc<Vec<Arc<Source>>>,
    own: Vec<Arc<Source>>,
    facts: Arc<Vec<Arc<Source>>>,
}

impl Sources {
    /// Adds a file and returns its number.
    pub fn add(&mut self, source: impl Into<Arc<Source>>) -> FileId {
        self.own.push(source.into());
        FileId((self.shared.len() + self.own.len() - 1) as u32)
    }

    /// The number of a file that was read for another cluster: the one that it has here, else a new one.
    pub fn adopt(&mut self, source: &Arc<Source>) -> FileId {
        let known = self.all().position(|known| Arc::ptr_eq(known, source));
        let index = known.unwrap_or_else(|| {
            self.own.push(Arc::clone(source));
            self.shared.len() + self.own.len() - 1
        });
        FileId(index as u32)
    }

    /// The same files, all of them now shared: what every cluster starts from.
    pub fn share(self) -> Self {
        let mut all = Arc::unwrap_or_clone(self.shared);
        all.extend(self.own);
        Self {
            shared: Arc::new(all),
            own: Vec::new(),
            facts: self.facts,
        }
    }

    /// The files that belong to one cluster alone, lowest first.
    pub fn own(&self) -> &[Arc<Source>] {
        &self.own
    }

    /// Whether a file belongs to one cluster alone.
    pub fn is_own(&self, file: FileId) -> bool {
        let index = file.0 as usize;
        (self.shared.len()..self.shared.len() + self.own.len()).contains(&index)
    }

    /// The number of a file with image facts, by its index. Such files are read beside the clusters: their numbers count down
    /// from the top, the same for every cluster, so that what was learned from them can be shared.
    pub fn facts_file(index: usize) -> FileId {
        FileId(Place::NONE.file.0 - 1 - index as u32)
    }

    /// These files and those with image facts.
    pub fn with_facts(self, facts: &Arc<Vec<Arc<Source>>>) -> Self {
        let facts = Arc::clone(facts);
        Self { facts, ..self }
    }

    /// The file of that number; none for [`Place::NONE`].
    pub fn get(&self, file: FileId) -> Option<&Arc<Source>> {
        let index = file.0 as usize;
        let own = || self.own.get(index.checked_sub(self.shared.len())?);
        let from_top = || (Place::NONE.file.0 - 1).checked_sub(file.0);
        let facts = || self.facts.get(from_top()? as usize);
        self.shared.get(index).or_else(own).or_else(facts)
    }

    /// Hides what is written at these places too.
    pub fn hide(&mut self, mut places: Vec<Place>) {
        places.sort();
        for of_file in places.chunk_by(|one, other| one.file == other.file) {
            let (index, shared) = (of_file[0].file.0 as usize, self.shared.len());
            let source = if index < shared {
                Arc::make_mut(&mut self.shared).get_mut(index)
            } else {
                self.own.get_mut(index - shared)
            };
            if let Some(source) = source {
                let bytes = of_file.iter().map(|place| place.start..place.end);
                *source = Arc::new(source.hide(bytes));
            }
        }
    }

    /// Whether the value at a place is secret.
    pub fn is_secret(&self, place: Place) -> bool {
        let source = self.get(place.file);
        source.is_some_and(|source| source.hides(place.start..place.end))
    }

    /// Whether any file has secrets.
    pub fn has_secrets(&self) -> bool {
        self.all().any(|source| source.has_secrets())
    }

    /// Whether the secrets of these files are those of other ones, by their paths.
    pub fn has_same_secrets(&self, others: &Self) -> bool {
        fn secrets(sources: &Sources) -> BTreeMap<&str, Vec<&str>> {
            let with_secrets = sources.all().filter(|source| source.has_secrets());
            { with_secrets }
                .map(|source| (&*source.path, source.secret_texts()))
                .collect()
        }
        secrets(self) == secrets(others)
    }

    /// The same files, each as another one that holds the same text.
    pub fn map(self, file: impl FnMut(&Arc<Source>) -> Arc<Source>) -> Self {
        Self {
            own: self.own.iter().map(file).collect(),
            ..self
        }
    }

    /// The files that all clusters share, then those of one cluster.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Source>> {
        self.shared.iter().chain(&self.own)
    }

    /// The place with its file, to be kept by a finding after these sources are gone.
    pub fn resolve(&self, place: Place) -> Option<Spot> {
        self.get(place.file).map(|source| Spot {
            source: Arc::clone(source),
            start: place.start,
            end: place.end,
        })
    }
}

/// A place that owns its file: it can be shown without the [`Sources`] it came from.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The file.
    pub source: Arc<Source>,
    /// Byte offset of the first byte.
    pub start: u32,
    /// Byte offset behind the last byte.
    pub end: u32,
}

/// Spots are equal where they mark the same bytes of one file.
impl PartialEq for Spot {
    fn eq(&self, other: &Self) -> bool {
        let place = |spot: &Self| (Arc::clone(&spot.source.path), spot.start, spot.end);
        place(self) == place(other)
    }
}

impl Spot {
    /// A place in a file.
    pub fn new(source: &Arc<Source>, place: Place) -> Self {
        Self::from_range(source, place.start, place.end)
    }

    /// A range of bytes in a file.
    pub fn from_range(source: &Arc<Source>, start: u32, end: u32) -> Self {
        Self {
            source: Arc::clone(source),
            start,
            end,
        }
    }

    /// The start of a file, a folder or a bundle whose text is not shown.
    pub fn from_path(path: &str) -> Self {
        Self::from_range(&Arc::new(Source::new(path, "")), 0, 0)
    }

    /// Line and column of the first byte, from 1.
    pub fn line_column(&self) -> (usize, usize) {
        self.source.line_column(self.start)
    }

    /// Whether what it marks is secret.
    pub fn is_secret(&self) -> bool {
        self.source.hides(self.start..self.end)
    }

    /// The word or number that it marks, for a help that repeats it. None where it marks anything else, or a secret.
    pub fn word(&self) -> Option<&str> {
        let range = self.start as usize..self.end as usize;
        let text = self.source.text.get(range)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-+_".contains(c);
        (!self.is_secret() && !text.is_empty() && text.chars().all(plain)).then_some(text)
    }
}

/// `path:line:column`, as editors and terminals link it.
impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(f, "{}:{line}:{column}", self.source.path)
    }
}
