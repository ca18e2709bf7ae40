import type { Json } from './json-values.js';
import { objectAt, objectMadeAt, textAt } from './json-values.js';
import { effectiveNamespace, groupVersionOf } from './resource-id.js';
import type { ResourceId } from './resource-id.js';

/** An object on its way through kustomizations: it is changed in place, and remembers what it was called. */
export class Resource {
  /** What it was called before, the first name first. */
  readonly previousIds: ResourceId[] = [];
  readonly prefixes: string[] = [];
  readonly suffixes: string[] = [];
  readonly object: Json;
  /** Whether its name is to end with a hash of what is in it. */
  readonly needsHash: boolean;

  /** @param object - is changed from now on. */
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

  /** What it is called now. */
  get id(): ResourceId {
    const kind = textAt(this.object, 'kind');
    const { name, namespace } = this;
    return { ...groupVersionOf(textAt(this.object, 'apiVersion')), kind, name, namespace };
  }

  /** What it was called at first. */
  get originalId(): ResourceId {
    return this.previousIds[0] ?? this.id;
  }

  /** What it is and was called. */
  get ids(): readonly ResourceId[] {
    return [this.id, ...this.previousIds];
  }

  /** Remembers what it is called now: it is about to change. */
  remember(): void {
    const { id } = this;
    this.previousIds.push({ ...id, namespace: effectiveNamespace(id) });
  }
}
