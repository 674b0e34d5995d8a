//! Reads and writes DuckDB's vectors as slices. The vectors of a chunk are flat, since the C API flattens them before it calls a function.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::slice;

use libduckdb_sys::{
    DUCKDB_TYPE_DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DUCKDB_TYPE_BLOB, DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE,
    DUCKDB_TYPE_DUCKDB_TYPE_FLOAT, DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT, duckdb_create_list_type,
    duckdb_create_logical_type, duckdb_data_chunk, duckdb_data_chunk_get_size,
    duckdb_data_chunk_get_vector, duckdb_destroy_logical_type, duckdb_hugeint, duckdb_list_entry,
    duckdb_list_vector_get_child, duckdb_list_vector_get_size, duckdb_logical_type,
    duckdb_string_t, duckdb_string_t_data, duckdb_string_t_length, duckdb_type,
    duckdb_validity_set_row_invalid, duckdb_vector, duckdb_vector_assign_string_element_len,
    duckdb_vector_ensure_validity_writable, duckdb_vector_get_column_type, duckdb_vector_get_data,
    duckdb_vector_get_validity,
};

use crate::functions::Error;

/// A DuckDB type. Dropping the value frees the type.
pub(super) struct Type(pub(super) duckdb_logical_type);

impl Type {
    pub(super) fn of(kind: duckdb_type) -> Self {
        // SAFETY: the type has no parameters.
        Self(unsafe { duckdb_create_logical_type(kind) })
    }

    pub(super) fn list_of(kind: duckdb_type) -> Self {
        let items = Self::of(kind);
        // SAFETY: the items' type is live, and DuckDB copies it.
        Self(unsafe { duckdb_create_list_type(items.0) })
    }
}

impl Drop for Type {
    fn drop(&mut self) {
        // SAFETY: the type is freed once.
        unsafe { duckdb_destroy_logical_type(&raw mut self.0) };
    }
}

/// A Rust type with a DuckDB counterpart.
pub(super) trait Native: Copy + 'static {
    const TYPE: duckdb_type;

    /// The type of an element in a vector. Any bits are a valid value.
    type Stored: Copy + 'static;

    fn of_slice(stored: &[Self::Stored]) -> Cow<'_, [Self]>;

    fn stored(self) -> Self::Stored;
}

/// Implements [`Native`] for types whose bytes are the same in DuckDB and in Rust.
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

    #[expect(clippy::cast_possible_truncation, reason = "each cast keeps one half")]
    fn stored(self) -> duckdb_hugeint {
        duckdb_hugeint {
            lower: self.cast_unsigned() as u64,
            upper: (self >> 64) as i64,
        }
    }
}

/// The arguments of a row.
pub(super) trait Arguments: Clone {
    const COLUMNS: usize;

    /// Returns the values of all rows. For a NULL, the value is arbitrary.
    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Result<Cow<'c, [Self]>, Error>;
}

impl<T: Native> Arguments for T {
    const COLUMNS: usize = 1;

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Result<Cow<'c, [Self]>, Error> {
        Ok(chunk.column(0).items())
    }
}

impl<X: Native, Y: Native> Arguments for (X, Y) {
    const COLUMNS: usize = 2;

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Result<Cow<'c, [Self]>, Error> {
        let (x, y) = (chunk.column(0).items(), chunk.column(1).items());
        Ok(x.iter().copied().zip(y.iter().copied()).collect())
    }
}

/// A BLOB argument.
impl Arguments for Box<[u8]> {
    const COLUMNS: usize = 1;

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Result<Cow<'c, [Self]>, Error> {
        let column = chunk.column(0);
        let validity = column.validity();
        let bytes = |row| column.bytes(row, validity).unwrap_or_default().into();
        Ok((0..chunk.rows).map(bytes).collect())
    }
}

/// The arguments of a call.
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

/// A column of arguments.
pub(super) struct Vector<'c> {
    vector: duckdb_vector,
    rows: usize,
    call: PhantomData<&'c ()>,
}

impl<'c> Vector<'c> {
    /// Returns the values of all rows. For a NULL, the value is arbitrary.
    pub(super) fn items<T: Native>(&self) -> Cow<'c, [T]> {
        T::of_slice(self.stored())
    }

    /// Returns where each list begins in the items of [`child`](Self::child), and how long it is.
    pub(super) fn lists(&self) -> &'c [duckdb_list_entry] {
        self.stored()
    }

    pub(super) fn kind(&self) -> Type {
        // SAFETY: the vector is live.
        Type(unsafe { duckdb_vector_get_column_type(self.vector) })
    }

    /// Returns the bytes of a row in a BLOB column, or `None` if the row is NULL.
    pub(super) fn bytes(&self, row: usize, validity: Option<Validity<'c>>) -> Option<&'c [u8]> {
        if validity.is_some_and(|validity| !validity.has(row)) {
            return None;
        }
        let strings: &'c [duckdb_string_t] = self.stored();
        let string = &strings[row];
        // SAFETY: DuckDB made the string.
        let length = unsafe { duckdb_string_t_length(*string) };
        // SAFETY: as above. The string is only read.
        let data = unsafe { duckdb_string_t_data((&raw const *string).cast_mut()) };
        // SAFETY: the string has `length` bytes, which live as long as the vector; nothing writes them during the call.
        Some(unsafe { slice::from_raw_parts(data.cast(), length as usize) })
    }

    pub(super) fn stored<S>(&self) -> &'c [S] {
        // SAFETY: the vector is live.
        let data = unsafe { duckdb_vector_get_data(self.vector) };
        if self.rows == 0 {
            return &[];
        }
        // SAFETY: a flat vector has an aligned element of its type for each row, which nothing writes during the call. Any bits are valid.
        unsafe { slice::from_raw_parts(data.cast(), self.rows) }
    }

    /// Returns the items of all lists in one vector.
    pub(super) fn child(&self) -> Self {
        // SAFETY: the vector is live, and holds lists.
        let vector = unsafe { duckdb_list_vector_get_child(self.vector) };
        // SAFETY: as above.
        let rows = unsafe { duckdb_list_vector_get_size(self.vector) };
        Self {
            vector,
            rows: usize::try_from(rows).expect("a vector is in memory"),
            call: PhantomData,
        }
    }

    /// Returns which rows have a value, or `None` if all rows do.
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

/// For each row, a bit that says whether the row has a value.
#[derive(Clone, Copy)]
pub(super) struct Validity<'c>(&'c [u64]);

impl Validity<'_> {
    pub(super) fn has(self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 == 1
    }
}

/// A type that a function can return.
pub(super) trait Written {
    const TYPE: duckdb_type;

    /// Writes the value to a row of a vector.
    ///
    /// # Safety
    /// The vector is live, flat and of this type, has this row, and nothing else uses it.
    unsafe fn write(self, vector: duckdb_vector, row: usize);
}

impl<T: Native> Written for T {
    const TYPE: duckdb_type = <T as Native>::TYPE;

    unsafe fn write(self, vector: duckdb_vector, row: usize) {
        // SAFETY: the vector is live.
        let data = unsafe { duckdb_vector_get_data(vector) };
        // SAFETY: the vector has a place for the row.
        let place = unsafe { data.cast::<T::Stored>().add(row) };
        // SAFETY: the place is aligned, and nothing else uses it.
        unsafe { place.write(self.stored()) };
    }
}

impl Written for Vec<u8> {
    const TYPE: duckdb_type = DUCKDB_TYPE_DUCKDB_TYPE_BLOB;

    unsafe fn write(self, vector: duckdb_vector, row: usize) {
        let (data, length) = (self.as_ptr().cast(), self.len() as u64);
        // SAFETY: the vector holds BLOBs and has the row; DuckDB copies `length` bytes.
        unsafe { duckdb_vector_assign_string_element_len(vector, row as u64, data, length) };
    }
}

/// A vector of results of one type.
pub(super) struct Output<T: Written> {
    vector: duckdb_vector,
    items: PhantomData<T>,
}

impl<T: Written> Output<T> {
    /// # Safety
    /// The vector is flat and of this type, it outlives the returned value, and nothing else uses it.
    pub(super) unsafe fn new(vector: duckdb_vector) -> Self {
        Self {
            vector,
            items: PhantomData,
        }
    }

    /// Writes a value to a row, and NULL for `None`.
    ///
    /// # Safety
    /// The vector has this row.
    pub(super) unsafe fn write(&mut self, row: usize, value: Option<T>) {
        match value {
            // SAFETY: guaranteed by the caller.
            Some(value) => unsafe { value.write(self.vector, row) },
            // SAFETY: guaranteed by the caller.
            None => unsafe { self.write_null(row) },
        }
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
