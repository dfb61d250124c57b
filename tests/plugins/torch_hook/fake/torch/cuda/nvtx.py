"""Ranges, as a list of calls."""

calls = []


def range_push(name):
    calls.append(f"push {name}")


def range_pop():
    calls.append("pop")
