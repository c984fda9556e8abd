//! The data file that Renovate passes to a command after an upgrade: the versions that it raised.
//!
//! Its form is the preset's own (`dataFileTemplate` in templates/hosts/renovate/metalmark.json): a list with one map an upgrade. The
//! file's path is in [`DATA_FILE`]. The values files hold the new version already when the command runs.
//! (renovate docs/usage/configuration-options.md, "postUpgradeTasks".)

/// The environment variable that names the file.
pub const DATA_FILE: &str = "RENOVATE_POST_UPGRADE_COMMAND_DATA_FILE";

/// One version that was raised.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upgrade {
    /// The dependency, such as `sylva-projects/sylva-elements/diskimage-builder`.
    pub dep_name: String,
    /// The file that holds it, below the repository's folder.
    #[serde(default)]
    pub package_file: String,
    /// The version before.
    #[serde(default)]
    pub current_value: String,
    /// The version now.
    pub new_value: String,
}

/// The upgrades of a data file, each once; none for an empty file.
///
/// # Errors
/// What is wrong with the text, in one clause.
pub fn upgrades(text: &str) -> Result<Vec<Upgrade>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<Upgrade> = serde_json::from_str(text).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        format!("is not the list of upgrades that the preset makes (at {place})")
    })?;
    let mut upgrades: Vec<Upgrade> = Vec::new();
    for upgrade in all {
        if !upgrade.new_value.is_empty() && !upgrades.contains(&upgrade) {
            upgrades.push(upgrade);
        }
    }
    Ok(upgrades)
}

/// The version of all upgrades; `None` if there is no upgrade or their versions differ: then the values decide.
pub fn version(upgrades: &[Upgrade]) -> Option<&str> {
    let (first, others) = upgrades.split_first()?;
    let same = others
        .iter()
        .all(|other| other.new_value == first.new_value);
    same.then_some(&first.new_value)
}

#[cfg(test)]
mod tests {
    use super::{upgrades, version};

    #[test]
    fn the_presets_own_form_is_read() {
        let text = r#"[{"depName": "a/diskimage-builder", "packageFile": "values.yaml", "currentValue": "0.4.12", "newValue": "0.5.0"},
            {"depName": "a/diskimage-builder", "packageFile": "lab/values.yaml", "currentValue": "0.4.11", "newValue": "0.5.0", "more": 1}]"#;
        let upgrades = upgrades(text).expect("it is read");
        assert_eq!(upgrades.len(), 2);
        assert_eq!(upgrades[0].current_value, "0.4.12");
        assert_eq!(version(&upgrades), Some("0.5.0"));
    }

    #[test]
    fn upgrades_that_differ_give_no_version() {
        let text = r#"[{"depName": "a", "newValue": "1"}, {"depName": "b", "newValue": "2"}]"#;
        assert_eq!(version(&upgrades(text).expect("it is read")), None);
        let pinned = r#"[{"depName": "a", "newValue": ""}]"#;
        assert_eq!(upgrades(pinned), Ok(Vec::new()));
        assert_eq!(upgrades("\n"), Ok(Vec::new()));
    }

    #[test]
    fn another_text_is_reported_by_its_place_alone() {
        for text in ["{}", "[1]", "password=hunter2", "[{\"depName\": \"a\"}]"] {
            let error = upgrades(text).expect_err("it is not a list of upgrades");
            assert!(
                error.contains("(at line 1, column ") && !error.contains("hunter2"),
                "{error}"
            );
        }
    }
}
