#!/usr/bin/env python3
"""Opening and creating by names, links, folders and flags that change meanwhile."""
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SRC"], "tests/lib"))
from flip import check
from wary_test import finish

for mode in sys.argv[1:] or ("open_name open_link open_folder open_dirfd open_cwd open_magic "
                             "open_how open_emptied create create_cwd").split():
    check(mode)
finish()
