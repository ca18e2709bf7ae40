import type { Client } from '../../client/index.js';
import { whenEstablished } from '../../apiserver/internal.js';
import {
  isNotFound,
  CustomResourceDefinition,
  dns1035LabelProblem,
  dns1123SubdomainProblem,
  keyOf,
  apiVersionOf,
  pluralOf,
} from '../../object/index.js';
import type { ResourceType } from '../../object/index.js';
import { OperatorError, Turns } from '../../system/index.js';
import { viewGroupOf } from '../spec/operator-spec.js';

/** A served kind. */
interface ServedView {
  readonly type: ResourceType;
  /** The English plural, for kubectl; undefined if another kind has that name. */
  shortName: string | undefined;
}

/** Adds and removes the kinds of views that a server serves. */
export class ViewKinds {
  readonly #client: Client;
  /** The served views, by operator and then by kind. */
  readonly #served = new Map<string, Map<string, ServedView>>();
  /** Runs the changes of the kinds of one operator in sequence. */
  readonly #turns = new Turns();

  /** @param client - a client of the server of views */
  constructor(client: Client) {
    this.#client = client;
  }

  /** Returns the served kinds of one operator, or of all. */
  types(operator?: string): readonly ResourceType[] {
    const chosen = operator === undefined ? [...this.#served.keys()] : [operator];
    return chosen.flatMap((name) => this.#of(name).map(({ type }) => type));
  }

  /** Returns the type of a served kind; undefined: not served. */
  find(operator: string, kind: string): ResourceType | undefined {
    return this.#served.get(operator)?.get(kind)?.type;
  }

  /** Serves a kind, if it is not served yet. @throws OperatorError `InvalidObject`: the kind is invalid. */
  ensure(operator: string, kind: string): Promise<ResourceType> {
    // Wait for earlier changes even if the kind is served: a drop of the kind may be pending.
    return this.#turns.run(operator, async () => {
      return this.find(operator, kind) ?? (await this.#make(operator, kind));
    });
  }

  /** Removes all kinds of an operator, with their objects. */
  async drop(operator: string): Promise<void> {
    await this.#turns.run(operator, async () => {
      const types = this.types(operator);
      // New calls fail from here on; calls under way find no objects.
      this.#served.delete(operator);
      await Promise.all(types.map((type) => this.#remove(type)));
    });
  }

  #of(operator: string): readonly ServedView[] {
    return [...(this.#served.get(operator)?.values() ?? [])];
  }

  async #make(operator: string, kind: string): Promise<ResourceType> {
    this.#check(operator, kind);
    const type = viewType(operator, kind);
    await this.#freeName(operator, type.plural);
    const shortName = this.#shortNameOf(operator, type.plural);
    const definition = viewDefinition(type, shortName);
    await this.#client.create(definition);
    try {
      await whenEstablished(this.#client, definition);
    } catch (error) {
      await this.#client.delete(CustomResourceDefinition, keyOf(definition));
      throw error;
    }
    const kinds = this.#served.get(operator) ?? new Map<string, ServedView>();
    this.#served.set(operator, kinds.set(kind, { type, shortName }));
    return type;
  }

  #check(operator: string, kind: string): void {
    const what = `view ${kind} of operator ${operator}`;
    // The kind of a list, `<kind>List`, must be valid too.
    const problem =
      dns1123SubdomainProblem(viewGroupOf(operator)) ??
      dns1035LabelProblem(kind.toLowerCase()) ??
      dns1035LabelProblem(`${kind}List`.toLowerCase());
    if (problem !== undefined) throw new OperatorError('InvalidObject', `${what}: ${problem}`);
    const { plural } = viewType(operator, kind);
    const other = this.#of(operator).find(({ type }) => type.plural === plural);
    if (other === undefined) return;
    const message = `${what}: ${other.type.kind} is served under the same name, ${plural}; rename one of them`;
    throw new OperatorError('InvalidObject', message);
  }

  /** Removes `name` from the kind that has it as a short name: the name of a kind takes precedence. */
  async #freeName(operator: string, name: string): Promise<void> {
    for (const view of this.#of(operator)) {
      if (view.shortName !== name) continue;
      const key = keyOf(viewDefinition(view.type, undefined));
      const body = { spec: { names: { shortNames: [] } } };
      await this.#client.patch(CustomResourceDefinition, key, { type: 'merge', body });
      view.shortName = undefined;
    }
  }

  #shortNameOf(operator: string, name: string): string | undefined {
    const plural = pluralOf(name);
    const isTaken = this.#of(operator).some(
      ({ type, shortName }) => type.plural === plural || shortName === plural,
    );
    return isTaken ? undefined : plural;
  }

  async #remove(type: ResourceType): Promise<void> {
    await this.#client.delete(CustomResourceDefinition, keyOf(viewDefinition(type, undefined)));
    // Finalizers would keep the objects. No controller removes the finalizers: views are in memory only.
    const { items = [] } = (await unlessGone(this.#client.list(type))) ?? {};
    const body = { metadata: { finalizers: null } };
    const freed = items.map(({ metadata: { namespace, name = '' } }) => {
      const at = { ...type, namespaced: namespace !== undefined };
      return this.#client.patch(at, { namespace, name }, { type: 'merge', body });
    });
    await Promise.all(freed.map((patched) => unlessGone(patched)));
  }
}

/** Returns the result of `call`; undefined: not found. */
async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** Returns the error for a kind that is not served. */
export function unknownView(type: ResourceType | { apiVersion: string; kind: string }): Error {
  const message = `${type.kind} of ${apiVersionOf(type)}: there is no such view (its operator is not loaded, or writes no ${type.kind})`;
  return new OperatorError('UnknownKind', message);
}

/** The only version of every view. */
export const viewVersion = 'v1alpha1';

/**
 * Returns the resource type of a kind of views. The plural in URLs is the kind in lower case. The type is
 * namespaced, but a view may have no namespace.
 */
function viewType(operator: string, kind: string): ResourceType {
  const group = viewGroupOf(operator);
  return { group, version: viewVersion, kind, plural: kind.toLowerCase(), namespaced: true };
}

/** Fields that field selectors of views support, besides `metadata.name` and `metadata.namespace`. */
const selectableFields = [{ jsonPath: '.status.phase' }, { jsonPath: '.status.ready' }];

/**
 * Returns the definition of a kind of views: objects with any fields. It has no status subresource: a
 * write replaces the whole view.
 * @param shortName - a further name for kubectl; undefined: no short name
 */
function viewDefinition(
  { group, version, kind, plural }: ResourceType,
  shortName: string | undefined,
): CustomResourceDefinition {
  const names = { kind, plural, singular: plural, listKind: `${kind}List` };
  const shortNames = shortName === undefined ? [] : [shortName];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { ...names, shortNames },
      versions: [
        {
          ...{ name: version, served: true, storage: true, selectableFields },
          schema: {
            openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          },
        },
      ],
    },
  };
}
