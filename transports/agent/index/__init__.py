"""The index of a workspace: a file of SQLite, which worker processes fill, and which the server asks.

schema.py     the tables
database.py   the file: opened, locked, found damaged, made anew
writing.py    the rows of one file of the workspace
walk.py       which files there are, and which of them are not as the index has them
reading.py    what is taken out of one file of the workspace, and what must not be
relating.py   imports resolved, files ranked by them
orders.py     what the server wants of a worker, and what it is told
worker.py     the worker's program
updating.py   an update, from its begin to its end
finding.py    a question

With an embedding model:

vector_rows.py    the vectors' tables
vector_matrix.py  all vectors in memory, compared with a question's
meaning.py        vectors filled in, and places found by them
"""
