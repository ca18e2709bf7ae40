import { expect } from 'chai';
import {
  EndpointSlice,
  Namespace,
  Node,
  Pod,
  Service,
  StorageClass,
} from '../../../lib/object/kinds.js';
import type { HorizontalPodAutoscaler, PersistentVolume } from '../../../lib/object/kinds.js';
import { withoutMembers } from '../../../lib/object/index.js';
import type { KubernetesObject } from '../../../lib/object/kubernetes-object.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { LogFields } from '../../../lib/system/logger.js';
import { coreEvent, simulatedCluster, stopSimulatedClusters } from './simulated-cluster.js';
import {
  claim,
  configMap,
  cronJob,
  daemonSet,
  deployment,
  job,
  pod,
  refusalOf,
  statefulSet,
} from './workload-objects.js';

const now = '2026-01-01T00:00:00Z';

/** Returns an object without the fields that the server sets on all objects. */
function made({ metadata, ...object }: KubernetesObject): object {
  const own = [
    'uid',
    'resourceVersion',
    'generation',
    'creationTimestamp',
    'managedFields',
  ] as const;
  return { ...object, metadata: withoutMembers(metadata, ...own) };
}

describe('the objects that the embedded cluster creates when it starts', () => {
  afterEach(() => stopSimulatedClusters());

  it('include Nodes with room for all pods', async () => {
    const { get } = await simulatedCluster();
    const plenty = { cpu: '1k', memory: '1Ti', pods: '1M' };
    const condition = (type: string, status: string, reason: string) => ({
      ...{ type, status, reason, message: 'simulated' },
      ...{ lastHeartbeatTime: now, lastTransitionTime: now },
    });
    const { status, ...node } = made(await get(Node, 'node-0')) as Node;
    const { allocatable, capacity, conditions, ...rest } = status!;
    expect({ ...node, allocatable, capacity, conditions }).to.deep.equal({
      ...{ apiVersion: 'v1', kind: 'Node', spec: {}, allocatable: plenty, capacity: plenty },
      metadata: {
        name: 'node-0',
        labels: {
          'kubernetes.io/arch': 'amd64',
          'kubernetes.io/hostname': 'node-0',
          'kubernetes.io/os': 'linux',
        },
      },
      conditions: [
        condition('Ready', 'True', 'KubeletReady'),
        condition('MemoryPressure', 'False', 'KubeletHasSufficientMemory'),
        condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure'),
        condition('PIDPressure', 'False', 'KubeletHasSufficientPID'),
        condition('NetworkUnavailable', 'False', 'RouteCreated'),
      ],
    });
    expect(rest).to.have.deep.property('declaredFeatures', [
      ...['InPlacePodLevelResourcesVerticalScaling', 'InPlacePodVerticalScalingInitContainers'],
    ]);
  });

  it('include a StorageClass for all claims', async () => {
    const { get } = await simulatedCluster();
    expect(made(await get(StorageClass, 'standard'))).to.deep.equal({
      ...{ apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
      metadata: {
        name: 'standard',
        annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
      },
      provisioner: 'operator-builder.io/simulated',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'Immediate',
      allowVolumeExpansion: true,
    });
  });

  it('include the Service of the API server and its endpoints', async () => {
    const { list } = await simulatedCluster({ controllers: { kubernetesService: true } });
    const [service] = await list(Service);
    expect(service!.metadata).to.deep.include({
      name: 'kubernetes',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    });
    expect(service!.spec).to.deep.include({
      clusterIP: '10.96.0.1',
      ports: [{ name: 'https', port: 443, protocol: 'TCP', targetPort: 6443 }],
    });
    expect((await list(EndpointSlice)).map(made)).to.deep.equal([
      {
        ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
        metadata: {
          ...{ name: 'kubernetes', namespace: 'default' },
          labels: { 'kubernetes.io/service-name': 'kubernetes' },
        },
        endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
        ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
      },
    ]);
  });
});

describe('the objects that the simulated controllers create', () => {
  afterEach(() => stopSimulatedClusters());

  it('include pods of a DaemonSet that belong to one node and stay on it', async () => {
    const { create, list } = await simulatedCluster();
    const preferred = [{ weight: 1, preference: { matchFields: [] } }];
    const nodeAffinity = { preferredDuringSchedulingIgnoredDuringExecution: preferred };
    const set = daemonSet('agent');
    const { containers } = set.spec!.template.spec!;
    const given = { key: 'given', operator: 'Exists' };
    const affinity = { podAffinity: {}, nodeAffinity };
    const spec = { containers, affinity, tolerations: [given] };
    const template = { ...set.spec!.template, spec };
    await create(daemonSet('agent', { template }));
    const [{ spec: pod } = { spec: undefined }] = await list(Pod);
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: ['node-0'] }];
    expect(pod!.affinity).to.deep.equal({
      podAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: {} }],
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] },
      },
    });
    const tolerated = (name: string, effect: string) => ({
      ...{ key: `node.kubernetes.io/${name}`, operator: 'Exists', effect },
    });
    expect(pod!.tolerations).to.deep.equal([
      given,
      tolerated('not-ready', 'NoExecute'),
      tolerated('unreachable', 'NoExecute'),
      tolerated('disk-pressure', 'NoSchedule'),
      tolerated('memory-pressure', 'NoSchedule'),
      tolerated('pid-pressure', 'NoSchedule'),
      tolerated('unschedulable', 'NoSchedule'),
    ]);
  });

  it('include events with the component that reports them', async () => {
    const cluster = await simulatedCluster();
    const containers = [{ name: 'main', image: 'app:crashing' }];
    await cluster.create(daemonSet('agent'), deployment('web'), job('once'), statefulSet('db'));
    const scaled: HorizontalPodAutoscaler = {
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'hpa', namespace: 'default' },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' },
      },
    };
    await cluster.create(cronJob('c', '* * * * *'), scaled, pod('crash', { containers }));
    await cluster.create(pod('nowhere', { nodeSelector: { a: 'b' } }));
    await cluster.clock.advance(61_000);
    await cluster.settled();
    const reported = (await cluster.list(coreEvent)).map((event) => {
      const { source, reportingComponent, reportingInstance, action, metadata } = event;
      const where = [source?.component, source?.host, reportingComponent, reportingInstance];
      const manager = metadata.managedFields?.[0]?.manager;
      return [event.involvedObject.kind, ...where, action, manager].map(String).join(' ');
    });
    const byController = (kind: string, name: string) =>
      `${kind} ${name} undefined ${name}  undefined kube-controller-manager`;
    expect([...new Set(reported)].sort()).to.deep.equal([
      byController('CronJob', 'cronjob-controller'),
      byController('DaemonSet', 'daemonset-controller'),
      byController('Deployment', 'deployment-controller'),
      byController('HorizontalPodAutoscaler', 'horizontal-pod-autoscaler'),
      byController('Job', 'job-controller'),
      'Pod kubelet node-0 kubelet node-0 undefined kubelet',
      'Pod undefined undefined default-scheduler default-scheduler-embedded Binding kube-scheduler',
      'Pod undefined undefined default-scheduler default-scheduler-embedded Scheduling kube-scheduler',
      byController('ReplicaSet', 'replicaset-controller'),
      byController('StatefulSet', 'statefulset-controller'),
    ]);
  });
});

describe('the log of controllers whose writes are refused', () => {
  afterEach(() => stopSimulatedClusters());

  it('names the controller and the object that it reconciled', async () => {
    const seen = new Set<string>();
    const warn = (message: string, { queue, key }: LogFields = {}): void => {
      expect(message).to.equal('an embedded controller failed');
      seen.add(`${String(queue)} ${String(key).replace(/^[0-9a-f-]{36}$/, 'UID')}`);
    };
    const cluster = await simulatedCluster({
      logger: { ...silentLogger, warn },
      controllers: { rootCertificates: true },
    });
    const { client, create } = cluster;
    await create(
      pod('web', {}, { labels: { app: 'web' } }),
      ...(['CREATE', 'UPDATE', 'DELETE'] as const).flatMap((operation) => refusals(operation)),
    );
    const named = (name: string) => ({ metadata: { name, namespace: 'default' } });
    const patchStatus = async (object: KubernetesObject, status: object): Promise<void> => {
      const { namespace, name = '' } = (await client.create(object)).metadata;
      const patch = { type: 'merge', body: { status } } as const;
      await client.patch(object, { namespace, name }, patch, { subresource: 'status' });
    };
    // The node becomes ready and loses its `not-ready` taint.
    const conditions = [{ type: 'Ready', status: 'True' }];
    await patchStatus({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }, { conditions });
    for (const name of ['shop', 'gone']) {
      await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    }
    await client.delete(Namespace, { name: 'gone' });
    const selector = { matchLabels: { app: 'web' } };
    const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none', uid: 'none' };
    const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const others: readonly (readonly [apiVersion: string, kind: string, spec: object])[] = [
      ['v1', 'Service', { selector: { app: 'web' }, ports: [{ port: 80 }] }],
      ['v1', 'ResourceQuota', {}],
      ['policy/v1', 'PodDisruptionBudget', { selector }],
      ['autoscaling/v2', 'HorizontalPodAutoscaler', { maxReplicas: 1, scaleTargetRef: target }],
      ['apps/v1', 'ReplicaSet', { selector, template: deployment('web').spec!.template }],
    ];
    await create(
      ...[daemonSet('ds'), deployment('web'), job('once'), cronJob('c', '* * * * *')],
      ...[statefulSet('db'), claim('data'), pod('late')],
      ...others.map(([apiVersion, kind, spec]) => ({ apiVersion, kind, ...named('x'), spec })),
      { ...configMap('orphan', { ownerReferences: [owner] }) },
      {
        ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'volume' } },
        spec: { ...volume, hostPath: { path: '/data' } },
      } as PersistentVolume,
    );
    await cluster.clock.advance(61_000);
    expect([...seen].sort()).to.deep.equal([
      'autoscalers default/x',
      'cron-jobs default/c',
      'daemon-sets default/ds',
      'deployments default/web',
      'disruption-budgets default/x',
      'endpoint-slices default/x',
      'garbage-collector UID',
      'jobs default/once',
      'kubelet default/web',
      'namespaces gone',
      'node-taints n',
      'replica-sets default/x',
      'resource-quotas default/x',
      'root-certificates gone',
      'root-certificates shop',
      'scheduler default/late',
      'service-accounts gone',
      'service-accounts shop',
      'stateful-sets default/db',
      'volume-claims default/data',
      'volumes volume',
    ]);
  });

  const otherUsers = "!request.userInfo.username.matches('^system:(kube|horizontal)')";

  /** A policy against all writes of the controllers. */
  function refusals(operation: 'CREATE' | 'UPDATE' | 'DELETE'): KubernetesObject[] {
    const name = `refusal-${operation.toLowerCase()}`;
    const text = JSON.stringify(refusalOf(operation, { group: '*', resource: '*/*' }));
    const all = text
      .replaceAll('"refusal"', `"${name}"`)
      .replace('["v1"]', '["*"]')
      .replace(/"expression":".*?"/, `"expression":"${otherUsers}"`);
    return JSON.parse(all) as KubernetesObject[];
  }
});
