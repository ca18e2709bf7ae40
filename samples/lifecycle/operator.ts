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

/** Kinds of all objects of all releases. The operator prunes objects of these kinds that are no longer desired. */
export const ownedTypes: readonly ResourceType<KubernetesObject>[] = [
  ...[ServiceAccount, Role, RoleBinding, ConfigMap, PodDisruptionBudget, Deployment, Service],
];

/** Options of {@link sampleOperator}. */
export interface SampleOperatorOptions extends Pick<LifecycleOptions<SampleConfig>, 'onEvent'> {
  /** The release of the operator, for example `1.0.0`. */
  readonly release: string;
  /** Namespace of the operator, and of the objects that it deploys. */
  readonly namespace: string;
}

/**
 * Returns a release of the operator, which installs its custom resource and reconciles every SampleConfig.
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
        // The first releases of this operator used this finalizer, so it must not change.
        finalizer: 'operator-builder.io/lifecycle',
        resources: (config) => deployed.objects({ config, namespace }),
      }),
    );
  return operator;
}
