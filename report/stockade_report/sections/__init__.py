"""The sections of the page, one file each, in the order in which they stand there.

A module of a section has `TITLE`, `COMMANDS`, what prints the results that it is made of, and `build(runs)`, which
gives what these runs have something for: pictures, and (run, title, table) where a table is enough.
"""

from . import ablation, batches, files, launch, ratios, scaling, speedup, stages, studies, throughput

SECTIONS = (ratios, throughput, speedup, launch, stages, files, ablation, batches, scaling, studies)
