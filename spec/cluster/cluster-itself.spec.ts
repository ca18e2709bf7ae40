import { expect } from 'chai';
import type { CoreV1Event } from '@kubernetes/client-node';
import { EmbeddedCluster } from '../../lib/apiserver/index.js';
import { clientFromKubeConfig } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import { isConditionTrue } from '../../lib/object/index.js';
import type { KubernetesObject, ResourceType, Wire } from '../../lib/object/index.js';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Job } from '../../lib/object/kinds.js';
import type { Namespace } from '../../lib/object/kinds.js';
import { systemRandom } from '../../lib/system/random.js';
import {
  claimTemplates,
  daemonSet,
  deployment,
  job,
  statefulSet,
} from '../apiserver/controllers/workload-objects.js';
import { eventually } from './control-plane/eventually.js';
import { sharedControlPlane } from './control-plane/shared.js';

type CoreEvent = Wire<CoreV1Event> & KubernetesObject;

const coreEvent: ResourceType<CoreEvent> = {
  ...{ group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
};

const priorityClass: ResourceType<KubernetesObject> = {
  ...{
    group: 'scheduling.k8s.io',
    version: 'v1',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
  },
  namespaced: false,
};

const policyTypes = (['', 'Binding'] as const).map((end): ResourceType<KubernetesObject> => {
  const kind = `MutatingAdmissionPolicy${end}`;
  const plural = end === '' ? 'mutatingadmissionpolicies' : 'mutatingadmissionpolicybindings';
  const group = 'admissionregistration.k8s.io';
  return { group, version: 'v1', kind, plural, namespaced: false };
});

/** Generated parts of names: no vowels, so that they form no words. */
const generated = /-[bcdfghjklmnpqrstvwxz2456789]{5,10}(?=$|[\s_"-])/g;

/** Returns an event without the parts that differ between two runs. */
function comparable(event: CoreEvent): string {
  const { type, reason, message = '', source, involvedObject, reportingComponent } = event;
  const { apiVersion, kind, name = '', fieldPath = '', uid, resourceVersion } = involvedObject;
  const said = message.replace(generated, '-GENERATED').replace(/node-0|kwok-0/, 'NODE');
  const about = `${apiVersion} ${kind} ${name.replace(generated, '-GENERATED')}`;
  const form = [
    uid !== undefined && 'uid',
    resourceVersion !== undefined && 'version',
    typeof event.eventTime === 'string' && 'eventTime',
    typeof event.firstTimestamp === 'string' && 'timestamps',
    event.action ?? '',
  ];
  const from = `${source?.component ?? ''}/${reportingComponent}/${event.reportingInstance === ''}`;
  return [about, fieldPath, from, type, reason, said, form.join()].join(' | ');
}

function inNamespace(namespace: string, ...objects: KubernetesObject[]): KubernetesObject[] {
  return objects.map((object) => ({ ...object, metadata: { ...object.metadata, namespace } }));
}

describe('the embedded control plane, compared with a real one', () => {
  let embedded: EmbeddedCluster;
  let sides: readonly [real: Client, ours: Client];
  let close: () => Promise<void>;

  before(async () => {
    const { kubeConfigPath } = await sharedControlPlane();
    const real = await clientFromKubeConfig({ path: kubeConfigPath });
    embedded = await EmbeddedCluster.start({ simulateWorkloads: true });
    sides = [real, embedded.client()];
    close = () => real.close();
  });

  after(async () => {
    await close();
    await embedded.stop();
  });

  /** Runs `act` in a new namespace of both servers. @returns both results */
  async function onBoth<T>(act: (client: Client, namespace: string) => Promise<T>): Promise<T[]> {
    const name = `self-${systemRandom.uuid().slice(0, 8)}`;
    const namespace: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    return await Promise.all(
      sides.map(async (client) => {
        await client.create(namespace);
        return await act(client, name);
      }),
    );
  }

  /** Returns the events of a namespace once `done` accepts them. */
  async function eventsOf(
    client: Client,
    namespace: string,
    done: (lines: readonly string[]) => boolean,
  ): Promise<string[]> {
    return await eventually(async () => {
      const { items } = await client.list(coreEvent, { namespace });
      const lines = items
        .filter(
          ({ involvedObject, reason }) => involvedObject.kind !== 'Pod' || reason === 'Scheduled',
        )
        .map(comparable);
      expect(done(lines), lines.join('\n')).to.equal(true);
      return [...new Set(lines)].sort();
    }, 60_000);
  }

  it('writes the same Events about workloads on both servers', async () => {
    const [real, ours] = await onBoth(async (client, namespace) => {
      const volumeClaimTemplates = claimTemplates();
      const workloads = inNamespace(
        namespace,
        deployment('web', { replicas: 2 }),
        statefulSet('db', { replicas: 1, volumeClaimTemplates }),
        daemonSet('agent'),
        job('once'),
      );
      for (const object of workloads) await client.create(object);
      const key = { namespace, name: 'web' };
      await eventually(async () => {
        const { status } = await client.get(Deployment, key);
        expect(status?.readyReplicas).to.equal(2);
      }, 60_000);
      await client.patch(Deployment, key, { type: 'merge', body: { spec: { replicas: 1 } } });
      await eventually(async () => {
        const { status } = await client.get(Job, { namespace, name: 'once' });
        expect(isConditionTrue(status?.conditions, 'Complete')).to.equal(true);
      }, 60_000);
      const expected = ['SuccessfulDelete', 'Completed', 'Create Pod db-0', 'agent', 'Scheduled'];
      const lines = await eventsOf(client, namespace, (found) =>
        expected.every((text) => found.some((line) => line.includes(text))),
      );
      // The Events about claims differ: kwok provisions the volumes of the real cluster.
      return lines.filter((line) => !line.includes('PersistentVolumeClaim '));
    });
    expect(ours).to.deep.equal(real);
  }).timeout(180_000);

  it('writes the same Event about a pod that cannot be created on both servers', async () => {
    const [real, ours] = await onBoth(async (client, namespace) => {
      const containers = [{ name: 'main', image: 'app:1' }];
      const template = {
        metadata: { labels: { app: 'web' } },
        spec: { containers, priorityClassName: 'no-such-class' },
      };
      const [web] = inNamespace(namespace, deployment('web', { replicas: 1, template }));
      await client.create(web!);
      return await eventsOf(client, namespace, (found) =>
        found.some((line) => line.includes('FailedCreate')),
      );
    });
    expect(ours).to.deep.equal(real);
  }).timeout(120_000);

  it('publishes its certificate authority in the ConfigMap kube-root-ca.crt in the same way on both servers', async () => {
    const found = await onBoth(
      async (client, namespace) =>
        await eventually(async () => {
          const { metadata, data } = await client.get(ConfigMap, {
            namespace,
            name: 'kube-root-ca.crt',
          });
          expect(data?.['ca.crt']).to.match(/^-----BEGIN CERTIFICATE-----/);
          const { annotations, labels, ownerReferences } = metadata;
          return { annotations, labels, ownerReferences, keys: Object.keys(data ?? {}) };
        }),
    );
    expect(found[1]).to.deep.equal(found[0]);
  });

  it('reports missing metrics of a HorizontalPodAutoscaler in the same words on both servers', async () => {
    const [real, ours] = await onBoth(async (client, namespace) => {
      const hpa: HorizontalPodAutoscaler = {
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'web', namespace },
        spec: {
          maxReplicas: 3,
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        },
      };
      const [web] = inNamespace(namespace, deployment('web', { replicas: 1 }));
      for (const object of [web!, hpa]) await client.create(object);
      return await eventually(async () => {
        const { status } = await client.get(HorizontalPodAutoscaler, { namespace, name: 'web' });
        const conditions = status?.conditions ?? [];
        expect(conditions.map(({ type }) => type)).to.include('ScalingActive');
        const said = conditions.map(({ type, status: is, reason, message }) => {
          return { type, is, reason, message };
        });
        return { ...status, conditions: said, currentMetrics: undefined };
      }, 60_000);
    });
    expect(ours).to.deep.equal(real);
  }).timeout(120_000);

  it('has the same PriorityClasses of the system on both servers', async () => {
    const found = await Promise.all(
      sides.map(async (client) => {
        const { items } = await client.list(priorityClass);
        const system = items.filter(({ metadata }) => metadata.name?.startsWith('system-'));
        const name = 'system-node-critical';
        const deleted = await client.delete(priorityClass, { name }).catch(String);
        const own = { ...system[0]!, metadata: { name: 'system-own' } };
        const refused = await client.create(own).catch(String);
        const classes = system.map(({ metadata, ...rest }) => ({ name: metadata.name, ...rest }));
        return { classes, deleted, refused };
      }),
    );
    expect(found[1]).to.deep.equal(found[0]);
  });

  const mutations: readonly (readonly [name: string, mutation: object])[] = [
    [
      'a JSON patch',
      jsonPatch(
        `[JSONPatch{op: "add", path: "/metadata/labels", value: {"team": object.metadata.name}},
          JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "1"}]`,
      ),
    ],
    ['a configuration', applied('Object{metadata: Object.metadata{labels: {"team": "shop"}}}')],
    ['a failed patch', jsonPatch('[JSONPatch{op: "add", path: "/x/y", value: "1"}]')],
    ['a missing field', jsonPatch('[JSONPatch{op: "add", path: "/x", value: object.nothing}]')],
    ['a wrong type', applied('Object{metadata: Object.wrong{}}')],
  ];
  for (const [name, mutation] of mutations) {
    it(`mutates a ConfigMap in the same way by ${name}`, async () => {
      const policyName = `self-${systemRandom.uuid()}`;
      const [real, ours] = await onBoth(async (client, namespace) => {
        const specs: unknown[] = [];
        for (const object of policyOf(policyName, namespace, mutation)) {
          const { spec } = (await client.create(object)) as KubernetesObject & { spec: object };
          specs.push(JSON.parse(JSON.stringify(spec).replaceAll(namespace, 'NAMESPACE')));
        }
        const metadata = { name: 'settings', namespace };
        const given: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
        const answer = await eventually(async () => {
          const made = await client
            .create(given, { dryRun: true })
            .catch((error: unknown) => error);
          if (made instanceof Error) {
            return { specs, refused: made.message.replaceAll(namespace, 'NAMESPACE') };
          }
          const { labels } = (made as ConfigMap).metadata;
          // The policy may not have reached the server's cache yet.
          expect(labels).to.not.equal(undefined);
          return { specs, labels };
        });
        // The policy would also refuse the ConfigMap of the cluster's certificate.
        for (const type of policyTypes) await client.delete(type, { name: policyName });
        return answer;
      });
      expect(ours).to.deep.equal(real);
    }).timeout(60_000);
  }
});

function jsonPatch(expression: string): object {
  return { patchType: 'JSONPatch', jsonPatch: { expression } };
}

function applied(expression: string): object {
  return { patchType: 'ApplyConfiguration', applyConfiguration: { expression } };
}

/** Returns a MutatingAdmissionPolicy for one namespace, and its binding. */
function policyOf(name: string, namespace: string, mutation: object): KubernetesObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name };
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    resourceRules: [{ ...rule, operations: ['CREATE'] }],
  };
  const spec = { matchConstraints, reinvocationPolicy: 'Never', mutations: [mutation] };
  return [
    { apiVersion, kind: 'MutatingAdmissionPolicy', metadata, spec } as KubernetesObject,
    {
      ...{ apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata },
      spec: { policyName: name },
    } as KubernetesObject,
  ];
}
