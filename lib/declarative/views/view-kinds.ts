import type { Client } from '../../client/client.js';
import { pluralOf } from '../../crd/definition/plural-of.js';
import { whenEstablished } from '../../embedded/established.js';
import { isNotFound } from '../../object/api-error.js';
import { CustomResourceDefinition } from '../../object/kinds.js';
import { dns1035LabelProblem, dns1123SubdomainProblem } from '../../object/names.js';
import { keyOf } from '../../object/object-key.js';
import { apiVersionOf } from '../../object/resource-type.js';
import type { ResourceType } from '../../object/resource-type.js';
import { OperatorError } from '../../system/operator-error.js';
import { Turns } from '../../system/turns.js';
import { viewGroupOf } from '../spec/operator-spec.js';
import { viewDefinition, viewType } from './view-definition.js';

/** A kind that is served. */
interface ServedView {
  readonly type: ResourceType;
  /** Its plural for kubectl, unless another kind has that name. */
  shortName: string | undefined;
}

/** The kinds of views that a server serves: it gets them, and loses them, through here. */
export class ViewKinds {
  readonly #client: Client;
  /** By operator and kind. */
  readonly #served = new Map<string, Map<string, ServedView>>();
  /** What changes the kinds of an operator, one at a time. */
  readonly #turns = new Turns();

  /** @param client - of the server */
  constructor(client: Client) {
    this.#client = client;
  }

  /** The kinds that are served, of one operator or of all. */
  types(operator?: string): readonly ResourceType[] {
    const chosen = operator === undefined ? [...this.#served.keys()] : [operator];
    return chosen.flatMap((name) => this.#of(name).map(({ type }) => type));
  }

  /** Where a kind is served; undefined: it isn't. */
  find(operator: string, kind: string): ResourceType | undefined {
    return this.#served.get(operator)?.get(kind)?.type;
  }

  /** Serves a kind, unless it is. @throws OperatorError `InvalidObject`: it can't be served. */
  ensure(operator: string, kind: string): Promise<ResourceType> {
    // In turn, also where it is there: a drop may have been asked for before.
    return this.#turns.run(operator, async () => {
      return this.find(operator, kind) ?? (await this.#make(operator, kind));
    });
  }

  /** Serves no kind of an operator any more; their objects are gone then. */
  async drop(operator: string): Promise<void> {
    await this.#turns.run(operator, async () => {
      const types = this.types(operator);
      // Calls fail from now on, and those that are under way find nothing.
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
    // The longest name is that of lists.
    const problem =
      dns1123SubdomainProblem(viewGroupOf(operator)) ??
      dns1035LabelProblem(kind.toLowerCase()) ??
      dns1035LabelProblem(`${kind}List`.toLowerCase());
    if (problem !== undefined) throw new OperatorError('InvalidObject', `${what}: ${problem}`);
    const { plural } = viewType(operator, kind);
    const other = this.#of(operator).find(({ type }) => type.plural === plural);
    if (other === undefined) return;
    const message = `${what}: ${other.type.kind} is served by the same name, ${plural}`;
    throw new OperatorError('InvalidObject', message);
  }

  /** Takes a name from the kind that has it as its plural only. */
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
    // Objects with finalizers hold it: whoever set them is gone, or has no say in what is memory.
    const { items = [] } = (await unlessGone(this.#client.list(type))) ?? {};
    const body = { metadata: { finalizers: null } };
    const freed = items.map(({ metadata: { namespace, name = '' } }) => {
      const at = { ...type, namespaced: namespace !== undefined };
      return this.#client.patch(at, { namespace, name }, { type: 'merge', body });
    });
    await Promise.all(freed.map((patched) => unlessGone(patched)));
  }
}

/** What `call` resolves with; undefined: there is no such thing any more. */
async function unlessGone<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
}

/** The error of a kind that is not served. */
export function unknownView(type: ResourceType | { apiVersion: string; kind: string }): Error {
  const message = `${type.kind} of ${apiVersionOf(type)}: there is no such view (its operator is not loaded, or writes no ${type.kind})`;
  return new OperatorError('UnknownKind', message);
}
