//! A plan in words: what the ranks agreed on, then this rank's part.

use std::fmt;

use bytemuck::Pod;

use super::Plan;
use crate::counted::Counted;
use crate::operator::Operator;

/// Prints this rank's part in an allreduce, step by step.
///
/// ```
/// use reduce::{Algorithm, Plan, threads};
///
/// let printed = threads::run(2, |world| {
///     let builder = Plan::builder(world).local_items(3);
///     let plan = builder.algorithm(Algorithm::RecursiveDoubling).build::<f64>().unwrap();
///     plan.to_string()
/// })?;
/// assert_eq!(
///     printed[1],
///     "rank 1 of 2: sum of 6 items of 1 element, 3 of them here, by recursive-doubling\n\
///      fold the own items into 2 values\n\
///      step 1: send 2 values to rank 0; receive 2 values from rank 0\n\
///      combine 3 times\n"
/// );
/// # Ok::<(), threads::RunError>(())
/// ```
impl<T: Pod, O: Operator<T> + 'static> fmt::Display for Plan<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, terms) = (self.world.rank(), &self.terms);
        write!(
            f,
            "rank {rank} of {}: {} of {} of {}, {} of them here, by {}",
            self.world.size(),
            self.operator.name(),
            Counted(terms.ownership.items(), "item"),
            Counted(terms.width as u64, "element"),
            terms.ownership.count(rank),
            terms.choice.algorithm
        )?;
        if let Some(remark) = self.engine.remark() {
            write!(f, " ({remark})")?;
        }
        if terms.choice.strips > 1 {
            let strips = terms.choice.strips;
            write!(f, ", in {strips} blocks of columns, each of which is:")?;
        }
        writeln!(f)?;
        self.engine.write(f)
    }
}
