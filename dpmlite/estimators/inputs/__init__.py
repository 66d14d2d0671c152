"""What users give: tables, weights and parameters, read and checked."""
