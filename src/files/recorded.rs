//! Remembers what was looked at, and what was found: a later run that finds the same has the same result.
//!
//! Every look through [`Files`] is recorded: bytes, names in a folder, links, and that nothing is there. A look that a cluster
//! makes is the cluster's; all others, and those of what is read once for several clusters ([`for_all`]), are everybody's.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Files, Found};
use crate::error::Error;
use crate::model::ownership::{Record, Sum};
use crate::model::secret;

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
    looks.sort_unstable_by(|(a, found), (b, other)| {
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
        let common = self.common.lock();
        ordered(std::mem::take(
            &mut *common.unwrap_or_else(PoisonError::into_inner),
        ))
    }

    /// The digest of what is found now.
    pub fn again(&self, Look(query, path): &Look) -> Sum {
        let files = &*self.files;
        match query {
            Query::File => of_file(&files.file(path)),
            Query::Folder => of_folder(&files.folder(path)),
            Query::Named => of_named(&files.named(path)),
            Query::Owned => of_owned(&files.owned(path)),
            Query::IsFile => of_flag(files.is_file(path)),
            Query::IsThere => of_flag(files.is_there(path)),
            Query::IsFolder => of_flag(files.is_folder(path)),
            Query::Below => of_below(&files.below(path)),
            Query::LeadsTo => of_path(files.leads_to(path).as_deref()),
            Query::Seen => of_path(Some(&files.seen(path))),
        }
    }

    fn note(&self, query: Query, path: &Path, found: Sum) {
        let look = (Look(query, path.to_owned()), found);
        let everybodys = OWN.with_borrow_mut(|own| match own {
            Some(own) => {
                own.looks.push(look);
                None
            }
            None => Some(look),
        });
        if let Some(look) = everybodys {
            let common = self.common.lock();
            common.unwrap_or_else(PoisonError::into_inner).push(look);
        }
    }
}

impl Files for Recorded {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let found = self.files.file(path);
        self.note(Query::File, path, of_file(&found));
        found
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let found = self.files.folder(path);
        self.note(Query::Folder, path, of_folder(&found));
        found
    }

    fn named(&self, path: &Path) -> Result<Vec<u8>, Error> {
        let found = self.files.named(path);
        self.note(Query::Named, path, of_named(&found));
        found
    }

    fn owned(&self, folder: &Path) -> Result<Option<Record>, Error> {
        let found = self.files.owned(folder);
        self.note(Query::Owned, folder, of_owned(&found));
        found
    }

    fn is_file(&self, path: &Path) -> bool {
        let found = self.files.is_file(path);
        self.note(Query::IsFile, path, of_flag(found));
        found
    }

    fn is_there(&self, path: &Path) -> bool {
        let found = self.files.is_there(path);
        self.note(Query::IsThere, path, of_flag(found));
        found
    }

    fn is_folder(&self, path: &Path) -> bool {
        let found = self.files.is_folder(path);
        self.note(Query::IsFolder, path, of_flag(found));
        found
    }

    fn below(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let found = self.files.below(folder);
        self.note(Query::Below, folder, of_below(&found));
        found
    }

    fn leads_to(&self, path: &Path) -> Option<PathBuf> {
        let found = self.files.leads_to(path);
        self.note(Query::LeadsTo, path, of_path(found.as_deref()));
        found
    }

    fn seen(&self, path: &Path) -> PathBuf {
        let found = self.files.seen(path);
        self.note(Query::Seen, path, of_path(Some(&found)));
        found
    }
}

/// The digest of a kind of answer and its bytes.
fn sum(kind: u8, bytes: &[u8]) -> Sum {
    Sha256::new_with_prefix([kind])
        .chain_update(bytes)
        .finalize()
        .into()
}

/// Which files are owned: what was last written into them is no input.
fn of_owned(found: &Result<Option<Record>, Error>) -> Sum {
    match found {
        Ok(Some(record)) => {
            let paths: Vec<&str> = record.files.keys().map(|path| &**path).collect();
            sum(b'o', paths.join("\n").as_bytes())
        }
        Ok(None) => sum(b'n', b""),
        Err(error) => of_error(error),
    }
}

fn of_file(found: &Result<Found, Error>) -> Sum {
    match found {
        Ok(Found::File(bytes)) => sum(b'f', bytes),
        Ok(Found::Nothing) => sum(b'n', b""),
        Ok(Found::Outside) => sum(b'x', b""),
        Err(error) => of_error(error),
    }
}

fn of_named(found: &Result<Vec<u8>, Error>) -> Sum {
    match found {
        Ok(bytes) => sum(b'f', bytes),
        Err(error) => of_error(error),
    }
}

/// No name has a slash, and no path a NUL.
fn of_folder(found: &Result<Option<Vec<String>>, Error>) -> Sum {
    match found {
        Ok(Some(names)) => sum(b'd', names.join("/").as_bytes()),
        Ok(None) => sum(b'n', b""),
        Err(error) => of_error(error),
    }
}

fn of_below(found: &Result<Vec<PathBuf>, Error>) -> Sum {
    match found {
        Ok(paths) => {
            let paths: Vec<&[u8]> = { paths.iter() }
                .map(|path| path.as_os_str().as_encoded_bytes())
                .collect();
            sum(b'd', &paths.join(&b'\0'))
        }
        Err(error) => of_error(error),
    }
}

fn of_path(found: Option<&Path>) -> Sum {
    match found {
        Some(path) => sum(b'p', path.as_os_str().as_encoded_bytes()),
        None => sum(b'n', b""),
    }
}

fn of_flag(found: bool) -> Sum {
    sum(b'b', &[found.into()])
}

fn of_error(error: &Error) -> Sum {
    sum(b'e', error.to_string().as_bytes())
}
