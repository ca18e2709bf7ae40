import { Deployment, labelValueOf, ownVerbs } from 'operator-builder';
import type { Manager } from 'operator-builder';
import { Framework, ResourceRouter, ResourceSet, withRetry, wrap } from 'operator-builder/resource';
import { objectsResource } from 'operator-builder/resource';
import { KindName } from '../api/v99alpha99/kind-name.js';

/** Names the finalizer, and who owns the fields that are written: keep it. */
const frameworkName = 'kindname';

/** What an object becomes. */
function deploymentOf({ metadata, spec }: KindName): Deployment {
  // Objects of other kinds may have the same name.
  const name = `kindname-${metadata.name ?? ''}`;
  // A name may have 253 characters, a label 63.
  const matchLabels = { app: labelValueOf(name) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: metadata.namespace ?? 'default' },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels },
      template: {
        metadata: { labels: matchLabels },
        spec: { containers: [{ name: 'app', image: spec.image }] },
      },
    },
  };
}

/** The chain: one resource so far. The framework shows in the condition Ready how far it is. */
const deployment = objectsResource({
  name: 'deployment',
  types: [Deployment],
  getDesiredState: (_context, object: KindName) => [deploymentOf(object)],
});

/** Adds the controller to the manager. */
export function setupKindNameController(manager: Manager): void {
  const resources = wrap([deployment], withRetry);
  const set = new ResourceSet({ name: 'v1', handles: () => true, resources });
  const framework = new Framework({
    name: frameworkName,
    type: KindName,
    client: manager.client,
    resourceRouter: new ResourceRouter({ resourceSets: [set] }),
    configure: (controller) => controller.owns(Deployment),
  });
  // Beside what the framework does: config/rbac/role.yaml has to allow it, and the start asks for it.
  framework.addTo(manager, { requires: [{ type: Deployment, verbs: ownVerbs }] });
}
