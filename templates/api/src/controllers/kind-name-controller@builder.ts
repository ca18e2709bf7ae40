import { Deployment, labelValueOf } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object is reconciled. Status, Events and pruning come with the operator. */
export function setupKindNameController(operator: Operator): void {
  operator
    .for(KindName)
    // +operator-builder:if cluster-scoped
    // All objects are in this namespace. To use several, remove this line and give each link a namespace.
    .withBuilder({ namespace: 'default' })
    // +operator-builder:end
    .owns(Deployment)
    .builds(({ object, builder }) => {
      // At most 63 characters, as for a Service. The prefix avoids the names that owners of other kinds use.
      const name = labelValueOf(`kindname-${object.metadata.name ?? ''}`);
      const { image, replicas } = object.spec;
      const podSpec = { containers: [{ name: 'app', image }] };
      return builder.deployment({ name, replicas, podSpec });
    });
}
