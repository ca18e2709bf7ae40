import { Deployment, labelValueOf } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { objectsResource, resourceChain } from 'operator-builder/resource';
import { KindName } from '../api/v99alpha99/kind-name.js';

const deployment = objectsResource({
  name: 'deployment',
  types: [Deployment],
  getDesiredState: (_context, { metadata: { name = '', namespace = 'default' }, spec }: KindName) => {
    // A label has at most 63 characters.
    const labels = { app: labelValueOf(`kindname-${name}`) };
    const template = {
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: spec.image }] },
    };
    const metadata = { name: `kindname-${name}`, namespace };
    const desired = { replicas: spec.replicas, selector: { matchLabels: labels }, template };
    return [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: desired }];
  },
});

/** Describes how an object is reconciled: by a chain of resources, one so far. */
export function setupKindNameController(operator: Operator): void {
  operator.for(KindName).owns(Deployment).uses(resourceChain([deployment]));
}
