//! Computes statistics of whole columns, and states, which are bytes from which statistics can be computed later.

use treefold::exact::{
    CompactAny, CompactBytes, CompactCoMoments, CompactMoments, CompactNumber, CompactPowers,
    CompactProducts, CompactRows, CompactState, CompactSum, CompactWeightedMean, Held, Options,
    Statistic,
};

use crate::arrow::{Made, Series, Values};
use crate::column::with_integers;
use crate::error::Error;

/// Computes a statistic of one or two columns. Rows with a null are skipped.
pub(crate) fn statistic(
    columns: &[Series],
    statistic: Statistic,
    options: Options,
) -> Result<Made, Error> {
    let value = match statistic.held() {
        Held::Weighted => {
            filled::<CompactWeightedMean, 2>(columns, add_pair)?.statistic(statistic, options)
        }
        Held::CoMoments => {
            filled::<CompactCoMoments, 2>(columns, add_pair)?.statistic(statistic, options)
        }
        _ => filled::<CompactPowers, 1>(columns, add_item)?.statistic(statistic, options),
    };
    Ok(Made::F64(vec![value]))
}

/// The state of one or two columns; null if there are no rows without nulls.
pub(crate) fn state(columns: &[Series], held: Held) -> Result<Made, Error> {
    let bytes = match held {
        Held::Sum => bytes_of(&filled::<CompactSum, 1>(columns, add_item)?),
        Held::Products => bytes_of(&filled::<CompactProducts, 2>(columns, add_pair)?),
        Held::Moments => bytes_of(&filled::<CompactMoments, 1>(columns, add_item)?),
        Held::CoMoments => bytes_of(&filled::<CompactCoMoments, 2>(columns, add_pair)?),
        Held::Powers => bytes_of(&filled::<CompactPowers, 1>(columns, add_item)?),
        _ => return Err(Error::new(format!("there are no states of {held:?}"))),
    };
    Ok(Made::Bytes(vec![bytes]))
}

/// Merges a column of states into one state.
pub(crate) fn merged(column: &Series) -> Result<Made, Error> {
    let mut all: Option<CompactAny> = None;
    each_state(column, |state| {
        match (&mut all, state) {
            (_, None) => {}
            (Some(all), Some(state)) => all.merge(&state).map_err(|error| said(column, error))?,
            (None, state) => all = state,
        }
        Ok(())
    })?;
    Ok(Made::Bytes(vec![all.map(|state| state.to_bytes())]))
}

/// Computes a statistic from each state of a column.
pub(crate) fn read(column: &Series, statistic: Statistic, options: Options) -> Result<Made, Error> {
    let mut values = Vec::with_capacity(column.len());
    each_state(column, |state| {
        let Some(state) = state else {
            values.push(None);
            return Ok(());
        };
        if !state.held().has(statistic) {
            let name = state.held().name();
            let what = format!("a state is {name}, which has no {statistic}");
            return Err(said(column, what));
        }
        values.push(state.statistic(statistic, options));
        Ok(())
    })?;
    Ok(Made::F64(values))
}

fn said(column: &Series, what: impl std::fmt::Display) -> Error {
    Error::new(format!("column `{}`: {what}", column.name))
}

fn each_state(
    column: &Series,
    mut call: impl FnMut(Option<CompactAny>) -> Result<(), Error>,
) -> Result<(), Error> {
    for chunk in column.chunks()? {
        for row in 0..chunk.len {
            let bytes = match &chunk.values {
                Values::Bytes(bytes) if chunk.is_valid(row) => Some(bytes.item(row)),
                _ => None,
            };
            let bytes = bytes.map(|bytes| bytes.ok_or("the column violates Arrow's format"));
            let bytes = bytes.transpose().map_err(|what| said(column, what))?;
            let state = bytes.map(CompactAny::of_bytes).transpose();
            call(state.map_err(|error| said(column, error))?)?;
        }
    }
    Ok(())
}

fn bytes_of(state: &impl CompactBytes) -> Option<Vec<u8>> {
    (state.items() > 0).then(|| state.to_bytes())
}

fn add_item<S: CompactRows<CompactNumber>>(state: &mut S, [item]: [CompactNumber; 1]) {
    state.add_row(item);
}

/// Adds a row. If one variable depends on the other, the arguments are y and x, as in SQL.
fn add_pair<S: Pair>(state: &mut S, [first, second]: [CompactNumber; 2]) {
    let row = if S::IS_Y_FIRST {
        (second, first)
    } else {
        (first, second)
    };
    state.add_row(row);
}

/// A state of rows of two columns.
trait Pair: CompactRows<(CompactNumber, CompactNumber)> {
    const IS_Y_FIRST: bool = false;
}

impl Pair for CompactProducts {}

impl Pair for CompactWeightedMean {}

impl Pair for CompactCoMoments {
    const IS_Y_FIRST: bool = true;
}

/// Adds the rows without nulls to a state. If a column has only one item, that item is paired with each item of the other column.
fn filled<S: CompactState, const N: usize>(
    columns: &[Series],
    add: impl Fn(&mut S, [CompactNumber; N]),
) -> Result<S, Error> {
    let mut items = Vec::with_capacity(N);
    for column in columns {
        items.push(numbers(column)?);
    }
    let lens = items.iter().map(Vec::len);
    let len = if lens.clone().any(|len| len == 0) {
        0
    } else {
        lens.max().unwrap_or(0)
    };
    if let Some(other) = items
        .iter()
        .position(|items| items.len() != len && items.len() > 1)
    {
        let names = columns
            .iter()
            .map(|column| format!("`{}` has {} items", column.name, column.len()));
        let names: Vec<String> = names.collect();
        return Err(Error::new(format!(
            "the columns have different lengths: {}; column {} does not match",
            names.join(", "),
            other + 1
        )));
    }
    let mut state = S::default();
    for row in 0..len {
        let row = items
            .iter()
            .map(|items| items[if items.len() == 1 { 0 } else { row }]);
        let row: Option<Vec<CompactNumber>> = row.collect();
        if let Some(Ok(row)) = row.map(<[CompactNumber; N]>::try_from) {
            add(&mut state, row);
        }
    }
    Ok(state)
}

fn numbers(column: &Series) -> Result<Vec<Option<CompactNumber>>, Error> {
    let mut numbers = Vec::with_capacity(column.len());
    for chunk in column.chunks()? {
        let before = numbers.len();
        match &chunk.values {
            Values::F64(items) => {
                numbers.extend(items.iter().map(|item| Some(CompactNumber::Double(*item))));
            }
            Values::F32(items) => {
                let double = |item: &f32| Some(CompactNumber::Double(f64::from(*item)));
                numbers.extend(items.iter().map(double));
            }
            values => with_integers!(values, items => {
                for (row, item) in items.iter().enumerate() {
                    let integer = i64::try_from(i128::from(*item)).ok();
                    if integer.is_none() && chunk.is_valid(row) {
                        let what = format!("{item} is beyond Int64: cast the column to Float64");
                        return Err(said(column, what));
                    }
                    numbers.push(integer.map(CompactNumber::Integer));
                }
            }),
        }
        numbers.resize(before + chunk.len, None);
        for row in (0..chunk.len).filter(|row| !chunk.is_valid(*row)) {
            numbers[before + row] = None;
        }
    }
    Ok(numbers)
}
