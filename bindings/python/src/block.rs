//! Provides aligned memory for the values of a block.

use std::ops::{Deref, DerefMut};

use bytemuck::Pod;

const LINE_BYTES: usize = 64;

/// The values of a block, aligned to a cache line, because kernels load whole lines, and copies of columns store whole lines.
#[derive(Debug)]
pub(crate) struct Block<T> {
    memory: Vec<T>,
    first: usize,
    len: usize,
}

impl<T> Default for Block<T> {
    fn default() -> Self {
        Self {
            memory: Vec::new(),
            first: 0,
            len: 0,
        }
    }
}

impl<T: Pod> Block<T> {
    /// Returns memory for `len` values, which may hold values of earlier blocks.
    pub(crate) fn room(&mut self, len: usize) -> &mut [T] {
        // The allocator aligns to fewer bytes than a line.
        let spare = LINE_BYTES / size_of::<T>();
        self.memory.resize(len + spare, T::zeroed());
        let to_line = self.memory.as_ptr().align_offset(LINE_BYTES);
        self.first = to_line.min(spare);
        self.len = len;
        self
    }
}

impl<T> Deref for Block<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.memory[self.first..][..self.len]
    }
}

impl<T> DerefMut for Block<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory[self.first..][..self.len]
    }
}
