"""The index of a workspace, without the disk: what is in a file, what a question means, which places answer it.

    facts.py     what is taken out of one file
    asking.py    a question to the index, and its answer
    telling.py   how far the index is
"""
