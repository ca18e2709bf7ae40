// Records the answers of a real server to the scenarios:
// KUBECONFIG=… npx tsx spec/apiserver/structured-merge/scenarios/record.ts [table]
import { mkdirSync, writeFileSync } from 'node:fs';
import { formatTime } from '../../../../lib/object/micro-time.js';
import type { UnstructuredObject } from '../../../../lib/object/kubernetes-object.js';
import type { ApiConnection } from '../../../cluster/control-plane/api-connection.js';
import { connectToExistingCluster } from '../../../cluster/control-plane/existing-cluster.js';
import { scenarios } from './index.js';
import { customSchemas } from './kinds.js';
import { recordingUrl, stepTime } from './recording.js';
import type { RecordedError, RecordedStep, Recording } from './recording.js';
import type { Scenario, ScenarioKind, Step } from './scenario.js';

const namespace = 'structured-merge';
const group = 'merge.example.com';

const contentTypes = {
  create: 'application/json',
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

async function main(): Promise<void> {
  const { api } = connectToExistingCluster();
  await prepare(api);
  mkdirSync(new URL('.', recordingUrl('x')), { recursive: true });
  const wanted = process.argv[2];
  for (const [table, list] of Object.entries(scenarios)) {
    if (wanted !== undefined && wanted !== table) continue;
    const recorded = await Promise.all(
      list.map((scenario, index) => record(api, scenario, `${table}-${index}`)),
    );
    writeFileSync(recordingUrl(table), textOf(recorded));
  }
  api.close();
}

// Writes one step per line, so that a changed answer is a changed line.
function textOf(recorded: readonly Recording[]): string {
  const texts = recorded.map(({ steps, ...scenario }) => {
    const head = JSON.stringify(scenario).slice(0, -1);
    return `${head},"steps":[\n${steps.map((step) => JSON.stringify(step)).join(',\n')}\n]}`;
  });
  return `[${texts.join(',\n')}]\n`;
}

async function prepare(api: ApiConnection): Promise<void> {
  const metadata = { name: namespace };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await api.send({ method: 'POST', path: '/api/v1/namespaces', body });
  for (const kind of Object.keys(customSchemas)) await defineKind(api, kind);
  await pause(3000);
}

async function defineKind(api: ApiConnection, kind: string): Promise<void> {
  const singular = kind.toLowerCase();
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
  };
  const subresources = kind === 'Widget' ? { status: {}, scale } : {};
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: customSchemas[kind] },
    subresources,
  };
  const names = { kind, singular, plural: `${singular}s` };
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: { group, names, scope: 'Namespaced', versions: [version] },
  };
  await api.json({
    method: 'PATCH',
    path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${singular}s.${group}?fieldManager=op&force=true`,
    contentType: contentTypes.apply,
    body: crd,
  });
}

async function record(api: ApiConnection, scenario: Scenario, name: string): Promise<Recording> {
  const target = new Target(api, scenario.on, name);
  await target.remove();
  const times = new Map<string, number>();
  const steps: RecordedStep[] = [];
  let last: UnstructuredObject | undefined;
  for (const [index, step] of scenario.steps.entries()) {
    await pause(1200);
    const before = await target.get();
    const error = await target.write(step);
    const after = await target.get();
    const normal = (object: UnstructuredObject) => normalised(object, times, index);
    const known = last?.metadata.resourceVersion === before?.metadata.resourceVersion;
    const same = after?.metadata.resourceVersion === before?.metadata.resourceVersion;
    steps.push({
      ...step,
      ...(known || before === undefined ? {} : { before: normal(before) }),
      ...(error === undefined ? { after: same ? 'same' : normal(after!) } : { error }),
    });
    last = after;
  }
  await target.remove();
  return { ...scenario, steps };
}

/** The object of a scenario. */
class Target {
  readonly #api: ApiConnection;
  readonly #kind: ScenarioKind;
  readonly #name: string;

  constructor(api: ApiConnection, kind: ScenarioKind, name: string) {
    this.#api = api;
    this.#kind = kind;
    this.#name = name;
  }

  get #collection(): string {
    const { apiVersion, plural } = this.#kind;
    const root = apiVersion.includes('/') ? 'apis' : 'api';
    return `/${root}/${apiVersion}/namespaces/${namespace}/${plural}`;
  }

  async get(): Promise<UnstructuredObject | undefined> {
    const { status, text } = await this.#api.send({ path: `${this.#collection}/${this.#name}` });
    return status === 200 ? (JSON.parse(text) as UnstructuredObject) : undefined;
  }

  async remove(): Promise<void> {
    const path = `${this.#collection}/${this.#name}`;
    const body = { metadata: { finalizers: null } };
    await this.#api.send({ method: 'PATCH', path, contentType: contentTypes.merge, body });
    await this.#api.send({ method: 'DELETE', path });
  }

  async write(step: Step): Promise<RecordedError | undefined> {
    const { verb, manager, subresource, force } = step;
    const path = verb === 'create' ? this.#collection : `${this.#collection}/${this.#name}`;
    const query = `fieldManager=${manager}${force === true ? '&force=true' : ''}`;
    const { status, text } = await this.#api.send({
      method: verb === 'create' ? 'POST' : 'PATCH',
      path: `${path}${subresource === undefined ? '' : `/${subresource}`}?${query}`,
      contentType: contentTypes[verb],
      body: this.#bodyOf(step),
    });
    if (status < 300) return undefined;
    const { details, ...error } = JSON.parse(text) as RecordedError & {
      details?: { causes?: unknown[] };
    };
    const { code, reason, message } = error;
    const { causes } = details ?? {};
    return JSON.parse(JSON.stringify({ code, reason, message, causes })) as RecordedError;
  }

  #bodyOf({ verb, body }: Step): unknown {
    if (verb !== 'apply' && verb !== 'create') return body;
    const { apiVersion, kind } = this.#kind;
    const { metadata = {}, ...rest } = body as { metadata?: object };
    return { apiVersion, kind, metadata: { ...metadata, name: this.#name, namespace }, ...rest };
  }
}

function normalised(
  object: UnstructuredObject,
  times: Map<string, number>,
  step: number,
): UnstructuredObject {
  const text = JSON.stringify({ ...object, metadata: { ...object.metadata, uid: 'the-uid' } });
  return JSON.parse(
    text.replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/g, (time) => {
      if (!times.has(time)) times.set(time, step);
      return JSON.stringify(formatTime(stepTime(times.get(time)!)));
    }),
  ) as UnstructuredObject;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

await main();
