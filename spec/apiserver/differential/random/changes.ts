import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { Body } from './arbitraries.js';

type Container = Record<string, unknown> | unknown[];

/** A value in a body, with its place. */
interface Node {
  readonly parent: Container;
  readonly name: string;
  readonly value: unknown;
  /** JSON pointer. */
  readonly pointer: string;
}

/**
 * Fields that are not changed: those that identify an object, and some for which a missing and an empty value lead to
 * different messages of the real server.
 */
const kept = /^\/metadata$|^\/metadata\/name$|\/(?:apiVersion|kind|url|sideEffects)$/;

function* nodesOf(parent: Container, above = ''): Generator<Node> {
  for (const [name, value] of Object.entries<unknown>(parent)) {
    const pointer = `${above}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!kept.test(pointer)) yield { parent, name, value, pointer };
    if (isContainer(value)) yield* nodesOf(value, pointer);
  }
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}

function put({ parent, name }: Node, value: unknown): void {
  Reflect.set(parent, name, value);
}

function drop({ parent, name }: Node): void {
  if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else Reflect.deleteProperty(parent, name);
}

type Change = (node: Node) => void;

type Changes = Readonly<Record<string, Change>>;

const empty: Change = (node) => {
  const { value } = node;
  if (isContainer(value)) put(node, Array.isArray(value) ? [] : {});
  else put(node, typeof value === 'number' ? 0 : typeof value === 'boolean' ? false : '');
};

/** Changes that most fields allow. */
const gentle: Changes = { drop, null: (node) => put(node, null), empty };

/** Changes that the servers refuse in some writes. A body gets at most one, because Go finds them in random order. */
const faults: Changes = {
  ...gentle,
  wrong: (node) => {
    // The real server does not answer if a merge key is not a string. For times, its messages differ.
    if (!keys.has(node.name) && !node.name.endsWith('Time'))
      put(node, typeof node.value === 'string' ? {} : 'x');
  },
  unknown: ({ value }) => {
    if (isObject(value)) value['unknown'] = 'x';
  },
  repeat: ({ value }) => {
    if (Array.isArray(value) && value.length > 0) value.push(structuredClone(value[0]));
  },
};

/** Changes to the directives of a strategic merge patch. */
const directives: Changes = {
  replace: ({ value }) => {
    if (Array.isArray(value)) value.push({ $patch: 'replace' });
    else if (isObject(value)) value['$patch'] = 'replace';
  },
  delete: ({ value }) => {
    if (isObject(value)) value['$patch'] = 'delete';
  },
  retain: ({ value }) => {
    if (!isObject(value)) return;
    const names = Object.keys(value);
    if (names.length > 0) value['$retainKeys'] = names;
  },
  order: ({ parent, name, value }) => {
    const isOrdered = name in mergeKeys || name === 'finalizers';
    if (!isOrdered || !Array.isArray(value) || Array.isArray(parent)) return;
    parent[`$setElementOrder/${name}`] = value.map((item) => keysOf(item, name)).reverse();
  },
  deleteItems: (node) => {
    const { parent, name, value } = node;
    if (!Array.isArray(value) || Array.isArray(parent) || value.some(isContainer)) return;
    parent[`$deleteFromPrimitiveList/${name}`] = value;
    drop(node);
  },
};

/** Merge keys of lists whose items a patch merges, and may order. */
const mergeKeys: Readonly<Partial<Record<string, string>>> = {
  volumeMounts: 'mountPath',
  hostAliases: 'ip',
  podIPs: 'ip',
  topologySpreadConstraints: 'topologyKey',
  conditions: 'type',
  ownerReferences: 'uid',
  ports: 'containerPort',
  ...Object.fromEntries(
    [
      'containers',
      'initContainers',
      'env',
      'volumes',
      'imagePullSecrets',
      'secrets',
      'webhooks',
    ].map((list) => [list, 'name']),
  ),
};

/** Returns the entry for an item of a list in `$setElementOrder`: its merge key, or the item itself. */
function keysOf(item: unknown, list: string): unknown {
  const { [list]: key } = mergeKeys;
  if (!isObject(item) || key === undefined) return item;
  const own = key in item || list !== 'ports' ? key : 'port';
  return { [own]: item[own] };
}

interface Drawn {
  readonly changes: Changes;
  readonly minLength?: number;
  readonly maxLength: number;
  /** Leaves the items of lists and their merge keys unchanged. */
  readonly keepsItems?: boolean;
}

const changed = (
  body: Arbitrary<Body>,
  { changes, keepsItems = false, ...limits }: Drawn,
): Arbitrary<Body> => {
  const drawn = fc.array(fc.tuple(fc.constantFrom(...Object.keys(changes)), fc.nat(99)), limits);
  return fc.tuple(body, drawn).map(([value, list]) => {
    const result = structuredClone(value) as Record<string, unknown>;
    for (const [name, at] of list) {
      const nodes = [...nodesOf(result)].filter((node) => !keepsItems || !isOfItem(node));
      const node = nodes[at % nodes.length];
      if (node !== undefined) changes[name]?.(node);
    }
    return result;
  });
};

const keys: ReadonlySet<string> = new Set(
  ['name', 'k', 'port', 'containerPort', 'protocol', ...Object.values(mergeKeys)].map(String),
);

/** Whether a value is an item of a list, or a merge key of such an item. */
function isOfItem({ parent, pointer, name }: Node): boolean {
  return Array.isArray(parent) || (keys.has(name) && /\/\d+\/.*[^/]+$/.test(pointer));
}

/** Bodies as they are, or with few changes of their values: nulls, unknown fields, missing and repeated ones. */
export const withChanges = (body: Arbitrary<Body>): Arbitrary<Body> => {
  const gently = changed(body, { changes: gentle, maxLength: 2, keepsItems: true });
  return fc.oneof(body, gently, changed(gently, { changes: faults, maxLength: 1 }));
};

/** Bodies with directives of a strategic merge patch. */
export const withDirectives = (body: Arbitrary<Body>): Arbitrary<Body> =>
  changed(withChanges(body), { changes: directives, maxLength: 2 });

/** Bodies with few of their fields. */
export const withFewFields = (body: Arbitrary<Body>): Arbitrary<Body> =>
  changed(body, { changes: { drop }, minLength: 2, maxLength: 12, keepsItems: true });

/** JSON patches of up to three operations at places of `body`. */
export const operationsOf = (body: Arbitrary<Body>): Arbitrary<Body[]> => {
  const names = ['add', 'add', 'replace', 'remove', 'test', 'copy', 'move'];
  const drawn = fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(99), fc.nat(99)), {
    ...{ minLength: 1, maxLength: 3 },
  });
  return fc.tuple(body, drawn).map(([value, list]) => {
    const nodes = [...nodesOf(structuredClone(value))];
    return list.flatMap(([op, at, other]) => {
      const scalars = nodes.filter((each) => !isContainer(each.value));
      const [node, source] = [nodes[at % nodes.length], scalars[other % scalars.length]];
      if (node === undefined || source === undefined) return [];
      const path =
        Array.isArray(node.parent) && at % 2 === 0
          ? node.pointer.replace(/\d+$/, '-')
          : node.pointer;
      if (op === 'remove') return [{ op, path }];
      if (op === 'copy' || op === 'move') return [{ op, path, from: source.pointer }];
      return [{ op, path, value: node.value }];
    });
  });
};

/** Returns a body without members that are empty lists or maps. */
export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isContainer(value)) return value;
  const kept = Object.entries(value).filter(
    ([, member]) => !isContainer(member) || Object.keys(member).length > 0,
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutEmpty(member)]));
}
