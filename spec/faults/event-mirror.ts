import { expect } from 'chai';
import type { CacheEvent } from '../../lib/cache/informer.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { keyOf, keyString } from '../../lib/object/object-key.js';

/** Rebuilds a collection from the events of a cache, and records each inconsistent event. */
export class EventMirror {
  readonly objects = new Map<string, KubernetesObject>();
  readonly events: CacheEvent[] = [];
  readonly problems: string[] = [];
  /** `uid@version` of every object that was added or updated. */
  readonly versions = new Set<string>();

  readonly take = (event: CacheEvent): void => {
    this.events.push(event);
    const key = keyString(keyOf(event.object));
    const known = this.objects.get(key);
    const version = versionOf(event.object);
    if (event.type === 'deleted') {
      this.#check(known?.metadata.uid === event.object.metadata.uid, `deleted ${key}: not there`);
      this.objects.delete(key);
      return;
    }
    if (event.type === 'added') this.#check(known === undefined, `added ${key} twice`);
    else
      this.#check(known !== undefined && versionOf(event.old) === versionOf(known), `old ${key}`);
    this.#check(!this.versions.has(version), `${key} at ${version} twice`);
    this.versions.add(version);
    this.objects.set(key, event.object);
  };

  /** Returns the names of the objects deleted since `mark`, and whether their final state is unknown. */
  deletionsSince(mark: number): readonly (readonly [string | undefined, boolean])[] {
    return this.events
      .slice(mark)
      .flatMap((event) =>
        event.type === 'deleted' ? [[event.object.metadata.name, event.finalStateUnknown]] : [],
      );
  }

  /** Checks that the events are consistent and yield the objects in `live`. */
  verify(live: readonly KubernetesObject[]): void {
    expect(this.problems).to.deep.equal([]);
    expect([...this.objects.values()].map(versionOf).sort()).to.deep.equal(
      live.map(versionOf).sort(),
    );
  }

  #check(holds: boolean, problem: string): void {
    if (!holds) this.problems.push(problem);
  }
}

function versionOf({ metadata: { uid = '', resourceVersion = '' } }: KubernetesObject): string {
  return `${uid}@${resourceVersion}`;
}
