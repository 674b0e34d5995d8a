#![doc = include_str!("../README.md")]

mod accumulator;
mod decimals;
mod distinct;
mod function;
mod groups;
mod input;
mod kind;
mod states;
mod tables;
mod tree;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{AggregateUDF, ScalarUDF};
use exact_sum::Held;
use exact_sum::sql::{FUNCTIONS, MERGE, STATES, SqlFunction};

use function::ExactAggregate;
use kind::Kind;
use states::{OfState, Outcome, Read};
use tree::TreeSum;

/// Returns the aggregates: first `exact_sum`, `exact_avg`, `exact_dot`, `exact_var_pop`, `exact_var_samp`, `exact_stddev_pop` and
/// `exact_stddev_samp`; then other statistics, such as `exact_skewness`, `exact_corr` and `exact_regr_slope`; then the aggregates that
/// return states; and last `exact_merge`.
#[must_use]
pub fn aggregates() -> Vec<AggregateUDF> {
    let functions = Kind::ALL.into_iter().map(ExactAggregate::new);
    let functions = functions.map(AggregateUDF::new_from_impl);
    // `OfState` implements the functions that no `Kind` has. `aliases` is `None` for a function that is an alias of another.
    let has_loops = |function: &SqlFunction| {
        let mut kinds = Kind::ALL.iter();
        kinds.any(|kind| kind.function().is_like(function))
    };
    let statistics =
        of_states().filter(|function| function.aliases().is_some() && !has_loops(function));
    let statistics = statistics.map(|function| (function, Outcome::Figure));
    let states = STATES.iter().map(|function| (function, Outcome::State));
    let of_states = statistics.chain(states).chain([(&MERGE, Outcome::Merged)]);
    let of_states = of_states.map(|(function, outcome)| OfState::new(function, outcome));
    functions
        .chain(of_states.map(AggregateUDF::new_from_impl))
        .collect()
}

/// Returns the scalar functions that read states: `exact_sum_of`, `exact_var_samp_of` and so on.
#[must_use]
pub fn readers() -> Vec<ScalarUDF> {
    of_states()
        .map(Read::new)
        .map(ScalarUDF::new_from_impl)
        .collect()
}

/// Returns the functions whose statistics can be read from states: all but weighted means.
fn of_states() -> impl Iterator<Item = &'static SqlFunction> {
    let functions = FUNCTIONS.iter();
    functions.filter(|function| function.statistic.held() != Held::Weighted)
}

/// Returns the scalar function `tree_sum`, which sums each list of a column.
#[must_use]
pub fn tree_sum() -> ScalarUDF {
    ScalarUDF::new_from_impl(TreeSum::new())
}

/// Registers all functions with a session or another registry.
///
/// # Errors
/// The registry rejects a function.
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in aggregates() {
        registry.register_udaf(Arc::new(function))?;
    }
    for function in readers() {
        registry.register_udf(Arc::new(function))?;
    }
    registry.register_udf(Arc::new(tree_sum()))?;
    Ok(())
}
