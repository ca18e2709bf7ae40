import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { getIfExists } from '../../lib/client/index.js';
import type { Client } from '../../lib/client/index.js';
import type { JsonPatchOperation } from '../../lib/object/json-patch.js';
import { CustomResourceDefinition, Service } from '../../lib/object/kinds.js';
import type { KubernetesObject } from '../../lib/object/kubernetes-object.js';
import { kubeConfigOf } from '../samples/deployed/deployed-target.js';
import type { ControlPlane } from './control-plane/control-plane.js';
import { findFreePorts } from './control-plane/free-ports.js';

/** A project applied to a cluster. */
export interface DeployedProject {
  /** Folder of its files. */
  readonly folder: string;
  readonly name: string;
  readonly plane: ControlPlane;
  readonly admin: Client;
  /** Additional options of the operator. @defaultValue none */
  readonly options?: readonly string[];
}

/** Runs a project's operator as a process: the bundle of its image, with its own account. */
export class ProjectOperator {
  /** User name in the audit log. */
  readonly user: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  output = '';

  private constructor(child: ChildProcess, user: string) {
    this.user = user;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    this.#ended = new Promise((resolve) => child.on('close', resolve));
  }

  /** Builds the operator, and starts it with a token of its ServiceAccount. */
  static async start(project: DeployedProject): Promise<ProjectOperator> {
    const { folder, name, plane, admin, options = [] } = project;
    await promisify(execFile)(process.execPath, ['build.js'], { cwd: folder });
    const namespace = `${name}-system`;
    const account = { name: `${name}-controller-manager`, namespace };
    const { url, caData } = plane;
    const kubeconfig = join(folder, 'kubeconfig');
    const text = await kubeConfigOf({ admin, url, caData }, account);
    await writeFile(kubeconfig, text, { mode: 0o600 });
    const [health = 0, metrics = 0] = await findFreePorts(2);
    const args = [
      ...['dist/main.js', '--kubeconfig', kubeconfig, '--namespace', namespace, '--leader-elect'],
      ...[`--health-port=${health}`, `--metrics-port=${metrics}`, ...options],
    ];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    return new ProjectOperator(child, `system:serviceaccount:${namespace}:${account.name}`);
  }

  /** Stops the process like the kubelet. @returns its exit code */
  stop(): Promise<number | null> {
    this.#child.kill('SIGTERM');
    return this.#ended;
  }

  /** @throws Error with its output, if it has ended */
  check(): void {
    const { exitCode } = this.#child;
    if (exitCode !== null) throw new Error(`it has ended with ${exitCode}: ${this.output}`);
  }
}

/** Fields of a webhook configuration that these specs read. */
interface WebhookConfiguration extends KubernetesObject {
  readonly webhooks: readonly object[];
}

/**
 * Makes the API server call the webhooks of a project at a port of this machine. The machine is not in the Pod
 * network, so the Service becomes an alias of its name.
 */
export async function leadWebhooksTo(
  port: number,
  { admin, name, crd }: { readonly admin: Client; readonly name: string; readonly crd: string },
): Promise<void> {
  const service = { name: `${name}-webhook-service`, namespace: `${name}-system` };
  const spec = { type: 'ExternalName', externalName: 'localhost', selector: null };
  await admin.patch(Service, service, { type: 'merge', body: { spec } });
  const at = (path: string): JsonPatchOperation => {
    return { op: 'replace', path: `${path}/clientConfig/service/port`, value: port };
  };
  for (const type of ['Mutating', 'Validating']) {
    const apiVersion = 'admissionregistration.k8s.io/v1';
    const kind = { apiVersion, kind: `${type}WebhookConfiguration` };
    const key = { name: `${name}-${type.toLowerCase()}-webhook-configuration` };
    const found = await getIfExists<WebhookConfiguration>(admin, kind, key);
    const operations = (found?.webhooks ?? []).map((_, index) => at(`/webhooks/${index}`));
    if (operations.length > 0) await admin.patch(kind, key, { type: 'json', operations });
  }
  const operations = [at('/spec/conversion/webhook')];
  await admin.patch(CustomResourceDefinition, { name: crd }, { type: 'json', operations });
}
