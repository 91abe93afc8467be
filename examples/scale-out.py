# %% [markdown]
# What stops BERT from scaling, and what would help? For architects. Open it as a notebook, or run it as it is.

# %%
import podsim

small = podsim.predict("bert", pod=64, engine="analytic")
large = podsim.predict("bert", pod=256, engine="analytic")
speedup = small.time_to_train_s.value / large.time_to_train_s.value
print(f"4 times the IPUs, {speedup:.1f} times as quick: efficiency {speedup / 4:.0%}")

# %% [markdown]
# Which parts of a step grew?

# %%
for part, seconds in large.breakdown_s.items():
    grown = seconds - small.breakdown_s[part]
    if grown > 1e-3:
        print(f"{part.value:<18} {1e3 * grown:+7.1f} ms a step")

# %% [markdown]
# The large run taken apart: the effect of 1 % on each number, and where that number comes from.

# %%
why = podsim.explain("bert", pod=256, engine="analytic")
for item in why.influences[:5]:
    print(f"{item.name:<26} {item.change:+8.2%}  {item.kind}, {item.grade}: {item.source}")

# %% [markdown]
# What the run would be without each mechanism: an upper bound of what any engineering on it can gain.

# %%
for row in sorted(why.without, key=lambda row: row.change):
    print(f"{row.name:<28} {row.time_to_train_s / 60:5.2f} min  {row.change:+.1%}")

# %% [markdown]
# And which choices would help, with their flags, which `podsim predict` takes.

# %%
for item in why.alternatives:
    print("helps" if item.helps else "-    ", item.name, "|", item.why, "|", item.flags)

# %% [markdown]
# In a notebook the last line draws all of it.

# %%
why
