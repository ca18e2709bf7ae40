import { Deployment, Service, labelValueOf } from 'operator-builder';
import type { KubernetesObject, Manager } from 'operator-builder';
import {
  LifecycleReconciler,
  ResourceBuilder,
  lifecycleController,
} from 'operator-builder/lifecycle';
import type { CrManager } from 'operator-builder/lifecycle';
import { KindName } from '../api/v99alpha99/kind-name@lifecycle.js';

/** What is deployed is of this version: raise it with each release that changes what is below. */
const version = '0.1.0';

/** Names who reports, and the finalizer: keep it. */
const controllerName = 'kindname.groupname.domain.example';

const builder = new ResourceBuilder({ commonLabels: { 'app.kubernetes.io/name': 'kindname' } });

/** Every object that there should be, in the order in which they are made. */
function allResources({ metadata, spec }: KindName): readonly KubernetesObject[] {
  const { namespace = 'default' } = metadata;
  // Objects of other kinds may have the same name.
  const name = `kindname-${metadata.name ?? ''}`;
  // A name may have 253 characters, a label and the name of a Service 63.
  const label = labelValueOf(name);
  const matchLabels = { app: label };
  const container = builder.portsContainer({
    name: 'app',
    image: spec.image,
    ports: [{ name: 'http', containerPort: 8080 }],
  });
  const ports = [{ name: 'http', port: 80, targetPort: 'http' }];
  return [
    builder.deployment({
      name,
      namespace,
      matchLabels,
      replicas: spec.replicas,
      podSpec: { containers: [container] },
    }),
    builder.service({ name: label, namespace, matchLabels, spec: { ports } }),
  ];
}

const crManager: CrManager<KindName> = {
  type: KindName,
  getAllResources: allResources,
  // Of releases before, too: what is of these kinds is pruned when nothing desires it any more.
  getDependantResourceTypes: () => [Deployment, Service],
};

/** Adds the controller to the manager. */
export function setupKindNameController(manager: Manager): void {
  const { client } = manager;
  const reconciler = new LifecycleReconciler({
    client,
    crManager,
    // For callbacks: the operator's own.
    namespace: process.env['POD_NAMESPACE'] ?? 'default',
    finalizer: `${controllerName}/lifecycle`,
    recorder: manager.eventRecorder(controllerName),
  });
  const controller = lifecycleController(reconciler, { operatorVersion: version });
  // Beside watching: what config/rbac/role.yaml has to allow, and what is asked for at the start.
  manager.add(controller, { requires: reconciler.requires });
}
