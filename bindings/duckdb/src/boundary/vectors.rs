//! DuckDB's vectors as slices. A chunk's vectors are flat: the C API flattens them before it calls.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::slice;

use libduckdb_sys::{
    DUCKDB_TYPE_DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_DUCKDB_TYPE_FLOAT,
    DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT, duckdb_data_chunk, duckdb_data_chunk_get_size,
    duckdb_data_chunk_get_vector, duckdb_hugeint, duckdb_list_entry, duckdb_list_vector_get_child,
    duckdb_list_vector_get_size, duckdb_type, duckdb_validity_set_row_invalid, duckdb_vector,
    duckdb_vector_ensure_validity_writable, duckdb_vector_get_data, duckdb_vector_get_validity,
};

/// A type of Rust, and how DuckDB has it.
pub(super) trait Native: Copy + 'static {
    const TYPE: duckdb_type;

    /// As it lies in a vector. Any bits are one.
    type Stored: Copy + 'static;

    fn of_slice(stored: &[Self::Stored]) -> Cow<'_, [Self]>;

    fn stored(self) -> Self::Stored;
}

/// A type that is stored as it is.
macro_rules! native {
    ($($native:ident: $kind:ident)*) => {$(
        impl Native for $native {
            const TYPE: duckdb_type = $kind;
            type Stored = Self;

            fn of_slice(stored: &[Self]) -> Cow<'_, [Self]> {
                Cow::Borrowed(stored)
            }

            fn stored(self) -> Self {
                self
            }
        }
    )*};
}

native!(f64: DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE f32: DUCKDB_TYPE_DUCKDB_TYPE_FLOAT i64: DUCKDB_TYPE_DUCKDB_TYPE_BIGINT);

impl Native for i128 {
    const TYPE: duckdb_type = DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT;
    type Stored = duckdb_hugeint;

    fn of_slice(stored: &[duckdb_hugeint]) -> Cow<'_, [Self]> {
        let integer = |huge: &duckdb_hugeint| Self::from(huge.upper) << 64 | Self::from(huge.lower);
        stored.iter().map(integer).collect()
    }

    #[expect(clippy::cast_possible_truncation, reason = "two halves")]
    fn stored(self) -> duckdb_hugeint {
        duckdb_hugeint {
            lower: self.cast_unsigned() as u64,
            upper: (self >> 64) as i64,
        }
    }
}

/// The arguments of a row.
pub(super) trait Arguments: Copy {
    const TYPES: &[duckdb_type];

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Cow<'c, [Self]>;
}

impl<T: Native> Arguments for T {
    const TYPES: &[duckdb_type] = &[T::TYPE];

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Cow<'c, [Self]> {
        chunk.column(0).items()
    }
}

impl<X: Native, Y: Native> Arguments for (X, Y) {
    const TYPES: &[duckdb_type] = &[X::TYPE, Y::TYPE];

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Cow<'c, [Self]> {
        let (x, y) = (chunk.column(0).items(), chunk.column(1).items());
        x.iter().copied().zip(y.iter().copied()).collect()
    }
}

/// What a function is called with.
pub(super) struct Chunk<'c> {
    chunk: duckdb_data_chunk,
    pub(super) rows: usize,
    call: PhantomData<&'c ()>,
}

impl<'c> Chunk<'c> {
    /// # Safety
    /// The chunk is live for `'c`, its vectors are flat, and their types are those that the function was registered with.
    pub(super) unsafe fn new(chunk: duckdb_data_chunk) -> Self {
        // SAFETY: the chunk is live.
        let rows = unsafe { duckdb_data_chunk_get_size(chunk) };
        Self {
            chunk,
            rows: usize::try_from(rows).expect("a chunk is in memory"),
            call: PhantomData,
        }
    }

    pub(super) fn column(&self, number: u64) -> Vector<'c> {
        // SAFETY: the chunk is live, and has a vector for each argument.
        let vector = unsafe { duckdb_data_chunk_get_vector(self.chunk, number) };
        Vector {
            vector,
            rows: self.rows,
            call: PhantomData,
        }
    }
}

/// A column that is read.
pub(super) struct Vector<'c> {
    vector: duckdb_vector,
    rows: usize,
    call: PhantomData<&'c ()>,
}

impl<'c> Vector<'c> {
    /// Those of all rows. Of a NULL it is anything.
    pub(super) fn items<T: Native>(&self) -> Cow<'c, [T]> {
        T::of_slice(self.stored())
    }

    /// The lists' places among the items of [`child`](Self::child).
    pub(super) fn lists(&self) -> &'c [duckdb_list_entry] {
        self.stored()
    }

    fn stored<S>(&self) -> &'c [S] {
        // SAFETY: the vector is live.
        let data = unsafe { duckdb_vector_get_data(self.vector) };
        if self.rows == 0 {
            return &[];
        }
        // SAFETY: a flat vector has an aligned place of its type for each row, which nobody writes during the call. Any bits are such a number.
        unsafe { slice::from_raw_parts(data.cast(), self.rows) }
    }

    /// All lists' items.
    pub(super) fn child(&self) -> Self {
        // SAFETY: the vector is live, and one of lists.
        let vector = unsafe { duckdb_list_vector_get_child(self.vector) };
        // SAFETY: as above.
        let rows = unsafe { duckdb_list_vector_get_size(self.vector) };
        Self {
            vector,
            rows: usize::try_from(rows).expect("a vector is in memory"),
            call: PhantomData,
        }
    }

    /// Which rows are no NULL; `None` if all are.
    pub(super) fn validity(&self) -> Option<Validity<'c>> {
        // SAFETY: the vector is live.
        let mask = unsafe { duckdb_vector_get_validity(self.vector) };
        if mask.is_null() {
            return None;
        }
        // SAFETY: a mask has a bit for each row.
        let words = unsafe { slice::from_raw_parts(mask, self.rows.div_ceil(64)) };
        let whole = self.rows / 64;
        let rest = words
            .get(whole)
            .map_or(0, |last| !last & ((1 << (self.rows % 64)) - 1));
        let are_all = words[..whole].iter().all(|word| *word == u64::MAX) && rest == 0;
        (!are_all).then_some(Validity(words))
    }
}

/// A bit for each row.
#[derive(Clone, Copy)]
pub(super) struct Validity<'c>(&'c [u64]);

impl Validity<'_> {
    pub(super) fn has(self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }
}

/// A vector that is written, of items of a type.
pub(super) struct Output<T: Native> {
    vector: duckdb_vector,
    items: *mut T::Stored,
}

impl<T: Native> Output<T> {
    /// # Safety
    /// The vector is flat, of this type, and live for as long as this is, and nothing else uses it.
    pub(super) unsafe fn new(vector: duckdb_vector) -> Self {
        // SAFETY: the vector is live.
        let data = unsafe { duckdb_vector_get_data(vector) };
        Self {
            vector,
            items: data.cast(),
        }
    }

    /// Writes a row, `None` as NULL.
    ///
    /// # Safety
    /// The vector has this row.
    pub(super) unsafe fn write(&mut self, row: usize, value: Option<T>) {
        let Some(value) = value else {
            // SAFETY: the caller says so.
            return unsafe { self.write_null(row) };
        };
        // SAFETY: the vector has a place for the row.
        let place = unsafe { self.items.add(row) };
        // SAFETY: the place is aligned, and this is the only one that uses it.
        unsafe { place.write(value.stored()) };
    }

    /// # Safety
    /// The vector has this row.
    #[cold]
    unsafe fn write_null(&mut self, row: usize) {
        // SAFETY: the vector is live.
        unsafe { duckdb_vector_ensure_validity_writable(self.vector) };
        // SAFETY: the vector is live.
        let mask = unsafe { duckdb_vector_get_validity(self.vector) };
        // SAFETY: the mask has a bit for the row.
        unsafe { duckdb_validity_set_row_invalid(mask, row as u64) };
    }
}
