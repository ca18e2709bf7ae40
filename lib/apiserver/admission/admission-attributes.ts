import type { UserInfo } from '../auth/user-info.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { AdmittedWrite } from '../writes/write-hooks.js';

/** A request as admission sees it, whatever it writes. */
export interface AdmissionRequest {
  readonly kind: ServedKind;
  /** What is written, where it is not the resource itself: a Scale, an Eviction. @defaultValue `kind` */
  readonly objectKind?: ServedKind | undefined;
  /** Empty: the resource itself. */
  readonly subresource: string;
  /** Of a Namespace: its own name. */
  readonly namespace: string;
  /** Empty: it has none yet. */
  readonly name: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the operation, without their kind. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Adds a `Warning` header to the answer. */
  readonly warn: (text: string) => void;
}

/** A write that is to be admitted. */
export interface AdmissionAttributes extends AdmissionRequest, AdmittedWrite {}
