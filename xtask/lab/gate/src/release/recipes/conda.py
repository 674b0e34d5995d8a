"""Renders the recipes for conda, and builds and tests the package of the libraries by its recipe.

The build uses no channel: the system's compilers replace conda's, and the recipe's requirements are removed.
"""

import os
import sys
from pathlib import Path

import rattler_build

recipes, tarball, folder = (Path(word).resolve() for word in sys.argv[1:])

# Values of conda-forge's settings.
variants = rattler_build.VariantConfig({"c_stdlib": ["sysroot"], "c_stdlib_version": ["2.17"], "python": ["3.12"]})

found = {}
for path in sorted(recipes.glob("*/recipe.yaml")):
    recipe = rattler_build.Stage0Recipe.from_file(path)
    for variant in recipe.render(variants):
        needed = variant.recipe.requirements.build
        if not needed:
            sys.exit(f"{path}: the recipe has no build requirements")
    found[path.parent.name] = recipe.to_dict()
    print(f"rendered: {path}")

recipe = found["libtreefold"]
del recipe["requirements"]
recipe["source"][0]["url"] = [tarball.as_uri()]
for test in recipe["tests"]:
    test.pop("requirements", None)
built = rattler_build.Stage0Recipe.from_dict(recipe, recipe_dir=recipes / "libtreefold").run_build(
    tool_config=rattler_build.ToolConfiguration(test_strategy="native"),
    output_dir=folder,
    channels=[],
    env_isolation=rattler_build.EnvironmentIsolation.NONE,
)
for package in (package for result in built for package in result.packages):
    print(f"built and tested: {Path(package).name}, {os.path.getsize(package) // 1000} kB")
