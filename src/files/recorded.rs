//! Remembers what was looked at, and what was found: a later run that finds the same has the same result.
//!
//! Every look through [`Files`] is recorded: bytes, names in a folder, links, and that nothing is there. A look that a cluster
//! makes is the cluster's; all others, and those of what is read once for several clusters ([`for_all`]), are everybody's.

use parking_lot::Mutex;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::slice::ParallelSliceMut;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Files, Found};
use crate::error::Error;
use crate::model::ownership::{Record, Sum};
use crate::secrets::known as secret;

/// A method of [`Files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Query {
    File,
    Folder,
    Named,
    Owned,
    IsFile,
    IsThere,
    IsFolder,
    Below,
    LeadsTo,
    Seen,
}

/// What was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Look(Query, PathBuf);

/// What was looked at, and the digest of what was found.
pub type Looks = Vec<(Look, Sum)>;

/// What one cluster has looked at so far.
#[derive(Default)]
struct Own {
    looks: Looks,
    is_repeatable: bool,
    /// How many secrets were added for all clusters meanwhile.
    lessons_for_all: u64,
}

thread_local! {
    /// The cluster that this thread reads. Nothing that is done for a cluster moves to another thread; looks that would are
    /// everybody's.
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// Each look once, in an order that does not depend on threads. (Paths compare by their parts, which takes longer.)
pub fn ordered(mut looks: Looks) -> Looks {
    looks.par_sort_unstable_by(|(a, found), (b, other)| {
        (a.0, a.1.as_os_str(), found).cmp(&(b.0, b.1.as_os_str(), other))
    });
    looks.dedup();
    looks
}

/// The digest of looks and what they found.
pub fn digest(looks: &Looks) -> Sum {
    let mut digest = Sha256::new();
    for (Look(query, path), found) in looks {
        let path = path.as_os_str().as_encoded_bytes();
        digest.update([*query as u8]);
        digest.update((path.len() as u64).to_le_bytes());
        digest.update(path);
        digest.update(found);
    }
    digest.finalize().into()
}

/// Runs `act` for one cluster. Beside its result are its looks; none where a run cannot leave it out, because what it read is
/// to be hidden in all that is printed, or because it says so ([`unrepeatable`]).
pub fn for_one<T>(act: impl FnOnce() -> T) -> (T, Option<Looks>) {
    let before = secret::lessons();
    let own = Own {
        is_repeatable: true,
        ..Own::default()
    };
    let outer = OWN.replace(Some(own));
    let result = act();
    let own = OWN.replace(outer).unwrap_or_default();
    let lessons = secret::lessons() - before - own.lessons_for_all;
    let is_repeatable = own.is_repeatable && lessons == 0;
    (result, is_repeatable.then_some(own.looks))
}

/// Runs `act`, which reads what is kept for several clusters when the first of them needs it. Secrets that only this finds are
/// the caller's to report, by [`unrepeatable`].
pub fn for_all<T>(act: impl FnOnce() -> T) -> T {
    let before = secret::lessons();
    let own = OWN.take();
    let result = act();
    OWN.set(own.map(|own| Own {
        lessons_for_all: own.lessons_for_all + secret::lessons() - before,
        ..own
    }));
    result
}

/// Says that what the cluster looks at is not all that its result depends on.
pub fn unrepeatable() {
    OWN.with_borrow_mut(|own| {
        if let Some(own) = own {
            own.is_repeatable = false;
        }
    });
}

/// Other files, and all looks at them.
pub struct Recorded {
    files: Arc<dyn Files>,
    common: Mutex<Looks>,
}

impl Recorded {
    /// Nothing yet.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Self {
            files,
            common: Mutex::default(),
        }
    }

    /// Everybody's looks since this was last called, [`ordered`].
    pub fn common(&self) -> Looks {
        let common = std::mem::take(&mut *self.common.lock());
        ordered(common)
    }

    /// The digest of what is found now.
    pub fn again(&self, Look(query, path): &Look) -> Sum {
        let files = &*self.files;
        match query {
            Query::File => files.file(path).sum(),
            Query::Folder => files.folder(path).sum(),
            Query::Named => files.named(path).sum(),
            Query::Owned => files.owned(path).sum(),
            Query::IsFile => files.is_file(path).sum(),
            Query::IsThere => files.is_there(path).sum(),
            Query::IsFolder => files.is_folder(path).sum(),
            Query::Below => files.below(path).sum(),
            Query::LeadsTo => files.leads_to(path).sum(),
            Query::Seen => files.seen(path).sum(),
        }
    }

    /// The answer to a query, which is recorded.
    fn record<A: Answer>(&self, query: Query, path: &Path, answer: A) -> A {
        let look = (Look(query, path.to_owned()), answer.sum());
        let everybodys = OWN.with_borrow_mut(|own| match own {
            Some(own) => {
                own.looks.push(look);
                None
            }
            None => Some(look),
        });
        if let Some(look) = everybodys {
            self.common.lock().push(look);
        }
        answer
    }
}

impl Files for Recorded {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        self.record(Query::File, path, self.files.file(path))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        self.record(Query::Folder, path, self.files.folder(path))
    }

    fn named(&self, path: &Path) -> Result<Vec<u8>, Error> {
        self.record(Query::Named, path, self.files.named(path))
    }

    fn owned(&self, folder: &Path) -> Result<Option<Record>, Error> {
        self.record(Query::Owned, folder, self.files.owned(folder))
    }

    fn is_file(&self, path: &Path) -> bool {
        self.record(Query::IsFile, path, self.files.is_file(path))
    }

    fn is_there(&self, path: &Path) -> bool {
        self.record(Query::IsThere, path, self.files.is_there(path))
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.record(Query::IsFolder, path, self.files.is_folder(path))
    }

    fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        self.record(Query::Below, folder, self.files.below(folder))
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        self.record(Query::LeadsTo, path, self.files.leads_to(path))
    }

    fn seen(&self, path: &Path) -> PathBuf {
        self.record(Query::Seen, path, self.files.seen(path))
    }
}

/// The answer to a query.
trait Answer {
    /// Its digest.
    fn sum(&self) -> Sum;
}

impl<A: Answer> Answer for Result<A, Error> {
    fn sum(&self) -> Sum {
        match self {
            Ok(answer) => answer.sum(),
            Err(error) => sum(b'e', error.to_string().as_bytes()),
        }
    }
}

impl Answer for Found {
    fn sum(&self) -> Sum {
        match self {
            Self::File(bytes) => bytes.sum(),
            Self::Nothing => nothing(),
            Self::Outside => sum(b'x', b""),
        }
    }
}

impl Answer for Vec<u8> {
    fn sum(&self) -> Sum {
        sum(b'f', self)
    }
}

/// Which files are owned: what was last written into them is no input.
impl Answer for Option<Record> {
    fn sum(&self) -> Sum {
        self.as_ref().map_or_else(nothing, |record| {
            let paths: Vec<&str> = record.files.keys().map(|path| &**path).collect();
            sum(b'o', paths.join("\n").as_bytes())
        })
    }
}

/// The names in a folder. No name has a slash, and no path a NUL.
impl Answer for Option<Vec<String>> {
    fn sum(&self) -> Sum {
        self.as_ref()
            .map_or_else(nothing, |names| sum(b'd', names.join("/").as_bytes()))
    }
}

impl Answer for Vec<PathBuf> {
    fn sum(&self) -> Sum {
        let paths = self.iter().map(|path| path.as_os_str().as_encoded_bytes());
        sum(b'd', &paths.collect::<Vec<_>>().join(&b'\0'))
    }
}

impl Answer for Option<PathBuf> {
    fn sum(&self) -> Sum {
        self.as_ref().map_or_else(nothing, PathBuf::sum)
    }
}

impl Answer for PathBuf {
    fn sum(&self) -> Sum {
        sum(b'p', self.as_os_str().as_encoded_bytes())
    }
}

impl Answer for bool {
    fn sum(&self) -> Sum {
        sum(b'b', &[(*self).into()])
    }
}

/// The digest of a kind of answer and its bytes.
fn sum(kind: u8, bytes: &[u8]) -> Sum {
    Sha256::new_with_prefix([kind])
        .chain_update(bytes)
        .finalize()
        .into()
}

fn nothing() -> Sum {
    sum(b'n', b"")
}
