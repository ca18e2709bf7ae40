import { readFile, readdir } from 'node:fs/promises';
import { parse } from 'yaml';
import { ensureCrd, retryOnConflict } from '../../../../lib/client/index.js';
import type { ObjectWritten } from '../../../../lib/events/index.js';
import { isConditionTrue } from '../../../../lib/object/conditions.js';
import {
  ConfigMap,
  Deployment,
  PersistentVolumeClaim,
  Pod,
  Service,
  StatefulSet,
} from '../../../../lib/object/kinds.js';
import type { KubernetesObject } from '../../../../lib/object/kubernetes-object.js';
import type { ResourceType } from '../../../../lib/object/resource-type.js';
import { tenantOperator } from '../../../../samples/parseable/operator.js';
import { ParseableTenant } from '../../../../samples/parseable/tenant.js';
import type { TenantSpec } from '../../../../samples/parseable/tenant.js';
import type { BuilderTarget, Operator, ServedRequest } from '../../../builder/suite/target.js';
import { isWrite, versionOf } from '../../../builder/suite/target.js';
import { RunningOperators } from '../../suite/running-operators.js';

/** Kinds of a tenant's objects. */
export const tenantKinds: readonly ResourceType<KubernetesObject>[] = [
  ConfigMap,
  Service,
  PersistentVolumeClaim,
  Deployment,
  StatefulSet,
];

const crs = new URL('../../../../samples/parseable/crs/', import.meta.url);

/** Returns the sample of a file name without extension. */
export async function sampleTenant(name: string): Promise<ParseableTenant> {
  return parse(await readFile(new URL(`${name}.yaml`, crs), 'utf8')) as ParseableTenant;
}

/** Returns the names of all samples. */
export async function sampleNames(): Promise<string[]> {
  return (await readdir(crs)).map((file) => file.replace(/\.yaml$/, '')).toSorted();
}

/** Namespace in which the Parseable operator runs. */
export class Stage {
  readonly target: BuilderTarget;
  readonly namespace: string;
  readonly operator: Operator;
  /** Objects created or configured, in order: `Deployment stateless-querier`. */
  readonly written: string[] = [];
  readonly #running: RunningOperators;

  private constructor(target: BuilderTarget, namespace: string, operator: Operator) {
    this.target = target;
    this.#running = new RunningOperators(target);
    this.namespace = namespace;
    this.operator = operator;
  }

  static async open(target: BuilderTarget): Promise<Stage> {
    const [operator, namespace] = await Promise.all([target.operator(), target.namespace()]);
    await ensureCrd(target.admin, ParseableTenant.crd);
    return new Stage(target, namespace, operator);
  }

  /** Starts the operator; resolves when it works. */
  start(): Promise<void> {
    const operator = tenantOperator([this.namespace]);
    const note = ({ ref }: ObjectWritten): void => {
      this.written.push(`${ref.kind} ${ref.name}`);
    };
    operator.events.on('created', note).on('configured', note);
    const { client } = this.operator;
    const { clock } = this.target;
    return this.#running.operate(operator, { client, clock });
  }

  stop(): Promise<void> {
    return this.#running.stop();
  }

  /** Creates a sample with the spec that `change` returns. */
  async create(
    sample: string,
    change: (spec: TenantSpec) => TenantSpec = (spec) => spec,
    name = sample,
  ): Promise<ParseableTenant> {
    const tenant = await sampleTenant(sample);
    const metadata = { name, namespace: this.namespace };
    return this.target.admin.create({ ...tenant, metadata, spec: change(tenant.spec) });
  }

  tenant(name: string): Promise<ParseableTenant> {
    return this.target.admin.get(ParseableTenant, { name, namespace: this.namespace });
  }

  async edit(name: string, change: (spec: TenantSpec) => TenantSpec): Promise<ParseableTenant> {
    // The operator writes the status meanwhile.
    return retryOnConflict(async () => {
      const tenant = await this.tenant(name);
      return this.target.admin.update({ ...tenant, spec: change(tenant.spec) });
    });
  }

  /** Waits until a tenant's newest spec is applied. */
  async available(name: string): Promise<ParseableTenant> {
    return this.target.eventually(async () => {
      const tenant = await this.tenant(name);
      const { conditions, observedGeneration } = tenant.status ?? {};
      const settled =
        observedGeneration === tenant.metadata.generation &&
        isConditionTrue(conditions, 'Available') &&
        !isConditionTrue(conditions, 'Progressing') &&
        !isConditionTrue(conditions, 'Degraded');
      if (!settled) throw new Error(`not settled: ${JSON.stringify(tenant.status)}`);
      return tenant;
    });
  }

  /** Returns `Kind name` of every object of the tenants' kinds, sorted. */
  async objects(): Promise<string[]> {
    const found = await this.objectsOf(tenantKinds);
    return found.map(({ kind, metadata }) => `${kind} ${metadata.name ?? ''}`).toSorted();
  }

  async objectsOf(kinds: readonly ResourceType<KubernetesObject>[]): Promise<KubernetesObject[]> {
    const { namespace, target } = this;
    const lists = await Promise.all(kinds.map((kind) => target.admin.list(kind, { namespace })));
    // List items have no kind of their own on some servers.
    return lists
      .flatMap(({ items }, at) =>
        items.map((item) => ({ ...item, kind: kinds[at]?.kind ?? item.kind })),
      )
      .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
  }

  /** Returns the versions of all objects, pods included, by UID. */
  async versions(): Promise<Record<string, string | number>> {
    const found = await this.objectsOf([...tenantKinds, Pod, ParseableTenant]);
    return Object.fromEntries(
      found.map(({ kind, metadata }) => [
        `${kind} ${metadata.name ?? ''} ${metadata.uid ?? ''}`,
        versionOf(metadata),
      ]),
    );
  }

  /** Returns the names of a node's pods. */
  async podsOf(node: string): Promise<string[]> {
    const { namespace, target } = this;
    const pods = await target.admin.list(Pod, { namespace, labelSelector: `node=${node}` });
    return pods.items.map(({ metadata }) => `${metadata.name ?? ''} ${metadata.uid ?? ''}`);
  }

  /** Returns the operator's writes since the last call, except events and the tenant's status. */
  async writes(): Promise<readonly ServedRequest[]> {
    const requests = await this.operator.requests();
    return requests.filter(
      (request) => isWrite(request) && !['events', 'parseabletenants'].includes(request.resource),
    );
  }
}
