import { existsSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiConnection } from './api-connection.js';
import { AuditLog } from './audit-log.js';
import { findControlPlane } from './binaries.js';
import { createClusterObjects, waitForNode } from './cluster-objects.js';
import { fileNames, programKubeConfig, resolveCommands } from './commands.js';
import type { ControlPlanePorts, Launch } from './commands.js';
import type { ControlPlane } from './control-plane.js';
import { apiClients, userOfProgram, writeApiServerFiles } from './credentials.js';
import type { Credentials } from './credentials.js';
import { connectToExistingCluster, isExistingClusterWanted } from './existing-cluster.js';
import { findFreePorts } from './free-ports.js';
import { writeKubeConfig } from './kube-config.js';
import { resolveControlPlaneOptions } from './options.js';
import type { ControlPlaneOptions, ResolvedControlPlaneOptions } from './options.js';
import { waitForReady } from './readiness.js';
import { StartedControlPlane } from './started-control-plane.js';
import { Supervisor } from './supervisor.js';

/** Longest time from the controllers' start until the node is ready. */
const nodeTimeoutMs = 60_000;

/**
 * Starts a control plane on 127.0.0.1, with a node on which Pods run and claims are bound (both
 * simulated by kwok); resolves once all of that works. Builds the programs first when the cache is
 * empty. It ends with {@link ControlPlane.stop} or with this process, whichever comes first.
 * Environment: `USE_EXISTING_CLUSTER=true` selects the cluster of `KUBECONFIG` instead;
 * `KUBEBUILDER_ASSETS` names a folder with etcd and kube-apiserver to use.
 * @throws Error: a program cannot be built or does not start; the message contains its last lines.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  if (isExistingClusterWanted()) return connectToExistingCluster();
  const resolved = resolveControlPlaneOptions(options);
  const launch = await prepareLaunch(resolved);
  const supervisor = new Supervisor(launch.folder, launch.ports.tokenReview);
  try {
    return await startPrograms(launch, supervisor);
  } catch (error) {
    await supervisor.stop();
    throw error;
  }
}

async function prepareLaunch(options: ResolvedControlPlaneOptions): Promise<Launch> {
  const files = await findControlPlane(options.progress);
  const [etcdClient, etcdPeer, apiServer, tokenReview] = await findFreePorts(4);
  const ports = { etcdClient, etcdPeer, apiServer, tokenReview } as ControlPlanePorts;
  const folder = await mkdtemp(join(tmpdir(), 'operator-builder-'));
  return { files, folder, ports, options };
}

async function startPrograms(launch: Launch, supervisor: Supervisor): Promise<ControlPlane> {
  const { folder, ports, files } = launch;
  const commands = resolveCommands(launch);
  const credentials = await writeApiServerFiles(folder, ports.tokenReview);
  await supervisor.start('etcd', commands.etcd);
  await supervisor.start('kube-apiserver', commands['kube-apiserver']);

  const url = `https://127.0.0.1:${ports.apiServer}`;
  const ca = await readServerCertificate(folder, supervisor);
  const api = new ApiConnection({ url, ca, token: credentials.adminToken });
  try {
    const caData = Buffer.from(ca).toString('base64');
    await writeKubeConfigs(folder, { url, caData, credentials });
    await waitForReady(api, supervisor);
    for (const program of apiClients) await supervisor.start(program, commands[program]);
    await createClusterObjects(api, files.storageClass);
    await waitForNode(api, nodeTimeoutMs);
    for (const program of apiClients) supervisor.assertRunning(program);
    return new StartedControlPlane({
      ...{ url, caData, api, supervisor, folder },
      etcdUrl: `http://127.0.0.1:${ports.etcdClient}`,
      token: credentials.adminToken,
      kubeConfigPath: join(folder, fileNames.adminKubeConfig),
      auditLog: new AuditLog(join(folder, fileNames.auditLog), api),
    });
  } catch (error) {
    api.close();
    throw error;
  }
}

/** Reads the API server's self-signed certificate; the file contains it and its authority. */
async function readServerCertificate(folder: string, supervisor: Supervisor): Promise<string> {
  const path = join(folder, fileNames.certificates, 'apiserver.crt');
  while (!existsSync(path)) {
    supervisor.assertRunning('etcd');
    supervisor.assertRunning('kube-apiserver');
    await delay(20);
  }
  const written = await readFile(path, 'utf8');
  // The file may be incomplete; both certificates are required.
  if (written.split('-----END CERTIFICATE-----').length === 3) return written;
  await delay(20);
  return readServerCertificate(folder, supervisor);
}

interface KubeConfigs {
  readonly url: string;
  readonly caData: string;
  readonly credentials: Credentials;
}

async function writeKubeConfigs(folder: string, configs: KubeConfigs): Promise<void> {
  const { url, caData, credentials } = configs;
  const admin = { url, caData, userName: 'admin', token: credentials.adminToken };
  await writeKubeConfig(join(folder, fileNames.adminKubeConfig), admin);
  for (const program of apiClients) {
    const token = credentials.programTokens[program];
    const userName = userOfProgram(program);
    await writeKubeConfig(join(folder, programKubeConfig(program)), {
      url,
      caData,
      userName,
      token,
    });
  }
}
