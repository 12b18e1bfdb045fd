// A table that is wider than the page scrolls in a box of its own; the keyboard must get there.
const reach = () =>
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((box) => {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
  });
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reach);
reach();
