#!/usr/bin/env python3
"""Attributes of names and descriptors that change meanwhile, and being told."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from flip import check
from wary_test import finish

for mode in sys.argv[1:] or "chmod truncate utimensat setxattr fchmod stat readlink".split():
    check(mode)
finish()
