"""Side-by-side measurements: course_lib against its peers, as ratios in one run."""
