"""`python -m ralph` is `ralph`."""

from ralph.cli import main

if __name__ == "__main__":
    main()
