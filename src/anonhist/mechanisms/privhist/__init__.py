"""PrivHist: separate noise on small and large counts."""
