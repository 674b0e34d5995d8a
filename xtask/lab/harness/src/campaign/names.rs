//! Algorithms and operations by their names, in JSON.

use reduce::{Algorithm, Operation};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What has a name.
pub(super) trait Named: Copy {
    fn name(self) -> &'static str;

    fn named(name: &str) -> Option<Self>;
}

impl Named for Algorithm {
    fn name(self) -> &'static str {
        self.name()
    }

    fn named(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

impl Named for Operation {
    fn name(self) -> &'static str {
        self.name()
    }

    fn named(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|operation| operation.name() == name)
    }
}

fn read<N: Named, E: Error>(name: &str) -> Result<N, E> {
    N::named(name).ok_or_else(|| E::custom(format!("unknown name `{name}`")))
}

pub(super) fn serialize<N: Named, S: Serializer>(
    named: &N,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    named.name().serialize(serializer)
}

pub(super) fn deserialize<'de, N: Named, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<N, D::Error> {
    read(&String::deserialize(deserializer)?)
}

/// Where there may be none.
pub(super) mod optional {
    use super::{Deserialize, Deserializer, Named, Serialize, Serializer, read};

    pub(in super::super) fn serialize<N: Named, S: Serializer>(
        named: &Option<N>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        named.map(N::name).serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, N: Named, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<N>, D::Error> {
        let name: Option<String> = Option::deserialize(deserializer)?;
        name.map(|name| read(&name)).transpose()
    }
}
