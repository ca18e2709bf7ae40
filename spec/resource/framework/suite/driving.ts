import { expect } from 'chai';
import { ensureCrd } from '../../../../lib/client/index.js';
import { defineResource, s } from '../../../../lib/crd/index.js';
import type { Manager } from '../../../../lib/manager/manager.js';
import { isNotFound } from '../../../../lib/object/api-error.js';
import { ConfigMap, Secret } from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import { apiVersionOf } from '../../../../lib/object/resource-type.js';
import type { TypeReference } from '../../../../lib/object/resource-type.js';
import {
  configMapResource,
  Framework,
  ResourceRouter,
  ResourceSet,
  secretResource,
} from '../../../../lib/resource/index.js';
import type { BuilderTarget, NewTarget, Operator } from '../../../builder/suite/target.js';
import { drivenController } from '../../../manager/suite/driven-controller.js';
import type { DrivenController } from '../../../manager/suite/driven-controller.js';

const group = 'driven-chains.example.com';
const schema = s.object({ spec: s.optional(s.object({ size: s.optional(s.string()) })) });
const versions = [{ name: 'v1', schema }];

/** Kinds of owners: cluster-scoped and namespaced. */
export const owners = {
  Cluster: defineResource({ group, kind: 'Realm', scope: 'Cluster', versions }),
  Namespaced: defineResource({ group, kind: 'Estate', scope: 'Namespaced', versions }),
} as const;

/** A kind as `defineResource` returns it, or as apiVersion and kind. */
export function inForm(
  form: 'typed' | 'plain',
  type: (typeof owners)[keyof typeof owners],
): TypeReference<KubernetesObject> {
  return form === 'typed' ? type : { apiVersion: apiVersionOf(type), kind: type.kind };
}

/** The specs' chain: a Secret as a database, and a ConfigMap that depends on it. */
export function newFramework(
  type: TypeReference<KubernetesObject>,
  { client }: Operator,
  { target, namespace }: { readonly target: BuilderTarget; readonly namespace: string },
): Framework {
  const metadata = (name: string) => ({ namespace, name });
  const resources = [
    secretResource({
      name: 'database',
      getDesiredState: () => [{ apiVersion: 'v1', kind: 'Secret', metadata: metadata('database') }],
    }),
    configMapResource({
      name: 'web',
      getDesiredState: () => [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata('web') }],
    }),
  ];
  // Cluster-scoped owners of other specs are ignored.
  const handles = ({ metadata: owner }: KubernetesObject) => owner.name === `of-${namespace}`;
  const set = new ResourceSet({ name: 'all', handles, resources });
  return new Framework({
    ...{ name: 'driven', type, client, clock: target.clock },
    resourceRouter: new ResourceRouter({ resourceSets: [set] }),
    configure: (controller) => controller.owns(ConfigMap).owns(Secret),
  });
}

const held = { metadata: { finalizers: ['example.com/writes'] } };

/** Declares how a framework works in an operator's process: in a manager that may be restarted. */
export function drivingSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let namespace: string;
  const running: DrivenController[] = [];
  before(async () => {
    target = await newTarget();
    for (const { crd } of Object.values(owners)) {
      await ensureCrd(target.admin, crd, { clock: target.clock });
    }
  });
  beforeEach(async () => {
    namespace = await target.namespace();
  });
  afterEach(async () => {
    for (const driven of running.splice(0)) await driven.stop();
  });
  after(() => target.close());

  for (const scope of ['Cluster', 'Namespaced'] as const) {
    for (const form of ['typed', 'plain'] as const) {
      describe(`a Framework that watch events drive, with a ${scope.toLowerCase()} owner, its kind ${form}`, () => {
        const type = inForm(form, owners[scope]);
        const name = (): string => `of-${namespace}`;
        const key = () => (scope === 'Cluster' ? { name: name() } : { namespace, name: name() });
        const drive = async (): Promise<DrivenController> => {
          const setup = (manager: Manager, operator: Operator): void =>
            void newFramework(type, operator, { target, namespace }).addTo(manager);
          const driven = await drivenController({ target, setup });
          running.push(driven);
          await target.admin.create({
            ...{ apiVersion: apiVersionOf(type), kind: type.kind, metadata: key() },
          });
          return driven;
        };
        const map = () => target.admin.get(ConfigMap, { namespace, name: 'web' });
        const isThere = async (found: () => Promise<unknown>): Promise<boolean> => {
          const missing = (error: unknown): boolean => !isNotFound(error);
          return found().then(() => true, missing);
        };

        it('restores a deleted object within a second, even after a restart of the process', async () => {
          const driven = await drive();
          for (let turn = 0; turn < 2; turn++) {
            const { metadata } = await driven.eventually(map);
            await target.admin.delete(ConfigMap, { namespace, name: 'web' });
            await driven.eventually(async () => {
              expect((await map()).metadata.uid).not.to.equal(metadata.uid);
            }, 1_000);
            await driven.restart();
          }
        });

        it('deletes in reverse order, even if it is restarted meanwhile, and continues within a second', async () => {
          const driven = await drive();
          const database = () => target.admin.get(Secret, { namespace, name: 'database' });
          const owner = () => target.admin.get(type, key());
          await driven.eventually(map);
          const patch = { type: 'merge', body: held } as const;
          await target.admin.patch(ConfigMap, { namespace, name: 'web' }, patch);
          await target.admin.delete(type, key());
          for (let turn = 0; turn < 3; turn++) {
            await driven.eventually(async () => {
              expect((await map()).metadata.deletionTimestamp).not.to.equal(undefined);
            });
            await driven.pass(target.real ? 1_000 : 20_000);
            expect((await database()).metadata.deletionTimestamp).to.equal(undefined);
            await driven.restart();
          }
          await driven.eventually(() => driven.manager.status().phase === 'running');
          await driven.pass(1_000);
          const body = { metadata: { finalizers: null } };
          await target.admin.patch(ConfigMap, { namespace, name: 'web' }, { ...patch, body });
          await driven.eventually(async () => !(await isThere(owner)), 1_000);
          expect(await isThere(database)).to.equal(false);
        });
      });
    }
  }
}
