"""From a timeline and samples to an answer with its interval and grade."""
