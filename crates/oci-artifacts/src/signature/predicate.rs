//! What attestations say: the statement of in-toto, SLSA's provenance, and which predicates are lists of contents (SBOM).
//!
//! Sources: <https://github.com/in-toto/attestation/tree/main/spec/v1>, <https://slsa.dev/spec/v0.2/provenance>,
//! <https://slsa.dev/spec/v1.1/provenance>.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::Digest;

/// What a DSSE envelope around an in-toto statement says that it holds.
pub(super) const PAYLOAD: &str = "application/vnd.in-toto+json";

/// How the types of in-toto statements start: `v1`, and `v0.1` before it.
pub(super) const STATEMENT: &str = "https://in-toto.io/Statement/";

/// What somebody states of artifacts.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Statement {
    #[serde(rename = "_type")]
    pub(super) kind: String,
    pub(super) subject: Vec<Subject>,
    pub(super) predicate_type: String,
    #[serde(default)]
    pub(super) predicate: Value,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Subject {
    #[serde(default)]
    pub(super) name: String,
    digest: BTreeMap<String, String>,
}

impl Statement {
    /// The subject with this digest.
    pub(super) fn find_subject(&self, digest: &Digest) -> Option<&Subject> {
        let (algorithm, hex) = digest.as_str().split_once(':').unwrap_or_default();
        let is_it = |it: &&Subject| it.digest.get(algorithm).is_some_and(|it| it == hex);
        self.subject.iter().find(is_it)
    }

    /// The digests of its subjects, for a message.
    pub(super) fn digests(&self) -> String {
        let digests = { self.subject.iter().take(3) }.flat_map(|subject| &subject.digest);
        let digests: Vec<String> = digests
            .map(|(algorithm, hex)| format!("{algorithm}:{hex}"))
            .collect();
        digests.join(", ")
    }
}

/// SLSA's types of provenance: an older one, and the one since 2023.
const PROVENANCE_0_2: &str = "https://slsa.dev/provenance/v0.2";
const PROVENANCE_1: &str = "https://slsa.dev/provenance/v1";

/// Where an artifact comes from, as its builder says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Provenance {
    /// The builder's id.
    pub(super) builder: Option<String>,
    /// The repository, as [`repository`] spells it.
    pub(super) source: Option<String>,
    /// The branch or tag.
    pub(super) reference: Option<String>,
    /// The commit.
    pub(super) revision: Option<String>,
}

impl Provenance {
    /// The provenance in a statement; none where it is no provenance.
    pub(super) fn read(statement: &Statement) -> Option<Self> {
        let predicate = &statement.predicate;
        match statement.predicate_type.as_str() {
            PROVENANCE_1 => Some(Self::read_1(predicate)),
            PROVENANCE_0_2 => Some(Self::read_0_2(predicate)),
            _ => None,
        }
    }

    fn read_1(predicate: &Value) -> Self {
        let build = &predicate["buildDefinition"];
        let wanted = &build["externalParameters"];
        // GitHub's workflows name it so; GitLab's runner as a text, SLSA's own builders as a resource.
        let stated = [
            &wanted["workflow"]["repository"],
            &wanted["source"],
            &wanted["source"]["uri"],
        ];
        let stated = stated.into_iter().find_map(Value::as_str).map(locate);
        let resources = build["resolvedDependencies"].as_array();
        let mut resources = resources.into_iter().flatten().map(Resource::read);
        let resource = match &stated {
            None => resources.next(),
            Some(stated) => resources.find(|it| it.location.repository == stated.repository),
        }
        .unwrap_or_default();
        let location = stated.unwrap_or_else(|| resource.location.clone());
        let named = wanted["workflow"]["ref"].as_str().map(str::to_owned);
        Self {
            builder: text(&predicate["runDetails"]["builder"]["id"]),
            source: location.repository,
            reference: named.or(location.reference).or(resource.location.reference),
            revision: resource.revision,
        }
    }

    fn read_0_2(predicate: &Value) -> Self {
        let Resource { location, revision } =
            Resource::read(&predicate["invocation"]["configSource"]);
        Self {
            builder: text(&predicate["builder"]["id"]),
            source: location.repository,
            reference: location.reference,
            revision,
        }
    }
}

/// What a build used: an address and a digest.
#[derive(Default)]
struct Resource {
    location: Location,
    revision: Option<String>,
}

impl Resource {
    fn read(value: &Value) -> Self {
        let digest = &value["digest"];
        // GitLab's runner writes the commit as a sha256.
        let commit = ["gitCommit", "sha1", "sha256"].map(|name| &digest[name]);
        Self {
            location: value["uri"].as_str().map(locate).unwrap_or_default(),
            revision: commit.into_iter().find_map(text),
        }
    }
}

/// A repository, and the branch or tag in it.
#[derive(Clone, Default)]
struct Location {
    repository: Option<String>,
    reference: Option<String>,
}

/// Reads an address such as `git+https://host/group/name.git@refs/heads/main`.
fn locate(address: &str) -> Location {
    let end = address.rfind("@refs/").or_else(|| {
        let at = address.rfind('@')?;
        (address.rfind('/') < Some(at)).then_some(at)
    });
    let (repository, reference) = match end {
        Some(end) => (&address[..end], Some(address[end + 1..].to_owned())),
        None => (address, None),
    };
    Location {
        repository: Some(repository_name(repository)).filter(|name| !name.is_empty()),
        reference,
    }
}

/// The one spelling of a repository's address: without `git+`, `.git` and a slash at its end.
pub(super) fn repository_name(address: &str) -> String {
    let address = address.strip_prefix("git+").unwrap_or(address);
    let address = address.trim_end_matches('/');
    address.strip_suffix(".git").unwrap_or(address).to_owned()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The text of a field of a predicate, by the names that lead to it, with dots in between; numbers count the items of lists.
/// `None` where there is no such field, or it holds others.
pub(super) fn field(predicate: &Value, path: &str) -> Option<String> {
    let mut value = predicate;
    for name in path.split('.') {
        value = match value {
            Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
            _ => value.get(name)?,
        };
    }
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Provenance, Statement, field};

    fn read(kind: &str, predicate: Value) -> Option<[Option<String>; 4]> {
        let statement = Statement {
            kind: String::new(),
            subject: Vec::new(),
            predicate_type: format!("https://slsa.dev/provenance/{kind}"),
            predicate,
        };
        let Provenance {
            builder,
            source,
            reference,
            revision,
        } = Provenance::read(&statement)?;
        Some([builder, source, reference, revision])
    }

    fn texts(expected: [&str; 4]) -> Option<[Option<String>; 4]> {
        Some(expected.map(|text| Some(text.to_owned()).filter(|text| !text.is_empty())))
    }

    #[test]
    fn each_builder_says_in_its_own_fields_where_it_built_from() {
        let github = json!({
            "buildDefinition": {
                "externalParameters": {"workflow": {"repository": "https://github.com/o/n", "ref": "refs/tags/v1"}},
                "resolvedDependencies": [
                    {"uri": "git+https://github.com/o/tools@refs/heads/main", "digest": {"gitCommit": "1"}},
                    {"uri": "git+https://github.com/o/n@refs/tags/v1", "digest": {"gitCommit": "2"}},
                ],
            },
            "runDetails": {"builder": {"id": "https://github.com/o/n/.github/workflows/b.yml@refs/tags/v1"}},
        });
        let builder = "https://github.com/o/n/.github/workflows/b.yml@refs/tags/v1";
        let expected = texts([builder, "https://github.com/o/n", "refs/tags/v1", "2"]);
        assert_eq!(read("v1", github), expected);
        let gitlab = json!({
            "buildDefinition": {
                "externalParameters": {"source": "https://gitlab.example/g/n.git/"},
                "resolvedDependencies": [{"uri": "https://gitlab.example/g/n", "digest": {"sha256": "3"}}],
            },
            "runDetails": {"builder": {"id": "https://gitlab.example/g/n/-/runners/7"}},
        });
        let builder = "https://gitlab.example/g/n/-/runners/7";
        let expected = texts([builder, "https://gitlab.example/g/n", "", "3"]);
        assert_eq!(read("v1", gitlab), expected);
        let container = json!({
            "buildDefinition": {"externalParameters": {"source": {"uri": "git+https://h/n@refs/heads/a/b"}}},
        });
        let expected = texts(["", "https://h/n", "refs/heads/a/b", ""]);
        assert_eq!(read("v1", container), expected);
        let bare = json!({
            "buildDefinition": {"resolvedDependencies": [{"uri": "git+ssh://git@h/n.git", "digest": {"sha1": "4"}}]},
        });
        assert_eq!(read("v1", bare), texts(["", "ssh://git@h/n", "", "4"]));
        let older = json!({
            "builder": {"id": "b"},
            "invocation": {"configSource": {"uri": "git+https://h/n.git@v1", "digest": {"sha1": "5"}}},
        });
        assert_eq!(
            read("v0.2", older.clone()),
            texts(["b", "https://h/n", "v1", "5"])
        );
        assert_eq!(read("v0.3", older), None);
        assert_eq!(read("v1", json!(7)), texts(["", "", "", ""]));
    }

    #[test]
    fn a_field_is_found_by_its_path_and_has_the_text_of_json() {
        let predicate = json!({"a": {"b": [{"c": "x"}, true, 1.5, null, {}]}, "d.e": "never"});
        for (path, expected) in [
            ("a.b.0.c", Some("x")),
            ("a.b.1", Some("true")),
            ("a.b.2", Some("1.5")),
            ("a.b.3", None),
            ("a.b.4", None),
            ("a.b", None),
            ("a.b.x", None),
            ("a.b.9", None),
            ("d.e", None),
            ("a.b.0.c.d", None),
        ] {
            assert_eq!(field(&predicate, path).as_deref(), expected, "{path}");
        }
    }
}
