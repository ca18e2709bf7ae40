import { applyingSuite } from './applying.js';
import { badInputSuite } from './bad-input.js';
import { clusterScopedSuite } from './cluster-scoped.js';
import { claimsSuite } from './claims.js';
import { containersSuite } from './containers.js';
import { customResourcesSuite } from './custom-resources.js';
import { driftSuite } from './drift.js';
import { eventsSuite } from './events.js';
import { generatedSuite } from './generated.js';
import { guardsSuite } from './guards.js';
import { hashingSuite } from './hashing.js';
import { immutableSuite } from './immutable.js';
import { refusedChangesSuite } from './refused-changes.js';
import { jobsSuite } from './jobs.js';
import { lateWritesSuite } from './late-writes.js';
import { linksSuite } from './links.js';
import { planSuite } from './plan.js';
import { plannedDecisionsSuite } from './planned-decisions.js';
import { pruningInUseSuite } from './pruning-in-use.js';
import { pruningSuite } from './pruning.js';
import { replicasSuite } from './replicas.js';
import { rolloutGateSuite } from './rollout-gate.js';
import { rolloutsSuite } from './rollouts.js';
import { Scene } from './scene.js';
import { serverFailuresSuite } from './server-failures.js';
import { settledSuite } from './settled.js';
import { successorsSuite } from './successors.js';
import { takingOverSuite } from './taking-over.js';
import type { BuilderTarget, NewTarget } from './target.js';
import { workloadSelectionSuite } from './workload-selection.js';

/** Opens a {@link Scene} on the cluster of the suite. */
export type OpenScene = () => Promise<Scene>;

/** Defines the behaviour of the builder, on the embedded and the real server. */
export function builderSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  const open: OpenScene = () => Scene.open(target);

  describe('applying a chain', () => applyingSuite(open));
  describe('references between the links of a chain', () => linksSuite(open));
  describe('drift of live objects', () => driftSuite(open));
  describe('Secrets with generated values', () => generatedSuite(open));
  describe('hash-triggered rollouts', () => hashingSuite(open));
  describe('rollout order', () => rolloutsSuite(open));
  describe('delayed pod templates during rollouts', () => rolloutGateSuite(open));
  describe('replicas of an autoscaler', () => replicasSuite(open));
  describe('objects that select a workload', () => workloadSelectionSuite(open));
  describe('selectors of NetworkPolicies and budgets', () => guardsSuite(open));
  describe('immutable fields', () => immutableSuite(open));
  describe('changes that a webhook or a policy refuses', () => refusedChangesSuite(open));
  describe('custom resources', () => customResourcesSuite(open));
  describe('Namespaces and CustomResourceDefinitions', () => containersSuite(open));
  describe('PersistentVolumeClaims', () => claimsSuite(open));
  describe('Jobs with ttlSecondsAfterFinished', () => jobsSuite(open));
  describe('adoption of existing objects', () => takingOverSuite(open));
  describe('late writes of a former leader', () => lateWritesSuite(open));
  describe('pruning of objects that are no longer chained', () => pruningSuite(open));
  describe('pruning of objects that pods still use', () => pruningInUseSuite(open));
  describe('replacement of a workload by another', () => successorsSuite(open));
  describe('bad input and failures', () => badInputSuite(open));
  describe('a server that fails in the middle', () => serverFailuresSuite(open));
  describe('owners without a namespace', () => clusterScopedSuite(open));
  describe('events about objects', () => eventsSuite(open));
  describe('a repeated reconcile of the same chain', () => settledSuite(open));
  describe('the plan of a chain', () => planSuite(open));
  describe('the decisions in a plan', () => plannedDecisionsSuite(open));
}
