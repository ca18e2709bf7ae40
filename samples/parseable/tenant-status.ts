import { setCondition } from 'operator-builder';
import type { Clock, Condition, Deployment, ObjectResult, StatefulSet } from 'operator-builder';
import type { NodeStatus, ParseableTenant, TenantStatus } from './tenant.js';
import type { TenantNode } from './tenant-chain.js';
import type { TenantProblem } from './tenant-problems.js';

/** What a reconcile found out about a tenant. */
export interface TenantObservation {
  readonly nodes: readonly ObservedNode[];
  readonly results: readonly ObjectResult[];
  readonly problems: readonly TenantProblem[];
  /** Why the reconcile failed, if it did. */
  readonly failure?: string | undefined;
}

/** A node and its workload, where that exists. */
export interface ObservedNode {
  readonly node: TenantNode;
  readonly workload: Deployment | StatefulSet | undefined;
}

interface ConditionState {
  readonly type: 'Available' | 'Progressing' | 'Degraded';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** The status that `tenant` should have. Times move only where a condition flips. */
export function tenantStatus(
  tenant: ParseableTenant,
  observation: TenantObservation,
  clock: Clock,
): TenantStatus {
  const { generation } = tenant.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const invalid = observation.problems.length > 0;
  // An invalid spec is not carried out: what runs is what ran before.
  const nodes = invalid ? (tenant.status?.nodes ?? []) : observation.nodes.map(nodeStatus);
  const states = [available(nodes, observation), progressing(observation), degraded(observation)];
  const conditions = states.reduce<readonly Condition[]>(
    (list, state) => setCondition(list, { ...state, ...observed }, clock),
    tenant.status?.conditions ?? [],
  );
  const ready = nodes.filter(isReady).length;
  return {
    ...observed,
    ready: `${ready}/${invalid ? tenant.spec.nodes.length : nodes.length}`,
    nodes,
    conditions,
  };
}

function nodeStatus({ node, workload }: ObservedNode): NodeStatus {
  const hash = configHash(node, workload);
  return {
    name: node.spec.name,
    type: node.spec.type,
    desiredReplicas: node.spec.replicas,
    readyReplicas: workload?.status?.readyReplicas ?? 0,
    updatedReplicas: workload?.status?.updatedReplicas ?? 0,
    ...(hash !== undefined && { configHash: hash }),
  };
}

function configHash(
  { names }: TenantNode,
  workload: Deployment | StatefulSet | undefined,
): string | undefined {
  const variable = `CONFIGMAP_HASH_${names.configMap.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
  const env = workload?.spec?.template.spec?.containers[0]?.env ?? [];
  return env.find(({ name }) => name.startsWith(variable))?.value;
}

function isReady({ desiredReplicas, readyReplicas }: NodeStatus): boolean {
  return readyReplicas >= desiredReplicas;
}

function available(nodes: readonly NodeStatus[], { problems }: TenantObservation): ConditionState {
  const type = 'Available';
  if (problems.length > 0 && nodes.length === 0) {
    const message = 'nothing was made of an invalid spec';
    return { type, status: 'False', reason: 'InvalidSpec', message };
  }
  const waiting = nodes.filter((node) => !isReady(node));
  if (waiting.length === 0) {
    return { type, status: 'True', reason: 'AllNodesReady', message: 'every node is ready' };
  }
  const parts = waiting.map(
    ({ name, readyReplicas, desiredReplicas }) =>
      `${name} has ${readyReplicas} of ${desiredReplicas} pods ready`,
  );
  return { type, status: 'False', reason: 'NodesNotReady', message: parts.join('; ') };
}

function progressing({ problems, results, failure }: TenantObservation): ConditionState {
  const type = 'Progressing';
  if (problems.length > 0) {
    return { type, status: 'False', reason: 'InvalidSpec', message: 'waiting for a valid spec' };
  }
  if (failure !== undefined) {
    const message = 'stopped by an error; see Degraded';
    return { type, status: 'False', reason: 'ReconcileFailed', message };
  }
  const waiting = results.filter(
    ({ operation, rollout }) => operation === 'pending' || rollout?.state === 'progressing',
  );
  if (waiting.length === 0) {
    return { type, status: 'False', reason: 'UpToDate', message: 'every pod runs its newest spec' };
  }
  const message = describeAll(waiting);
  return { type, status: 'True', reason: 'RollingOut', message };
}

function degraded({ problems, results, failure }: TenantObservation): ConditionState {
  const type = 'Degraded';
  if (problems.length > 0) {
    const message = problems.map((problem) => `${problem.path}: ${problem.message}`).join('; ');
    return { type, status: 'True', reason: 'InvalidSpec', message };
  }
  if (failure !== undefined) {
    return { type, status: 'True', reason: 'ReconcileFailed', message: failure };
  }
  const stuck = results.filter(({ rollout }) => rollout?.state === 'stuck');
  if (stuck.length > 0) {
    return { type, status: 'True', reason: 'RolloutStuck', message: describeAll(stuck) };
  }
  return { type, status: 'False', reason: 'AsExpected', message: 'nothing is wrong' };
}

function describeAll(results: readonly ObjectResult[]): string {
  return results
    .map(
      ({ ref, reason, rollout }) => `${ref.kind} ${ref.name}: ${reason ?? rollout?.message ?? ''}`,
    )
    .join('; ');
}
