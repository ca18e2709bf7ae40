import { isMap, isScalar, parseDocument, stringify } from 'yaml';
import type { Document } from 'yaml';
import { deepEqual, isJsonObject, checkYamlDepth } from '../../object/index.js';
import { contentError } from '../files.js';
import { yamlSettings } from '../object-texts.js';

/** A JSON schema of values. */
export interface ValueSchema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
}

/** Path of a value that is replaced as a whole. */
type ValuePath = readonly string[];

function valuePaths(schema: ValueSchema, above: ValuePath = []): readonly ValuePath[] {
  const { properties } = schema;
  if (properties === undefined) return [above];
  return Object.entries(properties).flatMap(([name, one]) => valuePaths(one, [...above, name]));
}

/** Returns a schema with the defaults of the values, which also allows `more`. */
export function withDefaults(
  schema: ValueSchema,
  defaults: Document,
  more: readonly string[] = [],
): ValueSchema {
  const filled = filledSchema(schema, defaults, []);
  const added = more.map((name) => [name, {}] as const);
  return { ...filled, properties: { ...filled.properties, ...Object.fromEntries(added) } };
}

function filledSchema(schema: ValueSchema, defaults: Document, path: ValuePath): ValueSchema {
  const { properties, ...rest } = schema;
  if (properties === undefined) {
    const value = defaults.hasIn(path) ? plain(defaults, path) : undefined;
    return value === undefined ? schema : { ...schema, default: value };
  }
  const filled = Object.entries(properties)
    .filter(([name]) => path.length > 0 || name === 'global' || defaults.has(name))
    .map(([name, one]) => [name, filledSchema(one, defaults, [...path, name])] as const);
  return { ...rest, properties: Object.fromEntries(filled) };
}

function defaultOf(schema: ValueSchema, path: ValuePath): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return schema['default'];
  const next = schema.properties?.[first];
  return next === undefined ? undefined : defaultOf(next, rest);
}

/** Input of {@link mergedValues}. */
interface ValuesMerge {
  /** The user's file. */
  readonly text: string;
  readonly file: string;
  readonly defaults: Document;
  /** The schema with the defaults at the time of the last write. */
  readonly before: ValueSchema;
  /** The current schema. */
  readonly schema: ValueSchema;
}

/**
 * Updates a user's values: changed values stay, unchanged ones follow the defaults, new ones are added, and
 * unchanged ones without a default are removed. Comments stay.
 * @returns the text, and the names of values that only the user has
 * @throws OperatorError `InvalidConfig`: invalid YAML, or a value of another type at the place of a map
 */
export function mergedValues({ text, file, defaults, before, schema }: ValuesMerge) {
  const own = parseDocument(checkYamlDepth(text, file));
  const [problem] = own.errors;
  if (problem !== undefined) throw contentError(file, problem.message.trimEnd(), problem);
  const { contents } = own;
  if (contents === null || (isScalar(contents) && contents.value === null)) {
    const filled = defaults.clone();
    const comments = [own.commentBefore, contents?.commentBefore, contents?.comment, own.comment];
    const mine = comments.filter((comment) => comment).join('\n');
    const head = defaults.commentBefore ?? '';
    if (mine !== '') filled.commentBefore = mine.includes(head) ? mine : `${mine}\n\n${head}`;
    return { text: filled.toString({ lineWidth: 0 }), more: [] };
  }
  for (const path of obsoletePaths(before, schema)) {
    if (isUntouched(own, path, before)) own.deleteIn(path);
  }
  for (const path of valuePaths(schema)) {
    if (!defaults.hasIn(path)) continue;
    checkWay(own, path, file);
    if (!own.hasIn(path)) add(own, defaults, path);
    else if (isUntouched(own, path, before)) setIfOther(own, defaults, path);
  }
  const names = isMap(own.contents) ? Object.keys(own.toJS() as object) : [];
  const known = Object.keys(schema.properties ?? {}).filter((name) => defaults.has(name));
  const more = names.filter((name) => name !== 'global' && !known.includes(name));
  return { text: own.toString({ lineWidth: 0 }), more };
}

/** Returns the paths of values that no longer exist, neither as a value nor as a map of values. */
function obsoletePaths(before: ValueSchema, schema: ValueSchema): readonly ValuePath[] {
  const present = valuePaths(schema);
  const isPresent = (path: ValuePath): boolean =>
    present.some((one) => path.every((name, index) => one[index] === name));
  return valuePaths(before).filter((path) => !isPresent(path));
}

function isUntouched(own: Document, path: ValuePath, before: ValueSchema): boolean {
  const old = defaultOf(before, path);
  return old !== undefined && deepEqual(plain(own, path), old);
}

function setIfOther(own: Document, defaults: Document, path: ValuePath): void {
  const value = plain(defaults, path);
  if (!deepEqual(plain(own, path), value)) own.setIn(path, own.createNode(value));
}

/** Returns the value at a path without comments. */
function plain(document: Document, path: ValuePath): unknown {
  let value: unknown = document.toJS();
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** Checks that every value above the path is a map. */
function checkWay(own: Document, path: ValuePath, file: string): void {
  for (const [index] of path.entries()) {
    const above = path.slice(0, index);
    const there = index === 0 ? own.contents : own.getIn(above, true);
    if (there === undefined || isMap(there)) continue;
    const wanted = `${path.join('.')} can't be set, because ${above.join('.') || 'the file'} is not a map`;
    throw contentError(file, `${wanted}; correct it, or overwrite it with --force`);
  }
}

/** Adds the topmost missing part of a path with its comment. */
function add(own: Document, defaults: Document, path: ValuePath): void {
  const missing = path.findIndex((_, index) => !own.hasIn(path.slice(0, index + 1)));
  const [above, name] = [path.slice(0, missing), path[missing]];
  const from = above.length === 0 ? defaults.contents : defaults.getIn(above, true);
  const to = above.length === 0 ? own.contents : own.getIn(above, true);
  if (!isMap(from) || !isMap(to)) return;
  const pair = from.items.find((one) => String(one.key) === name);
  if (pair === undefined) return;
  const added = pair.clone();
  // The parser gives the comment of the first member to the map.
  if (pair === from.items[0] && isScalar(added.key)) {
    added.key.commentBefore ??= from.commentBefore ?? null;
  }
  to.add(added);
}

/** Returns lines of a template for an indentation, as Helm's `nindent` needs them. */
export type TemplateLines = (indent: number) => readonly string[];

/**
 * Writes objects with Helm actions. An action is not valid YAML, so placeholder words represent actions until
 * the text is written.
 */
export class TemplateText {
  readonly #inline = new Map<string, string>();
  readonly #lines = new Map<string, TemplateLines>();

  /** Returns the placeholder of an action within a text. */
  inline(action: string): string {
    const word = `HelmInline${this.#inline.size}End`;
    this.#inline.set(word, `{{ ${action} }}`);
    return word;
  }

  /** Returns the placeholder of lines: an item of a list or, with the value null, a member of an object. */
  lines(lines: TemplateLines): string {
    const word = `HelmLines${this.#lines.size}End`;
    this.#lines.set(word, lines);
    return word;
  }

  /** Returns the placeholder of a line: an action between items or members. */
  line(action: string): string {
    return this.lines((indent) => [`${' '.repeat(indent)}{{- ${action} }}`]);
  }

  /** Returns the template of an object. */
  textOf(object: object): string {
    const escaped = stringify(object, yamlSettings).replaceAll('{{', '{{ "{{" }}');
    const lines = escaped.split('\n').flatMap((line) => this.#linesOf(line));
    return lines
      .join('\n')
      .replaceAll(/HelmInline\d+End/g, (word) => this.#inline.get(word) ?? word);
  }

  #linesOf(line: string): readonly string[] {
    const [, blanks = '', word = ''] =
      /^( *)(?:- )?"?(HelmLines\d+End)"?(?:: null|:)?$/.exec(line) ?? [];
    return this.#lines.get(word)?.(blanks.length) ?? [line];
  }
}

/**
 * Returns lines that a release has only if a value is not empty.
 * @param inner - returns the lines, relative to the indentation
 */
export function linesWith(
  path: string,
  inner: (indent: number) => readonly string[],
): TemplateLines {
  return (indent) =>
    [`{{- with .Values.${path} }}`, ...inner(indent), '{{- end }}'].map(
      (line) => ' '.repeat(indent) + line,
    );
}

/** Returns lines with `key:` and the members or items of a value, if the value is not empty. */
export function valueLines(key: string, path: string): TemplateLines {
  return linesWith(path, (indent) => [`${key}:`, `  {{- toYaml . | nindent ${indent + 2} }}`]);
}

/** Returns the members or items of a value, to be placed among others. */
export function spreadLines(path: string): TemplateLines {
  return linesWith(path, (indent) => [`{{- toYaml . | nindent ${indent} }}`]);
}

/** Returns a line with the text of a value, if the text is not empty. */
export function textLines(key: string, path: string): TemplateLines {
  return linesWith(path, () => [`${key}: {{ . | quote }}`]);
}
