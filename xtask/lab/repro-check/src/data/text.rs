//! Numbers as text.

use super::quoted;

pub(super) fn of_bytes(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|error| format!("not text: {error}"))
}

pub(super) fn of_words<'w>(words: impl Iterator<Item = &'w str>) -> Result<Vec<f64>, String> {
    let number = |(index, word): (usize, &str)| {
        let number = word.parse();
        number.map_err(|_| format!("number {index}, {}, is not a number", quoted(word)))
    };
    words.enumerate().map(number).collect()
}

/// All numbers, but for what follows a `#` on a line.
pub(super) fn numbers(bytes: &[u8]) -> Result<Vec<f64>, String> {
    let lines = of_bytes(bytes)?.lines();
    let lines = lines.map(|line| line.split('#').next().unwrap_or_default());
    of_words(lines.flat_map(str::split_whitespace))
}

/// A column by its name or its number from 1; by default the first. A first line of which something is no number has the columns' names.
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

#[cfg(test)]
mod tests {
    use super::{csv, numbers};

    #[test]
    fn numbers_are_read_as_they_are_written() {
        let text = b"# prices\n0.1 1e300\r\n\n-0 # the last one\ninf";
        assert_eq!(numbers(text), Ok(vec![0.1, 1e300, -0.0, f64::INFINITY]));
        assert_eq!(numbers(b""), Ok(Vec::new()));
        let wrong = "number 1, `x`, is not a number".to_owned();
        assert_eq!(numbers(b"1 x"), Err(wrong));
        assert!(numbers(&[0xFF]).is_err());
    }

    #[test]
    fn a_column_has_a_name_or_a_number() {
        let text = b"day,\"price, net\",2\n1, 0.5 ,7\n2,1.5,8\n";
        assert_eq!(csv(text, None), Ok(vec![1.0, 2.0]));
        assert_eq!(csv(text, Some("price, net")), Ok(vec![0.5, 1.5]));
        // A name comes before a number.
        assert_eq!(csv(text, Some("2")), Ok(vec![7.0, 8.0]));
        // Numbers are no names.
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
