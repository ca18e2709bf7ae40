import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import type { FieldErrors } from '../validation/field-errors.js';
import type { NameFormat } from '../validation/names.js';
import type { TableColumn } from '../tables/table-column.js';
import type { AccessControl } from '../auth/access-control.js';
import type { Authorizer } from '../auth/authorizer.js';
import type { UserInfo } from '../auth/user-info.js';
import type { ServerView } from './server-view.js';

/** Who asks for a review, and whom it goes by. */
export interface ReviewContext {
  readonly user: UserInfo;
  /** Decides what `user` may do at this listener. */
  readonly authorizer: Authorizer;
  readonly access: AccessControl;
  /** Of the request; empty: none. */
  readonly namespace: string;
  /** The server's time, in milliseconds. */
  readonly now: number;
}

/**
 * What is particular to a kind, beside its schema: the strategies of the real server's registry.
 * Objects that are passed as `object` are fresh and may be changed; `old` is frozen.
 */
export interface KindRules {
  /** Fills in defaults, in the version of the API that the kind is served in. */
  readonly defaults?: (object: UnstructuredObject) => void;
  /** Admission that changes what is created: classes, priorities, service accounts. */
  readonly admitCreate?: (object: UnstructuredObject, server: ServerView) => void;
  /** Admission of an update (not of a subresource). @throws StatusError 403: it is refused. */
  readonly admitUpdate?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
    server: ServerView,
  ) => void;
  /** Before validation of a create: resets what a client may not set, allocates addresses. */
  readonly prepareForCreate?: (object: UnstructuredObject, server: ServerView) => void;
  /** Before validation of an update (not of a subresource). */
  readonly prepareForUpdate?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
    server: ServerView,
  ) => void;
  /** What must hold for an object, whether it is created or updated. */
  readonly validate?: (object: UnstructuredObject, errors: FieldErrors, server: ServerView) => void;
  /** What must hold for a create, beside `validate`. */
  readonly validateCreate?: (
    object: UnstructuredObject,
    errors: FieldErrors,
    server: ServerView,
  ) => void;
  /** What may not change. @throws StatusError 403: admission refuses. */
  readonly validateUpdate?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
    errors: FieldErrors,
    server: ServerView,
  ) => void;
  /** What must hold for an update of the status. */
  readonly validateStatusUpdate?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
    errors: FieldErrors,
  ) => void;
  /**
   * Whether an update counts as a new `metadata.generation`.
   * @defaultValue undefined: no generation is kept
   */
  readonly specChanged?: (object: UnstructuredObject, old: UnstructuredObject) => boolean;
  /** Which names are allowed. @defaultValue 'subdomain' */
  readonly nameFormat?: NameFormat;
  /** PUT to a name that is free creates. @defaultValue false */
  readonly createOnUpdate?: boolean;
  /** An update may come without a `resourceVersion`. @defaultValue true */
  readonly unconditionalUpdate?: boolean;
  /** What an object is on creation, where it is not an absent status. */
  readonly initialStatus?: (object: UnstructuredObject, server: ServerView) => unknown;
  /**
   * What an update of the status leaves as it is, beside `spec`: paths in `metadata`, or all of it.
   * @defaultValue nothing: labels, annotations and finalizers can be written through the status
   */
  readonly statusResets?: readonly string[];
  /** Values for field selectors beside `metadata.name` and `metadata.namespace`. */
  readonly selectableFields?: (object: UnstructuredObject) => Readonly<Record<string, string>>;
  /**
   * Seconds that a deletion waits, 0 or more; undefined: it is not graceful for this object.
   * @defaultValue undefined
   */
  readonly gracePeriodSeconds?: (
    object: UnstructuredObject,
    requested: number | undefined,
  ) => number | undefined;
  /** Whether dependents are orphaned by default. @defaultValue false */
  readonly orphansByDefault?: boolean;
  /** Whether nothing but `metadata.finalizers` holds a deleted object. @defaultValue true */
  readonly isFinalized?: (object: UnstructuredObject) => boolean;
  /** Changes an object that is marked as being deleted (a namespace's phase). */
  readonly markDeleted?: (
    object: UnstructuredObject,
    old: UnstructuredObject,
  ) => UnstructuredObject;
  /** Called before a deletion. @throws StatusError it is not allowed. */
  readonly beforeDelete?: (object: UnstructuredObject, server: ServerView) => void;
  /** A deleted object is answered instead of a `Status`. @defaultValue false */
  readonly answersDeleted?: boolean;
  /**
   * Answers a create instead of storing it: reviews are questions, not objects.
   * @defaultValue undefined: creates are stored
   */
  readonly review?: (object: UnstructuredObject, asked: ReviewContext) => UnstructuredObject;
  /** Columns of its tables. @defaultValue name and time of creation */
  readonly columns?: readonly TableColumn[];
  /** A warning that comes with every answer. */
  readonly deprecation?: string;
  /** Warnings for a create, or for an update of `old`. */
  readonly warnings?: (object: UnstructuredObject, old?: UnstructuredObject) => readonly string[];
}
