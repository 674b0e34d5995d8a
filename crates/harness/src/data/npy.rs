//! NumPy's format, as far as it is needed: one dimension of little-endian doubles.

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
    let (header, doubles) = rest.split_at_checked(header_bytes).ok_or_else(truncated)?;
    let header = String::from_utf8_lossy(header);
    let kind = field(&header, "descr")?;
    if !kind.starts_with("'<f8'") {
        let kind = kind.split(',').next().unwrap_or_default();
        return Err(format!(
            "its numbers are {}, not '<f8'",
            super::quoted(kind)
        ));
    }
    let shape = field(&header, "shape")?;
    let shape = shape
        .strip_prefix('(')
        .and_then(|shape| shape.split(')').next());
    let shape = shape.ok_or("the header has no shape")?;
    let count = shape.trim().trim_end_matches(',').parse();
    let count =
        count.map_err(|_| format!("its shape is {}, not one dimension", super::quoted(shape)))?;
    super::expect_doubles(count, doubles)?;
    super::raw(doubles)
}

/// What follows a key in the header, a Python dictionary.
fn field<'h>(header: &'h str, key: &str) -> Result<&'h str, String> {
    let begin = header.find(&format!("'{key}':"));
    let begin = begin.ok_or_else(|| format!("the header has no {key}"))?;
    Ok(header[begin + key.len() + 3..].trim_start())
}
