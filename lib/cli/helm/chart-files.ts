import { parse, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import type { Json } from '../json-values.js';
import { objectAt, textAt } from '../json-values.js';
import { splitImage } from '../package/overlay.js';
import { managerDeployment } from '../package/overlay.js';
import { readTemplate } from '../scaffold/template.js';
import { managerValues } from './manager-template.js';
import { peersOf } from './network-policy-template.js';
import { objectTemplate } from './object-template.js';
import type { ChartFacts } from './object-template.js';
import type { ValueSchema } from './values.js';

/** Input of a chart. */
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

/** A chart. */
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
  const schema = JSON.parse(taken('values.schema.json')) as ValueSchema;
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

/** Whether the list has objects of a kind. */
export function hasKind(objects: readonly object[], kind: string): boolean {
  return (objects as readonly Json[]).some((object) => object['kind'] === kind);
}
