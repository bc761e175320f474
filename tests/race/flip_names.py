#!/usr/bin/env python3
"""Making, moving and removing names that change meanwhile."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from flip import check
from wary_test import finish

# Out of a folder that is stricter nothing is moved or linked, whatever was
# judged: the rules for both names are compared once more (law 12).
TWICE = {"rename_from", "link_from"}
for mode in sys.argv[1:] or ("mkdir mknod symlink unlink rename_from rename_to link_from "
                             "link_to").split():
    check(mode, twice=mode in TWICE)
finish()
