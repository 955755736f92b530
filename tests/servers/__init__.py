"""Real servers for the tests; they need Linux.

The fixtures (`fixtures.py`):

- `postgres`: the session's PostgreSQL server, one for all its workers; `postgres.fresh()` gives a new database.
- `postgres_url`: the URL of a new database on it, dropped after the test.
- `each_postgres`: the same for each version that rota is tested on.
- `private_postgres`: a server for this test alone, to stop, to start and to kill.

A server starts when the first test asks for it, in some 0.6 s. It ends with the session, however that ends: `guard.py`.

What the environment may say:

- `ROTA_TEST_POSTGRES_URL`: the server to use. It is not stopped, and gets databases named `rota_…`, which are dropped.
- `ROTA_TEST_POSTGRES`: the version to use, such as 18. Without it: the URL's, the system's newest, the wheel's.
- `ROTA_TEST_STRICT=1`: a server that is missing fails its tests; else it skips them, by name.
"""
