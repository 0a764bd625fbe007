/** Whether the page is narrow, as its stylesheets mean it. */
export const narrow = matchMedia("(max-width: 48rem)");
