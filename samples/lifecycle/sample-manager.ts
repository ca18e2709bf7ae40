import {
  ConfigMap,
  Deployment,
  PodDisruptionBudget,
  Role,
  RoleBinding,
  Service,
  ServiceAccount,
} from 'operator-builder';
import type { KubernetesObject, ResourceType } from 'operator-builder';
import type { CrManager } from 'operator-builder/lifecycle';
import type { Release } from './release.js';
import { SampleConfig } from './sample-config.js';

/** Every kind that a release has objects of, or had: they are pruned when no release desires them. */
export const ownedTypes: readonly ResourceType<KubernetesObject>[] = [
  ...[ServiceAccount, Role, RoleBinding, ConfigMap, PodDisruptionBudget, Deployment, Service],
];

/** Tells the reconciler what `release` deploys into `namespace`. */
export function sampleManager(release: Release, namespace: string): CrManager<SampleConfig> {
  return {
    type: SampleConfig,
    getAllResources: (config) => release.objects({ config, namespace }),
    getDependantResourceTypes: () => ownedTypes,
  };
}
