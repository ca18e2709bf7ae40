import { expect } from 'chai';
import { waitFor } from '../../../lib/client/index.js';
import { isInvalid } from '../../../lib/object/api-error.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { failureOf } from '../scripted-transport.js';
import type { Behaviour, ContractSubject } from './contract-subject.js';

interface Widget extends UnstructuredObject {
  spec?: { size?: number };
  status?: { ready?: boolean };
}

let groups = 0;

/** Runs with a CRD of a unique group and removes it afterwards. */
async function withWidgets(
  { client }: ContractSubject,
  run: (type: { apiVersion: string; kind: string }) => Promise<void>,
): Promise<void> {
  groups += 1;
  const group = `contract-${process.pid}-${groups}.example.com`;
  const name = `widgets.${group}`;
  const created = await client.create(widgetDefinition(name, group));
  try {
    await waitFor(client, created, { until: isEstablished, timeoutMs: 10_000 });
    await run({ apiVersion: `${group}/v1`, kind: 'Widget' });
  } finally {
    await client.delete(CustomResourceDefinition, { name });
  }
}

function widgetDefinition(name: string, group: string): CustomResourceDefinition {
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } },
      status: { type: 'object', properties: { ready: { type: 'boolean' } } },
    },
  };
  const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [{ ...version, schema: { openAPIV3Schema } }],
    },
  };
}

const isEstablished = (crd: CustomResourceDefinition | undefined): boolean =>
  (crd?.status?.conditions ?? []).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  );

/** Declares the behaviours of custom kinds. */
export function customResourceContract(it: Behaviour): void {
  it('a kind is usable as soon as its CRD is established', async (subject) => {
    await withWidgets(subject, async (type) => {
      const { client, namespace } = subject;
      const key = { namespace, name: 'a' };
      const widget: Widget = { ...type, metadata: key, spec: { size: 3 } };
      const created = await eventually(() => client.create(widget));
      expect(created.spec).to.deep.equal({ size: 3 });
      expect(await client.resourceType(type)).to.include({ plural: 'widgets', namespaced: true });
      const { items } = await client.list(type, { namespace });
      expect(items).to.deep.equal([created]);
    });
  });

  it('a custom resource has a status subresource and schema validation', async (subject) => {
    await withWidgets(subject, async (type) => {
      const { client, namespace } = subject;
      const widget: Widget = { ...type, metadata: { namespace, name: 'a' }, spec: { size: 1 } };
      const created = await eventually(() => client.create(widget));
      const status = { ready: true };
      const ready = await client.update({ ...created, status }, { subresource: 'status' });
      expect(ready.status).to.deep.equal(status);
      const unready = await client.update({ ...ready, status: { ready: false } });
      expect(unready.status).to.deep.equal(status);
      const error = await failureOf(client.update({ ...ready, spec: { size: 0 } }));
      expect(isInvalid(error)).to.equal(true);
    });
  });

  it('a custom resource can be applied', async (subject) => {
    await withWidgets(subject, async (type) => {
      const { client, namespace } = subject;
      const widget: Widget = { ...type, metadata: { namespace, name: 'a' }, spec: { size: 1 } };
      const { created } = await eventually(() => client.apply(widget, { fieldManager: 'me' }));
      expect(created).to.equal(true);
    });
  });
}

/** Waits past Established: the server's discovery and handlers follow a moment later. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const { code, status } = error as { code?: string; status?: number };
      if (code !== 'UnknownKind' && status !== 404) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
