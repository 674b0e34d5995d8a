//! What was published, and what comes out here.

use std::fmt;

use harness::markdown::digits;
use serde::Serialize;

/// A published number or one of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, exact.
    Count(u64),
    /// A measure, shown with four digits.
    Number(f64),
    /// Anything else that is said.
    Text(String),
    /// Not published, or not known.
    None,
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Value::Count(count)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Value::Count(count as u64)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Number(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => count.fmt(f),
            Value::Number(number) => f.write_str(&digits(*number)),
            Value::Text(text) => f.write_str(text),
            Value::None => f.write_str("–"),
        }
    }
}

/// How a number of ours came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum How {
    Computed,
    Simulated,
    Measured,
}

/// Something that was published, and the same of ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    pub(super) what: String,
    pub(super) published: Value,
    pub(super) ours: Value,
    pub(super) how: How,
    /// Why they differ, or what is to be said of it.
    pub(super) why: String,
}

impl Comparison {
    fn new(what: impl Into<String>, ours: Value, how: How) -> Self {
        Self {
            what: what.into(),
            published: Value::None,
            ours,
            how,
            why: String::new(),
        }
    }

    /// What comes out the same on every machine.
    pub fn computed(what: impl Into<String>, ours: impl Into<Value>) -> Self {
        Self::new(what, ours.into(), How::Computed)
    }

    /// What the simulator says of a machine that is not here.
    pub fn simulated(what: impl Into<String>, ours: impl Into<Value>) -> Self {
        Self::new(what, ours.into(), How::Simulated)
    }

    /// What this machine took.
    pub fn measured(what: impl Into<String>, ours: impl Into<Value>) -> Self {
        Self::new(what, ours.into(), How::Measured)
    }

    /// What the paper says.
    #[must_use]
    pub fn published(mut self, value: impl Into<Value>) -> Self {
        self.published = value.into();
        self
    }

    /// Why ours is another one.
    #[must_use]
    pub fn because(mut self, why: impl Into<String>) -> Self {
        self.why = why.into();
        self
    }
}
