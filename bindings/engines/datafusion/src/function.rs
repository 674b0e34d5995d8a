//! Implements the engine's trait for the aggregates of [`Kind`].

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Int64Type, UInt64Type};
use datafusion_common::{Result, not_impl_err, plan_err};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{
    Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};
use exact_sum::{Moments, ProductSum, Sum};

use crate::accumulator::{Exact, Integers};
use crate::decimals::Decimals;
use crate::distinct::Distinct;
use crate::groups::ExactGroups;
use crate::kind::Kind;
use crate::tables::{LongSums, Products, Squares, Sums};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExactAggregate {
    kind: Kind,
    signature: Signature,
    aliases: Vec<String>,
}

impl ExactAggregate {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: kind.aliases().into_iter().map(str::to_owned).collect(),
        }
    }
}

/// Calls `$make::<S>::new`, where the type `S` of the state depends on the aggregate and on the type of its argument.
macro_rules! of_type {
    ($kind:expr, $fields:expr, $make:ident: $sums:ty, $signed:ty, $unsigned:ty, $products:ty, $squares:ty) => {
        match ($kind, argument($kind, $fields)?) {
            (Kind::Sum | Kind::Mean, DataType::Int64) => Ok(Box::new($make::<$signed>::new($kind))),
            (Kind::Sum | Kind::Mean, DataType::UInt64) => {
                Ok(Box::new($make::<$unsigned>::new($kind)))
            }
            (Kind::Sum | Kind::Mean, DataType::Float64) => Ok(Box::new($make::<$sums>::new($kind))),
            (Kind::Dot, DataType::Float64) => Ok(Box::new($make::<$products>::new($kind))),
            (Kind::Variance(_) | Kind::Deviation(_), DataType::Float64) => {
                Ok(Box::new($make::<$squares>::new($kind)))
            }
            (kind, other) => plan_err!("{} has no state for {other}", kind.name()),
        }
    };
}

/// Returns the type of the arguments, which all have the same type.
fn argument(kind: Kind, fields: &[FieldRef]) -> Result<&DataType> {
    match fields {
        [first, ..] => Ok(first.data_type()),
        [] => plan_err!("{} needs an argument", kind.name()),
    }
}

fn accumulator(kind: Kind, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
    let fields = args.expr_fields;
    if let DataType::Decimal128(_, scale) = argument(kind, fields)? {
        if args.is_distinct {
            return not_impl_err!("{} of DISTINCT decimals", kind.name());
        }
        return Ok(Box::new(Decimals::new(kind, *scale)));
    }
    if args.is_distinct {
        of_type!(kind, fields, Distinct: Sum<f64>, Integers<Int64Type>, Integers<UInt64Type>, ProductSum<f64>, Moments<f64>)
    } else {
        of_type!(kind, fields, Exact: Sum<f64>, Integers<Int64Type>, Integers<UInt64Type>, ProductSum<f64>, Moments<f64>)
    }
}

impl AggregateUDFImpl for ExactAggregate {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        self.kind.coerced(arg_types)
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        let coerced = self.kind.coerced(arg_types)?;
        Ok(self.kind.returned(&coerced[0]))
    }

    fn accumulator(&self, acc_args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        accumulator(self.kind, &acc_args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        accumulator(self.kind, &args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let argument = argument(self.kind, args.input_fields)?;
        let field = |name: &str, of_type| {
            let name = format_state_name(args.name, name);
            Arc::new(Field::new(name, of_type, args.is_distinct))
        };
        if args.is_distinct {
            let list = DataType::new_list(argument.clone(), true);
            let names = ["x", "y"].into_iter().take(self.kind.arguments());
            return Ok(names.map(|name| field(name, list.clone())).collect());
        }
        let columns = [("count", DataType::UInt64)].into_iter();
        let columns = columns.chain(self.kind.state(argument));
        Ok(columns
            .map(|(name, of_type)| field(name, of_type))
            .collect())
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        let of_decimals = |field: &FieldRef| matches!(field.data_type(), DataType::Decimal128(..));
        !args.is_distinct && !args.expr_fields.iter().any(of_decimals)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let kind = self.kind;
        of_type!(kind, args.expr_fields, ExactGroups: Sums, LongSums<Int64Type>, LongSums<UInt64Type>, Products, Squares)
    }

    /// Returns `Insensitive`, because the order of the rows never changes the value.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}
