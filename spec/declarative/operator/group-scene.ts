import type { Client } from '../../../lib/client/index.js';
import { operatorCrdAccess, operatorCrdController } from '../../../lib/declarative/crd/index.js';
import { Group } from '../../../lib/declarative/operator/index.js';
import type { DeclarativeOperator } from '../../../lib/declarative/operator/index.js';
import type { OperatorDocument } from '../../../lib/declarative/crd/operator-resource.js';
import { DeclarativeManager } from '../../../lib/declarative/views/index.js';
import type { UnstructuredObject } from '../../../lib/object/kubernetes-object.js';
import type { JsonValue } from '../../../lib/object/json.js';
import { findCondition } from '../../../lib/object/conditions.js';
import { VirtualClock } from '../../../lib/system/virtual-clock.js';
import type { BuilderTarget, Operator as Writer } from '../../builder/suite/target.js';
import { isWrite } from '../../builder/suite/target.js';
import { rememberingLogger } from '../../manager/manager-setup.js';
import type { LogLine } from '../../manager/manager-setup.js';

export type Thing = UnstructuredObject;

/** A process that runs a group, in its own namespace. */
export class GroupScene {
  readonly target: BuilderTarget;
  readonly namespace: string;
  readonly writer: Writer;
  readonly manager: DeclarativeManager;
  readonly group: Group;
  readonly #lines: LogLine[];
  readonly #over = new AbortController();
  #running: Promise<void> | undefined;

  private constructor(
    target: BuilderTarget,
    namespace: string,
    [writer, manager, lines]: [Writer, DeclarativeManager, LogLine[]],
  ) {
    this.#lines = lines;
    this.target = target;
    this.namespace = namespace;
    this.writer = writer;
    this.manager = manager;
    this.group = new Group({ manager });
  }

  /** @param namespace - namespace of an earlier process; a new one if absent */
  static async begin(target: BuilderTarget, namespace?: string): Promise<GroupScene> {
    const writer = await target.operator();
    const { clock } = target;
    const lines: LogLine[] = [];
    const logger = rememberingLogger(lines);
    const manager = await DeclarativeManager.create({ client: writer.client, clock, logger });
    const own = namespace ?? (await target.namespace());
    return new GroupScene(target, own, [writer, manager, lines]);
  }

  /** The logged failures of reconciles. */
  get failures(): readonly LogLine[] {
    return this.#lines.filter(({ message }) => message.startsWith('reconcile failed'));
  }

  /** The name of an operator, unique on the server. */
  name(name: string): string {
    return `${name}-${this.namespace}`;
  }

  run(): void {
    this.#running = this.group.start(this.#over.signal);
    this.#running.catch(() => undefined); // `end` reports it.
  }

  async end(): Promise<void> {
    this.#over.abort();
    await (this.#running ?? this.manager.stop());
  }

  /** A client for the group's views that uses the administrator's for everything else. */
  get client(): Client {
    return this.manager.views.route(this.target.admin);
  }

  /** Retries like the target's `eventually`, and advances a virtual clock meanwhile. */
  eventually<T>(check: () => Promise<T> | T): Promise<T> {
    const { clock } = this.target;
    return this.target.eventually(async () => {
      if (clock instanceof VirtualClock) await clock.advance(100);
      return check();
    });
  }

  /** Runs the group, with the controller for `Operator` objects. */
  runObjects(): void {
    this.manager.add(operatorCrdController({ group: this.group }), { requires: operatorCrdAccess });
    this.run();
  }

  /** Resolves when the initial reconcile of all controllers of an operator is written. */
  async synced(operator: DeclarativeOperator): Promise<void> {
    const synced = { is: false };
    const waiting = operator.whenSynced().then(() => (synced.is = true));
    await this.eventually(() => {
      if (!synced.is) throw new Error('not synced');
    });
    await waiting;
  }

  /** Returns the writes of the group's process since the last call, as `verb resource name`. */
  async writes(): Promise<readonly string[]> {
    const requests = await this.writer.requests();
    return (
      requests
        // Access reviews are created, but write nothing.
        .filter((request) => isWrite(request) && !request.resource.includes('review'))
        .map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)
    );
  }

  /** Creates or updates a ConfigMap in the namespace, with the label `of`. */
  async put(of: string, name: string, value: string): Promise<void> {
    const metadata = { name, namespace: this.namespace, labels: { of } };
    const object: Thing = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
    await this.target.admin.apply(object, { fieldManager: 'somebody', force: true });
  }

  /** Deletes a ConfigMap in the namespace. */
  async drop(name: string): Promise<void> {
    const { namespace } = this;
    await this.target.admin.delete({ apiVersion: 'v1', kind: 'ConfigMap' }, { name, namespace });
  }

  /** Returns the `data` of ConfigMaps that operators made in the namespace, by name. */
  async made(): Promise<Record<string, unknown>> {
    const { items } = await this.target.admin.list<Thing>(
      { apiVersion: 'v1', kind: 'ConfigMap' },
      { namespace: this.namespace, labelSelector: 'made=yes' },
    );
    const made: Record<string, unknown> = {};
    for (const { metadata, ...rest } of items) made[metadata.name ?? ''] = rest['data'];
    return made;
  }

  /** Returns the names of the views of a kind; empty if the kind does not exist. */
  async views(operator: string, kind: string): Promise<readonly string[]> {
    const known = this.manager.views.types(operator).some((type) => type.kind === kind);
    if (!known) return [];
    const apiVersion = `${operator}.view.dcontroller.io/v1alpha1`;
    const { items } = await this.client.list<Thing>({ apiVersion, kind });
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  }
}

/** Formats the condition Ready of a controller, or of the whole operator, as `True Ready`. */
export function readyOf(operator: DeclarativeOperator | undefined, controller?: string): string {
  const status = operator?.getStatus();
  const of =
    controller === undefined ? status : status?.controllers.find(({ name }) => name === controller);
  const ready = findCondition(of?.conditions, 'Ready');
  return `${ready?.status ?? 'none'} ${ready?.reason ?? ''}`.trim();
}

type ControllerDocument = OperatorDocument['controllers'][number];

const sameName = { name: '$.metadata.name', namespace: '$.metadata.namespace' };

/** A controller that writes a view for each ConfigMap in a namespace with the label `of: <kind>`. */
export function viewOf(
  kind: string,
  namespace: string,
  fields: Record<string, JsonValue> = {},
): ControllerDocument {
  const labelSelector = { matchLabels: { of: kind } };
  return {
    name: `see-${kind.toLowerCase()}`,
    sources: [{ apiGroup: '', version: 'v1', kind: 'ConfigMap', namespace, labelSelector }],
    pipeline: [{ '@project': { metadata: sameName, data: '$.data', ...fields } }],
    target: { kind },
  };
}

/** A controller that writes a ConfigMap `<prefix>-<name>` for each view of a kind. */
export function configMapOf(
  kind: string,
  prefix: string,
  { apiGroup, data = '$.data' }: { readonly apiGroup?: string; readonly data?: JsonValue } = {},
): ControllerDocument {
  const metadata = {
    name: { '@concat': [`${prefix}-`, '$.metadata.name'] },
    namespace: '$.metadata.namespace',
    labels: { made: 'yes' },
  };
  return {
    name: `make-${prefix}`,
    sources: [{ kind, ...(apiGroup !== undefined && { apiGroup }) }],
    pipeline: [{ '@project': { metadata, data } }],
    target: { apiGroup: '', version: 'v1', kind: 'ConfigMap' },
  };
}
