"""What ratings that were held out say of a release: prediction, recommendation, likeness."""
