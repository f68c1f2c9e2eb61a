"""How the server fares, in numbers for Prometheus.

facts       what the database tells: the same from every machine
handing     what processes count of themselves, handed over to the database again and again
collecting  both, as Prometheus' text; the names and meanings of all metrics
readiness   whether this machine can do its work
"""
