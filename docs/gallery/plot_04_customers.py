"""
Customers, explained
====================

Ages, incomes, plans, visits, and cells that nobody filled in: a table of customers goes into
``MAPDPM`` as it is. Each column gets a family of its own, and each cluster says what makes it one.
"""

import numpy as np
import pandas as pd

from dpmlite import MAPDPM
from dpmlite.plotting import plot_profiles

# %%
# Eight hundred customers of four kinds, which nobody knows. Every twelfth income is missing.

rng = np.random.default_rng(0)
kind = rng.choice(4, size=800, p=[0.4, 0.3, 0.2, 0.1])
plans = np.array([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.05, 0.25, 0.7], [0.6, 0.3, 0.1]])
customers = pd.DataFrame(
    {
        "age": rng.normal(np.array([27, 41, 55, 68])[kind], 5.0).round(),
        "income": np.exp(rng.normal(np.array([7.4, 8.1, 9.0, 7.7])[kind], 0.3)).round(-1),
        "plan": [rng.choice(["free", "team", "firm"], p=plans[k]) for k in kind],
        "visits": rng.poisson(np.array([3, 14, 6, 30])[kind]),
        "city": rng.choice(["Oslo", "Paris", "Rome"], size=800),
    }
)
customers.loc[::12, "income"] = np.nan
print(customers.head())

# %%
# The fit. ``component_`` has the family that each column got: text is a category, whole numbers
# of events are Poisson, money has a long tail and is clustered by its logarithm.

model = MAPDPM(allow_missing=True, random_state=0).fit(customers)
for column, family in model.component_.items():
    print(f"{column:7} {family}")

# %%
# What is typical of each cluster, in a line each:

print(model.summary())

# %%
# ``explain`` says by how many nats each column separates a row of the cluster from all others. The
# city tells nothing, and so it does no harm.

print(model.explain(2))

# %%
# The same for all clusters in one picture: darker cells tell more.

figure = plot_profiles(model)

# %%
# A new customer gets a cluster and its probability. Cells may be missing here, too.

new = pd.DataFrame(
    {"age": [63.0], "income": [np.nan], "plan": ["free"], "visits": [28], "city": ["Rome"]}
)
probability = model.predict_proba(new).max()
print(f"cluster {model.predict(new)[0]} with probability {probability:.4f}")

# %%
# ``impute`` fills the gaps with what the clusters of a row expect.

print(model.impute(customers).head(1))

# %%
# .. seealso:: :doc:`/guide/mixed-tables`
