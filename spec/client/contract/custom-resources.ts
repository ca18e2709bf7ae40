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

/** The names under which a CRD serves the kind. */
type Served = Pick<CustomResourceDefinition['spec'], 'scope'> & { readonly plural: string };

/** Runs with a CRD of a unique group and removes it afterwards. */
async function withWidgets(
  { client }: ContractSubject,
  run: (
    type: { apiVersion: string; kind: string },
    replace: (served: Served) => Promise<void>,
  ) => Promise<void>,
): Promise<void> {
  groups += 1;
  const group = `contract-${process.pid}-${groups}.example.com`;
  let crd: CustomResourceDefinition | undefined;
  const remove = async (): Promise<void> => {
    if (crd === undefined) return;
    const { name = '' } = crd.metadata;
    await client.delete(CustomResourceDefinition, { name });
    await waitFor(client, crd, { until: (found) => found === undefined, timeoutMs: 10_000 });
    crd = undefined;
  };
  const replace = async (served: Served): Promise<void> => {
    await remove();
    crd = await client.create(widgetDefinition(group, served));
    await waitFor(client, crd, { until: isEstablished, timeoutMs: 10_000 });
  };
  try {
    await replace({ scope: 'Namespaced', plural: 'widgets' });
    await run({ apiVersion: `${group}/v1`, kind: 'Widget' }, replace);
  } finally {
    await remove();
  }
}

function widgetDefinition(group: string, { scope, plural }: Served): CustomResourceDefinition {
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
    metadata: { name: `${plural}.${group}` },
    spec: {
      ...{ group, scope, names: { plural, kind: 'Widget' } },
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

  it('a kind stays usable if its CRD is replaced by one with another scope and plural', async (subject) => {
    await withWidgets(subject, async (type, replace) => {
      const { client, namespace } = subject;
      for (const [served, key] of [
        [
          { scope: 'Namespaced', plural: 'widgets' },
          { namespace, name: 'a' },
        ],
        [{ scope: 'Cluster', plural: 'widgets' }, { name: 'b' }],
        [
          { scope: 'Namespaced', plural: 'gadgets' },
          { namespace, name: 'c' },
        ],
        [{ scope: 'Cluster', plural: 'gizmos' }, { name: 'd' }],
      ] as const) {
        await replace(served);
        const created = await eventually(() => client.create<Widget>({ ...type, metadata: key }));
        expect(await client.get(type, key)).to.deep.equal(created);
        const { plural, scope } = served;
        expect(await client.resourceType(type)).to.include({
          ...{ plural, namespaced: scope === 'Namespaced' },
        });
        expect((await client.list(type)).items).to.deep.equal([created]);
      }
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

/** Waits past Established: the server's discovery and handlers follow a moment later, with the new scope, too. */
async function eventually<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const { code, status } = error as { code?: string; status?: number };
      if (code !== 'UnknownKind' && code !== 'InvalidObject' && status !== 404) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
