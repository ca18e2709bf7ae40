import { enqueueOwner, kindSource } from '../controller/index.js';
import type { Source, SourceContext, StartedSource } from '../controller/index.js';
import type { KubernetesObject, TypeReference } from '../object/index.js';
import { apiVersionOf } from '../object/index.js';

/**
 * Watches the kinds of owned objects, which become known over time. Each is watched from then on, in every
 * cluster where the source was started; events of its objects reconcile their owners.
 */
export class OwnedKinds implements Source {
  readonly name = 'owned kinds';
  readonly #owner: TypeReference<KubernetesObject>;
  readonly #registrator: ((type: TypeReference<KubernetesObject>) => void) | undefined;
  readonly #sources = new Map<string, Source>();
  readonly #types = new Map<string, TypeReference<KubernetesObject>>();
  readonly #places = new Map<SourceContext, Map<string, StartedSource>>();

  constructor(
    owner: TypeReference<KubernetesObject>,
    registrator: ((type: TypeReference<KubernetesObject>) => void) | undefined,
  ) {
    this.#owner = owner;
    this.#registrator = registrator;
  }

  get types(): readonly TypeReference<KubernetesObject>[] {
    return [...this.#types.values()];
  }

  /** Adds watches for these kinds, except those that are already watched. */
  add(types: readonly TypeReference<KubernetesObject>[]): void {
    for (const type of types) {
      const name = `${apiVersionOf(type)} ${type.kind}`;
      if (this.#sources.has(name)) continue;
      this.#registrator?.(type);
      const source = kindSource(type, { mapper: enqueueOwner(this.#owner) });
      this.#sources.set(name, source);
      this.#types.set(name, type);
      if (this.#registrator !== undefined) continue;
      for (const [context, started] of this.#places) started.set(name, source.start(context));
    }
  }

  start(context: SourceContext): StartedSource {
    const started = new Map<string, StartedSource>();
    this.#places.set(context, started);
    if (this.#registrator === undefined) {
      for (const [name, source] of this.#sources) started.set(name, source.start(context));
    }
    return {
      status: () => ({
        problem: [...started.values()].map((each) => each.status?.().problem).find(Boolean),
      }),
      replay: (trigger) => {
        for (const each of started.values()) each.replay?.(trigger);
      },
      stop: async () => {
        this.#places.delete(context);
        await Promise.all([...started.values()].map(async (each) => each.stop()));
      },
    };
  }
}
