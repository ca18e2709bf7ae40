import { applyingSuite } from './applying.js';
import { badInputSuite } from './bad-input.js';
import { clusterScopedSuite } from './cluster-scoped.js';
import { claimsSuite } from './claims.js';
import { containersSuite } from './containers.js';
import { customResourcesSuite } from './custom-resources.js';
import { driftSuite } from './drift.js';
import { eventsSuite } from './events.js';
import { hashingSuite } from './hashing.js';
import { immutableSuite } from './immutable.js';
import { jobsSuite } from './jobs.js';
import { lateWritesSuite } from './late-writes.js';
import { planSuite } from './plan.js';
import { pruningSuite } from './pruning.js';
import { replicasSuite } from './replicas.js';
import { rolloutGateSuite } from './rollout-gate.js';
import { rolloutsSuite } from './rollouts.js';
import { Scene } from './scene.js';
import { settledSuite } from './settled.js';
import { successorsSuite } from './successors.js';
import { takingOverSuite } from './taking-over.js';
import type { BuilderTarget, NewTarget } from './target.js';
import { workloadSelectionSuite } from './workload-selection.js';

/** What a part of the suite is handed: a cluster to open a {@link Scene} on. */
export type OpenScene = () => Promise<Scene>;

/** How the builder behaves, on whatever server. */
export function builderSuite(newTarget: NewTarget): void {
  let target: BuilderTarget;
  before(async () => {
    target = await newTarget();
  });
  after(() => target.close());
  const open: OpenScene = () => Scene.open(target);

  describe('applying', () => applyingSuite(open));
  describe('drift', () => driftSuite(open));
  describe('hash-triggered rollouts', () => hashingSuite(open));
  describe('the order of rollouts', () => rolloutsSuite(open));
  describe('what a rollout holds back', () => rolloutGateSuite(open));
  describe('replicas that belong to an autoscaler', () => replicasSuite(open));
  describe('objects for a workload', () => workloadSelectionSuite(open));
  describe('immutable fields', () => immutableSuite(open));
  describe('custom resources', () => customResourcesSuite(open));
  describe('Namespaces and CustomResourceDefinitions', () => containersSuite(open));
  describe('claims', () => claimsSuite(open));
  describe('Jobs that Kubernetes deletes when they have finished', () => jobsSuite(open));
  describe('taking over', () => takingOverSuite(open));
  describe('writes of a former leader', () => lateWritesSuite(open));
  describe('pruning', () => pruningSuite(open));
  describe('workloads that take the place of others', () => successorsSuite(open));
  describe('bad input and failures', () => badInputSuite(open));
  describe('a cluster-scoped owner', () => clusterScopedSuite(open));
  describe('events', () => eventsSuite(open));
  describe('a chain that is reconciled again', () => settledSuite(open));
  describe('plan', () => planSuite(open));
}
