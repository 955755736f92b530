# ruff: noqa: A005 - this is tests.time, which hides nothing
