//! The objects of `treefold.hpp`: one for each function, in both namespaces, and their twins that throw nothing.

use crate::functions::{OPERATORS, Operator, all_typed};
use crate::typed::{Shape, Typed};

/// The longest line of the header.
const WIDTH: usize = 140;

/// The parts of the header that the table writes.
pub(crate) fn regions() -> Vec<(&'static str, String)> {
    vec![
        ("functions of one thread", objects("", "caller")),
        ("functions of all threads", objects("par_", "pool")),
    ]
}

/// The objects, by what C's names begin with, and by who does the work.
fn objects(prefix: &str, by: &str) -> String {
    let has = |function: &&Typed| prefix.is_empty() || function.pool.is_some();
    let functions: Vec<_> = all_typed().filter(has).collect();
    ["", "try_"]
        .into_iter()
        .map(|twin| {
            let of_operators = OPERATORS.iter().map(|op| of_operator(twin, op, by));
            let of_floats = functions
                .iter()
                .flat_map(|function| of_floats(twin, function, prefix));
            of_operators.chain(of_floats).collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn of_operator(twin: &str, operator: &Operator, by: &str) -> String {
    let (name, op) = (operator.name, operator.name.to_uppercase());
    format!(
        "inline constexpr detail::{twin}reduce_function<detail::by::{by}, TREEFOLD_{op}> {twin}{name}{{}};\n"
    )
}

fn of_floats(twin: &str, function: &Typed, prefix: &str) -> Vec<String> {
    let name = function.name;
    let object = |kind: &str, name: &str| {
        let c = |element| format!("&treefold_{prefix}{}_{element}", function.name);
        let kind = format!(
            "inline constexpr detail::{kind}<{}, {}>",
            c("f32"),
            c("f64")
        );
        let is_long = kind.len() + name.len() + 4 > WIDTH;
        format!(
            "{kind}{}{name}{{}};\n",
            if is_long { "\n    " } else { " " }
        )
    };
    // A vector is returned, and can fail to be made: the twin leaves its row in a span.
    let rows = |kind: &str| {
        let into = object(
            &format!("{twin}{kind}_into_function"),
            &format!("{twin}{name}_into"),
        );
        if twin.is_empty() {
            vec![object(&format!("{kind}_function"), name), into]
        } else {
            vec![into]
        }
    };
    let kind = match function.shape {
        Shape::Array => "array_function",
        Shape::Lanes => "lanes_function",
        Shape::Arrays => "arrays_function",
        Shape::Numbers => "numbers_function",
        Shape::Rows => return rows("rows"),
        Shape::ByKey => return rows("by_key"),
        Shape::SpreadByKey => return rows("spread_by_key"),
        Shape::PairsByKey => return rows("pairs_by_key"),
        Shape::RowsByKey => return rows("rows_by_key"),
        Shape::Windows => return rows("windows"),
        Shape::Ranges => return rows("ranges"),
    };
    vec![object(&format!("{twin}{kind}"), &format!("{twin}{name}"))]
}
