//! `treefold_mpi.F90`: the reductions over ranks.

use super::is_mine::with_is_mine;
use super::{by_key, cases, generic, handles, interfaces, public};
use crate::Error;
use crate::functions::{
    CALLS, Call, Form, HANDLES, SETTINGS, Setting, WAITS, with_pairs, with_starts,
};
use crate::prototypes::Prototype;
use crate::text::{put, statement};

/// The parts of the file that the table writes.
pub(crate) fn regions(prototypes: &[Prototype]) -> Result<Vec<(&'static str, String)>, Error> {
    let mut regions = vec![
        ("names of one type", names()),
        ("procedures of one type", procedures()),
        (
            "functions of treefold_mpi.h",
            interfaces::interfaces(prototypes)?,
        ),
        ("generic names", generics()),
        ("settings", settings(prototypes)),
        ("names by key", by_key::names()),
        ("procedures by key", by_key::procedures()),
        ("calls of addresses", of_addresses()),
        ("handles", handles(HANDLES)),
        ("names of settings", names_of_settings()),
    ];
    regions.extend(cases::regions());
    Ok(regions)
}

/// The forms of a start: it has no result, whose shape would tell two forms apart.
fn forms_of_start(call: &Call) -> impl Iterator<Item = &'static Form> + use<> {
    call.forms.iter().filter(|form| !form.result.is_empty())
}

/// The procedures of a generic name, by their forms.
fn of_forms<'a>(name: &'a str, forms: impl IntoIterator<Item = &'static Form> + 'a) -> Vec<String> {
    let each = |form: &Form| format!("{name}_{}", form.name);
    forms.into_iter().map(each).collect()
}

fn names() -> String {
    let mut plain: Vec<(String, Vec<String>)> = Vec::new();
    for call in CALLS {
        plain.push((call.name.to_owned(), of_forms(call.name, call.forms)));
    }
    for call in with_starts() {
        let name = format!("start_{}", call.name);
        let procedures = of_forms(&name, forms_of_start(call));
        plain.push((name, procedures));
    }
    plain.push(("wait".to_owned(), of_forms("wait", WAITS)));
    let mut dots: Vec<(String, Vec<String>)> = Vec::new();
    for call in with_pairs() {
        let name = format!("{}_dot", call.name);
        let procedures = of_forms(&name, call.forms);
        dots.push((name, procedures));
    }
    for call in with_pairs() {
        let name = format!("start_{}_dot", call.name);
        let procedures = of_forms(&name, forms_of_start(call));
        dots.push((name, procedures));
    }
    let block = |all: &[(String, Vec<String>)]| {
        let generics: String = all.iter().map(|(name, of)| generic(name, of)).collect();
        public(all.iter().map(|(name, _)| name.clone())) + "\n" + &generics
    };
    format!(
        "{}#ifdef TREEFOLD_FLOATING\n{}#endif\n",
        block(&plain),
        block(&dots)
    )
}

fn procedures() -> String {
    let mut plain: Vec<String> = CALLS.iter().flat_map(runs).collect();
    plain.extend(with_starts().flat_map(|call| {
        let each = |form: &Form| of_form(START, call, form);
        forms_of_start(call).map(each).collect::<Vec<_>>()
    }));
    plain.extend(WAITS.iter().map(wait));
    let mut dots: Vec<String> = with_pairs()
        .flat_map(|call| {
            let each = |form: &Form| of_form(RUN_DOT, call, form);
            call.forms.iter().map(each).collect::<Vec<_>>()
        })
        .collect();
    dots.extend(with_pairs().flat_map(|call| {
        let each = |form: &Form| of_form(START_DOT, call, form);
        forms_of_start(call).map(each).collect::<Vec<_>>()
    }));
    format!(
        "{}\n#ifdef TREEFOLD_FLOATING\n{}#endif\n",
        plain.join("\n"),
        dots.join("\n")
    )
}

fn runs(call: &Call) -> Vec<String> {
    let template = if call.in_place { IN_PLACE } else { RUN };
    let each = |form: &Form| of_form(template, call, form);
    call.forms.iter().map(each).collect()
}

const RUN: &str = "   subroutine {name}_{form}(plan, local, result, {is_mine_}ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local{local}
      TREEFOLD_TYPE, intent(inout), {contiguous_}target :: result{result}
{declares_is_mine}      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_{call}, plan, element, address(local), size(local, kind=c_size_t), &
         {result_and_length}, {passes_is_mine})
   end subroutine {name}_{form}
";

const IN_PLACE: &str = "   subroutine {name}_{form}(plan, row, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(inout), {contiguous_}target :: row{result}
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_{call}, plan, element, c_null_ptr, 0_c_size_t, &
         {row_and_length}, ierr=ierr)
   end subroutine {name}_{form}
";

const START: &str = "   subroutine start_{name}_{form}(plan, local, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: local{local}
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_{call}, plan, element, address(local), size(local, kind=c_size_t), run, ierr)
   end subroutine start_{name}_{form}
";

const RUN_DOT: &str = "   subroutine {name}_dot_{form}(plan, x, y, result, {is_mine_}ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x{local}, y{local}
      TREEFOLD_TYPE, intent(inout), {contiguous_}target :: result{result}
{declares_is_mine}      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_{call}, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), {result_and_length}, {passes_is_mine})
   end subroutine {name}_dot_{form}
";

const START_DOT: &str = "   subroutine start_{name}_dot_{form}(plan, x, y, run, ierr)
      type(treefold_plan), intent(in) :: plan
      TREEFOLD_TYPE, intent(in), contiguous, target :: x{local}, y{local}
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_{call}, plan, element, address(x), size(x, kind=c_size_t), &
         address(y), size(y, kind=c_size_t), run, ierr)
   end subroutine start_{name}_dot_{form}
";

const WAIT: &str = "   subroutine wait_{form}(run, result, is_mine, ierr)
      type(treefold_run), intent(inout) :: run
      TREEFOLD_TYPE, intent(inout), {contiguous_}target :: result{result}
      logical, intent(out), optional :: is_mine
      integer, intent(out), optional :: ierr

      call wait_for(run, element, {result_and_length}, is_mine, ierr)
   end subroutine wait_{form}
";

fn of_form(template: &str, call: &Call, form: &Form) -> String {
    let capitals = call.name.to_uppercase();
    let text = put(template, &[("name", call.name), ("call", &capitals)]);
    with_result(&with_is_mine(&text, call), form)
}

fn wait(form: &Form) -> String {
    with_result(WAIT, form)
}

/// Puts what depends on a form.
fn with_result(text: &str, form: &Form) -> String {
    let (contiguous, address) = if form.result.is_empty() {
        ("", "c_loc({array}), 1_c_size_t")
    } else {
        (
            "contiguous, ",
            "address({array}), size({array}, kind=c_size_t)",
        )
    };
    let of = |array| put(address, &[("array", array)]);
    let values = [
        ("form", form.name),
        ("local", form.local),
        ("result", form.result),
        ("contiguous_", contiguous),
        ("result_and_length", &of("result")),
        ("row_and_length", &of("row")),
    ];
    put(text, &values)
}

/// What arrays are by an address and a number of items.
fn of_addresses() -> String {
    let mut texts = Vec::new();
    for call in CALLS {
        texts.push(of_form(
            if call.in_place {
                ADDRESS_IN_PLACE
            } else {
                ADDRESS_RUN
            },
            call,
            &ADDRESS,
        ));
    }
    texts.extend(with_starts().map(|call| of_form(ADDRESS_START, call, &ADDRESS)));
    texts.extend(with_pairs().map(|call| of_form(ADDRESS_RUN_DOT, call, &ADDRESS)));
    texts.extend(with_pairs().map(|call| of_form(ADDRESS_START_DOT, call, &ADDRESS)));
    texts.join("\n")
}

const ADDRESS: Form = Form {
    name: "pointer",
    local: "",
    result: "",
};

const ADDRESS_RUN: &str = "   subroutine {name}_{form}(plan, local, n, result, m, {is_mine_}ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local, result
      integer(int64), intent(in) :: n, m
{declares_is_mine}      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_{call}, plan, USER_ITEMS, local, n, result, m, {passes_is_mine})
   end subroutine {name}_{form}
";

const ADDRESS_IN_PLACE: &str = "   subroutine {name}_{form}(plan, row, m, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: row
      integer(int64), intent(in) :: m
      integer, intent(out), optional :: ierr

      call run_plan(TREEFOLD_CALL_{call}, plan, USER_ITEMS, c_null_ptr, 0_c_size_t, row, m, ierr=ierr)
   end subroutine {name}_{form}
";

const ADDRESS_START: &str = "   subroutine start_{name}_{form}(plan, local, n, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: local
      integer(int64), intent(in) :: n
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_plan(TREEFOLD_CALL_{call}, plan, USER_ITEMS, local, n, run, ierr)
   end subroutine start_{name}_{form}
";

const ADDRESS_RUN_DOT: &str =
    "   subroutine {name}_dot_{form}(plan, x, n, y, k, result, m, {is_mine_}ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y, result
      integer(int64), intent(in) :: n, k, m
{declares_is_mine}      integer, intent(out), optional :: ierr

      call run_dot(TREEFOLD_CALL_{call}, plan, USER_ITEMS, x, n, y, k, result, m, {passes_is_mine})
   end subroutine {name}_dot_{form}
";

const ADDRESS_START_DOT: &str = "   subroutine start_{name}_dot_{form}(plan, x, n, y, k, run, ierr)
      type(treefold_plan), intent(in) :: plan
      type(c_ptr), intent(in) :: x, y
      integer(int64), intent(in) :: n, k
      type(treefold_run), intent(inout) :: run
      integer, intent(out), optional :: ierr

      call start_dot(TREEFOLD_CALL_{call}, plan, USER_ITEMS, x, n, y, k, run, ierr)
   end subroutine start_{name}_dot_{form}
";

/// The generic names that join procedures for addresses and for arrays, and those of settings.
fn generics() -> String {
    let mut names = vec![];
    names.extend(CALLS.iter().map(|call| call.name.to_owned()));
    names.extend(with_starts().map(|call| format!("start_{}", call.name)));
    names.extend(with_pairs().map(|call| format!("{}_dot", call.name)));
    names.extend(with_pairs().map(|call| format!("start_{}_dot", call.name)));
    names.push("wait".to_owned());
    let of_settings = SETTINGS.iter().map(|setting| {
        let Setting { name, .. } = setting;
        generic(
            &format!("builder_{name}"),
            &[format!("{name}_int32"), format!("{name}_int64")],
        )
    });
    let of_addresses = names
        .iter()
        .map(|name| generic(name, &[format!("{name}_pointer")]));
    of_settings.chain(of_addresses).collect()
}

const SETTING: &str = "   subroutine {name}_int64(builder, {numbers}, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int64), intent(in) :: {numbers}
      integer, intent(out), optional :: ierr

{checks}      call report(c_builder_{name}(builder%handle, {numbers}), ierr)
   end subroutine {name}_int64

   subroutine {name}_int32(builder, {numbers}, ierr)
      type(treefold_builder), intent(inout) :: builder
      integer(int32), intent(in) :: {numbers}
      integer, intent(out), optional :: ierr

      call {name}_int64(builder, {converted}, ierr)
   end subroutine {name}_int32
";

fn settings(prototypes: &[Prototype]) -> String {
    let of = |setting: &Setting| {
        let Setting { name, says } = setting;
        let function = format!("builder_{name}");
        let found = prototypes
            .iter()
            .find(|prototype| prototype.name == function);
        let arguments = found.map_or(&[][..], |prototype| &prototype.arguments[1..]);
        let numbers: Vec<_> = arguments.iter().map(|(_, name)| name.as_str()).collect();
        let check =
            |number: &&str| format!("      if (negative('{number}', {number}, ierr)) return\n");
        let converted: Vec<_> = numbers
            .iter()
            .map(|number| format!("int({number}, int64)"))
            .collect();
        let values = [
            ("name", *name),
            ("numbers", &numbers.join(", ")),
            ("checks", &numbers.iter().map(check).collect::<String>()),
            ("converted", &converted.join(", ")),
        ];
        let says: String = says.iter().map(|line| format!("   ! {line}\n")).collect();
        says + &put(SETTING, &values)
    };
    let texts: Vec<_> = SETTINGS.iter().map(of).collect();
    texts.join("\n")
}

fn names_of_settings() -> String {
    let name = |setting: &Setting| format!("treefold_builder_{}", setting.name);
    let names: Vec<_> = SETTINGS.iter().map(name).collect();
    statement("   use treefold_mpi_support, only: ", &names, "")
}
