# %% [markdown]
# Which machine trains BERT in time? For whoever has to answer a customer. Open it as a notebook, or run it as it is.

# %%
import podsim

WORKLOAD, WITHIN_MIN = "bert", 10.0
answers = {ipus: podsim.predict(WORKLOAD, pod=ipus, engine="analytic") for ipus in (16, 32, 64, 128)}

# %% [markdown]
# The time to train, the end of its interval that a promise has to hold to, and how far it stands from a measurement.

# %%
print(f"{'IPUs':>5} {'minutes':>8} {'at worst':>9}  grade")
for ipus, p in answers.items():
    time = p.time_to_train_s
    print(f"{ipus:>5} {time.value / 60:>8.1f} {time.high / 60:>9.1f}  {time.grade}")

# %% [markdown]
# The smallest machine whose interval ends in time is the one to offer; a machine in time only at the mean is a risk.

# %%
fits = [ipus for ipus, p in answers.items() if p.time_to_train_s.high <= 60 * WITHIN_MIN]
offer = min(fits)
print(f"offer: {answers[offer].topology_title}, {offer} IPUs, limited by: {answers[offer].limited_by}")

# %% [markdown]
# What the customer will ask next: would a bigger one be worth it? IPU-minutes show the machine time of a run.

# %%
for ipus, p in answers.items():
    print(f"{ipus:>5} IPUs: {ipus * p.time_to_train_s.value / 60:,.0f} IPU-minutes a run")

# %% [markdown]
# In a notebook the last line draws the whole page: the answer, its breakdown, what was assumed.

# %%
answers[offer]
