import { Deployment } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Describes how an object is reconciled. Status, Events and pruning come with the operator. */
export function setupKindNameController(operator: Operator): void {
  operator
    .for(KindName)
    // +operator-builder:if cluster-scoped
    .withBuilder({ namespace: 'default' })
    // +operator-builder:end
    .owns(Deployment)
    .builds(({ object, builder }) =>
      builder.deployment({
        // Objects of other kinds may have the same name.
        name: `kindname-${object.metadata.name ?? ''}`,
        replicas: object.spec.replicas,
        podSpec: { containers: [{ name: 'app', image: object.spec.image }] },
      }),
    );
}
