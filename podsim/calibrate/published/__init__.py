"""Published results of whole programs beside what podsim says of them, none of them fitted."""
