"""Prints the docstrings as a page, which `cargo xtask book` puts into docs/python.md. The script parses the sources without importing them."""

import ast
import inspect
import pathlib
import textwrap

PACKAGE = pathlib.Path(__file__).resolve().parent

# The public names, by module and by file, in the order of the page.
MODULES = {
    "treefold": {
        "_reductions": ["sum", "prod", "min", "max", "ptp", "mean", "var", "std", "average"],
        "_nan": ["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"],
        "_scans": ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"],
        "_products": ["dot", "inner", "vdot", "norm"],
        "_partial": ["Partial"],
        "_threads": ["threads"],
    },
    "treefold.exact": {
        "_statistics": [
            *["sum", "mean", "var", "std", "average", "nansum", "nanmean", "nanvar", "nanstd", "norm", "cumsum", "dot", "inner", "vdot"],
        ],
        "_partial": ["ExactPartial as Partial"],
        "_accumulator": ["Accumulator"],
        "_state": ["State"],
        "_keyed_accumulator": ["KeyedAccumulator"],
        "_matrices": ["cov", "corrcoef"],
        "_keyed": ["bincount", "add_at", "reduceat"],
        "_histograms": ["histogram", "histogram2d", "histogramdd"],
        "_rolling": ["rolling", "RollingWindows"],
        "_groups": ["groupby", "GroupBy"],
    },
    "treefold.dask": {
        "dask": ["sum", "prod", "min", "max", "mean", "var", "std", "dot", "exact_sum", "exact_mean", "exact_var", "exact_std",
                 "exact_average", "exact_cov", "exact_corr", "exact_skewness", "exact_kurtosis"],
        "_keyed_chunks": ["exact_dot", "exact_groupby", "GroupBy"],
        "_rolling_chunks": ["exact_rolling", "RollingWindows"],
    },
    "treefold.xarray": {"xarray": ["Accessor", "ExactAccessor"]},
    "treefold.flox": {"flox": ["aggregation", "pairs"]},
    "treefold.replacer": {"replacer": ["checked", "replaced", "Report"]},
    "treefold.polars": {
        "polars": [
            "exact_sum", "exact_mean", "exact_var", "exact_std", "exact_dot", "exact_list_sum", "exact_list_mean", "exact_list_var",
            "exact_list_std", "exact_list_dot", "tree_sum", "rolling", "RollingWindows", "exact_average", "exact_cov", "exact_corr", "exact_slope", "exact_intercept",
            "exact_skewness", "exact_kurtosis", "exact_sum_state", "exact_moments_state", "exact_powers_state", "exact_dot_state",
            "exact_comoments_state", "exact_merge", "exact_count_of", "exact_sum_of", "exact_mean_of", "exact_var_of", "exact_std_of",
            "exact_dot_of", "exact_skewness_of", "exact_kurtosis_of", "exact_cov_of", "exact_corr_of", "exact_slope_of", "exact_intercept_of",
        ],
    },
    "treefold.pandas": {"pandas": ["groupby", "GroupBy", "rolling", "RollingWindows", "SeriesAccessor", "DataFrameAccessor"]},
    "treefold.duckdb": {"duckdb": ["connect", "load"]},
    "treefold.mpi": {
        "mpi/_plan": ["Plan"],
        "mpi/_keyed": ["KeyedPlan", "Moments", "HashedPlan"],
        "mpi/_runs": ["AnyPlan", "ScheduledPlan", "Pending", "wait_all"],
        "mpi/_errors": ["Error"],
        "mpi/_world": ["library", "measure_link", "set_silence_limit"],
    },
}

# The sections to leave out. Examples are in the tutorials instead.
LEFT_OUT = ["Examples"]
WIDTH = 76


def tree_of(file):
    """The syntax tree of a file of the package."""
    return ast.parse((PACKAGE / "treefold" / file).read_text())


def signature(function, name, skip=0):
    """A call with names and defaults, without types."""
    arguments = function.args
    positional = [argument.arg for argument in arguments.posonlyargs + arguments.args][skip:]
    defaults = [ast.unparse(default) for default in arguments.defaults]
    first = len(positional) - len(defaults)
    words = [word if at < first else f"{word}={defaults[at - first]}" for at, word in enumerate(positional)]
    if arguments.kwonlyargs:
        words.append("*")
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        words.append(argument.arg if default is None else f"{argument.arg}={ast.unparse(default)}")
    return f"{name}({', '.join(words)})"


def sections(text):
    """Splits a docstring in numpydoc's form into sections, each a title and its lines. The first section has no title."""
    lines = text.splitlines()
    found = [("", [])]
    for at, line in enumerate(lines):
        if set(line) == {"-"}:
            continue
        if at + 1 < len(lines) and lines[at + 1] and set(lines[at + 1]) == {"-"}:
            found.append((line, []))
        else:
            found[-1][1].append(line)
    return [(title, lines) for title, lines in found if title not in LEFT_OUT]


def without_doctests(lines):
    """The paragraphs that are prose, each on one line."""
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs if paragraph and not paragraph.startswith(">>>")]


def items(lines):
    """Yields the items of a Markdown list: names, each with the text that is indented below it."""
    entries = []
    for line in lines:
        if line and not line.startswith(" "):
            entries.append((line, []))
        elif line.strip():
            entries[-1][1].append(line.strip())
    for head, text in entries:
        name, _, kind = head.partition(" : ")
        kind = f", {kind}" if kind else ""
        text = f": {' '.join(text)}" if text else ""
        names = ", ".join(f"`{name}`" for name in name.split(", "))
        yield f"- {names}{kind}{text}"


def prose(docstring):
    """A docstring as Markdown."""
    for title, lines in sections(inspect.cleandoc(docstring)):
        if not title:
            yield from without_doctests(lines)
        elif title == "Returns":
            # A type, and its description below.
            first, *more = " ".join(": " * line.startswith(" ") + line.strip() for line in lines).split(" : ")
            yield f"Returns {': '.join([first[0].lower() + first[1:], *more])}"
        else:
            yield f"{title}:"
            yield from items(lines)


def wrapped(paragraph):
    """Wraps a paragraph to WIDTH columns; further lines of a list item are indented."""
    indent = "  " if paragraph.startswith("- ") else ""
    return textwrap.fill(paragraph, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def methods_of(node, nodes):
    """The methods of a class, including those inherited from a class of the same file."""
    bases = [nodes[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in nodes]
    own = [child for child in node.body if isinstance(child, ast.FunctionDef)]
    names = {method.name for method in own}
    return own + [method for base in bases for method in methods_of(base, nodes) if method.name not in names]


def members(name, node, nodes):
    """A function, or a class and its public methods: the call of each, and its docstring."""
    if isinstance(node, ast.FunctionDef):
        yield signature(node, name), ast.get_docstring(node)
        return
    methods = methods_of(node, nodes)
    made = [method for method in methods if method.name == "__init__"]
    docstring = ast.get_docstring(node)
    # Objects that only the package creates have no parameters for callers.
    is_made_by_callers = made and "Parameters\n---" in docstring
    yield (signature(made[0], name, skip=1) if is_made_by_callers else name), docstring
    for method in methods:
        docstring = ast.get_docstring(method)
        if not method.name.startswith("_") and docstring:
            is_property = any(ast.unparse(decorator) == "property" for decorator in method.decorator_list)
            call = f".{method.name}" if is_property else signature(method, f".{method.name}", skip=1)
            yield call, docstring


def page():
    """The text of the page."""
    text = ""
    for module, files in MODULES.items():
        folder = module.removeprefix("treefold").strip(".")
        file = f"{folder}.py" if (PACKAGE / f"treefold/{folder}.py").exists() else f"{folder}/__init__.py".strip("/")
        paragraphs = prose(ast.get_docstring(tree_of(file)))
        text += f"\n## {module}\n" + "".join(f"\n{wrapped(paragraph)}\n" for paragraph in paragraphs)
        for file, names in files.items():
            nodes = {node.name: node for node in tree_of(f"{file}.py").body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
            made = [name for name in names if name.rpartition(" as ")[0] not in nodes and name not in nodes]
            if made:
                # Functions made from a table have no docstring in the source.
                text += "\n" + wrapped("`help` shows the parameters of " + ", ".join(f"`{name}`" for name in made) + ".") + "\n"
            for name in names:
                if name in made:
                    continue
                own, _, name = name.rpartition(" as ")
                text += f"\n### {module}.{name}\n"
                for call, docstring in members(name, nodes[own or name], nodes):
                    text += f"\n`{call}`\n"
                    is_list = False
                    for paragraph in prose(docstring):
                        text += "\n" * (not (is_list and paragraph.startswith("- "))) + f"{wrapped(paragraph)}\n"
                        is_list = paragraph.startswith("- ")
    return text


if __name__ == "__main__":
    print(page(), end="")
