// What is wider than the page scrolls in a box of its own; the keyboard must get there.
const BOXES = ".md-typeset__scrollwrap, .highlight-ipynb, .jp-RenderedHTMLCommon, .jp-RenderedHTMLCommon div";
const reach = () =>
  document.querySelectorAll(BOXES).forEach((box) => {
    const scrolls = getComputedStyle(box).overflowX === "auto" && box.scrollWidth > box.clientWidth;
    if (scrolls && !box.hasAttribute("tabindex")) box.tabIndex = 0;
  });
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", reach);
reach();
