import type { Json } from './json-values.js';
import { objectAt, objectMadeAt, textAt } from './json-values.js';
import { effectiveNamespace, groupVersionOf } from './resource-id.js';
import type { ResourceId } from './resource-id.js';

/** An object during a build: changed in place; keeps its previous names. */
export class Resource {
  /** Previous identities, the first one first. */
  readonly previousIds: ResourceId[] = [];
  readonly prefixes: string[] = [];
  readonly suffixes: string[] = [];
  readonly object: Json;
  /** Whether its name ends with a hash of its content. */
  readonly needsHash: boolean;

  /** @param object - changed in place */
  constructor(object: Json, needsHash = false) {
    this.object = object;
    this.needsHash = needsHash;
  }

  get metadata(): Json {
    return objectMadeAt(this.object, 'metadata');
  }

  get name(): string {
    return textAt(this.metadata, 'name');
  }

  set name(name: string) {
    this.metadata['name'] = name;
  }

  get namespace(): string {
    return textAt(objectAt(this.object, 'metadata'), 'namespace');
  }

  /** Current identity. */
  get id(): ResourceId {
    const kind = textAt(this.object, 'kind');
    const { name, namespace } = this;
    return { ...groupVersionOf(textAt(this.object, 'apiVersion')), kind, name, namespace };
  }

  /** First identity. */
  get originalId(): ResourceId {
    return this.previousIds[0] ?? this.id;
  }

  /** Current and previous identities. */
  get ids(): readonly ResourceId[] {
    return [this.id, ...this.previousIds];
  }

  /** Records the current identity before a change. */
  remember(): void {
    const { id } = this;
    this.previousIds.push({ ...id, namespace: effectiveNamespace(id) });
  }
}
