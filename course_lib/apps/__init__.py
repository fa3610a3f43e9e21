"""Programs made of the course's pieces; each is run by name.

python -m course_lib.apps.python_source train | complete "def mean("
"""
