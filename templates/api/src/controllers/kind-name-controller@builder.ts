import { Deployment, labelValueOf } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object is reconciled. Status, Events and pruning come with the operator. */
export function setupKindNameController(operator: Operator): void {
  operator
    .for(KindName)
    // +operator-builder:if cluster-scoped
    // For objects of one namespace. For several, give each link its namespace instead: pruning then visits all.
    .withBuilder({ namespace: 'default' })
    // +operator-builder:end
    .owns(Deployment)
    .builds(({ object, builder }) => {
      // Short enough for a Service, and different from the names of the objects of other kinds.
      const name = labelValueOf(`kindname-${object.metadata.name ?? ''}`);
      const { image, replicas } = object.spec;
      const podSpec = { containers: [{ name: 'app', image }] };
      return builder.deployment({ name, replicas, podSpec });
    });
}
