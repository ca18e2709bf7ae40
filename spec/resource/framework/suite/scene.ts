import omit from 'lodash/omit.js';
import type { Client } from '../../../../lib/client/index.js';
import { ensureCrd } from '../../../../lib/client/index.js';
import type { ObjectEvent, Recorder } from '../../../../lib/events/index.js';
import { findCondition } from '../../../../lib/object/conditions.js';
import type { Condition } from '../../../../lib/object/conditions.js';
import { isNotFound } from '../../../../lib/object/api-error.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import { Framework, ResourceRouter, ResourceSet } from '../../../../lib/resource/index.js';
import type {
  FrameworkOptions,
  Resource,
  ResourceContext,
} from '../../../../lib/resource/index.js';
import type { FrameworkRunOptions } from '../../../../lib/resource/framework/framework.js';
import { sleep } from '../../../../lib/system/clock.js';
import type { LogFields, Logger } from '../../../../lib/system/logger.js';
import { OperatorError } from '../../../../lib/system/operator-error.js';
import { VirtualClock } from '../../../../lib/system/virtual-clock.js';
import type { BuilderTarget, Operator, ServedRequest } from '../../../builder/suite/target.js';
import { crdOf, gadgetKinds, typeOf } from './gadget.js';
import type { Gadget, GadgetKind } from './gadget.js';

/** A running framework. */
export interface RunningFramework {
  readonly framework: Framework<Gadget>;
  /** Stops the framework; resolves when all its work has ended. */
  stop(): Promise<void>;
  /** The error that `run` threw, once it has ended by itself. */
  failure(): unknown;
}

/** Options of a spec's framework. */
export interface SceneFramework extends Partial<FrameworkOptions<Gadget>> {
  readonly resources?: readonly Resource<Gadget>[];
  readonly run?: FrameworkRunOptions;
}

/** Installs the specs' kinds. */
export async function installKinds({ admin, clock }: BuilderTarget): Promise<void> {
  for (const kind of Object.keys(gadgetKinds) as GadgetKind[]) {
    await ensureCrd(admin, crdOf(kind), { clock });
  }
}

/** A namespace, an operator, and records of what they do. */
export class Scene {
  readonly target: BuilderTarget;
  readonly operator: Operator;
  readonly namespace: string;
  /** Calls that resources recorded, in order. */
  readonly calls: string[] = [];
  readonly events: ObjectEvent[] = [];
  /** Logged lines as `level: message`. */
  readonly lines: string[] = [];
  readonly #running: RunningFramework[] = [];

  private constructor(parts: Pick<Scene, 'target' | 'operator' | 'namespace'>) {
    this.target = parts.target;
    this.operator = parts.operator;
    this.namespace = parts.namespace;
  }

  static async open(target: BuilderTarget): Promise<Scene> {
    const [operator, namespace] = await Promise.all([target.operator(), target.namespace()]);
    return new Scene({ target, operator, namespace });
  }

  get admin(): Client {
    return this.target.admin;
  }

  get recorder(): Recorder {
    return { record: (event) => void this.events.push(event) };
  }

  get logger(): Logger {
    const note = (level: string) => (message: string, fields?: LogFields) => {
      const error = fields?.['error'];
      const why = error instanceof Error ? ` ${error.message}` : '';
      this.lines.push(`${level}: ${message}${why}`);
    };
    const logger: Logger = {
      ...{ debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') },
      child: () => logger,
    };
    return logger;
  }

  /** Returns a resource that records its calls and runs the given functions. */
  resource(name: string, act: ResourceActs = {}): Resource<Gadget> {
    const noted = (verb: string, then: ResourceAct | undefined) => {
      return async (context: ResourceContext, object: Gadget): Promise<void> => {
        this.calls.push(`${name} ${verb} ${object.metadata.name ?? ''}`);
        await then?.(context, object);
      };
    };
    return {
      name,
      ensureCreated: noted('created', act.created),
      ensureDeleted: noted('deleted', act.deleted),
    };
  }

  framework(options: SceneFramework = {}): Framework<Gadget> {
    const { resources = [this.resource('r1')], ...own } = omit(options, 'run');
    const set = (): ResourceSet<Gadget> =>
      new ResourceSet({ name: 'all', handles: () => true, resources });
    const { resourceRouter = new ResourceRouter({ resourceSets: [set()] }) } = own;
    return new Framework<Gadget>({
      ...{ name: 'shop', type: typeOf('Gadget'), client: this.operator.client },
      ...{ clock: this.target.clock, recorder: this.recorder, logger: this.logger },
      ...{ keptFinalizerRetryMs: 200, ...own, resourceRouter },
    });
  }

  /** Runs a framework until the end of the scene. */
  run(options: SceneFramework = {}): RunningFramework {
    const framework = this.framework(options);
    const ending = new AbortController();
    let failure: unknown;
    const cacheOptions = { namespaces: [this.namespace] };
    const ended = framework
      .run(ending.signal, { cacheOptions, rbacPreflight: 'off', ...options.run })
      .catch((error: unknown) => {
        failure = error;
      });
    const running: RunningFramework = {
      framework,
      failure: () => failure,
      stop: async () => {
        ending.abort(new OperatorError('Stopped', 'the spec is over'));
        const { clock } = this.target;
        const state = { isOver: false };
        void ended.then(() => (state.isOver = true));
        // Release frameworks that wait for the clock.
        while (!state.isOver && clock instanceof VirtualClock) await this.pass(1_000);
        await ended;
      },
    };
    this.#running.push(running);
    return running;
  }

  async close(): Promise<void> {
    for (const running of this.#running) await running.stop();
  }

  /** Advances time. */
  async pass(ms: number): Promise<void> {
    const { clock } = this.target;
    await (clock instanceof VirtualClock ? clock.advance(ms) : sleep(clock, ms));
  }

  /** Waits until `check` neither throws nor returns false; time advances meanwhile. */
  async until(check: () => unknown, within = 200): Promise<void> {
    for (let round = 0; ; round++) {
      try {
        if ((await check()) !== false) return;
        throw new Error(`it does not hold: ${check.toString()}; calls: ${this.calls.join(', ')}`);
      } catch (error) {
        if (round >= within) throw error;
      }
      await this.pass(this.target.real ? 50 : 20);
    }
  }

  /** Waits until no requests or events occur for a while. */
  async calm(): Promise<void> {
    const state = (): number => this.calls.length + this.events.length + this.lines.length;
    for (let before = -1; before !== state();) {
      before = state();
      await this.pass(this.target.real ? 400 : 150);
    }
  }

  create(name: string, parts: Partial<Gadget> = {}, kind: GadgetKind = 'Gadget'): Promise<Gadget> {
    const { metadata, ...rest } = parts;
    const { namespace } = this;
    return this.admin.create<Gadget>({
      ...typeOf(kind),
      ...rest,
      metadata: { ...metadata, namespace, name },
    });
  }

  get(name: string, kind: GadgetKind = 'Gadget'): Promise<Gadget> {
    return this.admin.get<Gadget>(typeOf(kind), { namespace: this.namespace, name });
  }

  async find(name: string, kind: GadgetKind = 'Gadget'): Promise<Gadget | undefined> {
    return this.get(name, kind).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  }

  async isGone(name: string, kind: GadgetKind = 'Gadget'): Promise<boolean> {
    return (await this.find(name, kind)) === undefined;
  }

  async edit(name: string, body: object, kind: GadgetKind = 'Gadget'): Promise<void> {
    const key = { namespace: this.namespace, name };
    await this.admin.patch(typeOf(kind), key, { type: 'merge', body });
  }

  annotate(
    name: string,
    annotations: Record<string, string | null>,
    kind: GadgetKind = 'Gadget',
  ): Promise<void> {
    return this.edit(name, { metadata: { annotations } }, kind);
  }

  async delete(name: string, kind: GadgetKind = 'Gadget'): Promise<void> {
    await this.admin.delete(typeOf(kind), { namespace: this.namespace, name });
  }

  async condition(name: string, type: string): Promise<Condition | undefined> {
    return findCondition((await this.get(name)).status?.conditions, type);
  }

  /** Returns the operator's requests since the last call, without watches and leases. */
  async requests(): Promise<readonly ServedRequest[]> {
    const all = await this.operator.requests();
    return all.filter(({ verb, resource }) => verb !== 'watch' && resource !== '');
  }

  /** Returns the events so far: `Warning ResourceFailed: note`. */
  recorded(): string[] {
    return this.events.map(({ type, reason, note }) => `${type} ${reason}: ${note}`);
  }
}

/** Functions of a resource of {@link Scene.resource}. */
export interface ResourceActs {
  readonly created?: ResourceAct;
  readonly deleted?: ResourceAct;
}

type ResourceAct = (context: ResourceContext, object: Gadget) => Promise<void> | void;

/** Opens a scene; it is closed after the spec. */
export type OpenScene = () => Promise<Scene>;

/** Creates {@link OpenScene} in a `describe`. */
export function scenes(newTarget: () => Promise<BuilderTarget>): OpenScene {
  let target: BuilderTarget;
  const opened: Scene[] = [];
  before(async () => {
    target = await newTarget();
    await installKinds(target);
  });
  afterEach(async () => {
    for (const scene of opened.splice(0)) await scene.close();
  });
  after(() => target.close());
  return async () => {
    const scene = await Scene.open(target);
    opened.push(scene);
    return scene;
  };
}

/** Returns the names of an object's finalizers. */
export function finalizersOf({ metadata }: KubernetesObject): readonly string[] {
  return metadata.finalizers ?? [];
}
