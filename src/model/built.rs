//! The day on which an image was built, as its source writes it.

use super::date::Date;
use capi::image::{Image, fact};

/// The day (UTC) of an image's `build-timestamp`; none where it has none, or one that is no time.
pub fn build_day(image: &Image) -> Option<Date> {
    day(image.facts.text(fact::BUILD_TIMESTAMP)?)
}

/// `2026-07-22`, `2026-07-22T10:00:00Z`, `20260722T1000Z`, `20260722100000`, or seconds since 1970.
fn day(text: &str) -> Option<Date> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match (digits, &text[digits..]) {
        (9 | 10, "") => text.parse().ok().map(Date::from_unix),
        (8 | 12 | 14, rest) if rest.is_empty() || rest.starts_with('T') => {
            Date::parse(&format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8]))
        }
        (4, _) => {
            let (date, time) = text.split_at_checked(10)?;
            let is_whole = time.is_empty() || time.starts_with(['T', ' ']);
            Date::parse(date).filter(|_| is_whole)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn times_are_read_as_their_sources_write_them() {
        for text in [
            "2026-07-22",
            "2026-07-22T10:00:00Z",
            "20260722T1000Z",
            "20260722",
            "20260722100000",
            "1784714400",
        ] {
            let day = day(text).map(|day| day.to_string());
            assert_eq!(day.as_deref(), Some("2026-07-22"), "{text}");
        }
        for text in [
            "",
            "nightly",
            "2026-13-01",
            "2026-07-221",
            "20260722x",
            "123",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
