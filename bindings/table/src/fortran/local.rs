//! `treefold.F90`: the reductions of one process.

use super::states::{self, KEYS, Of};
use super::{generic, handles, interfaces, public};
use crate::Error;
use crate::exact::HANDLES;
use crate::functions::{OPERATORS, Operator, all_typed};
use crate::prototypes::Prototype;
use crate::text::{put, statement};
use crate::typed::{Shape, Typed};

/// Who does the work, as names begin.
const BY: [&str; 2] = ["", "par_"];

/// The kinds of indices, their types, and the codes of these.
const INDEXES: [(&str, &str, &str); 3] = [
    ("int32", "integer(int32)", "OF_INT32"),
    ("int64", "integer(int64)", "OF_INT64"),
    ("real64", "real(real64)", "OF_REAL64"),
];

/// The function of integers of any type with keys.
const INTEGER_SUM: &str = "exact_integer_sum_by_key";

/// The parts of the file that the table writes.
pub(crate) fn regions(prototypes: &[Prototype]) -> Result<Vec<(&'static str, String)>, Error> {
    let renames = |element: &str| {
        let rename = |name: String| format!("c_{name} => c_{name}_{element}");
        let names = all_typed().flat_map(names_of).map(rename);
        let code = format!("element => TREEFOLD_{}", element.to_uppercase());
        let names: Vec<_> = [code].into_iter().chain(names).collect();
        statement("   use treefold_support, ", &names, "")
    };
    Ok(vec![
        ("names of one type", names()),
        ("procedures of one type", procedures()),
        (
            "functions of treefold.h",
            interfaces::interfaces(prototypes)?,
        ),
        ("handles", handles(HANDLES)),
        ("real32", renames("f32")),
        ("real64", renames("f64")),
    ])
}

fn names_of(function: &Typed) -> impl Iterator<Item = String> + use<> {
    let (name, has_pool) = (function.name, function.pool.is_some());
    let by = BY.into_iter().take(if has_pool { 2 } else { 1 });
    by.map(move |by| format!("{by}{name}"))
}

/// The public names, and the generic ones.
fn names() -> String {
    let of_operators = |is_ordered| {
        let operators = OPERATORS
            .iter()
            .filter(move |op| op.is_ordered == is_ordered);
        let each = operators.flat_map(|op| {
            BY.map(|by| [format!("{by}{}", op.name), format!("{by}{}_rows", op.name)])
        });
        each.flatten().collect::<Vec<_>>()
    };
    let of_floats: Vec<_> = all_typed().flat_map(names_of).collect();
    let block = |names: &[String]| {
        let each = |name: &String| {
            // Of a name that ends by `_rows`, the procedure is called the same; others take items, or keys of several types.
            let procedures = if name.ends_with("_rows") {
                vec![name.clone()]
            } else if name.ends_with("_by_key") {
                KEYS.map(|(kind, _)| format!("{name}_{kind}")).to_vec()
            } else if name.ends_with("_by_range") {
                INDEXES.map(|(kind, ..)| format!("{name}_{kind}")).to_vec()
            } else {
                vec![format!("{name}_items")]
            };
            generic(name, &procedures)
        };
        public(names.iter().cloned()) + "\n" + &names.iter().map(each).collect::<String>()
    };
    format!(
        "{}\n#ifdef TREEFOLD_ORDERED\n{}#endif\n\n#ifdef TREEFOLD_FLOATING\n{}#endif\n\n#ifdef TREEFOLD_INTEGER\n{}\n{}#endif\n\n#ifdef TREEFOLD_REAL\n{}\n{}#endif\n",
        block(&of_operators(false)),
        block(&of_operators(true)),
        states::names(Of::Floats),
        block(&[INTEGER_SUM.to_owned()]),
        states::names(Of::Integers),
        block(&of_floats),
        states::names(Of::Reals)
    )
}

fn procedures() -> String {
    let of_operators = |is_ordered| {
        let operators = OPERATORS
            .iter()
            .filter(move |op| op.is_ordered == is_ordered);
        let texts: Vec<_> = operators.flat_map(of_operator).collect();
        texts.join("\n")
    };
    let of_floats: Vec<_> = all_typed().flat_map(of_real).collect();
    let integer_sum = |(kind, code)| {
        put(
            OF_INTEGERS,
            &[("name", INTEGER_SUM), ("kind", kind), ("code", code)],
        )
    };
    let integer_sums = KEYS.map(integer_sum);
    format!(
        "{}\n#ifdef TREEFOLD_ORDERED\n{}#endif\n\n#ifdef TREEFOLD_FLOATING\n{}#endif\n\n#ifdef TREEFOLD_INTEGER\n{}\n{}#endif\n\n#ifdef TREEFOLD_REAL\n{}\n{}#endif\n",
        of_operators(false),
        of_operators(true),
        states::procedures(Of::Floats),
        integer_sums.join("\n"),
        states::procedures(Of::Integers),
        of_floats.join("\n"),
        states::procedures(Of::Reals)
    )
}

const OF_ITEMS: &str = "   function {by}{name}_items(x, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: {result}

      {result} = 0
      call report(c_{by}fold(element, TREEFOLD_OP_{op}, address(x), size(x, kind=c_size_t), c_loc({result})), ierr)
   end function {by}{name}_items
";

const OF_ROWS: &str = "   function {by}{name}_rows(rows, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous, target :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE, target :: {result}(size(rows, 1))

      {result} = 0
      call report(c_{by}fold_rows(element, TREEFOLD_OP_{op}, address(rows), size(rows, kind=c_size_t), &
         size(rows, 1, c_size_t), address({result}), size({result}, kind=c_size_t)), ierr)
   end function {by}{name}_rows
";

fn of_operator(operator: &Operator) -> Vec<String> {
    let op = operator.name.to_uppercase();
    let mut texts = Vec::new();
    for template in [OF_ITEMS, OF_ROWS] {
        for by in BY {
            let values = [
                ("by", by),
                ("name", operator.name),
                ("op", &op),
                ("result", operator.result),
            ];
            texts.push(put(template, &values));
        }
    }
    texts
}

const OF_ARRAY: &str = "   function {name}_items(x, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}

      {result} = 0
      call report(c_{name}(x, size(x, kind=c_size_t), {result}), ierr)
   end function {name}_items
";

const OF_LANES: &str = "   function {name}_items(x, lanes, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: lanes
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}

      {result} = 0
      if (negative('lanes', int(lanes, int64), ierr)) return
      call report(c_{name}(x, size(x, kind=c_size_t), int(lanes, c_size_t), {result}), ierr)
   end function {name}_items
";

const OF_ARRAYS: &str = "   function {name}_items(x, y, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}

      {result} = 0
      call report(c_{name}(x, size(x, kind=c_size_t), y, size(y, kind=c_size_t), {result}), ierr)
   end function {name}_items
";

const TO_NUMBERS: &str = "   subroutine {name}_items(x, {result}, absolute_{result}, ierr)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      TREEFOLD_TYPE, intent(out) :: {result}, absolute_{result}
      integer, intent(out), optional :: ierr

      {result} = 0
      absolute_{result} = 0
      call report(c_{name}(x, size(x, kind=c_size_t), {result}, absolute_{result}), ierr)
   end subroutine {name}_items
";

const OF_REAL_ROWS: &str = "   function {name}(rows, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous :: rows(:, :)
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(size(rows, 1))

      {result} = 0
      call report(c_{name}(rows, size(rows, kind=c_size_t), size(rows, 1, c_size_t), {result}, &
         size({result}, kind=c_size_t)), ierr)
   end function {name}
";

const OF_KEYS: &str = "   function {name}_{kind}(keys, x, groups, {ddof}ierr) result({result})
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: groups
{declared}      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(groups)

      {result} = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_{name}({code}, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), {ddof}{result}, size({result}, kind=c_size_t)), ierr)
   end function {name}_{kind}
";

const OF_WINDOWS: &str = "   function {name}_items(x, window, least_items, ierr) result({result})
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      integer, intent(in) :: window
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(size(x))
      integer(int64) :: least

      {result} = 0
      least = window
      if (present(least_items)) least = least_items
      if (negative('window', int(window, int64), ierr)) return
      if (negative('least_items', least, ierr)) return
      call report(c_{name}(x, size(x, kind=c_size_t), int(window, c_size_t), least, {result}, &
         size({result}, kind=c_size_t)), ierr)
   end function {name}_items
";

const OF_PAIRS: &str = "   function {name}_{kind}(keys, x, y, groups, ierr) result({result})
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:), y(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(groups)

      {result} = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_{name}({code}, address_of(keys), size(keys, kind=c_size_t), x, &
         size(x, kind=c_size_t), y, size(y, kind=c_size_t), {result}, size({result}, kind=c_size_t)), ierr)
   end function {name}_{kind}
";

const OF_KEYED_ROWS: &str = "   function {name}_{kind}(keys, rows, groups, ierr) result({result})
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous :: rows(:, :)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(size(rows, 1), groups)

      {result} = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_{name}({code}, address_of(keys), size(keys, kind=c_size_t), rows, &
         size(rows, kind=c_size_t), size(rows, 1, c_size_t), {result}, size({result}, kind=c_size_t)), ierr)
   end function {name}_{kind}
";

const OF_INTEGERS: &str = "   function {name}_{kind}(keys, x, groups, ierr) result(totals)
      integer({kind}), intent(in), contiguous, target :: keys(:)
      TREEFOLD_TYPE, intent(in), contiguous, target :: x(:)
      integer, intent(in) :: groups
      integer, intent(out), optional :: ierr
      integer(int64), target :: totals(groups)

      totals = 0
      if (negative('groups', int(groups, int64), ierr)) return
      call report(c_{name}({code}, address_of(keys), size(keys, kind=c_size_t), element, &
         address(x), size(x, kind=c_size_t), address_of(totals), size(totals, kind=c_size_t)), ierr)
   end function {name}_{kind}
";

const OF_RANGES: &str = "   function {name}_{kind}(index, x, width, least_items, ierr) result({result})
      {type}, intent(in), contiguous, target :: index(:)
      TREEFOLD_TYPE, intent(in), contiguous :: x(:)
      {type}, intent(in), target :: width
      integer, intent(in), optional :: least_items
      integer, intent(out), optional :: ierr
      TREEFOLD_TYPE :: {result}(size(x))
      integer(int64) :: least

      {result} = 0
      least = 1
      if (present(least_items)) least = least_items
      if (negative('least_items', least, ierr)) return
      call report(c_{name}({code}, address_of(index), size(index, kind=c_size_t), x, &
         size(x, kind=c_size_t), c_loc(width), least, {result}, size({result}, kind=c_size_t)), ierr)
   end function {name}_{kind}
";

fn of_real(function: &Typed) -> Vec<String> {
    let has_ddof = function.shape == Shape::SpreadByKey;
    let (ddof, declared) = if has_ddof {
        ("ddof, ", "      real(real64), intent(in) :: ddof\n")
    } else {
        ("", "")
    };
    let templates = match function.shape {
        Shape::Array => vec![OF_ARRAY.to_owned()],
        Shape::Lanes => vec![OF_LANES.to_owned()],
        Shape::Arrays => vec![OF_ARRAYS.to_owned()],
        Shape::Numbers => vec![TO_NUMBERS.to_owned()],
        Shape::Rows => vec![OF_REAL_ROWS.to_owned()],
        Shape::Windows => vec![OF_WINDOWS.to_owned()],
        Shape::Ranges => {
            let of_kind = |(kind, type_, code)| {
                put(
                    OF_RANGES,
                    &[("kind", kind), ("type", type_), ("code", code)],
                )
            };
            INDEXES.map(of_kind).to_vec()
        }
        Shape::ByKey | Shape::SpreadByKey => of_keys(OF_KEYS, ddof, declared),
        Shape::PairsByKey => of_keys(OF_PAIRS, ddof, declared),
        Shape::RowsByKey => of_keys(OF_KEYED_ROWS, ddof, declared),
    };
    let each = |name: String| {
        let values = [("name", name.as_str()), ("result", function.result)];
        let of_name = |template: &String| put(template, &values);
        templates.iter().map(of_name).collect::<Vec<_>>()
    };
    names_of(function).flat_map(each).collect()
}

/// A template for each kind of keys.
fn of_keys(template: &str, ddof: &str, declared: &str) -> Vec<String> {
    let of_kind = |(kind, code)| {
        let values = [
            ("kind", kind),
            ("code", code),
            ("ddof", ddof),
            ("declared", declared),
        ];
        put(template, &values)
    };
    KEYS.map(of_kind).to_vec()
}
