//! References: `oci://registry/repository:tag@digest`.

use std::fmt;
use std::sync::Arc;

use super::digest::Digest;
use super::registry_name::RegistryName;

/// The scheme that Helm values, Flux and Argo CD write before the registry.
pub const SCHEME: &str = "oci://";

/// Where Docker Hub has official images: those whose name is one word.
const OFFICIAL: &str = "library/";

/// A reference to an artifact in a registry. The registry is mandatory: Docker Hub is not a default.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The registry.
    pub registry: RegistryName,
    /// The repository: `/` between lower-case names. Empty where a prefix means a whole registry.
    pub repository: Arc<str>,
    /// The tag, if there is one.
    pub tag: Option<Arc<str>>,
    /// The digest, if there is one; it takes precedence over the tag.
    pub digest: Option<Digest>,
}

/// What a reference requests from a registry: the text after `manifests/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A tag, which may move.
    Tag(&'a str),
    /// A digest.
    Digest(&'a Digest),
}

/// Why a text is not a reference.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an OCI reference: {reason}")]
pub struct ReferenceError {
    text: String,
    reason: String,
}

impl Reference {
    /// Parses `oci://registry/repository[:tag][@digest]`; the scheme is optional.
    ///
    /// # Errors
    /// There is no registry or no repository; a part does not have the syntax of the distribution-spec.
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let error = |reason: &str| ReferenceError {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let rest = strip_scheme(text);
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => {
                // What is no digest may be a host and a query: of the whole text the printer knows what to hide.
                let digest = Digest::parse(digest)
                    .map_err(|_| error("a digest is `sha256:` and 64 lower-case hex digits"))?;
                (rest, Some(digest))
            }
            None => (rest, None),
        };
        let (registry, path) = rest
            .split_once('/')
            .ok_or_else(|| error("the registry must be followed by `/` and a repository"))?;
        let registry = RegistryName::parse(registry)
            .ok_or_else(|| error("it starts with the registry's host name"))?;
        let last = path.rfind('/').map_or(0, |slash| slash + 1);
        let (repository, tag) = match path[last..].find(':') {
            Some(colon) => (&path[..last + colon], Some(&path[last + colon + 1..])),
            None => (path, None),
        };
        if !is_repository(repository) {
            return Err(error(
                "a repository is lower-case letters, digits, `.`, `_`, `-` and `/`",
            ));
        }
        // A tag has no `+`: Helm, and who follows it, spell that of a version so.
        let tag = tag.map(|tag| tag.replace('+', "_"));
        if !tag.as_deref().is_none_or(is_tag) {
            return Err(error(
                "a tag is at most 128 letters, digits, `_`, `.` and `-`",
            ));
        }
        Ok(Self {
            repository: official(&registry, repository)
                .map_or_else(|| repository.into(), Into::into),
            registry,
            tag: tag.map(Into::into),
            digest,
        })
    }

    /// What to know of a tag that is not there, where one with `+` may have been written.
    pub(crate) fn spelling_help(&self) -> Option<String> {
        let tag = self.tag.as_deref().filter(|tag| tag.contains('_'))?;
        Some(format!(
            "a tag has no `+`: one that is written with it is requested as `{tag}`"
        ))
    }

    /// Parses the start of references: a registry, or a registry and a path. The scheme is optional.
    pub fn parse_prefix(text: &str) -> Option<Self> {
        let bare = strip_scheme(text).trim_end_matches('/');
        let (registry, path) = bare.split_once('/').unwrap_or((bare, ""));
        (path.is_empty() || is_repository(path)).then_some(())?;
        Some(Self {
            registry: RegistryName::parse(registry)?,
            repository: path.into(),
            tag: None,
            digest: None,
        })
    }

    /// What follows a prefix, which ends where a part of the name does.
    pub fn strip_prefix(&self, prefix: &Self) -> Option<&str> {
        if self.registry != prefix.registry {
            return None;
        }
        if prefix.repository.is_empty() {
            return Some(&self.repository);
        }
        match self.repository.strip_prefix(&*prefix.repository) {
            Some("") => Some(""),
            Some(rest) => rest.strip_prefix('/'),
            None => {
                let whole = official(&prefix.registry, &prefix.repository)?;
                (whole == *self.repository).then_some("")
            }
        }
    }

    /// The same artifact below another prefix: `rest` is what [`Reference::strip_prefix`] left.
    pub fn with_prefix(&self, prefix: &Self, rest: &str) -> Self {
        let parts = [&*prefix.repository, rest];
        let path: Vec<&str> = parts.into_iter().filter(|it| !it.is_empty()).collect();
        let path = path.join("/");
        Self {
            repository: official(&prefix.registry, &path).unwrap_or(path).into(),
            registry: prefix.registry.clone(),
            ..self.clone()
        }
    }

    /// The target of a request: the digest, else the tag, else `latest`.
    pub fn target(&self) -> Target<'_> {
        match (&self.digest, &self.tag) {
            (Some(digest), _) => Target::Digest(digest),
            (None, tag) => Target::Tag(tag.as_deref().unwrap_or("latest")),
        }
    }

    /// The same artifact with a digest; the tag is kept for people.
    pub fn with_digest(&self, digest: &Digest) -> Self {
        Self {
            digest: Some(digest.clone()),
            ..self.clone()
        }
    }

    /// The same artifact by a digest alone, as what pulls it is to name it: a renamed tag with the same digest changes nothing.
    pub fn pin(&self, digest: &Digest) -> Self {
        Self {
            tag: None,
            ..self.with_digest(digest)
        }
    }

    /// Another tag in the same repository.
    pub fn with_tag(&self, tag: &str) -> Self {
        Self {
            tag: Some(tag.into()),
            digest: None,
            ..self.clone()
        }
    }

    /// `registry/repository`, without scheme, tag and digest.
    pub fn name(&self) -> String {
        match &*self.repository {
            "" => self.registry.to_string(),
            repository => format!("{}/{repository}", self.registry),
        }
    }
}

/// With its scheme, as in values.
impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.registry, self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        self.digest
            .iter()
            .try_for_each(|digest| write!(f, "@{digest}"))
    }
}

impl fmt::Display for Target<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

/// The text behind the scheme, in any letter case.
fn strip_scheme(text: &str) -> &str {
    match text.split_at_checked(SCHEME.len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case(SCHEME) => rest,
        _ => text,
    }
}

/// The whole name of one of Docker Hub's official images, which are those whose name has one part.
fn official(registry: &RegistryName, repository: &str) -> Option<String> {
    let is_official =
        registry.is_docker_hub() && !repository.is_empty() && !repository.contains('/');
    is_official.then(|| format!("{OFFICIAL}{repository}"))
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(\/…)*` (distribution-spec, "Pulling manifests").
fn is_repository(text: &str) -> bool {
    let component = |part: &str| {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let mut separators = part.split(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        part.bytes().next().is_some_and(is_word)
            && part.bytes().last().is_some_and(is_word)
            && separators.all(|between| {
                matches!(between, "" | "." | "_" | "__") || between.bytes().all(|byte| byte == b'-')
            })
    };
    text.len() <= 255 && text.split('/').all(component)
}

/// `[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}` (distribution-spec, "Pulling manifests").
fn is_tag(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=128).contains(&text.len()) && text.bytes().all(inner) && !text.starts_with(['.', '-'])
}

#[cfg(test)]
mod tests {
    use super::{Digest, Reference, Target};

    #[test]
    fn references_are_parsed_and_printed() {
        let digest = Digest::compute(b"");
        let whole = format!("oci://registry.example.org:5000/os/noble:0.4.12@{digest}");
        for text in [
            "oci://registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12",
            "oci://localhost:5000/a__b/c.d/e---f:v1_2",
            "oci://[::1]:5000/a",
            "oci://[::1]/a",
            &whole,
        ] {
            let parsed = Reference::parse(text).expect(text);
            assert_eq!(parsed.to_string(), text);
        }
        let parsed = Reference::parse(&whole).expect("a reference");
        assert_eq!(parsed.target(), Target::Digest(&digest));
        assert_eq!(&*parsed.repository, "os/noble");
        assert_eq!(parsed.with_tag("1").target(), Target::Tag("1"));
        let of_version = Reference::parse("r.example/a:v1+k3s1").expect("a reference");
        assert_eq!(of_version.target(), Target::Tag("v1_k3s1"));
        let bare = Reference::parse("r.example/a").expect("a reference");
        assert_eq!(bare.target(), Target::Tag("latest"));
    }

    #[test]
    fn a_prefix_ends_where_a_part_of_the_name_does() {
        let rest = |prefix, name| {
            let prefix = Reference::parse_prefix(prefix).expect(prefix);
            let of = Reference::parse(name).expect(name);
            let rest = of.strip_prefix(&prefix)?;
            assert_eq!(of.with_prefix(&prefix, rest), of);
            Some(rest.to_owned())
        };
        for (prefix, name, expected) in [
            ("oci://R.example:0443/", "r.example/a/b:1", Some("a/b")),
            ("r.example/a", "R.EXAMPLE:443/a/b:1", Some("b")),
            ("r.example/a/b", "r.example/a/b:1", Some("")),
            ("r.example/a", "r.example/aa", None),
            ("r.example/a", "r.example:80/a", None),
            ("docker.io", "index.docker.io/a", Some("library/a")),
            ("docker.io/library", "docker.io/a", Some("a")),
            ("docker.io/a", "docker.io/a", Some("")),
            ("docker.io/a", "docker.io/a/b", Some("b")),
        ] {
            assert_eq!(rest(prefix, name).as_deref(), expected, "{prefix} {name}");
        }
        for text in [
            "",
            "/",
            "a.example/B",
            "a.example/b:tag",
            "a.example/b@c",
            "a b",
            "https://a",
        ] {
            assert_eq!(Reference::parse_prefix(text), None, "{text}");
        }
    }

    #[test]
    fn invalid_references_are_refused() {
        for text in [
            "",
            "oci://",
            "oci://r",
            "oci://r/",
            "oci:///a",
            "oci://r/A",
            "oci://r/a..b",
            "oci://r/a___b",
            "oci://r/-a",
            "oci://r/a:",
            "oci://r/a:.x",
            "oci://r/a@sha256:00",
            "oci://r:port/a",
            "oci://r:/a",
            "oci://r:+80/a",
            "oci://r:80:80/a",
            "oci://r:65536/a",
            "oci://[::1]x/a",
            "oci://[::1]x:80/a",
            "oci://[::1/a",
            "oci://[r]/a",
            "oci://r./a",
            "oci://1.2.3.999/a",
            "oci://r/a//b",
            "oci://r/./a",
            "oci://rédis/a",
            "oci://r/../a",
            "https://r/a",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }
}
