import { expect } from 'chai';
import type { Client } from '../../../lib/client/index.js';
import { getIfExists } from '../../../lib/client/index.js';
import { apiVersionOf, findCondition } from '../../../lib/object/index.js';
import type { Condition, KubernetesObject, TypeReference } from '../../../lib/object/index.js';
import {
  ConfigMap,
  DaemonSet,
  Job,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
} from '../../../lib/object/kinds.js';
import type { BuilderTarget, NewTarget } from '../../builder/suite/target.js';

type Fields = Readonly<Record<string, unknown>>;

const budgets = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' };
const slices = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice' };
const events = { apiVersion: 'v1', kind: 'Event' };
const storageClasses = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' };

const containers = [{ name: 'main', image: 'registry/app:1' }];
/** No node has this label, so the pods do not start and the specs decide how they end. */
const nowhere = { nodeSelector: { 'example.com/no-node': 'yes' } };

/**
 * Behaviour of kube-controller-manager that the embedded cluster simulates. Both have to pass.
 */
export function controllersSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  let admin: Client;
  let namespace: string;
  before(async () => {
    target = await newTarget();
    ({ admin } = target);
  });
  beforeEach(async () => {
    namespace = await target.namespace();
  });
  after(() => target.close());

  const create = <T extends KubernetesObject>(
    type: TypeReference<T>,
    name: string,
    fields: Fields,
  ): Promise<KubernetesObject> => {
    const apiVersion = apiVersionOf(type);
    const { metadata = {}, ...rest } = fields;
    const meta = { name, namespace, ...(metadata as Fields) };
    return admin.create({ apiVersion, kind: type.kind, metadata: meta, ...rest } as never);
  };
  const get = async (type: TypeReference<KubernetesObject>, name: string) =>
    (await admin.get(type, { namespace, name })) as KubernetesObject & Record<string, Fields>;
  const podsOf = async (name: string): Promise<readonly Pod[]> => {
    const { items } = await admin.list(Pod, { namespace });
    return items.filter(({ metadata: { labels = {} } }) => labels['app'] === name);
  };
  const untilPods = (name: string, count: number): Promise<readonly Pod[]> =>
    target.eventually(async () => {
      const pods = await podsOf(name);
      expect(pods).to.have.length(count);
      return pods;
    });

  describe('Jobs of the simulated controllers', () => {
    const createJob = (name: string, spec: Fields): Promise<KubernetesObject> => {
      const podSpec = { restartPolicy: 'Never', containers, ...nowhere };
      const template = { metadata: { labels: { app: name } }, spec: podSpec };
      return create(Job, name, { spec: { template, ...spec } });
    };
    const end = async (pods: readonly Pod[], status: Fields): Promise<void> => {
      for (const { metadata } of pods) {
        const key = { namespace, name: metadata.name ?? '' };
        const patch = { type: 'merge', body: { status } } as const;
        await admin.patch(Pod, key, patch, { subresource: 'status' });
      }
    };
    const untilEnded = (name: string, type: 'Complete' | 'Failed'): Promise<Condition> =>
      target.eventually(async () => {
        const { status } = await admin.get(Job, { namespace, name });
        const condition = findCondition(status?.conditions as readonly Condition[], type);
        if (condition?.status !== 'True') throw new Error(`Job ${name} is not ${type}`);
        return condition;
      });
    const indexed = { completionMode: 'Indexed', completions: 2, parallelism: 2 };

    it('do not count pods that a lower parallelism removes', async () => {
      await createJob('less', { parallelism: 2, completions: 4 });
      await untilPods('less', 2);
      const body = { spec: { parallelism: 1 } };
      await admin.patch(Job, { namespace, name: 'less' }, { type: 'merge', body });
      await untilPods('less', 1);
      await target.eventually(async () => {
        const { status } = await admin.get(Job, { namespace, name: 'less' });
        expect(status).to.include({ active: 1 }).and.not.have.property('failed');
      });
    });

    it('remove the finalizers of their pods when they are deleted in the background', async () => {
      await createJob('gone', { parallelism: 2 });
      await untilPods('gone', 2);
      await admin.delete(Job, { namespace, name: 'gone' }, { propagationPolicy: 'Background' });
      await untilPods('gone', 0);
    });

    it('fail by maxFailedIndexes, and list the failed indexes', async () => {
      await createJob('indexes', { ...indexed, backoffLimitPerIndex: 0, maxFailedIndexes: 1 });
      await end(await untilPods('indexes', 2), { phase: 'Failed' });
      const { reason, message } = await untilEnded('indexes', 'Failed');
      expect([reason, message]).to.deep.equal([
        'MaxFailedIndexesExceeded',
        'Job has exceeded the specified maximal number of failed indexes',
      ]);
      expect(await get(Job, 'indexes')).to.have.nested.property('status.failedIndexes', '0,1');
    });

    it('fail by a rule of podFailurePolicy for a condition or an exit code', async () => {
      const rules = [
        { action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
      ];
      const ends: readonly (readonly [string, Fields, RegExp])[] = [
        [
          'disrupted',
          { conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'Evicted' }] },
          /^Pod \S+ has condition DisruptionTarget matching FailJob rule at index 0$/,
        ],
        [
          'broken',
          { containerStatuses: [containerEndedWith(42)] },
          /^Container main for pod \S+ failed with exit code 42 matching FailJob rule at index 1$/,
        ],
      ];
      for (const [name, status, expected] of ends) {
        await createJob(name, { podFailurePolicy: { rules } });
        await end(await untilPods(name, 1), { phase: 'Failed', ...status });
        const { reason, message } = await untilEnded(name, 'Failed');
        expect(reason).to.equal('PodFailurePolicy');
        expect(message).to.match(expected);
      }
    });

    it('succeed by a rule of successPolicy', async () => {
      const successPolicy = { rules: [{ succeededIndexes: '0' }] };
      await createJob('enough', { ...indexed, successPolicy });
      const pods = await untilPods('enough', 2);
      const first = pods.filter(({ metadata: { annotations = {} } }) => {
        return annotations['batch.kubernetes.io/job-completion-index'] === '0';
      });
      await end(first, { phase: 'Succeeded' });
      const { reason, message } = await untilEnded('enough', 'Complete');
      expect([reason, message]).to.deep.equal(['SuccessPolicy', 'Matched rules at index 0']);
    });

    it('are reported as UnexpectedJob, and are not active, if a user created them from the template of a CronJob', async () => {
      const template = { spec: { restartPolicy: 'Never', containers, ...nowhere } };
      const cronJob = await create({ apiVersion: 'batch/v1', kind: 'CronJob' }, 'nightly', {
        spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } } },
      });
      const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'nightly', controller: true };
      const ownerReferences = [{ ...owner, uid: cronJob.metadata.uid }];
      await create(Job, 'by-hand', { metadata: { ownerReferences }, spec: { template } });
      await target.eventually(async () => {
        const { items } = await admin.list(events, { namespace });
        const reasons = items.map((event) => (event as unknown as Fields)['reason']);
        expect(reasons).to.include('UnexpectedJob');
      });
      const { status } = await get({ apiVersion: 'batch/v1', kind: 'CronJob' }, 'nightly');
      expect(status ?? {}).to.not.have.property('active');
    });
  });

  describe('volumes of the simulated controllers', () => {
    const className = (): string => `${namespace}-class`;
    const createVolume = (name: string, storage: string): Promise<unknown> =>
      create(PersistentVolume, `${namespace}-${name}`, {
        metadata: { namespace: undefined },
        spec: {
          ...{ capacity: { storage }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/data' } },
          ...{ storageClassName: className(), persistentVolumeReclaimPolicy: 'Retain' },
        },
      });
    const createClaim = (): Promise<unknown> =>
      create(PersistentVolumeClaim, 'data', {
        spec: {
          ...{ storageClassName: className(), accessModes: ['ReadWriteOnce'] },
          resources: { requests: { storage: '1Gi' } },
        },
      });
    const untilPhase = (type: TypeReference<KubernetesObject>, name: string, phase: string) =>
      target.eventually(async () => {
        expect((await get(type, name))['status']?.['phase']).to.equal(phase);
      });

    it('are bound to a claim, the smallest volume that fits first; the claim becomes Lost when its volume is deleted', async () => {
      await createVolume('large', '5Gi');
      await createVolume('small', '2Gi');
      for (const name of ['large', 'small']) {
        await untilPhase(PersistentVolume, `${namespace}-${name}`, 'Available');
      }
      await createClaim();
      await untilPhase(PersistentVolumeClaim, 'data', 'Bound');
      const claim = await get(PersistentVolumeClaim, 'data');
      const name = `${namespace}-small`;
      expect(claim['spec']?.['volumeName']).to.equal(name);
      await admin.delete(PersistentVolume, { name });
      const body = { metadata: { finalizers: null } };
      await admin.patch(PersistentVolume, { name }, { type: 'merge', body });
      await untilPhase(PersistentVolumeClaim, 'data', 'Lost');
    });

    it('are bound for the first pod that uses the claim, with WaitForFirstConsumer', async () => {
      await create(storageClasses, className(), {
        metadata: { namespace: undefined },
        provisioner: 'kubernetes.io/no-provisioner',
        volumeBindingMode: 'WaitForFirstConsumer',
      });
      await createVolume('one', '2Gi');
      await untilPhase(PersistentVolume, `${namespace}-one`, 'Available');
      await createClaim();
      await untilPhase(PersistentVolumeClaim, 'data', 'Pending');
      const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }];
      await create(Pod, 'user', { spec: { containers, volumes } });
      await untilPhase(PersistentVolumeClaim, 'data', 'Bound');
    });
  });

  it('simulated controllers allow no disruption if a PodDisruptionBudget sets neither minAvailable nor maxUnavailable', async () => {
    await create(Pod, 'one', { metadata: { labels: { app: 'one' } }, spec: { containers } });
    await create(budgets, 'none', { spec: { selector: { matchLabels: { app: 'one' } } } });
    await target.eventually(async () => {
      const status = (await get(budgets, 'none'))['status'];
      expect(status).to.include({ observedGeneration: 1, disruptionsAllowed: 0, expectedPods: 0 });
    });
  });

  it('simulated controllers keep the pods of a DaemonSet on a node that gets the taint NoSchedule', async () => {
    const selector = { matchLabels: { app: 'agent' } };
    const template = { metadata: { labels: { app: 'agent' } }, spec: { containers } };
    await create(DaemonSet, 'agent', { spec: { selector, template } });
    const [pod] = await untilPods('agent', 1);
    const name = await target.eventually(async () => {
      const { spec } = await admin.get(Pod, { namespace, name: pod?.metadata.name ?? '' });
      if (!spec?.nodeName) throw new Error('the pod has no node yet');
      return spec.nodeName;
    });
    const setTaints = async (taints: readonly object[]): Promise<void> => {
      await admin.patch(Node, { name }, { type: 'merge', body: { spec: { taints } } });
    };
    await setTaints([{ key: 'example.com/full', effect: 'NoSchedule' }]);
    try {
      // kube-controller-manager counts the pods again only when the DaemonSet or one of its pods changes.
      let touched = 0;
      await target.eventually(async () => {
        const annotations = { touched: String((touched += 1)) };
        await admin.patch(
          DaemonSet,
          { namespace, name: 'agent' },
          { type: 'merge', body: { metadata: { annotations } } },
        );
        expect((await get(DaemonSet, 'agent'))['status']).to.include({
          ...{ desiredNumberScheduled: 0, numberMisscheduled: 1 },
        });
      });
      expect((await podsOf('agent')).map(({ metadata }) => metadata.uid)).to.deep.equal([
        pod?.metadata.uid,
      ]);
    } finally {
      await setTaints([]);
    }
  });

  it('simulated controllers copy changed labels of a Service to its EndpointSlices', async () => {
    await create({ apiVersion: 'v1', kind: 'Service' }, 'web', {
      spec: { selector: { app: 'web' }, ports: [{ port: 80 }] },
    });
    const labels = async (): Promise<Fields> => {
      const { items } = await admin.list(slices, { namespace });
      return items[0]?.metadata.labels ?? {};
    };
    await target.eventually(async () => {
      expect(await labels()).to.include({ 'kubernetes.io/service-name': 'web' });
    });
    const patch = { type: 'merge', body: { metadata: { labels: { tier: 'front' } } } } as const;
    await admin.patch({ apiVersion: 'v1', kind: 'Service' }, { namespace, name: 'web' }, patch);
    await target.eventually(async () => expect(await labels()).to.include({ tier: 'front' }));
  });

  it('simulated controllers delete all dependents at once in a foreground deletion, including those that do not block their owner', async () => {
    const owner = await create(ConfigMap, 'owner', {});
    const reference = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'owner',
      uid: owner.metadata.uid,
    };
    const blocks = { ownerReferences: [{ ...reference, blockOwnerDeletion: true }] };
    const finalizers = ['example.com/held'];
    await create(ConfigMap, 'blocking', { metadata: { ...blocks, finalizers } });
    await create(ConfigMap, 'other', { metadata: { ownerReferences: [reference] } });
    const key = { namespace, name: 'owner' };
    await admin.delete(ConfigMap, key, { propagationPolicy: 'Foreground' });
    await target.eventually(async () => {
      expect(await getIfExists(admin, ConfigMap, { namespace, name: 'other' })).to.equal(undefined);
    });
    expect(await getIfExists(admin, ConfigMap, key)).not.to.equal(undefined);
    const body = { metadata: { finalizers: null } };
    await admin.patch(ConfigMap, { namespace, name: 'blocking' }, { type: 'merge', body });
    await target.eventually(async () => {
      expect(await getIfExists(admin, ConfigMap, key)).to.equal(undefined);
    });
  });
}

function containerEndedWith(exitCode: number): Fields {
  const [{ name, image } = { name: '', image: '' }] = containers;
  return {
    ...{ name, image, imageID: '', ready: false, restartCount: 0 },
    state: { terminated: { exitCode } },
  };
}
