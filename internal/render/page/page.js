(function () {
"use strict";
var data = JSON.parse(document.getElementById("data").textContent);
var charts = [];

function make(name, props, parent) {
  var e = document.createElement(name);
  Object.keys(props || {}).forEach(function (k) { e[k] = props[k]; });
  if (parent) parent.appendChild(e);
  return e;
}

function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// dark says whether curves are drawn for a dark screen; paper is light.
function dark() {
  return window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches && !document.documentElement.classList.contains("paper");
}

// Tables: a heading sorts, a field chooses rows.
function value(row, i) { return row.cells[i].textContent.trim(); }

function compare(a, b, numeric) {
  if (numeric) {
    var x = parseFloat(a.replace(/,/g, "")), y = parseFloat(b.replace(/,/g, ""));
    if (isNaN(x) || isNaN(y)) return isNaN(x) - isNaN(y);
    return x - y;
  }
  return a.localeCompare(b, "en", {numeric: true});
}

function sortable(table) {
  var body = table.tBodies[0], heads = Array.from(table.tHead.rows[0].cells);
  if (body.rows.length < 2) return;
  heads.forEach(function (th, i) {
    var text = th.textContent;
    th.textContent = "";
    make("button", {type: "button", textContent: text, title: "Sort by " + text, onclick: function () {
      var down = th.getAttribute("aria-sort") === "ascending";
      heads.forEach(function (h) { h.removeAttribute("aria-sort"); });
      th.setAttribute("aria-sort", down ? "descending" : "ascending");
      var numeric = th.classList.contains("n");
      var rows = Array.from(body.rows).map(function (r, n) { return {r: r, n: n, v: value(r, i)}; });
      rows.sort(function (a, b) {
        var missing = (a.v === "" || a.v === "-") - (b.v === "" || b.v === "-");
        return missing || (down ? -1 : 1) * compare(a.v, b.v, numeric) || a.n - b.n;
      });
      rows.forEach(function (x) { body.appendChild(x.r); });
    }}, th);
  });
}

function filterable(table) {
  var rows = Array.from(table.tBodies[0].rows);
  if (rows.length < 16) return;
  var p = make("p", {className: "tools"}), label = make("label", {textContent: "Rows with "}, p);
  var field = make("input", {type: "search"}, label), count = make("span", {className: "note"}, p);
  count.setAttribute("aria-live", "polite");
  table.parentNode.parentNode.insertBefore(p, table.parentNode);
  field.oninput = function () {
    var words = field.value.toLowerCase().split(/\s+/), shown = 0;
    rows.forEach(function (r) {
      var text = r.textContent.toLowerCase();
      r.hidden = !words.every(function (w) { return text.indexOf(w) >= 0; });
      shown += !r.hidden;
    });
    count.textContent = field.value ? " " + shown + " of " + rows.length : "";
  };
}

// short writes the places of an axis with the digits that tell them apart.
function short(plot, places) {
  return places.map(function (v) { return v == null ? "" : String(Number(v.toPrecision(6))); });
}

// Charts: drag or + and - zoom, arrows move, Escape or a double click shows all.
function chart(spec) {
  var box = document.getElementById(spec.id), many = spec.lines.length > 12;
  if (!box || !window.uPlot) return null;
  var holder = make("div", {}, box), read = make("p", {className: "read"}, box);
  read.setAttribute("aria-live", "polite");
  var all = uPlot.join(spec.lines.map(function (l) { return [l.x, l.y]; }));
  var focused = -1, plot;
  function draw() {
    var before = plot, zoomed = plot && (plot.scales.x.min > low || plot.scales.x.max < high) && plot.scales.x;
    if (plot) plot.destroy();
    var colors = dark() ? data.dark : data.colors;
    var axis = {stroke: css("--ink"), grid: {stroke: css("--rule"), width: 1}, ticks: {stroke: css("--rule"), width: 1}};
    plot = new uPlot({
      width: Math.max(200, box.clientWidth), height: 260,
      scales: {x: {time: false}},
      axes: [Object.assign({label: spec.x}, axis), Object.assign({size: 60, values: short}, axis)],
      legend: {show: !many},
      cursor: {sync: {key: "steps"}, focus: {prox: 30}, drag: {x: true, y: false}},
      focus: {alpha: spec.lines.length > 1 ? 0.25 : 1},
      hooks: {
        setSeries: [function (u, i) { if (i != null) focused = i; }],
        setCursor: [function (u) {
          var i = spec.lines.length === 1 ? 1 : focused, at = u.cursor.idx;
          if (i < 1 || at == null) { read.textContent = ""; return; }
          var l = spec.lines[i - 1], x = u.data[0][at], n = nearest(l.x, x);
          read.textContent = l.name + ", " + spec.x + " " + l.x[n] + ": " + l.y[n];
        }]
      },
      series: [{label: spec.x}].concat(spec.lines.map(function (l, i) {
        return {
          label: l.name, show: !before || before.series[i + 1].show, stroke: colors[i % colors.length], width: 1.5, spanGaps: true,
          dash: [[], [6, 3], [2, 3]][Math.floor(i / colors.length) % 3], points: {show: l.x.length < 30, size: 5}
        };
      }))
    }, all, holder);
    if (zoomed) plot.setScale("x", {min: zoomed.min, max: zoomed.max});
    Array.from(holder.querySelectorAll(".u-series")).forEach(function (row) {
      row.tabIndex = 0;
      row.onkeydown = function (e) {
        var th = row.querySelector("th");
        if (th && (e.key === "Enter" || e.key === " ")) { e.preventDefault(); e.stopPropagation(); th.click(); }
      };
    });
  }
  var low = all[0][0], high = all[0][all[0].length - 1];
  draw();
  function zoom(min, max) {
    min = Math.max(low, min); max = Math.min(high, max);
    if (max > min) plot.setScale("x", {min: min, max: max});
  }
  box.addEventListener("keydown", function (e) {
    var s = plot.scales.x, width = s.max - s.min, middle = (s.max + s.min) / 2;
    switch (e.key) {
    case "+": case "=": zoom(middle - width / 4, middle + width / 4); break;
    case "-": zoom(middle - width, middle + width); break;
    case "ArrowLeft": zoom(Math.max(low, s.min - width / 4), Math.max(low, s.min - width / 4) + width); break;
    case "ArrowRight": zoom(Math.min(high, s.max + width / 4) - width, Math.min(high, s.max + width / 4)); break;
    case "Escape": case "0": zoom(low, high); break;
    default: return;
    }
    e.preventDefault();
  });
  return {
    redraw: draw,
    update: function (fresh) {
      var whole = plot.scales.x.min <= low && plot.scales.x.max >= high;
      spec.lines = fresh.lines;
      all = uPlot.join(spec.lines.map(function (l) { return [l.x, l.y]; }));
      low = all[0][0];
      high = all[0][all[0].length - 1];
      plot.setData(all, whole);
      if (!whole) plot.redraw();
    },
    resize: function () { plot.setSize({width: Math.max(200, box.clientWidth), height: 260}); },
    choose: function (fits) { spec.lines.forEach(function (l, i) { plot.setSeries(i + 1, {show: fits(l.name)}); }); }
  };
}

function nearest(list, x) {
  var best = 0;
  list.forEach(function (v, i) { if (Math.abs(v - x) < Math.abs(list[best] - x)) best = i; });
  return best;
}

function chooser(section) {
  var p = make("p", {className: "tools"}), label = make("label", {textContent: "Curves of runs with "}, p);
  var field = make("input", {type: "search"}, label);
  make("span", {className: "note", textContent: " Drag, + and - zoom; arrows move; a double click or Escape shows all."}, p);
  section.parentNode.insertBefore(p, section);
  field.oninput = function () {
    var word = field.value.toLowerCase();
    charts.forEach(function (c) { c.choose(function (name) { return name.toLowerCase().indexOf(word) >= 0; }); });
  };
}

// Maps: the mouse or the arrow keys show a point's image.
function map(spec) {
  var box = document.getElementById(spec.id), sprite = box.querySelector("img");
  var points = Array.from(box.querySelectorAll("circle")), at = -1, tip = make("div", {className: "tip", hidden: true}, box);
  var picture = make("i", {}, tip), words = make("span", {}, tip);
  words.setAttribute("aria-live", "polite");
  points.forEach(function (p) { // the tip says it
    var title = p.querySelector("title");
    p.words = title.textContent;
    title.remove();
  });
  function show(i) {
    if (points[at]) points[at].classList.remove("on");
    at = i;
    tip.hidden = i < 0;
    if (i < 0) return;
    var side = sprite.naturalWidth / spec.columns || 24, scale = 4;
    picture.style.width = picture.style.height = side * scale + "px";
    picture.style.backgroundImage = "url(" + sprite.src + ")";
    picture.style.backgroundSize = sprite.naturalWidth * scale + "px auto";
    picture.style.backgroundPosition = -(i % spec.columns) * side * scale + "px " + -Math.floor(i / spec.columns) * side * scale + "px";
    words.textContent = points[i].words;
    points[i].classList.add("on");
    var p = points[i].getBoundingClientRect(), b = box.getBoundingClientRect();
    tip.style.left = Math.max(0, Math.min(p.left - b.left + 12, b.width - tip.offsetWidth)) + "px";
    tip.style.top = p.top - b.top + 12 + "px";
  }
  box.addEventListener("mouseover", function (e) { show(points.indexOf(e.target)); });
  box.addEventListener("mouseleave", function () { show(-1); });
  box.addEventListener("blur", function () { show(-1); });
  box.addEventListener("keydown", function (e) {
    var step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[e.key];
    if (e.key === "Escape") show(-1);
    else if (step) show((at + step + points.length) % points.length);
    else return;
    e.preventDefault();
  });
}

(data.maps || []).forEach(map);
Array.from(document.querySelectorAll("main table:not(.g)")).forEach(function (t) { sortable(t); filterable(t); });
Array.from(document.querySelectorAll("section.charts")).forEach(chooser);
charts = (data.charts || []).map(chart).filter(Boolean);
if (data.live && window.EventSource) {
  new EventSource("events").onmessage = function (e) {
    var fresh = JSON.parse(e.data);
    var same = fresh.stamp === data.stamp && fresh.charts.length === charts.length && fresh.charts.every(function (c, i) {
      return c.lines.length === data.charts[i].lines.length;
    });
    if (!same) location.reload();
    else charts.forEach(function (c, i) { c.update(fresh.charts[i]); });
  };
}
var again;
window.addEventListener("resize", function () {
  clearTimeout(again);
  again = setTimeout(function () { charts.forEach(function (c) { c.resize(); }); }, 100);
});
function redraw() { charts.forEach(function (c) { c.redraw(); }); }
if (window.matchMedia) matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
window.addEventListener("beforeprint", function () {
  if (!dark()) return;
  document.documentElement.classList.add("paper");
  redraw();
});
window.addEventListener("afterprint", function () {
  if (!document.documentElement.classList.contains("paper")) return;
  document.documentElement.classList.remove("paper");
  redraw();
});
})();
