//! Several runs of the program in one snapshot: each command with its status and what it says beside quotations of files.

use std::fmt::Write as _;

use snapbox::Data;

use super::Outcome;
use super::stage::{Stage, assert_text};

/// What happens to a project, command by command.
pub(crate) struct Story<'a> {
    stage: &'a Stage,
    names: Vec<(String, String)>,
    secrets: &'a [&'a str],
    text: String,
}

impl<'a> Story<'a> {
    pub(crate) fn new(stage: &'a Stage) -> Self {
        Self {
            stage,
            names: Vec::new(),
            secrets: &[],
            text: String::new(),
        }
    }

    /// Calls a text that differs from one run of the test to the next by that name.
    pub(crate) fn name(mut self, text: impl Into<String>, name: &str) -> Self {
        let text = text.into();
        // Tables print the beginning of a digest.
        let digits = "sha256:".len() + 12;
        let short = text
            .starts_with("sha256:")
            .then(|| text[..digits].to_owned());
        let all = [text].into_iter().chain(short);
        self.names.extend(all.map(|text| (text, name.to_owned())));
        self
    }

    /// What no run may print, nor write into the lock.
    pub(crate) fn hide(mut self, secrets: &'a [&'a str]) -> Self {
        self.secrets = secrets;
        self
    }

    /// Says what happens between two runs.
    pub(crate) fn note(&mut self, words: &str) -> &mut Self {
        writeln!(self.text, "# {words}").expect("a text");
        self
    }

    /// Runs the program with these words, and keeps each line that begins at its margin, with the places.
    #[track_caller]
    pub(crate) fn run(&mut self, words: &str) -> Outcome {
        let outcome = self.stage.run(words).outcome;
        let printed = format!("{}{}", outcome.stdout, outcome.stderr);
        let lock = std::fs::read_to_string(self.stage.path().join("metalmark.lock"));
        let all = format!("{printed}{}", lock.unwrap_or_default());
        for secret in self.secrets {
            assert!(!all.contains(secret), "`{words}` tells a secret:\n{all}");
        }
        let mut said = format!("$ {words} => {}\n", outcome.status);
        for line in printed.lines() {
            let trimmed = line.trim_start();
            if trimmed.starts_with("--> ") || trimmed.starts_with("::: ") {
                said.truncate(said.trim_end().len());
                writeln!(said, " {trimmed}").expect("a text");
            } else if is_headline(line) {
                writeln!(said, "{line}").expect("a text");
            }
        }
        for (text, name) in &self.names {
            said = said.replace(text, name);
        }
        self.text += &said;
        outcome
    }

    /// Runs one command after the other.
    #[track_caller]
    pub(crate) fn runs(&mut self, commands: &[&str]) -> &mut Self {
        for words in commands {
            let _ = self.run(words);
        }
        self
    }

    /// Runs these commands, and says of those that judge alike once what they find.
    #[track_caller]
    pub(crate) fn judge(&mut self, commands: &[&str]) -> &mut Self {
        let mut judgments: Vec<(String, String)> = Vec::new();
        for words in commands {
            let Outcome {
                status,
                stdout,
                stderr,
            } = self.stage.run(words).outcome;
            let lines = stdout.lines().chain(stderr.lines());
            let findings = lines.filter(|it| it.starts_with("error") || it.starts_with("warning["));
            let findings: String = findings.map(|line| format!("{line}\n")).collect();
            let judgment = format!(" => {status}\n{findings}");
            match judgments.iter_mut().find(|(_, known)| *known == judgment) {
                Some((alike, _)) => write!(alike, ", {words}").expect("a text"),
                None => judgments.push((format!("$ {words}"), judgment)),
            }
        }
        let said = judgments
            .into_iter()
            .map(|(alike, judgment)| alike + &judgment);
        let mut said: String = said.collect();
        for (text, name) in &self.names {
            said = said.replace(text, name);
        }
        self.text += &said;
        self
    }

    #[track_caller]
    pub(crate) fn is(&self, expected: impl Into<Data>) {
        assert_text(&self.text, expected);
    }
}

/// Whether a line begins at the margin, and neither quotes a file, `12 | text`, nor only counts what is above.
fn is_headline(line: &str) -> bool {
    let text = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_numbered = text.len() < line.len();
    let words = [" |", " error", " warning"];
    let is_noise = is_numbered && words.iter().any(|it| text.starts_with(it));
    let is_sum = is_noise && line.contains(" in ");
    !line.is_empty() && !line.starts_with(' ') && line != "..." && (!is_noise || is_sum)
}
