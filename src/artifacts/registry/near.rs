//! What was perhaps meant where a reference names nothing: the nearest tag, or the nearest repository.

use std::collections::BTreeMap;

use crate::model::suggest::did_you_mean;
use crate::oci::{FailureKind, Reference, Target};

use super::Registries;
use super::trouble::Trouble;

/// How many tags are listed where none is near.
const LISTED: usize = 3;

/// Adds what was perhaps meant to each answer of 404. Tags are asked for once a repository, repositories once a registry.
pub(super) fn advise<R>(
    registries: &Registries,
    wanted: &[Reference],
    answers: &mut [Result<R, Trouble>],
) {
    let mut missing: BTreeMap<String, &Reference> = BTreeMap::new();
    for (reference, answer) in wanted.iter().zip(answers.iter()) {
        if is_missing(answer) {
            missing.entry(reference.name()).or_insert(reference);
        }
    }
    if missing.is_empty() {
        return;
    }
    let asked: Vec<Reference> = missing.values().map(|of| (*of).clone()).collect();
    let tags = registries.tags_of(asked.clone());
    let tags: BTreeMap<String, Result<Vec<String>, Trouble>> =
        missing.into_keys().zip(tags).collect();
    let gone = asked
        .into_iter()
        .filter(|of| tags.get(&of.name()).is_some_and(is_missing));
    let repositories = repositories(registries, gone);
    for (reference, answer) in wanted.iter().zip(answers) {
        let (true, Err(trouble)) = (is_missing(answer), answer) else {
            continue;
        };
        match tags.get(&reference.name()) {
            Some(Ok(tags)) => no_tag(trouble, reference, tags),
            Some(Err(other)) if other.kind == FailureKind::NotFound => {
                no_repository(trouble, reference, repositories.get(&*reference.registry));
            }
            _ => {}
        }
    }
}

/// The same for a list of tags.
pub(super) fn advise_repository<R>(
    registries: &Registries,
    of: &Reference,
    answer: &mut Result<R, Trouble>,
) {
    if let (true, Err(trouble)) = (is_missing(answer), answer) {
        let repositories = repositories(registries, std::iter::once(of.clone()));
        no_repository(trouble, of, repositories.get(&*of.registry));
    }
}

fn is_missing<R>(answer: &Result<R, Trouble>) -> bool {
    matches!(answer, Err(trouble) if trouble.kind == FailureKind::NotFound)
}

/// The repositories of the references' registries, as far as these tell.
fn repositories(
    registries: &Registries,
    of: impl Iterator<Item = Reference>,
) -> BTreeMap<String, Vec<String>> {
    let by_host: BTreeMap<String, Reference> = of.map(|of| (of.registry.to_string(), of)).collect();
    if by_host.is_empty() {
        return BTreeMap::new();
    }
    let (hosts, asked): (Vec<String>, Vec<Reference>) = by_host.into_iter().unzip();
    let answers = registries.repositories_of(asked);
    let known = hosts.into_iter().zip(answers);
    known
        .filter_map(|(host, answer)| Some((host, answer.ok()?)))
        .collect()
}

fn no_tag(trouble: &mut Trouble, reference: &Reference, tags: &[String]) {
    let tags: Vec<&str> = tags
        .iter()
        .map(String::as_str)
        .filter(|tag| !tag.starts_with("sha256-"))
        .collect();
    let repository = &reference.repository;
    let Target::Tag(tag) = reference.target() else {
        trouble
            .message
            .push_str(&format!(": repository `{repository}` holds no such digest"));
        return;
    };
    trouble
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
    trouble.help.push(help);
}

fn no_repository(trouble: &mut Trouble, reference: &Reference, known: Option<&Vec<String>>) {
    let repository = &reference.repository;
    trouble
        .message
        .push_str(&format!(": there is no repository `{repository}`"));
    let near = known.and_then(|known| did_you_mean(repository, known.iter().map(String::as_str)));
    trouble.help.push(match near {
        Some(near) => format!("the nearest repository is `{near}`"),
        None => "check the repository's name; some registries answer so to who may not read it"
            .to_owned(),
    });
}
