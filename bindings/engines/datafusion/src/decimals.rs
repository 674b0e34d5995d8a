//! Computes sums and averages of decimals. A decimal is an integer that counts units of a power of ten.

use arrow::array::ArrayRef;
use arrow::datatypes::Decimal128Type;
use datafusion_common::{Result, ScalarValue, exec_datafusion_err, internal_datafusion_err};
use datafusion_expr::Accumulator;
use exact_sum::{CompactBytes, CompactState, CompactSum, Statistic};

use crate::accumulator::{binary, wrong_state};
use crate::input::Items;
use crate::kind::{DIGITS, Kind};

#[derive(Debug)]
pub(crate) struct Decimals {
    kind: Kind,
    scale: i8,
    sum: CompactSum,
}

impl Decimals {
    pub(crate) fn new(kind: Kind, scale: i8) -> Self {
        let sum = CompactSum::new();
        Self { kind, scale, sum }
    }

    fn of_rows(values: &[ArrayRef]) -> Result<CompactSum> {
        let mut sum = CompactSum::new();
        let items = Items::<Decimal128Type>::of(values, None)?;
        let [items, _] = items.columns();
        items.iter().for_each(|item| sum.add_integer(*item));
        Ok(sum)
    }
}

impl Accumulator for Decimals {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum.merge(&Self::of_rows(values)?).map_err(wrong_state)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let removed = self.sum.unmerge(&Self::of_rows(values)?);
        removed.map_err(|error| exec_datafusion_err!("{}: {error}", self.kind.name()))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.kind == Kind::Mean {
            let mean = Statistic::Mean;
            let scale = u8::try_from(self.scale);
            let scale = scale.map_err(|_| internal_datafusion_err!("the scale is negative"))?;
            let mean = self
                .sum
                .statistic_of_decimals(mean, mean.defaults(), [scale, 0]);
            return Ok(ScalarValue::Float64(mean));
        }
        if self.sum.items() == 0 {
            return Ok(ScalarValue::Decimal128(None, DIGITS, self.scale));
        }
        let most = 10_i128.pow(DIGITS.into());
        let sum = self
            .sum
            .integer()
            .filter(|sum| (1 - most..most).contains(sum));
        let beyond = || {
            exec_datafusion_err!(
                "{}: the sum does not fit in DECIMAL({DIGITS}, {})",
                self.kind.name(),
                self.scale
            )
        };
        Ok(ScalarValue::Decimal128(
            Some(sum.ok_or_else(beyond)?),
            DIGITS,
            self.scale,
        ))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let bytes = self.sum.to_bytes();
        Ok(vec![
            ScalarValue::UInt64(Some(self.sum.items())),
            ScalarValue::Binary(Some(bytes)),
        ])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for bytes in binary(states, 1)?.iter().flatten() {
            self.sum.merge_bytes(bytes).map_err(wrong_state)?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
