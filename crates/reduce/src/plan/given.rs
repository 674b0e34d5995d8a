//! Checks the operands of a call, and converts them for an engine.

use super::AnyPlan;
use super::operands::{Operands, check_pair, check_result, not_taken};
use crate::engines::values::Memory;
use crate::environment;
use crate::error::RunError;
use crate::operation::Operation;

/// Operands in the form that an engine expects.
pub(super) struct Given<'r> {
    bytes: Bytes<'r>,
    /// Whether the bytes are the folds of this rank's own nodes.
    pub(super) are_nodes: bool,
}

enum Bytes<'r> {
    Lent(&'r [u8]),
    Made(Memory),
}

impl<'r> Given<'r> {
    fn lent(bytes: &'r [u8], are_nodes: bool) -> Self {
        let bytes = Bytes::Lent(bytes);
        Self { bytes, are_nodes }
    }

    fn made(memory: Memory, are_nodes: bool) -> Self {
        let bytes = Bytes::Made(memory);
        Self { bytes, are_nodes }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Lent(bytes) => bytes,
            Bytes::Made(memory) => memory.bytes(),
        }
    }
}

impl AnyPlan {
    /// Checks operands on this rank, and converts them for an engine.
    pub(super) fn given<'r>(
        &self,
        operation: Operation,
        operands: Operands<'r>,
        result_bytes: usize,
    ) -> Result<Given<'r>, RunError> {
        match operands {
            Operands::Items(items) => {
                self.check(operation, items, result_bytes)?;
                Ok(Given::lent(items, false))
            }
            Operands::Pair(pair) if self.terms.width > 1 => {
                self.products_of_rows(operation, &pair, result_bytes)
            }
            Operands::Pair(pair) => self.products(operation, &[pair], result_bytes),
            Operands::Pairs(pairs) => self.products(operation, pairs, result_bytes),
            Operands::Nodes(nodes) => {
                let nodes = self.check_nodes(operation, nodes, result_bytes)?;
                Ok(Given::lent(nodes, true))
            }
            Operands::State(_) => Err(not_taken(self.world.rank())),
        }
    }

    /// The number of items in these bytes.
    fn items_in(&self, bytes: &[u8]) -> usize {
        bytes.len() / self.item_bytes
    }

    fn check(
        &self,
        operation: Operation,
        items: &[u8],
        result_bytes: usize,
    ) -> Result<(), RunError> {
        let rank = || self.world.rank();
        if operation != Operation::Broadcast && items.len() != self.local_bytes {
            return Err(RunError::WrongLength {
                rank: rank(),
                planned: self.planned_length(),
                given: self.items_in(items) as u64,
            });
        }
        if operation == Operation::Exscan && !self.values.has_empty() {
            return Err(RunError::NoEmptyValue {
                rank: rank(),
                operator: self.values.name().to_owned(),
            });
        }
        self.check_call(operation, result_bytes)
    }

    /// Checks the length of the result, and the floating-point environment.
    fn check_call(&self, operation: Operation, result_bytes: usize) -> Result<(), RunError> {
        self.check_result_length(operation, result_bytes)?;
        environment::check().map_err(|error| RunError::Environment {
            rank: self.world.rank(),
            error,
        })
    }

    pub(super) fn check_result_length(
        &self,
        operation: Operation,
        bytes: usize,
    ) -> Result<(), RunError> {
        let expected = self.result_length(operation);
        if expected.saturating_mul(self.item_bytes) == bytes {
            return Ok(());
        }
        check_result(self.world.rank(), expected, bytes / self.item_bytes)
    }

    /// Checks the reductions of this rank's own nodes, and returns them.
    fn check_nodes<'n>(
        &self,
        operation: Operation,
        nodes: Result<&'n [u8], &str>,
        result_bytes: usize,
    ) -> Result<&'n [u8], RunError> {
        let rank = self.world.rank();
        let algorithm = self.terms.choice.algorithm;
        let nodes = nodes.map_err(|reason| RunError::NotFolded {
            rank,
            reason: reason.to_owned(),
        })?;
        let lengths = self.engine.own_node_lengths(operation);
        let lengths = lengths.ok_or(RunError::NoOwnNodes { rank, algorithm })?;
        let planned = lengths.len() as u128 * self.terms.width as u128;
        let given = self.items_in(nodes) as u64;
        if u128::from(given) != planned {
            return Err(RunError::WrongLength {
                rank,
                planned,
                given,
            });
        }
        self.check_call(operation, result_bytes)?;
        Ok(nodes)
    }

    /// The engine's operands for sums of products, with a column for each pair: the sums over this rank's own nodes or, if the algorithm
    /// has no such nodes, the products themselves.
    fn products<'r>(
        &self,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
        result_bytes: usize,
    ) -> Result<Given<'r>, RunError> {
        let (rank, width) = (self.world.rank(), self.terms.width);
        if pairs.len() != width {
            return Err(RunError::WrongPairs {
                rank,
                planned: width,
                given: pairs.len(),
            });
        }
        let planned = self.terms.ownership.count(rank);
        for pair in pairs {
            let [first, second] = pair.map(|factor| self.items_in(factor));
            check_pair(rank, first, second)?;
            if first as u64 != planned {
                return Err(RunError::WrongLength {
                    rank,
                    planned: planned.into(),
                    given: first as u64,
                });
            }
        }
        self.check_call(operation, result_bytes)?;
        let item = self.item_bytes;
        let lengths = self.engine.own_node_lengths(operation);
        let are_nodes = lengths.is_some();
        let count = self.items_in(pairs[0][0]);
        let rows = lengths.as_ref().map_or(count, Vec::len);
        let mut made = Memory::zeroed(rows * width * item);
        let mut products = Memory::default();
        for (column, pair) in pairs.iter().enumerate() {
            let row = made.bytes_mut().chunks_exact_mut(width * item);
            let places = row.map(|row| &mut row[column * item..][..item]);
            if let Some(lengths) = &lengths {
                let mut first = 0;
                for (place, length) in places.zip(lengths) {
                    let [x, y] = pair.map(|factor| &factor[first..][..length * item]);
                    self.values.fold_products(x, y, place);
                    first += length * item;
                }
            } else {
                products.resize(count * item);
                self.values.write_products(pair, products.bytes_mut());
                for (place, product) in places.zip(products.bytes().chunks_exact(item)) {
                    place.copy_from_slice(product);
                }
            }
        }
        Ok(Given::made(made, are_nodes))
    }

    /// The products of rows, element by element.
    fn products_of_rows(
        &self,
        operation: Operation,
        pair: &[&[u8]; 2],
        result_bytes: usize,
    ) -> Result<Given<'static>, RunError> {
        let [first, second] = pair.map(|factor| self.items_in(factor));
        check_pair(self.world.rank(), first, second)?;
        self.check(operation, pair[0], result_bytes)?;
        let mut products = Memory::zeroed(pair[0].len());
        self.values.write_products(pair, products.bytes_mut());
        Ok(Given::made(products, false))
    }

    /// The number of elements of this rank's slice, even if no memory can hold them.
    #[cold]
    fn planned_length(&self) -> u128 {
        let count = self.terms.ownership.count(self.world.rank());
        u128::from(count) * self.terms.width as u128
    }
}
