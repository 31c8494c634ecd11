// Holds every answer of the API against the OpenAPI document: its status has to be documented for its
// operation, and its JSON has to be of the documented shape.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./config.mjs";

/** The document that the Worker serves at /openapi.json. */
export const openapi = JSON.parse(readFileSync(join(root, "src/assets/openapi.json"), "utf8"));

const templates = Object.keys(openapi.paths).map((path) => {
  const pattern = path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+");
  // A literal segment goes before a parameter, as in the Worker.
  return { path, pattern: new RegExp(`^${pattern}$`), params: (path.match(/\{/g) ?? []).length };
});
templates.sort((a, b) => a.params - b.params);

/** The documented operation of a request, if there is one. */
export function operation(method, path) {
  const bare = path.split("?")[0];
  const verb = method === "HEAD" ? "get" : method.toLowerCase();
  const found = templates.find(({ path: template, pattern }) => pattern.test(bare) && openapi.paths[template][verb]);
  return found && openapi.paths[found.path][verb];
}

/** What is wrong with an answer; empty when it keeps the contract. */
export function breaches(method, path, { status, headers, text }) {
  const documented = operation(method, path);
  // What no operation takes is refused before any operation: 400, 404, 405, or 503 without a secret.
  if (!documented) return [400, 404, 405, 503].includes(status) || isPage(path) ? [] : [`${status} of something undocumented`];
  const response = resolve(documented.responses[String(status)]);
  if (!response) return [`status ${status} is not documented (${Object.keys(documented.responses)})`];
  if (!text || method === "HEAD") return [];
  const type = (headers.get("content-type") ?? "").split(";")[0];
  const content = response.content?.[type];
  if (!content) return [`${status} as ${type} is not documented (${Object.keys(response.content ?? {})})`];
  if (!type.includes("json") || !content.schema) return [];
  return mismatches(JSON.parse(text), content.schema, "$");
}

/** Pages for people are no part of the documented API. */
const isPage = (path) => !/^\/(api\/|health|openapi)/.test(path);

function resolve(part) {
  if (!part?.$ref) return part;
  return part.$ref.slice(2).split("/").reduce((at, key) => at[key.replace(/~1/g, "/").replace(/~0/g, "~")], openapi);
}

/** Every property that a schema names, its parts included; none when it takes any. */
function named(given) {
  const schema = resolve(given);
  if (!schema || schema.additionalProperties) return undefined;
  const parts = [...(schema.allOf ?? []), ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  if (!schema.properties && parts.length === 0) return undefined;
  const names = new Set(Object.keys(schema.properties ?? {}));
  for (const part of parts) {
    const more = named(part);
    if (!more) return undefined;
    for (const name of more) names.add(name);
  }
  return names;
}

const typeOf = (value) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

/** As much of JSON Schema as the document uses; properties that are not documented are mismatches too. */
function mismatches(value, given, at, whole = true) {
  const schema = resolve(given);
  if (!schema || schema === true) return [];
  if (whole && typeOf(value) === "object") {
    const names = named(schema);
    const extra = names ? Object.keys(value).filter((name) => !names.has(name)) : [];
    if (extra.length > 0) return [`${at}: undocumented ${extra}`];
  }
  for (const key of ["oneOf", "anyOf"]) {
    if (schema[key] && !schema[key].some((one) => mismatches(value, one, at).length === 0)) return [`${at}: fits none of ${key}`];
  }
  const found = (schema.allOf ?? []).flatMap((one) => mismatches(value, one, at, false));
  const type = typeOf(value);
  const types = [schema.type ?? []].flat();
  const fits = (name) => name === type || (name === "number" && type === "number") || (name === "integer" && Number.isInteger(value));
  if (types.length > 0 && !types.some(fits)) return [`${at}: ${type} instead of ${types.join(" or ")}`];
  if (schema.enum && !schema.enum.includes(value)) found.push(`${at}: ${JSON.stringify(value)} is not in the enum`);
  if (schema.pattern && type === "string" && !new RegExp(schema.pattern, "u").test(value)) found.push(`${at}: ${value} is not ${schema.pattern}`);
  if (schema.minimum !== undefined && value < schema.minimum) found.push(`${at}: ${value} is below ${schema.minimum}`);
  if (type === "array" && schema.items) value.forEach((item, i) => found.push(...mismatches(item, schema.items, `${at}[${i}]`)));
  if (type !== "object") return found;
  for (const name of schema.required ?? []) if (!(name in value)) found.push(`${at}.${name}: missing`);
  for (const [name, item] of Object.entries(value)) {
    const property = schema.properties?.[name] ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
    if (property) found.push(...mismatches(item, property, `${at}.${name}`));
  }
  return found;
}
