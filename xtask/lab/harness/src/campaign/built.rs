//! The forms of plans: how each is built, and what every rank must get of it.

use reduce::{Operation, World};

use super::case::{FaultKind, Own};
use super::element::with_kind;
use super::slot::{Form, Outcome, Slot};
use super::vocabulary::Kind;
use super::{exact, keyed, started, tree};

/// Builds a plan as its specification says, but for this fault. Collective.
pub(super) fn build(own: Own, world: &World, fault: Option<FaultKind>) -> Result<Slot, Outcome> {
    let form: Box<dyn Form> = match own.spec.kind {
        Kind::Started => Box::new(started::Started(own)),
        kind => with_kind!(
            kind,
            [tree::build, exact::build, keyed::build],
            (own, world, fault)
        )?,
    };
    Ok(Slot::new(form))
}

impl Own {
    /// What a call with a step's items gives.
    pub(super) fn expected(&self, operation: Operation, step: usize) -> Outcome {
        let columns = match operation {
            Operation::Reduce if self.rank != self.spec.root => return Outcome::Nothing,
            Operation::ReduceScatter => self.columns_of(self.rank),
            _ => 0..self.spec.width,
        };
        Outcome::Value(with_kind!(
            self.spec.kind,
            [tree::expected, exact::expected, keyed::expected],
            (self, operation, step, columns)
        ))
    }
}
