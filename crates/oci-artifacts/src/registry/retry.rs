//! When a request is retried, and after which pause.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

use super::options::Limits;

/// Whether a retry may get another answer (RFC 9110, sections 15.5.9, 15.6; RFC 6585, section 4).
pub(super) fn may_change(status: u16) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504)
}

/// The pause before the next attempt: doubled each time, at least what the server requested, at most the limit. Without
/// randomness: the same history gives the same pauses.
pub(super) fn pause(limits: &Limits, attempt: u32, requested: Option<Duration>) -> Duration {
    let doubled = limits
        .first_pause
        .saturating_mul(2u32.saturating_pow(attempt));
    doubled
        .max(requested.unwrap_or_default())
        .min(limits.longest_pause)
}

/// The pause that `Retry-After` requests: in seconds, or a date, which is compared with the server's clock in `Date`.
pub(super) fn delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let requested = text(RETRY_AFTER)?;
    if let Ok(seconds) = requested.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = httpdate::parse_http_date(requested).ok()?;
    let now = httpdate::parse_http_date(text(DATE)?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::header::{DATE, HeaderMap, HeaderValue, RETRY_AFTER};

    use super::super::options::Limits;
    use super::{delay, pause};

    fn headers(retry_after: &'static str, date: Option<&'static str>) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static(retry_after));
        date.map(|date| headers.insert(DATE, HeaderValue::from_static(date)));
        headers
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let date = Some("Wed, 21 Oct 2026 07:28:00 GMT");
        assert_eq!(delay(&headers("7", None)), Some(Duration::from_secs(7)));
        let later = headers("Wed, 21 Oct 2026 07:28:09 GMT", date);
        assert_eq!(delay(&later), Some(Duration::from_secs(9)));
        let past = headers("Wed, 21 Oct 2026 07:27:00 GMT", date);
        assert_eq!(delay(&past), Some(Duration::ZERO));
        assert_eq!(delay(&headers("Wed, 21 Oct 2026 07:28:09 GMT", None)), None);
        assert_eq!(delay(&headers("soon", date)), None);
    }

    #[test]
    fn pauses_double_and_never_pass_the_limit() {
        let limits = Limits {
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(5),
            ..Limits::default()
        };
        let pauses: Vec<u64> = (0..4).map(|n| pause(&limits, n, None).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 5]);
        let requested = |seconds| pause(&limits, 0, Some(Duration::from_secs(seconds))).as_secs();
        assert_eq!([requested(3), requested(3600)], [3, 5]);
        assert_eq!(pause(&limits, u32::MAX, None), limits.longest_pause);
    }
}
