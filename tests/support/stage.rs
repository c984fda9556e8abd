//! The stage of every test that runs the program: a scratch folder with a project, the real binary in a clean environment, and
//! snapshots in the test of what a user sees. `SNAPSHOTS=overwrite cargo test NAME` writes them anew.
//!
//! ```ignore
//! let project = project()
//!     .catalog(&["noble-31 rke2 1.31.8+rke2r1", "noble-30 rke2 1.30.12+rke2r1"])
//!     .cluster("edge", "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-30}}");
//! project.check().is(str![[]]); // one line a finding, one line a node pool
//! project.edit("edge.yaml", "noble-30", "noble-31").check().is(str![[]]);
//! project.run("check").exit(1).screen(str![[]]); // the exact screen
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde_json::Value;
use sha2::{Digest, Sha256};
use similar::{ChangeTag, TextDiff};
use snapbox::Data;
use tempfile::TempDir;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::super::git;
use super::{Metalmark, Outcome, copy_into, repository, shell};

/// The day of every run: 2026-11-21.
const DAY: &str = "1795219200";
/// The project file, unless a test writes its own.
const PROJECT_FILE: &str = "metalmark.yaml";
/// The values of [`Stage::catalog`].
const CATALOG_FILE: &str = "catalog.yaml";

/// An empty project.
pub(crate) fn project() -> Stage {
    Stage {
        folder: tempfile::tempdir().expect("a scratch folder"),
        clusters: Vec::new(),
        settings: String::new(),
        variables: vec![("SOURCE_DATE_EPOCH".to_owned(), DAY.to_owned())],
    }
}

/// A project in a scratch folder.
pub(crate) struct Stage {
    folder: TempDir,
    clusters: Vec<String>,
    settings: String,
    variables: Vec<(String, String)>,
}

/// What a project is made of.
impl Stage {
    /// A file, its folders included.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.write(path, text);
        self
    }

    /// Files by their paths.
    pub(crate) fn files(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            self.write(path, text);
        }
        self
    }

    /// What a folder of the repository holds, such as `fixtures/workspaces/elemental`.
    pub(crate) fn folder(self, path: &str) -> Self {
        copy_into(&repository().join(path), self.path());
        self
    }

    /// A cluster with the values file `NAME.yaml`, listed in the project file.
    pub(crate) fn cluster(mut self, name: &str, values: &str) -> Self {
        self.clusters
            .push(format!("{{name: {name}, values: [{name}.yaml]}}"));
        self.write(&format!("{name}.yaml"), values);
        self.write_project_file()
    }

    /// Lines of the project file, such as `matching: exact`.
    pub(crate) fn settings(mut self, lines: &str) -> Self {
        self.settings += lines;
        if !lines.ends_with('\n') {
            self.settings.push('\n');
        }
        self.write_project_file()
    }

    /// Images in the values that all clusters share, a line each: `KEY FLAVOR VERSION`, and further facts as `NAME=VALUE`.
    pub(crate) fn catalog(self, images: &[&str]) -> Self {
        let mut text = String::from("os_images:\n");
        for image in images {
            let mut words = image.split_whitespace();
            let mut word = || words.next().expect("KEY FLAVOR VERSION");
            let (key, flavor, version) = (word(), word(), word());
            let sha256 = HEXLOWER.encode(&Sha256::digest(key));
            write!(
                text,
                "  {key}: {{k8s-flavor: {flavor}, k8s-version: '{version}', image-format: raw, \
                 uri: 'https://images.example/{key}.raw', sha256: '{sha256}'"
            )
            .expect("a text");
            for (name, value) in words.filter_map(|word| word.split_once('=')) {
                write!(text, ", {name}: '{value}'").expect("a text");
            }
            text += "}\n";
        }
        self.file(CATALOG_FILE, text)
            .settings(&format!("values: [{CATALOG_FILE}]"))
    }

    /// A variable of the environment of each run.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Makes it a git repository if it is none yet, and commits everything. None where there is no git.
    pub(crate) fn commit(self, message: &str) -> Option<Self> {
        git::commit_all(self.path(), message).then_some(self)
    }

    fn write_project_file(self) -> Self {
        let mut text = String::from("version: 1\n");
        if !self.clusters.is_empty() {
            text += &format!("clusters: [{}]\n", self.clusters.join(", "));
        }
        self.write(PROJECT_FILE, text + &self.settings);
        self
    }
}

/// What happens to a project.
impl Stage {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn read(&self, path: &str) -> String {
        let text = fs::read_to_string(self.path().join(path));
        text.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let file = self.path().join(path);
        fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        fs::write(file, text).expect("written");
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.path().join(path)).expect("removed");
        self
    }

    /// Replaces a text that a file holds exactly once.
    #[track_caller]
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) -> &Self {
        let text = self.read(path);
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {path}:\n{text}");
        self.write(path, text.replace(from, to))
    }

    /// The files below a folder, sorted, with a slash between the parts.
    pub(crate) fn list(&self, folder: &str) -> Vec<String> {
        let below = self.path().join(folder);
        let entries = walkdir::WalkDir::new(&below).sort_by_file_name();
        let files = entries.into_iter().filter_map(Result::ok);
        let files = files.filter(|entry| !entry.file_type().is_dir());
        let name = |entry: walkdir::DirEntry| {
            let path = entry.path().strip_prefix(&below).expect("below");
            path.to_string_lossy().into_owned()
        };
        files
            .map(name)
            .filter(|name| !name.starts_with(".git/"))
            .collect()
    }

    /// The texts of all files by path, to be compared with what they become.
    pub(crate) fn texts(&self) -> Texts {
        let paths = self.list("").into_iter();
        paths
            .map(|path| {
                let bytes = fs::read(self.path().join(&path)).expect("readable");
                (path, String::from_utf8_lossy(&bytes).into_owned())
            })
            .collect()
    }

    /// Runs the program with these words. For a word with a space there is [`Self::run_args`].
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn run(&self, words: &str) -> Run {
        let args: Vec<&str> = words.split_whitespace().collect();
        self.run_args(&args)
    }

    /// What a command prints as data: the same as JSON and as YAML.
    #[track_caller]
    pub(crate) fn data(&self, words: &str) -> Value {
        let [json, yaml] = ["json", "yaml"].map(|format| {
            let run = self.run(&format!("{words} --output {format}"));
            run.outcome.stdout
        });
        assert_ne!(yaml, json, "{words}");
        let read = yaml_tree::read(&yaml, FileId(0), Engine::Kubectl).expect("YAML");
        let value: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(Value::from(&read.documents[0].value), value, "{words}");
        value
    }

    /// Runs the program with these arguments.
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn run_args(&self, args: &[&str]) -> Run {
        let outcome = self.program().args(args.iter().copied()).run();
        Run {
            command: args.join(" "),
            outcome,
        }
    }

    /// The same with further variables.
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn run_with(&self, words: &str, variables: &[(&str, &str)]) -> Run {
        let program = self.program().args(words.split_whitespace());
        Run {
            command: words.to_owned(),
            outcome: program.envs(variables).run(),
        }
    }

    /// Runs the program with these words and a text on stdin.
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn feed(&self, words: &str, input: &str) -> Run {
        let program = self.program().args(words.split_whitespace());
        Run {
            command: words.to_owned(),
            outcome: program.run_with(input),
        }
    }

    /// Runs the program with these words in a folder of the project.
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn run_in(&self, folder: &str, words: &str) -> Run {
        let program = self.program_in(folder).args(words.split_whitespace());
        Run {
            command: words.to_owned(),
            outcome: program.run(),
        }
    }

    /// Runs a script with `sh`, in the project and with the program on the search path.
    #[must_use = "a run that nobody looks at proves nothing"]
    pub(crate) fn shell(&self, script: &str) -> Run {
        let outcome = shell(self.path(), &self.environment(), script);
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Run {
            command: script.to_owned(),
            outcome: Outcome {
                status: outcome.status.code().expect("not killed"),
                stdout: text(outcome.stdout),
                stderr: text(outcome.stderr),
            },
        }
    }

    /// The program in this project, for a run that needs more than arguments.
    pub(crate) fn program(&self) -> Metalmark {
        Metalmark::within(self.path()).envs(&self.environment())
    }

    /// The same in a folder of the project.
    pub(crate) fn program_in(&self, folder: &str) -> Metalmark {
        Metalmark::within(&self.path().join(folder)).envs(&self.environment())
    }

    fn environment(&self) -> Vec<(&str, &str)> {
        let variables = self.variables.iter();
        variables.map(|(name, value)| (&**name, &**value)).collect()
    }

    /// What `check` finds, and what it says of each node pool.
    #[track_caller]
    pub(crate) fn check(&self) -> Checked {
        self.check_with("")
    }

    /// The same with more words on the command line.
    #[track_caller]
    pub(crate) fn check_with(&self, words: &str) -> Checked {
        let outcome = self.run(&format!("check --output json {words}")).outcome;
        let Ok(document) = serde_json::from_str::<Value>(&outcome.stdout) else {
            let lines = outcome.stderr.lines().map(str::to_owned).collect();
            return Checked {
                status: outcome.status,
                findings: lines,
                pools: Vec::new(),
            };
        };
        let list = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        let findings = list("findings");
        Checked {
            status: outcome.status,
            findings: findings
                .iter()
                .map(|finding| self.finding_line(finding))
                .collect(),
            pools: list("pools").iter().map(pool_line).collect(),
        }
    }

    /// A finding without its words: level, rule, cluster and pool, the place and text of what each label marks, the edit that
    /// `check --fix` makes, and the edits that its help quotes.
    fn finding_line(&self, finding: &Value) -> String {
        let level = format!("{}[{}]", text(&finding["level"]), text(&finding["rule"]));
        let subject = [&finding["cluster"], &finding["pool"]];
        let subject: Vec<&str> = subject.into_iter().filter_map(Value::as_str).collect();
        let mut line = match &*subject {
            [] => level,
            subject => format!("{level} {}", subject.join("/")),
        };
        for label in finding["labels"].as_array().into_iter().flatten() {
            write!(line, " {}", self.marked(label)).expect("a text");
        }
        if let Some(value) = finding["fix"]["value"].as_str() {
            write!(line, " fix {value}").expect("a text");
        }
        let help = finding["help"].as_array().into_iter().flatten();
        let edits: Vec<&str> = help.filter_map(Value::as_str).flat_map(quoted).collect();
        if !edits.is_empty() {
            write!(line, " => {}", edits.join(" | ")).expect("a text");
        }
        line
    }

    /// `path:line:column` and the text there, its first line only.
    fn marked(&self, label: &Value) -> String {
        let number = |key: &str| label[key].as_u64().expect("a number") as usize;
        let (path, line, column) = (text(&label["path"]), number("line"), number("column"));
        let source = fs::read_to_string(self.path().join(path)).unwrap_or_default();
        let marked = source.lines().nth(line - 1).unwrap_or_default();
        let length = if number("end_line") == line {
            number("end_column") - column
        } else {
            usize::MAX
        };
        let marked: String = marked.chars().skip(column - 1).take(length).collect();
        format!("{path}:{line}:{column} `{}`", marked.trim())
    }
}

/// `edge/md0 v1.31.8: mismatched, noble-30 (edge.yaml:3:1) holds 1.30.12 (catalog.yaml:4:5)`.
fn pool_line(pool: &Value) -> String {
    let placed = |value: &str, at: &Value| match at.as_str() {
        Some(at) => format!("{value} ({at})"),
        None => value.to_owned(),
    };
    let version = &pool["k8s_version"];
    let mut line = format!("{}/{}", text(&pool["cluster"]), text(&pool["pool"]));
    if let Some(value) = version["value"].as_str() {
        write!(line, " {}", placed(value, &version["at"])).expect("a text");
    }
    write!(line, ": {}", text(&pool["judgment"])).expect("a text");
    if let Some(reason) = pool["reason"].as_str() {
        write!(line, " ({reason})").expect("a text");
    }
    if let Some(image) = pool["image"].as_str() {
        write!(line, ", {}", placed(image, &pool["at"])).expect("a text");
    }
    if let Some(value) = pool["holds"]["value"].as_str() {
        write!(line, " holds {}", placed(value, &pool["holds"]["at"])).expect("a text");
    }
    line
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("-")
}

/// What a text has between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What `check` came to, a line a finding and a line a node pool.
#[must_use = "a check that nobody looks at proves nothing"]
pub(crate) struct Checked {
    pub(crate) status: i32,
    pub(crate) findings: Vec<String>,
    pub(crate) pools: Vec<String>,
}

impl Checked {
    /// All lines: the findings, then the pools. Pools side by side of which the same is said share a line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = self.findings.clone();
        lines.extend(self.pool_lines());
        lines
    }

    /// The pools' lines among them.
    pub(crate) fn pool_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for pool in &self.pools {
            let (pool, said) = pool.split_once(": ").expect("POOL: JUDGMENT");
            match lines.last().and_then(|line| line.split_once(": ")) {
                Some((pools, same)) if same == said => {
                    let line = format!("{pools}, {pool}: {said}");
                    *lines.last_mut().expect("it is there") = line;
                }
                _ => lines.push(format!("{pool}: {said}")),
            }
        }
        lines
    }

    /// Asserts all lines.
    #[track_caller]
    pub(crate) fn is(&self, expected: impl Into<Data>) -> &Self {
        assert_text(&join(self.lines()), expected);
        self
    }

    /// The findings' lines.
    #[track_caller]
    pub(crate) fn findings(&self, expected: impl Into<Data>) -> &Self {
        assert_text(&join(&self.findings), expected);
        self
    }

    /// The pools' lines.
    #[track_caller]
    pub(crate) fn pools(&self, expected: impl Into<Data>) -> &Self {
        assert_text(&join(self.pool_lines()), expected);
        self
    }

    /// The lines of one rule.
    pub(crate) fn of_rule(&self, rule: &str) -> Vec<&str> {
        let mark = format!("[{rule}]");
        let lines = self.findings.iter().map(String::as_str);
        lines.filter(|line| line.contains(&mark)).collect()
    }
}

/// A run of the program that ended.
pub(crate) struct Run {
    command: String,
    pub(crate) outcome: Outcome,
}

impl Run {
    /// Asserts the status.
    #[track_caller]
    pub(crate) fn exit(self, status: i32) -> Self {
        let Outcome {
            status: found,
            stdout,
            stderr,
        } = &self.outcome;
        assert_eq!(*found, status, "`{}`:\n{stdout}{stderr}", self.command);
        self
    }

    /// What a user sees: stdout, then stderr.
    #[track_caller]
    pub(crate) fn screen(self, expected: impl Into<Data>) -> Self {
        assert_text(
            &format!("{}{}", self.outcome.stdout, self.outcome.stderr),
            expected,
        );
        self
    }

    /// The same, its findings as [`brief`] has them.
    #[track_caller]
    pub(crate) fn brief(self, expected: impl Into<Data>) -> Self {
        let screen = format!("{}{}", self.outcome.stdout, self.outcome.stderr);
        assert_text(&brief(&screen), expected);
        self
    }

    /// What is on stdout.
    #[track_caller]
    pub(crate) fn stdout(self, expected: impl Into<Data>) -> Self {
        assert_text(&self.outcome.stdout, expected);
        self
    }

    /// What is on stderr.
    #[track_caller]
    pub(crate) fn stderr(self, expected: impl Into<Data>) -> Self {
        assert_text(&self.outcome.stderr, expected);
        self
    }
}

/// A screen without empty lines and without what is drawn of files: each place of a finding is a line, with its address, the text that
/// is marked there and what is said of it, as in `edge.yaml:3:14 `noble-30` is selected here`.
pub(crate) fn brief(screen: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    // The finding's indent, the path of its place, and the line that is drawn last, with its number.
    let (mut indent, mut path, mut number, mut drawn) = ("", None, "", "");
    // The columns of that line's marks and the lines that say them, and the one that is said now.
    let (mut marks, mut said): (Vec<(usize, usize)>, Option<usize>) = (Vec::new(), None);
    for line in screen.lines() {
        let text = line.trim_start();
        let arrow = ["--> ", "::: "]
            .iter()
            .find_map(|arrow| text.strip_prefix(arrow));
        let (gutter, content) = line.split_once('|').unwrap_or((line, ""));
        let is_gutter = gutter
            .trim_end()
            .chars()
            .all(|letter| letter == ' ' || letter.is_ascii_digit());
        if let Some(place) = arrow {
            path = place.rsplitn(3, ':').last();
            lines.push(format!("{indent}  {place}"));
        } else if let Some(path) = path
            && is_gutter
            && line.contains('|')
        {
            if !gutter.trim().is_empty() {
                (number, drawn) = (gutter.trim(), content);
                marks.clear();
                continue;
            }
            let words = words(content);
            let is_marks = |word: &str| word.chars().all(|it| "^-".contains(it));
            let is_first_mark = words.first().is_some_and(|(_, word)| is_marks(word));
            let count = words.iter().filter(|(_, word)| is_marks(word)).count();
            for (column, word) in words {
                for (column, length) in read_marks(column, word)
                    .into_iter()
                    .filter(|_| is_first_mark && is_marks(word))
                {
                    let marked: String = drawn.chars().skip(column).take(length).collect();
                    // The columns of a line that is cut are not its own.
                    let is_cut = drawn.starts_with(" ...");
                    let line = format!("{indent}  {path}:{number}:");
                    let place = if is_cut {
                        line.clone()
                    } else {
                        format!("{line}{column}")
                    };
                    // The first place stays first: the arrow has named it.
                    let is_first = |known: &String| {
                        let is_only = is_cut && count == 1 && !known.contains('`');
                        *known == place || is_only && known.starts_with(&line)
                    };
                    let first = lines.iter().rposition(is_first);
                    let at = first.unwrap_or(lines.len());
                    if first.is_none() {
                        lines.push(place.trim_end_matches(':').to_owned());
                    }
                    lines[at] += &format!(" `{marked}`");
                    marks.push((column, at));
                }
                if !(is_first_mark && is_marks(word)) && word != "|" {
                    // What is said below a mark begins in its column.
                    let below = marks.iter().find(|(mark, _)| *mark == column);
                    let beside = marks.last().filter(|_| is_first_mark);
                    said = below.or(beside).map(|(_, at)| *at).or(said);
                    match said {
                        Some(at) => lines[at] += &format!(" {word}"),
                        None => {
                            said = Some(lines.len());
                            lines.push(format!("{indent}    {word}"));
                        }
                    }
                }
            }
            said = None;
        } else if let Some(said) = text.strip_prefix("= ") {
            lines.push(format!("{indent}  {said}"));
        } else if !["", "|", "..."].contains(&text) {
            (indent, path) = (&line[..line.len() - text.len()], None);
            lines.push(line.to_owned());
        }
    }
    lines
        .iter()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The column and length of a mark, and of one that is drawn within it: `^^^---^`.
fn read_marks(column: usize, word: &str) -> Vec<(usize, usize)> {
    let first = word.chars().next();
    let is_inner = |mark: &char| Some(*mark) != first;
    let before = word.chars().take_while(|mark| !is_inner(mark)).count();
    let inner = word.chars().skip(before).take_while(is_inner).count();
    let inner = (inner > 0).then_some((column + before, inner));
    [(column, word.len())].into_iter().chain(inner).collect()
}

/// The words of a line and their columns.
fn words(line: &str) -> Vec<(usize, &str)> {
    let mut column = 0;
    let mut words = Vec::new();
    for word in line.split(' ') {
        if !word.is_empty() {
            words.push((column, word));
        }
        column += word.chars().count() + 1;
    }
    words
}

/// Compares a text with a snapshot in the test, every character of it.
#[track_caller]
pub(crate) fn assert_text(actual: &str, expected: impl Into<Data>) {
    snapbox::Assert::new()
        .action_env("SNAPSHOTS")
        .eq(actual.to_owned(), expected.into().raw());
}

/// A text that a snapshot in the test has.
pub(crate) trait Is {
    /// Compares every character.
    #[track_caller]
    fn is(&self, expected: impl Into<Data>);
}

impl<T: AsRef<str> + ?Sized> Is for T {
    #[track_caller]
    fn is(&self, expected: impl Into<Data>) {
        assert_text(self.as_ref(), expected);
    }
}

/// The texts of files by path.
pub(crate) type Texts = BTreeMap<String, String>;

/// The lines that differ, below `path:line` with the line of the new text. A carriage return is `\r`.
pub(crate) fn changes(before: &Texts, after: &Texts) -> String {
    let mut text = String::new();
    for path in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
        let [old, new] = [before, after].map(|side| side.get(path).map_or("", String::as_str));
        let lines = TextDiff::from_lines(old, new);
        for group in lines.grouped_ops(0) {
            let line = group[0].new_range().start + 1;
            writeln!(text, "{path}:{line}").expect("a text");
            for change in group.iter().flat_map(|op| lines.iter_changes(op)) {
                let sign = if change.tag() == ChangeTag::Delete {
                    '-'
                } else {
                    '+'
                };
                let value = change.value().trim_end_matches('\n').replace('\r', "\\r");
                writeln!(text, "{sign}{value}").expect("a text");
                if change.missing_newline() {
                    text += "\\ no line end\n";
                }
            }
        }
    }
    text
}

/// The result of each of many small cases, for one snapshot: the case, and below it, indented, its lines.
pub(crate) fn table<C: Display, L: Display>(
    cases: impl IntoIterator<Item = C>,
    result: impl Fn(&C) -> Vec<L>,
) -> String {
    let mut text = String::new();
    for case in cases {
        writeln!(text, "{case}").expect("a text");
        for line in result(&case) {
            writeln!(text, "    {line}").expect("a text");
        }
    }
    text
}

/// Compares a table whose cases are in the snapshot itself, as [`cases`] says.
#[track_caller]
pub(crate) fn assert_cases<L: Display>(expected: impl Into<Data>, result: impl Fn(&str) -> Vec<L>) {
    let expected = expected.into();
    let text = expected.render().expect("a text");
    assert_text(&table(cases(&text), |case| result(case)), expected);
}

/// The cases of a table: each line that is not indented is one, and the indented lines below it are its result. To add a case,
/// write its line into the snapshot: `SNAPSHOTS=overwrite` writes the result.
#[track_caller]
pub(crate) fn cases(table: &str) -> Vec<&str> {
    let is_case = |line: &&str| !line.is_empty() && !line.starts_with(' ');
    let cases: Vec<&str> = table.lines().filter(is_case).collect();
    assert!(!cases.is_empty(), "there is no case");
    cases
}

fn join<L: AsRef<str>>(lines: impl IntoIterator<Item = L>) -> String {
    let lines = lines.into_iter();
    lines.fold(String::new(), |text, line| text + line.as_ref() + "\n")
}
