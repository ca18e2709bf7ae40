import { expect } from 'chai';
import { ensureCrd, forwarding } from '../../../lib/client/index.js';
import type { Client } from '../../../lib/client/index.js';
import { controllerFor } from '../../../lib/controller/controller.js';
import { done } from '../../../lib/controller/result.js';
import { createCrd } from '../../../lib/lifecycle/index.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { ManagerOptions } from '../../../lib/manager/manager-options.js';
import { ConfigMap } from '../../../lib/object/kinds.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type { KubernetesObject, TypeMeta } from '../../../lib/object/kubernetes-object.js';
import { withControllerReference } from '../../../lib/object/owner-reference.js';
import type { ResourceType, TypeReference } from '../../../lib/object/resource-type.js';
import { systemRandom } from '../../../lib/system/random.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';
import { drivenController } from '../../manager/suite/driven-controller.js';
import type { DrivenController } from '../../manager/suite/driven-controller.js';

const group = 'plain-kinds.example.com';

/** A fresh cluster-scoped kind, so that each spec decides when to install it. */
function newKind(): { readonly plain: TypeMeta; readonly typed: ResourceType<KubernetesObject> } {
  const kind = `Zone${systemRandom.uuid().replaceAll(/[^a-f]/g, '')}x`;
  const plain = { apiVersion: `${group}/v1`, kind };
  const plural = pluralOf(plain);
  return { plain, typed: { group, version: 'v1', kind, plural, namespaced: false } };
}

/** Defines how controllers handle kinds given as apiVersion and kind, on either server. */
export function plainKindsSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  const running: DrivenController[] = [];
  before(async () => {
    target = await newTarget();
  });
  beforeEach(async () => {
    namespace = await target.namespace();
  });
  afterEach(async () => {
    for (const driven of running.splice(0)) await driven.stop();
  });
  after(() => target.close());

  const install = (type: TypeMeta): Promise<unknown> => {
    const crd = createCrd({ group, kind: type.kind }, { version: 'v1', plural: pluralOf(type) });
    return ensureCrd(target.admin, crd, { clock: target.clock });
  };
  const drive = async (
    type: TypeReference<KubernetesObject>,
    options: { readonly manager?: Partial<ManagerOptions>; readonly client?: Client } = {},
  ): Promise<DrivenController> => {
    const { manager, client } = options;
    const setup = (added: Manager): void => void added.add(mapKeeper(type, namespace));
    const own = await target.operator();
    const operator = client === undefined ? own : { ...own, client };
    const driven = await drivenController({ target, setup, operator, manager });
    running.push(driven);
    return driven;
  };
  const map = (): Promise<ConfigMap> => target.admin.get(ConfigMap, { namespace, name: 'zone' });
  const create = (type: TypeMeta): Promise<KubernetesObject> =>
    target.admin.create({ ...type, metadata: { name: 'zone' } });
  /** Expects the watch to restore a deleted ConfigMap. */
  const expectRepair = async (driven: DrivenController): Promise<void> => {
    const { metadata } = await driven.eventually(map);
    await target.admin.delete(ConfigMap, { namespace, name: 'zone' });
    await driven.eventually(async () => {
      expect((await map()).metadata.uid).not.to.equal(metadata.uid);
    }, 1_000);
  };

  for (const form of ['typed', 'plain'] as const) {
    const given = form === 'typed' ? 'as a constant' : 'as apiVersion and kind';
    it(`a controller reconciles a cluster-scoped owner when its dependent is deleted, with the kind given ${given}`, async () => {
      const kind = newKind();
      await install(kind.plain);
      const driven = await drive(kind[form]);
      await create(kind.plain);
      await expectRepair(driven);
      await driven.restart();
      await expectRepair(driven);
    });

    it(`a controller reconciles the owner of a kind that is served only after the start, with the kind given ${given}`, async () => {
      const kind = newKind();
      const driven = await drive(kind[form]);
      await driven.pass(2_000);
      await install(kind.plain);
      await create(kind.plain);
      await expectRepair(driven);
    });

    it(`a cache that is limited to namespaces holds all objects of a cluster-scoped kind, with the kind given ${given}`, async () => {
      const kind = newKind();
      await install(kind.plain);
      const other = await target.namespace();
      const cacheOptions = { namespaces: [namespace, other] };
      const driven = await drive(kind[form], { manager: { cacheOptions } });
      await create(kind.plain);
      await expectRepair(driven);
      const { cache } = driven.manager;
      const informer = cache.informer(kind[form]);
      await driven.eventually(() => expect(informer.list()).to.have.length(1));
      const requests = await driven.operator.requests();
      const watched = requests.filter(({ verb, resource }) => {
        return verb === 'watch' && resource === pluralOf(kind.plain);
      });
      // A real server may end the watch of a kind that it just began to serve.
      expect(new Set(watched.map((request) => request.namespace))).to.have.all.keys('');
      await target.admin.delete(kind.plain, { name: 'zone' });
      await driven.eventually(() => expect(informer.list()).to.have.length(0), 1_000);
      informer.release();
    });
  }

  it('a controller reconciles the owner although discovery fails at the first event', async () => {
    const kind = newKind();
    await install(kind.plain);
    const { client } = await target.operator();
    let failures = 0;
    const failing: Client = {
      ...forwarding(client),
      resourceType: (type) => {
        if (type.kind !== kind.plain.kind || ++failures > 3) return client.resourceType(type);
        return Promise.reject(new Error('discovery is down'));
      },
    };
    const driven = await drive(kind.plain, { client: failing });
    await create(kind.plain);
    // The random delays between three look-ups that fail may exceed ten seconds.
    const { metadata } = await driven.eventually(map, 30_000);
    await target.admin.delete(ConfigMap, { namespace, name: 'zone' });
    await driven.eventually(async () => {
      expect((await map()).metadata.uid).not.to.equal(metadata.uid);
    }, 30_000);
    expect(failures).to.be.greaterThan(3);
  });
}

/** Creates a ConfigMap for each zone. */
function mapKeeper(type: TypeReference<KubernetesObject>, namespace: string) {
  return controllerFor(type)
    .owns(ConfigMap)
    .withOptions({ name: 'map-keeper' })
    .complete(async ({ key, client }) => {
      const owner = await client.get(type, key).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      if (owner === undefined) return done();
      const metadata = { namespace, name: key.name };
      const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
      const scopes = { ownerNamespaced: false, objectNamespaced: true };
      const owned = withControllerReference(map, owner, scopes);
      await client.apply(owned, { fieldManager: 'map-keeper', force: true });
      return done();
    });
}

function pluralOf({ kind }: TypeMeta): string {
  return `${kind.toLowerCase()}s`;
}
