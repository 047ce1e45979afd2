// Starts the API reference: Swagger UI with this service's OpenAPI document, a search, and code snippets.

const BASE_PATH = location.pathname.replace(/\/v2\/docs\/?$/, "");

/** Show the operations whose method, path, summary or description contain every word of the search. */
const search = () => ({
  fn: {
    opsFilter: (groups, phrase) => {
      const words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
      const fits = (item) => {
        const operation = item.get("operation");
        const text = [
          item.get("method"),
          item.get("path"),
          operation.get("summary"),
          operation.get("description"),
        ];
        const searched = text.join(" ").toLowerCase();
        return words.every((word) => searched.includes(word));
      };
      return groups
        .map((group) => group.set("operations", group.get("operations").filter(fits)))
        .filter((group) => group.get("operations").size);
    },
  },
});

/** Write a call as Python code. */
function pythonCall(request) {
  const headers = request.get("headers")?.toJS() ?? {};
  const body = request.get("body");
  const lines = ["import httpx", ""];
  const sent = [`    "${request.get("method")}"`, `    "${request.get("url")}"`];
  delete headers["Content-Type"];
  delete headers.accept;
  if (Object.keys(headers).length) sent.push(`    headers=${pythonValue(headers)}`);
  if (typeof body === "string") {
    sent.push(`    json=${pythonValue(JSON.parse(body))}`);
  } else if (body?.entrySeq) {
    const fields = {};
    const files = [];
    for (const [name, value] of body.entrySeq()) {
      const plain = name.replace(/_\*\*\[\]\d+$/, "");
      if (value instanceof File) files.push(`"${plain}": open("${value.name}", "rb")`);
      else fields[plain] = value;
    }
    if (Object.keys(fields).length) sent.push(`    data=${pythonValue(fields)}`);
    if (files.length) sent.push(`    files={${files.join(", ")}}`);
  }
  lines.push(`answer = httpx.request(`, `${sent.join(",\n")},`, `)`, `print(answer.json())`);
  return lines.join("\n");
}

/** Write a JSON value as a Python literal. */
function pythonValue(value) {
  if (value === null || value === undefined) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return `[${value.map(pythonValue).join(", ")}]`;
  if (typeof value !== "object") return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, item]) => `${JSON.stringify(name)}: ${pythonValue(item)}`,
  );
  return `{${members.join(", ")}}`;
}

const python = () => ({ fn: { requestSnippetGenerator_python: pythonCall } });

const answer = await fetch(`${BASE_PATH}/v2/openapi.json`);
const spec = await answer.json();
// HEAD is answered like GET, so listing it would only make the page twice as long.
for (const methods of Object.values(spec.paths)) delete methods.head;
spec.servers = [{ ...spec.servers[0], url: `${BASE_PATH}/` }];

SwaggerUIBundle({
  spec,
  dom_id: "#docs",
  deepLinking: true,
  filter: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: {
      curl_bash: { title: "curl", syntax: "bash" },
      python: { title: "Python", syntax: "python" },
    },
    defaultExpanded: true,
    languages: ["curl_bash", "python"],
  },
  persistAuthorization: false,
  validatorUrl: null,
  plugins: [search, python],
});

// Swagger UI's own placeholder says that the field filters by tag, but this search covers more.
new MutationObserver((_, observer) => {
  const field = document.querySelector(".operation-filter-input");
  if (!field) return;
  field.placeholder = "Search paths and descriptions";
  observer.disconnect();
}).observe(document.getElementById("docs"), { childList: true, subtree: true });
