"use strict";

// Loads the parts of a page that take longer, and keeps a live page up to date.
// All HTML comes from this server, where every text is escaped; the page's policy runs no script in it.

async function load(place) {
  try {
    const answer = await fetch(place.dataset.load + "?part=1", { credentials: "same-origin" });
    if (!answer.ok) return;
    const old = place.querySelector(".loaded, p");
    const part = document.createElement("div");
    part.className = "loaded";
    part.innerHTML = await answer.text();
    if (old) old.replaceWith(part); else place.append(part);
  } catch (error) { /* the link to the page of its own stays */ }
}

document.querySelectorAll("[data-load]").forEach(load);

const MOST_ENTRIES = 300;

function add(list, html, most) {
  if (!html.trim()) return;
  const known = new Set(Array.from(list.querySelectorAll(":scope > [data-key]"), (each) => each.dataset.key));
  const made = document.createElement("template");
  made.innerHTML = html;
  for (const each of Array.from(made.content.children)) if (known.has(each.dataset.key)) each.remove();
  list.prepend(made.content);
  while (list.children.length > most) list.lastElementChild.remove();
}

function follow(status) {
  const source = new EventSource(status.dataset.live);
  const timeline = document.getElementById("timeline");
  const iterations = document.getElementById("iterations");
  const said = document.getElementById("said");
  const plots = document.getElementById("plots");
  source.onmessage = (event) => {
    const parts = JSON.parse(event.data);
    status.innerHTML = parts.status;
    const words = status.querySelector("[data-said]").dataset.said;
    if (said.textContent !== words) said.textContent = words;  // read out once, not with every figure
    add(timeline, parts.entries, MOST_ENTRIES);
    add(iterations, parts.rows, 50);
    if (parts.rows.trim()) { clearTimeout(follow.later); follow.later = setTimeout(() => load(plots), 500); }
  };
  source.addEventListener("again", () => { source.close(); setTimeout(() => location.reload(), 2000); });
  source.addEventListener("end", () => {
    source.close();
    const typed = Array.from(document.querySelectorAll("textarea, input")).some((field) => field.value);
    if (!typed) location.reload();
  });
}

const live = document.querySelector("[data-live]");
if (live) follow(live);

const EVERY = 2000;

async function refresh(place) {
  try {
    const answer = document.hidden ? null : await fetch(place.dataset.refresh, { credentials: "same-origin" });
    if (answer && answer.ok) {
      const made = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(place.id);
      if (made && made.innerHTML !== place.innerHTML) place.replaceChildren(...made.childNodes);
    }
  } catch (error) { /* the next one may work again */ }
  setTimeout(refresh, EVERY, place);
}

document.querySelectorAll("[data-refresh]").forEach((place) => setTimeout(refresh, EVERY, place));
