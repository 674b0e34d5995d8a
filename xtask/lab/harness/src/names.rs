//! Serialises algorithms and operations by name.

use std::fmt::Display;

use reduce::{Algorithm, Operation};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A type whose values are serialised by name.
pub(crate) trait Named: Display + Sized {
    fn all() -> Vec<Self>;
}

impl Named for Algorithm {
    fn all() -> Vec<Self> {
        Self::all().collect()
    }
}

impl Named for Operation {
    fn all() -> Vec<Self> {
        Self::ALL.to_vec()
    }
}

fn named<N: Named, E: Error>(name: String) -> Result<N, E> {
    let mut all = N::all().into_iter();
    let found = all.find(|named| named.to_string() == name);
    found.ok_or_else(|| E::custom(format!("unknown name `{name}`")))
}

pub(crate) fn serialize<N: Named, S: Serializer>(named: &N, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(named)
}

pub(crate) fn deserialize<'de, N: Named, D: Deserializer<'de>>(from: D) -> Result<N, D::Error> {
    named(String::deserialize(from)?)
}

/// Serialises optional values.
pub(crate) mod optional {
    use super::{Deserialize, Deserializer, Named, Serialize, Serializer, named};

    pub(crate) fn serialize<N: Named, S: Serializer>(
        named: &Option<N>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        named.as_ref().map(N::to_string).serialize(to)
    }

    pub(crate) fn deserialize<'de, N: Named, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<N>, D::Error> {
        let name: Option<String> = Option::deserialize(from)?;
        name.map(named).transpose()
    }
}

/// Serialises lists.
pub(crate) mod list {
    use super::{Deserialize, Deserializer, Named, Serializer, named};

    pub(crate) fn serialize<N: Named, S: Serializer>(list: &[N], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(list.iter().map(N::to_string))
    }

    pub(crate) fn deserialize<'de, N: Named, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<N>, D::Error> {
        let names = Vec::<String>::deserialize(from)?;
        names.into_iter().map(named).collect()
    }
}
