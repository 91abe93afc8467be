"""Published claims compared with the model: an evaluator for each kind of metric."""
