//! Failures to get an artifact, with help.

use std::collections::HashMap;
use std::fmt;

/// A failed request to a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The requested reference, repository or file.
    pub wanted: String,
    /// The kind of failure.
    pub kind: FailureKind,
    /// What happened, in one clause that names the actor.
    pub message: String,
    /// What to do, each an imperative.
    pub help: Vec<String>,
    /// The key and place in the user's files that require it: `` `KEY`, file:line:column ``.
    pub place: Option<String>,
}

/// The kinds of failure that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The store does not have it.
    NotFound,
    /// There is no store, so that nothing is known of what it has.
    NoStore,
    /// The store requires other credentials, or denies access (401, 403).
    Denied,
    /// The content does not match its digest, size or media type.
    Corrupt,
    /// The content, or its declared size, exceeds the limit.
    TooLarge,
    /// The store gave another answer or none: another status, DNS, TLS, a timeout.
    Unreachable,
    /// The store does not support the request: a reference without a registry, a list that it does not offer.
    Unsupported,
}

impl Failure {
    /// A failure without help.
    pub fn new(wanted: impl fmt::Display, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            wanted: wanted.to_string(),
            kind,
            message: message.into(),
            help: Vec::new(),
            place: None,
        }
    }

    /// A store gave fewer answers than there were requests.
    pub fn no_answer(wanted: impl fmt::Display) -> Self {
        Self::new(wanted, FailureKind::Unreachable, "it was not requested")
    }

    /// The same, with the place and the key in the user's files.
    pub fn with_place(self, place: Option<String>, key: &str) -> Self {
        let place = match place {
            Some(place) => format!("{place} (`{key}`)"),
            None => format!("`{key}`"),
        };
        Self {
            place: Some(place),
            ..self
        }
    }

    /// Adds a help text, an imperative.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `oci://…: what happened`, the place that requires it, then one line per help text.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_failures(std::slice::from_ref(self), f)
    }
}

/// Lists failures in the given order. Failures with one cause are listed together: the first in full, the others by reference.
///
/// # Errors
/// The writer fails.
pub fn write_failures(failures: &[Failure], f: &mut dyn fmt::Write) -> fmt::Result {
    /// The most others that are listed.
    const SHOWN: usize = 5;
    let mut causes: Vec<Vec<&Failure>> = Vec::new();
    let mut known: HashMap<(&str, &[String]), usize> = HashMap::new();
    for failure in failures {
        let cause = known
            .entry((&failure.message, &failure.help))
            .or_insert(causes.len());
        match causes.get_mut(*cause) {
            Some(same) => same.push(failure),
            None => causes.push(vec![failure]),
        }
    }
    for (index, same) in causes.iter().enumerate() {
        let Some((first, others)) = same.split_first() else {
            continue;
        };
        if index > 0 {
            f.write_char('\n')?;
        }
        write!(f, "{}: {}", first.wanted, first.message)?;
        if let Some(place) = &first.place {
            write!(f, "\n  --> {place}")?;
        }
        for other in others.iter().take(SHOWN) {
            write!(f, "\n  and {}", other.wanted)?;
            if let Some(place) = &other.place {
                write!(f, "\n  --> {place}")?;
            }
        }
        if others.len() > SHOWN {
            write!(f, "\n  and {} more", others.len() - SHOWN)?;
        }
        for help in &first.help {
            write!(f, "\n  help: {help}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Failure, FailureKind, write_failures};

    #[test]
    fn failures_with_one_cause_are_listed_together() {
        let failure = |number: usize| {
            let failure = Failure::new(
                format!("oci://r.invalid/i{number}:1"),
                FailureKind::Unreachable,
                "the name of `r.invalid` is not known (DNS)",
            );
            let place = format!("values.yaml:{number}:3");
            let failure = failure.help("check the host's name");
            failure.with_place(Some(place), &format!("i{number}"))
        };
        let mut all: Vec<Failure> = (1..=1000).map(failure).collect();
        all.push(Failure::new("oci://other/x:1", FailureKind::Denied, "no"));
        let mut text = String::new();
        write_failures(&all, &mut text).expect("memory");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "oci://r.invalid/i1:1: the name of `r.invalid` is not known (DNS)"
        );
        assert_eq!(lines[1], "  --> values.yaml:1:3 (`i1`)");
        assert_eq!(
            lines[2..4],
            ["  and oci://r.invalid/i2:1", "  --> values.yaml:2:3 (`i2`)"]
        );
        assert_eq!(
            lines[12..],
            [
                "  and 994 more",
                "  help: check the host's name",
                "oci://other/x:1: no"
            ]
        );
    }
}
