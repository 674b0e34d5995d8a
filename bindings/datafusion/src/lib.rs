#![doc = include_str!("../README.md")]

mod accumulator;
mod distinct;
mod function;
mod groups;
mod input;
mod kind;
mod tables;
mod tree;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::registry::FunctionRegistry;
use datafusion_expr::{AggregateUDF, ScalarUDF};

use function::ExactAggregate;
use kind::Kind;
use tree::TreeSum;

/// The aggregates `exact_sum`, `exact_avg`, `exact_dot`, `exact_var_pop`, `exact_var_samp`, `exact_stddev_pop` and `exact_stddev_samp`.
#[must_use]
pub fn aggregates() -> Vec<AggregateUDF> {
    let functions = Kind::ALL.into_iter().map(ExactAggregate::new);
    functions.map(AggregateUDF::new_from_impl).collect()
}

/// The scalar function `tree_sum`, of a column of lists.
#[must_use]
pub fn tree_sum() -> ScalarUDF {
    ScalarUDF::new_from_impl(TreeSum::new())
}

/// Makes all functions known to a session, or another registry.
///
/// # Errors
/// The registry takes no functions.
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    for function in aggregates() {
        registry.register_udaf(Arc::new(function))?;
    }
    registry.register_udf(Arc::new(tree_sum()))?;
    Ok(())
}
