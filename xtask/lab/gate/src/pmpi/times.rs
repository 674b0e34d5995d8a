//! Times of calls through the interposer beside those of the MPI library, as `overhead.c` prints them.

use harness::measured::Time;

/// The rows of its tables; one begins with the call's name and the number of ranks.
pub(super) fn rows(printed: &str, library: &str) -> Result<Vec<Time>, String> {
    let mut rows = Vec::new();
    let mut call = None;
    for line in printed.lines() {
        if let Some((name, _)) = line
            .split_once(", ")
            .filter(|(_, rest)| rest.contains(" ranks"))
        {
            call = Some(name.to_lowercase());
            continue;
        }
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let (Some(call), Ok(numbers)) = (&call, numbers) else {
            continue;
        };
        let [bytes, own_us, library_us, _ratio] = numbers[..] else {
            continue;
        };
        rows.push(Time {
            variant: call.clone(),
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number of bytes is whole and small"
            )]
            n: bytes as u64,
            ns: own_us * 1e3,
            reference: library.to_owned(),
            reference_ns: library_us * 1e3,
            ..Time::default()
        });
    }
    if rows.is_empty() {
        return Err(format!("it prints no times:\n{printed}"));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::rows;

    #[test]
    fn tables_are_read() {
        let printed = "\nAllreduce, 2 ranks, medians of 31\n     bytes     MPI_, us    PMPI_, us    ratio\n         8        0.250        0.500     0.50\n\
            \nReduce, 2 ranks, medians of 31\n     bytes     MPI_, us    PMPI_, us    ratio\n        16        1.000        0.500     2.00\n";
        let rows = rows(printed, "openmpi").unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (row.variant.as_str(), row.n, row.ns, row.reference_ns))
            .collect();
        let expected = [
            ("allreduce", 8, 250.0, 500.0),
            ("reduce", 16, 1000.0, 500.0),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn other_words_are_refused() {
        assert!(rows("overhead: 2 ranks\n", "openmpi").is_err());
    }
}
