"""The site map."""

urlpatterns: list = []
