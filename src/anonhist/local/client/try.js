// @ts-check
// The page to try: one answer, what would leave the device, and a thousand simulated people.
import { Collection } from "./client.js";

const find = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const percent = (/** @type {number} */ share) => `${Math.round(100 * share)}%`;
const within = (/** @type {number} */ share) => Math.min(1, Math.max(0, share));

/** The number that a line reports. @param {string} line @returns {number} */
const reportIn = (line) => parseInt(JSON.parse(line).reports.report[0], 16);

/** An element with attributes, and with text or other elements inside. @param {string} name
 * @param {Array<string | Node>} inside @param {Record<string, string>} [attributes] */
function element(name, inside, attributes = {}) {
  const made = document.createElement(name);
  made.append(...inside);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** @typedef {[string, Record<string, string | number>]} Shape */
/** A drawing 100 wide and 20 high, as wide as there is room. @param {...Shape} shapes */
function drawing(...shapes) {
  const make = (/** @type {Shape} */ [name, attributes]) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
    return made;
  };
  const drawn = make(["svg", { viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" }]);
  drawn.append(...shapes.map(make));
  return drawn;
}

/** A bar from 0. @param {string} kind @param {number} width @returns {Shape} */
const bar = (kind, width) => ["rect", { class: kind, y: 2, width, height: 16 }];
/** A line. @param {string} kind @param {string} d @returns {Shape} */
const stroke = (kind, d) => ["path", { class: kind, d }];

// How much of a drawing a share takes: none is above three quarters.
const WIDTH = 100 / 0.75;

// As for any page: no other description is accepted, so no other epsilon.
const DIGEST = "10bf930d3c4599bc3e9a882e19e5cc97a9df09e4a6e97450fb7e775ab83cd5ab";
const collection = await Collection.load("./try.json", { digest: DIGEST });
const { survey, guarantee, cautions } = collection.description;
/** @type {string[]} */
const labels = survey.parameters.alphabet.labels;
const odds = Math.exp(Number(survey.epsilon)), p = odds / (odds + labels.length - 1), q = (1 - p) / (labels.length - 1);

find("question").textContent = survey.title;
find("choices").append(...labels.map((label) => {
  const choice = element("input", [], { type: "radio", name: "answer", value: label, required: "" });
  return element("label", [choice, label]);
}));
find("promise").textContent = `${guarantee[0].toUpperCase()}${guarantee.slice(1)}`;
find("cautions").append(...cautions.map((/** @type {string} */ each) => element("li", [each])));
find("message").textContent = "";

find("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const known = await collection.answered();
    const form = /** @type {HTMLFormElement} */ (find("form"));
    show(await collection.answer(new FormData(form).get("answer")), known);
  } catch (error) {
    find("message").textContent = error instanceof Error ? error.message : String(error);
  }
});

/** Explain a report. @param {string} line @param {boolean} known */
function show(line, known) {
  const reported = reportIn(line);
  find("message").textContent =
    `${known ? "You have answered before; this is the same report again." : "Done."} Your report says “${labels[reported]}”.`;
  find("report").hidden = false;
  find("line").textContent = line;
  find("meaning").textContent =
    `A random identifier (so that a report that arrives twice counts once), and the number ` +
    `${reported}: “${labels[reported]}”. In ${percent(p - q)} of cases the browser keeps the answer; in all others it ` +
    `draws one by chance. So this is your answer, or chance; nobody can tell which.`;
  find("likely").replaceChildren(...labels.map((label, i) => {
    const chance = i === reported ? p : q;
    return element("tr", [
      element("th", [label], { scope: "row" }),
      element("td", [drawing(bar("bar", WIDTH * chance))], { class: "wide" }), element("td", [percent(chance)]),
    ]);
  }));
  find("ratio").textContent =
    `Whatever your answer is, this report is at most ${odds.toFixed(2)} times as likely as with any other answer: ` +
    `e to the power of ε, and here ε = ${survey.epsilon}.`;
}

const TRUTH = [0.5, 0.3, 0.15, 0.05];
/** Simulate people, and estimate their shares from their reports. @param {number} people */
function ask(people) {
  const counts = labels.map(() => 0);
  TRUTH.forEach((share, i) => {
    for (let person = 0; person < Math.round(share * people); person++) counts[reportIn(collection.simulate(labels[i]))]++;
  });
  const rows = labels.map((label, i) => {
    const share = counts[i] / people, estimate = (share - q) / (p - q);
    const error = (1.96 * Math.sqrt((share * (1 - share)) / people)) / (p - q);
    return { label, truth: TRUTH[i], share, estimate, low: within(estimate - error), high: within(estimate + error) };
  });
  const farthest = Math.max(...rows.map(({ truth, estimate }) => Math.abs(truth - estimate)));
  find("asked").textContent = `${people.toLocaleString("en-US")} people answered. The estimates are off by at most ` +
    `${(100 * farthest).toFixed(1)} percentage points.`;
  find("chart").replaceChildren(
    ...rows.flatMap(({ label, truth, share, estimate, low, high }) => [element("span", [label]), drawing(
      bar("pale", WIDTH * share), stroke("truth", `M${WIDTH * truth} 0V20`),
      stroke("interval", `M${WIDTH * low} 5V15M${WIDTH * low} 10H${WIDTH * high}M${WIDTH * high} 5V15`),
      stroke("estimate", `M${WIDTH * within(estimate)} 10h0`),
    )]),
    element("figcaption", [
      element("span", [drawing(bar("pale", 100)), "share of the reports"]),
      element("span", [
        drawing(stroke("interval", "M0 4V16M0 10H100M100 4V16"), stroke("estimate", "M50 10h0")), "estimate, 95% interval",
      ]),
      element("span", [drawing(stroke("truth", "M50 0V20")), "truth"]),
    ]),
  );
  find("shares").replaceChildren(...rows.map(({ label, truth, share, estimate, low, high }) => element("tr", [
    element("th", [label], { scope: "row" }),
    ...[truth, share, estimate].map((each) => element("td", [percent(each)])),
    element("td", [`${Math.round(100 * low)}–${percent(high)}`]),
  ])));
  find("people").hidden = false;
}
find("simulate").addEventListener("click", () => ask(1000));
find("more").addEventListener("click", () => ask(10000));
if (await collection.answered()) show(await collection.answer(labels[0]), true);
