"""Everything that may happen to Git Sync, as steps to be drawn, and what must hold in the end.

`at_github` is what people do there, `underway` what befalls requests and deliveries, `at_ours` what
workers, timer and people do here; `world` is what they act on, `settled` what is asked afterwards.
"""
