"""Answers of toulbar2 in the order of their networks."""

from collections.abc import Iterable

from mam.infer.toulbar import ToulbarAnswer


def in_order(answers: Iterable[tuple[int, ToulbarAnswer]]) -> list[ToulbarAnswer]:
    by_number = dict(answers)
    return [by_number[number] for number in range(len(by_number))]
