"""What people call: fit and predict by scikit-learn's conventions, without scikit-learn."""
