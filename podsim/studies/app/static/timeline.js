// Spans of a step on a canvas, a track below the other: wheel, keys and buttons zoom, dragging and arrows move.
"use strict";

window.podsimTimeline = (() => {
  const ROW = 18, GAP = 3, TOP = 24, MOST_TRACKS = 400;
  const COLOURS = {
    compute: "#2f6fb3", exchange: "#d1661f", sync: "#8a6d3b", transfer: "#3c8d53", bubble: "#9aa3ad",
    "all-reduce": "#9a4fa3", all_reduce: "#9a4fa3", host: "#b08900", weight_update: "#5b6770",
  };
  const FALLBACK = ["#2f6fb3", "#d1661f", "#3c8d53", "#9a4fa3", "#8a6d3b", "#5b6770"];
  let tracks = [], end = 1, from = 0, to = 1, canvas = null, drag = null, wired = new WeakSet();

  let margin = 170; // room for the names of tracks
  const at = (id) => document.getElementById(id);
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function read(document_) {
    const groups = new Map(), threads = new Map(), result = new Map();
    end = 0;
    for (const event of document_.traceEvents) {
      if (event.name === "process_name") groups.set(event.pid, event.args.name);
      else if (event.name === "thread_name") threads.set(event.tid, [event.pid, event.args.name]);
      else if (event.ph === "X") {
        if (!result.has(event.tid)) result.set(event.tid, []);
        result.get(event.tid).push(event);
        end = Math.max(end, event.ts + event.dur);
      }
    }
    tracks = [...result].slice(0, MOST_TRACKS).map(([tid, spans]) => {
      const [pid, name] = threads.get(tid);
      return { name: `${groups.get(pid)} · ${name}`, spans: spans.sort((a, b) => a.ts - b.ts || b.dur - a.dur) };
    });
    end = end || 1;
  }

  function colour(part) {
    if (COLOURS[part]) return COLOURS[part];
    let sum = 0;
    for (const letter of part) sum += letter.charCodeAt(0);
    return FALLBACK[sum % FALLBACK.length];
  }

  function time(us) {
    const span = to - from;
    if (span >= 2e6) return `${(us / 1e6).toFixed(2)} s`;
    if (span >= 2e3) return `${(us / 1e3).toFixed(span >= 2e5 ? 0 : 2)} ms`;
    return `${us.toFixed(span >= 20 ? 1 : 3)} µs`;
  }

  const x = (us) => margin + ((us - from) / (to - from)) * (canvas.clientWidth - margin);

  function draw() {
    if (!canvas || !tracks.length) return;
    margin = Math.min(170, Math.round(canvas.clientWidth * 0.36));
    const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = TOP + tracks.length * (ROW + GAP) + 4;
    canvas.style.height = `${height}px`;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    pen.font = "12px system-ui, sans-serif";
    pen.textBaseline = "middle";
    axis(pen, width, height);
    tracks.forEach((track, row) => spans(pen, track, TOP + row * (ROW + GAP), width));
    pen.fillStyle = ink("--card");
    pen.fillRect(0, TOP, margin - 2, height);
    pen.fillStyle = ink("--ink");
    tracks.forEach((track, row) => pen.fillText(clipped(pen, track.name, margin - 14), 6, TOP + row * (ROW + GAP) + ROW / 2));
  }

  function axis(pen, width, height) {
    const count = Math.max(2, Math.floor((width - margin) / 110));
    pen.fillStyle = ink("--quiet");
    pen.strokeStyle = ink("--line");
    for (let tick = 0; tick < count; tick++) {
      const us = from + ((to - from) * tick) / count, place = x(us);
      pen.beginPath();
      pen.moveTo(place, 16);
      pen.lineTo(place, height);
      pen.stroke();
      pen.fillText(time(us), place + 3, 10);
    }
  }

  function spans(pen, track, top, width) {
    let last = -1;
    for (const span of track.spans) {
      const left = Math.max(margin, x(span.ts)), right = Math.min(width, x(span.ts + span.dur));
      if (right < margin || left > width || right - last < 0.4) continue; // nothing of it would be seen
      last = right;
      pen.fillStyle = colour(span.cat);
      pen.fillRect(left, top, Math.max(right - left - 0.5, 0.6), ROW);
      if (right - left > 34) {
        pen.fillStyle = "#ffffff";
        pen.fillText(clipped(pen, span.name, right - left - 8), left + 4, top + ROW / 2);
      }
    }
  }

  function clipped(pen, text, room) {
    if (pen.measureText(text).width <= room) return text;
    const letters = Math.max(1, Math.floor((text.length * room) / pen.measureText(text).width) - 1);
    return `${text.slice(0, letters)}…`;
  }

  function zoom(factor, middle) {
    const width = Math.min(end, Math.max(end * 1e-7, (to - from) * factor));
    const share = (middle - from) / (to - from);
    set(middle - width * share, width);
  }

  function set(start, width) {
    from = Math.max(0, Math.min(end - width, start));
    to = from + width;
    canvas.dataset.from = from;
    canvas.dataset.to = to;
    draw();
  }

  const ACTIONS = {
    in: () => zoom(0.5, (from + to) / 2),
    out: () => zoom(2, (from + to) / 2),
    left: () => set(from - (to - from) / 4, to - from),
    right: () => set(from + (to - from) / 4, to - from),
    all: () => set(0, end),
  };
  const KEYS = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all" };

  function under(event) {
    const box = canvas.getBoundingClientRect();
    const track = tracks[Math.floor((event.clientY - box.top - TOP) / (ROW + GAP))];
    const us = from + ((event.clientX - box.left - margin) / (box.width - margin)) * (to - from);
    if (!track || event.clientX - box.left < margin) return null;
    return [track, track.spans.filter((span) => span.ts <= us && us <= span.ts + span.dur).pop(), us];
  }

  function point(event) {
    if (drag) {
      const moved = ((drag.x - event.clientX) / (canvas.clientWidth - margin)) * (to - from);
      set(drag.from + moved, to - from);
      return;
    }
    const [track, span] = under(event) || [];
    if (!span) return;
    const details = Object.entries(span.args || {}).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
    at("span").textContent = [`${track.name}: ${span.name}`, `${span.dur.toPrecision(4)} µs from ${time(span.ts)}`, ...details].join(" · ");
  }

  function wire() {
    if (wired.has(canvas)) return;
    wired.add(canvas);
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const hit = under(event);
      zoom(event.deltaY > 0 ? 1.25 : 0.8, hit ? hit[2] : (from + to) / 2);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const action = KEYS[event.key];
      if (!action || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      ACTIONS[action]();
    });
    canvas.addEventListener("pointerdown", (event) => {
      drag = { x: event.clientX, from };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", () => (drag = null));
    canvas.addEventListener("pointermove", point);
    for (const button of document.querySelectorAll("[data-zoom]"))
      button.addEventListener("click", () => ACTIONS[button.dataset.zoom]());
    window.addEventListener("resize", draw);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }

  async function load(address) {
    const response = await fetch(address);
    if (!response.ok) return;
    read(await response.json());
    at("timeline").hidden = false;
    canvas = at("spans");
    wire();
    set(0, end);
  }

  return { load };
})();
