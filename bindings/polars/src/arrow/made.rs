//! Makes the columns that are passed to Polars, which releases them.

use std::ffi::{CString, c_void};
use std::ptr;

use super::data_type::DataType;
use super::layout::{ArrowArray, ArrowSchema, SeriesExport};

/// The items of a column to make.
#[derive(Debug)]
pub(crate) enum Made {
    F64(Vec<Option<f64>>),
    F32(Vec<Option<f32>>),
    I64(Vec<Option<i64>>),
    U64(Vec<Option<u64>>),
    Bytes(Vec<Option<Vec<u8>>>),
}

/// The buffers of an array, and the memory to free when the array is released.
struct Held {
    buffers: [*const c_void; 3],
    _values: Box<dyn Send>,
    _validity: Vec<u8>,
}

impl Made {
    /// Makes a column of this name.
    pub(crate) fn export(self, name: &str) -> SeriesExport {
        let (data_type, array) = match self {
            Self::F64(items) => (DataType::Float64, array(items)),
            Self::F32(items) => (DataType::Float32, array(items)),
            Self::I64(items) => (DataType::Int64, array(items)),
            Self::U64(items) => (DataType::UInt64, array(items)),
            Self::Bytes(items) => (DataType::BINARY, array_of_bytes(items)),
        };
        let array = Box::into_raw(Box::new(array));
        let arrays = Box::into_raw(Box::new(array));
        SeriesExport {
            field: Box::into_raw(Box::new(ArrowSchema::of(name, &data_type))),
            arrays,
            len: 1,
            release: Some(release_series),
            // If this pointer is not null, Polars assumes that there is a column.
            private_data: arrays.cast(),
        }
    }
}

impl ArrowSchema {
    pub(crate) fn of(name: &str, data_type: &DataType) -> Self {
        let format = data_type.format().expect("a made column has a format");
        // A name from Polars has no zero byte.
        let texts = [format, name].map(|text| CString::new(text).unwrap_or_default());
        let texts = Box::new(texts);
        let [format, name] = texts.each_ref().map(|text| text.as_ptr());
        Self {
            format,
            name,
            metadata: ptr::null(),
            // ARROW_FLAG_NULLABLE.
            flags: 2,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_schema),
            private_data: Box::into_raw(texts).cast(),
        }
    }
}

fn array<T: Copy + Default + Send + 'static>(items: Vec<Option<T>>) -> ArrowArray {
    let validity = MadeValidity::of(&items);
    let values: Vec<T> = items.iter().map(|item| item.unwrap_or_default()).collect();
    // Moving a vector does not move its elements.
    let buffers = [values.as_ptr().cast(), ptr::null()];
    validity.array(2, buffers, Box::new(values))
}

/// An array of byte items: offsets, and the bytes of all items one after the other.
fn array_of_bytes(items: Vec<Option<Vec<u8>>>) -> ArrowArray {
    let validity = MadeValidity::of(&items);
    let (mut bounds, mut bytes) = (vec![0_i64], Vec::new());
    for item in items {
        bytes.extend(item.unwrap_or_default());
        bounds.push(bytes.len() as i64);
    }
    let buffers = [bounds.as_ptr().cast(), bytes.as_ptr().cast()];
    validity.array(3, buffers, Box::new((bounds, bytes)))
}

struct MadeValidity {
    bits: Vec<u8>,
    len: usize,
    null_count: usize,
}

impl MadeValidity {
    fn of<T>(items: &[Option<T>]) -> Self {
        let null_count = items.iter().filter(|item| item.is_none()).count();
        let mut bits = Vec::new();
        if null_count > 0 {
            bits = vec![0_u8; items.len().div_ceil(8)];
            let valid = items.iter().enumerate().filter(|(_, item)| item.is_some());
            for (place, _) in valid {
                bits[place / 8] |= 1 << (place % 8);
            }
        }
        let len = items.len();
        Self {
            bits,
            len,
            null_count,
        }
    }

    /// An array of these buffers. It owns `values`, which holds the memory of the buffers.
    fn array(
        self,
        n_buffers: i64,
        [first, second]: [*const c_void; 2],
        values: Box<dyn Send>,
    ) -> ArrowArray {
        let bits = if self.bits.is_empty() {
            ptr::null()
        } else {
            self.bits.as_ptr().cast()
        };
        let [length, null_count] = [self.len, self.null_count].map(|count| count as i64);
        let held = Box::into_raw(Box::new(Held {
            buffers: [bits, first, second],
            _values: values,
            _validity: self.bits,
        }));
        ArrowArray {
            length,
            null_count,
            offset: 0,
            n_buffers,
            n_children: 0,
            // SAFETY: `held` was just made; the address of its field is taken without a reference.
            buffers: unsafe { &raw mut (*held).buffers }.cast(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: Some(release_array),
            private_data: held.cast(),
        }
    }
}

/// # Safety
/// `schema` was made here and has not been released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: guaranteed by the caller.
    let schema = unsafe { &mut *schema };
    schema.release = None;
    // SAFETY: `of` made the pointer from a box of this type, which is released once.
    drop(unsafe { Box::from_raw(schema.private_data.cast::<[CString; 2]>()) });
}

/// # Safety
/// `array` was made here and has not been released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: guaranteed by the caller.
    let array = unsafe { &mut *array };
    array.release = None;
    // SAFETY: `array` made the pointer from a box of this type, which is released once.
    drop(unsafe { Box::from_raw(array.private_data.cast::<Held>()) });
}

/// Releases everything except the array. The reader of the column has moved the array, and releases it separately.
///
/// # Safety
/// `series` was made here and has not been released.
unsafe extern "C" fn release_series(series: *mut SeriesExport) {
    // SAFETY: guaranteed by the caller.
    let series = unsafe { &mut *series };
    series.release = None;
    // SAFETY: `export` made the pointer from a box of this type, which is released once.
    let mut field = unsafe { Box::from_raw(series.field) };
    if let Some(release) = field.release {
        // SAFETY: `field` has not been released.
        unsafe { release(&raw mut *field) };
    }
    // SAFETY: `export` made the pointer from a box of this type, which is released once.
    let array = unsafe { Box::from_raw(series.arrays) };
    // SAFETY: likewise; dropping the box does not release the array.
    drop(unsafe { Box::from_raw(*array) });
}
