"""One attack, model, method and measure, as small as can be, to be found everywhere."""
