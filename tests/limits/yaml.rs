//! The limits of YAML and JSON, and that no shape of a text escapes them.

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::{NoticeKind, SyntaxError};

use super::most;
use crate::support::is_long;

#[path = "../../benches/hostile/shapes.rs"]
mod shapes;

const ENGINES: [Engine; 3] = [Engine::Helm3, Engine::Helm4, Engine::Kubectl];

/// How many documents are read of a text.
fn read(text: &str, engine: Engine) -> Result<usize, SyntaxError> {
    yaml_tree::read(text, FileId(0), engine).map(|read| read.documents.len())
}

#[test]
fn the_largest_text_is_read_and_a_larger_one_is_not() {
    most(16 << 20, "larger than 16 MiB", |size| {
        read(&format!("#{}", "c".repeat(size - 1)), Engine::Helm3)
    });
}

#[test]
fn as_many_keys_and_values_are_read_as_is_stated() {
    let shapes: [fn(usize) -> String; 4] = [
        |count| format!("[{}]", "1,".repeat(count - 1)),
        |count| "- *a\n".repeat(count - 5).replacen("*a", "&a x", 1),
        |count| format!("[{}1]", "1,".repeat(count - 2)),
        |count| format!("{{\"a\": [{}1]}}", "1,".repeat(count - 4)),
    ];
    // Half of them in a short run.
    let step = if is_long() { 1 } else { 2 };
    for (index, shape) in shapes.iter().enumerate().skip(step - 1).step_by(step) {
        let engine = match index {
            3 => Engine::Kubectl,
            _ => Engine::Helm3,
        };
        most(750_000, "more than 750000 keys and values", |count| {
            read(&shape(count), engine)
        });
    }
    // Documents count together.
    let documents = "---\n[1]\n".repeat(375_001);
    let refused = read(&documents, Engine::Helm4).expect_err("too many");
    assert!(
        refused.message.contains("keys and values"),
        "{}",
        refused.message
    );
}

#[test]
fn the_deepest_text_is_read_and_a_deeper_one_is_not() {
    on_a_large_stack(the_deepest_text);
}

fn the_deepest_text() {
    let shapes: [fn(usize) -> String; 5] = [
        |depth| "[".repeat(depth) + &"]".repeat(depth),
        |depth| "{a: ".repeat(depth) + &"}".repeat(depth),
        |depth| "- ".repeat(depth),
        |depth| {
            let line = |level| format!("{}a:\n", " ".repeat(level));
            (0..depth).map(line).collect()
        },
        |depth| "{\"a\":".repeat(depth) + "1" + &"}".repeat(depth),
    ];
    for shape in shapes {
        for engine in ENGINES {
            // JSON there, and wrong at its first key.
            if engine == Engine::Kubectl && shape(1).starts_with("{a") {
                continue;
            }
            most(256, "nested more than 256 levels deep", |depth| {
                read(&shape(depth), engine)
            });
        }
    }
}

#[test]
fn the_longest_key_is_read_and_a_longer_one_is_not() {
    most(1024, "`:`", |length| {
        read(&format!("{}: 1\n", "k".repeat(length)), Engine::Helm3)
    });
    most(1024, "`:`", |length| {
        read(&format!("{}: 1\n", "é".repeat(length)), Engine::Helm3)
    });
}

#[test]
fn aliases_up_to_the_limit_are_read_and_more_are_not() {
    // Of a text that stands for less than 400,000 values, ninety-nine of a hundred may come by aliases.
    let text = |values: usize| {
        let list = "x,".repeat(996);
        format!("a: &a [{list}]\nb: [{}]\n", "*a,".repeat(values))
    };
    let fits = (1..400).take_while(|values| read(&text(*values), Engine::Helm3).is_ok());
    let most = fits.last().expect("a few are taken");
    assert!((80..120).contains(&most), "{most} times");
    let refused = read(&text(most + 1), Engine::Helm3).expect_err("one more is not");
    assert!(refused.message.contains("expand to"), "{}", refused.message);
}

#[test]
fn of_what_is_odd_a_thousand_of_each_sort_are_reported() {
    let odd = |duplicates: usize, words: usize| {
        let words: String = (0..words)
            .map(|number| format!("k{number}: yes\n"))
            .collect();
        let duplicates: String = (0..duplicates)
            .map(|number| format!("a: {number}\n"))
            .collect();
        let read = yaml_tree::read(&(words + &duplicates), FileId(0), Engine::Helm3);
        read.expect("YAML").notices
    };
    let more = |notice: &yaml_tree::Notice| match notice.kind {
        NoticeKind::More { count } => Some(count),
        _ => None,
    };
    assert_eq!(odd(1001, 0).len(), 1000);
    assert_eq!(odd(1001, 0).iter().find_map(more), None);
    let all = odd(1003, 1500);
    assert_eq!(all.len(), 2001);
    assert_eq!(all.iter().find_map(more), Some(502));
    let is_refused =
        |notice: &yaml_tree::Notice| matches!(notice.kind, NoticeKind::DuplicateKey { .. });
    assert_eq!(all.iter().filter(|notice| is_refused(notice)).count(), 1000);
}

/// Frames are several times larger here than as released.
fn on_a_large_stack(run: fn()) {
    let thread = std::thread::Builder::new().stack_size(16 << 20).spawn(run);
    thread.expect("a thread").join().expect("it ends");
}

#[test]
fn every_bad_shape_ends_in_a_tree_or_in_words_at_a_place() {
    on_a_large_stack(every_bad_shape_ends);
}

fn every_bad_shape_ends() {
    /// Small, for this is compiled for tests: `benches/hostile.rs` takes 10 MB of each.
    const SIZE: usize = 1 << 15;
    for shape in shapes::YAML {
        let text = (shape.text)(SIZE);
        for engine in ENGINES {
            if let Err(error) = yaml_tree::read(&text, FileId(0), engine) {
                let range = error.place.start as usize..error.place.end as usize;
                assert!(text.get(range).is_some(), "{}", shape.name);
                assert!(!error.message.is_empty(), "{}", shape.name);
            }
        }
    }
}

#[test]
fn every_bad_template_and_pattern_ends_too() {
    on_a_large_stack(every_bad_template_and_pattern_ends);
}

fn every_bad_template_and_pattern_ends() {
    use go_template::regexp::Regexp;
    use go_template::{Budget, Limits, NoHost, Value, execute, parse};
    const SIZE: usize = 1 << 14;
    let limits = Limits {
        steps: 100_000,
        ..Limits::default()
    };
    for shape in shapes::TEMPLATES {
        let text = (shape.text)(SIZE);
        let written = parse("bad", &text)
            .and_then(|template| execute(&template, &Value::Nil, &NoHost, &Budget::new(limits)));
        if let Err(error) = written {
            assert!(!error.message.is_empty(), "{}", shape.name);
        }
    }
    for shape in shapes::PATTERNS {
        if let Err(error) = Regexp::new(&(shape.text)(SIZE)) {
            assert!(!error.message.is_empty(), "{}", shape.name);
        }
    }
}
