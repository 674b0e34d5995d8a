//! Describes the functions: which columns they accept, and which columns they return.

use std::iter;

use treefold::exact::{Options, Statistic};

use crate::arrow::{DataType, Made, Series};
use crate::column::Real;
use crate::error::Error;
use crate::figure::{Figure, Parameter};
use crate::integers::of_integers;
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
        // The columns may be followed by `ddof` or `bias`.
        let expected = inputs + usize::from(self.figure.parameter().is_some());
        if columns.len() != expected {
            let count = columns.len();
            return Err(Error::new(format!("got {count} columns, not {expected}")));
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
        let types = columns[..inputs]
            .iter()
            .map(|(name, data_type)| self.items_of(name, data_type));
        let types: Vec<&DataType> = types.collect::<Result<_, _>>()?;
        let are_single = types.iter().all(|&items| *items == DataType::Float32);
        Ok(match self.figure {
            Figure::State(_) => DataType::BINARY,
            _ if are_single && self.has_type_of_items() => DataType::Float32,
            Figure::Items(Statistic::Sum) if types[0].is_unsigned() => DataType::UInt64,
            Figure::Items(Statistic::Sum) if types[0].is_integer() => DataType::Int64,
            _ => DataType::Float64,
        })
    }

    /// Whether results have the float type of the items. Other results are doubles.
    fn has_type_of_items(self) -> bool {
        use Statistic::{Dot, Mean, StandardDeviation, Sum, Variance};
        matches!(
            self.figure,
            Figure::Tree | Figure::Items(Sum | Mean | Variance | StandardDeviation | Dot)
        )
    }

    /// The type of the items of a column, if the function accepts them.
    fn items_of<'a>(self, name: &str, data_type: &'a DataType) -> Result<&'a DataType, Error> {
        let has_type = format!("column `{name}` has type {data_type}");
        let items = match (self.of_lists, data_type.items()) {
            (true, Some(items)) => items,
            (false, None) => data_type,
            // All items of the column are null.
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
                "{has_type}, but only floats and integers of up to 64 bits have exact sums: cast the column"
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
        let mut options = Options {
            ddof: 0.0,
            bias: true,
        };
        if let Some(parameter) = self.figure.parameter() {
            let number = whole::only_number(&columns[columns.len() - 1], parameter)?;
            match parameter {
                Parameter::Ddof => options.ddof = number,
                Parameter::Bias => options.bias = number > 0.0,
            }
        }
        let column = &columns[0];
        let integers = column.data_type.items().unwrap_or(&column.data_type);
        match self.figure {
            Figure::State(held) => states::state(&columns[..self.figure.inputs()], held),
            Figure::Merged => states::merged(column),
            Figure::Of(statistic) => states::read(column, statistic, options),
            Figure::Items(statistic) if !self.has_type_of_items() => {
                states::statistic(&columns[..self.figure.inputs()], statistic, options)
            }
            Figure::Items(statistic) if statistic != Statistic::Dot && integers.is_integer() => {
                let chunks = column.chunks()?;
                if self.of_lists {
                    let lists = lists::all_lists(&chunks);
                    return of_integers(&column.name, integers, statistic, options, lists);
                }
                let whole = chunks.iter().map(|chunk| (chunk, 0..chunk.len));
                let whole = iter::once(Some(whole));
                of_integers(&column.name, integers, statistic, options, whole)
            }
            _ if result == DataType::Float32 => self.of_floats(columns, options).map(Made::F32),
            _ => self.of_floats(columns, options).map(Made::F64),
        }
    }

    /// Computes a figure of floats whose result has the type of the items.
    fn of_floats<T: Real>(
        self,
        columns: &[Series],
        options: Options,
    ) -> Result<Vec<Option<T>>, Error> {
        match (self.figure, self.of_lists) {
            (Figure::Items(Statistic::Dot), false) => dot::of_columns(&columns[0], &columns[1]),
            (Figure::Items(Statistic::Dot), true) => dot::of_lists(&columns[0], &columns[1]),
            (Figure::Items(statistic), false) => {
                let chunks = columns[0].chunks()?;
                Ok(vec![whole::of_floats(&chunks, statistic, options)])
            }
            (figure, _) => lists::of_floats(&columns[0].chunks()?, figure, options),
        }
    }
}
