//! `metalmark rules`: the rules, with the levels that the project gives them.

use clap::Args;

use crate::error::Error;
use crate::model::rule::RuleId;
use crate::pipeline::{Terminal, Verdict};
use crate::read::{self, Request};
use crate::report::{self, Format, RuleRow};
use crate::rules::rule;

/// How rules are listed.
#[derive(Clone, Debug, Args)]
pub struct RulesOptions {
    /// The format of what is printed.
    #[arg(long = "output", value_enum, default_value_t = Format::Human, value_name = "FORMAT")]
    pub format: Format,
}

/// Lists all rules on stdout; without a project, with their own levels.
///
/// # Errors
/// The project file cannot be read.
pub fn rules(
    request: &Request,
    options: &RulesOptions,
    terminal: &mut Terminal,
) -> Result<Verdict, Error> {
    let mut request = request.clone();
    (request.flags.manifests, request.flags.without_project) = (true, true);
    let policy = read::workspace(&request)?.settings.policy;
    let rows = RuleId::ALL.iter().map(|id| RuleRow {
        rule: *id,
        level: policy.rule_level(*id),
        summary: rule(*id).summary(),
    });
    report::rules(&rows.collect::<Vec<_>>(), options.format, &mut terminal.out)?;
    Ok(Verdict::Clean)
}
