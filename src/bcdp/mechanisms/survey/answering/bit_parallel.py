"""64 records at a time: the answers of plans of few menus that each ask for one bit and keep or flip it.

A yes or no about each of 64 records is one machine word. Menus are intervals of the first word one after the other, so
what a record says is found by replacing: the word of the first menu's answers, then of the second's for those records
that drew it or a later one, and so on. Vectors are written as LLVM has them, for any processor; numba has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic as _intrinsic

AT_ONCE = 64
MOST_MENUS = 32  # more are quicker one record at a time; their numbers have five digits
_NUMBER, _WORD = ir.IntType(32), ir.IntType(64)
_PLACE = np.uint64
intrinsic: Callable[[Callable[..., Any]], Callable[..., Any]] = _intrinsic  # called without the first argument


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Machine code, kept on the disk for the next run where there is a place for it."""
    try:
        return njit(nogil=True, cache=True)(function)
    except RuntimeError:
        return njit(nogil=True)(function)


def _vector(size: int, value: Any) -> Any:
    return ir.Constant(ir.VectorType(_NUMBER, size), value)


@intrinsic
def _at_least(context: Any, words: Any, record: Any, position: Any, bound: Any) -> Any:
    """Whether the word at a position, of each of 64 records from one on, is at least a bound: a bit for each."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array, record, position, bound = given
        data = context.make_array(signature.args[0])(context, builder, array).data
        first = builder.add(builder.mul(record, ir.Constant(_WORD, 4)), position)
        unset = _vector(AT_ONCE, ir.Undefined)
        splat = builder.insert_element(unset, bound, ir.Constant(_NUMBER, 0))
        bounds = builder.shuffle_vector(splat, unset, _vector(AT_ONCE, [0] * AT_ONCE))
        read = ir.VectorType(_NUMBER, 4 * AT_ONCE - 3)  # to the last word that is asked for, and not beyond
        address = builder.bitcast(builder.gep(data, [first]), read.as_pointer())
        chosen = _vector(AT_ONCE, [4 * k for k in range(AT_ONCE)])
        asked = builder.shuffle_vector(builder.load(address, align=4), ir.Constant(read, ir.Undefined), chosen)
        return builder.bitcast(builder.icmp_unsigned(">=", asked, bounds), _WORD)

    return types.uint64(words, types.uint64, types.uint64, types.uint32), build


@intrinsic
def _write(context: Any, target: Any, record: Any, digits: Any) -> Any:
    """Writes a number for each of 64 records from one on; its binary digits are bits of as many words."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        array, record, words = given
        data = context.make_array(signature.args[0])(context, builder, array).data
        total = zero = _vector(AT_ONCE, [0] * AT_ONCE)
        for digit in range(len(digits)):
            bits = builder.bitcast(builder.extract_value(words, digit), ir.VectorType(ir.IntType(1), AT_ONCE))
            total = builder.or_(total, builder.select(bits, _vector(AT_ONCE, [1 << digit] * AT_ONCE), zero))
        address = builder.bitcast(builder.gep(data, [record]), total.type.as_pointer())
        builder.store(total, address, align=4)
        return context.get_dummy_value()

    return types.void(target, types.uint64, digits), build


@intrinsic
def fetch_ahead(context: Any, array: Any, index: Any) -> Any:
    """Tells the processor that a place of an array will be read soon; it may lie beyond the end."""

    def build(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, given[0]).data
        address = builder.bitcast(builder.gep(data, [given[1]]), ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [address.type, _NUMBER, _NUMBER, _NUMBER])
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
        reading, not_for_long, data_cache = (ir.Constant(_NUMBER, number) for number in (0, 1, 1))
        builder.call(fetch, [address, reading, not_for_long, data_cache])
        return context.get_dummy_value()

    return types.void(array, types.uint64), build


@compiled
def answer_lanes(first: Any, asked: Any, bits: Any, menus: Any, answers: Any) -> None:
    """The menu and the answer of each record; there are a multiple of 64, and at most 32 menus."""
    ends, keep, row, swapped = asked.ends, asked.keep, asked.row, asked.swapped
    menu_word, table_word = _PLACE(0), _PLACE(2)
    for group in range(_PLACE(len(menus)) // _PLACE(AT_ONCE)):
        record = group * _PLACE(AT_ONCE)
        answered = bits[row[0], group] ^ swapped[0]
        flipped = lies = _at_least(first, record, table_word, keep[0])
        # of a number of intervals passed, digit d is how often mod 2 a multiple of 2^d was reached
        ones = twos = fours = eights = sixteens = _PLACE(0)
        for menu in range(_PLACE(1), _PLACE(len(keep))):
            reached = _at_least(first, record, menu_word, ends[menu - _PLACE(1)])
            answered ^= (answered ^ bits[row[menu], group] ^ swapped[menu]) & reached
            if keep[menu] != keep[menu - _PLACE(1)]:
                flipped = _at_least(first, record, table_word, keep[menu])
            lies ^= (lies ^ flipped) & reached
            ones ^= reached
            if menu & _PLACE(1) == 0:
                twos ^= reached
                if menu & _PLACE(2) == 0:
                    fours ^= reached
                    if menu & _PLACE(4) == 0:
                        eights ^= reached
                        if menu & _PLACE(8) == 0:
                            sixteens ^= reached
        _write(menus, record, (ones, twos, fours, eights, sixteens))
        _write(answers, record, (answered ^ lies,))
