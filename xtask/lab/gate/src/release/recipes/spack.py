"""Executes a Spack recipe with a mock of Spack, which is not on PyPI.

The mock has only the parts of Spack's interface that the recipe uses, so any other name in the recipe is an error.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

recipe, tarball, tree, prefix = (Path(word).resolve() for word in sys.argv[1:])
said = {"depends_on": [], "license": [], "requires": [], "version": []}


class Environment:
    def set(self, name, value):
        os.environ[name] = value


class Executable:
    def __init__(self, path):
        self.path = path

    def __call__(self, *words):
        subprocess.run([self.path, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def which(program, required):
    path = shutil.which(program)
    if path is None and required:
        sys.exit(f"{program} is missing")
    return path and Executable(path)


def directive(name):
    return lambda *words, **settings: said[name].append((words, settings))


def module(name, **content):
    sys.modules[name] = ModuleType(name)
    sys.modules[name].__dict__.update(content)


directives = {name: directive(name) for name in said}
module("spack")
module("spack.package", which=which, join_path=os.path.join, **directives)
module("spack_repo")
module("spack_repo.builtin")
module("spack_repo.builtin.build_systems")
module("spack_repo.builtin.build_systems.generic", Package=type("Package", (), {}))

names = {}
exec(compile(recipe.read_text(), recipe, "exec"), names)
package = names["Treefold"]()
package.stage = SimpleNamespace(path=str(prefix.parent))

((version, settings),) = said["version"]
assert settings["sha256"] == hashlib.sha256(tarball.read_bytes()).hexdigest(), "the checksum is of another tarball"
assert package.url.endswith(tarball.name) and version[0] in tarball.name
assert any(words[0].startswith("rust@") for words, _ in said["depends_on"])

os.chdir(tree)
package.setup_build_environment(Environment())
package.install(None, prefix)
missing = [name for name in package.sanity_check_is_file if not (prefix / name).is_file()]
assert not missing, missing
print(f"installed {len(package.sanity_check_is_file)} files that the recipe checks")
