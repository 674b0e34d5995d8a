//! What a case consists of.

use std::ops::Range;
use std::str::FromStr;

use reduce::{Algorithm, Operation};
use serde::{Serialize, Serializer};

/// A program that all ranks run together, and at most one fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Case {
    /// The number of ranks, p.
    pub ranks: usize,
    /// It draws the items, and on threads the order in which ranks run and messages arrive.
    pub seed: u64,
    /// The plans.
    pub plans: Vec<Spec>,
    /// What every rank does, one after the other.
    pub steps: Vec<Step>,
    /// What goes wrong, if anything does.
    pub fault: Option<Fault>,
}

/// A plan, as its builder is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spec {
    /// The element type and the operator.
    pub kind: Kind,
    /// Each rank's ranges of items, in the order in which it owns them.
    pub extents: Vec<Vec<Range<u64>>>,
    /// Whether each rank passes its own extents alone, to be gathered. Otherwise each passes the whole ownership.
    pub gathers_extents: bool,
    /// Elements of an item.
    pub width: usize,
    /// The algorithm; `None` for the plan's own choice.
    #[serde(serialize_with = "algorithm_name")]
    pub algorithm: Option<Algorithm>,
    /// The rank that gets the result of a reduce.
    pub root: usize,
    /// The most elements of a message.
    pub message_limit: Option<usize>,
    /// The column blocks of a row.
    pub blocks: Option<usize>,
}

/// Element types with an operator each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// Sums of `f64`, of wildly different size.
    SumF64,
    /// Products of `f32`.
    ProductF32,
    /// Maxima of `i64`.
    MaxI64,
    /// Affine maps over `[u64; 2]`, composed: the operator does not commute.
    Affine,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::SumF64, Self::ProductF32, Self::MaxI64, Self::Affine];
}

/// A call on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The plan, by its number in [`Case::plans`].
    pub plan: usize,
    /// What is done with it.
    pub action: Action,
}

/// What is done with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Action {
    /// It is built; a plan that was there before is dropped.
    Build,
    /// A call in a mode.
    Call(#[serde(serialize_with = "operation_name")] Operation, Mode),
    /// A run that was started is tested once.
    Test,
    /// A run that was started is waited for.
    Wait,
    /// A run that was started is given up, on all ranks.
    GiveUp,
    /// The plan is dropped.
    Drop,
}

/// How a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Mode {
    /// It returns the result.
    Blocking,
    /// It starts a run.
    Split,
}

/// Something that a program does by accident, on one rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fault {
    /// The rank that does it.
    pub rank: usize,
    /// The step, by its number, in place of which or in which it happens.
    pub step: usize,
    /// What it is.
    pub kind: FaultKind,
}

/// The faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum FaultKind {
    /// The rank returns.
    Leave,
    /// The rank panics.
    Panic,
    /// The operator panics, and the program catches the panic and goes on.
    CaughtPanic,
    /// A slice is an element too long.
    WrongLength,
    /// A run is started where the others call and wait, and is given up at once.
    GiveUp,
    /// The call is left out.
    Skip,
}

impl FaultKind {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::Leave,
        Self::Panic,
        Self::CaughtPanic,
        Self::WrongLength,
        Self::GiveUp,
        Self::Skip,
    ];

    /// The default: all but those after which ranks run different calls of a plan, which is not noticed everywhere.
    pub const DEFAULT: &[Self] = &[
        Self::Leave,
        Self::Panic,
        Self::CaughtPanic,
        Self::WrongLength,
        Self::GiveUp,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Leave => "leave",
            Self::Panic => "panic",
            Self::CaughtPanic => "caught-panic",
            Self::WrongLength => "wrong-length",
            Self::GiveUp => "give-up",
            Self::Skip => "skip",
        }
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.iter().copied();
        all.find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown fault `{name}`; known: {}", known.join(", "))
        })
    }
}

/// What a step gave on a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A result, as bytes.
    Value(Vec<u8>),
    /// No result, and no error: the step has none on this rank.
    Nothing,
    /// An error.
    Failed(String),
}

fn algorithm_name<S: Serializer>(
    algorithm: &Option<Algorithm>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    algorithm.map(Algorithm::name).serialize(serializer)
}

fn operation_name<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(operation.name())
}
