"""Results as documents: what each command has to say."""
