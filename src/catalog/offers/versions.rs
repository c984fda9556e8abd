//! The Kubernetes versions that move with the names of images: which text of a version map becomes which.

use std::collections::BTreeMap;

use crate::model::name::NameFacts;

use super::Drift;

/// The versions that entries moved from and to, by Kubernetes distribution: `("rke2", "1.31.8")` to `1.31.9`.
pub type Moves = BTreeMap<(String, String), String>;

/// The moves that the names of entries show. Where two entries of a distribution moved from one version to different ones, the
/// intended one is unknown, and none is given.
pub fn moves(drift: &Drift) -> Moves {
    let mut moves: BTreeMap<(String, String), Option<String>> = BTreeMap::new();
    for (old, new) in &drift.renamed {
        let (Some((flavor, from)), Some((_, to))) = (full(old), full(new)) else {
            continue;
        };
        let move_ = moves
            .entry((flavor, from))
            .or_insert_with(|| Some(to.clone()));
        if move_.as_ref() != Some(&to) {
            *move_ = None;
        }
    }
    let certain = moves.into_iter();
    certain
        .filter_map(|(from, to)| Some((from, to?)))
        .filter(|((_, from), to)| from != to)
        .collect()
}

/// Distribution and version of a name that says both in full.
fn full(name: &str) -> Option<(String, String)> {
    let facts = NameFacts::parse(name)?;
    let version = facts.k8s_version.filter(|version| !version.is_partial())?;
    Some((facts.k8s_flavor?, version.to_string()))
}

/// The replacements within one value of a version map, each as written: a version in quotes, or the whole value.
/// RKE2's build (`+rke2r1`) stays as it is; without a build the version is kubeadm's and Canonical's, and moves only where
/// both agree.
pub fn replacements(value: &str, moves: &Moves) -> Vec<(String, String)> {
    let is_part =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '+' | '-');
    let mut found: Vec<(String, String)> = Vec::new();
    let mut rest = value;
    while let Some(start) = rest.find(is_part) {
        let word = &rest[start..];
        let word = &word[..word.find(|letter| !is_part(letter)).unwrap_or(word.len())];
        let before = rest[..start].chars().next_back();
        let behind = rest[start + word.len()..].chars().next();
        rest = &rest[start + word.len()..];
        let quoted = matches!((before, behind), (Some('"'), Some('"')));
        let Some(new) = apply_move(word, moves).filter(|_| quoted || word == value) else {
            continue;
        };
        let pair = if quoted {
            (format!("\"{word}\""), format!("\"{new}\""))
        } else {
            (word.to_owned(), new)
        };
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    found
}

/// A version after its move.
fn apply_move(word: &str, moves: &Moves) -> Option<String> {
    let (v, bare) = match word.strip_prefix('v') {
        Some(bare) => ("v", bare),
        None => ("", word),
    };
    let (version, build) = bare.split_once('+').unwrap_or((bare, ""));
    let of = |flavor: &str| moves.get(&(flavor.to_owned(), version.to_owned()));
    if build.starts_with("rke2") {
        return of("rke2").map(|new| format!("{v}{new}+{build}"));
    }
    let new = match (of("kubeadm"), of("ck8s")) {
        (Some(one), Some(other)) if one != other => return None,
        (one, other) => one.or(other)?,
    };
    build.is_empty().then(|| format!("{v}{new}"))
}

#[cfg(test)]
mod tests {
    use super::super::Drift;
    use super::{moves, replacements};

    fn drift(renamed: &[(&str, &str)]) -> Drift {
        let renamed = renamed.iter();
        Drift {
            renamed: renamed
                .map(|(old, new)| ((*old).to_owned(), (*new).to_owned()))
                .collect(),
            ..Drift::default()
        }
    }

    const RKE2: (&str, &str) = (
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-31-9",
    );
    const KUBEADM: (&str, &str) = (
        "ubuntu-noble-plain-kubeadm-1-31-8",
        "ubuntu-noble-plain-kubeadm-1-31-10",
    );

    fn after(value: &str, renamed: &[(&str, &str)]) -> String {
        let pairs = replacements(value, &moves(&drift(renamed)));
        let mut value = value.to_owned();
        for (from, to) in pairs {
            value = value.replace(&from, &to);
        }
        value
    }

    #[test]
    fn each_distribution_moves_by_itself() {
        let value = "{{ eq \"cabpr\" | ternary \"v1.31.8+rke2r1\" \"v1.31.8\" }}";
        let moved = "{{ eq \"cabpr\" | ternary \"v1.31.9+rke2r1\" \"v1.31.10\" }}";
        assert_eq!(after(value, &[RKE2, KUBEADM]), moved);
        assert_eq!(after(value, &[RKE2]), moved.replace("1.31.10", "1.31.8"));
        assert_eq!(after("v1.31.8+rke2r1", &[RKE2]), "v1.31.9+rke2r1");
        assert_eq!(after("v1.30.8+rke2r1", &[RKE2]), "v1.30.8+rke2r1");
    }

    #[test]
    fn what_is_not_certain_stays() {
        let other = (
            "opensuse-15-6-plain-rke2-1-31-8",
            "opensuse-15-6-plain-rke2-1-31-7",
        );
        assert_eq!(after("v1.31.8+rke2r1", &[RKE2, other]), "v1.31.8+rke2r1");
        assert_eq!(after("x v1.31.8+rke2r1", &[RKE2]), "x v1.31.8+rke2r1");
        assert_eq!(after("v1.31.8", &[RKE2]), "v1.31.8");
    }

    #[test]
    fn a_version_without_a_build_moves_where_kubeadm_and_canonical_agree() {
        let canonical = |patch: u32| format!("ubuntu-noble-plain-ck8s-1-31-{patch}");
        for (patch, moved) in [(10, "v1.31.10"), (9, "v1.31.8")] {
            let (old, new) = (canonical(8), canonical(patch));
            assert_eq!(after("v1.31.8", &[KUBEADM, (&old, &new)]), moved);
        }
        assert_eq!(
            after("v1.31.8", &[(&canonical(8), &canonical(9))]),
            "v1.31.9"
        );
        assert_eq!(after("v1.31.8+k3s1", &[KUBEADM]), "v1.31.8+k3s1");
    }

    #[test]
    fn a_minor_alone_does_not_move() {
        let minor = (
            "ubuntu-noble-plain-kubeadm-1-31",
            "ubuntu-noble-plain-kubeadm-1-32",
        );
        assert_eq!(after("1.31", &[minor]), "1.31");
    }
}
