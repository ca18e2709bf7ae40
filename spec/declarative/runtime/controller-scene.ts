import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import type { DeclarativeControllerOptions } from '../../../lib/declarative/runtime/controller-options.js';
import type { ReportedError } from '../../../lib/declarative/runtime/controller-status.js';
import type { ControllerSpec } from '../../../lib/declarative/spec/operator-spec.js';
import { readOperatorSpec } from '../../../lib/declarative/spec/read-operator-spec.js';
import { compileContext } from '../../../lib/declarative/spec-problem.js';
import type { SpecProblem } from '../../../lib/declarative/spec-problem.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { DeclarativeManagerOptions } from '../../../lib/declarative/views/index.js';
import type { EmbeddedClusterOptions } from '../../../lib/embedded/embedded-cluster-options.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { systemClock } from '../../../lib/system/clock.js';
import { ManagerSetup, rememberingLogger } from '../../manager/manager-setup.js';

/** An object of a spec. */
export type Thing = UnstructuredObject;

/** The apiVersion of the views of the operator `op`. */
export const views = 'op.view.dcontroller.io/v1alpha1';

/** Declarative controllers of the operator `op`, on an embedded cluster, by a clock of the spec's own. */
export class ControllerScene {
  readonly base: ManagerSetup;
  readonly manager: DeclarativeManager;
  readonly errors: ReportedError[] = [];
  readonly controllers: DeclarativeController[] = [];

  private constructor(base: ManagerSetup, manager: DeclarativeManager) {
    this.base = base;
    this.manager = manager;
  }

  static async start(
    options: Partial<DeclarativeManagerOptions> = {},
    cluster: EmbeddedClusterOptions = {},
  ): Promise<ControllerScene> {
    return ControllerScene.on(await ManagerSetup.start(cluster), options);
  }

  /** One more process on a cluster that is there. */
  static async on(
    base: ManagerSetup,
    options: Partial<DeclarativeManagerOptions> = {},
  ): Promise<ControllerScene> {
    const { client, clock } = base;
    const logger = rememberingLogger(base.lines);
    const manager = await DeclarativeManager.create({ client, clock, logger, ...options });
    return new ControllerScene(base, manager);
  }

  /** As the administrator, and for views as anybody. */
  get client(): Client {
    return this.manager.views.route(this.base.person);
  }

  /** A controller as YAML would have it; the API server is asked for nothing yet. */
  controller(
    spec: unknown,
    options: Partial<DeclarativeControllerOptions> = {},
  ): DeclarativeController {
    const { manager } = this;
    const onError = (error: ReportedError): void => void this.errors.push(error);
    const parts = { operator: 'op', manager, onError, spec: readController(spec) };
    const controller = new DeclarativeController({ ...parts, ...options });
    this.controllers.push(controller);
    return controller;
  }

  /** Starts controllers, runs the manager, and waits until what there is has been dealt with. */
  async run(...specs: readonly object[]): Promise<readonly DeclarativeController[]> {
    const controllers = specs.map((spec) => this.controller(spec));
    for (const controller of controllers) await controller.start();
    await this.base.run(this.manager);
    await this.during(Promise.all(controllers.map((controller) => controller.whenSynced())));
    return controllers;
  }

  /** Lets things happen, without time, until `promise` has settled. */
  async during<T>(promise: Promise<T>): Promise<T> {
    const settled = { is: false };
    const note = (): void => void (settled.is = true);
    promise.then(note, note);
    await this.base.until(() => settled.is);
    return promise;
  }

  /** Lets things happen, `stepMs` at a time, until `check` throws no more. */
  async eventually<T>(check: () => Promise<T> | T, stepMs = 0): Promise<T> {
    const endMs = systemClock.monotonicMs() + 10_000;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (systemClock.monotonicMs() > endMs) throw error;
      }
      await this.base.clock.advance(stepMs);
    }
  }

  /** Lets things happen, without time, until nothing does any more. */
  async settled(): Promise<void> {
    const active = (): boolean =>
      this.manager.status().controllers.some(({ depth, active }) => depth + active.length > 0);
    for (let calm = 0; calm < 5;) {
      await this.base.clock.advance(0);
      calm = active() ? 0 : calm + 1;
    }
  }

  /** Creates an object, or writes over the one that is there. */
  async put(object: Thing): Promise<Thing> {
    const { client } = this;
    const live = await this.get(object, keyOf(object));
    if (live === undefined) return client.create(object);
    const { resourceVersion = '' } = live.metadata;
    return client.update({ ...object, metadata: { ...object.metadata, resourceVersion } });
  }

  async get(
    type: { apiVersion: string; kind: string },
    key: ObjectKey,
  ): Promise<Thing | undefined> {
    try {
      return await this.client.get<Thing>(type, key);
    } catch (error) {
      if (isNotFound(error) || (error as { code?: unknown }).code === 'UnknownKind')
        return undefined;
      throw error;
    }
  }

  async delete(object: Thing): Promise<void> {
    await this.client.delete(object, keyOf(object));
  }

  /** All objects of a kind, by name. */
  async all(type: { apiVersion: string; kind: string }): Promise<Readonly<Record<string, Thing>>> {
    const { items } = await this.client.list<Thing>(type);
    return Object.fromEntries(items.map((item) => [item.metadata.name ?? '', item]));
  }

  /** The names of all objects of a kind, sorted. */
  async names(type: { apiVersion: string; kind: string }): Promise<readonly string[]> {
    return Object.keys(await this.all(type)).sort();
  }

  /** The condition of a controller: its status and reason. */
  ready(controller: DeclarativeController): string {
    const [condition] = controller.status().conditions;
    return `${condition?.status ?? 'none'} ${condition?.reason ?? ''}`;
  }

  /** Ends the process; nothing may be left of it. */
  async end(): Promise<void> {
    expect(await this.base.end()).to.equal(undefined);
    expect(this.base.clock.pendingTimers).to.equal(0);
  }
}

/** What a controller of an operator file is read as. */
export function readController(value: unknown): ControllerSpec {
  const problems: SpecProblem[] = [];
  const spec = readOperatorSpec({ controllers: [value] }, compileContext(problems));
  expect(problems).to.deep.equal([]);
  const [controller] = spec.controllers;
  if (controller === undefined) throw new Error('no controller');
  return controller;
}

function keyOf({ metadata }: Thing): ObjectKey {
  const { name = '', namespace = '' } = metadata;
  return namespace === '' ? { name } : { namespace, name };
}

/** A ConfigMap of the namespace `default`. */
export function configMap(
  name: string,
  data: Readonly<Record<string, string>> = {},
  metadata: object = {},
): Thing {
  const own = { name, namespace: 'default', ...metadata };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: own, data };
}

/** A view of the operator `op`, in the namespace `default`. */
export function view(kind: string, name: string, fields: object = {}): Thing {
  return { apiVersion: views, kind, metadata: { name, namespace: 'default' }, ...fields };
}

/** Passes name and namespace on. */
export const sameName = { name: '$.metadata.name', namespace: '$.metadata.namespace' };
