//! Which of several objects of one name is meant: repositories hold the same names for many clusters, a folder each.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::Standing;

/// What an object is found by: kind, namespace, name.
type Name<'a> = (&'a str, &'a str, &'a str);

/// The objects by name.
pub(super) struct Names<'a> {
    objects: &'a [Standing],
    known: BTreeMap<Name<'a>, Vec<usize>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(objects: &'a [Standing]) -> Self {
        let mut known: BTreeMap<Name<'_>, Vec<usize>> = BTreeMap::new();
        for (index, object) in objects.iter().enumerate() {
            let name: Name<'_> = (&object.kind, &object.namespace, &object.name);
            known.entry(name).or_default().push(index);
        }
        Self { objects, known }
    }

    /// The object of a name that stands nearest to the one that names it: in the same text, then in the same file, then where
    /// the paths part last. Of several, the first.
    pub(super) fn nearest(
        &self,
        name: Name<'_>,
        from: usize,
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let found = self.known.get(&name)?.iter().copied();
        let found: Vec<usize> = found.filter(|index| is_meant(*index)).collect();
        match &found[..] {
            [only] => Some(*only),
            several => several
                .iter()
                .rev()
                .copied()
                .max_by_key(|index| nearness(&self.objects[from], &self.objects[*index])),
        }
    }
}

/// How near two objects stand.
fn nearness(one: &Standing, other: &Standing) -> (bool, bool, usize) {
    let (file, other_file) = (one.file(), other.file());
    let folder = |path: &'_ str| {
        Path::new(path)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default()
    };
    let (here, there) = (folder(&file.path), folder(&other_file.path));
    let shared = here.iter().zip(there.iter()).take_while(|(a, b)| a == b);
    (
        Arc::ptr_eq(&one.text, &other.text),
        Arc::ptr_eq(file, other_file),
        shared.count(),
    )
}
