/** The hash of the object as we last applied it. */
export const appliedHashAnnotation = 'operator-builder.io/applied-hash';

/** `false`: never prune the object. `true`, on a claim: do. */
export const pruneAnnotation = 'operator-builder.io/prune';

/** On what outlives its owner, in the place of an owner reference: the owner's UID. */
export const ownerUidLabel = 'operator-builder.io/owner-uid';

/** On what outlives its owner: the owner's kind and group, as `Kind.group`. */
export const ownerKindAnnotation = 'operator-builder.io/owner-kind';

/** On what outlives its owner: the owner's name. */
export const ownerNameAnnotation = 'operator-builder.io/owner-name';

/** Whose tool manages the object: our `controllerName`. Pruning looks only at objects that have it. */
export const managedByLabel = 'app.kubernetes.io/managed-by';
