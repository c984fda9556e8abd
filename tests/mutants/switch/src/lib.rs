//! The switch between the product and one of its mutants, compiled into the copy of the source tree that holds them all.
//!
//! `METALMARK_MUTANT` has the number of the active mutant. `METALMARK_MUTANTS_REACHED` names a file that gets the number of
//! every mutant whose place is executed. Tests clear the environment of the programs that they start, so on Linux the
//! variables are also looked up in the environment of the ancestors.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const MOST: usize = 1 << 16;
static REACHED: [AtomicBool; MOST] = [const { AtomicBool::new(false) }; MOST];
static SWITCH: OnceLock<Switch> = OnceLock::new();

struct Switch {
    active: Option<u32>,
    reached: Option<File>,
}

/// Whether that mutant is the active one.
#[inline]
pub fn on(mutant: u32) -> bool {
    let switch = SWITCH.get_or_init(Switch::from_environment);
    if let Some(mut file) = switch.reached.as_ref()
        && !REACHED[mutant as usize].load(Ordering::Relaxed)
        && !REACHED[mutant as usize].swap(true, Ordering::Relaxed)
    {
        // One short write to a file opened for appending, so that lines of several processes do not mix.
        let _ = file.write_all(format!("{mutant}\n").as_bytes());
    }
    switch.active == Some(mutant)
}

impl Switch {
    fn from_environment() -> Self {
        let variables = variables();
        let active = variables.get("METALMARK_MUTANT");
        let reached = variables.get("METALMARK_MUTANTS_REACHED");
        Self {
            active: active.and_then(|number| number.parse().ok()),
            reached: reached.and_then(|path| {
                let file = OpenOptions::new().create(true).append(true).open(path);
                file.ok()
            }),
        }
    }
}

/// The variables of the switch, of this process or of the nearest ancestor that has any.
fn variables() -> HashMap<String, String> {
    let mut process = "self".to_owned();
    loop {
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let found: HashMap<String, String> = environment
            .split(|byte| *byte == 0)
            .filter_map(|variable| {
                let (name, value) = std::str::from_utf8(variable).ok()?.split_once('=')?;
                name.starts_with("METALMARK_MUTANT")
                    .then(|| (name.to_owned(), value.to_owned()))
            })
            .collect();
        if !found.is_empty() {
            return found;
        }
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
        match parent.map(str::trim) {
            Some(parent) if parent != "0" => process = parent.to_owned(),
            _ => return HashMap::new(),
        }
    }
}
