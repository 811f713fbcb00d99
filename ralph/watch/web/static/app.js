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
