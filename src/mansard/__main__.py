"""`python -m mansard`."""

from mansard.cli import main

if __name__ == "__main__":
    main()
