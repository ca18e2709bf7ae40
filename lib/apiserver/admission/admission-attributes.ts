import type { UserInfo } from '../auth/user-info.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AdmittedWrite } from '../writes/write-hooks.js';

/** The parts of a request that admission reads, for all of its writes. */
export interface AdmissionRequest {
  readonly kind: ServedKind;
  /**
   * The kind of the body, if it differs from the resource's kind: a Scale, an Eviction.
   * @defaultValue `kind`
   */
  readonly objectKind?: ServedKind | undefined;
  /** The subresource; empty for the resource itself. */
  readonly subresource: string;
  /** The namespace; for a Namespace, its own name. */
  readonly namespace: string;
  /** The name; empty if the object has no name yet. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the operation, without their kind. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
}

/** A write to admit. */
export interface AdmissionAttributes extends AdmissionRequest, AdmittedWrite {}
