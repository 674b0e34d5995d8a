//! Sums lists in tree order. Unlike the rows of a table, the items of a list have an order.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, GenericListArray, OffsetSizeTrait};
use arrow::datatypes::{DataType, Field, Float64Type};
use datafusion_common::{Result, exec_err, plan_err};
use datafusion_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use simd_kernels::{Level, sum};

const NAME: &str = "tree_sum";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct TreeSum {
    signature: Signature,
}

impl TreeSum {
    pub(crate) fn new() -> Self {
        Self {
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

impl ScalarUDFImpl for TreeSum {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        let [of_list] = arg_types else {
            return plan_err!("{NAME} takes 1 argument, not {}", arg_types.len());
        };
        let item = |field: &Field| {
            let doubles = Field::new_list_field(DataType::Float64, true);
            let of_items = field.data_type();
            let are_numbers = of_items.is_numeric() || of_items.is_null();
            are_numbers.then(|| Arc::new(doubles))
        };
        let coerced = match of_list {
            DataType::Null => Some(DataType::new_list(DataType::Float64, true)),
            DataType::List(field) | DataType::FixedSizeList(field, _) => {
                item(field).map(DataType::List)
            }
            DataType::LargeList(field) => item(field).map(DataType::LargeList),
            _ => None,
        };
        match coerced {
            Some(coerced) => Ok(vec![coerced]),
            None => plan_err!(
                "{NAME} takes a list of numbers, not {of_list}; it is not an aggregate, because rows have no order"
            ),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [lists] = &ColumnarValue::values_to_arrays(&args.args)?[..] else {
            return exec_err!("{NAME} takes 1 argument, not {}", args.args.len());
        };
        let sums: Float64Array = if let Some(lists) = lists.as_list_opt::<i32>() {
            sums(lists)?
        } else if let Some(lists) = lists.as_list_opt::<i64>() {
            sums(lists)?
        } else {
            return exec_err!("{NAME} takes a list of numbers, not {}", lists.data_type());
        };
        Ok(ColumnarValue::Array(Arc::new(sums)))
    }
}

/// Returns the sum of each list's non-null items, or null if a list has none.
fn sums<O: OffsetSizeTrait>(lists: &GenericListArray<O>) -> Result<Float64Array> {
    let level = Level::best();
    lists
        .iter()
        .map(|list| list.map_or(Ok(None), |list| tree_sum(level, &list)))
        .collect()
}

fn tree_sum(level: Level, list: &ArrayRef) -> Result<Option<f64>> {
    let Some(items) = list.as_primitive_opt::<Float64Type>() else {
        return exec_err!("{NAME} takes a list of DOUBLE, not of {}", list.data_type());
    };
    if items.null_count() == 0 {
        return Ok(sum(level, items.values()));
    }
    let kept: Vec<f64> = items.iter().flatten().collect();
    Ok(sum(level, &kept))
}
