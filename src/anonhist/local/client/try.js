// The page to try: one answer, what would leave the device, and a thousand simulated people.
import { Collection } from "./client.js";

const find = (id) => document.getElementById(id);
const percent = (share) => `${Math.round(100 * share)}%`;

/** The number that a line reports. */
const reportIn = (line) => parseInt(JSON.parse(line).reports.report[0], 16);

/** An element with text, or with other elements inside. */
function element(name, inside, attributes = {}) {
  const made = document.createElement(name);
  made.append(...[inside].flat());
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

/** A bar from 0 to 1, with a mark for the truth if there is one. */
function bar(share, truth) {
  const make = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const drawn = make("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
  drawn.append(make("rect", { x: 0, y: 1, width: 100 * Math.min(1, Math.max(0, share)), height: 8 }));
  if (truth !== undefined) drawn.append(make("path", { d: `M${100 * truth} 0V10` }));
  return drawn;
}

const collection = await Collection.load("./try.json");
const { survey, guarantee, cautions } = collection.description;
const { labels } = survey.parameters.alphabet;
const odds = Math.exp(Number(survey.epsilon)), p = odds / (odds + labels.length - 1), q = (1 - p) / (labels.length - 1);

find("question").textContent = survey.title;
find("choices").append(...labels.map((label) => {
  const choice = element("input", [], { type: "radio", name: "answer", value: label, required: "" });
  return element("label", [choice, label]);
}));
find("promise").textContent = `${guarantee[0].toUpperCase()}${guarantee.slice(1)}`;
find("cautions").append(...cautions.map((each) => element("li", each)));

find("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const known = await collection.answered();
    const line = await collection.answer(new FormData(find("form")).get("answer"));
    show(line, known);
  } catch (error) {
    find("message").textContent = error.message;
  }
});

function show(line, known) {
  const reported = reportIn(line);
  find("message").textContent = known ? "You have answered before: this is the same report again." : "Done.";
  find("report").hidden = false;
  find("line").textContent = line;
  find("meaning").textContent =
    `A random identifier (so that a report that arrives twice counts once), and the number ` +
    `${reported}: “${labels[reported]}”. This is your answer, or chance; nobody can tell which.`;
  find("likely").replaceChildren(...labels.map((label, i) => {
    const chance = i === reported ? p : q;
    return element("tr", [
      element("th", label, { scope: "row" }), element("td", bar(chance), { class: "wide" }), element("td", percent(chance)),
    ]);
  }));
  find("ratio").textContent =
    `Whatever your answer is, this report is at most ${odds.toFixed(2)} times as likely as with any other answer: ` +
    `e to the power of ε, and here ε = ${survey.epsilon}.`;
}

const TRUTH = [0.5, 0.3, 0.15, 0.05];

function ask(people) {
  const counts = labels.map(() => 0);
  TRUTH.forEach((share, i) => {
    for (let person = 0; person < Math.round(share * people); person++) {
      counts[reportIn(collection.simulate(labels[i]))]++;
    }
  });
  find("asked").textContent = `${people.toLocaleString("en-US")} people answered, and the collector estimates:`;
  find("shares").replaceChildren(...labels.map((label, i) => {
    const share = counts[i] / people, estimate = (share - q) / (p - q);
    const error = (1.96 * Math.sqrt((share * (1 - share)) / people)) / (p - q);
    const interval = `${Math.round(100 * Math.max(0, estimate - error))}–${percent(Math.min(1, estimate + error))}`;
    return element("tr", [
      element("th", [label, bar(estimate, TRUTH[i])], { scope: "row" }),
      ...[TRUTH[i], share, estimate].map((each) => element("td", percent(each))),
      element("td", interval),
    ]);
  }));
  find("people").hidden = find("undone").hidden = false;
}
find("simulate").addEventListener("click", () => ask(1000));
find("more").addEventListener("click", () => ask(10000));
if (await collection.answered()) show(await collection.answer(labels[0]), true);
