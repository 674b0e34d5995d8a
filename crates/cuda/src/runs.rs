//! Divides runs of items into the blocks of a launch.

use cudarc::driver::DeviceRepr;

/// The maximum number of runs that fit into a kernel's argument.
pub(crate) const NEAR_RUNS: usize = 64;

/// The argument `Runs` of `kernels.cu`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Runs {
    count: u32,
    level: u32,
    far_starts: u64,
    far_blocks: u64,
    near_starts: [u64; NEAR_RUNS + 1],
    near_blocks: [u64; NEAR_RUNS + 1],
}

// SAFETY: the kernels' struct has the same fields in the same order, and they are integers of the same sizes.
#[expect(unsafe_code, reason = "a kernel's argument")]
unsafe impl DeviceRepr for Runs {}

/// Consecutive runs of items or of rows, each divided into blocks of 2^level items or rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    pub(crate) level: u32,
    /// The start of each run, then the end of the last run.
    pub(crate) starts: Vec<u64>,
    /// The first block of each run, then the number of all blocks.
    pub(crate) blocks: Vec<u64>,
}

impl Blocks {
    /// The blocks for runs of these lengths, which must all be at least 1.
    pub(crate) fn new(lengths: &[usize], level: u32) -> Self {
        let (mut start, mut block) = (0_u64, 0_u64);
        let (mut starts, mut blocks) = (vec![start], vec![block]);
        for &length in lengths {
            start += length as u64;
            block += (length as u64).div_ceil(1 << level);
            starts.push(start);
            blocks.push(block);
        }
        Self {
            level,
            starts,
            blocks,
        }
    }

    /// The number of all blocks.
    pub(crate) fn count(&self) -> u64 {
        *self.blocks.last().expect("there is an end")
    }

    /// The number of blocks of each run.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        let length = |pair: &[u64]| usize::try_from(pair[1] - pair[0]).expect("a run's length");
        self.blocks.windows(2).map(length).collect()
    }

    /// Whether the runs fit into an argument.
    pub(crate) fn are_near(&self) -> bool {
        self.starts.len() <= NEAR_RUNS + 1
    }

    /// The runs as an argument. If the runs do not fit, `far` is the address in device memory of the starts, followed by the blocks.
    pub(crate) fn argument(&self, far: Option<u64>) -> Runs {
        let mut runs = Runs {
            count: u32::try_from(self.starts.len() - 1).expect("there are fewer than 2^32 runs"),
            level: self.level,
            far_starts: 0,
            far_blocks: 0,
            near_starts: [0; NEAR_RUNS + 1],
            near_blocks: [0; NEAR_RUNS + 1],
        };
        if let Some(far) = far {
            runs.far_starts = far;
            runs.far_blocks = far + size_of_val(&self.starts[..]) as u64;
        } else {
            runs.near_starts[..self.starts.len()].copy_from_slice(&self.starts);
            runs.near_blocks[..self.blocks.len()].copy_from_slice(&self.blocks);
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::Blocks;

    #[test]
    fn runs_are_cut_into_blocks() {
        let blocks = Blocks::new(&[1, 8, 9, 3], 3);
        assert_eq!(blocks.starts, [0, 1, 9, 18, 21]);
        assert_eq!(blocks.blocks, [0, 1, 2, 4, 5]);
        assert_eq!(blocks.lengths(), [1, 1, 2, 1]);
    }
}
