import type { V1FlowSchemaSpec, V1PriorityLevelConfigurationSpec } from '@kubernetes/client-node';
import type { Wire } from '../../object/index.js';

type Item = Readonly<Record<string, unknown>>;
type Level = Wire<V1PriorityLevelConfigurationSpec>;
type Rules = NonNullable<Wire<V1FlowSchemaSpec>['rules']>[number];

const itemOf = (kind: string, name: string, spec: object): Item => ({
  ...{ apiVersion: 'flowcontrol.apiserver.k8s.io/v1', kind, spec },
  metadata: { name, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
});

/**
 * Returns the spec of a priority level with limits.
 * @param queues - the number of queues and their hand size. Without queues, requests beyond the limit are rejected.
 */
function limited(
  nominalConcurrencyShares: number,
  lendablePercent: number,
  queues?: readonly [number, number],
): Level {
  const limitResponse =
    queues === undefined
      ? { type: 'Reject' }
      : {
          type: 'Queue',
          queuing: { queues: queues[0], handSize: queues[1], queueLengthLimit: 50 },
        };
  return { type: 'Limited', limited: { nominalConcurrencyShares, limitResponse, lendablePercent } };
}

const levels: Readonly<Record<string, Level>> = {
  'catch-all': limited(5, 0),
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'global-default': limited(20, 50, [128, 6]),
  'leader-election': limited(10, 0, [16, 4]),
  'node-high': limited(40, 25, [64, 6]),
  system: limited(30, 33, [64, 6]),
  'workload-high': limited(40, 50, [128, 6]),
  'workload-low': limited(100, 90, [128, 6]),
};

const group = (name: string): object => ({ kind: 'Group', group: { name } });
const user = (name: string): object => ({ kind: 'User', user: { name } });
const systemAccounts = {
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name: '*' },
};
const everyone = [group('system:unauthenticated'), group('system:authenticated')];
const leases = {
  ...{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
};

/** Returns rules for all requests of the subjects. */
function allOf(...subjects: readonly object[]): Rules {
  const resource = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
  return {
    subjects,
    resourceRules: [{ ...resource, clusterScope: true, namespaces: ['*'] }],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  } as Rules;
}

const nodeRules = [
  {
    ...{ verbs: ['*'], apiGroups: [''], resources: ['nodes', 'nodes/status'] },
    ...{ clusterScope: true, namespaces: ['*'] },
  },
  { verbs: ['*'], ...leases },
];

const probeRules = [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }];

const electionRules = [{ verbs: ['get', 'create', 'update'], ...leases }];

const controllerManager = user('system:kube-controller-manager');
const scheduler = user('system:kube-scheduler');

/** A FlowSchema: its name, its priority level, its precedence, what distinguishes its flows, and its rules. */
type Flow = readonly [string, string, number, 'ByUser' | 'ByNamespace' | undefined, object];

const flows: readonly Flow[] = [
  ['catch-all', 'catch-all', 10_000, 'ByUser', allOf(...everyone)],
  ['exempt', 'exempt', 1, undefined, allOf(group('system:masters'))],
  ['global-default', 'global-default', 9_900, 'ByUser', allOf(...everyone)],
  ['kube-controller-manager', 'workload-high', 800, 'ByNamespace', allOf(controllerManager)],
  ['kube-scheduler', 'workload-high', 800, 'ByNamespace', allOf(scheduler)],
  ['kube-system-service-accounts', 'workload-high', 900, 'ByNamespace', allOf(systemAccounts)],
  ['probes', 'exempt', 2, undefined, { subjects: everyone, nonResourceRules: probeRules }],
  ['service-accounts', 'workload-low', 9_000, 'ByUser', allOf(group('system:serviceaccounts'))],
  [
    ...(['system-leader-election', 'leader-election', 100, 'ByUser'] as const),
    { subjects: [controllerManager, scheduler, systemAccounts], resourceRules: electionRules },
  ],
  [
    ...(['system-node-high', 'node-high', 400, 'ByUser'] as const),
    { subjects: [group('system:nodes')], resourceRules: nodeRules },
  ],
  ['system-nodes', 'system', 500, 'ByUser', allOf(group('system:nodes'))],
];

/** The PriorityLevelConfigurations of a new cluster. */
export const bootstrapLevels: readonly Item[] = Object.entries(levels).map(([name, spec]) =>
  itemOf('PriorityLevelConfiguration', name, spec),
);

/** The FlowSchemas of a new cluster. */
export const bootstrapFlows: readonly Item[] = flows.map(
  ([name, level, matchingPrecedence, distinguisher, rules]) =>
    itemOf('FlowSchema', name, {
      ...{ priorityLevelConfiguration: { name: level }, matchingPrecedence },
      ...(distinguisher !== undefined && { distinguisherMethod: { type: distinguisher } }),
      rules: [rules],
    }),
);
