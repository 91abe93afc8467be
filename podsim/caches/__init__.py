"""What is kept to be found again: tables in memory by one policy, and results in a folder of the user."""
