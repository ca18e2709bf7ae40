import type { KubernetesObject, UnstructuredObject } from '../object/kubernetes-object.js';
import type { TypeReference } from '../object/resource-type.js';

/**
 * What to do when an immutable field has to change. `fail`: an error names the field. `recreate`:
 * delete the object and make it again, after a dry run has shown that the new one is valid.
 * `recreateOrphan`: the same, but the pods stay and are taken over.
 */
export type ImmutablePolicy = 'fail' | 'recreate' | 'recreateOrphan';

/** What every object of a chain can be given. */
export interface LinkOptions {
  /** @defaultValue `onImmutable` of the builder; for PersistentVolumeClaims always `fail` */
  readonly onImmutable?: ImmutablePolicy | undefined;
  /**
   * Delete the object once it is no longer chained. Remembered in the annotation
   * `operator-builder.io/prune`. @defaultValue true, but false for PersistentVolumeClaims
   */
  readonly prune?: boolean | undefined;
  /** Take the object over when it exists and nobody controls it. @defaultValue `adopt` of the builder */
  readonly adopt?: boolean | undefined;
}

/** What only a PersistentVolumeClaim can be given. */
export interface ClaimOptions extends LinkOptions {
  /**
   * `delete`: garbage collection takes the claim with its owner. `retain`: it stays, and a new owner
   * of that kind and name takes it over. @defaultValue 'retain'
   */
  readonly whenOwnerDeleted?: 'delete' | 'retain' | undefined;
}

/** What every link that makes an object of one kind takes. */
export interface ObjectOptions<Name extends string = string> extends LinkOptions {
  readonly name: Name;
  /**
   * Only ever the owner's namespace, or the builder's where the owner is cluster-scoped.
   * @defaultValue that one
   */
  readonly namespace?: string | undefined;
  /** Laid over the builder's labels. */
  readonly labels?: Readonly<Record<string, string | undefined>> | undefined;
  readonly annotations?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What only workloads have. */
export interface WorkloadSettings {
  /** ConfigMaps and Secrets by name, beside those that the pod template refers to. */
  readonly rolloutOn: readonly string[];
  readonly followReferences: boolean;
  readonly nodeType: string | undefined;
  readonly progressDeadlineSeconds: number;
  readonly unblock: boolean;
  /** `spec.replicas` belongs to somebody else once the object exists. */
  readonly replicasExternal: boolean;
}

/** One object of a chain, as plain data. */
export interface Link {
  readonly type: TypeReference<KubernetesObject>;
  /** The object as it was chained: no owner, no labels of ours, no stamps yet. */
  readonly object: UnstructuredObject;
  readonly options: ClaimOptions;
  readonly workload?: WorkloadSettings | undefined;
  /** Names that must be in the chain; checked before anything is written. */
  readonly requires: readonly RequiredName[];
  /** The workload that an object without a selector of its own is for. */
  readonly selects?: { readonly name: string; readonly explicit: boolean } | undefined;
  /** A workload that an autoscaler scales and that is not in the chain. */
  readonly scaleTarget?: ScaleTarget | undefined;
}

/** A workload outside of the chain. */
export interface ScaleTarget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** What the chain has instead, for the error. */
  readonly hint: string;
}

/** A name that a link refers to. */
export interface RequiredName {
  /** One object of one of these kinds must be chained. */
  readonly kinds: readonly ('ConfigMap' | 'Secret' | 'Service' | 'PersistentVolumeClaim')[];
  readonly name: string;
  /** The option or call that named it, for the error. */
  readonly by: string;
}
