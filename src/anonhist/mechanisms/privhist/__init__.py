"""PrivHist: small counts and large ones apart."""
