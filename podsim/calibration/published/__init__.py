"""Published results of complete programs beside what podsim predicts, and which of them constants are fitted to."""
