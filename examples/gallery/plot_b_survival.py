"""
Survival by predicted risk
==========================

Patients are followed until an event, or until they are lost from sight.
:class:`ranksvm.SurvivalSVM` learns a risk from both; the estimate of Kaplan and Meier shows what it
tells of patients that it has not seen.
"""

# %%
# Six hundred patients. The event comes the sooner, the larger the first features are; half of the
# patients leave before it does.
import matplotlib.pyplot as plt
import numpy as np

from ranksvm import SurvivalSVMCV, concordance_index
from ranksvm.plots import KaplanMeierDisplay

rng = np.random.default_rng(1)
X = rng.normal(size=(600, 6))
months = 30 * np.exp(-X[:, :3] @ [0.9, 0.6, 0.3]) * rng.weibull(1.5, size=600)
lost = rng.uniform(0, 80, size=600)
event, time = months <= lost, np.ceil(np.minimum(months, lost))
print(f"{event.sum()} events, {(~event).sum()} censored")

# %%
# C is chosen by cross-validation, on the first half.
train, test = np.arange(600) < 300, np.arange(600) >= 300
model = SurvivalSVMCV(Cs=7).fit(X[train], event=event[train], time=time[train])
risk = model.predict(X[test])
print(f"C = {model.C_:g}, concordance index {concordance_index(event[test], time[test], risk):.3f}")

# %%
# The other half, by thirds of the predicted risk. Ticks are patients who were lost.
figure, axes = plt.subplots(figsize=(6.5, 4.2))
KaplanMeierDisplay.from_predictions(event[test], time[test], risk, ax=axes)
axes.set_xlabel("months")
plt.show()
