// Asks for a newer page now and then, and puts its figures in place of those that are shown. It stores nothing.
const SECONDS = 30;
const main = document.querySelector("main");

/** Put what another page says in place of what this one does, if it differs; open details stay open. */
function replace(id, page) {
  const shown = document.getElementById(id), newer = page.getElementById(id);
  if (shown && newer && shown.innerHTML !== newer.innerHTML) shown.replaceChildren(...newer.childNodes);
}

/** Ask once; return whether to ask again. */
async function ask() {
  const answer = await fetch("./", {
    headers: { "If-None-Match": main.dataset.etag },
    cache: "no-store",
    credentials: "omit",
    referrerPolicy: "no-referrer",
  });
  if (answer.status === 404 || answer.status === 410) return false;
  if (!answer.ok) return true; // 304: nothing is new
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const newer = page.querySelector("main[data-etag]");
  if (!newer) return true;
  replace("answered", page);
  replace("figures", page);
  main.dataset.etag = newer.dataset.etag;
  return newer.dataset.closed === undefined;
}

async function later() {
  // Somebody who does not look asks nothing.
  const again = document.hidden || (await ask().catch(() => true));
  if (again) setTimeout(later, 1000 * SECONDS);
}

if (main.dataset.closed === undefined) setTimeout(later, 1000 * SECONDS);
