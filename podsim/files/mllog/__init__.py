"""MLPerf result logs: files to lines, lines to events, events to runs."""
