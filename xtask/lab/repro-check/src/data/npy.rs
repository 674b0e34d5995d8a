//! NumPy's format, as far as it is needed: one dimension of floats.

/// How a file stores its numbers.
struct Kind {
    bytes: usize,
    is_big_endian: bool,
}

impl Kind {
    /// The kinds that are read: `f8` and `f4`, of either byte order or this machine's (`=`).
    fn parse(name: &str) -> Option<Self> {
        let (order, bytes) = match name.split_at_checked(1)? {
            (order, "f8") => (order, 8),
            (order, "f4") => (order, 4),
            _ => return None,
        };
        let is_big_endian = match order {
            "<" => false,
            ">" => true,
            "=" => cfg!(target_endian = "big"),
            _ => return None,
        };
        Some(Self {
            bytes,
            is_big_endian,
        })
    }

    /// Single precision becomes double, which is exact.
    fn number(&self, bytes: &[u8]) -> f64 {
        let mut little = [0; 8];
        let little = &mut little[..self.bytes];
        little.copy_from_slice(bytes);
        if self.is_big_endian {
            little.reverse();
        }
        match *little {
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
            [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            _ => unreachable!("numbers have 4 or 8 bytes"),
        }
    }
}

/// Reads versions 1 to 3 of the format (NumPy's `numpy.lib.format`).
pub(super) fn npy(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let rest = bytes.strip_prefix(b"\x93NUMPY").ok_or("not a NumPy file")?;
    let truncated = || "truncated: the header is not complete".to_owned();
    let (&[major, _minor], rest) = rest.split_first_chunk().ok_or_else(truncated)?;
    let (header_bytes, rest) = match major {
        1 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(truncated)?;
            (u32::from(u16::from_le_bytes(*length)), rest)
        }
        2 | 3 => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(truncated)?;
            (u32::from_le_bytes(*length), rest)
        }
        _ => return Err(format!("version {major} of NumPy's format is not known")),
    };
    let header_bytes = usize::try_from(header_bytes).map_err(|_| truncated())?;
    let (header, numbers) = rest.split_at_checked(header_bytes).ok_or_else(truncated)?;
    let header = String::from_utf8_lossy(header);
    let kind = field(&header, "descr")?;
    let kind = kind.split(',').next().unwrap_or_default().trim();
    let kind = Kind::parse(kind.trim_matches('\'')).ok_or_else(|| {
        let kind = super::quoted(kind);
        format!("its numbers are {kind}, not '<f8' or '<f4'")
    })?;
    let shape = field(&header, "shape")?;
    let shape = shape
        .strip_prefix('(')
        .and_then(|shape| shape.split(')').next());
    let shape = shape.ok_or("the header has no shape")?;
    let count = shape.trim().trim_end_matches(',').parse();
    let count =
        count.map_err(|_| format!("its shape is {}, not one dimension", super::quoted(shape)))?;
    super::expect_numbers(count, kind.bytes as u64, numbers)?;
    let numbers = numbers.chunks_exact(kind.bytes);
    Ok(numbers.map(|bytes| kind.number(bytes)).collect())
}

/// What follows a key in the header, a Python dictionary.
fn field<'h>(header: &'h str, key: &str) -> Result<&'h str, String> {
    let begin = header.find(&format!("'{key}':"));
    let begin = begin.ok_or_else(|| format!("the header has no {key}"))?;
    Ok(header[begin + key.len() + 3..].trim_start())
}
