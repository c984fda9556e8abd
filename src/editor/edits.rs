//! Edits of the user's files as the protocol has them.

use std::collections::HashMap;

use lsp_types::{TextEdit, Uri, WorkspaceEdit};

use crate::edit::texts::EditedFile;
use crate::printer;

use super::position::{Encoding, Lines};

/// The edits that turn the texts of files into others; none where one of them would show a secret.
pub(super) fn edit(
    files: &[EditedFile],
    encoding: Encoding,
    uri: impl Fn(&str) -> Option<Uri>,
) -> Option<WorkspaceEdit> {
    // A URI is the key because it is in the protocol; it is not changed while it is one.
    #[expect(clippy::mutable_key_type, reason = "the protocol's own type")]
    let mut changes = HashMap::new();
    for EditedFile { source, text } in files {
        let edit = difference(&source.text, text, encoding)?;
        changes.insert(uri(&source.path)?, vec![edit]);
    }
    let edit = WorkspaceEdit {
        changes: Some(changes),
        ..WorkspaceEdit::default()
    };
    Some(edit)
}

/// The one edit between two texts: what is the same at both ends stays.
fn difference(old: &str, new: &str, encoding: Encoding) -> Option<TextEdit> {
    let same = |(a, b): &(u8, u8)| a == b;
    let start = old.bytes().zip(new.bytes()).take_while(same).count();
    let start = old
        .floor_char_boundary(start)
        .min(new.floor_char_boundary(start));
    let ends = old[start..].bytes().rev().zip(new[start..].bytes().rev());
    let end = ends.take_while(same).count();
    let old_end = old.ceil_char_boundary(old.len() - end);
    let new_end = new.len() - (old.len() - old_end);
    let text = &new[start..new_end];
    let is_plain = text.split("\r\n").all(|line| printer::plain(line) == line);
    is_plain.then(|| TextEdit {
        range: Lines::new(old, encoding).range(start..old_end),
        new_text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert_eq, proptest};

    use super::difference;
    use crate::editor::position::{Encoding, Lines};

    proptest! {
        #[test]
        fn an_edit_makes_the_new_text(old in "[ab\u{e9}\n]{0,12}", new in "[ab\u{e9}\n]{0,12}") {
            let edit = difference(&old, &new, Encoding::Utf16).expect("no secret");
            let lines = Lines::new(&old, Encoding::Utf16);
            let (start, end) = (lines.offset(edit.range.start), lines.offset(edit.range.end));
            let made = format!("{}{}{}", &old[..start], edit.new_text, &old[end..]);
            prop_assert_eq!(made, new);
        }
    }
}
