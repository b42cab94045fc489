"""What each side needs, how it is installed, how one of its programs is called."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from rows import ADK, ENGINE, FLOW, JS, JUNCTURE, PYTHON

HERE = Path(__file__).resolve().parent.parent
ROOT = HERE.parents[2]


class Missing(Exception):
    """Something that has to be there first."""


def call(command, **more):
    print("+", " ".join(map(str, command)), file=sys.stderr, flush=True)
    if subprocess.run(["nice", *map(str, command)], stdout=sys.stderr, **more).returncode:
        raise Missing(f"`{' '.join(map(str, command))}` failed; what it said is above")


def version_of(program, *arguments):
    if not shutil.which(program):
        raise Missing(f"`{program}` isn't there; install it, or leave out its sides with --sides")
    return subprocess.run([program, *arguments], capture_output=True, text=True).stdout.strip()


def up_to_date(mark, *sources):
    """Whether `mark` holds what the sources hold; if not, a function that says so."""
    text = "".join(source.read_text() for source in sources)
    return mark.exists() and mark.read_text() == text, lambda: mark.write_text(text)


class Side:
    """A side with its folder inside of the target."""

    def __init__(self, name, target):
        self.name, self.target = name, target

    def install(self):
        pass


class Python(Side):
    def install(self):
        version_of("python3", "--version")
        folder, wanted = self.target / "python", HERE / "python/requirements.txt"
        done, mark = up_to_date(folder / "installed.txt", wanted)
        if not done:
            call(["python3", "-m", "venv", folder])
            call([folder / "bin/pip", "install", "--quiet", "-r", wanted])
            mark()

    def command(self, program="main.py"):
        return [self.target / "python/bin/python", "-B", HERE / "python" / program]

    def cold(self):
        return self.command("cold.py")

    def versions(self):
        wanted = (HERE / "python/requirements.txt").read_text().split()
        return [version_of("python3", "--version"), *(line.replace("==", " ") for line in wanted)]


class JavaScript(Side):
    def install(self):
        version_of("node", "--version"), version_of("npm", "--version")
        folder = self.target / "js"
        folder.mkdir(parents=True, exist_ok=True)
        files = [HERE / "js" / name for name in ("package.json", "package-lock.json", ".npmrc")]
        done, mark = up_to_date(folder / "installed.txt", *files)
        if not done:
            for file in files:
                shutil.copy(file, folder)
            call(["npm", "ci"], cwd=folder)
            self.build_sqlite(folder)
            mark()
        for file in (HERE / "js").glob("*.mjs"):
            shutil.copy(file, folder)

    def build_sqlite(self, folder):
        """Compiles better-sqlite3, so that nothing is fetched from elsewhere."""
        headers = Path(version_of("node", "-p", "process.execPath")).resolve().parent.parent
        if not (headers / "include/node/node.h").exists():
            raise Missing(f"the headers of node aren't in {headers}/include/node; better-sqlite3 is compiled with them")
        for program in ("g++", "make"):
            version_of(program, "--version")
        options = ["--ignore-scripts=false", "--build-from-source", f"--nodedir={headers}"]
        call(["npm", "rebuild", "better-sqlite3", *options], cwd=folder)

    def command(self, program="main.mjs"):
        return ["node", self.target / "js" / program]

    def cold(self):
        return self.command("cold.mjs")

    def versions(self):
        lock = json.loads((HERE / "js/package-lock.json").read_text())["packages"]
        wanted = [*json.loads((HERE / "js/package.json").read_text())["dependencies"], "better-sqlite3"]
        return ["Node " + version_of("node", "--version"), *(f"{p} {lock[f'node_modules/{p}']['version']}" for p in wanted)]


class Cargo(Side):
    folder, locked = "rust", ["--locked"]

    def install(self):
        version_of("cargo", "--version")
        command = ["cargo", "build", "--release", "-j1", *self.locked, "--manifest-path", HERE / self.folder / "Cargo.toml"]
        call(command, env={**os.environ, "CARGO_TARGET_DIR": str(self.target / self.folder)})

    def command(self):
        return [self.target / "rust/release/peers", self.name]

    def cold(self):
        return [*self.command(), "cold"]

    def versions(self):
        wanted = tomllib.loads((HERE / "rust/Cargo.toml").read_text())["dependencies"][self.name]
        return [f"{self.name} {(wanted if isinstance(wanted, str) else wanted['version']).lstrip('=')}"]


class Engine(Cargo):
    folder, locked = "engine", []

    def install(self):
        """With the versions of the project's own lock file, from which cargo takes what is needed."""
        shutil.copy(ROOT / "Cargo.lock", HERE / "engine/Cargo.lock")
        super().install()

    def command(self):
        return [self.target / "engine/release/engine"]

    def versions(self):
        version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
        commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True)
        return [version_of("rustc", "--version"), f"graph-engine {version} at {commit.stdout.strip()}"]


KINDS = {ENGINE: Engine, PYTHON: Python, JS: JavaScript, ADK: Cargo, JUNCTURE: Cargo, FLOW: Cargo}


def side(name, target):
    return KINDS[name](name, target)
