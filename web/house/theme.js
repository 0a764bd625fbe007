/**
 * The theme: light, dark, or that of the operating system ("auto"). The choice is kept in this browser and set on
 * `<html data-theme>`.
 *
 * A page loads this module with `blocking="render"`, so that the first thing drawn is already in the right theme.
 */

const KEY = "troupe.theme";
const CHOICES = ["auto", "light", "dark"];

function kept() {
  try {
    const choice = localStorage.getItem(KEY);
    return choice !== null && CHOICES.includes(choice) ? choice : "auto";
  } catch {
    return "auto"; // a sandboxed webview may refuse its storage
  }
}

export let theme = kept();

function choose(choice) {
  theme = choice;
  if (choice === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // as above: then the choice lasts as long as the page
  }
}

export function chooseNext() {
  choose(CHOICES[(CHOICES.indexOf(theme) + 1) % CHOICES.length]);
}

choose(theme);
