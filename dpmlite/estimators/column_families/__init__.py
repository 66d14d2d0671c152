"""The family of each column: as a user says, as its cells look, or by the joint."""
