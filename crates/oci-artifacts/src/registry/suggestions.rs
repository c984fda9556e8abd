//! Suggests the nearest tag or repository where a reference names nothing that exists.

use std::collections::BTreeMap;

use crate::{FailureKind, Reference, Target};
use yaml_tree::suggest::did_you_mean;

use super::Registries;
use super::error::RegistryError;

/// How many tags are listed if none is similar.
const LISTED: usize = 3;

/// Adds a suggestion to each answer of 404. Tags are requested once per repository, repositories once per registry.
pub(super) fn advise<R>(
    registries: &Registries,
    references: &[Reference],
    answers: &mut [Result<R, RegistryError>],
) {
    let mut missing: BTreeMap<String, &Reference> = BTreeMap::new();
    for (reference, answer) in references.iter().zip(answers.iter()) {
        if is_missing(answer) {
            missing.entry(reference.name()).or_insert(reference);
        }
    }
    if missing.is_empty() {
        return;
    }
    let repositories: Vec<Reference> = missing.values().map(|of| (*of).clone()).collect();
    let tags = registries.tags_of(repositories.clone(), false);
    let tags: BTreeMap<String, Result<Vec<String>, RegistryError>> =
        missing.into_keys().zip(tags).collect();
    let missing = repositories
        .into_iter()
        .filter(|of| tags.get(&of.name()).is_some_and(is_missing));
    let repositories = list_repositories(registries, missing);
    for (reference, answer) in references.iter().zip(answers) {
        let (true, Err(error)) = (is_missing(answer), answer) else {
            continue;
        };
        match tags.get(&reference.name()) {
            Some(Ok(tags)) => no_tag(error, reference, tags),
            Some(Err(other)) if other.kind == FailureKind::NotFound => {
                no_repository(error, reference, repositories.get(&*reference.registry));
            }
            _ => {}
        }
    }
}

/// The same for a list of tags.
pub(super) fn advise_repository<R>(
    registries: &Registries,
    of: &Reference,
    answer: &mut Result<R, RegistryError>,
) {
    if let (true, Err(error)) = (is_missing(answer), answer) {
        let repositories = list_repositories(registries, std::iter::once(of.clone()));
        no_repository(error, of, repositories.get(&*of.registry));
    }
}

fn is_missing<R>(answer: &Result<R, RegistryError>) -> bool {
    matches!(answer, Err(error) if error.kind == FailureKind::NotFound)
}

/// The repositories of the references' registries, for registries that list them.
fn list_repositories(
    registries: &Registries,
    of: impl Iterator<Item = Reference>,
) -> BTreeMap<String, Vec<String>> {
    let by_host: BTreeMap<String, Reference> = of.map(|of| (of.registry.to_string(), of)).collect();
    if by_host.is_empty() {
        return BTreeMap::new();
    }
    let (hosts, references): (Vec<String>, Vec<Reference>) = by_host.into_iter().unzip();
    let answers = registries.repositories_of(references);
    let known = hosts.into_iter().zip(answers);
    known
        .filter_map(|(host, answer)| Some((host, answer.ok()?)))
        .collect()
}

fn no_tag(error: &mut RegistryError, reference: &Reference, tags: &[String]) {
    let tags: Vec<&str> = tags
        .iter()
        .map(String::as_str)
        .filter(|tag| !tag.starts_with("sha256-"))
        .collect();
    let repository = &reference.repository;
    let Target::Tag(tag) = reference.target() else {
        error.message.push_str(&format!(
            ": repository `{repository}` does not have this digest"
        ));
        return;
    };
    error
        .message
        .push_str(&format!(": repository `{repository}` has no tag `{tag}`"));
    let help = match (did_you_mean(tag, tags.iter().copied()), tags.as_slice()) {
        (Some(near), _) => format!("the nearest tag is `{near}`"),
        (None, []) => "the repository has no tags".to_owned(),
        (None, tags) => {
            let last: Vec<String> = tags
                .iter()
                .rev()
                .take(LISTED)
                .map(|tag| format!("`{tag}`"))
                .collect();
            format!(
                "the last of its {} tags by name: {}",
                tags.len(),
                last.join(", ")
            )
        }
    };
    error.help.push(help);
}

fn no_repository(error: &mut RegistryError, reference: &Reference, known: Option<&Vec<String>>) {
    let repository = &reference.repository;
    error
        .message
        .push_str(&format!(": there is no repository `{repository}`"));
    let near = known.and_then(|known| did_you_mean(repository, known.iter().map(String::as_str)));
    error.help.push(match near {
        Some(near) => format!("the nearest repository is `{near}`"),
        None => "check the repository's name; some registries answer this to users without read permission"
            .to_owned(),
    });
}
