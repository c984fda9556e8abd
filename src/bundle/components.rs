//! Component bundles: what is installed on a host by the bundle's own `install.sh`. It is read here, and never run.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::sync::Arc;

use super::File;
use crate::model::component::{Declared, ENVIRONMENT, INSTALLER, is_variable_name};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// How much of an installer is searched for its variables, in bytes.
const SEARCHED: u64 = 1 << 20;

/// What the file is that installs a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installer {
    /// Its first line, where that names a program.
    pub program: Option<String>,
    /// The declared variables that it never names.
    pub unread: Vec<Arc<str>>,
}

/// What a component bundle is, and what is wrong with it.
pub struct Contract {
    /// Its installer, where it has one.
    pub installer: Option<Installer>,
    /// What it is made for, the variables of its environment file included.
    pub declared: Declared,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// Checks files against the contract of a component bundle: an executable installer at the root that reads what is declared,
/// beside the files or in its environment file.
///
/// # Errors
/// The installer or its environment file cannot be read.
pub fn contract(files: &[File], mut declared: Declared) -> io::Result<Contract> {
    let find = |path: &str| files.iter().find(|file| &*file.path == path);
    let mut findings = Vec::new();
    if let Some(file) = find(ENVIRONMENT) {
        match String::from_utf8(head(file)?) {
            Ok(text) if file.size <= SEARCHED => declared.add_environment(&text),
            read => {
                let what = match read {
                    Ok(_) => "is longer than 1 MiB",
                    Err(_) => "is not UTF-8",
                };
                let message = format!("`{ENVIRONMENT}` {what}, so its variables are not known");
                let finding = Finding::new(RuleId::ComponentContract, message);
                let help = "write it as UTF-8, a line `NAME=VALUE` for each variable";
                findings.push(finding.with_label(file.spot(), "").help(help));
            }
        }
    }
    let names = declared.variables.iter().flat_map(BTreeMap::keys);
    findings.extend(bad_variable_names(names.clone()));
    let Some(file) = find(INSTALLER) else {
        findings.push(missing_installer(files));
        return Ok(Contract {
            installer: None,
            declared,
            findings,
        });
    };
    let mut breach = |message: String, help: String| {
        let finding = Finding::new(RuleId::ComponentContract, message).with_label(file.spot(), "");
        findings.push(finding.help(help));
    };
    if !file.mode.is_executable() {
        let help = format!(
            "`chmod +x {INSTALLER}` before it is packed; in git: `git update-index --chmod=+x {INSTALLER}`"
        );
        breach(format!("`{INSTALLER}` is not executable"), help);
    }
    let (program, text) = beginning(file)?;
    if let Some(program) = program.as_ref().and_then(|it| it.strip_suffix('\r')) {
        let help = "write it with the line ends of Unix; in git: `install.sh text eol=lf` in `.gitattributes`";
        let message =
            format!("`{INSTALLER}` has the line ends of Windows: no host has `{program}\\r`");
        breach(message, help.to_owned());
    }
    if program.is_none() && text.is_some() {
        let help = "start it with `#!/bin/sh`, or the program that runs it".to_owned();
        breach(format!("`{INSTALLER}` does not say what runs it"), help);
    }
    let is_unread = |name: &&Arc<str>| text.as_ref().is_some_and(|text| !mentions(text, name));
    let unread: Vec<Arc<str>> = names.filter(is_unread).cloned().collect();
    for name in &unread {
        let message = format!("`{INSTALLER}` never names the declared variable `{name}`");
        breach(
            message,
            format!("read it, or declare it no more: `--env {name}`, `{ENVIRONMENT}`"),
        );
    }
    Ok(Contract {
        installer: Some(Installer { program, unread }),
        declared,
        findings,
    })
}

/// The variables that no shell knows by such a name.
fn bad_variable_names<'n>(names: impl Iterator<Item = &'n Arc<str>>) -> Vec<Finding> {
    let finding = |name: &Arc<str>| {
        let message = format!("`{name}` is not a name of an environment variable");
        let finding = Finding::new(RuleId::ComponentContract, message);
        finding.help("names are letters, digits and `_`, and start with no digit")
    };
    names
        .filter(|name| !is_variable_name(name))
        .map(finding)
        .collect()
}

/// Reports a missing installer.
fn missing_installer(files: &[File]) -> Finding {
    let finding = Finding::new(
        RuleId::ComponentContract,
        format!("the bundle has no `{INSTALLER}` at its root"),
    );
    let mut files = files.iter();
    match files.find(|file| file.path.rsplit('/').next() == Some(INSTALLER)) {
        Some(deeper) => finding.help(format!(
            "`{}` is one: pack the folder that it is in",
            deeper.from
        )),
        None => finding.help(format!(
            "add `{INSTALLER}`, which is called once the bundle is unpacked"
        )),
    }
}

/// The program that a script names in its first line, and its text; no text of a binary or of a longer file.
fn beginning(file: &File) -> io::Result<(Option<String>, Option<String>)> {
    let bytes = head(file)?;
    if bytes.starts_with(b"\x7fELF") {
        return Ok((None, None));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let program = text
        .split('\n')
        .next()
        .and_then(|line| line.strip_prefix("#!"));
    let program = program.map(|program| program.trim_matches([' ', '\t']).to_owned());
    Ok((program, (file.size <= SEARCHED).then_some(text)))
}

/// The beginning of a file.
fn head(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let reader = file.content.open()?;
    reader.take(SEARCHED).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a text holds a name as a word of its own.
fn mentions(text: &str, name: &str) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use oci_artifacts::archive::Mode;

    use super::{File, contract};
    use crate::model::component::{Declared, Need};

    fn declared(names: &[&str]) -> Declared {
        let variables: BTreeMap<_, _> = names
            .iter()
            .map(|name| ((*name).into(), Need::Optional))
            .collect();
        Declared {
            variables: Some(variables),
            ..Declared::default()
        }
    }

    fn installer(path: &str, is_executable: bool, text: &str) -> File {
        File {
            mode: Mode::new(if is_executable { 0o755 } else { 0o644 }),
            ..File::text(path, text.as_bytes().to_vec())
        }
    }

    fn messages(file: File, names: &[&str]) -> Vec<String> {
        let found = contract(&[file], declared(names)).expect("memory");
        let findings = found.findings.into_iter();
        findings.map(|finding| finding.message).collect()
    }

    #[test]
    fn a_bundle_that_keeps_the_contract_has_no_finding() {
        let script = installer("install.sh", true, "#!/bin/sh -e\necho \"${A_B:-}\"\n");
        assert_eq!(messages(script.clone(), &["A_B"]), Vec::<String>::new());
        assert_eq!(
            messages(script, &["A"]),
            ["`install.sh` never names the declared variable `A`"]
        );
    }

    #[test]
    fn blanks_around_the_program_are_no_part_of_it() {
        let script = installer("install.sh", true, "#!\t /bin/sh -e \t\necho\n");
        let found = contract(&[script], declared(&[])).expect("memory");
        let program = found.installer.and_then(|it| it.program);
        assert_eq!(program.as_deref(), Some("/bin/sh -e"));
    }

    #[test]
    fn each_breach_is_reported() {
        for (file, names, word) in [
            (
                installer("bin/install.sh", true, "#!/bin/sh\n"),
                &[][..],
                "no `install.sh`",
            ),
            (
                installer("install.sh", false, "#!/bin/sh\n"),
                &[],
                "not executable",
            ),
            (installer("install.sh", true, "echo\n"), &[], "what runs it"),
            (
                installer("install.sh", true, "#!/bin/sh\r\necho\r\n"),
                &[],
                "no host has `/bin/sh\\r`",
            ),
            (
                installer("install.sh", true, "#!/bin/sh\nA-B"),
                &["A-B"],
                "not a name",
            ),
        ] {
            let found = messages(file, names);
            assert!(found.len() == 1 && found[0].contains(word), "{found:?}");
        }
    }
}
