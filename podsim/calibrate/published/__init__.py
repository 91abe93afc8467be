"""Published results of whole programs beside what podsim predicts, and which of them constants are fitted to."""
