//! Reads columns of numbers of any DuckDB type.

use std::borrow::Cow;

use libduckdb_sys::{
    DUCKDB_TYPE_DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL,
    DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_DUCKDB_TYPE_FLOAT, DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT,
    DUCKDB_TYPE_DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT,
    DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL, DUCKDB_TYPE_DUCKDB_TYPE_TINYINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT, DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER, DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT, duckdb_decimal_internal_type, duckdb_decimal_scale,
    duckdb_get_type_id, duckdb_type, duckdb_uhugeint,
};

use super::vectors::{Arguments, Chunk, Vector};
use crate::functions::{Error, Number};

/// The integer types. Each needs its own overload of the sum. Otherwise DuckDB would choose the overload for ANY, which returns a DOUBLE.
pub(super) const INTEGERS: [duckdb_type; 10] = [
    DUCKDB_TYPE_DUCKDB_TYPE_TINYINT,
    DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT,
    DUCKDB_TYPE_DUCKDB_TYPE_INTEGER,
    DUCKDB_TYPE_DUCKDB_TYPE_BIGINT,
    DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT,
    DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER,
    DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT,
    DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT,
];

impl<const N: usize> Arguments for [Number; N] {
    const COLUMNS: usize = N;

    fn of_chunk<'c>(chunk: &Chunk<'c>) -> Result<Cow<'c, [Self]>, Error> {
        let mut rows = vec![[Number::Beyond; N]; chunk.rows];
        let places = 0..N;
        for place in places {
            let column = chunk.column(place as u64);
            let write = |row: usize, number| rows[row][place] = number;
            if !read(&column, write) {
                let argument = if N == 1 {
                    "the argument".to_owned()
                } else {
                    format!("argument {}", place + 1)
                };
                return Err(format!("{argument} is not a number; cast it to DOUBLE"));
            }
        }
        Ok(rows.into())
    }
}

/// Reads a column. Returns false if the column does not hold numbers.
fn read(column: &Vector<'_>, mut write: impl FnMut(usize, Number)) -> bool {
    let of_column = column.kind();
    // SAFETY: the type is live.
    let mut kind = unsafe { duckdb_get_type_id(of_column.0) };
    let mut scale = 0;
    if kind == DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL {
        // SAFETY: the type is a decimal.
        scale = unsafe { duckdb_decimal_scale(of_column.0) };
        // SAFETY: as above.
        kind = unsafe { duckdb_decimal_internal_type(of_column.0) };
    }
    macro_rules! integers {
        ($integer:ty) => {
            column.each(|row, item: $integer| write(row, Number::Integer(item.into(), scale)))
        };
    }
    match kind {
        DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => column.each(|row, item| write(row, Number::Double(item))),
        DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => {
            column.each(|row, item: f32| write(row, Number::Double(item.into())));
        }
        DUCKDB_TYPE_DUCKDB_TYPE_TINYINT => integers!(i8),
        DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT => integers!(i16),
        DUCKDB_TYPE_DUCKDB_TYPE_INTEGER => integers!(i32),
        DUCKDB_TYPE_DUCKDB_TYPE_BIGINT => integers!(i64),
        DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => integers!(u8),
        DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => integers!(u16),
        DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => integers!(u32),
        DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => integers!(u64),
        DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => {
            let items = column.items::<i128>();
            let items = items.iter().enumerate();
            items.for_each(|(row, item)| write(row, Number::Integer(*item, scale)));
        }
        DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => column.each(|row, item: duckdb_uhugeint| {
            let item = u128::from(item.upper) << 64 | u128::from(item.lower);
            let number = i128::try_from(item).map(|item| Number::Integer(item, 0));
            write(row, number.unwrap_or(Number::Beyond));
        }),
        // All rows of the column are NULL.
        DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL => {}
        _ => return false,
    }
    true
}

impl Vector<'_> {
    /// Calls a function with the number and the stored item of each row.
    fn each<S: Copy>(&self, mut call: impl FnMut(usize, S)) {
        for (row, item) in self.stored().iter().enumerate() {
            call(row, *item);
        }
    }
}
