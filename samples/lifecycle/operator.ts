import {
  ConfigMap,
  Deployment,
  Operator,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from 'operator-builder';
import type { KubernetesObject, ResourceType } from 'operator-builder';
import { lifecycle } from 'operator-builder/lifecycle';
import type { LifecycleOptions } from 'operator-builder/lifecycle';
import { releaseOf } from './release.js';
import { SampleConfig } from './sample-config.js';

/** Every kind that a release has objects of, or had: they are pruned when no release desires them. */
export const ownedTypes: readonly ResourceType<KubernetesObject>[] = [
  ...[ServiceAccount, Role, RoleBinding, ConfigMap, PodDisruptionBudget, Deployment, Service],
];

/** Options of {@link sampleOperator}. */
export interface SampleOperatorOptions extends Pick<LifecycleOptions<SampleConfig>, 'onEvent'> {
  /** The release of the operator, for example `1.0.0`. */
  readonly release: string;
  /** Where the operator is, and what it deploys. */
  readonly namespace: string;
}

/**
 * Returns a release of the operator: it installs its custom resource, and looks after every SampleConfig.
 * @throws TypeError there is no such release.
 */
export function sampleOperator({ release, namespace, onEvent }: SampleOperatorOptions): Operator {
  const deployed = releaseOf(release);
  const operator = new Operator('sample-operator', { installCrds: true });
  operator
    .for(SampleConfig)
    .owns(...ownedTypes)
    .uses(
      lifecycle({
        ...{ version: deployed.version, namespace, onEvent },
        // That of the first releases of this operator.
        finalizer: 'operator-builder.io/lifecycle',
        resources: (config) => deployed.objects({ config, namespace }),
      }),
    );
  return operator;
}
