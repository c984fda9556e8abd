//! A ResourceList: what a function answers is one again, and a stamp that was made is not made again.

use metalmark::hosts;
use metalmark::pipeline::Verdict;
use metalmark::read::Request;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Value;

use super::cmp::{Screen, terminal};
use super::memory::repository;
use super::pipeline::today;

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let Some((verdict, once)) = answered(text) else {
        return false;
    };
    let items = items(&once);
    if verdict == Verdict::Clean && text.contains("MetalmarkTransformer") {
        let (_, twice) = answered(&once).expect("its own answer is a list");
        assert!(
            self::items(&twice).same(&items),
            "{text}\nis\n{once}\nthen\n{twice}"
        );
    }
    verdict == Verdict::Clean
}

/// What the function says to a list, in the demo workspace; none where it is no list for it.
fn answered(list: &str) -> Option<(Verdict, String)> {
    let request = Request {
        directory: Some(repository().join("fixtures/workspaces/sylva-baremetal")),
        ..Request::default()
    };
    let screen = Screen::default();
    let verdict = hosts::function(&request, list, today(), &mut terminal(&screen));
    let text = screen.text();
    match verdict {
        Ok(verdict) => Some((verdict, text)),
        Err(_) => {
            assert_eq!(text, "", "an error and an answer");
            None
        }
    }
}

fn items(list: &str) -> Value {
    let read = yaml_tree::read(list, FileId(0), Engine::Kubectl);
    let read = read.unwrap_or_else(|error| panic!("{error} in\n{list}"));
    let items = read.documents[0].get_path(&["items"]);
    items.map_or(Value::Null, |items| items.value.clone())
}
