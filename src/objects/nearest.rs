//! Which of several objects of one name is meant: repositories hold the same names for many clusters, a folder each.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Standing;

/// What an object is found by: kind, namespace, name.
type Name<'a> = (&'a str, &'a str, &'a str);

/// The objects by kind and name.
pub struct Names<'a> {
    objects: &'a [Standing],
    known: BTreeMap<(&'a str, &'a str), Vec<usize>>,
}

impl<'a> Names<'a> {
    pub(super) fn of(objects: &'a [Standing]) -> Self {
        Self::only(objects, |_| true)
    }

    /// The objects that are meant, and no others.
    pub fn only(objects: &'a [Standing], is_meant: impl Fn(&Standing) -> bool) -> Self {
        let mut known: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        let meant = objects.iter().enumerate();
        for (index, object) in meant.filter(|(_, object)| is_meant(object)) {
            let name = (&*object.kind, &*object.name);
            known.entry(name).or_default().push(index);
        }
        Self { objects, known }
    }

    /// The object of a name that is nearest to the one that names it: in the same text, then in the same file, then where
    /// the paths part last. Of several, the first. Where one side names no namespace, a kustomization may give it the other's.
    pub fn nearest(
        &self,
        name: Name<'_>,
        from: usize,
        is_meant: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        self.all_nearest(name, from, is_meant).first().copied()
    }

    /// All objects of a name that are as near to the one that names it as the nearest one.
    pub fn all_nearest(
        &self,
        (kind, namespace, name): Name<'_>,
        from: usize,
        is_meant: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let all = self.known.get(&(kind, name)).into_iter().flatten().copied();
        let all: Vec<usize> = all.filter(|index| is_meant(*index)).collect();
        let own = |index: &usize| &*self.objects[*index].namespace;
        let same = all.iter().copied().filter(|index| own(index) == namespace);
        let mut found: Vec<usize> = same.collect();
        if found.is_empty() {
            let is_open = |index: &usize| own(index).is_empty() || namespace.is_empty();
            found = all.iter().copied().filter(is_open).collect();
        }
        let near = |index: &usize| nearness(&self.objects[from], &self.objects[*index]);
        let nearest = found.iter().map(near).max();
        found.retain(|index| Some(near(index)) == nearest);
        found
    }
}

/// How near two objects stand.
fn nearness(one: &Standing, other: &Standing) -> (bool, bool, usize) {
    let folders = one.folder().split('/').zip(other.folder().split('/'));
    (
        Arc::ptr_eq(&one.text, &other.text),
        Arc::ptr_eq(one.file(), other.file()),
        folders.take_while(|(a, b)| a == b).count(),
    )
}
