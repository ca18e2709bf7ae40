/*
 * Functions that make the objects of a system with common labels. Read `resource-builder.ts`, then
 * `object-options.ts` and `object-bodies.ts`.
 */
export type { DeploymentContainer } from './object-bodies.js';
export type {
  AggregateClusterRoleOptions,
  ClusterObjectOptions,
  ClusterRoleBindingOptions,
  ClusterRoleOptions,
  ConfigMapOptions,
  ContainerOptions,
  DeploymentOptions,
  NamespacedObjectOptions,
  PortsContainerOptions,
  RoleBindingOptions,
  RoleOptions,
  RoleRules,
  SecretOptions,
  ServiceAccountOptions,
  ServiceOptions,
  Specified,
  TextMap,
} from './object-options.js';
export { ResourceBuilder } from './resource-builder.js';
export type { ResourceBuilderOptions } from './resource-builder.js';
