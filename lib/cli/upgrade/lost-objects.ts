import { rollsPods } from '../../apply/index.js';
import { describeObject } from '../../object/describe-object.js';
import { diffObjects } from '../../object/diff-by-path.js';
import type { UnstructuredObject } from '../../object/kubernetes-object.js';
import { controllerOf } from '../../object/owner-reference.js';
import { referenceTo } from '../../object/object-reference.js';
import { isOperatorsOwn, usersOf } from './cluster-state.js';
import type { ClusterState } from './cluster-state.js';
import type { States } from './compare-states.js';
import { podsOf } from './pods-of.js';
import { finding, withoutUid } from './upgrade-report.js';
import type { Finding } from './upgrade-report.js';

/** Objects that are gone. */
export interface Lost {
  readonly findings: readonly Finding[];
  /** Ids of their replacements under other names. */
  readonly replacements: ReadonlySet<string>;
}

/** Returns the objects that an upgrade removes, with their replacements. */
export function lostObjects({ before, after }: States): Lost {
  const gone = [...before].filter(([id, object]) => !after.has(id) && isLost(object));
  const fresh = new Map([...after].filter(([id, each]) => !before.has(id) && isOperatorsOwn(each)));
  const replacements = new Set<string>();
  const findings = gone.map(([, object]) => {
    const [id, replacement] = replacementOf(object, fresh) ?? [];
    if (id !== undefined) {
      fresh.delete(id);
      replacements.add(id);
    }
    return lost(object, replacement, before);
  });
  return { findings, replacements };
}

/**
 * Whether the loss of an object is a finding: claims always, but not pods, which end with their workload.
 */
function isLost(object: UnstructuredObject): boolean {
  return object.kind === 'PersistentVolumeClaim' || isOperatorsOwn(object);
}

/** Returns the most similar new object of the same kind and owner. */
function replacementOf(
  object: UnstructuredObject,
  fresh: ReadonlyMap<string, UnstructuredObject>,
): readonly [string, UnstructuredObject] | undefined {
  const owner = controllerOf(object)?.uid;
  const alike = [...fresh].filter(
    ([, other]) =>
      other.kind === object.kind &&
      other.metadata.namespace === object.metadata.namespace &&
      controllerOf(other)?.uid === owner,
  );
  const differences = ([, other]: (typeof alike)[number]): number =>
    diffObjects(object, other, { ignore: ['metadata', 'status'] }).length;
  return alike.toSorted((one, other) => differences(one) - differences(other))[0];
}

function lost(
  object: UnstructuredObject,
  replacement: UnstructuredObject | undefined,
  before: ClusterState,
): Finding {
  const ref = referenceTo(object);
  const users = usersOf(object, before).map(withoutUid);
  const used =
    users.length === 0
      ? ''
      : `; ${users.map((user) => describeObject(user)).join(', ')} refers to it`;
  const pods = rollsPods(object) ? `, with its ${podsOf(object, before).length} pods` : '';
  if (object.kind === 'PersistentVolumeClaim') {
    const message = `it is deleted, and what is stored in it${used}`;
    const remedy =
      'keep it: give it the annotation operator-builder.io/prune: "false", or copy it first';
    return finding('claim', ref, { message, users, remedy });
  }
  if (replacement !== undefined) {
    const { name = '' } = replacement.metadata;
    const message = `it is pruned${pods}, and ${describeObject(replacement)} made in its place${used}`;
    const changes = [{ path: 'metadata.name', from: object.metadata.name, to: name }];
    const remedy = `keep the name ${object.metadata.name ?? ''}`;
    return finding('renamed', ref, { message, users, changes, remedy });
  }
  const remedy = 'none is needed if nothing else uses it';
  return finding('pruned', ref, { message: `it is pruned${pods}${used}`, users, remedy });
}
