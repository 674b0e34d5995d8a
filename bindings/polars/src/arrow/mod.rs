//! Reads columns from Polars and makes columns for Polars, by Arrow's C data interface.
#![expect(
    unsafe_code,
    reason = "Polars passes pointers; each block says what the plugin interface promises"
)]

mod bytes;
mod data_type;
mod layout;
mod made;
mod read;

pub(crate) use data_type::DataType;
pub(crate) use layout::{ArrowSchema, SeriesExport};
pub(crate) use made::Made;
pub(crate) use read::{Chunk, Lists, Series, Values, all_of};
