"""`python -m benchmarks`: the table of speeds."""

from benchmarks.speed import main

main()
