import { expect } from 'chai';
import { controllerFor } from '../../../lib/controller/controller.js';
import type { Controller } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import { ownVerbs } from '../../../lib/manager/access/required-access.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import { ConfigMap, Lease, Secret } from '../../../lib/object/kinds.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';

const apiVersion = 'chain.view.dcontroller.io/v1alpha1';
const SizeView = { apiVersion, kind: 'SizeView' };

async function unlessGone<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/**
 * A controller that writes a SizeView for each ConfigMap. The namespace of the view is the first letter of the
 * ConfigMap's name, and does not exist on the server.
 */
function toViews(): Controller {
  return controllerFor(ConfigMap).complete(async ({ key, client }) => {
    const source = await unlessGone(client.get(ConfigMap, key));
    const view = { namespace: key.name.slice(0, 1), name: key.name };
    if (source?.data?.['text'] === undefined) {
      await unlessGone(client.delete(SizeView, view));
      return done();
    }
    const fields = { home: key.namespace, size: source.data['text'].length };
    const wanted: UnstructuredObject = { ...SizeView, metadata: view, ...fields };
    await client.apply(wanted, { fieldManager: 'to-views', force: true });
    return done();
  });
}

/** A controller that writes a Secret for each SizeView, in the namespace `home`. */
function toSecrets(home: string): Controller {
  return controllerFor(SizeView).complete(async ({ key, client }) => {
    const view = await unlessGone(client.get<UnstructuredObject>(SizeView, key));
    const secret: ObjectKey = { namespace: home, name: key.name };
    if (view === undefined) await unlessGone(client.delete(Secret, secret));
    else {
      const data = { size: Buffer.from(String(view['size'])).toString('base64') };
      const metadata = { namespace: home, name: key.name };
      const wanted: Secret = { apiVersion: 'v1', kind: 'Secret', metadata, data };
      await client.apply(wanted, { fieldManager: 'to-secrets', force: true });
    }
    return done();
  });
}

/** Specs of a manager with views beside its cluster, for the embedded server and a real one. */
export function declarativeManagerSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;

  before(async () => {
    target = await newTarget();
  });
  after(async () => {
    await target.close();
  });

  it('a manager lets controllers read views of other controllers, and does not send the views to the cluster', async () => {
    const namespace = await target.namespace();
    const operator = await target.operator();
    const stop = new AbortController();
    const leaderElection = { name: 'chain', namespace };
    const manager = await DeclarativeManager.create({
      ...{ client: operator.client, clock: target.clock, leaderElection, rbacPreflight: 'fail' },
      cacheOptions: { namespaces: [namespace] },
    });
    await manager.views.ensure('chain', 'SizeView');
    manager.add(toViews(), { requires: [{ type: SizeView, verbs: ownVerbs }] });
    manager.add(toSecrets(namespace), { requires: [{ type: Secret, verbs: ownVerbs }] });
    const running = manager.run(stop.signal);
    const sizeOf = async (name: string): Promise<string | undefined> => {
      const secret = await unlessGone(target.admin.get(Secret, { namespace, name }));
      return secret && Buffer.from(secret.data?.['size'] ?? '', 'base64').toString();
    };
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name: 'a' } };
    await target.admin.create({ ...configMap, data: { text: 'four' } } as ConfigMap);
    await target.eventually(async () => expect(await sizeOf('a')).to.equal('4'));
    await target.admin.apply({ ...configMap, data: { text: 'sixsix' } } as ConfigMap, {
      ...{ fieldManager: 'person', force: true },
    });
    await target.eventually(async () => expect(await sizeOf('a')).to.equal('6'));
    await target.admin.delete(ConfigMap, { namespace, name: 'a' });
    await target.eventually(async () => expect(await sizeOf('a')).to.equal(undefined));
    expect(await target.admin.get(Lease, leaderElection)).to.have.property('kind', 'Lease');
    stop.abort();
    await running;

    const asked = (await operator.requests()).map(({ resource }) => resource);
    // Discovery for access reviews requests paths instead of resources.
    const resources = new Set(asked.filter((resource) => !resource.startsWith('/')));
    const native = ['configmaps', 'leases', 'secrets', 'selfsubjectaccessreviews'];
    expect([...resources].sort()).to.deep.equal(native);
  });
}
