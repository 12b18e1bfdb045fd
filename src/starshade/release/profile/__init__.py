"""Profiles: releases in which a group is one row of means or predictions."""
