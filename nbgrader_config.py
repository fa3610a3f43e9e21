"""How nbgrader finds and cuts this course; see INSTRUCTORS.md and tools/exercises.py."""

c = get_config()  # noqa: F821  nbgrader defines it
c.CourseDirectory.course_id = "decoder"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.db_url = "sqlite:///gradebook.db?timeout=60"
c.ClearSolutions.code_stub = {"python": "# your code here\nraise NotImplementedError"}
c.ClearSolutions.text_stub = "*Your answer here.*"
# A lost cell or a warning must not cost an honest student the marks.
c.OverwriteCells.add_missing_cells = True
c.IgnorePattern.enabled = True
c.IgnorePattern.pattern = r"(UserWarning|FutureWarning|NNPACK)"
c.Execute.timeout = 60
