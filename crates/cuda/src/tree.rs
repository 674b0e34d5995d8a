//! Sums items in a device's memory, in tree order.

use comm::text::counted;
use cudarc::driver::{LaunchConfig, PushKernelArg};
use reduce::{FoldError, Operator, Sum, environment};

use crate::device::{Device, Scratch, THREADS};
use crate::error::{During, Error};
use crate::items::{Buffer, Element, Items};
use crate::runs::Blocks;

/// The bytes that each thread loads at once, as in `kernels.cu`.
const LOAD_BYTES: usize = 8 * 16;

/// The binary logarithm of the maximum number of tiles of a block: each lane of a warp keeps the sum of one tile.
const TILES_LOG2_MAX: u32 = 5;

/// A launch has at most about this many blocks, since its last block folds all their results.
const BLOCKS: u64 = 2048;

/// The number of rows that a thread adds, as in `kernels.cu`.
const THREAD_ROWS: u32 = 64;
/// The maximum number of columns of a block.
const COLUMNS_MAX: usize = 32;

impl Device {
    /// The sum of the items in tree order, with the bits of [`reduce::sum`]; 0 for no items.
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

    /// The sums of the columns of rows of `width` values in tree order, with the bits of [`reduce::sum_rows`].
    ///
    /// # Errors
    /// The items are not whole rows, `result` is not as long as a row, or the driver fails.
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
            let (values, width) = (items.len() as u64, width as u64);
            return Err(FoldError::NotRows { values, width }.into());
        }
        if result.len() != width {
            let (width, found) = (width as u64, result.len() as u64);
            return Err(FoldError::ResultLength { width, found }.into());
        }
        if items.is_empty() {
            result.fill(T::zeroed());
            return Ok(());
        }
        self.fold_runs(items, width, &[items.len() / width], result)?;
        Operator::<T>::make_canonical(&Sum, result);
        Ok(())
    }

    /// Sums consecutive runs of rows. The sum of the next `lengths[k]` rows, of `width` values each, becomes row k of `results`. As in the
    /// results of [`Operator::fold_runs`] and [`Operator::fold_rows`], NaNs are not canonical yet.
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
        environment::check().map_err(FoldError::from)?;
        if let Some(index) = lengths.iter().position(|&length| length == 0) {
            return Err(Error::Lengths(format!("run {index} has no rows")));
        }
        let rows = lengths.iter().fold(0_u128, |rows, &one| rows + one as u128);
        let values = |rows: u128| counted(rows * width as u128, "value");
        if rows * width as u128 != items.len() as u128 {
            let (runs, found) = (values(rows), counted(items.len(), "value"));
            return Err(Error::Lengths(format!(
                "the runs have {runs}, but there are {found}"
            )));
        }
        if results.len() as u128 != lengths.len() as u128 * width as u128 {
            let (needed, found) = (values(lengths.len() as u128), results.len());
            return Err(Error::Lengths(format!(
                "the sums of the runs have {needed}, but there is room for {found}"
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

    /// Sums runs in one launch: blocks sum items, and the last block sums their results.
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
        // SAFETY: the arguments are those of `sum_runs`. The runs are within the items, and the caller of `items`, or a buffer, guarantees that the
        // items exist. There is room for a partial sum of each block and for a result of each run, and the counter is 0. Nothing else uses the
        // scratch memory until this call has waited.
        #[expect(unsafe_code, reason = "a kernel")]
        unsafe { launch.launch(config(blocks.count())?) }.during("starting a sum")?;
        self.wait()?;
        let words: &[T] = bytemuck::cast_slice(scratch.results.words());
        results.copy_from_slice(&words[..results.len()]);
        Ok(())
    }

    /// Launches kernels until each run is one row. Each launch reduces every 2^level rows of a run to one row.
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
        let row = width as u64;
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
            let kernel = &self.kernels::<T>().sum_row_runs;
            let mut launch = self.stream.launch_builder(kernel);
            launch.arg(&source).arg(&runs);
            launch.arg(&row).arg(&columns).arg(&into);
            let grid = config(blocks.count() * row.div_ceil(columns.into()))?;
            // SAFETY: the arguments are those of `sum_row_runs`. The runs are within the items, or within the rows that the previous launch wrote,
            // and there is room for one row per block.
            #[expect(unsafe_code, reason = "a kernel")]
            unsafe { launch.launch(grid) }.during("starting a sum of rows")?;
            lengths = blocks.lengths();
            if lengths.iter().all(|&length| length == 1) {
                return copy_rows(&scratch.partials[which], results);
            }
            (source, which) = (into, 1 - which);
        }
    }

    /// A table of runs in device memory, if the runs are too many for an argument.
    fn far(&self, blocks: &Blocks) -> Result<Option<Buffer<u64>>, Error> {
        if blocks.are_near() {
            return Ok(None);
        }
        let table = [&blocks.starts[..], &blocks.blocks].concat();
        Buffer::copy_of(&self.stream, &table).map(Some)
    }
}

/// Copies rows from device memory that is typed as words.
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

/// The configuration of a launch of this many blocks.
pub(crate) fn config(blocks: u64) -> Result<LaunchConfig, Error> {
    let most = i32::MAX.cast_unsigned();
    let blocks = u32::try_from(blocks)
        .ok()
        .filter(|&blocks| blocks <= most)
        .ok_or_else(|| Error::Lengths(format!("{blocks} blocks are too many for a launch")))?;
    Ok(LaunchConfig {
        grid_dim: (blocks, 1, 1),
        block_dim: (THREADS, 1, 1),
        shared_mem_bytes: 0,
    })
}
