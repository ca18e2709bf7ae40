import { Deployment, labelValueOf } from 'operator-builder';
import type { Operator } from 'operator-builder';
import { objectsResource, resourceChain } from 'operator-builder/resource';
import { KindName } from '../api/v99alpha99/kind-name.js';

const deployment = objectsResource({
  name: 'deployment',
  types: [Deployment],
  getDesiredState: (_context, object: KindName) => {
    const { name = '', namespace = 'default' } = object.metadata;
    const labels = { app: labelValueOf(`kindname-${name}`) };
    const podSpec = { containers: [{ name: 'app', image: object.spec.image }] };
    const template = { metadata: { labels }, spec: podSpec };
    const spec = { replicas: object.spec.replicas, selector: { matchLabels: labels }, template };
    const metadata = { name: `kindname-${name}`, namespace };
    return [{ apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec }];
  },
});

/** Describes how an object is reconciled: by a chain of resources, one so far. */
export function setupKindNameController(operator: Operator): void {
  operator
    .for(KindName)
    .owns(Deployment)
    .uses(resourceChain([deployment]));
}
