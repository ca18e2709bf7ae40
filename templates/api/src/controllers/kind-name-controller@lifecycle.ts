import { Deployment, Service, labelValueOf } from 'operator-builder';
import type { KubernetesObject, Operator } from 'operator-builder';
import { ResourceBuilder, lifecycle } from 'operator-builder/lifecycle';
import { KindName } from '../api/v99alpha99/kind-name@lifecycle.js';

/** Version of the system: increase it with each release that changes the objects below. */
const version = '0.1.0';
const make = new ResourceBuilder({
  commonLabels: { 'app.kubernetes.io/name': 'kindname' },
});

function resources(object: KindName): KubernetesObject[] {
  const { image, replicas } = object.spec;
  const { namespace = 'default' } = object.metadata;
  const name = `kindname-${object.metadata.name ?? ''}`;
  const matchLabels = { app: labelValueOf(name) };
  const podSpec = { containers: [{ name: 'app', image, ports: [{ containerPort: 8080 }] }] };
  const spec = { ports: [{ port: 80, targetPort: 8080 }] };
  return [
    make.deployment({ name, namespace, matchLabels, replicas, podSpec }),
    make.service({ name: labelValueOf(name), namespace, matchLabels, spec }),
  ];
}

/** Describes how an object is reconciled: the operator installs, upgrades and removes its whole system. */
export function setupKindNameController(operator: Operator): void {
  operator.for(KindName).owns(Deployment, Service).uses(lifecycle({ version, resources }));
}
