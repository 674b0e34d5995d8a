//! Parses numbers as text, and one-dimensional arrays of floats in NumPy's format.

use super::{expect_numbers, quoted};

pub(super) fn of_bytes(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|error| format!("not text: {error}"))
}

pub(super) fn of_words<'w>(words: impl Iterator<Item = &'w str>) -> Result<Vec<f64>, String> {
    let number = |(index, word): (usize, &str)| {
        let number = word.parse();
        number.map_err(|_| format!("item {index}, {}, is not a number", quoted(word)))
    };
    words.enumerate().map(number).collect()
}

/// Parses all numbers; ignores everything after a `#` on a line.
pub(super) fn numbers(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let lines = of_bytes(bytes)?.lines();
    let lines = lines.map(|line| line.split('#').next().unwrap_or_default());
    of_words(lines.flat_map(str::split_whitespace))
}

/// Parses a column, by its name or its number from 1; by default the first. If a word of the first line is not a number, the line has names.
pub(super) fn csv(bytes: &[u8], column: Option<&str>) -> Result<Vec<f64>, String> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true);
    let mut reader = reader.trim(csv::Trim::All).from_reader(bytes);
    let column = column.unwrap_or("1");
    let mut place = column.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
    let mut numbers = Vec::new();
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|error| error.to_string())?;
        let has_names = number == 0 && record.iter().any(|field| field.parse::<f64>().is_err());
        if has_names {
            place = record.iter().position(|name| name == column).or(place);
        }
        let place = place.ok_or_else(|| {
            let known = record.iter().map(quoted).collect::<Vec<_>>().join(", ");
            format!("no column is called {}; known: {known}", quoted(column))
        })?;
        if has_names {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let field = record.get(place);
        let field = field.ok_or_else(|| format!("line {line} has no column {}", place + 1))?;
        let item = field.parse();
        numbers.push(item.map_err(|_| format!("line {line}: {} is not a number", quoted(field)))?);
    }
    Ok(numbers)
}

/// How a file stores its numbers.
struct Kind {
    bytes: usize,
    is_big_endian: bool,
}

impl Kind {
    /// Parses a kind: `f8` or `f4`, after the byte order, which is `<`, `>` or this machine's (`=`).
    fn parse(name: &str) -> Option<Self> {
        let (order, size) = name.split_at_checked(1)?;
        let sizes = [("f8", 8), ("f4", 4)];
        let orders = [
            ("<", false),
            (">", true),
            ("=", cfg!(target_endian = "big")),
        ];
        Some(Self {
            bytes: sizes.iter().find(|(known, _)| *known == size)?.1,
            is_big_endian: orders.iter().find(|(known, _)| *known == order)?.1,
        })
    }

    /// Parses a number. Single precision becomes double precision, which is exact.
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
    let length_bytes = match major {
        1 => 2,
        2 | 3 => 4,
        _ => return Err(format!("version {major} of NumPy's format is not known")),
    };
    let (length, rest) = rest.split_at_checked(length_bytes).ok_or_else(truncated)?;
    let header_bytes = length
        .iter()
        .rev()
        .fold(0, |sum, &byte| sum << 8 | u32::from(byte));
    let header_bytes = usize::try_from(header_bytes).map_err(|_| truncated())?;
    let (header, numbers) = rest.split_at_checked(header_bytes).ok_or_else(truncated)?;
    let header = String::from_utf8_lossy(header);
    let kind = field(&header, "descr")?;
    let kind = kind.split(',').next().unwrap_or_default().trim();
    let kind = Kind::parse(kind.trim_matches('\'')).ok_or_else(|| {
        let kind = quoted(kind);
        format!("its numbers are {kind}, not '<f8' or '<f4'")
    })?;
    let shape = field(&header, "shape")?.strip_prefix('(');
    let shape = shape.and_then(|shape| shape.split(')').next());
    let shape = shape.ok_or("the header has no shape")?;
    let count = shape.trim().trim_end_matches(',').parse();
    let count = count.map_err(|_| format!("its shape is {}, not one dimension", quoted(shape)))?;
    expect_numbers(count, kind.bytes as u64, numbers)?;
    let numbers = numbers.chunks_exact(kind.bytes);
    Ok(numbers.map(|bytes| kind.number(bytes)).collect())
}

/// The value of a key in the header, a Python dictionary.
fn field<'h>(header: &'h str, key: &str) -> Result<&'h str, String> {
    let begin = header.find(&format!("'{key}':"));
    let begin = begin.ok_or_else(|| format!("the header has no {key}"))?;
    Ok(header[begin + key.len() + 3..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::{csv, numbers};

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let text = b"# prices\n0.1 1e300\r\n\n-0 # the last one\ninf";
        assert_eq!(numbers(text), Ok(vec![0.1, 1e300, -0.0, f64::INFINITY]));
        assert_eq!(numbers(b""), Ok(Vec::new()));
        let wrong = "item 1, `x`, is not a number".to_owned();
        assert_eq!(numbers(b"1 x"), Err(wrong));
        assert!(numbers(&[0xFF]).is_err());
    }

    #[test]
    fn a_column_has_a_name_or_a_number() {
        let text = b"day,\"price, net\",2\n1, 0.5 ,7\n2,1.5,8\n";
        assert_eq!(csv(text, None), Ok(vec![1.0, 2.0]));
        assert_eq!(csv(text, Some("price, net")), Ok(vec![0.5, 1.5]));
        // A column's name takes precedence over its number.
        assert_eq!(csv(text, Some("2")), Ok(vec![7.0, 8.0]));
        // A first line of numbers has no names.
        assert_eq!(csv(b"1\n2\n3", None), Ok(vec![1.0, 2.0, 3.0]));
        assert_eq!(csv(b"0,1\n5,6", None), Ok(vec![0.0, 5.0]));
        assert_eq!(csv(b"3,2\n5,6", Some("2")), Ok(vec![2.0, 6.0]));
        let error = |text: &[u8], column| csv(text, Some(column)).unwrap_err();
        assert_eq!(
            error(text, "x"),
            "no column is called `x`; known: `day`, `price, net`, `2`"
        );
        assert_eq!(error(b"a\n1\nb", "1"), "line 3: `b` is not a number");
        assert_eq!(error(b"1,2\n3", "2"), "line 2 has no column 2");
        assert_eq!(error(b"1", "0"), "no column is called `0`; known: `1`");
    }
}
