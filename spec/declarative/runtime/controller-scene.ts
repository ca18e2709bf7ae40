import { expect } from 'chai';
import type { Client } from '../../../lib/client/client.js';
import { DeclarativeController } from '../../../lib/declarative/runtime/declarative-controller.js';
import type { DeclarativeControllerOptions } from '../../../lib/declarative/runtime/controller-options.js';
import type { ReportedError } from '../../../lib/declarative/runtime/reported-errors.js';
import type { ControllerSpec } from '../../../lib/declarative/spec/operator-spec.js';
import { readOperatorSpec } from '../../../lib/declarative/spec/read-operator-spec.js';
import { compileContext } from '../../../lib/declarative/spec-problem.js';
import type { SpecProblem } from '../../../lib/declarative/spec-problem.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { DeclarativeManagerOptions } from '../../../lib/declarative/views/index.js';
import type { EmbeddedClusterOptions } from '../../../lib/apiserver/cluster/embedded-cluster-options.js';
import { isNotFound } from '../../../lib/object/api-error.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import { systemClock } from '../../../lib/system/clock.js';
import { ManagerSetup, rememberingLogger } from '../../manager/manager-setup.js';

export type Thing = UnstructuredObject;

/** The apiVersion of the views of the operator `op`. */
export const views = 'op.view.dcontroller.io/v1alpha1';

/** Declarative controllers of the operator `op` on an embedded cluster with a virtual clock. */
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

  /** Starts another process on an existing cluster. */
  static async on(
    base: ManagerSetup,
    options: Partial<DeclarativeManagerOptions> = {},
  ): Promise<ControllerScene> {
    const { client, clock } = base;
    const logger = rememberingLogger(base.lines);
    const manager = await DeclarativeManager.create({ client, clock, logger, ...options });
    return new ControllerScene(base, manager);
  }

  /** A client of the administrator, which routes views to their server. */
  get client(): Client {
    return this.manager.views.route(this.base.person);
  }

  /** Creates a controller from a specification as in YAML; sends no requests. */
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

  /** Starts controllers, runs the manager, and waits for the initial reconcile. */
  async run(...specs: readonly object[]): Promise<readonly DeclarativeController[]> {
    const controllers = specs.map((spec) => this.controller(spec));
    for (const controller of controllers) await controller.start();
    await this.base.run(this.manager);
    await this.during(Promise.all(controllers.map((controller) => controller.whenSynced())));
    return controllers;
  }

  /** Waits for `promise` without advancing time. */
  async during<T>(promise: Promise<T>): Promise<T> {
    const settled = { is: false };
    const note = (): void => void (settled.is = true);
    promise.then(note, note);
    await this.base.until(() => settled.is);
    return promise;
  }

  /** Retries `check` until it passes, advancing the clock by `stepMs` each time. */
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

  /** Waits without advancing time until the queues are empty. */
  async settled(): Promise<void> {
    const active = (): boolean =>
      this.manager.status().controllers.some(({ depth, active }) => depth + active.length > 0);
    for (let calm = 0; calm < 5;) {
      await this.base.clock.advance(0);
      calm = active() ? 0 : calm + 1;
    }
  }

  /** Creates or replaces an object. */
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

  /** Returns all objects of a kind by name. */
  async all(type: { apiVersion: string; kind: string }): Promise<Readonly<Record<string, Thing>>> {
    const { items } = await this.client.list<Thing>(type);
    return Object.fromEntries(items.map((item) => [item.metadata.name ?? '', item]));
  }

  /** Returns the sorted names of all objects of a kind. */
  async names(type: { apiVersion: string; kind: string }): Promise<readonly string[]> {
    return Object.keys(await this.all(type)).sort();
  }

  /** Formats the condition of a controller as status and reason. */
  ready(controller: DeclarativeController): string {
    const [condition] = controller.status().conditions;
    return `${condition?.status ?? 'none'} ${condition?.reason ?? ''}`;
  }

  /** Stops the process, and expects no timers to remain. */
  async end(): Promise<void> {
    expect(await this.base.end()).to.equal(undefined);
    expect(this.base.clock.pendingTimers).to.equal(0);
  }
}

/** Parses a controller of an operator file. */
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

/** A ConfigMap in the namespace `default`. */
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

/** Copies name and namespace. */
export const sameName = { name: '$.metadata.name', namespace: '$.metadata.namespace' };
