"""Published claims held against the model: an evaluator for each kind of metric."""
