//! The day that waivers are held against: the only look at a clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::model::policy::Date;

/// `SOURCE_DATE_EPOCH` where it is set, so that a run can be repeated to the byte; else the system's day, in UTC.
pub(super) fn today() -> Result<Date, Error> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.trim().parse().map_err(|_| Error::Usage {
            message: format!(
                "SOURCE_DATE_EPOCH is a number of seconds since 1970-01-01, not `{text}`"
            ),
        })?,
        Err(_) => SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    };
    Ok(Date::from_unix(seconds))
}
