//! What an Argo CD application sets: its parameters, or behind an `A` its whole manifest. Objects are printed whole or not at
//! all.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use metalmark::hosts::cmp::{self, Environment, SimulateOptions, Simulated};
use metalmark::pipeline::{Terminal, Verdict};
use metalmark::printer::{Color, Printer};
use metalmark::read::Request;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::memory::repository;
use super::pipeline::today;

pub(super) fn run(data: &[u8]) -> bool {
    let request = Request {
        directory: Some(repository().join("fixtures/workspaces/sylva-baremetal")),
        ..Request::default()
    };
    let screen = Screen::default();
    let mut terminal = terminal(&screen);
    let verdict = match data.strip_prefix(b"A") {
        Some(manifest) => {
            let file = tempfile::NamedTempFile::new().expect("a file");
            std::fs::write(file.path(), manifest).expect("written");
            let options = SimulateOptions {
                app: file.path().to_owned(),
                simulated: Simulated::default(),
                environment: false,
            };
            cmp::simulate(
                &request,
                &Environment::default(),
                &options,
                today(),
                &mut terminal,
            )
        }
        None => {
            let Ok(text) = std::str::from_utf8(data) else {
                return false;
            };
            let variables = [
                ("ARGOCD_APP_NAME", "edge-paris"),
                ("ARGOCD_APP_PARAMETERS", text),
            ];
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let environment = Environment::from_iter(variables);
            cmp::generate(&request, &environment, today(), &mut terminal)
        }
    };
    let text = screen.text();
    match verdict {
        Ok(Verdict::Clean) => {
            let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl);
            assert!(read.is_ok(), "{text}");
            !text.is_empty()
        }
        _ => {
            assert_eq!(text, "", "objects of a run that did not succeed");
            false
        }
    }
}

/// What was printed to stdout.
#[derive(Clone, Default)]
pub(super) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    pub(super) fn text(&self) -> String {
        let bytes = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        String::from_utf8(bytes).expect("what is printed is UTF-8")
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) fn terminal(screen: &Screen) -> Terminal {
    Terminal {
        out: Printer::new(Box::new(screen.clone()), Color::Never),
        err: Printer::new(Box::new(Screen::default()), Color::Never),
        progress: None,
    }
}
