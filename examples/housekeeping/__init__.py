"""Housekeeping: a small application that keeps a folder in order, on a rota.

`app.py` has the jobs and their schedules: begin there. `report.py`, `logs.py` and `outbox.py` do the work, on the files
in `folders.py`. The rest shows what happens: `ledger.py` asks the tables, `news.py` words the events, `board.py` and
`plain.py` show them, `summary.py` has the last word, and `__main__.py` runs it all.
"""
