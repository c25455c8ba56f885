"""Forms of an answer: report, brief, table, slides, chart and canvas, each with the sources of what it says."""
