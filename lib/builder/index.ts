export { Builder } from './builder.js';
export type { BuilderChain } from './builder.js';
export type { BuilderClient, BuilderOptions } from './builder-options.js';
export type { ChainedName, ChainNames, NoNames, Owning, WithName } from './chain-names.js';
export type { ChainReferences, Mount, MountOptions } from './chain-references.js';
export type { ConfigMapOptions, SecretOptions } from './kinds/configuration.js';
export type { CronJobOptions, JobOptions } from './kinds/jobs.js';
export type { PodOptions } from './kinds/pod-template.js';
export type {
  Fillable,
  HorizontalPodAutoscalerOptions,
  IngressOptions,
  NetworkPolicyOptions,
  PersistentVolumeClaimOptions,
  PodDisruptionBudgetOptions,
  RoleBindingOptions,
  RoleOptions,
  ServiceAccountOptions,
  ServiceOptions,
  SpecOf,
} from './kinds/specified.js';
export type {
  DaemonSetOptions,
  DeploymentOptions,
  StatefulSetOptions,
  VolumeClaimTemplate,
  WorkloadOptions,
} from './kinds/workloads.js';
export type { ObjectOptions } from './link.js';
export type { Plan, PlannedRollout } from './plan.js';
export { renderPlan } from './render-plan.js';
export type { RenderPlanOptions } from './render-plan.js';
