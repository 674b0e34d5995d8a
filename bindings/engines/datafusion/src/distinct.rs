//! Computes aggregates of distinct items.

use std::collections::HashMap;
use std::iter::repeat;
use std::marker::PhantomData;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion_common::{Result, ScalarValue, internal_datafusion_err};
use datafusion_expr::Accumulator;

use crate::accumulator::{State, value};
use crate::input::{Items, Word};
use crate::kind::Kind;

/// The distinct items, or pairs of items, of one group.
#[derive(Debug)]
pub(crate) struct Distinct<S> {
    kind: Kind,
    /// How often each item, or pair of items, occurs.
    items: HashMap<[u64; 2], u64>,
    state: PhantomData<fn() -> S>,
}

impl<S: State> Distinct<S> {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            items: HashMap::new(),
            state: PhantomData,
        }
    }

    /// Returns all distinct items, as one list for each argument.
    fn columns(&self) -> Vec<Vec<<S::Item as ArrowPrimitiveType>::Native>> {
        let arguments = 0..self.kind.arguments();
        let column = |argument: usize| {
            self.items
                .keys()
                .map(|words| Word::of_word(words[argument]))
                .collect()
        };
        arguments.map(column).collect()
    }

    fn add(&mut self, arguments: &[ArrayRef]) -> Result<()> {
        for words in words::<S>(arguments)? {
            *self.items.entry(words).or_default() += 1;
        }
        Ok(())
    }
}

/// Returns the items of the rows without nulls, as words.
fn words<S: State>(arguments: &[ArrayRef]) -> Result<Vec<[u64; 2]>> {
    let items = Items::<S::Item>::of(arguments, None)?;
    let [x, y] = items.columns();
    let y = y.iter().map(|item| item.to_word()).chain(repeat(0));
    let words = x.iter().map(|item| item.to_word()).zip(y);
    Ok(words.map(|(x, y)| [x, y]).collect())
}

impl<S: State> Accumulator for Distinct<S> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.add(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for words in words::<S>(values)? {
            let count = self.items.get_mut(&words).filter(|count| **count > 0);
            let count = count.ok_or_else(|| {
                internal_datafusion_err!("{}: an item to remove was never added", self.kind.name())
            })?;
            *count -= 1;
            if *count == 0 {
                self.items.remove(&words);
            }
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let columns = self.columns();
        let first = columns.first().map_or(&[][..], |column| column);
        let second = columns.get(1).map_or(&[][..], |column| column);
        let mut state = S::default();
        state.add([first, second]);
        value(&state, self.kind)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let columns = self.columns().into_iter();
        let list = |column: Vec<_>| {
            let items: Vec<ScalarValue> = column
                .into_iter()
                .map(|item| ScalarValue::new_primitive::<S::Item>(Some(item), &S::Item::DATA_TYPE))
                .collect::<Result<_>>()?;
            let list = ScalarValue::new_list_nullable(&items, &S::Item::DATA_TYPE);
            Ok(ScalarValue::List(list))
        };
        columns.map(list).collect()
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = states.first().map_or(0, |states| states.len());
        for row in 0..rows {
            let columns: Option<Vec<ArrayRef>> = states
                .iter()
                .map(|column| Some(column.as_list_opt::<i32>()?.value(row)))
                .collect();
            let columns = columns.ok_or_else(|| internal_datafusion_err!("expected ListArrays"))?;
            self.add(&columns)?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.items.capacity() * size_of::<([u64; 2], u64)>()
    }
}
