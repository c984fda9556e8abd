//! Decimal fractions, in which 0.1 and 0.2 make 0.3: what Sprig's `addf` and its kin calculate with.

/// A number of decimal digits: `digits` × 10^`exponent`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

/// What is done with two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    /// To 16 places behind the point, as the library of Sprig does.
    Divide,
}

const DIVISION_PLACES: i32 = 16;

impl Decimal {
    /// The shortest decimal that reads back as the number; `None` for infinities and what is not a number.
    pub(super) fn new(number: f64) -> Option<Self> {
        let text = format!("{number:e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            exponent: exponent - i32::try_from(fraction.len()).ok()?,
        })
    }

    /// The result; `None` when divided by zero. What needs more digits than fit is calculated in floating point.
    pub(super) fn apply(self, operation: Operation, other: Self) -> Option<Self> {
        if operation == Operation::Divide && other.digits == 0 {
            return None;
        }
        let exact = match operation {
            Operation::Add => self.plus(other),
            Operation::Subtract => self.plus(Self {
                digits: -other.digits,
                ..other
            }),
            Operation::Multiply => self.digits.checked_mul(other.digits).map(|digits| Self {
                digits,
                exponent: self.exponent + other.exponent,
            }),
            Operation::Divide => self.over(other),
        };
        exact.map(Self::reduced).or_else(|| {
            let (left, right) = (self.float(), other.float());
            Self::new(match operation {
                Operation::Add => left + right,
                Operation::Subtract => left - right,
                Operation::Multiply => left * right,
                Operation::Divide => left / right,
            })
        })
    }

    /// The nearest floating-point number.
    pub(super) fn float(self) -> f64 {
        let text = format!("{}e{}", self.digits, self.exponent);
        text.parse().unwrap_or(f64::NAN)
    }

    fn plus(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let digits = self
            .scaled(exponent)?
            .checked_add(other.scaled(exponent)?)?;
        Some(Self { digits, exponent })
    }

    /// Rounded half away from zero at the last place.
    fn over(self, other: Self) -> Option<Self> {
        let shift = DIVISION_PLACES + self.exponent - other.exponent;
        let dividend = self.digits.checked_mul(power(shift.max(0))?)?;
        let divisor = other.digits.checked_mul(power((-shift).max(0))?)?;
        let (quotient, rest) = (dividend / divisor, dividend % divisor);
        let away = if (dividend < 0) == (divisor < 0) {
            1
        } else {
            -1
        };
        let up = rest.unsigned_abs() * 2 >= divisor.unsigned_abs();
        Some(Self {
            digits: if up { quotient + away } else { quotient },
            exponent: -DIVISION_PLACES,
        })
    }

    fn scaled(self, exponent: i32) -> Option<i128> {
        self.digits.checked_mul(power(self.exponent - exponent)?)
    }

    /// Without zeros at the end, so that a long chain of operations has room.
    fn reduced(mut self) -> Self {
        while self.digits != 0 && self.digits % 10 == 0 {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }
}

fn power(exponent: i32) -> Option<i128> {
    10i128.checked_pow(u32::try_from(exponent).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{Decimal, Operation};

    fn calculated(left: f64, operation: Operation, right: f64) -> f64 {
        let right = Decimal::new(right).unwrap();
        Decimal::new(left)
            .unwrap()
            .apply(operation, right)
            .unwrap()
            .float()
    }

    #[test]
    fn decimals_do_not_gather_binary_errors() {
        assert_eq!(calculated(0.1, Operation::Add, 0.2), 0.3);
        assert_eq!(calculated(1.1, Operation::Multiply, 1.1), 1.21);
        assert_eq!(calculated(0.3, Operation::Subtract, 0.1), 0.2);
    }

    #[test]
    fn division_stops_at_sixteen_places() {
        assert_eq!(
            calculated(1.0, Operation::Divide, 3.0),
            0.333_333_333_333_333_3
        );
        assert_eq!(
            calculated(-2.0, Operation::Divide, 3.0),
            -0.666_666_666_666_666_7
        );
        assert_eq!(calculated(1.0, Operation::Divide, 3e16), 0.0);
    }

    #[test]
    fn what_does_not_fit_is_still_calculated() {
        assert_eq!(calculated(1e300, Operation::Add, 1.0), 1e300);
        assert_eq!(calculated(1e-300, Operation::Multiply, 1e10), 1e-290);
    }
}
