//! A plan as text: what the ranks agreed on, then what this rank does.

use std::fmt;

use comm::text::{counted, printable};

use super::AnyPlan;
use super::request::PlanKind;
use super::scattered::Scattered;
use crate::algorithm::Algorithm;
use crate::engines::terms::{Choice, Terms};
use crate::operation::Operation;

impl fmt::Display for AnyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Terms {
            ownership, width, ..
        } = &*self.terms;
        let (rank, ranks) = (self.world.rank(), self.world.size());
        let name = printable(self.values.name());
        write!(f, "rank {rank} of {ranks}: ")?;
        match self.kind {
            PlanKind::Exact => {
                let columns = counted(*width, "column");
                write!(f, "{name}, {columns} of {} bytes", self.item_bytes)?;
            }
            PlanKind::Keyed => {
                write!(f, "{name}, {width} keys of {} bytes", self.item_bytes)?;
            }
            PlanKind::Hashed => return writeln!(f, "{name}, each by the rank that owns the key"),
            PlanKind::TreeOrder | PlanKind::Lanes => {
                let (items, elements) = (ownership.items(), counted(*width, "element"));
                let (items, own) = (counted(items, "item"), ownership.count(rank));
                write!(f, "{name} of {items} of {elements}, {own} of them here")?;
            }
        }
        self.write_steps(f)
    }
}

impl AnyPlan {
    fn write_steps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_choice(f, &self.terms.choice, self.engine.remark())?;
        self.engine.write(f)?;
        if let Some(scattered) = Scattered::of(&self.terms, &*self.values) {
            writeln!(f, "{scattered}")?;
        }
        write_stand_ins(f, &|operation| self.engine.algorithm(operation))
    }
}

/// Prints the algorithm, and the engine's remark on it.
fn write_choice(
    f: &mut fmt::Formatter<'_>,
    choice: &Choice,
    remark: Option<String>,
) -> fmt::Result {
    write!(f, ", by {}", choice.algorithm)?;
    if let Some(remark) = remark {
        write!(f, " ({remark})")?;
    }
    if choice.strips > 1 {
        let strips = choice.strips;
        write!(f, ", in {strips} blocks of columns, each of which is:")?;
    }
    writeln!(f)
}

/// Prints the operations that do not run the allreduce's algorithm, grouped by the algorithm that they run.
fn write_stand_ins(
    f: &mut fmt::Formatter<'_>,
    runs: &dyn Fn(Operation) -> Option<Algorithm>,
) -> fmt::Result {
    let usual = runs(Operation::Allreduce);
    let mut stand_ins: Vec<(Algorithm, Vec<&str>)> = Vec::new();
    for &operation in Operation::ALL {
        let Some(algorithm) = runs(operation).filter(|&algorithm| Some(algorithm) != usual) else {
            continue;
        };
        match stand_ins.iter_mut().find(|(other, _)| *other == algorithm) {
            Some((_, operations)) => operations.push(operation.name()),
            None => stand_ins.push((algorithm, vec![operation.name()])),
        }
    }
    let in_words = |(algorithm, operations): (Algorithm, Vec<&str>)| match &operations[..] {
        [operations @ .., last] if !operations.is_empty() => {
            format!("{} and {last} by {algorithm}", operations.join(", "))
        }
        operations => format!("{} by {algorithm}", operations.join(", ")),
    };
    let stand_ins: Vec<String> = stand_ins.into_iter().map(in_words).collect();
    if stand_ins.is_empty() {
        return Ok(());
    }
    writeln!(f, "other operations: {}", stand_ins.join("; "))
}
