//! The day that waivers are compared with: the only use of a clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::model::date::Date;

/// `SOURCE_DATE_EPOCH` where it is set, so that a run can be repeated to the byte; else the system's day, in UTC.
pub(super) fn today() -> Result<Date, Error> {
    let seconds = match epoch()? {
        Some(seconds) => seconds,
        None => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    };
    Ok(Date::from_unix(seconds))
}

/// `SOURCE_DATE_EPOCH`, where it is set.
pub(super) fn epoch() -> Result<Option<u64>, Error> {
    let Ok(text) = std::env::var("SOURCE_DATE_EPOCH") else {
        return Ok(None);
    };
    let seconds = text.trim().parse().map_err(|_| Error::Usage {
        message: format!("SOURCE_DATE_EPOCH is a number of seconds since 1970-01-01, not `{text}`"),
    })?;
    Ok(Some(seconds))
}
