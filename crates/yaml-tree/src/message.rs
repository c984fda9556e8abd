//! What is said of a text: in full, and without what it quotes of the text.

use std::fmt;
use std::ops::Deref;

use crate::place::HIDDEN;

/// A message that knows what it quotes: its sealed words are made without the quote, so that no letter of it can show there.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    full: String,
    sealed: String,
}

impl Message {
    /// Says something of a quote.
    pub fn quoting(quote: &str, say: impl Fn(&str) -> String) -> Self {
        Self {
            full: say(quote),
            sealed: say(HIDDEN),
        }
    }

    /// The same without the quote.
    pub fn seal(&self) -> Self {
        self.sealed.clone().into()
    }
}

/// Words that quote nothing.
impl From<String> for Message {
    fn from(words: String) -> Self {
        Self {
            full: words.clone(),
            sealed: words,
        }
    }
}

impl From<&str> for Message {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.full
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        &self.full
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
