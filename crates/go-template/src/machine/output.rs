//! The output of templates.

use super::super::code::Operation;
use super::super::limits::Budget;
use super::super::rendered::{NO_VALUE, Part};
use super::super::{Error, Value, print};
use super::Machine;
use super::operands::Operand;

impl Machine<'_> {
    pub(super) fn text(&mut self, start: u32, end: u32) -> Result<(), Error> {
        let Some(frame) = self.frames.last() else {
            return Ok(());
        };
        let text = &frame.template.text.text[start as usize..end as usize];
        append(self.budget, &mut self.outputs, text)?;
        self.record();
        Ok(())
    }

    pub(super) fn print(&mut self) -> Result<(), Error> {
        let operand = self.pop();
        match &operand.value {
            Value::Nil => self.write(NO_VALUE),
            Value::String(text) => self.write(text),
            value => {
                let text = print::value(value)?;
                self.write(&text)
            }
        }
    }

    pub(super) fn write(&mut self, text: &str) -> Result<(), Error> {
        append(self.budget, &mut self.outputs, text)?;
        self.record();
        Ok(())
    }

    /// Records what the outermost template's current instruction wrote, if that is recorded.
    fn record(&mut self) {
        let (Some(parts), [output], Some(frame)) =
            (&mut self.parts, &self.outputs[..], self.frames.first())
        else {
            return;
        };
        let (operation, code) = (frame.next.saturating_sub(1), frame.template.code());
        let written = match code.operations[operation] {
            Operation::Text(start, end) => Some((start, end)),
            _ => None,
        };
        let part = Part {
            end: output.len(),
            span: written.unwrap_or(code.spans[operation]),
            is_text: written.is_some(),
        };
        match parts.last_mut() {
            Some(last) if !part.is_text && last.span == part.span => last.end = part.end,
            _ => parts.push(part),
        }
    }

    /// Pushes a text as a value.
    pub(super) fn push_text(&mut self, text: String) {
        self.operands.push(Operand::plain(text.into()));
    }
}

/// Appends a text to the innermost output: a step for each byte, so that a loop that doubles a text ends.
fn append(budget: &Budget, outputs: &mut [String], text: &str) -> Result<(), Error> {
    budget.step(text.len() as u64)?;
    if let Some(output) = outputs.last_mut() {
        output.push_str(text);
    }
    Ok(())
}

/// Removes [`NO_VALUE`] from a text, as Helm does.
pub(super) fn remove_no_value(text: String) -> String {
    if text.contains(NO_VALUE) {
        text.replace(NO_VALUE, "")
    } else {
        text
    }
}
