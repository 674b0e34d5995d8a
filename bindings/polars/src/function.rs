//! The functions: the columns that they accept, and the columns that they return.

use treefold::exact::{Options, Statistic};

use crate::arrow::{DataType, Made, Series};
use crate::error::Error;
use crate::figure::{Figure, Parameter};
use crate::{dot, lists, states, whole};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    /// The function's name in Python.
    pub(crate) name: &'static str,
    pub(crate) figure: Figure,
    /// Whether the function applies to each list of a column instead of the whole column.
    pub(crate) of_lists: bool,
}

impl Function {
    /// The type of the result, from the columns' names and types.
    pub(crate) fn result(self, columns: &[(&str, &DataType)]) -> Result<DataType, Error> {
        let inputs = self.figure.inputs();
        // After the columns comes `ddof` or `bias`.
        let expected = inputs + usize::from(self.figure.parameter().is_some());
        if columns.len() != expected {
            let count = columns.len();
            return Err(Error::new(format!("{count} columns, not {expected}")));
        }
        if matches!(self.figure, Figure::Merged | Figure::Of(_)) {
            let [(name, data_type), ..] = columns else {
                return Err(Error::new("there is no column"));
            };
            if !matches!(data_type, DataType::Binary { .. } | DataType::Null) {
                return Err(Error::new(format!(
                    "column `{name}` has type {data_type}, but states are Binary"
                )));
            }
            return Ok(if self.figure == Figure::Merged {
                DataType::BINARY
            } else {
                DataType::Float64
            });
        }
        let mut types = columns[..inputs]
            .iter()
            .map(|(name, data_type)| self.items_of(name, data_type));
        let first = types.next().expect("there is a column")?;
        let second = types.next().transpose()?;
        match self.figure {
            Figure::State(_) => return Ok(DataType::BINARY),
            Figure::Other(_) => return Ok(DataType::Float64),
            _ => {}
        }
        let is_single = |data_type: &DataType| *data_type == DataType::Float32;
        Ok(match (self.figure, second) {
            (Figure::Dot, Some(second)) if is_single(first) && is_single(second) => {
                DataType::Float32
            }
            (Figure::Dot, _) => DataType::Float64,
            _ if is_single(first) => DataType::Float32,
            (Figure::Sum, _) if first.is_unsigned() => DataType::UInt64,
            (Figure::Sum, _) if first.is_integer() => DataType::Int64,
            _ => DataType::Float64,
        })
    }

    /// The type of the items of a column, if the function accepts them.
    fn items_of<'a>(self, name: &str, data_type: &'a DataType) -> Result<&'a DataType, Error> {
        let has_type = format!("column `{name}` has type {data_type}");
        let items = match (self.of_lists, data_type.items()) {
            (true, Some(items)) => items,
            (false, None) => data_type,
            // A column of nulls only.
            (true, None) if *data_type == DataType::Null => data_type,
            (true, None) => return Err(Error::new(format!("{has_type}, not a list of numbers"))),
            (false, Some(_)) => {
                let of_lists = self.name.replacen('_', "_list_", 1);
                return Err(Error::new(format!(
                    "{has_type}: use `{of_lists}` for lists"
                )));
            }
        };
        let is_float = matches!(
            items,
            DataType::Float32 | DataType::Float64 | DataType::Null
        );
        match self.figure {
            _ if is_float => Ok(items),
            Figure::Tree => Err(Error::new(format!(
                "{has_type}, but the order matters only for floats"
            ))),
            _ if items.is_integer() => Ok(items),
            _ => Err(Error::new(format!(
                "{has_type}, but only floats and integers of up to 64 bits have exact sums: cast it"
            ))),
        }
    }

    /// Computes the result for columns.
    pub(crate) fn call(self, columns: &[Series]) -> Result<Made, Error> {
        let pairs = columns
            .iter()
            .map(|column| (column.name.as_str(), &column.data_type));
        let pairs: Vec<_> = pairs.collect();
        let result = self.result(&pairs)?;
        let parameter = match self.figure.parameter() {
            Some(parameter) => whole::only_number(&columns[columns.len() - 1], parameter)?,
            None => 0.0,
        };
        let options = |statistic: Statistic| match self.figure.parameter() {
            Some(Parameter::Ddof) => Options {
                ddof: parameter,
                ..statistic.defaults()
            },
            Some(Parameter::Bias) => Options {
                bias: parameter > 0.0,
                ..statistic.defaults()
            },
            None => statistic.defaults(),
        };
        let items = &columns[..self.figure.inputs()];
        match self.figure {
            Figure::Other(statistic) => {
                return states::statistic(items, statistic, options(statistic));
            }
            Figure::State(held) => return states::state(items, held),
            Figure::Merged => return states::merged(&columns[0]),
            Figure::Of(statistic) => {
                return states::read(&columns[0], statistic, options(statistic));
            }
            _ => {}
        }
        let ddof = parameter;
        match (self.figure, self.of_lists, result) {
            (Figure::Dot, false, DataType::Float32) => {
                dot::of_columns(&columns[0], &columns[1]).map(Made::F32)
            }
            (Figure::Dot, false, _) => dot::of_columns(&columns[0], &columns[1]).map(Made::F64),
            (Figure::Dot, true, DataType::Float32) => {
                dot::of_lists(&columns[0], &columns[1]).map(Made::F32)
            }
            (Figure::Dot, true, _) => dot::of_lists(&columns[0], &columns[1]).map(Made::F64),
            (figure, false, _) => whole::of_column(&columns[0], figure, ddof),
            (figure, true, _) => lists::of_lists(&columns[0], figure, ddof),
        }
    }
}
