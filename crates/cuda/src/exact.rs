//! Computes exact sums of items in a device's memory.

use bytemuck::Zeroable;
use cudarc::driver::PushKernelArg;
use exact_sum::{Accumulator, Sum as ExactSum};
use reduce::{Operator, Sum};

use crate::device::Device;
use crate::error::{During, Error};
use crate::items::{Element, Items};
use crate::tree::config;

/// The maximum number of items of a launch. All of them may be added to the same limb, which has room for 2^30 additions.
const LAUNCH_ITEMS: usize = 1 << 28;

/// The least number of items of a block.
const BLOCK_ITEMS: u64 = 1 << 12;

/// The number of counters after the limbs, as in `kernels.cu`.
const COUNTERS: usize = 4;

impl Device {
    /// The exact sum of the items. Call its [`value`](ExactSum::value), or pass it to an exact plan.
    ///
    /// # Errors
    /// The driver fails.
    pub fn exact_sum<T: Element>(&self, items: Items<'_, T>) -> Result<ExactSum<T>, Error>
    where
        Sum: Operator<T>,
        ExactSum<T>: Accumulator,
        <ExactSum<T> as Accumulator>::Integers: AsMut<[i64]>,
    {
        let mut sum = ExactSum::new();
        let mut first = 0;
        while first < items.len() {
            let length = (items.len() - first).min(LAUNCH_ITEMS);
            let pointer = items.pointer + (first * size_of::<T>()) as u64;
            let added = sum.add_integers(&self.launch_exact::<T>(pointer, length)?);
            added.expect("memory has room for fewer items");
            first += length;
        }
        Ok(sum)
    }

    fn launch_exact<T: Element>(
        &self,
        pointer: u64,
        length: usize,
    ) -> Result<<ExactSum<T> as Accumulator>::Integers, Error>
    where
        Sum: Operator<T>,
        ExactSum<T>: Accumulator,
        <ExactSum<T> as Accumulator>::Integers: AsMut<[i64]>,
    {
        let words = T::LIMBS + COUNTERS;
        self.with_scratch(|scratch| {
            scratch.results.reserve(words)?;
            let (into, arrived) = (scratch.results.pointer(), scratch.arrived.pointer());
            let total = scratch.limbs.pointer();
            let items = length as u64;
            let blocks = items.div_ceil(BLOCK_ITEMS);
            let kernels = self.kernels::<T>();
            let mut launch = self.stream.launch_builder(&kernels.exact_sum);
            launch.arg(&pointer).arg(&items);
            launch.arg(&total).arg(&arrived).arg(&into);
            // SAFETY: the arguments are those of `exact_sum`. The caller of `items`, or a buffer, guarantees that the items exist. The scratch
            // memory has room for the limbs and counters, which are 0, and for the result.
            #[expect(unsafe_code, reason = "a kernel")]
            unsafe { launch.launch(config(blocks.min(kernels.exact_blocks))?) }
                .during("starting an exact sum")?;
            self.wait()?;
            let found: &[i64] = bytemuck::cast_slice(&scratch.results.words()[..words]);
            let mut integers = <ExactSum<T> as Accumulator>::Integers::zeroed();
            let (limbs, counters) = integers.as_mut().split_at_mut(T::LIMBS);
            limbs.copy_from_slice(&found[..T::LIMBS]);
            // The first counter is the number of items.
            counters[0] = length as i64;
            counters[1..].copy_from_slice(&found[T::LIMBS..]);
            Ok(integers)
        })
    }
}
