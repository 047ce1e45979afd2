"""Copies the code of chalicelib that given functions reach, for the distribution presage-runtime.

The runtime must answer like the service. So it gets a copy of every function, class and constant of
the service that its entry points reach. The copy has another package name, and no docstrings and
annotations. Nothing is written by hand, so the copy cannot differ from the service.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = "chalicelib"
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)


@dataclass
class _Module:
    """One module of the source package."""

    statements: list[ast.stmt]
    names: dict[str, list[ast.stmt]] = field(default_factory=lambda: defaultdict(list))
    """Statements that define each name."""
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Source module, and name in that module, of each imported name; "" for a whole module."""
    effects: list[ast.stmt] = field(default_factory=list)
    """Statements that neither define nor import a name."""


class ReachableCode:
    """Finds and writes the code that entry points reach."""

    def __init__(self, root: Path) -> None:
        """Create a search that has found nothing.

        Args:
            root: folder that contains the source package.
        """
        self._root = root
        self._modules: dict[str, _Module] = {}
        self._kept: dict[str, set[int]] = defaultdict(set)
        self._used_imports: dict[str, set[str]] = defaultdict(set)
        self._attributes: set[str] = set()
        self._classes: list[tuple[str, ast.ClassDef]] = []

    def add(self, module: str, name: str) -> None:
        """Add a name that a module defines or imports, and all code that the named object uses."""
        found = self._module(module)
        if name in found.names:
            for statement in found.names[name]:
                self._keep(module, statement)
        elif name in found.imports:
            self._used_imports[module].add(name)
            source, imported = found.imports[name]
            if imported and _is_own(source) and not self._path(f"{source}.{imported}"):
                self.add(source, imported)

    def finish(self) -> None:
        """Add the methods whose names occur in reached code, until no method is added."""
        while True:
            before = len(self._attributes), sum(map(len, self._kept.values()))
            for module, definition in list(self._classes):
                for method in definition.body:
                    if isinstance(method, ast.FunctionDef) and self._is_used(method):
                        self._keep(module, method)
            if before == (len(self._attributes), sum(map(len, self._kept.values()))):
                return

    def add_users(self, sources: Iterable[Path]) -> None:
        """Add the names that the Python files `sources` import from the source package."""
        for source in sources:
            for node in ast.walk(ast.parse(source.read_text("utf-8"))):
                if isinstance(node, ast.Attribute):
                    self._attributes.add(node.attr)
                if isinstance(node, ast.ImportFrom) and _is_own(node.module or ""):
                    for one in node.names:
                        self.add(node.module or "", one.name)

    def write(self, folder: Path, package: str) -> Callable[[str], str]:
        """Write the reached code in few files, because many would make the wheel larger.

        Args:
            folder: folder of the new package.
            package: full name of the new package.

        Returns:
            A function that converts the name of a source module to the name of the new module.
        """
        folder.mkdir(parents=True, exist_ok=True)
        groups = self._grouped()
        place = {module: number for number, group in enumerate(groups) for module in group}

        def renamed(module: str) -> str:
            return f"{package}.part{place[module]}"

        for number, group in enumerate(groups):
            lines = [part for module in group for part in self._lines(module, group, renamed)]
            text = "\n".join(["from __future__ import annotations", *dict.fromkeys(lines), ""])
            (folder / f"part{number}.py").write_text(text, "utf-8")
        return renamed

    def _grouped(self) -> list[list[str]]:
        """Return groups of modules in import order. In a group, a name means only one object."""
        kept = [module for module in self._modules if self._kept[module]]
        done: set[str] = set()
        groups = []
        # Modules of images come last, so that models of texts do not load what only images need.
        for is_vision in (False, True):
            waiting = [one for one in kept if _is_vision(one) == is_vision]
            while waiting:
                groups.append(self._next_group(waiting, done))
        return groups

    def _next_group(self, waiting: list[str], finished: set[str]) -> list[str]:
        """Take modules from `waiting`: imports are in `finished`, and no names conflict."""
        group: list[str] = []
        names: dict[str, tuple[str, str]] = {}
        while True:
            ready = (one for one in waiting if self._imports_of(one) <= finished)
            fits = (
                one
                for one in ready
                if all(names.get(name, own) == own for name, own in self._names(one).items())
            )
            chosen = next(fits, None)
            if chosen is None:
                break
            group.append(chosen)
            names |= self._names(chosen)
            waiting.remove(chosen)
            finished.add(chosen)
        if not group:
            raise LookupError(f"These modules import each other: {', '.join(waiting)}.")
        return group

    def _imports_of(self, module: str) -> set[str]:
        """Return the modules of the source that are imported when a module is loaded."""
        targets = (self._target(module, name) for name in self._used_imports[module])
        return {source for source, _ in targets if source in self._modules and source != module}

    def _names(self, module: str) -> dict[str, tuple[str, str]]:
        """Return the names that a module has at run time, each with the module that defines it."""
        kept, found = self._kept[module], self._modules[module]
        own = {
            name: (module, name)
            for name, statements in found.names.items()
            if any(id(one) in kept for one in statements)
        }
        return own | {name: self._target(module, name) for name in self._used_imports[module]}

    def _target(self, module: str, name: str) -> tuple[str, str]:
        """Return the module that defines an imported name, and the name in that module.

        The second value is "" if the imported name is a whole module.
        """
        source, imported = self._modules[module].imports[name]
        whole = f"{source}.{imported}" if imported else source
        if not _is_own(source):
            return source, imported
        if self._path(whole) is not None:
            return whole, ""
        again = self._module(source)
        if imported in again.imports and imported not in again.names:
            return self._target(source, imported)
        return source, imported

    def _lines(self, module: str, group: list[str], renamed: Callable[[str], str]) -> list[str]:
        """Return the lines of a module's reached code: imports, then statements."""
        lines = []
        for name in sorted(self._used_imports[module]):
            source, imported = self._target(module, name)
            if source not in group:
                place = renamed(source) if _is_own(source) else source
                lines.append(_import(place, imported, name, is_project=_is_own(source)))
            elif imported != name:
                value = imported or f"__import__('sys').modules['{renamed(source)}']"
                lines.append(f"{name} = {value}")
        writer = _Writer(self._kept[module], lambda one: self._path(one) is not None, renamed)
        body = [one for one in self._modules[module].statements if id(one) in self._kept[module]]
        return [*lines, *(ast.unparse(writer.visit(one)) for one in body)]

    def _keep(self, module: str, statement: ast.stmt) -> None:
        if id(statement) in self._kept[module]:
            return
        self._kept[module].add(id(statement))
        if isinstance(statement, ast.ClassDef):
            self._classes.append((module, statement))
        for effect in self._module(module).effects:
            self._keep(module, effect)
        self._follow(module, list(_evaluated(statement)))

    def _follow(self, module: str, nodes: list[ast.AST]) -> None:
        """Add the names that nodes of a module refer to; the nodes are evaluated at run time."""
        own = self._module(module)
        local = {
            alias: target
            for node in nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias, target in _imported(node)
        }
        for alias, (source, imported) in local.items():
            self._follow_import(source, imported, alias, nodes)
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self._attributes.add(node.attr)
            if isinstance(node, ast.Name) and node.id not in local:
                self.add(module, node.id)
                if node.id in own.imports:
                    self._follow_import(*own.imports[node.id], node.id, nodes)

    def _follow_import(self, source: str, imported: str, alias: str, nodes: list[ast.AST]) -> None:
        """Add an imported name; if it is a module, add the module's attributes that are used."""
        if not _is_own(source):
            return
        whole = f"{source}.{imported}" if imported else source
        if self._path(whole) is None:
            self.add(source, imported)
            return
        for node in nodes:
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            if node.value.id == alias:
                self.add(whole, node.attr)

    def _is_used(self, method: ast.FunctionDef) -> bool:
        return method.name.startswith("__") or method.name in self._attributes

    def _path(self, module: str) -> Path | None:
        path = self._root.joinpath(*module.split("."))
        places = (path.with_suffix(".py"), path / "__init__.py")
        return next((place for place in places if place.is_file()), None)

    def _module(self, name: str) -> _Module:
        if name not in self._modules:
            path = self._path(name)
            if path is None:
                raise LookupError(f"There is no module {name}.")
            tree = ast.parse(path.read_text("utf-8"))
            self._modules[name] = _parsed(list(_without_types(tree.body)))
        return self._modules[name]


class _Writer(ast.NodeTransformer):
    """Removes docstrings, annotations and unreached methods, and renames imports."""

    def __init__(
        self, lines: set[int], is_module: Callable[[str], bool], renamed: Callable[[str], str]
    ) -> None:
        self._kept = lines
        self._is_module = is_module
        self._renamed = renamed

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Remove annotations and docstring."""
        arguments = (*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs)
        for argument in (*arguments, node.args.vararg, node.args.kwarg):
            if argument is not None:
                argument.annotation = None
        node.returns = None
        node.body = [_unannotated(one) for one in _without_docstring(node.body)]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Remove docstrings, and methods that no reached code uses."""
        node.body = [
            one
            for one in _without_docstring(node.body)
            if not isinstance(one, ast.FunctionDef) or id(one) in self._kept
        ] or [ast.Pass()]
        return self.generic_visit(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Rename an import inside a function."""
        source, [one, *others] = node.module or "", node.names
        if not _is_own(source):
            return node
        if self._is_module(f"{source}.{one.name}"):
            if others:
                raise LookupError(f"Import the modules of {source} one by one.")
            place = self._renamed(f"{source}.{one.name}")
            line = _import(place, "", one.asname or one.name, is_project=True)
            return ast.parse(line).body[0]
        node.module = self._renamed(source)
        return node


def _import(module: str, imported: str, name: str, *, is_project: bool) -> str:
    if not imported and is_project:
        folder, _, last = module.rpartition(".")
        module, imported = folder, last
    if not imported:
        return f"import {module}" + (f" as {name}" if module != name else "")
    return f"from {module} import {imported}" + (f" as {name}" if imported != name else "")


def _is_own(module: str) -> bool:
    return module == SOURCE or module.startswith(f"{SOURCE}.")


def _is_vision(module: str) -> bool:
    return ".vision" in module or ".pictures" in module


def _parsed(statements: list[ast.stmt]) -> _Module:
    found = _Module(statements)
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.imports.update(_imported(statement))
        elif isinstance(statement, _DEFINITIONS):
            found.names[statement.name].append(statement)
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            for name in _assigned(statement):
                found.names[name].append(statement)
        elif not isinstance(statement, ast.Expr):
            found.effects.append(statement)
    return found


def _assigned(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each name that an import defines, with the module and the name in that module."""
    for one in node.names:
        if isinstance(node, ast.Import):
            yield one.asname or one.name.split(".")[0], (one.name, "")
        else:
            yield one.asname or one.name, (node.module or "", one.name)


def _without_types(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements, except those that only type checkers evaluate."""
    for one in statements:
        if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING":
            yield from one.orelse
        elif not (isinstance(one, ast.ImportFrom) and one.module == "__future__"):
            yield one


def _evaluated(statement: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a statement, except methods of classes and unneeded annotations."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns") and not _is_class_member(value):
                continue
            for child in value if isinstance(value, list) else [value]:
                is_method = isinstance(node, ast.ClassDef) and isinstance(child, ast.FunctionDef)
                if isinstance(child, ast.AST) and not is_method:
                    stack.append(child)


def _is_class_member(annotation: object) -> bool:
    """Return whether an annotation is a ClassVar, which dataclasses need at run time."""
    return isinstance(annotation, ast.AST) and "ClassVar" in ast.unparse(annotation)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    return [
        one
        for one in body
        if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
    ] or [ast.Pass()]


def _unannotated(statement: ast.stmt) -> ast.stmt:
    if not isinstance(statement, ast.AnnAssign):
        return statement
    if statement.value is None:
        return ast.copy_location(ast.Pass(), statement)
    plain = ast.Assign([statement.target], statement.value, None)
    return ast.copy_location(plain, statement)


def write_runtime(root: Path, package: Path, target: Path) -> None:
    """Write the package of presage-runtime: its own modules, and the engine that they import.

    Args:
        root: folder that contains the source package.
        package: folder of the runtime's own modules.
        target: folder of the finished package.
    """
    own = sorted(package.glob("*.py"))
    code = ReachableCode(root)
    code.add_users(own)
    code.finish()
    renamed = code.write(target / "_engine", f"{package.name}._engine")
    for path in own:
        text = path.read_text("utf-8")
        imports = re.compile(rf"^(\s*)from ({SOURCE}[\w.]*) import", re.MULTILINE)
        text = imports.sub(lambda found: f"{found[1]}from {renamed(found[2])} import", text)
        (target / path.name).write_text(text, "utf-8")
