/** The hash of the object as we last applied it. */
export const appliedHashAnnotation = 'operator-builder.io/applied-hash';

/**
 * `false`: never prune the object. `true`, on a claim, a Namespace or a CustomResourceDefinition: do.
 */
export const pruneAnnotation = 'operator-builder.io/prune';

/**
 * On an owner: the `metadata.generation` at which more objects may be pruned than `maxDeletions` allows.
 */
export const allowDeletionsAnnotation = 'operator-builder.io/allow-deletions';

/** On an owner: what the annotations begin with that say which Jobs have run; see `desireOfRun`. */
export const ranAnnotationPrefix = 'operator-builder.io/ran-';

/** The part of the owner's objects that a chain is; see `scope` of the builder's options. */
export const scopeLabel = 'operator-builder.io/scope';

/** On what outlives its owner: the owner's kind and group, as `Kind.group`. */
export const ownerKindAnnotation = 'operator-builder.io/owner-kind';

/** On what outlives its owner: the owner's name. */
export const ownerNameAnnotation = 'operator-builder.io/owner-name';

/** Whose tool manages the object: our `controllerName`. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
