//! What a finding is known by from one run to the next: its rule, its file and its key. Lines that move, and
//! clusters that share the finding later, change nothing; two findings of one run never have the same one.

use std::collections::HashSet;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Spot};
use yaml_tree::value::{Node, Value};

use crate::model::finding::Finding;

/// How many bytes of SHA-256 a fingerprint has.
const BYTES: usize = 20;

/// Gives the findings of one report their fingerprints, in the report's order.
#[derive(Default)]
pub(super) struct Fingerprints {
    given: HashSet<String>,
    /// The last file that was read: findings come in the order of the files.
    file: Option<(Arc<Source>, Vec<Node>)>,
}

impl Fingerprints {
    /// The fingerprint of a finding. Of several with one rule at one key, those behind the first differ by their
    /// message, and equal messages by their order.
    pub(super) fn compute(&mut self, finding: &Finding, path: &str) -> String {
        let spot = finding.labels.first().map(|label| &label.spot);
        let key = spot.map_or_else(
            || {
                let subject = &finding.subject;
                let names = [&subject.cluster, &subject.pool, &subject.image];
                names
                    .map(|name| name.as_deref().unwrap_or_default())
                    .join("\n")
            },
            |spot| self.key(spot),
        );
        self.unique(&[finding.rule.as_str(), path, &key], &finding.message)
    }

    /// The fingerprint of what is known by these words; `tie` distinguishes several of them.
    pub(super) fn unique(&mut self, words: &[&str], tie: &str) -> String {
        let mut words = words.to_vec();
        let mut digits = hash(&words);
        let mut number = 0;
        let mut ordinal;
        if self.given.contains(&digits) {
            words.push(tie);
            digits = hash(&words);
        }
        while self.given.contains(&digits) {
            number += 1;
            ordinal = number.to_string();
            digits = hash(&[&words[..], &[&ordinal]].concat());
        }
        self.given.insert(digits.clone());
        digits
    }

    /// The keys that lead to a place, else its line's text, else nothing: a file of secrets is known by its keys alone.
    fn key(&mut self, spot: &Spot) -> String {
        let known = self
            .file
            .as_ref()
            .is_some_and(|(source, _)| Arc::ptr_eq(source, &spot.source));
        if !known {
            let read = yaml_tree::read(&spot.source.text, FileId(0), Engine::Kubectl);
            let documents = read.map_or_else(|_| Vec::new(), |read| read.documents);
            self.file = Some((Arc::clone(&spot.source), documents));
        }
        let documents = self
            .file
            .as_ref()
            .map_or(&[][..], |(_, documents)| documents);
        let mut path = Vec::new();
        for (index, document) in documents.iter().enumerate() {
            if descend(document, spot, &mut path) {
                path.push(index.to_string());
                return path.join("\n");
            }
        }
        if spot.source.has_secrets() {
            String::new()
        } else {
            line(spot).to_owned()
        }
    }
}

fn hash(words: &[&str]) -> String {
    let mut digest = Sha256::new();
    for word in words {
        digest.update((word.len() as u64).to_be_bytes());
        digest.update(word.as_bytes());
    }
    HEXLOWER.encode(&digest.finalize()[..BYTES])
}

fn line(spot: &Spot) -> &str {
    let text = &spot.source.text;
    let at = text.floor_char_boundary(spot.start as usize);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    text[start..].lines().next().unwrap_or_default().trim()
}

/// Whether the place is in this node; the keys that lead to it are pushed, the innermost first.
fn descend(node: &Node, spot: &Spot, path: &mut Vec<String>) -> bool {
    match &node.value {
        Value::Map(map) => {
            for entry in map.iter() {
                let at_key = holds(entry.key_place.start, entry.key_place.end, spot);
                if at_key || descend(&entry.node, spot, path) {
                    path.push(entry.key.to_string());
                    return true;
                }
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                if descend(item, spot, path) {
                    path.push(name(item, spot).unwrap_or_else(|| index.to_string()));
                    return true;
                }
            }
        }
        _ => {}
    }
    holds(node.place.start, node.place.end, spot)
}

fn holds(start: u32, end: u32, spot: &Spot) -> bool {
    start == spot.start || (start < spot.start && spot.start < end)
}

/// An item's own name: it stays the same where items are added before it.
fn name(item: &Node, spot: &Spot) -> Option<String> {
    let name = item.get_path(&["name"])?.value.as_str()?;
    (!spot.source.has_secrets()).then(|| format!("name={name}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::{prop_assert, proptest};

    use super::Fingerprints;
    use crate::model::finding::Finding;
    use crate::model::rule::RuleId;
    use yaml_tree::place::{Source, Spot};

    fn at(text: &str, part: &str, rule: RuleId, message: &str) -> Finding {
        let start = text.find(part).expect("the part is there") as u32;
        let spot = Spot {
            source: Arc::new(Source::new("values.yaml", text)),
            start,
            end: start + part.len() as u32,
        };
        Finding::new(rule, message).with_label(Some(spot), "")
    }

    fn of(finding: &Finding) -> String {
        Fingerprints::default().compute(finding, "values.yaml")
    }

    const TEXT: &str = "a:\n  b: one\nlist:\n- name: x\n  key: two\n";

    #[test]
    fn lines_and_values_and_items_before_it_change_nothing() {
        let before = of(&at(TEXT, "one", RuleId::ValueType, "m"));
        let moved = "# a comment\nnew: 1\na:\n  other: 2\n  b: three\n";
        assert_eq!(
            before,
            of(&at(moved, "three", RuleId::ValueType, "another message"))
        );
        let before = of(&at(TEXT, "two", RuleId::ValueType, "m"));
        let moved = "list:\n- name: first\n  key: 1\n- name: x\n  key: four\n";
        assert_eq!(before, of(&at(moved, "four", RuleId::ValueType, "m")));
    }

    #[test]
    fn another_rule_file_or_key_is_another_finding() {
        let finding = at(TEXT, "one", RuleId::ValueType, "m");
        let mut seen = vec![of(&finding), of(&at(TEXT, "one", RuleId::YamlSyntax, "m"))];
        seen.push(of(&at(TEXT, "two", RuleId::ValueType, "m")));
        seen.push(Fingerprints::default().compute(&finding, "other.yaml"));
        seen.push(of(&Finding::new(RuleId::ValueType, "m")));
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }

    #[test]
    fn the_first_of_several_at_one_key_keeps_its_own() {
        let (first, second) = (
            at(TEXT, "one", RuleId::ValueType, "m"),
            at(TEXT, "one", RuleId::ValueType, "n"),
        );
        let mut both = Fingerprints::default();
        assert_eq!(both.compute(&first, "values.yaml"), of(&first));
        let third = both.compute(&second, "values.yaml");
        assert_ne!(third, of(&first));
        assert_ne!(both.compute(&second, "values.yaml"), third);
    }

    #[test]
    fn a_file_that_does_not_parse_is_known_by_its_line() {
        let broken = "a: [\n  b: one\n";
        assert_eq!(
            of(&at(broken, "one", RuleId::ValueType, "m")),
            of(&at(
                &format!("# more\n{broken}"),
                "one",
                RuleId::ValueType,
                "m"
            ))
        );
    }

    proptest! {
        #[test]
        fn no_two_are_ever_the_same(findings in proptest::collection::vec(("[ab]", 0..40_u32, "[mn]"), 0..30)) {
            let source = Arc::new(Source::new("values.yaml", TEXT));
            let mut fingerprints = Fingerprints::default();
            let mut seen = std::collections::HashSet::new();
            for (rule, start, message) in &findings {
                let rule = if rule == "a" { RuleId::ValueType } else { RuleId::YamlSyntax };
                let spot = Spot { source: Arc::clone(&source), start: *start, end: start + 1 };
                let finding = Finding::new(rule, message).with_label(Some(spot), "");
                prop_assert!(seen.insert(fingerprints.compute(&finding, "values.yaml")));
            }
        }
    }
}
