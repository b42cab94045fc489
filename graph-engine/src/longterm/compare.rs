//! How JSON values are compared: numbers by what they are worth, texts by their bytes, nothing across types.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Whether two values are the same; 1 and 1.0 are.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => numbers(a, b) == Ordering::Equal,
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        (a, b) => a == b,
    }
}

/// The order of two numbers or two texts; anything else has none.
pub(super) fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Some(numbers(a, b)),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Exact also where an integer has no equal float.
fn numbers(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => integer_with_float(a, float(b)),
        (None, Some(b)) => integer_with_float(b, float(a)).reverse(),
        // -0.0 equals 0.0, and JSON has no NaN.
        (None, None) => float(a).partial_cmp(&float(b)).unwrap_or(Ordering::Equal),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}

fn integer_with_float(integer: i128, float: f64) -> Ordering {
    // Integers of JSON are below 2^64, so a larger float decides by itself; a smaller one has an exact whole part.
    if float.abs() >= 1e30 {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    let whole = float.trunc();
    integer.cmp(&(whole as i128)).then_with(|| 0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_compared_by_their_exact_worth() {
        let cases = [
            (json!(1), json!(1.0), Ordering::Equal),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992.0), Ordering::Greater),
            (json!(u64::MAX), json!(i64::MIN), Ordering::Greater),
            (json!(u64::MAX), json!(1.8446744073709552e19), Ordering::Less),
            (json!(-1), json!(-1.5), Ordering::Greater),
            (json!(1), json!(1.5), Ordering::Less),
            (json!(0), json!(-0.0), Ordering::Equal),
            (json!(0), json!(1e300), Ordering::Less),
            (json!(0), json!(-1e300), Ordering::Greater),
            (json!(0.1), json!(0.2), Ordering::Less),
        ];
        for (a, b, expected) in cases {
            assert_eq!(order(&a, &b), Some(expected), "{a} {b}");
            assert_eq!(order(&b, &a), Some(expected.reverse()), "{b} {a}");
            assert_eq!(equal(&a, &b), expected == Ordering::Equal, "{a} {b}");
        }
    }

    #[test]
    fn values_of_different_types_are_neither_equal_nor_ordered() {
        let values = [json!(null), json!(false), json!(0), json!("0"), json!([]), json!({})];
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                assert_eq!(equal(a, b), i == j, "{a} {b}");
                assert_eq!(order(a, b).is_some(), i == j && (a.is_number() || a.is_string()), "{a} {b}");
            }
        }
    }

    #[test]
    fn lists_and_objects_are_compared_to_the_bottom() {
        assert!(equal(&json!({"a": [1, {"b": 2}], "c": 3}), &json!({"c": 3.0, "a": [1.0, {"b": 2}]})));
        assert!(!equal(&json!({"a": 1}), &json!({"a": 1, "b": null})));
        assert!(!equal(&json!({"a": 1}), &json!({"b": 1})));
        assert!(!equal(&json!([1, 2]), &json!([2, 1])));
    }
}
