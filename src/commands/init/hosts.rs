//! What git, pre-commit and Renovate need: written where they have no settings yet, else said. They read the top of the repository
//! alone, whichever folder the project is in.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use yaml_tree::json::{Html, to_json};
use yaml_tree::value::Value;

use crate::error::Error;
use crate::files::Files;
use crate::output;
use crate::report;

use super::word::word;

/// Settings of one host.
pub(super) struct Snippet {
    /// The files that hold its settings; the first is the one to write.
    pub(super) files: &'static [&'static str],
    /// A whole file.
    pub(super) whole: String,
    /// What to add to one that is there, and where.
    pub(super) part: String,
    pub(super) place: &'static str,
    /// The project's folder, where a file that names others has nothing of it; none for what is the same for all projects.
    pub(super) project: Option<String>,
}

impl Snippet {
    /// What an existing file lacks of these settings; none if it has them.
    fn lacking(&self, text: &str) -> Option<String> {
        let Some(project) = &self.project else {
            let lines = self.part.lines().filter(|line| !line.starts_with('#'));
            let lines = lines.filter(|line| !text.contains(line));
            let lines: String = lines.map(|line| format!("{line}\n")).collect();
            return (!lines.is_empty()).then_some(lines);
        };
        let is_there = text.contains("metalmark") && has_project(text, project);
        (!is_there).then(|| self.part.clone())
    }
}

/// Whether settings run metalmark for the project in a folder, which an option or a key before it names; for the one at the top of the
/// repository, by a command without a folder.
fn has_project(text: &str, folder: &str) -> bool {
    const COMMANDS: [&str; 6] = ["check", "plan", "render", "stamp", "update", "-C"];
    const KEYS: [&str; 5] = [
        "-C",
        "--directory",
        "cd",
        "working-directory",
        "workingDirTemplate",
    ];
    let is_apart = |letter: char| letter.is_whitespace() || "[],:\"'`".contains(letter);
    let words: Vec<&str> = text
        .split(is_apart)
        .filter(|word| !word.is_empty())
        .collect();
    let is_named = |two: &[&str]| {
        let named = two[1].trim_end_matches('/').trim_start_matches("./");
        KEYS.contains(&two[0]) && named == folder
    };
    if !folder.is_empty() {
        return words.windows(2).any(is_named) || names_in_quotes(text, folder);
    }
    let folders = words.iter().filter(|word| KEYS.contains(word)).count();
    let is_command = |three: &&[&str]| {
        three[0] != "name" && three[1] == "metalmark" && COMMANDS.contains(&three[2])
    };
    folders == 0 || words.windows(3).filter(is_command).count() > folders
}

/// Whether a text has a name in one of the ways in which settings quote it, if its letters need that.
fn names_in_quotes(text: &str, name: &str) -> bool {
    if word(name) == name {
        return false;
    }
    let quoted = [
        word(name),
        to_json(&Value::from(name), Html::Plain),
        report::shell_quote(name).to_string(),
    ];
    quoted.iter().any(|quoted| text.contains(quoted))
}

/// What a project in a folder adds to the names of its jobs and hooks: each is the only one of its name.
pub(super) fn name_end(project: &str) -> String {
    let folder = project.trim_end_matches('/');
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    match folder {
        "" => String::new(),
        folder => format!("-{}", folder.chars().map(plain).collect::<String>()),
    }
}

/// Attributes of the files that metalmark writes below a project's folder, which ends with a slash if it is not the top.
pub(super) fn git(project: &str, rendered: &BTreeSet<String>) -> Snippet {
    let rendered = rendered.iter().map(|folder| {
        // Git reads a pattern in double quotes as C does a string, and JSON escapes these letters alike.
        let pattern = match format!("{project}{folder}/**") {
            pattern if pattern.contains([' ', '"', '\\']) => {
                to_json(&Value::from(pattern), Html::Plain)
            }
            pattern => pattern,
        };
        format!("{pattern} text eol=lf\n")
    });
    let rendered: String = rendered.collect();
    let lines = format!(
        "# What metalmark writes is compared by its bytes, on every system.\n\
         {rendered}\
         metalmark.lock text eol=lf\n\
         *.evidence text eol=lf merge=union linguist-generated gitlab-generated\n"
    );
    Snippet {
        files: &[".gitattributes"],
        part: lines.clone(),
        whole: lines,
        place: "at the end",
        project: None,
    }
}

/// pre-commit and prek, with an installed metalmark: what `metalmark-render-system` of `.pre-commit-hooks.yaml` runs, as a
/// hook of the repository's own, since nobody knows here where metalmark's is. A project without outputs is only checked.
pub(super) fn pre_commit(project: &str, is_rendered: bool) -> Snippet {
    let folder = project.trim_end_matches('/');
    let arguments = match folder {
        "" => String::new(),
        folder => format!("        args: [-C, {}]\n", word(folder)),
    };
    let hook = if is_rendered {
        HOOK.to_owned()
    } else {
        let check = HOOK.replace(" --fail-on-change --tracked", "");
        check.replace("render", "check")
    };
    let id = hook.replacen(
        "\n        name:",
        &format!("{}\n        name:", name_end(project)),
        1,
    );
    let hook = format!("{id}{arguments}");
    Snippet {
        files: &[".pre-commit-config.yaml", ".pre-commit-config.yml"],
        whole: format!("{TYPES}repos:\n{hook}"),
        part: hook,
        place: "under `repos:`",
        project: Some(folder.to_owned()),
    }
}

/// Else `pre-commit install` installs the hook of commits alone.
const TYPES: &str = "default_install_hook_types: [pre-commit, pre-merge-commit, pre-push]\n";

// Its first line keeps its two spaces.
const HOOK: &str = "  - repo: local
    hooks:
      - id: metalmark-render
        name: metalmark render
        entry: metalmark render --fail-on-change --tracked
        language: system
        pass_filenames: false
        always_run: true
        require_serial: true
        stages: [pre-commit, pre-merge-commit, pre-push, manual]
";

/// Renovate: the preset, which finds the version and runs the update.
pub(super) fn renovate(project: &str) -> Snippet {
    let preset = match project.trim_end_matches('/') {
        "" => PRESET.to_owned(),
        // The command is the same everywhere, for the bot's administrator allows it once.
        folder => {
            let folder = to_json(&Value::from(folder), Html::Plain);
            PRESET.replace(
                TASKS,
                &format!("{TASKS}\n        \"workingDirTemplate\": {folder},"),
            )
        }
    };
    let lists = preset.find("  \"customManagers\"").unwrap_or_default();
    let (head, lists) = preset.split_at(lists);
    let end = lists.rfind('}').unwrap_or(lists.len());
    Snippet {
        files: RENOVATE,
        whole: format!("{head}  \"extends\": [\"config:recommended\"],\n{lists}"),
        part: lists[..end].to_owned(),
        place: "to the lists of these names",
        project: Some(project.trim_end_matches('/').to_owned()),
    }
}

/// How the preset's tasks begin.
const TASKS: &str = "\"postUpgradeTasks\": {";

/// The names of its configuration (<https://docs.renovatebot.com/configuration-options/>); it reads the first that it finds.
const RENOVATE: &[&str] = &[
    "renovate.json",
    "renovate.jsonc",
    "renovate.json5",
    ".github/renovate.json",
    ".github/renovate.jsonc",
    ".github/renovate.json5",
    ".gitlab/renovate.json",
    ".gitlab/renovate.jsonc",
    ".gitlab/renovate.json5",
    ".renovaterc",
    ".renovaterc.json",
    ".renovaterc.jsonc",
    ".renovaterc.json5",
];

const PRESET: &str = include_str!("../../../templates/hosts/renovate/metalmark.json");

/// Writes a host's settings where it has none; else, and in a dry run, says what they are. `files` is the top of the repository.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn give(
    snippet: &Snippet,
    top: &Path,
    files: &dyn Files,
    dry_run: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let text = |name: &str| -> Result<String, Error> {
        let bytes = files.read_file(Path::new(name))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let is_there = |name: &&&str| files.is_file(Path::new(name));
    let mut existing = snippet.files.iter().find(is_there).copied();
    // Renovate reads it there too, but only where no other file has it.
    let package = "package.json";
    if existing.is_none() && snippet.files == RENOVATE && files.is_file(Path::new(package)) {
        existing = text(package)?.contains("\"renovate\"").then_some(package);
    }
    if let Some(name) = existing {
        match snippet.lacking(&text(name)?) {
            None => report::init::has_metalmark(name, out)?,
            Some(part) => report::init::to_add(name, snippet.place, &part, out)?,
        }
        return Ok(());
    }
    let name = snippet.files.first().copied().unwrap_or_default();
    // A link may lead out of the repository.
    let mut folders = Path::new(name).ancestors().skip(1);
    let is_linked = folders.any(|folder| files.leads_to(folder).is_some());
    if dry_run || is_linked || !output::new_file(&top.join(name), snippet.whole.as_bytes())? {
        report::init::whole(name, &snippet.whole, out)?
    } else {
        report::init::wrote(name, out)?
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::names_in_quotes;

    #[test]
    fn a_folder_is_named_in_whatever_quotes_a_setting_has() {
        let folder = "teams/red one";
        for text in ["- -C 'teams/red one'", "args: [-C, \"teams/red one\"]"] {
            assert!(names_in_quotes(text, folder), "{text}");
        }
        assert!(!names_in_quotes("args: [-C, teams/blue]", folder));
        assert!(!names_in_quotes("args: [-C, 'teams/red']", "teams/red"));
    }
}
