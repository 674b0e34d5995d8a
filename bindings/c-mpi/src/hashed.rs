//! Plans of exact sums by 64-bit keys, with the types of keys and items erased.

use std::cell::RefCell;
use std::rc::Rc;

use bytemuck::Pod;
use treefold::exact::{Float, HashedPlan, SparseKey, Sum};
use treefold::{Operation, Plan, RunError, World};
use treefold_c::element::ElementType;
use treefold_c::failure::{Code, Failure};
use treefold_c::raw::{elements, elements_mut};

use crate::failure::{of_build, of_run};
use crate::handle::handle;
use crate::run::NotifyOnPanic;

handle!(
    /// `treefold_hashed`: a plan of sums by 64-bit keys, and the result of its last run.
    pub treefold_hashed, dyn AnyHashed, 6, "hashed"
);

/// A plan whose keys and items are passed as bytes.
pub(crate) trait AnyHashed {
    /// The size of an item in bytes.
    fn element_bytes(&self) -> usize;

    /// Runs an operation on items with keys. Returns the number of keys in the result.
    fn run(&self, operation: Operation, keys: &[u8], items: &[u8]) -> Result<usize, Failure>;

    /// Takes part in an operation although this rank's arguments are wrong, so that the operation fails on all ranks instead of hanging.
    fn refuse(&self, operation: Operation);

    /// Writes the keys and the sums of the last run.
    fn write(&self, keys: &mut [u8], sums: &mut [u8]) -> Result<(), Failure>;
}

/// The size of a key in bytes.
pub(crate) const KEY_BYTES: usize = size_of::<u64>();

/// Builds a plan, and gives the other ranks an error if this rank's types are invalid. Collective.
///
/// # Errors
/// Every rank gets the same error, except that a rank with an unknown type gets the error about its type.
pub(crate) fn build(
    world: &World,
    key_type: i32,
    element_type: i32,
    root: i32,
) -> Result<Rc<dyn AnyHashed>, Failure> {
    let types = types_of(key_type, element_type);
    // Makes the build fail on all ranks: a plan cannot be built without a distribution of items. The error names this rank.
    let refuse = |_: &Failure| drop(Plan::builder(world).build::<f64>());
    let (is_signed, is_single) = types.inspect_err(refuse)?;
    // All ranks together detect an invalid root.
    let root = usize::try_from(root).unwrap_or(usize::MAX);
    match (is_signed, is_single) {
        (true, true) => Hashed::<i64, f32>::build(world, root),
        (true, false) => Hashed::<i64, f64>::build(world, root),
        (false, true) => Hashed::<u64, f32>::build(world, root),
        (false, false) => Hashed::<u64, f64>::build(world, root),
    }
}

/// Whether keys are signed, and whether items have 32 bits.
fn types_of(key_type: i32, element_type: i32) -> Result<(bool, bool), Failure> {
    let is_signed = match ElementType::of_code(key_type) {
        Ok(ElementType::I64) => true,
        Ok(ElementType::U64) => false,
        _ => {
            let reason = format_args!("it must be TREEFOLD_I64 or TREEFOLD_U64, not {key_type}");
            return Err(Failure::argument("key_type", reason));
        }
    };
    let element_type = ElementType::of_code(element_type)?;
    element_type.check_real()?;
    Ok((is_signed, element_type == ElementType::F32))
}

struct Hashed<K: SparseKey, T: Float> {
    plan: HashedPlan<K, Sum<T>>,
    /// The result of the last run.
    result: RefCell<Vec<(K, T)>>,
}

impl<K: SparseKey + Pod, T: Float + Pod> Hashed<K, T> {
    fn build(world: &World, root: usize) -> Result<Rc<dyn AnyHashed>, Failure> {
        let plan = Plan::builder(world).root(root).build_hashed::<K, Sum<T>>();
        Ok(Rc::new(Self {
            plan: plan.map_err(|error| of_build(&error))?,
            result: RefCell::default(),
        }))
    }

    fn run_on(
        &self,
        operation: Operation,
        keys: &[K],
        items: &[T],
    ) -> Result<Vec<(K, T)>, RunError> {
        match operation {
            Operation::Reduce => {
                let all = self.plan.reduce_by_key(keys, items)?;
                Ok(all.unwrap_or_default())
            }
            Operation::ReduceScatter => {
                let own = self.plan.reduce_scatter_by_key(keys, items)?;
                let pairs = own.values().into_iter();
                Ok(pairs.map(|(&key, sum)| (key, sum)).collect())
            }
            _ => self.plan.by_key(keys, items),
        }
    }
}

impl<K: SparseKey + Pod, T: Float + Pod> AnyHashed for Hashed<K, T> {
    fn element_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn run(&self, operation: Operation, keys: &[u8], items: &[u8]) -> Result<usize, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        self.result.take();
        let arrays = elements("keys", keys).and_then(|keys| Ok((keys, elements("items", items)?)));
        let (keys, items) = arrays.inspect_err(|_| self.refuse(operation))?;
        let result = self.run_on(operation, keys, items);
        let result = result.map_err(|error| of_run(&error))?;
        let count = result.len();
        self.result.replace(result);
        Ok(count)
    }

    /// Takes part in an operation with arrays of different lengths, so that the operation fails on all ranks.
    fn refuse(&self, operation: Operation) {
        self.result.take();
        let _ = self.run_on(operation, &[K::zeroed()], &[]);
    }

    fn write(&self, keys: &mut [u8], sums: &mut [u8]) -> Result<(), Failure> {
        let (keys, sums) = (elements_mut("keys", keys)?, elements_mut("sums", sums)?);
        let result = self.result.borrow();
        for (name, length) in [("keys", keys.len()), ("sums", sums.len())] {
            if length != result.len() {
                let count = result.len();
                let message = format!("`{name}` has {length} elements, but the result has {count}");
                return Err(Failure::new(Code::Length, message));
            }
        }
        for ((key, sum), pair) in keys.iter_mut().zip(sums).zip(&*result) {
            (*key, *sum) = *pair;
        }
        Ok(())
    }
}
