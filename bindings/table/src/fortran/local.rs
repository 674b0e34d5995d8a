//! `treefold.F90`: the reductions of one process.

use super::{generic, interfaces, public};
use crate::Error;
use crate::functions::{OPERATORS, Operator, Shape, TYPED, Typed};
use crate::prototypes::Prototype;
use crate::text::{put, statement};

/// Who does the work, as names begin.
const BY: [&str; 2] = ["", "par_"];

/// The parts of the file that the table writes.
pub(crate) fn regions(prototypes: &[Prototype]) -> Result<Vec<(&'static str, String)>, Error> {
    let renames = |element: &str| {
        let rename = |name: String| format!("c_{name} => c_{name}_{element}");
        let names = TYPED.iter().flat_map(names_of).map(rename);
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
    let of_floats: Vec<_> = TYPED.iter().flat_map(names_of).collect();
    let block = |names: &[String]| {
        let each = |name: &String| {
            // Of a name that ends by `_rows`, the procedure is called the same; others take items.
            let procedure = if name.ends_with("_rows") {
                name.clone()
            } else {
                format!("{name}_items")
            };
            generic(name, &[procedure])
        };
        public(names.iter().cloned()) + "\n" + &names.iter().map(each).collect::<String>()
    };
    format!(
        "{}\n#ifdef TREEFOLD_ORDERED\n{}#endif\n\n#ifdef TREEFOLD_REAL\n{}#endif\n",
        block(&of_operators(false)),
        block(&of_operators(true)),
        block(&of_floats)
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
    let of_floats: Vec<_> = TYPED.iter().flat_map(of_real).collect();
    format!(
        "{}\n#ifdef TREEFOLD_ORDERED\n{}#endif\n\n#ifdef TREEFOLD_REAL\n{}#endif\n",
        of_operators(false),
        of_operators(true),
        of_floats.join("\n")
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

fn of_real(function: &Typed) -> Vec<String> {
    let template = match function.shape {
        Shape::Array => OF_ARRAY,
        Shape::Arrays => OF_ARRAYS,
        Shape::Numbers => TO_NUMBERS,
        Shape::Rows => OF_REAL_ROWS,
    };
    let each = |name: String| put(template, &[("name", &name), ("result", function.result)]);
    names_of(function).map(each).collect()
}
