"""``python -m stepnet`` and the command ``stepnet``."""

from stepnet.cli.app import main

if __name__ == "__main__":
    main()
