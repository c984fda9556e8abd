//! The arithmetic functions: integers wrap around as in Go, and fractions are computed as exact decimals.

use super::super::function::{Call, Function, Type};
use super::super::value::Element;
use super::super::{Error, Value};
use super::convert::{float, integer};
use super::decimal::{Decimal, Operation};

const ANY: &[Type] = &[Type::Any];
const TWO: &[Type] = &[Type::Any, Type::Any];

/// The functions of this module.
pub(super) const TABLE: &[Function] = &[
    Function::variadic("add", &[], Type::Any, |call| {
        Ok(fold(call, 0, i64::wrapping_add))
    }),
    Function::new("add1", ANY, |call| {
        Ok(Value::Int64(integer(&call.value(0)).wrapping_add(1)))
    }),
    Function::new("sub", TWO, |call| {
        let (left, right) = (integer(&call.value(0)), integer(&call.value(1)));
        Ok(Value::Int64(left.wrapping_sub(right)))
    }),
    Function::variadic("mul", ANY, Type::Any, |call| {
        Ok(fold(call, 1, i64::wrapping_mul))
    }),
    Function::new("div", TWO, div),
    Function::new("mod", TWO, modulo),
    Function::variadic("max", ANY, Type::Any, largest),
    Function::variadic("biggest", ANY, Type::Any, largest),
    Function::variadic("min", ANY, Type::Any, smallest),
    Function::variadic("maxf", ANY, Type::Any, |call| {
        Ok(extreme(call, |best, next| next > best))
    }),
    Function::variadic("minf", ANY, Type::Any, |call| {
        Ok(extreme(call, |best, next| next < best))
    }),
    Function::variadic("addf", &[], Type::Any, |call| {
        decimal(call, &Value::Int(0), call.rest(0), Operation::Add)
    }),
    Function::new("add1f", ANY, |call| {
        decimal(call, &call.value(0), &[Value::Int(1)], Operation::Add)
    }),
    Function::variadic("subf", ANY, Type::Any, |call| {
        decimal(call, &call.value(0), call.rest(1), Operation::Subtract)
    }),
    Function::variadic("mulf", ANY, Type::Any, |call| {
        decimal(call, &call.value(0), call.rest(1), Operation::Multiply)
    }),
    Function::variadic("divf", ANY, Type::Any, |call| {
        decimal(call, &call.value(0), call.rest(1), Operation::Divide)
    }),
    Function::new("ceil", ANY, |call| {
        Ok(Value::Float(float(&call.value(0)).ceil()))
    }),
    Function::new("floor", ANY, |call| {
        Ok(Value::Float(float(&call.value(0)).floor()))
    }),
    Function::variadic("round", &[Type::Any, Type::Int], Type::Float, round),
    Function::new("until", &[Type::Int], until),
    Function::new("untilStep", &[Type::Int, Type::Int, Type::Int], until_step),
    Function::variadic("seq", &[], Type::Int, seq),
];

fn fold(call: &Call<'_>, start: i64, with: fn(i64, i64) -> i64) -> Value {
    Value::Int64(call.rest(0).iter().map(integer).fold(start, with))
}

fn divisor(call: &Call<'_>) -> Result<i64, Error> {
    match integer(&call.value(1)) {
        0 => Err(call.error("division by zero")),
        number => Ok(number),
    }
}

fn div(call: &mut Call<'_>) -> Result<Value, Error> {
    let dividend = integer(&call.value(0));
    Ok(Value::Int64(dividend.wrapping_div(divisor(call)?)))
}

fn modulo(call: &mut Call<'_>) -> Result<Value, Error> {
    let dividend = integer(&call.value(0));
    Ok(Value::Int64(dividend.wrapping_rem(divisor(call)?)))
}

fn largest(call: &mut Call<'_>) -> Result<Value, Error> {
    let found = call.rest(0).iter().map(integer).max();
    Ok(Value::Int64(found.unwrap_or(0)))
}

fn smallest(call: &mut Call<'_>) -> Result<Value, Error> {
    let found = call.rest(0).iter().map(integer).min();
    Ok(Value::Int64(found.unwrap_or(0)))
}

/// The maximum or minimum of the arguments, by `better`. As in `math.Max`, NaN takes precedence over every number.
fn extreme(call: &Call<'_>, better: fn(f64, f64) -> bool) -> Value {
    let mut best = float(&call.value(0));
    for next in call.rest(1).iter().map(float) {
        if next.is_nan() || (!best.is_nan() && better(best, next)) {
            best = next;
        }
    }
    Value::Float(best)
}

fn decimal(
    call: &Call<'_>,
    first: &Value,
    rest: &[Value],
    operation: Operation,
) -> Result<Value, Error> {
    let parsed = |value: &Value| {
        Decimal::new(float(value))
            .ok_or_else(|| call.error(format!("`{}` of an infinity or NaN", call.name)))
    };
    let mut result = parsed(first)?;
    for value in rest {
        result = result
            .apply(operation, parsed(value)?)
            .ok_or_else(|| call.error("division by zero"))?;
    }
    Ok(Value::Float(result.float()))
}

/// Rounds to a number of decimals. The optional third argument is the fraction from which to round up, by default 0.5.
fn round(call: &mut Call<'_>) -> Result<Value, Error> {
    let threshold = if call.rest(2).is_empty() {
        0.5
    } else {
        call.float(2)?
    };
    let power = 10f64.powi(call.int(1)?.clamp(-400, 400) as i32);
    let digits = power * float(&call.value(0));
    let rounded = if digits.fract() >= threshold {
        digits.ceil()
    } else {
        digits.floor()
    };
    Ok(Value::Float(rounded / power))
}

fn until(call: &mut Call<'_>) -> Result<Value, Error> {
    let count = call.int(0)?;
    numbers(call, 0, count, if count < 0 { -1 } else { 1 }).map(list)
}

fn until_step(call: &mut Call<'_>) -> Result<Value, Error> {
    numbers(call, call.int(0)?, call.int(1)?, call.int(2)?).map(list)
}

/// `seq END`, `seq START END` or `seq START STEP END`, including the end.
fn seq(call: &mut Call<'_>) -> Result<Value, Error> {
    let (start, end, step) = match call.rest(0).len() {
        1 => (1, call.int(0)?, None),
        2 => (call.int(0)?, call.int(1)?, None),
        3 => (call.int(0)?, call.int(2)?, Some(call.int(1)?)),
        _ => return Ok("".into()),
    };
    let towards = if end < start { -1 } else { 1 };
    if end < start && step.is_some_and(|step| step > 0) {
        return Ok("".into());
    }
    let items = numbers(
        call,
        start,
        end.wrapping_add(towards),
        step.unwrap_or(towards),
    )?;
    let texts: Vec<String> = items.iter().map(i64::to_string).collect();
    Ok(texts.join(" ").into())
}

/// The numbers from `start` to `stop`, not including `stop`; none if the step leads away from it.
fn numbers(call: &Call<'_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Error> {
    let distance = i128::from(stop) - i128::from(start);
    let step_wide = i128::from(step);
    if distance == 0 || step == 0 || (distance > 0) != (step > 0) {
        return Ok(Vec::new());
    }
    let count = usize::try_from((distance.abs() - 1) / step_wide.abs() + 1).unwrap_or(usize::MAX);
    call.ensure_size(count.saturating_mul(size_of::<Value>()))?;
    let mut items = Vec::with_capacity(count);
    let mut next = start;
    for _ in 0..count {
        items.push(next);
        next = next.wrapping_add(step);
    }
    Ok(items)
}

fn list(numbers: Vec<i64>) -> Value {
    let items = numbers.into_iter().map(Value::Int);
    Value::list_of(Element::Int, items.collect())
}
