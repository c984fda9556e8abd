//! Resolves a name that several objects have to the nearest one: repositories repeat names in one folder per cluster.

use std::collections::BTreeMap;
use std::iter::successors;
use std::sync::Arc;

use super::ManifestObject;

/// What an object is found by.
#[derive(Clone, Copy, Debug)]
pub struct Name<'n> {
    /// Its kind.
    pub kind: &'n str,
    /// Its API group; any where none is given.
    pub group: Option<&'n str>,
    /// Its namespace.
    pub namespace: &'n str,
    /// Its name.
    pub name: &'n str,
}

/// What objects are found by.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'a> {
    kind: &'a str,
    name: &'a str,
    /// None is any.
    group: Option<&'a str>,
    /// None is any.
    namespace: Option<&'a str>,
}

/// Objects by folder and file: a look-up visits those that are near, however many others have the name.
type Files<'a> = BTreeMap<(&'a str, &'a str), Vec<usize>>;

/// The objects by kind and name.
pub struct Names<'a> {
    objects: &'a [ManifestObject],
    known: BTreeMap<Key<'a>, Files<'a>>,
}

impl<'a> Names<'a> {
    pub(super) fn new(objects: &'a [ManifestObject]) -> Self {
        Self::only(objects, |_| true)
    }

    /// The objects that are meant, and no others; patches are none.
    pub fn only(objects: &'a [ManifestObject], is_meant: impl Fn(&ManifestObject) -> bool) -> Self {
        let mut known: BTreeMap<_, Files<'a>> = BTreeMap::new();
        let meant = objects.iter().enumerate();
        let is_meant = |object: &ManifestObject| !object.is_patch && is_meant(object);
        for (index, object) in meant.filter(|(_, object)| is_meant(object)) {
            let group = object.group();
            let file = (object.folder(), &*object.file().path);
            for group in [Some(group), None] {
                for namespace in [Some(&*object.namespace), None] {
                    let key = Key {
                        kind: &object.kind,
                        name: &object.name,
                        group,
                        namespace,
                    };
                    let files = known.entry(key).or_default();
                    files.entry(file).or_default().push(index);
                }
            }
        }
        Self { objects, known }
    }

    /// The object of a name that is nearest to the one that names it: in the same text, then in the same file, then where
    /// the paths part last. Of several, the first. Where one side names no namespace, a kustomization may give it the other's;
    /// at one distance an object of the namespace itself comes first.
    pub fn nearest(&self, name: Name<'_>, from: usize) -> Option<usize> {
        self.all_nearest(name, from, 1).first().copied()
    }

    /// All nearest objects of a name, if several are at the same distance from the object that refers to it; at most `most`.
    pub fn all_nearest(&self, name: Name<'_>, from: usize, most: usize) -> Vec<usize> {
        let of = |namespace| {
            self.known.get(&Key {
                kind: name.kind,
                name: name.name,
                group: name.group,
                namespace,
            })
        };
        let open = match name.namespace {
            "" => None,
            _ => Some(""),
        };
        let fitting = [Some(name.namespace), open].into_iter();
        let fitting: Vec<&Files<'a>> = fitting.filter_map(of).collect();
        self.near(&fitting, from, most)
    }

    /// The objects at the least distance. Where there are some of several namespaces, those of the first one.
    fn near(&self, namespaces: &[&Files<'a>], from: usize, most: usize) -> Vec<usize> {
        let object = &self.objects[from];
        let file = (object.folder(), &*object.file().path);
        let is_in_text = |index: &usize| Arc::ptr_eq(&self.objects[*index].text, &object.text);
        let in_file = |files: &Files<'a>, is_meant: &dyn Fn(&usize) -> bool| -> Vec<usize> {
            let found = files.get(&file).into_iter().flatten().copied();
            found.filter(is_meant).take(most).collect()
        };
        let anywhere = |files: &Files<'a>| files.values().flatten().copied().take(most).collect();
        let mut folders = successors(Some(object.folder()), |folder| {
            folder.rsplit_once('/').map(|(parent, _)| parent)
        });
        let first = |found: &dyn Fn(&Files<'a>) -> Vec<usize>| {
            let mut each = namespaces.iter().map(|files| found(files));
            each.find(|found| !found.is_empty())
        };
        first(&|files| in_file(files, &is_in_text))
            .or_else(|| first(&|files| in_file(files, &|_| true)))
            .or_else(|| {
                folders.find_map(|folder| first(&|files| folder_objects(files, folder, most)))
            })
            .or_else(|| first(&anywhere))
            .unwrap_or_default()
    }
}

/// The objects in a folder and those below it.
fn folder_objects(files: &Files<'_>, folder: &str, most: usize) -> Vec<usize> {
    let (below, behind) = (format!("{folder}/"), format!("{folder}0"));
    let own = files.range((folder, "")..(&*below, ""));
    let own = own.take_while(|((of, _), _)| *of == folder);
    let inner = files.range((&*below, "")..(&*behind, ""));
    let found = own.chain(inner.filter(|_| !folder.is_empty()));
    let found = found.flat_map(|(_, indexes)| indexes);
    found.copied().take(most).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Name, Names};
    use crate::objects::{ManifestObject, objects};
    use yaml_tree::place::Source;

    /// One object in each file: its path, its namespace and the group.
    fn given(files: &[(&str, &str, &str)]) -> Vec<ManifestObject> {
        let read = |(path, namespace, group): &(&str, &str, &str)| {
            let text = format!(
                "apiVersion: {group}/v1\nkind: K\nmetadata: {{name: a, namespace: '{namespace}'}}\n"
            );
            let source = Arc::new(Source::new(*path, text));
            objects(&source).expect("YAML").objects
        };
        files.iter().flat_map(read).collect()
    }

    #[test]
    fn the_nearest_by_folder_is_meant_and_another_namespace_only_where_one_is_open() {
        let all = given(&[
            ("x.yaml", "", "g"),
            ("a/b/x.yaml", "", "g"),
            ("a/b/c/y.yaml", "", "g"),
            ("a-b/x.yaml", "", "g"),
            ("a/x.yaml", "n", "g"),
            ("z/x.yaml", "", "h"),
            ("a/z.yaml", "", "h"),
        ]);
        let names = Names::new(&all);
        let near = |from: usize, namespace: &str, group: Option<&str>| {
            let name = Name {
                kind: "K",
                group,
                namespace,
                name: "a",
            };
            let mut found = names.all_nearest(name, from, 9);
            found.sort_unstable();
            found
        };
        assert_eq!(near(0, "", Some("g")), [0]);
        assert_eq!(near(1, "", None), [1]);
        // Folders part at `a`; `a-b` is another one.
        assert_eq!(near(6, "", Some("g")), [1, 2]);
        assert_eq!(near(4, "", Some("g")), [4]);
        assert_eq!(near(4, "n", Some("g")), [4]);
        assert_eq!(near(2, "m", Some("g")), [2]);
        assert_eq!(near(5, "", Some("g")), [0, 1, 2, 3]);
        assert!(near(0, "", Some("other")).is_empty());
    }

    #[test]
    fn an_object_without_a_namespace_far_away_is_not_nearer_than_one_with_another() {
        let all = given(&[
            ("a/x.yaml", "prod", "g"),
            ("a/x.yaml", "", "h"),
            ("a/y.yaml", "", "g"),
            ("z/x.yaml", "", "g"),
        ]);
        let names = Names::new(&all);
        let near = |from: usize, namespace: &str| {
            let name = Name {
                kind: "K",
                group: Some("g"),
                namespace,
                name: "a",
            };
            names.all_nearest(name, from, 9)
        };
        assert_eq!(near(1, ""), [0]);
        assert_eq!(near(2, "prod"), [2]);
        assert_eq!(near(3, "prod"), [3]);
        assert_eq!(near(3, "dev"), [3]);
        // At one distance the namespace decides.
        let all = given(&[
            ("a/x.yaml", "prod", "g"),
            ("a/x.yaml", "", "g"),
            ("b/x.yaml", "", "h"),
        ]);
        let names = Names::new(&all);
        for (namespace, expected) in [("prod", 0), ("", 1), ("dev", 1)] {
            let name = Name {
                kind: "K",
                group: Some("g"),
                namespace,
                name: "a",
            };
            assert_eq!(names.all_nearest(name, 2, 9), [expected], "{namespace}");
        }
    }
}
