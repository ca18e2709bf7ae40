import { createHash } from 'node:crypto';
import { join, relative, resolve, sep } from 'node:path';
import { isMap, parse, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { isJsonObject, checkYamlDepth } from '../../object/index.js';
import { OperatorError } from '../../system/index.js';
import type { CommandContext } from '../command-context.js';
import { contentError, exists, namesIn, readText } from '../files.js';
import { withVariables } from './manager-env.js';
import { managerValues, peersOf, objectTemplate } from './object-template.js';
import type { ChartFacts } from './object-template.js';
import { mergedValues, withDefaults } from './values.js';
import type { ValueSchema } from './values.js';
import { objectAt, textAt } from '../json-values.js';
import type { Json } from '../json-values.js';
import { textDiff } from '../object-texts.js';
import type { Output } from '../options.js';

import { carryOut, textIfExists } from '../scaffold/plan-files.js';
import type { WantedFile } from '../scaffold/plan-files.js';
import { parseProject, projectFileName } from '../scaffold/project-file.js';
import { readTemplate } from '../scaffold/template.js';
import { builtOverlay, managerDeployment, splitImage } from './overlay.js';
import type { BuiltOverlay, OverlayOptions } from './overlay.js';

/** Options of `operator-builder helm`. */
export interface ChartOptions extends OverlayOptions {
  /** Path in the project's folder. @defaultValue `charts/` and the project's name */
  readonly out?: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly output: Output;
}

/**
 * Makes or updates the chart of a project. Values that the user changed stay.
 * @throws OperatorError `InvalidConfig`: the overlay can't be built, or files were changed by hand
 */
export async function makeChart(options: ChartOptions, context: CommandContext): Promise<void> {
  const { dryRun, force, output } = options;
  const { folder, objects } = await builtOverlay(options, context);
  const name = await projectName(folder);
  const source = { name, version: await versionOf(folder), objects, from: options.overlay };
  const all = await withOptions({ folder, objects }, options, context);
  const chart = await chartOf({ ...source, all });
  const place = resolve(folder, options.out ?? `charts/${name}`);
  const out = relative(folder, place).replaceAll(sep, '/') || '.';
  const wanted = await wantedFiles(chart, { folder, out, version: source.version, force });
  const next = [
    `helm upgrade --install ${name} ${out} --namespace ${name}-system --create-namespace`,
  ];
  const outside = options.out !== undefined;
  const how = { directory: folder, dryRun, force, output, outside };
  await carryOut({ wanted, next }, how, context);
}

async function projectName(folder: string): Promise<string> {
  const path = join(folder, projectFileName);
  return parseProject(await readText(path), path).name;
}

async function versionOf(folder: string): Promise<string> {
  const path = join(folder, 'package.json');
  const content = jsonOf(await readText(path), path);
  const version = isJsonObject(content) ? content['version'] : undefined;
  if (typeof version === 'string' && version !== '') return version;
  throw new OperatorError(
    'InvalidConfig',
    `${path}: version: missing; set it, because the chart has the same version`,
  );
}

function jsonOf(text: string, path: string, remedy = 'correct it'): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw contentError(path, `invalid JSON; ${remedy}`, error);
  }
}

/** Adds the optional parts of `config/default`, which values of a release switch on. */
async function withOptions(
  { folder, objects }: BuiltOverlay,
  options: ChartOptions,
  context: CommandContext,
): Promise<readonly object[]> {
  const resources: string[] = [];
  for (const [name, kind] of [
    ['prometheus', 'ServiceMonitor'],
    ['network-policy', 'NetworkPolicy'],
  ] as const) {
    const path = `../${name}`;
    if (hasKind(objects, kind) || !(await exists(join(folder, options.overlay, path)))) continue;
    resources.push(path);
  }
  const components = (await lacksMetricsAuth({ folder, objects }, options)) ? [metricsAuth] : [];
  if (resources.length === 0 && components.length === 0) return objects;
  return (await builtOverlay({ ...options, resources, components }, context)).objects;
}

const metricsAuth = '../metrics-auth';

/** Whether an overlay lacks the component that serves metrics over HTTPS. */
async function lacksMetricsAuth(
  { folder, objects }: BuiltOverlay,
  { overlay }: ChartOptions,
): Promise<boolean> {
  if (managerValues(objects, overlay).metricsAuth) return false;
  return exists(join(folder, overlay, metricsAuth));
}

interface ChartPlace {
  readonly folder: string;
  readonly out: string;
  readonly version: string;
  readonly force: boolean;
}

async function wantedFiles(chart: Chart, place: ChartPlace): Promise<readonly WantedFile[]> {
  const { out, force } = place;
  const at = (path: string): string => `${out}/${path}`;
  const { values, schema } = await valueFiles(chart, place);
  const made = [...chart.files, ['values.schema.json', schema] as const];
  const wanted: WantedFile[] = [
    { type: 'edited', path: at('Chart.yaml'), text: await chartText(chart.chart, place) },
    { type: 'edited', path: at('values.yaml'), text: values },
  ];
  const problems: string[] = [];
  for (const [path, content] of made) {
    const text = madeText(path, content);
    const before = await textIfExists(join(place.folder, at(path)));
    if (!force && before !== undefined && before !== text && !isAsMade(path, before)) {
      problems.push(textDiff(at(path), before, text));
    }
    wanted.push({ type: 'edited', path: at(path), text });
  }
  refuse(problems);
  return [...wanted, ...(await goingFiles(new Set(made.map(([path]) => path)), place))];
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const remedy =
    'move the changes to config/ or to files of your own, or discard them with --force';
  throw new OperatorError(
    'InvalidConfig',
    `these files were changed by hand (${remedy}):\n${problems.join('\n')}\nNothing was written.`,
  );
}

/** Returns the obsolete generated files that are unchanged. */
async function goingFiles(
  made: ReadonlySet<string>,
  { folder, out }: ChartPlace,
): Promise<readonly WantedFile[]> {
  const going: WantedFile[] = [];
  for (const below of ['templates', 'templates/crds']) {
    for (const name of await namesIn(join(folder, out, below))) {
      const path = `${below}/${name}`;
      if (made.has(path) || !/\.(?:yaml|tpl|txt)$/.test(name)) continue;
      const text = await textIfExists(join(folder, out, path));
      if (text === undefined || !isAsMade(path, text)) continue;
      going.push({ type: 'delete', path: `${out}/${path}` });
    }
  }
  return going;
}

/** Updates the versions in the user's Chart.yaml. */
async function chartText(chart: Document, { folder, out, version, force }: ChartPlace) {
  const own = force ? undefined : await textIfExists(join(folder, out, 'Chart.yaml'));
  const path = join(folder, out, 'Chart.yaml');
  const document = own === undefined ? chart : parseDocument(checkYamlDepth(own, path));
  const [problem] = document.errors;
  if (problem !== undefined)
    throw contentError(path, `${problem.message.trimEnd()}\ncorrect it, or pass --force`);
  if (!isMap(document.contents))
    throw contentError(path, 'want a map; correct it, or pass --force');
  document.set('version', version);
  document.set('appVersion', version);
  return document.toString({ lineWidth: 0 });
}

async function valueFiles(
  { values: defaults, schema }: Chart,
  { folder, out, force }: ChartPlace,
): Promise<Readonly<Record<'values' | 'schema', string>>> {
  const file = join(folder, out, 'values.yaml');
  const text = force ? undefined : await textIfExists(file);
  const oldFile = join(folder, out, 'values.schema.json');
  const old = force ? undefined : await textIfExists(oldFile);
  const remedy = 'correct it, or overwrite it with --force';
  const before = old === undefined ? {} : (jsonOf(old, oldFile, remedy) as ValueSchema);
  const merged =
    text === undefined
      ? { text: defaults.toString({ lineWidth: 0 }), more: [] }
      : mergedValues({ text, file, defaults, before, schema });
  const filled = withDefaults(schema, defaults, merged.more);
  return { values: merged.text, schema: `${JSON.stringify(filled, undefined, 2)}\n` };
}

export interface ChartSource {
  /** Name of the project. */
  readonly name: string;
  /** Version from package.json. */
  readonly version: string;
  /** The objects of `config/default`, and of `config/default` with all its options. */
  readonly objects: readonly object[];
  readonly all: readonly object[];
  /** The overlay that was built, for messages. */
  readonly from: string;
}

export interface Chart {
  readonly values: Document;
  readonly schema: ValueSchema;
  readonly chart: Document;
  /** The other files by their paths in the chart. */
  readonly files: ReadonlyMap<string, string>;
}

/** Makes a chart from the objects of a project. */
export async function chartOf(source: ChartSource): Promise<Chart> {
  const { name, objects, all, from } = source;
  const { deployment, podSpec } = managerDeployment(objects, from);
  const metadata = objectAt(deployment, 'metadata');
  const facts: ChartFacts = {
    name,
    namespace: textAt(metadata, 'namespace'),
    manager: textAt(metadata, 'name'),
    account: textAt(podSpec, 'serviceAccountName'),
  };
  const words = { 'operator-name': name, 'manager-name': facts.manager };
  const given = await readTemplate('helm', { words, conditions: new Set() });
  const texts = new Map(given.map(({ path, text }) => [path, text]));
  const taken = (path: string): string => {
    const text = texts.get(path) ?? '';
    texts.delete(path);
    return text;
  };
  const values = parseDocument(taken('values.yaml'));
  const ofAll = JSON.parse(taken('values.schema.json')) as ValueSchema;
  const schema = withVariables(ofAll, Object.keys(managerValues(objects, from).env));
  const chart = parseDocument(taken('Chart.yaml'));
  fillValues(values, source);
  const templates = all.flatMap((object) => templateFile(object as Json, facts));
  return { values, schema, chart, files: new Map([...texts, ...joined(templates)]) };
}

function templateFile(object: Json, facts: ChartFacts): readonly (readonly [string, string])[] {
  const text = objectTemplate(object, facts);
  const name = textAt(objectAt(object, 'metadata'), 'name');
  const kind = textAt(object, 'kind').toLowerCase();
  const isCrd = kind === 'customresourcedefinition';
  const own = name.startsWith(`${facts.name}-`) ? name.slice(facts.name.length + 1) : name;
  const path = isCrd ? `templates/crds/${name}.yaml` : `templates/${kind}-${own}.yaml`;
  return text === undefined ? [] : [[path, text]];
}

/** Puts objects of one kind and name from several namespaces into one file. */
function joined(files: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [path, text] of files) {
    const before = texts.get(path);
    texts.set(path, before === undefined ? text : `${before}---\n${text}`);
  }
  return texts;
}

/** Takes the defaults of the values from `config/`. */
function fillValues(values: Document, { objects, all, version, from }: ChartSource): void {
  const manager = managerValues(objects, from);
  const { name, tag, digest } = splitImage(manager.image.name);
  const set = (path: readonly string[], value: unknown): void => {
    values.setIn(path, values.createNode(parse(JSON.stringify(value))));
  };
  set(['image', 'repository'], name);
  if (tag !== version) set(['image', 'tag'], tag);
  if (digest !== '') set(['image', 'digest'], digest);
  if (manager.image.pullPolicy !== '') set(['image', 'pullPolicy'], manager.image.pullPolicy);
  for (const [name, value] of Object.entries(manager.fields)) {
    if (value !== undefined) set([name], value);
  }
  if (!manager.webhooks) {
    values.delete('webhook');
    values.deleteIn(['networkPolicy', 'webhookFrom']);
  }
  set(['env'], manager.env);
  set(['replicas'], manager.replicas);
  if (manager.logLevel !== '') set(['logLevel'], manager.logLevel);
  if (manager.priorityClassName !== '') set(['priorityClassName'], manager.priorityClassName);
  set(['leaderElection', 'enabled'], manager.leaderElection);
  set(['metrics', 'auth'], manager.metricsAuth);
  set(['metrics', 'serviceMonitor', 'enabled'], hasKind(objects, 'ServiceMonitor'));
  set(['podDisruptionBudget', 'enabled'], hasKind(objects, 'PodDisruptionBudget'));
  const max = maxUnavailableOf(objects);
  if (max !== undefined) set(['podDisruptionBudget', 'maxUnavailable'], max);
  set(['networkPolicy', 'enabled'], hasKind(objects, 'NetworkPolicy'));
  for (const [part, peers] of peersOf(all)) set(['networkPolicy', `${part}From`], peers);
}

function maxUnavailableOf(objects: readonly object[]): unknown {
  const budget = (objects as readonly Json[]).find(({ kind }) => kind === 'PodDisruptionBudget');
  return budget && objectAt(budget, 'spec')?.['maxUnavailable'];
}

export function hasKind(objects: readonly object[], kind: string): boolean {
  return (objects as readonly Json[]).some((object) => object['kind'] === kind);
}

/**
 * Generated files carry a hash of their content, so that changes by hand are not lost: in the first line, or
 * in JSON as `$comment`.
 */
const said = /Made by `operator-builder helm` \(([0-9a-f]{16})\)/;

const isJson = (path: string): boolean => path.endsWith('.json');

/** Returns the text of a file with the comment of a generated file. */
export function madeText(path: string, text: string): string {
  const sentence = `Made by \`operator-builder helm\` (${hashOf(text)}): changed content is kept when the chart is updated.`;
  if (isJson(path)) {
    return text.replace('{', `{\n  "$comment": ${JSON.stringify(sentence)},`);
  }
  return path.startsWith('templates/')
    ? `{{- /* ${sentence} */ -}}\n${text}`
    : `# ${sentence}\n${text}`;
}

/** Whether a generated file is unchanged since its generation. */
export function isAsMade(path: string, text: string): boolean {
  const [, hash] = said.exec(text) ?? [];
  return hash !== undefined && hash === hashOf(restOf(path, text));
}

function restOf(path: string, text: string): string {
  // Windows files end lines with CRLF.
  if (isJson(path)) return text.replace(/\r?\n {2}"\$comment": .*,/, '');
  return text.slice(text.indexOf('\n') + 1);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 16);
}
