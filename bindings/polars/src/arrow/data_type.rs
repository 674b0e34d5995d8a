//! Defines the types of columns, with their names in Arrow and in Polars.

use std::fmt;

use super::layout::ArrowSchema;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DataType {
    Null,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float32,
    Float64,
    List(Box<Self>),
    /// Lists of this number of items each.
    Array(Box<Self>, usize),
    /// Bytes, found by views or by offsets.
    Binary {
        are_views: bool,
    },
    /// A type that has no sums, with Polars' name for it.
    Other(String),
}

/// The types of numbers: Arrow's format, the type, and Polars' name.
const NUMBERS: [(&str, DataType, &str); 11] = [
    ("n", DataType::Null, "Null"),
    ("c", DataType::Int8, "Int8"),
    ("C", DataType::UInt8, "UInt8"),
    ("s", DataType::Int16, "Int16"),
    ("S", DataType::UInt16, "UInt16"),
    ("i", DataType::Int32, "Int32"),
    ("I", DataType::UInt32, "UInt32"),
    ("l", DataType::Int64, "Int64"),
    ("L", DataType::UInt64, "UInt64"),
    ("f", DataType::Float32, "Float32"),
    ("g", DataType::Float64, "Float64"),
];

/// Types without sums: the prefix of Arrow's format, and Polars' name.
const OTHERS: [(&str, &str); 14] = [
    ("b", "Boolean"),
    ("e", "Float16"),
    ("_pli128", "Int128"),
    ("_plu128", "UInt128"),
    ("d:", "Decimal"),
    ("tdD", "Date"),
    ("tt", "Time"),
    ("ts", "Datetime"),
    ("tD", "Duration"),
    ("vu", "String"),
    ("u", "String"),
    ("U", "String"),
    ("z", "Binary"),
    ("+s", "Struct"),
];

impl DataType {
    /// The type of the binary columns that this crate makes.
    pub(crate) const BINARY: Self = Self::Binary { are_views: false };

    pub(crate) fn of(schema: &ArrowSchema) -> Self {
        if schema.is_dictionary() {
            return Self::Other("Categorical".into());
        }
        let format = schema.format();
        let number = NUMBERS.iter().find(|(name, ..)| *name == format);
        if let Some((_, data_type, _)) = number {
            return data_type.clone();
        }
        let items = schema.child().map(|child| Box::new(Self::of(child)));
        let width = format.strip_prefix("+w:");
        let width = width.and_then(|width| width.parse().ok());
        match (format.as_str(), width, items) {
            ("vz", ..) => Self::Binary { are_views: true },
            ("Z", ..) => Self::BINARY,
            ("+L", _, Some(items)) => Self::List(items),
            (_, Some(width), Some(items)) => Self::Array(items, width),
            _ => {
                let other = OTHERS.iter().find(|(start, _)| format.starts_with(start));
                let unknown = || format!("`{format}` of Arrow");
                Self::Other(other.map_or_else(unknown, |(_, name)| (*name).into()))
            }
        }
    }

    /// The type of the items of lists; `None` for a type other than lists.
    pub(crate) fn items(&self) -> Option<&Self> {
        match self {
            Self::List(items) | Self::Array(items, _) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn is_integer(&self) -> bool {
        !matches!(
            self,
            Self::Null
                | Self::Float32
                | Self::Float64
                | Self::List(_)
                | Self::Array(..)
                | Self::Binary { .. }
                | Self::Other(_)
        )
    }

    pub(crate) fn is_unsigned(&self) -> bool {
        matches!(
            self,
            Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64
        )
    }

    /// Arrow's format of a type of numbers, or of the binary columns that this crate makes.
    pub(super) fn format(&self) -> Option<&'static str> {
        if *self == Self::BINARY {
            return Some("Z");
        }
        let number = NUMBERS.iter().find(|(_, number, _)| number == self);
        number.map(|(format, ..)| *format)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::List(items) => write!(formatter, "List({items})"),
            Self::Array(items, width) => write!(formatter, "Array({items}, {width})"),
            Self::Binary { .. } => formatter.write_str("Binary"),
            Self::Other(name) => formatter.write_str(name),
            number => {
                let named = NUMBERS.iter().find(|(_, known, _)| known == number);
                formatter.write_str(named.map_or("", |(.., name)| name))
            }
        }
    }
}
