import { Deployment, labelValueOf } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object is reconciled, step by step. Status and Events come with the operator. */
export function setupKindNameController(operator: Operator): void {
  operator
    .for(KindName)
    // +operator-builder:if cluster-scoped
    // For objects of one namespace. For several, give each link its namespace instead: pruning then visits all.
    .withBuilder({ namespace: 'default' })
    // +operator-builder:end
    .owns(Deployment)
    .reconciles(async ({ object, builder }) => {
      // Short enough for a Service, and different from the names of the objects of other kinds.
      const name = labelValueOf(`kindname-${object.metadata.name ?? ''}`);
      const { image, replicas } = object.spec;
      const podSpec = { containers: [{ name: 'app', image }] };
      const chain = builder.deployment({ name, replicas, podSpec });
      await chain.reconcileDeployOrSts();
      // Add steps here. To wait for something, return requeueAfter(5_000, 'waits for …').
      // Take `planning` from the context, and skip steps outside of the cluster while it is true.
      await chain.reconcileStore(); // prunes objects that are no longer in the chain
    });
}
