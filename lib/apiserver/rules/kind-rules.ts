import type { FieldErrors } from '../../crd/internal.js';
import { deepEqual, withoutMembers } from '../../object/index.js';
import type { UnstructuredObject, NameFormat } from '../../object/index.js';
import type { Clock, Random } from '../../system/index.js';
import type { AccessControl } from '../auth/access-control.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { UserInfo } from '../auth/authenticator.js';
import type { TableColumn } from '../tables/table-column.js';
import type { TakenAddresses } from './service-addresses.js';

/** The user and the authorizer for a review of access or identity, such as a SelfSubjectAccessReview. */
export interface ReviewContext {
  readonly user: UserInfo;
  /** Decides the permissions of `user`, as for the requests on the same listener. */
  readonly authorizer: Authorizer;
  readonly access: AccessControl;
  /** The namespace of the request; empty if absent. */
  readonly namespace: string;
  /** The server's time, in milliseconds. */
  readonly now: number;
}

/**
 * The behavior of a kind that its schema does not define, like the strategies of the real server's registry. Rules may
 * modify `object`, which is a fresh copy; `old` is frozen.
 */
export interface KindRules<T = UnstructuredObject> {
  /** Fills in defaults, in the served version of the kind. */
  readonly defaults?: (object: T) => void;
  /** Admits a create and may change the object: classes, priorities, service accounts. */
  readonly admitCreate?: (object: T, server: ServerView) => void;
  /**
   * Admits an update (not of a subresource).
   * @throws StatusError 403: admission rejects the update
   */
  readonly admitUpdate?: (object: T, old: T, server: ServerView) => void;
  /** Prepares a create before validation: resets fields that clients must not set, allocates addresses. */
  readonly prepareForCreate?: (object: T, server: ServerView) => void;
  /** Prepares an update (not of a subresource) before validation. */
  readonly prepareForUpdate?: (object: T, old: T, server: ServerView) => void;
  /**
   * Records the user of a request in the object that the request creates.
   * @defaultValue the object does not show its user
   */
  readonly setUser?: (object: T, user: UserInfo) => void;
  /**
   * Adds the defaults that reads of a new object show although its create did not store them, and returns whether
   * there are any. The first update stores them.
   */
  readonly completeNew?: (object: T) => boolean;
  /** Validates an object on create and update. */
  readonly validate?: (object: T, errors: FieldErrors, server: ServerView) => void;
  /** Validates a create, in addition to `validate`. */
  readonly validateCreate?: (object: T, errors: FieldErrors, server: ServerView) => void;
  /** Validates the changes of an update. @throws StatusError 403: admission rejects the update */
  readonly validateUpdate?: (object: T, old: T, errors: FieldErrors, server: ServerView) => void;
  /** The rules of subresources that write parts of the spec, by name. */
  readonly partRules?: Readonly<Partial<Record<string, PartRules>>>;
  /** Validates an update of the status. */
  readonly validateStatusUpdate?: (
    object: T,
    old: T,
    errors: FieldErrors,
    subresource: string,
  ) => void;
  /**
   * Returns whether an update increments `metadata.generation`.
   * @defaultValue undefined: the kind has no generation
   */
  readonly specChanged?: (object: T, old: T) => boolean;
  /**
   * The member of a body in which an empty list increments `metadata.generation`: the real server compares the body
   * with the stored object, which lacks empty lists. `defaulted`: lists of the member that have a default when they are
   * empty.
   * @defaultValue undefined: empty and missing lists are equal
   */
  readonly emptyListsCount?: { readonly member: string; readonly defaulted: readonly string[] };
  /** The generation of a new object; 0 if the generation appears with the first change. @defaultValue 1 */
  readonly firstGeneration?: 0;
  /** The format that names must have. @defaultValue 'subdomain' */
  readonly nameFormat?: NameFormat;
  /** Checks the metadata of a new object only if the rest of the object is valid. @defaultValue false */
  readonly checksMetadataLast?: boolean;
  /**
   * Fills in defaults after a write of the status too, because the defaults of the kind depend on the metadata.
   * @defaultValue false
   */
  readonly defaultsMetadata?: boolean;
  /** Creates the object on a PUT to an unused name. @defaultValue false */
  readonly createOnUpdate?: boolean;
  /** Accepts an update without a `resourceVersion`. @defaultValue true */
  readonly unconditionalUpdate?: boolean;
  /** Returns the status of a new object. @defaultValue absent */
  readonly initialStatus?: (object: T, server: ServerView) => unknown;
  /**
   * Fields that clients of an endpoint cannot own, by subresource; `''` stands for the main resource. An update of the
   * status leaves the listed fields of `metadata` unchanged.
   * @defaultValue the status for the main resource, and the spec for the status: its updates can write labels
   */
  readonly resets?: Readonly<Partial<Record<string, readonly string[]>>>;
  /** Prepares a write of the status, or of the approval, before validation. */
  readonly prepareForStatusUpdate?: (
    object: T,
    old: T,
    server: ServerView,
    subresource: string,
  ) => void;
  /** Members of the status that an update of the status keeps if its body lacks them. @defaultValue none */
  readonly keptInStatus?: readonly string[];
  /** Returns values for field selectors in addition to `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: (object: T) => Readonly<Record<string, string>>;
  /**
   * Returns the grace period of a deletion in seconds, 0 or more; undefined if deletion is not graceful.
   * @defaultValue undefined
   */
  readonly gracePeriodSeconds?: (object: T, requested: number | undefined) => number | undefined;
  /** Whether objects of the kind can own other objects. If not, a deletion policy does nothing. @defaultValue true */
  readonly dependents?: boolean;
  /** Orphans dependents by default. @defaultValue false */
  readonly orphansByDefault?: boolean;
  /** The warning about a deletion without a propagation policy. @defaultValue none */
  readonly orphanWarning?: string;
  /** Returns whether only `metadata.finalizers` can delay the deletion. @defaultValue true */
  readonly isFinalized?: (object: T) => boolean;
  /** Changes an object marked for deletion (a namespace's phase). */
  readonly markDeleted?: (object: T, old: T) => UnstructuredObject;
  /** True if the kind checks preconditions itself, with other messages. @defaultValue false */
  readonly ownPreconditions?: boolean;
  /** Runs before a deletion. @throws StatusError the deletion is forbidden */
  readonly beforeDelete?: (object: T, server: ServerView) => void;
  /** Responds to a deletion with the object instead of a `Status`. @defaultValue false */
  readonly answersDeleted?: boolean;
  /**
   * Responds to a create without storing the object, as for a SelfSubjectAccessReview.
   * @defaultValue undefined: creates are stored
   */
  readonly review?: (object: T, asked: ReviewContext) => UnstructuredObject;
  /**
   * An annotation that clients see on whole objects, but not when they request only the metadata. @defaultValue none
   */
  readonly hiddenAnnotation?: string;
  /**
   * Returns the form of a stored object that clients read. It must return the same JavaScript object for the same
   * stored object. @defaultValue the whole object
   */
  readonly shown?: (object: T) => UnstructuredObject;
  /** Columns of tables. @defaultValue name and time of creation */
  readonly columns?: readonly TableColumn[];
  /** A warning added to every response. */
  readonly deprecation?: string;
  /** Returns warnings for a create, or for an update of `old`. */
  readonly warnings?: (object: T, old?: T) => readonly string[];
}

/** The rules of a subresource that writes a part of the spec. */
export interface PartRules {
  /** Returns the members that the update changes: the spec of `old` with the part that `object` has. */
  readonly written: (
    object: UnstructuredObject,
    old: UnstructuredObject,
  ) => Readonly<Partial<Record<'spec' | 'status', unknown>>>;
  /** Returns why the subresource of an object cannot be written at all. @defaultValue every object can be written */
  readonly obstacle?: (old: UnstructuredObject) => string | undefined;
  /** Validates the changes, in addition to `validate` of the kind. */
  readonly validateUpdate?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
    errors: FieldErrors,
  ) => void;
  /** Admits a valid update. @throws StatusError 403: admission rejects the update */
  readonly admitUpdate?: KindRules['admitUpdate'];
}

/** Types rules with a kind's type, which is the form of its decoded objects. */
export function typedRules<T>(rules: KindRules<T & UnstructuredObject>): KindRules {
  return rules as unknown as KindRules;
}

/** The parts of the server that a kind's rules can read. */
export interface ServerView {
  readonly clock: Clock;
  readonly random: Random;
  /** Addresses of all Services. */
  readonly addresses: TakenAddresses;
  /**
   * Custom resources are stored without the rules that need a cluster. CRDs may select fields that their schema lacks.
   */
  readonly looseCustomResources: boolean;
  /** The ServiceAccount that a pod names must exist. */
  readonly requireServiceAccounts: boolean;
  /** True during a write that is not stored. */
  readonly isDryRun: boolean;
  /** Returns an object of a collection (`services`, `apps/deployments`), by `namespace/name` or `name`. */
  find(collection: string, key: string): UnstructuredObject | undefined;
  /** Returns all objects of a collection in key order. */
  all(collection: string): Iterable<UnstructuredObject>;
}

/** Returns whether `spec` changed: the generation rule of most kinds. */
export function specChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(object['spec'], old['spec']);
}

/** Returns whether `spec` or the annotations changed: the generation rule of Deployments. */
export function specOrAnnotationsChanged(
  object: UnstructuredObject,
  old: UnstructuredObject,
): boolean {
  const { annotations = {} } = object.metadata;
  return specChanged(object, old) || !deepEqual(annotations, old.metadata.annotations ?? {});
}

/** Returns whether anything but the metadata changed: the generation rule of kinds without a `spec`. */
export function contentChanged(object: UnstructuredObject, old: UnstructuredObject): boolean {
  return !deepEqual(withoutMembers(object, 'metadata'), withoutMembers(old, 'metadata'));
}
