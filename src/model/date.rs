//! Days of the calendar.

use std::fmt;

use capi::image::{Image, fact};

/// A day, given by the caller: nothing here reads a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// What YAML's times add to a day that is written without a time.
pub const MIDNIGHT: &str = "T00:00:00Z";

impl Date {
    /// Reads `YYYY-MM-DD` of the Gregorian calendar; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let dashed = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
        let date = dashed.then_some(Self {
            year: digits(bytes.get(..4)?)?,
            month: u8::try_from(digits(bytes.get(5..7)?)?).ok()?,
            day: u8::try_from(digits(bytes.get(8..)?)?).ok()?,
        })?;
        (1..=days_of(date.year, date.month))
            .contains(&date.day)
            .then_some(date)
    }

    /// The day (UTC) of a number of seconds since 1970-01-01, as `SOURCE_DATE_EPOCH` counts them.
    pub fn from_unix(seconds: u64) -> Self {
        let mut left = seconds / 86_400;
        let mut date = Self {
            year: 1970,
            month: 1,
            day: 1,
        };
        while left >= days_in(date.year) && date.year < u16::MAX {
            left -= days_in(date.year);
            date.year += 1;
        }
        while date.month < 12 && left >= u64::from(days_of(date.year, date.month)) {
            left -= u64::from(days_of(date.year, date.month));
            date.month += 1;
        }
        date.day += left.min(30) as u8;
        date
    }

    /// The same day some months later, or the last one of a month that is shorter.
    pub fn add_months(self, months: u8) -> Self {
        let months = u16::from(self.month - 1) + u16::from(months);
        let (year, month) = (self.year + months / 12, (months % 12) as u8 + 1);
        let day = self.day.min(days_of(year, month));
        Self { year, month, day }
    }
}

/// `YYYY-MM-DD`
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

fn digits(text: &[u8]) -> Option<u16> {
    text.iter().try_fold(0, |sum: u16, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u16::from(byte - b'0'))
    })
}

/// How many days a month has; none for a month that does not exist.
fn days_of(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 0,
    }
}

fn days_in(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn is_leap(year: u16) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

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
    use super::{Date, day};

    #[test]
    fn only_days_that_exist_are_dates() {
        for text in ["2027-03-01", "2028-02-29", "2000-02-29"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "2027-02-29",
            "1900-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "2027-1-1",
            "+027-01-01",
            "2027/01/01",
            "",
            "2027-01-011",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn some_months_later_is_a_day_that_exists() {
        for (from, later) in [
            ("2026-11-21", "2027-02-21"),
            ("2026-11-30", "2027-02-28"),
            ("2026-09-01", "2026-12-01"),
            ("2026-12-31", "2027-03-31"),
        ] {
            let date = Date::parse(from).unwrap();
            assert_eq!(date.add_months(3).to_string(), later);
        }
    }

    #[test]
    fn seconds_become_the_day_that_date_prints() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
        ] {
            assert_eq!(Date::from_unix(seconds).to_string(), day);
        }
        assert_eq!(Date::from_unix(u64::MAX).year, u16::MAX);
    }

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
