//! Defines the structures of the plugin interface.
//!
//! Their fields are those of Arrow's C data interface, and of `SeriesExport` in Polars' crate `polars-ffi`, version 0.1.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

/// The name and type of a column.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrowSchema {
    pub(super) format: *const c_char,
    pub(super) name: *const c_char,
    pub(super) metadata: *const c_char,
    pub(super) flags: i64,
    pub(super) n_children: i64,
    pub(super) children: *mut *mut ArrowSchema,
    pub(super) dictionary: *mut ArrowSchema,
    pub(super) release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub(super) private_data: *mut c_void,
}

/// The items of a chunk of a column.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct ArrowArray {
    pub(super) length: i64,
    pub(super) null_count: i64,
    pub(super) offset: i64,
    pub(super) n_buffers: i64,
    pub(super) n_children: i64,
    pub(super) buffers: *mut *const c_void,
    pub(super) children: *mut *mut ArrowArray,
    pub(super) dictionary: *mut ArrowArray,
    pub(super) release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub(super) private_data: *mut c_void,
}

/// A column: its field and its chunks.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct SeriesExport {
    pub(super) field: *mut ArrowSchema,
    pub(super) arrays: *mut *mut ArrowArray,
    pub(super) len: usize,
    pub(super) release: Option<unsafe extern "C" fn(*mut SeriesExport)>,
    pub(super) private_data: *mut c_void,
}

/// The creator of a schema, an array or a series promises that it conforms to the interface until it is released.
impl ArrowSchema {
    /// The name of the column; empty for NULL.
    pub(crate) fn name(&self) -> String {
        text(self.name)
    }

    /// The type, in Arrow's notation.
    pub(super) fn format(&self) -> String {
        text(self.format)
    }

    /// Whether items are indices into a dictionary.
    pub(super) fn is_dictionary(&self) -> bool {
        !self.dictionary.is_null()
    }

    /// The schema of a nested type's first child.
    pub(super) fn child(&self) -> Option<&Self> {
        if self.n_children < 1 || self.children.is_null() {
            return None;
        }
        // SAFETY: there are `n_children` pointers, so there is a first one.
        let child = unsafe { *self.children };
        // SAFETY: children live as long as their parent, and are not changed.
        unsafe { child.as_ref() }
    }
}

impl ArrowArray {
    /// The items of all lists, if this is a chunk of lists.
    pub(super) fn child(&self) -> Option<&Self> {
        if self.n_children < 1 || self.children.is_null() {
            return None;
        }
        // SAFETY: there are `n_children` pointers, so there is a first one.
        let child = unsafe { *self.children };
        // SAFETY: children live as long as their parent, and are not changed.
        unsafe { child.as_ref() }
    }

    /// The buffer of this index; `None` if the array does not have it.
    pub(super) fn buffer(&self, index: usize) -> Option<*const c_void> {
        let count = usize::try_from(self.n_buffers).unwrap_or(0);
        if index >= count || self.buffers.is_null() {
            return None;
        }
        // SAFETY: there are `n_buffers` pointers, more than `index`.
        let buffers = unsafe { slice::from_raw_parts(self.buffers, count) };
        Some(buffers[index]).filter(|buffer| !buffer.is_null())
    }
}

impl SeriesExport {
    /// Whether there is no column.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.private_data.is_null()
    }

    /// The pointers to the chunks. No pointer is null.
    pub(super) fn pointers(&self) -> &[*mut ArrowArray] {
        if self.arrays.is_null() {
            return &[];
        }
        // SAFETY: there are `len` pointers, which live as long as the column.
        unsafe { slice::from_raw_parts(self.arrays, self.len) }
    }
}

/// A string of the interface; empty for NULL.
fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: texts of the interface end with a zero byte.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_string_lossy().into_owned()
}

/// The items of a chunk of numbers.
pub(super) fn items<T: bytemuck::Pod>(array: &ArrowArray) -> Option<&[T]> {
    let len = usize::try_from(array.length).ok()?;
    let offset = usize::try_from(array.offset).ok()?;
    if len == 0 {
        return Some(&[]);
    }
    numbers(array.buffer(1)?, offset, len)
}

/// `len` numbers of a buffer; `None` if the buffer is not aligned for them. The numbers live as long
/// as the caller's array.
pub(super) fn numbers<'a, T: bytemuck::Pod>(
    buffer: *const c_void,
    offset: usize,
    len: usize,
) -> Option<&'a [T]> {
    let buffer = buffer.cast::<T>();
    if !buffer.is_aligned() {
        return None;
    }
    // SAFETY: a buffer has room for the numbers that its array's offset and length describe.
    let first = unsafe { buffer.add(offset) };
    // SAFETY: as above; all bits are valid numbers, and the buffer is not written before the array is released.
    Some(unsafe { slice::from_raw_parts(first, len) })
}
