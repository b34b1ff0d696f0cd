"""The optimum of a conditional random field: objective, kernels, and the solvers of
both stages.

A gradient is worked out by::

    solve                      solve.py          both stages, and the result
    +- stochastic_passes       sgd.py            stage one, sequence by sequence
    |  +- _descend             sgd.py            compiled
    |     +- expect_sequence   sequence_sums.py  log Z and marginals of one sequence
    +- active_orthant, owlqn   working_set.py    stage two
       +- Memory, search       quasi_newton.py   directions and steps
       +- StoppingRule         bound.py          the gap
       +- evaluate             objective.py      on the weights of a View (view.py)
          +- CorpusPass.run    corpus_pass.py    sums over blocks of sequences, in threads
             +- expect         expectations.py   compiled: log Z and marginals by group
                +- sum_emissions, add_expected   emissions.py

These words mean one thing:

- *pair*: a feature and a label; *label pair*: two labels in a row; *conditioned pair*: a
  combination of what is seen in the input, and two labels in a row.
- *optional weights*: those of pairs and of conditioned pairs, which a view may leave out.
- *group*: sequences that inner loops go over together; *block*: groups with one sum; *run*:
  blocks that share a longer array.
- *part*: features of a token that come together, and have a row of a table.
"""
