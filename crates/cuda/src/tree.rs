//! Sums in tree order.

use cudarc::driver::{CudaFunction, LaunchConfig, PushKernelArg};
use reduce::{Operator, Sum, environment};

use crate::device::{Device, Scratch, THREADS};
use crate::error::{During, Error};
use crate::items::{Buffer, Element, Items};
use crate::runs::Blocks;

/// What each thread loads at once, as in `kernels.cu`.
const LOAD_BYTES: usize = 8 * 16;

/// The tiles of a block: each lane of a warp keeps the sum of one.
const TILES_LOG2_MAX: u32 = 5;

/// A launch has about this many blocks, or fewer: what the last block folds by itself.
const BLOCKS: u64 = 2048;

/// The rows that a thread adds, as in `kernels.cu`.
const THREAD_ROWS: u32 = 64;
/// The most columns of a block.
const COLUMNS_MAX: usize = 32;

impl Device {
    /// The sum of the items, in tree order: the bits of [`reduce::sum`]. 0 for no items.
    ///
    /// # Errors
    /// The driver fails.
    pub fn sum<T: Element>(&self, items: Items<'_, T>) -> Result<T, Error>
    where
        Sum: Operator<T>,
    {
        let mut result = [T::zeroed()];
        if !items.is_empty() {
            self.fold_runs(items, 1, &[items.len()], &mut result)?;
        }
        Ok(Operator::<T>::canonical(&Sum, result[0]))
    }

    /// The sums of the columns of rows of `width` values, in tree order: the bits of [`reduce::sum_rows`].
    ///
    /// # Errors
    /// The items are not whole rows, `result` is not as long as one, or the driver fails.
    pub fn sum_rows<T: Element>(
        &self,
        items: Items<'_, T>,
        width: usize,
        result: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        if width == 0 || !items.len().is_multiple_of(width) {
            return Err(Error::Lengths(format!(
                "{} values cannot be rows of {width}",
                items.len()
            )));
        }
        if items.is_empty() {
            result.fill(T::zeroed());
            return Ok(());
        }
        self.fold_runs(items, width, &[items.len() / width], result)?;
        Operator::<T>::make_canonical(&Sum, result);
        Ok(())
    }

    /// The sums of runs of rows that lie side by side: `lengths[k]` rows, of `width` values each, become row k of `results`. They are as
    /// [`Operator::fold_runs`] and [`Operator::fold_rows`] leave them: NaNs are not canonical yet.
    ///
    /// # Errors
    /// A length is 0, the lengths do not fit the items, or `results` does not fit the lengths; or the driver fails.
    pub fn fold_runs<T: Element>(
        &self,
        items: Items<'_, T>,
        width: usize,
        lengths: &[usize],
        results: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        environment::check().map_err(reduce::FoldError::from)?;
        let rows = lengths.iter().fold(0_u128, |rows, &one| rows + one as u128);
        if rows * width as u128 != items.len() as u128 || lengths.contains(&0) {
            return Err(Error::Lengths(format!(
                "{} values are not {} runs of {rows} rows of {width} values, each of at least one row",
                items.len(),
                lengths.len()
            )));
        }
        if results.len() as u128 != lengths.len() as u128 * width as u128 {
            return Err(Error::Lengths(format!(
                "the result has {} values, and there is room for {}",
                lengths.len() as u128 * width as u128,
                results.len()
            )));
        }
        if items.is_empty() {
            return Ok(());
        }
        self.with_scratch(|scratch| {
            if width == 1 {
                self.sum_scalars(scratch, items, lengths, results)
            } else {
                self.sum_row_runs(scratch, items, width, lengths, results)
            }
        })
    }

    /// One launch: blocks sum items, and the last of them what they have left.
    fn sum_scalars<T: Element>(
        &self,
        scratch: &mut Scratch,
        items: Items<'_, T>,
        lengths: &[usize],
        results: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        let least = (THREADS as usize * LOAD_BYTES / size_of::<T>()).ilog2();
        let blocks = (0..=TILES_LOG2_MAX)
            .map(|tiles| Blocks::new(lengths, least + tiles))
            .find(|blocks| blocks.count() <= BLOCKS.max(2 * lengths.len() as u64))
            .unwrap_or_else(|| Blocks::new(lengths, least + TILES_LOG2_MAX));
        let words = usize::try_from(blocks.count()).expect("there are fewer blocks than items");
        let partials = scratch.partials(0, words, &self.stream)?;
        scratch.results.reserve(results.len())?;
        let (arrived, into) = (scratch.arrived.pointer(), scratch.results.pointer());
        let far = self.far(&blocks)?;
        let runs = blocks.argument(far.as_ref().map(Buffer::pointer));
        let kernel = &self.kernels::<T>().sum_runs;
        let mut launch = self.stream.launch_builder(kernel);
        launch.arg(&items.pointer).arg(&runs);
        launch.arg(&partials).arg(&arrived).arg(&into);
        // SAFETY: the arguments are those of `sum_runs`. The runs are within the items, which the caller of `items` or a buffer vouches
        // for; there is a partial sum for each block, a counter that is 0, and room for a result for each run. Nothing else uses the
        // scratch memory until this call has waited.
        #[expect(unsafe_code, reason = "a kernel")]
        unsafe { launch.launch(config(blocks.count())?) }.during("starting a sum")?;
        self.wait()?;
        let words: &[T] = bytemuck::cast_slice(scratch.results.words());
        results.copy_from_slice(&words[..results.len()]);
        Ok(())
    }

    /// A launch makes 2^level rows one, until each run is one row.
    fn sum_row_runs<T: Element>(
        &self,
        scratch: &mut Scratch,
        items: Items<'_, T>,
        width: usize,
        lengths: &[usize],
        results: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        let columns = width.min(COLUMNS_MAX).next_power_of_two();
        let columns = u32::try_from(columns).expect("there are at most 32");
        let level = (THREAD_ROWS * THREADS / columns).ilog2();
        let kernel = &self.kernels::<T>().sum_row_runs;
        let mut source = items.pointer;
        let mut lengths = lengths.to_vec();
        let mut which = 0;
        loop {
            let blocks = Blocks::new(&lengths, level);
            let rows = usize::try_from(blocks.count()).expect("there are fewer blocks than rows");
            let words = (rows * width * size_of::<T>()).div_ceil(size_of::<u64>());
            let into = scratch.partials(which, words, &self.stream)?;
            let far = self.far(&blocks)?;
            let runs = blocks.argument(far.as_ref().map(Buffer::pointer));
            self.launch_rows(kernel, source, &blocks, runs, width as u64, columns, into)?;
            lengths = blocks.lengths();
            if lengths.iter().all(|&length| length == 1) {
                return copy_rows(&scratch.partials[which], results);
            }
            (source, which) = (into, 1 - which);
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are the kernel's")]
    fn launch_rows(
        &self,
        kernel: &CudaFunction,
        source: u64,
        blocks: &Blocks,
        runs: crate::runs::Runs,
        width: u64,
        columns: u32,
        into: u64,
    ) -> Result<(), Error> {
        let mut launch = self.stream.launch_builder(kernel);
        launch.arg(&source).arg(&runs);
        launch.arg(&width).arg(&columns).arg(&into);
        let tiles = width.div_ceil(columns.into());
        // SAFETY: the arguments are those of `sum_row_runs`. The runs are within the rows, and there is room for a row for each block.
        #[expect(unsafe_code, reason = "a kernel")]
        unsafe { launch.launch(config(blocks.count() * tiles)?) }
            .during("starting a sum of rows")?;
        Ok(())
    }

    /// A table of runs in device memory, if it is too long for an argument.
    fn far(&self, blocks: &Blocks) -> Result<Option<Buffer<u64>>, Error> {
        if blocks.are_near() {
            return Ok(None);
        }
        let table = [&blocks.starts[..], &blocks.blocks].concat();
        Buffer::copy_of(&self.stream, &table).map(Some)
    }
}

/// Copies rows from memory that is taken for words.
fn copy_rows<T: Element>(memory: &Buffer<u64>, results: &mut [T]) -> Result<(), Error>
where
    Sum: Operator<T>,
{
    let bytes = size_of_val(results);
    let mut words = vec![0; bytes.div_ceil(size_of::<u64>())];
    memory.copy_to(&mut words)?;
    let values: &[T] = bytemuck::cast_slice(&words);
    results.copy_from_slice(&values[..results.len()]);
    Ok(())
}

/// A launch of so many blocks.
pub(crate) fn config(blocks: u64) -> Result<LaunchConfig, Error> {
    let most = i32::MAX.cast_unsigned();
    let blocks = u32::try_from(blocks)
        .ok()
        .filter(|&blocks| blocks <= most)
        .ok_or_else(|| Error::Lengths(format!("{blocks} blocks are more than a launch has")))?;
    Ok(LaunchConfig {
        grid_dim: (blocks, 1, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    })
}
