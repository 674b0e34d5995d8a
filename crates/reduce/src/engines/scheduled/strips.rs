//! The strips of columns into which a long row is cut. Strips stay in cache, and run one after the other.

use super::program::{Program, columns};

/// The programs of an operation, for all strips of a row.
pub(super) struct ColumnStrips<P> {
    /// One program for the first strips, and a second program for the other strips if they have a column less.
    programs: Vec<Program<P>>,
    pub(super) count: usize,
    /// The number of strips that run the first program.
    wide: usize,
    /// The length of a whole row, in bytes.
    pub(super) width: usize,
    /// The length of the result that all strips together leave on this rank, in bytes.
    pub(super) result_length: usize,
    /// Whether this rank's rows and the result stay in the caller's slices, outside the workspace.
    pub(super) uses_caller_memory: bool,
}

impl<P> ColumnStrips<P> {
    /// Cuts a row of `width` items into `count` strips, as evenly as possible. `compile` makes the program of a strip from its width.
    pub(super) fn new(
        width: usize,
        item_bytes: usize,
        count: usize,
        uses_caller_memory: bool,
        compile: impl Fn(usize) -> Program<P>,
    ) -> Self {
        let width_of = |strip: usize| columns(width, count, strip).len();
        let (widest, narrowest) = (width_of(0), width_of(count - 1));
        let mut programs = vec![compile(widest)];
        if narrowest < widest {
            programs.push(compile(narrowest));
        }
        let mut strips = Self {
            programs,
            count,
            wide: (0..count)
                .filter(|&strip| width_of(strip) == widest)
                .count(),
            width: width * item_bytes,
            result_length: 0,
            uses_caller_memory,
        };
        let lengths = (0..count).map(|strip| strips.program(strip).result_length());
        strips.result_length = lengths.fold(0, |total, length| total + length);
        strips
    }

    #[inline]
    pub(super) fn program(&self, strip: usize) -> &Program<P> {
        &self.programs[usize::from(strip >= self.wide)]
    }

    /// The program of the first strip. Programs of other strips differ only in lengths.
    pub(super) fn first(&self) -> &Program<P> {
        &self.programs[0]
    }

    /// The different programs, one or two.
    pub(super) fn programs(&self) -> &[Program<P>] {
        &self.programs
    }
}
