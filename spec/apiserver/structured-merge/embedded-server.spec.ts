import { expect } from 'chai';
import { EmbeddedApiServer } from '../../../lib/apiserver/api-server.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { Transport } from '../../../lib/system/transport.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import { customSchemas } from './scenarios/kinds.js';
import { recordings, stepTime } from './scenarios/recording.js';
import type { RecordedStep, Recording } from './scenarios/recording.js';

const namespace = 'structured-merge';
const contentTypes = {
  create: 'application/json',
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
} as const;

/**
 * For some scenarios, the step that the embedded server is known to answer differently. The replay ends at this step.
 */
const known: Readonly<Record<string, { readonly step: number; readonly reason: string }>> = {
  'an entry that another manager set a field of stays': {
    step: 2,
    reason: 'PodTemplates are not validated',
  },
  'lists that are atomic, and list-maps with two keys': {
    step: 0,
    reason: 'PodTemplates are not validated',
  },
  'entries are merged by their key, and keep their place': {
    step: 6,
    reason: 'PodTemplates are not validated',
  },
  'malformed patches': { step: 17, reason: 'the 422 shows the object in place of the patch' },
};

for (const table of ['ownership', 'structures', 'custom', 'strategic']) {
  describe(`the embedded server answers as a real server did: ${table}`, () => {
    let server: EmbeddedApiServer;
    let transport: Transport;
    let clock: VirtualClock;

    beforeEach(async () => {
      clock = new VirtualClock(stepTime(0));
      server = new EmbeddedApiServer({ clock });
      transport = server.transport();
      const metadata = { name: namespace };
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata };
      await send(transport, { method: 'POST', path: '/api/v1/namespaces', body });
      if (table === 'custom') await defineKinds(transport);
    });

    afterEach(async () => {
      await transport.close();
      await server.stop();
    });

    for (const [at, recording] of recordings(table).entries()) {
      it(recording.title, async () => {
        const { step: end = recording.steps.length } = known[recording.title] ?? {};
        for (const [index, step] of recording.steps.slice(0, end).entries()) {
          if (clock.now() < stepTime(index)) await clock.advance(stepTime(index) - clock.now());
          await replay({
            transport,
            recording,
            step,
            name: `${table}-${at}`,
            where: `step ${index}`,
          });
        }
      });
    }
  });
}

interface Replay {
  readonly transport: Transport;
  readonly recording: Recording;
  readonly step: RecordedStep;
  readonly name: string;
  readonly where: string;
}

async function replay({ transport, recording, step, name, where }: Replay): Promise<void> {
  const { on } = recording;
  const { verb, manager, force, subresource } = step;
  const root = on.apiVersion.includes('/') ? 'apis' : 'api';
  const collection = `/${root}/${on.apiVersion}/namespaces/${namespace}/${on.plural}`;
  const path = verb === 'create' ? collection : `${collection}/${name}`;
  const query = `fieldManager=${manager}${force === true ? '&force=true' : ''}`;
  const before = await get(transport, `${collection}/${name}`);
  const { status, body } = await send(transport, {
    method: verb === 'create' ? 'POST' : 'PATCH',
    path: `${path}${subresource === undefined ? '' : `/${subresource}`}?${query}`,
    contentType: contentTypes[verb],
    body: bodyOf(recording, step, name),
  });
  if (step.error !== undefined) {
    expect(lines(body.message), where).to.deep.equal(lines(step.error.message));
    expect({ code: status, reason: body.reason }, where).to.deep.equal({
      code: step.error.code,
      reason: step.error.reason,
    });
    expect(body.details?.causes ?? [], where).to.have.deep.members([...(step.error.causes ?? [])]);
    return;
  }
  expect(status, `${where}: ${body.message ?? ''}`).to.be.below(300);
  const after = await get(transport, `${collection}/${name}`);
  const version = (object: UnstructuredObject | undefined) => object?.metadata.resourceVersion;
  if (step.after === 'same') expect(version(after), where).to.equal(version(before));
  else expect(comparable(after!), where).to.deep.equal(comparable(step.after!));
}

function bodyOf({ on }: Recording, { verb, body }: RecordedStep, name: string): unknown {
  if (verb !== 'apply' && verb !== 'create') return body;
  const { apiVersion, kind } = on;
  const { metadata = {}, ...rest } = body as { metadata?: object };
  return { apiVersion, kind, metadata: { ...metadata, name, namespace }, ...rest };
}

/** Removes what differs on every server, and what controllers write. */
function comparable(object: UnstructuredObject): unknown {
  const { status, ...copy } = structuredClone(object);
  const { metadata } = copy;
  for (const field of ['uid', 'resourceVersion', 'creationTimestamp', 'generation'] as const) {
    Reflect.deleteProperty(metadata, field);
  }
  Reflect.deleteProperty(metadata.annotations ?? {}, 'deployment.kubernetes.io/revision');
  if (Object.keys(metadata.annotations ?? {}).length === 0) delete metadata.annotations;
  const spec = copy['spec'] as { clusterIP?: string; clusterIPs?: string[]; ports?: object[] };
  for (const field of ['clusterIP', 'clusterIPs'] as const) {
    if (object.kind === 'Service') Reflect.deleteProperty(spec, field);
  }
  for (const port of object.kind === 'Service' ? (spec.ports ?? []) : []) {
    Reflect.deleteProperty(port, 'nodePort');
  }
  const managers = metadata.managedFields?.filter(
    ({ manager }) => manager !== 'kube-controller-manager',
  );
  delete metadata.managedFields;
  return { ...copy, managers, ...(object.kind === 'Widget' ? { status } : {}) };
}

async function get(transport: Transport, path: string): Promise<UnstructuredObject | undefined> {
  const { status, body } = await send(transport, { method: 'GET', path });
  return status === 200 ? (body as unknown as UnstructuredObject) : undefined;
}

interface Answer {
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes?: unknown[] };
}

interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
}

async function send(
  transport: Transport,
  { method, path, body, contentType = 'application/json' }: Request,
): Promise<{ status: number; body: Answer }> {
  const response = await transport.request({
    method,
    path,
    headers: { accept: 'application/json', 'content-type': contentType },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { status: response.status, body: JSON.parse(text) as Answer };
}

// The real server returns members of a map in random order.
function lines(text: string | undefined): string[] {
  return (text ?? '').split(/\n|, (?=[a-z]+\.)|\[|\]$/).toSorted();
}

async function defineKinds(transport: Transport): Promise<void> {
  for (const [kind, openAPIV3Schema] of Object.entries(customSchemas)) {
    const singular = kind.toLowerCase();
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    const subresources = kind === 'Widget' ? { status: {}, scale } : {};
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema },
      subresources,
    };
    const names = { kind, singular, plural: `${singular}s` };
    const spec = { group: 'merge.example.com', names, scope: 'Namespaced', versions: [version] };
    const metadata = { name: `${singular}s.merge.example.com` };
    const apiVersion = 'apiextensions.k8s.io/v1';
    const body = { apiVersion, kind: 'CustomResourceDefinition', metadata, spec };
    const path = `/apis/${apiVersion}/customresourcedefinitions`;
    const answer = await send(transport, { method: 'POST', path, body });
    expect(answer.status, answer.body.message ?? '').to.equal(201);
  }
}
