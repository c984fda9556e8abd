//! Exact decimal arithmetic for Sprig's `addf`, `subf`, `mulf` and `divf`, in which 0.1 + 0.2 is 0.3.

/// A decimal number: `digits` × 10^`exponent`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

/// An arithmetic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Subtract,
    Multiply,
    /// Rounded to 16 decimals, as in the library that Sprig uses.
    Divide,
}

const DIVISION_DECIMALS: i32 = 16;

impl Decimal {
    /// The shortest decimal that parses to the number; none for infinities and NaN.
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

    /// The result; none for a division by zero. A result with more digits than an `i128` holds is computed in floating point.
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
            Operation::Divide => self.divide(other),
        };
        exact.map(Self::reduce).or_else(|| {
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
        let digits = self.scale(exponent)?.checked_add(other.scale(exponent)?)?;
        Some(Self { digits, exponent })
    }

    /// The quotient, rounded half away from zero.
    fn divide(self, other: Self) -> Option<Self> {
        let shift = DIVISION_DECIMALS + self.exponent - other.exponent;
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
            exponent: -DIVISION_DECIMALS,
        })
    }

    fn scale(self, exponent: i32) -> Option<i128> {
        self.digits.checked_mul(power(self.exponent - exponent)?)
    }

    /// Removes trailing zeros, so that a long chain of operations does not overflow.
    fn reduce(mut self) -> Self {
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
    fn decimals_do_not_accumulate_binary_rounding_errors() {
        assert_eq!(calculated(0.1, Operation::Add, 0.2), 0.3);
        assert_eq!(calculated(1.1, Operation::Multiply, 1.1), 1.21);
        assert_eq!(calculated(0.3, Operation::Subtract, 0.1), 0.2);
    }

    #[test]
    fn division_rounds_to_sixteen_decimals() {
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
    fn results_with_too_many_digits_are_computed_in_floating_point() {
        assert_eq!(calculated(1e300, Operation::Add, 1.0), 1e300);
        assert_eq!(calculated(1e-300, Operation::Multiply, 1e10), 1e-290);
    }
}
