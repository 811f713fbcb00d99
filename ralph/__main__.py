"""`python -m ralph` is `ralph`, which takes no module from the current folder."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # a workspace may have a json.py
    from ralph.cli import main

    main()
