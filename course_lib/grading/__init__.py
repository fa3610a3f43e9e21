"""Grade a class: untrusted notebooks run in a sandbox, values come out, we compare.

One module each: what an assignment asks (assignment), what was handed in (submissions),
what a student's process sees (view), who keeps it in (sandbox), what runs there
(inside), how we speak with it (conversation), how values travel (wire), the comparison
(grader), the batch and its file (batch), what a person adds (by_hand), what is told of
it (report, class_report, class_notebook, points), the command line (command).
"""
