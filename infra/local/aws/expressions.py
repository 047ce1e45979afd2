"""Speeds up moto's parser of DynamoDB expressions, which took most of the time of UpdateItem calls.

The service uses a few hundred expressions. So each expression is parsed once, and a later
call skips the checks that it has passed. Tests compare answers and errors with unchanged moto.
"""

from __future__ import annotations

from abc import ABCMeta
from copy import deepcopy
from functools import lru_cache
from typing import Any

from moto.dynamodb.comparisons import AttributeValue, ConditionExpressionParser
from moto.dynamodb.parsing import ast_nodes, expressions, validators

_MOST_EXPRESSIONS = 1_000
_nodes: Any = ast_nodes
_expressions: Any = expressions
_validators: Any = validators
_conditions: Any = ConditionExpressionParser
_parse = _conditions.parse
_make_condition = _conditions._make_op_condition
_make_operand = _conditions._make_operand
_walker = _nodes.DepthFirstTraverser
_skip = _walker.pre_processing_of_child
_walk_tree = _walker.traverse_node_recursively
_CHECKS = (
    _validators.ActionCountValidator,
    _validators.OverlappingPathsValidator,
    _validators.UpdateHashRangeKeyValidator,
)
"""They look at nothing but the expression, its names and the keys of the table."""
_Found = tuple[Any, list[str], list[str]]
_known_conditions: dict[Any, _Found] = {}
_passed: set[Any] = set()
_processed_as: dict[type, dict[type, Any]] = {}
"""By class of walker and class of node, the class by which it is processed; None if it is not."""


def install() -> None:
    """Patch moto in this process."""
    parser = _expressions.UpdateExpressionParser
    # A validator changes the tree, so it gets a copy of the cached one.
    parser.make = staticmethod(lru_cache(_MOST_EXPRESSIONS)(parser.make))
    lex = lru_cache(10 * _MOST_EXPRESSIONS)(ConditionExpressionParser("", {}, {})._lex_one_node)
    _conditions._lex_one_node = lambda _, text: lex(text)
    _nodes.Node.__deepcopy__ = _copy_tree
    _conditions.parse = _parse_condition
    _conditions._make_op_condition = _note_condition
    _conditions._make_operand = _find_operand
    _validators.UpdateExpressionValidator.validate = _validate
    _walker.traverse_node_recursively = _walk
    _check_inheritance_only()


def _check_inheritance_only() -> None:
    """Let `isinstance` check only inheritance, because the parser needs no virtual subclasses."""
    waiting = [_nodes.Node]
    while waiting:
        one = waiting.pop()
        waiting += one.__subclasses__()
        one.__class__ = _PlainType


class _PlainType(ABCMeta):
    """Makes `isinstance` faster: it ignores virtual subclasses, which the parser does not use."""

    __instancecheck__ = type.__instancecheck__


def _copy_tree(node: Any, memo: Any) -> Any:
    """Copy an expression tree as `deepcopy` would, without its table of copied objects."""
    made = object.__new__(type(node))
    children = node.children
    if children is not None:
        children = [
            _copy_tree(child, memo) if isinstance(child, _nodes.Node) else deepcopy(child, memo)
            for child in children
        ]
        for child in children:
            if isinstance(child, _nodes.Node):
                child.parent = made
    vars(made).update(vars(node), children=children, parent=None)
    return made


def _walk(walker: Any, node: Any, child_id: int = -1) -> Any:
    """Process the nodes of a tree from the bottom up, as moto does, and return the new root."""
    if not isinstance(node, _nodes.Node):
        return node
    kind = type(walker)
    enters = kind.pre_processing_of_child is not _skip
    return _step(walker, _processed_as.setdefault(kind, {}), enters, node, child_id)


def _step(walker: Any, bases: dict[type, Any], enters: bool, node: Any, child_id: int) -> Any:
    """Process a node after its children.

    Args:
        walker: processes nodes.
        bases: for each class of nodes, the base class for which the walker has a function.
        enters: whether the walker is called before each child.
        node: the root of a tree.
        child_id: index of the node among the children of its parent.
    """
    parent, kind = node.parent, type(node)
    # No walker of moto processes the names, dots and indexes of a path.
    children = () if kind is _nodes.UpdateExpressionPath else node.children or ()
    for number, child in enumerate(children):
        if enters:
            walker.pre_processing_of_child(node, number)
        if type(child) is not str and isinstance(child, _nodes.Node):
            _step(walker, bases, enters, child, number)
    if kind not in bases:
        found = (base for base in walker._processing_map() if isinstance(node, base))
        bases[kind] = next(found, None)
    base = bases[kind]
    if base is not None:
        node = walker._processing_map()[base](node)
        node.parent = parent
        if parent:
            parent.children[child_id] = node
    return node


def _validate(validator: Any) -> Any:
    """Validate an update; skip the checks that the same expression has passed earlier."""
    names, keys = validator.expression_attribute_names or {}, validator.table.table_key_attrs
    asked = (_text(validator.node_to_validate), tuple(names.items()), tuple(keys))
    tree, is_known = validator.node_to_validate, asked in _passed
    for processor in validator.processors:
        if not (is_known and isinstance(processor, _CHECKS)):
            tree = processor.traverse(tree)
    if len(_passed) < _MOST_EXPRESSIONS:
        _passed.add(asked)
    return tree


def _text(node: Any) -> Any:
    """Return an expression tree as nested tuples."""
    if not isinstance(node, _nodes.Node):
        return node
    return type(node), *map(_text, node.children or ())


def _parse_condition(parser: Any) -> Any:
    """Parse a condition. If it was parsed before, reuse its tree with the values of this call."""
    if not parser.condition_expression:
        return _parse(parser)
    names, values = parser.expression_attribute_names, parser.expression_attribute_values
    asked = parser.condition_expression, tuple((names or {}).items())
    known = _known_conditions.get(asked)
    if known is None or not all(name in (values or {}) for name in known[2]):
        parsed = _parse(parser)
        found = parser._tree, parser.expr_attr_names_found[:], parser.expr_attr_values_found[:]
        if len(_known_conditions) < _MOST_EXPRESSIONS:
            _known_conditions[asked] = found
        return parsed
    parser.expr_attr_names_found += known[1]
    parser.expr_attr_values_found += known[2]
    return _make_condition(parser, known[0])


def _note_condition(parser: Any, node: Any) -> Any:
    """Make the operator of a node. The parser's first node is also stored as the tree's root."""
    vars(parser).setdefault("_tree", node)
    return _make_condition(parser, node)


def _find_operand(parser: Any, node: Any) -> Any:
    """Make an operand, with the value of the current call, because trees are reused."""
    if node.kind == parser.Kind.EXPRESSION_ATTRIBUTE_VALUE:
        return AttributeValue(parser.expression_attribute_values[node.text])
    return _make_operand(parser, node)
