//! The project file's `policy.keys`, `policy.denied-keys` and `policy.signatures` → which keys have to have signed which images.
//!
//! Keys are read here, so that a project file that contradicts itself is refused before anything rests on it. So are levels that
//! would take back what the policy demands.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use oci_artifacts::signature::PublicKey;
use oci_artifacts::{Address, Digest};
use yaml_tree::suggest::Words;

use crate::files::Files;
use crate::model::policy::RuleSettings;
use crate::model::rule::{Level, RuleId};
use crate::model::signing::{
    DemandBelow, KeyNamer, RequiredSignatures, SignatureDemand, TrustedKeys,
};

use super::files::key_text;
use super::places::{PREFIX, Problems};
use super::project::{
    KeyOptions, Need, NeedWord, PolicyOptions, SignatureDemandOptions, SignatureOptions,
};
use super::rule_options::RuleOptions;

/// The word for all images that no other prefix covers.
const ALL: &str = "*";

/// What the project file says of signatures, and where it says it.
pub(super) struct KeyPolicy<'a, 'p> {
    pub(super) options: &'a PolicyOptions,
    pub(super) files: &'a dyn Files,
    problems: &'a mut Problems<'p>,
    /// The keys by the texts that name them.
    known: BTreeMap<String, Option<PublicKey>>,
    /// The names of `keys`, once one is misspelled.
    names: OnceCell<Words>,
}

impl<'a, 'p> KeyPolicy<'a, 'p> {
    pub(super) fn new(
        options: &'a PolicyOptions,
        files: &'a dyn Files,
        problems: &'a mut Problems<'p>,
    ) -> Self {
        Self {
            options,
            files,
            problems,
            known: BTreeMap::new(),
            names: OnceCell::new(),
        }
    }

    /// What is demanded. What is wrong is left out and reported.
    pub(super) fn read(mut self) -> RequiredSignatures {
        let options = self.options;
        let mut required = RequiredSignatures::default();
        for (name, text) in &options.keys {
            let key = self.key(text, &["policy", "keys", name]);
            required.names.extend(key.map(|key| (name.clone(), key)));
        }
        for text in &options.denied_keys {
            let denied = match Digest::parse(text) {
                Ok(fingerprint) => Some(fingerprint),
                Err(_) => {
                    let key = self.find_key(text, &["policy", "denied-keys"]);
                    key.map(|key| key.fingerprint().clone())
                }
            };
            required.denied.extend(denied);
        }
        match &options.signatures {
            SignatureOptions::All(_) => required.everywhere = Some(SignatureDemand::Signed),
            SignatureOptions::Below(written) => {
                for (prefix, demand) in written {
                    let path = ["policy", "signatures", prefix];
                    if prefix == ALL {
                        required.everywhere = self.demand(demand, &path, &required);
                        continue;
                    }
                    let spot = self.problems.places.spot(&path);
                    let Some(below) = Address::parse_prefix(prefix) else {
                        self.problems.refuse_prefix(prefix, spot, PREFIX);
                        continue;
                    };
                    if let Some(demand) = self.demand(demand, &path, &required) {
                        required.below.push(DemandBelow {
                            below,
                            demand,
                            spot,
                        });
                    }
                }
            }
        }
        required
    }

    fn demand(
        &mut self,
        written: &SignatureDemandOptions,
        path: &[&str],
        required: &RequiredSignatures,
    ) -> Option<SignatureDemand> {
        let options = match written {
            SignatureDemandOptions::Word(_) => return Some(SignatureDemand::Signed),
            SignatureDemandOptions::Keys(options) => options,
        };
        let KeyOptions { keys, need } = options;
        let mut trusted: Vec<PublicKey> = Vec::new();
        for name in keys {
            let key = self.find_key(name, path)?;
            let fault = if required.denied.contains(key.fingerprint()) {
                "is denied by `denied-keys`, and has to have signed images here"
            } else if trusted.contains(&key) {
                "is listed twice, and would count twice"
            } else {
                trusted.push(key);
                continue;
            };
            let shown = key_name(name);
            self.problems.refuse(
                format!("the key `{shown}` {fault}"),
                path,
                "remove it from one of the two places",
            );
            return None;
        }
        let count = trusted.len();
        let needed = match need {
            Need::Word(NeedWord::Any) => 1,
            Need::Word(NeedWord::All) => count,
            Need::Count(needed) => *needed as usize,
        };
        if count == 0 || !(1..=count).contains(&needed) {
            let message = format!("{needed} of {count} keys can never have signed an image");
            self.problems
                .refuse(message, path, "list as many keys as `need` says, or more");
            return None;
        }
        Some(SignatureDemand::Keys(TrustedKeys::new(
            trusted,
            needed,
            KeyNamer::Policy,
        )))
    }

    /// The key that a text names: one of `keys`, else PEM text or a file.
    fn find_key(&mut self, text: &str, path: &[&str]) -> Option<PublicKey> {
        let text = self.options.keys.get(text).map_or(text, String::as_str);
        self.key(text, path)
    }

    fn key(&mut self, text: &str, path: &[&str]) -> Option<PublicKey> {
        if let Some(known) = self.known.get(text) {
            return known.clone();
        }
        let pem = key_text(self.files, text);
        let read = pem.and_then(|pem| PublicKey::read(&pem).map_err(|error| error.to_string()));
        if let Err(reason) = &read {
            let all = || Words::new(self.options.keys.keys().map(String::as_str));
            let help = match self.names.get_or_init(all).did_you_mean(text) {
                Some(near) => format!("did you mean `{near}`?"),
                None => {
                    "write a name from `keys`, the path of a public key, or its PEM text; `cosign public-key --key URI` prints that of a key in a KMS, \
                     `--sk` that of a token"
                        .to_owned()
                }
            };
            let message = format!("the key `{}` cannot be used: {reason}", key_name(text));
            self.problems.refuse(message, path, &help);
        }
        let key = read.ok();
        self.known.insert(text.to_owned(), key.clone());
        key
    }
}

/// What the policy demands of images.
pub(super) struct Demanded {
    pub(super) signatures: bool,
    pub(super) provenance: bool,
}

impl Demanded {
    /// The levels and options that are written at a path. A level that would take back a demand is left out and reported.
    pub(super) fn levels(
        &self,
        rules: &RuleOptions,
        path: &[&str],
        problems: &mut Problems<'_>,
    ) -> BTreeMap<RuleId, RuleSettings> {
        let mut settings = rules.settings();
        for (rule, settings) in &mut settings {
            let is_lower = settings.level.is_some_and(|level| level != Level::Error);
            let Some(demand) = self.find_demand(*rule).filter(|_| is_lower) else {
                continue;
            };
            settings.level = None;
            let place = path.join(".");
            let message = format!("`{demand}, and `{place}` makes `{rule}` no error");
            let path: Vec<&str> = path.iter().copied().chain([rule.as_str()]).collect();
            let help = "remove that line; a waiver accepts single images";
            problems.refuse(message, &path, help);
        }
        settings
    }

    /// The demand that nothing would hold up if that rule were no error: all rules about the lock are, but those of the other kind.
    fn find_demand(&self, rule: RuleId) -> Option<&'static str> {
        let is_of_signatures = rule.as_str().starts_with("signature-");
        let is_of_provenance = rule == RuleId::ProvenanceUnproven;
        if !rule.is_of_lock() || rule.level() != Level::Error {
            None
        } else if self.signatures && !is_of_provenance {
            Some("policy.signatures` requires signatures")
        } else if self.provenance && !is_of_signatures {
            Some("policy.provenance` requires proof")
        } else {
            None
        }
    }
}

/// A text that names a key, without the key itself.
fn key_name(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    if text.contains("-----BEGIN") {
        "-----BEGIN …"
    } else {
        first
    }
}
