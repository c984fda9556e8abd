//! Converts the problems of reading values into findings, each once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use go_template::ErrorClass;
use yaml_tree::json::{Html, scalar_text, to_json};
use yaml_tree::opaque::labels;
use yaml_tree::place::{Located, Place, Sources, Spot};
use yaml_tree::suggest::{did_you_mean, key_help, meant_key};
use yaml_tree::value::{Map, Node, Value};

use crate::evaluate::{Branch, BranchEntry, Evaluator, Failure, OrderDifference};
use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};
use crate::model::signing::{KEY_PROPERTY, other_key_names};

/// Collects findings.
pub(super) struct Report<'s> {
    sources: &'s Sources,
    subject: Subject,
    pub(super) findings: Vec<Finding>,
    reported: HashSet<(Place, String)>,
    /// What was read and depends on a secret, in a clause that says on which, at its place.
    pub(super) unknown: Vec<Located<Arc<str>>>,
}

impl<'s> Report<'s> {
    pub(super) fn new(sources: &'s Sources, subject: Subject) -> Self {
        Self {
            sources,
            subject,
            findings: Vec::new(),
            reported: HashSet::new(),
            unknown: Vec::new(),
        }
    }

    /// What follows is about that node pool.
    pub(super) fn pool(&mut self, pool: Option<String>) {
        self.subject.pool = pool;
    }

    /// The answer of an evaluation; a failure is reported and gives nothing.
    pub(super) fn answer<T>(&mut self, result: Result<Option<T>, Failure>) -> Option<T> {
        match result {
            Ok(answer) => answer,
            Err(failure) => {
                self.add_failure(&failure);
                None
            }
        }
    }

    fn add_failure(&mut self, failure: &Failure) {
        if failure.class == ErrorClass::Secret {
            let read = failure.chain.first();
            let path = read.map_or("", |step| &step.path);
            let place = read.map_or(failure.place, |step| step.place);
            return self.note_unknown(path, place, &failure.message);
        }
        if !self.is_new(failure.place, &failure.message) {
            return;
        }
        let rule = match failure.class {
            ErrorClass::NilPointer => RuleId::ValueMissing,
            _ => RuleId::ExpressionError,
        };
        let mut finding = Finding::new(rule, failure.message.clone());
        let mut steps = failure.chain.iter().rev();
        if let Some(fault) = failure.chain.last().filter(|_| is_about_number(&finding)) {
            finding = finding.help(format!(
                "write a version in quotes: without them it is a number; `metalmark values CLUSTER --why {}` shows what is read, and where it is set",
                fault.path
            ));
        }
        if let Some(fault) = steps.next() {
            let at = self.locate(fault.place, &fault.text, fault.span.clone());
            finding = finding.with_label(at, format!("in `{}`", fault.path));
        }
        for step in steps {
            let at = self.locate(step.place, &step.text, step.span.clone());
            finding = finding.with_label(at, format!("`{}` needs it", step.path));
        }
        self.add(finding);
    }

    /// Notes that a value depends on the secrets whose labels are in a text.
    fn note_unknown(&mut self, path: &str, place: Place, text: &str) {
        let labels = labels(text).unwrap_or_else(|| "a secret".to_owned());
        let clause = format!("`{path}` depends on {labels}");
        self.unknown.push(Located::new(clause.into(), place));
    }

    /// Reports what depends on a secret and decides about no image.
    pub(super) fn report_unknown(&mut self) {
        for value in std::mem::take(&mut self.unknown) {
            let spot = self.sources.resolve(value.place);
            let message = format!("{}, and what it is is not known", value.value);
            let finding = Finding::new(RuleId::ExpressionError, message);
            self.add(
                finding
                    .with_label(spot, "this value")
                    .unless_set(Level::Warning),
            );
        }
    }

    /// A value of a kind that cannot be used.
    pub(super) fn wrong_type(&mut self, path: &str, node: &Node, wanted: &str) {
        if let Value::Opaque(opaque) = &node.value {
            return self.note_unknown(path, node.place, &opaque.text);
        }
        let message = format!("`{path}` is {}, not {wanted}", node.value.kind());
        let label = format!("{wanted} is expected");
        let finding = self.new_finding(RuleId::ValueType, message, node.place, &label);
        let Some(mut finding) = finding else {
            return;
        };
        let spot = self.sources.resolve(node.place);
        if wanted == "a string"
            && matches!(node.value, Value::Number(_) | Value::Bool(_))
            && let Some(text) = spot.as_ref().and_then(Spot::word)
        {
            let key = path.rsplit('.').next().unwrap_or(path);
            finding = finding.help(format!("quote it: `{key}: \"{text}\"`"));
        }
        self.add(finding);
    }

    /// Whether a value is a map, or nothing by null; anything else is reported.
    pub(super) fn expect_map(&mut self, path: &str, node: &Node) -> bool {
        let is_map = matches!(node.value, Value::Map(_) | Value::Null);
        if !is_map {
            self.wrong_type(path, node, "a map");
        }
        is_map
    }

    /// A value of a type that will do, that says nothing that will.
    pub(super) fn unfit(&mut self, path: &str, place: Place, wanted: &str) {
        let message = format!("`{path}` is not {wanted}");
        let label = format!("{wanted} is expected");
        if let Some(finding) = self.new_finding(RuleId::ValueType, message, place, &label) {
            self.add(finding);
        }
    }

    /// An address that is said to be a host's, and that no host of the inventory has.
    pub(super) fn ownerless_address(&mut self, path: &str, place: Place, address: &str) {
        let message = format!("`{path}` is `{address}`, and no host of the inventory has it");
        let found = self.new_finding(
            RuleId::EndpointDisagrees,
            message,
            place,
            "the address of no host",
        );
        if let Some(finding) = found {
            let help = "leave it blank for a host of the control plane's, or write `explicit: {host: …}` for a load balancer's";
            self.add(finding.unless_set(Level::Warning).help(help));
        }
    }

    /// A key that another one says already, so that it has no effect.
    pub(super) fn second_key(&mut self, path: &str, place: Place, first: &str) {
        let message = format!("`{first}` and `{path}` name different things, and `{first}` counts");
        let finding = self.new_finding(RuleId::ValueType, message, place, "this one has no effect");
        if let Some(finding) = finding {
            self.add(finding.help("remove one of them"));
        }
    }

    /// A public key that an expression leaves empty, so that it proves nothing.
    pub(super) fn empty_key(&mut self, path: &str, place: Place) {
        let message = format!("`{path}` is empty, and an expression makes it");
        let label = "nothing comes of this";
        if let Some(finding) = self.new_finding(RuleId::ValueType, message, place, label) {
            self.add(finding.help(
                "set the value that it reads; write an empty text if the images are not signed",
            ));
        }
    }

    /// Keys that a map has, and nobody reads: what they say would not count.
    pub(super) fn expect_keys(&mut self, path: &str, map: &Map, known: &[&str]) {
        for entry in map {
            self.expect_key(path, &entry.key, entry.key_place, known, true);
        }
    }

    /// A key that is none of those that are read; in a map that is not `closed`, one that is nearly one of them.
    pub(super) fn expect_key(
        &mut self,
        path: &str,
        key: &str,
        place: Place,
        known: &[&str],
        closed: bool,
    ) {
        let is_near = || {
            known
                .iter()
                .any(|known| did_you_mean(key, [*known]).is_some())
        };
        if known.contains(&key) || !closed && !is_near() {
            return;
        }
        let message = format!("`{path}` has no key `{key}`");
        if let Some(finding) = self.new_finding(RuleId::ValueType, message, place, "unread") {
            self.add(finding.help(key_help(key, known)));
        }
    }

    /// A key of a map that may have others too has to be no slip of one that is read. Whether it is none.
    pub(super) fn expect_spelling(
        &mut self,
        path: &str,
        key: &str,
        place: Place,
        known: &[&str],
    ) -> bool {
        let meant = meant_key(key, known);
        if let Some(meant) = meant
            && self.is_new(place, meant)
        {
            self.add(misspelling(path, key, meant, self.sources.resolve(place)));
        }
        meant.is_none()
    }

    /// What an entry says of its signature has to name its key.
    pub(super) fn expect_signer(&mut self, path: &str, key: &str, node: &Node) {
        for (key, place) in other_key_names(key, node) {
            if self.is_new(place, &key) {
                self.add(signer_without_effect(
                    path,
                    &key,
                    self.sources.resolve(place),
                ));
            }
        }
    }

    /// A null where the charts take none (docs/sylva.md#selection-levels).
    pub(super) fn null(&mut self, path: &str, place: Place) {
        let message = format!("`{path}` is null, and the charts need a map there");
        if let Some(finding) = self.new_finding(RuleId::ValueType, message, place, "null") {
            self.add(finding.help(format!("remove `{path}`, or write `{{}}`")));
        }
    }

    /// A value that is needed and not there.
    pub(super) fn missing(&mut self, path: &str, place: Place, help: &str) {
        let (message, label) = (format!("`{path}` is not set"), "it would be here");
        if let Some(finding) = self.new_finding(RuleId::ValueMissing, message, place, label) {
            self.add(finding.help(help));
        }
    }

    /// Several providers that select an image where none is named.
    pub(super) fn several_providers(&mut self, selecting: &BTreeMap<Arc<str>, Place>) {
        let names: Vec<String> = selecting.keys().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "{} select images, and `cluster.capi_providers.infra_provider` names none of them",
            names.join(" and ")
        );
        let finding = selecting.values().fold(
            Finding::new(RuleId::ProviderUnknown, message),
            |finding, place| finding.with_label(self.sources.resolve(*place), ""),
        );
        self.add(finding.help("`cluster.capi_providers.infra_provider: …`"));
    }

    /// Warns of the expressions that Helm would evaluate differently (docs/sylva.md#values-and-their-order).
    pub(super) fn order(&mut self, evaluator: &Evaluator) {
        for difference in evaluator.order_differences() {
            self.differs(&difference);
        }
    }

    fn differs(&mut self, difference: &OrderDifference) {
        let here = to_json(&difference.lazy.value, Html::Plain);
        let there = match &difference.exact {
            Ok(node) => format!("evaluates to `{}`", to_json(&node.value, Html::Plain)),
            Err(message) => format!("stops: {message}"),
        };
        let spot = self.sources.resolve(difference.place);
        let secret = spot.as_ref().is_some_and(Spot::is_secret);
        let message = if secret || here.len() + there.len() > 300 {
            format!("`{}` evaluates to something else in Helm", difference.path)
        } else {
            format!(
                "`{}` is `{here}` here, and in Helm it {there}",
                difference.path
            )
        };
        let finding = Finding::new(RuleId::ExpressionOrder, message)
            .with_label(spot, "it reads a value that Helm has not evaluated yet")
            .help("evaluate what it reads first, by `tuple . .Values.… | include \"interpret-as-string\"`, or set `evaluation: exact` to get what Helm gets");
        self.add(finding);
    }

    /// The entries of a map below a map; none for nothing.
    pub(super) fn entries(&mut self, parent: &Branch, key: &str) -> Vec<BranchEntry> {
        let branch = self.answer(parent.child(key));
        let entries = branch.and_then(|branch| self.answer(branch.entries()));
        entries.unwrap_or_default()
    }

    /// A string below a map.
    pub(super) fn string(&mut self, parent: &Branch, key: &str) -> Option<Located<Arc<str>>> {
        let node = self.value(parent, key)?;
        self.text_of(&path_of(parent, key), &node)
    }

    /// A value below a map; none for nothing or null.
    pub(super) fn value(&mut self, parent: &Branch, key: &str) -> Option<Node> {
        let branch = self.answer(parent.child(key))?;
        self.answer(branch.node())
            .filter(|node| !node.value.is_null())
    }

    /// A node as a string. A number or boolean is reported and taken as written: an engine has changed what its author wrote.
    pub(super) fn text_of(&mut self, path: &str, node: &Node) -> Option<Located<Arc<str>>> {
        match &node.value {
            Value::Null => None,
            Value::String(text) => Some(Located::new(Arc::clone(text), node.place)),
            value => {
                self.wrong_type(path, node, "a string");
                scalar_text(value).map(|text| Located::new(text, node.place))
            }
        }
    }

    fn locate(
        &self,
        place: Place,
        text: &str,
        span: Option<std::ops::Range<usize>>,
    ) -> Option<Spot> {
        let spot = self.sources.resolve(place)?;
        let Some(span) = span else { return Some(spot) };
        let place = yaml_tree::locate(&spot.source.text, place, text, span);
        self.sources.resolve(place)
    }

    /// A finding at a place, if it is not reported yet.
    fn new_finding(
        &mut self,
        rule: RuleId,
        message: String,
        place: Place,
        label: &str,
    ) -> Option<Finding> {
        let is_new = self.is_new(place, &message);
        let spot = self.sources.resolve(place);
        is_new.then(|| Finding::new(rule, message).with_label(spot, label))
    }

    fn is_new(&mut self, place: Place, message: &str) -> bool {
        self.reported.insert((place, message.to_owned()))
    }

    fn add(&mut self, mut finding: Finding) {
        finding.subject = self.subject.clone();
        self.findings.push(finding);
    }
}

/// That nobody reads what is to name a key that signs images.
pub(super) fn signer_without_effect(path: &str, key: &str, spot: Option<Spot>) -> Finding {
    let message = format!("`{path}.{key}` has no effect, so it names no key that signs images");
    Finding::new(RuleId::KeyMisspelled, message)
        .with_label(spot, "nobody reads this")
        .help(format!(
            "write `{KEY_PROPERTY}`: a public key in PEM, or the path of its file"
        ))
}

/// That nobody reads a key, and which one is meant.
pub(super) fn misspelling(path: &str, key: &str, meant: &str, spot: Option<Spot>) -> Finding {
    let at = |key: &str| match path {
        "" => key.to_owned(),
        _ => format!("{path}.{key}"),
    };
    let message = format!("`{}` has no effect, and is almost `{}`", at(key), at(meant));
    Finding::new(RuleId::KeyMisspelled, message)
        .with_label(spot, "this key")
        .help(format!("write `{meant}`"))
}

/// Whether a finding is that an expression was given a number where it takes a text, in the words of Go's templates.
pub(in crate::read) fn is_about_number(finding: &Finding) -> bool {
    finding.message.contains("`float64`")
}

/// The path of a child, as people write it.
pub(super) fn path_of(parent: &Branch, key: &str) -> String {
    match parent.path() {
        path if path.is_empty() => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// A value's truth, as templates see it.
pub(super) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(_) => scalar_text(value).is_some_and(|text| &*text != "0"),
        Value::String(text) => !text.is_empty(),
        Value::Opaque(_) => true,
        Value::List(items) => !items.is_empty(),
        Value::Map(map) => !map.is_empty(),
    }
}
