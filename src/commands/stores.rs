//! Where artifacts are had: each reference from the mirror that the project names for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::layout::Layout;
use crate::oci::{Descriptor, Digest, Failure, FailureKind, Manifest, Reference, Store};
use crate::read::Workspace;

use super::Terminal;

/// The stores of a project. Nothing is asked before the first question.
pub(super) fn open(workspace: &Workspace, _terminal: &Terminal) -> Box<dyn Store> {
    let root = &workspace.settings.root;
    let mirrors = workspace.mirrors.iter().map(|(prefix, folder)| {
        let layout = Layout::open(root, folder);
        (prefix.clone(), layout.map(Arc::new))
    });
    Box::new(Router {
        mirrors: mirrors.collect(),
    })
}

/// The architecture whose manifest is taken of an index.
pub(super) fn architecture(_workspace: &Workspace) -> Arc<str> {
    "amd64".into()
}

/// Sends each question to the store of the longest prefix of its `registry/repository`.
struct Router {
    mirrors: BTreeMap<String, Result<Arc<Layout>, Failure>>,
}

impl Router {
    fn store(&self, of: &Reference) -> Result<(&str, &Layout), Failure> {
        let name = of.name();
        let slashes = name.match_indices('/').map(|(slash, _)| slash).rev();
        let found = std::iter::once(name.len())
            .chain(slashes)
            .find_map(|end| self.mirrors.get_key_value(&name[..end]));
        match found {
            Some((prefix, Ok(layout))) => Ok((prefix, layout)),
            Some((_, Err(failure))) => Err(failure.clone()),
            None => {
                let message = "no mirror is named for it";
                Err(Failure::new(of, FailureKind::Unsupported, message))
            }
        }
    }

    /// Each store is asked once for all that it has.
    fn grouped<Q: Clone, A>(
        &self,
        wanted: &[Q],
        reference: impl Fn(&Q) -> &Reference,
        ask: impl Fn(&Layout, &[Q]) -> Vec<Result<A, Failure>>,
    ) -> Vec<Result<A, Failure>> {
        let mut answers: Vec<Option<Result<A, Failure>>> = wanted.iter().map(|_| None).collect();
        let mut groups: BTreeMap<&str, (&Layout, Vec<usize>)> = BTreeMap::new();
        for (index, question) in wanted.iter().enumerate() {
            match self.store(reference(question)) {
                Ok((prefix, layout)) => {
                    let (_, indexes) = groups.entry(prefix).or_insert((layout, Vec::new()));
                    indexes.push(index);
                }
                Err(failure) => answers[index] = Some(Err(failure)),
            }
        }
        for (layout, indexes) in groups.into_values() {
            let questions: Vec<Q> = indexes.iter().map(|index| wanted[*index].clone()).collect();
            for (index, answer) in indexes.into_iter().zip(ask(layout, &questions)) {
                answers[index] = Some(answer);
            }
        }
        let unanswered = || {
            let message = "it was not answered";
            Err(Failure::new("", FailureKind::Unreachable, message))
        };
        answers
            .into_iter()
            .map(|answer| answer.unwrap_or_else(unanswered))
            .collect()
    }
}

impl Store for Router {
    fn manifests(&self, wanted: &[Reference]) -> Vec<Result<Manifest, Failure>> {
        self.grouped(
            wanted,
            |wanted| wanted,
            |layout, part| layout.manifests(part),
        )
    }

    fn blobs(
        &self,
        wanted: &[(Reference, Descriptor)],
        limit: u64,
    ) -> Vec<Result<Vec<u8>, Failure>> {
        self.grouped(
            wanted,
            |(reference, _)| reference,
            |layout, part| layout.blobs(part, limit),
        )
    }

    fn referrers(&self, wanted: &[(Reference, Digest)]) -> Vec<Result<Vec<Descriptor>, Failure>> {
        self.grouped(
            wanted,
            |(reference, _)| reference,
            |layout, part| layout.referrers(part),
        )
    }

    fn tags(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        self.store(of)?.1.tags(of)
    }

    fn repositories(&self, of: &Reference) -> Result<Vec<String>, Failure> {
        self.store(of)?.1.repositories(of)
    }
}
