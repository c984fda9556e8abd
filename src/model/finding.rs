//! A finding: something wrong in the input that a person can fix, with its places and the edit that fixes it.
//!
//! A finding does not decide its level: [`super::policy::Policy`] does, and [`crate::pipeline::check`] joins the two.

use yaml_tree::SyntaxError;
use yaml_tree::place::Spot;

use super::cluster::PoolName;
use super::fix::Fix;
use super::proposal::Proposal;
use super::rule::{Level, RuleId};

/// What a rule or a reader found. Messages follow docs/: lower case, no full stop, values in backticks, one clause.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The stable id of the rule, such as `k8s-version-mismatch`.
    pub rule: RuleId,
    /// What is wrong, in one clause.
    pub message: String,
    /// The place of the fault first, then every other place that matters.
    pub labels: Vec<Label>,
    /// What to do, each an imperative that can be pasted.
    pub help: Vec<String>,
    /// The edit of `help` that is certain, if one is: `check --fix` makes it.
    pub fix: Option<Fix>,
    /// Edits that would repair it. [`crate::pipeline::check`] tries each of them and turns those that make nothing worse into help.
    pub proposals: Vec<Proposal>,
    /// What it is about.
    pub subject: Subject,
    /// The level of this case where the policy says nothing, if it is not the rule's own: a key that occurs twice with one
    /// value is milder than one with two.
    pub unless_set: Option<Level>,
    /// The path of the file that it follows from: repaired there, where that has a fault of its own.
    pub follows: Option<String>,
    /// The same without what it quotes of a file, if the one who found it has said so.
    pub sealed: Option<Box<Self>>,
}

/// What a finding is about; policy and waivers match on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The cluster; none for what all clusters share.
    pub cluster: Option<String>,
    /// The node pool: `control-plane` or the machine deployment's name.
    pub pool: Option<String>,
    /// The image key.
    pub image: Option<String>,
}

impl Subject {
    /// A cluster as a whole.
    pub fn cluster(name: &str) -> Self {
        Self {
            cluster: Some(name.to_owned()),
            ..Self::default()
        }
    }

    /// A node pool of a cluster.
    pub fn pool(cluster: &str, name: &PoolName) -> Self {
        Self {
            pool: Some(name.to_string()),
            ..Self::cluster(cluster)
        }
    }

    /// An image, whichever clusters use it.
    pub fn image(key: &str) -> Self {
        Self {
            image: Some(key.to_owned()),
            ..Self::default()
        }
    }
}

/// A place and its part in the story.
#[derive(Clone, Debug)]
pub struct Label {
    /// Where.
    pub spot: Spot,
    /// What is there, in a few words; may be empty for the first label.
    pub text: String,
}

impl Finding {
    /// A finding without a place yet.
    pub fn new(rule: RuleId, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            labels: Vec::new(),
            help: Vec::new(),
            fix: None,
            proposals: Vec::new(),
            subject: Subject::default(),
            unless_set: None,
            follows: None,
            sealed: None,
        }
    }

    /// Why a text is not valid YAML, without what it quotes of a secret.
    pub fn from_syntax(error: SyntaxError, spot: Option<Spot>) -> Self {
        let say = |message| {
            let mut finding = Self::new(RuleId::YamlSyntax, message);
            finding.help.extend(error.help.clone());
            finding.with_label(spot.clone(), "")
        };
        say(error.message.clone()).with_sealed(say(error.message.seal()))
    }

    /// Says what it is about.
    pub fn with_subject(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    /// Gives this case a level other than its rule's, for a project whose policy says nothing of the rule.
    pub fn unless_set(mut self, level: Level) -> Self {
        self.unless_set = Some(level);
        self
    }

    /// Adds a place; the first one added is where the fault is. A value that is in no file adds nothing.
    pub fn with_label(mut self, spot: Option<Spot>, text: impl Into<String>) -> Self {
        self.labels.extend(spot.map(|spot| Label {
            spot,
            text: text.into(),
        }));
        self
    }

    /// Adds the edit that fixes it, if it is certain.
    pub fn fix(mut self, fix: Option<Fix>) -> Self {
        self.fix = fix;
        self
    }

    /// Adds an edit that would repair it.
    pub fn propose(mut self, proposal: Option<Proposal>) -> Self {
        self.proposals.extend(proposal);
        self
    }

    /// The finding with its proposals as help, before what else helps: the first one as it is, the others behind "or".
    pub fn with_proposals(mut self) -> Self {
        let mut help: Vec<String> = Vec::new();
        for proposal in std::mem::take(&mut self.proposals) {
            let is_aim = proposal.text.starts_with("to ");
            let or = if help.is_empty() || is_aim { "" } else { "or " };
            help.push(format!("{or}{}", proposal.text));
            self.fix = self.fix.or(proposal.fix);
        }
        help.append(&mut self.help);
        self.help = help;
        self
    }

    /// Adds imperatives that can be pasted, if there are any.
    pub fn helps(mut self, all: impl IntoIterator<Item = String>) -> Self {
        self.help.extend(all);
        self
    }

    /// Adds an imperative that can be pasted.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }
}

/// A finding with the level that the policy gave it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// What was found.
    pub finding: Finding,
    /// How much it matters here.
    pub level: Level,
}
