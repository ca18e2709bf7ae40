import { expect } from 'chai';
import { ensureCrd } from '../../../lib/client/index.js';
import { defineResource, s } from '../../../lib/crd/index.js';
import {
  createCrd,
  lifecycleController,
  lifecycleStatusProperties,
} from '../../../lib/lifecycle/index.js';
import type { Manager } from '../../../lib/manager/manager.js';
import type { KubernetesObject, TypeMeta } from '../../../lib/object/kubernetes-object.js';
import type { TypeReference } from '../../../lib/object/resource-type.js';
import { systemRandom } from '../../../lib/system/random.js';
import { sampleOf } from '../../sample.js';
import { drivenController } from '../../manager/suite/driven-controller.js';
import type { DrivenController } from '../../manager/suite/driven-controller.js';
import { group } from './stage.js';
import type { Config, OpenStage, Stage } from './stage.js';
import { deployment, service, system } from './system.js';

/**
 * Declares the whole life of a system that only watches drive, over restarts, with each form of its kind.
 */
export function drivingSuite(open: OpenStage): void {
  const running: DrivenController[] = [];
  afterEach(async () => {
    for (const driven of running.splice(0)) await driven.stop();
  });

  const forms = (['Cluster', 'Namespaced'] as const).flatMap((scope) =>
    (['typed', 'plain'] as const).map((form) => ({ scope, form })),
  );
  for (const { scope, form } of sampleOf(forms, 1)) {
    const begin = async (): Promise<Driven> => {
      const driven = await drive(open, scope, form);
      running.push(driven.controller);
      return driven;
    };

    it(`a controller deploys, repairs and upgrades within seconds, also after restarts: a ${form} kind, ${scope}`, async () => {
      const driven = await begin();
      const { stage, controller } = driven;
      await controller.eventually(() => isDeployed(stage, '1.0.0'), 5_000);
      await expectRepair(driven);
      await controller.restart();
      await expectRepair(driven);
      stage.resources = () => system(stage.namespace, { image: 'nginx:2' });
      driven.version = '1.1.0';
      await controller.restart();
      await controller.eventually(() => isDeployed(stage, '1.1.0'), 5_000);
      await expectRepair(driven);
    });

    it(`a controller completes a deletion within seconds despite a restart: a ${form} kind, ${scope}`, async () => {
      const driven = await begin();
      const { stage, controller } = driven;
      const names = ['a', 'b', 'c', 'd'];
      stage.resources = () => [
        ...names.map((name) => deployment(stage.namespace, { name })),
        service(stage.namespace),
      ];
      await stage.edit({ spec: { changed: 'yes' } });
      await controller.eventually(async () => {
        await Promise.all(names.map((name) => stage.get('Deployment', name)));
      });
      await controller.eventually(() => isDeployed(stage, '1.0.0'), 5_000);
      await stage.touch('Service', 'web', { metadata: { finalizers: ['example.com/held'] } });
      await stage.delete();
      await controller.eventually(async () => {
        const { metadata } = await stage.get('Service', 'web');
        expect(metadata.deletionTimestamp).to.be.a('string');
      });
      await controller.restart();
      await controller.pass(1_000);
      await stage.touch('Service', 'web', { metadata: { finalizers: null } });
      await controller.eventually(async () => !(await stage.exists()), 2_000);
      for (const name of names) expect(await stage.isGone('Deployment', name)).to.equal(true);
    });
  }
}

interface Driven {
  readonly stage: Stage;
  readonly controller: DrivenController;
  version: string;
}

async function drive(
  open: OpenStage,
  scope: 'Cluster' | 'Namespaced',
  form: 'typed' | 'plain',
): Promise<Driven> {
  const id = systemRandom.uuid().slice(0, 8);
  const kind = `${scope === 'Cluster' ? 'Sample' : 'Local'}${id}`;
  const plain: TypeMeta = { apiVersion: `${group}/v1alpha1`, kind };
  const stage = await open({ type: plain as TypeReference<Config>, config: null });
  const { target, operator, namespace } = stage;
  await ensureCrd(stage.admin, createCrd({ group, kind }, { scope }), { clock: target.clock });
  await stage.create();
  const driven = { stage, version: '1.0.0' };
  const type = form === 'plain' ? plain : typed(kind, scope);
  const setup = (manager: Manager): void => {
    const reconciler = stage.newReconciler({
      perishablesSyncIntervalMs: 3_600_000,
      crManager: {
        type: type,
        getAllResources: (config) => stage.resources(config) as KubernetesObject[],
        getDependantResourceTypes: () => stage.dependants,
      },
    });
    manager.add(lifecycleController(reconciler, { operatorVersion: driven.version }));
  };
  const cacheOptions = { namespaces: [namespace] };
  const manager = { cacheOptions };
  const controller = await drivenController({ target, setup, operator, manager });
  return Object.assign(driven, { controller });
}

function typed(kind: string, scope: 'Cluster' | 'Namespaced'): TypeReference<KubernetesObject> {
  const schema = s.object({ spec: s.optional(s.object({})) });
  const status = s.object(lifecycleStatusProperties);
  return defineResource({
    ...{ group, kind, scope },
    versions: [{ name: 'v1alpha1', schema, status }],
  });
}

async function isDeployed(stage: Stage, version: string): Promise<boolean> {
  const { phase, observedVersion } = await stage.status();
  return phase === 'Deployed' && observedVersion === version;
}

/** Expects the operator to restore a deleted Service because of its watch, when no earlier timer is left. */
async function expectRepair({ stage, controller }: Driven): Promise<void> {
  await controller.pass(stage.target.real ? 2_000 : 20_000);
  const { metadata } = await stage.get('Service', 'web');
  const key = { name: 'web', namespace: stage.namespace };
  await stage.admin.delete({ apiVersion: 'v1', kind: 'Service' }, key);
  await controller.eventually(async () => {
    expect((await stage.get('Service', 'web')).metadata.uid).to.not.equal(metadata.uid);
  }, 1_000);
}
