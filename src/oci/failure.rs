//! Why an artifact could not be had, in words that tell what to do.

use std::collections::HashMap;
use std::fmt;

/// One thing wanted of a store and not had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was wanted: a reference, a repository, a file.
    pub wanted: String,
    /// The sort of failure, for those who act on it.
    pub kind: FailureKind,
    /// What happened, in one clause: who answered what.
    pub message: String,
    /// What to do, each an imperative.
    pub help: Vec<String>,
    /// What the user's files want it for, and where: `` `KEY`, file:line:column ``.
    pub place: Option<String>,
}

/// The sorts of failure that callers tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// The store answered that it has no such thing.
    NotFound,
    /// The store wants other credentials, or forbids it (401, 403).
    Denied,
    /// What came is not what its digest, size or media type promised.
    Corrupt,
    /// What came, or was promised, is larger than the limit.
    TooLarge,
    /// The store answered something else, or nothing: a status, DNS, TLS, a time-out.
    Unreachable,
    /// What is wanted cannot be asked of this store: a reference without a registry, a list that it does not offer.
    Unsupported,
}

impl Failure {
    /// A failure without advice yet.
    pub fn new(wanted: impl fmt::Display, kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            wanted: wanted.to_string(),
            kind,
            message: message.into(),
            help: Vec::new(),
            place: None,
        }
    }

    /// The same, of that image of the user's files.
    pub fn at(self, place: Option<String>, key: &str) -> Self {
        let place = match place {
            Some(place) => format!("{place} (`{key}`)"),
            None => format!("`{key}`"),
        };
        Self {
            place: Some(place),
            ..self
        }
    }

    /// Adds an imperative.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// `oci://…: what happened`, the place that wants it, then a line of help each.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(std::slice::from_ref(self), f)
    }
}

/// Failures in the order given; those with one cause are one: the first is complete, the others name what was requested.
pub fn listed(failures: &[Failure], f: &mut dyn fmt::Write) -> fmt::Result {
    /// Others that are named.
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
    use super::{Failure, FailureKind, listed};

    #[test]
    fn a_thousand_failures_of_one_cause_are_one_message() {
        let failure = |number: usize| {
            let failure = Failure::new(
                format!("oci://r.invalid/i{number}:1"),
                FailureKind::Unreachable,
                "the name of `r.invalid` is not known (DNS)",
            );
            let place = format!("values.yaml:{number}:3");
            let failure = failure.help("check the host's name");
            failure.at(Some(place), &format!("i{number}"))
        };
        let mut all: Vec<Failure> = (1..=1000).map(failure).collect();
        all.push(Failure::new("oci://other/x:1", FailureKind::Denied, "no"));
        let mut text = String::new();
        listed(&all, &mut text).expect("memory");
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
