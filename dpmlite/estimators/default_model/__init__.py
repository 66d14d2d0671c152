"""What nothing told means: family, hyperparameters and power, and the labels that chose them."""
