import { Deployment, Service, labelValueOf } from 'operator-builder';
import type { KubernetesObject, Operator } from 'operator-builder';
import { ResourceBuilder, lifecycle } from 'operator-builder/lifecycle';
import { KindName } from '../api/v99alpha99/kind-name@lifecycle.js';

/** The version of what is deployed: raise it with each release that changes the objects below. */
const version = '0.1.0';
const make = new ResourceBuilder({ commonLabels: { 'app.kubernetes.io/name': 'kindname' } });

/** Returns every object that there should be, in the order in which they are made. */
function resources({ metadata, spec: { image, replicas } }: KindName): KubernetesObject[] {
  const { namespace = 'default' } = metadata;
  const name = `kindname-${metadata.name ?? ''}`;
  const matchLabels = { app: labelValueOf(name) };
  const ports = [{ name: 'http', containerPort: 8080 }];
  const podSpec = { containers: [make.portsContainer({ name: 'app', image, ports })] };
  const spec = { ports: [{ name: 'http', port: 80, targetPort: 'http' }] };
  return [
    make.deployment({ name, namespace, matchLabels, replicas, podSpec }),
    make.service({ name: labelValueOf(name), namespace, matchLabels, spec }),
  ];
}

/** Describes how an object is reconciled: its whole system is installed, upgraded and removed. */
export function setupKindNameController(operator: Operator): void {
  operator.for(KindName).owns(Deployment, Service).uses(lifecycle({ version, resources }));
}
