// The page of a view: a change of the form asks again, and the address follows. All questions are understood on the
// server: this file sends fields as they stand and shows what comes back.
"use strict";

(() => {
  const PAUSE_MS = 25; // a slider that moves on within it asks once
  const state = { abort: null, timer: 0, shown: null };
  const at = (id) => document.getElementById(id);
  const view = () => document.querySelector("main").dataset.view;

  function fields() {
    const data = new URLSearchParams();
    for (const [name, value] of new FormData(at("question"))) if (value.trim()) data.append(name, value);
    return data;
  }

  // Sliders write the stop they are at into the box beside them, and follow what is typed there.
  function stops(slider) {
    return slider.dataset.stops.split("|");
  }
  function say(slider) {
    slider.setAttribute("aria-valuetext", stops(slider)[slider.value] || slider.dataset.empty);
  }
  function follow(box) {
    const slider = document.querySelector(`input[type=range][data-for="${box.id}"]`);
    if (!slider) return;
    const found = stops(slider).indexOf(box.value.trim());
    if (found >= 0) slider.value = found;
    say(slider);
  }
  function prepare() {
    for (const slider of document.querySelectorAll("input[type=range]")) say(slider);
  }

  function mark(errors) {
    for (const field of document.querySelectorAll(".field")) {
      const text = errors[field.dataset.name] || "";
      const box = field.querySelector("[name]");
      field.classList.toggle("wrong", Boolean(text));
      field.querySelector(".error").textContent = text;
      if (text) box.setAttribute("aria-invalid", "true");
      else box.removeAttribute("aria-invalid");
      for (let group = text && field.closest("details"); group; group = group.parentElement.closest("details"))
        group.open = true;
    }
    const whole = errors[""] || "";
    at("alert").hidden = !whole;
    at("alert").textContent = whole;
  }

  function progress(done, total) {
    at("progress").hidden = false;
    at("progress-text").textContent = total ? `Computing, ${done} of ${total}` : "Computing";
    const bar = at("bar");
    if (total) {
      bar.max = total;
      bar.value = done;
    } else bar.removeAttribute("value");
  }

  function address(query) {
    const path = `/${view()}?${query}`;
    if (path === location.pathname + location.search) return;
    history[state.push ? "pushState" : "replaceState"]({}, "", path);
    state.push = false;
  }

  function head(event) {
    mark(event.errors);
    at("same").innerHTML = event.question;
    for (const link of document.querySelectorAll("nav a[data-view]")) link.href = event.links[link.dataset.view];
    if (Object.keys(event.errors).length) ended("The question has an error.");
    else address(event.query);
  }

  function ended(text) {
    at("progress").hidden = true;
    at("answer").classList.remove("stale");
    at("status").textContent = text;
    document.documentElement.dataset.answered = Number(document.documentElement.dataset.answered || 0) + 1;
  }

  // What scrolls sideways can be scrolled from the keyboard, and has a name.
  function reachable(root) {
    for (const box of root.querySelectorAll(".wide, figure")) {
      if (box.scrollWidth <= box.clientWidth) continue;
      const heading = box.querySelector("figcaption") || box.closest("section")?.querySelector("h2");
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${heading?.textContent || "Table"}, scrolls sideways`);
    }
  }

  function done(result, query) {
    at("answer").innerHTML = result.html;
    reachable(at("answer"));
    const details = at("details");
    details.hidden = false;
    details.dataset.query = query;
    if (details.open) load(details);
    const figures = [...document.querySelectorAll("#answer .figure")].slice(0, 2);
    const words = (figure) => [...figure.querySelectorAll("dt, dd > span")].map((each) => each.textContent).join(" ");
    const texts = figures.map(words);
    dock(texts[0]);
    ended(texts.join("; ") || "Answered.");
    if (view() === "trace") window.podsimTimeline.load(`/trace/spans?${query}`);
  }

  function dock(text) {
    at("dock").hidden = !text;
    at("dock").textContent = text || "";
  }

  function failed(event) {
    const errors = event.field ? { [event.field]: event.error.message } : {};
    mark(errors);
    at("answer").innerHTML = event.html;
    at("details").hidden = true;
    dock("No answer");
    if (at("timeline")) at("timeline").hidden = true;
    ended(`No answer: ${event.error.message}`);
  }

  async function* lines(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n");
      rest = parts.pop();
      for (const line of parts) yield JSON.parse(line);
    }
  }

  async function ask() {
    if (state.abort) state.abort.abort();
    const abort = (state.abort = new AbortController());
    at("answer").classList.add("stale");
    const late = setTimeout(() => progress(0, 0), 400);
    let query = "";
    try {
      const response = await fetch(`/${view()}/answer?${fields()}`, { signal: abort.signal });
      if (!response.ok) throw new Error(await response.text());
      for await (const event of lines(response)) {
        if (abort.signal.aborted) return;
        if ("errors" in event) head(event, (query = event.query));
        else if (event.progress) progress(...event.progress);
        else if (event.done) done(event.done, query);
        else if (event.error) failed(event);
        else if (event.bug) throw new Error(event.bug);
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      mark({ "": `podsim did not answer: ${error.message}` });
      ended("podsim did not answer.");
    } finally {
      clearTimeout(late);
      if (state.abort === abort) at("progress").hidden = true;
    }
  }

  function soon(push) {
    clearTimeout(state.timer);
    state.push = state.push || push;
    state.timer = setTimeout(ask, PAUSE_MS);
  }

  async function load(details) {
    const query = details.dataset.query;
    if (details.dataset.loaded === query) return;
    const target = details.querySelector(".loaded");
    target.setAttribute("aria-busy", "true");
    const response = await fetch(`/${view()}/details?${query}`);
    const text = await response.text();
    if (details.dataset.query !== query) return;
    if (response.ok) target.innerHTML = text;
    else target.textContent = text;
    reachable(target);
    target.removeAttribute("aria-busy");
    details.dataset.loaded = query;
  }

  // Back and forward: the page of that address takes the place of this one.
  async function restore() {
    const response = await fetch(location.href);
    const opened = [...document.querySelectorAll("form details[open]")].map((each) => each.dataset.heading);
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelector("nav").replaceWith(page.querySelector("nav"));
    document.title = page.title;
    for (const each of document.querySelectorAll("form details")) if (opened.includes(each.dataset.heading)) each.open = true;
    start();
  }

  // The current view is in sight on narrow screens. Not scrollIntoView: Chromium then starts the Tab key from there.
  function current() {
    const link = document.querySelector("nav [aria-current]");
    if (!link) return;
    const nav = document.querySelector("nav");
    const [box, frame] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
    nav.scrollLeft += box.left + box.width / 2 - (frame.left + frame.width / 2);
  }

  function start() {
    prepare();
    current();
    ask();
  }

  document.addEventListener("input", (event) => {
    const target = event.target;
    if (!target.closest("#question")) return;
    if (target.type === "range") {
      at(target.dataset.for).value = stops(target)[target.value];
      say(target);
      soon(true);
    } else if (target.tagName === "SELECT" || target.type === "checkbox") {
      soon(true);
    } else {
      follow(target);
      clearTimeout(state.timer);
      state.push = true;
      state.timer = setTimeout(ask, 350);
    }
  });
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "question") return;
    event.preventDefault();
    soon(true);
  });
  document.addEventListener("toggle", (event) => {
    if (event.target.id === "details" && event.target.open) load(event.target);
  }, true);
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("[data-copy]");
    if (!button) return;
    await navigator.clipboard.writeText(at(button.dataset.copy).textContent);
    at("status").textContent = "Copied.";
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  window.addEventListener("popstate", restore);
  window.addEventListener("resize", () => reachable(document));
  start();
})();
