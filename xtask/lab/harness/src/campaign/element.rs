//! The element types of a campaign: random items, and the operators that reduce them.

use std::cell::{Cell, RefCell};

use bytemuck::Pod;
use reduce::{Operator, operator};

use super::environment::{Environment, within};
use crate::data::Random;

thread_local! {
    /// Whether combinations on this rank panic.
    static PANICS: Cell<bool> = const { Cell::new(false) };
    /// A call that the next combination on this rank makes in addition.
    static CALL: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
}

/// Sets the call that the next combination on this rank makes; `None` for none.
pub(super) fn set_call(call: Option<Box<dyn FnOnce()>>) {
    CALL.set(call);
}

/// Sets whether this rank's combinations panic.
pub(super) fn set_panics(panics: bool) {
    PANICS.set(panics);
}

/// A type whose items can be drawn.
pub(super) trait Element: Pod {
    /// A value that differs from the empty values of all operators in a campaign.
    const OTHER_EMPTY: Self;

    /// Draws an item. Sums and products of `small` items are subnormal if the type has such numbers.
    fn draw(random: &mut Random, small: bool) -> Self;

    /// Canonicalises NaNs; returns other values unchanged.
    #[must_use]
    fn canonical(self) -> Self {
        self
    }
}

impl Element for f64 {
    const OTHER_EMPTY: Self = 7.0;

    /// A number of widely varying magnitude, so that every order of summation gives different bits; sometimes a special value.
    fn draw(random: &mut Random, small: bool) -> Self {
        match random.below(64) {
            _ if small => (random.uniform() - 0.5) * 1e-307,
            0 => -0.0,
            1 => f64::NAN,
            2 => 3e-310,
            _ => (random.uniform() - 0.5) * (random.uniform() * 40.0 - 20.0).exp2(),
        }
    }

    fn canonical(self) -> Self {
        if self.is_nan() { f64::NAN } else { self }
    }
}

impl Element for f32 {
    const OTHER_EMPTY: Self = 7.0;

    #[expect(clippy::cast_possible_truncation, reason = "any number near 1 will do")]
    fn draw(random: &mut Random, small: bool) -> Self {
        if small && random.below(8) == 0 {
            return 1e-20;
        }
        (0.5 + random.uniform()) as f32
    }

    fn canonical(self) -> Self {
        if self.is_nan() { f32::NAN } else { self }
    }
}

impl Element for i64 {
    const OTHER_EMPTY: Self = 7;

    fn draw(random: &mut Random, _small: bool) -> Self {
        random.word().cast_signed()
    }
}

impl Element for [u64; 2] {
    const OTHER_EMPTY: Self = [7, 7];

    fn draw(random: &mut Random, _small: bool) -> Self {
        [random.word(), random.word()]
    }
}

/// An operator that panics if [`set_panics`] says so, and makes the call that [`set_call`] sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Faulty<O> {
    pub(super) operator: O,
    /// Whether this operator gives another value for no items than `operator`.
    pub(super) has_other_empty: bool,
}

impl<T: Element + 'static, O: Operator<T>> Operator<T> for Faulty<O> {
    fn name(&self) -> &str {
        self.operator.name()
    }

    fn combine(&self, left: T, right: T) -> T {
        do_as_asked();
        self.operator.combine(left, right)
    }

    fn empty(&self) -> Option<T> {
        if self.has_other_empty {
            Some(T::OTHER_EMPTY)
        } else {
            self.operator.empty()
        }
    }

    fn canonical(&self, value: T) -> T {
        self.operator.canonical(value)
    }

    fn fold(&self, items: &[T]) -> Option<T> {
        do_as_asked();
        self.operator.fold(items)
    }

    fn fold_runs(&self, items: &[T], lengths: &[usize], results: &mut [T]) {
        do_as_asked();
        self.operator.fold_runs(items, lengths, results);
    }

    fn fold_rows(
        &self,
        items: &[T],
        width: usize,
        scratch: &mut Vec<T>,
        result: &mut [T],
    ) -> Option<()> {
        do_as_asked();
        self.operator.fold_rows(items, width, scratch, result)
    }

    fn combine_rows(&self, left: &[T], right: &[T], into: &mut [T]) {
        do_as_asked();
        self.operator.combine_rows(left, right, into);
    }

    fn combine_rows_canonical(&self, left: &[T], right: &[T], into: &mut [T]) {
        do_as_asked();
        self.operator.combine_rows_canonical(left, right, into);
    }

    fn copy_canonical(&self, row: &[T], into: &mut [T]) {
        self.operator.copy_canonical(row, into);
    }
}

fn do_as_asked() {
    if let Some(call) = CALL.take() {
        call();
    }
    assert!(!PANICS.get(), "an operator that panics on purpose");
}

/// Composes affine maps y = a x + b over the integers modulo 2^64.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compose;

impl Operator<[u64; 2]> for Compose {
    fn name(&self) -> &str {
        "compose"
    }

    fn combine(&self, [a, b]: [u64; 2], [c, d]: [u64; 2]) -> [u64; 2] {
        [c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d)]
    }

    fn empty(&self) -> Option<[u64; 2]> {
        Some([1, 0])
    }
}

/// A user-defined operator, neither associative nor commutative. Large numbers overflow, and infinity minus infinity is a NaN, whose
/// bits depend on the processor.
pub(super) fn squares() -> impl Operator<f64> + 'static {
    let of = |left: f64, right: f64| left * left - right * right;
    operator::custom("squares", of)
}

/// Calls one of three functions, by kind: for sums in tree order with the element type and operator, for exact sums, or for sums by key.
macro_rules! with_kind {
    ($kind:expr, [$($tree:ident)::+, $exact:path, $keyed:path], ( $($argument:expr),* )) => {{
        use $crate::campaign::element::{Compose, squares};
        use $crate::campaign::vocabulary::Kind;
        match $kind {
            Kind::SumF64 | Kind::Started => $($tree)::+::<f64, _>(reduce::Sum, $($argument),*),
            Kind::ProductF32 => $($tree)::+::<f32, _>(reduce::Product, $($argument),*),
            Kind::MaxI64 => $($tree)::+::<i64, _>(reduce::Max, $($argument),*),
            Kind::Affine => $($tree)::+::<[u64; 2], _>(Compose, $($argument),*),
            Kind::CustomF64 => $($tree)::+::<f64, _>(squares(), $($argument),*),
            Kind::Exact(figure) => $exact(figure, $($argument),*),
            Kind::Keyed(form) => $keyed(form, $($argument),*),
        }
    }};
}
pub(super) use with_kind;

/// All rows of a step, item by item. Every rank gets the same rows, whatever its floating-point environment.
pub(super) fn rows<T: Element>(items: u64, width: usize, seed: u64, step: usize) -> Vec<T> {
    let count = usize::try_from(items).expect("items of a campaign are in memory") * width;
    let mut rows = Vec::with_capacity(count);
    within(Environment::Default, &mut || {
        let mut random = Random::new(seed ^ (step as u64).wrapping_mul(0xA076_1D64_78BD_642F));
        let small = random.below(4) == 0;
        rows.extend((0..count).map(|_| T::draw(&mut random, small)));
    });
    rows
}
