"""The meeting of the ranks of one job, and the messages that pass between them and their coordinator."""
